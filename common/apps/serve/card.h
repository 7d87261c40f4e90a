/* card.h - device used by the server: weights, the inputs of all places, batches. */
#ifndef CONVLAB_SERVE_CARD_H
#define CONVLAB_SERVE_CARD_H

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/model.h"

typedef struct Card Card;

/* Copies the weights to the device, and allocates memory for batches of up to `largest`.  NULL with
 * error. */
Card *card_open(const Model *model, int largest, Error *error);
void card_close(Card *card);

/* Allocates memory for the inputs of that many requests, from which the device copies.  -1 with
 * error. */
int card_places(Card *card, int places, Error *error);
float *card_input(const Card *card, int place);

/* Runs a batch with the inputs at `count` places, in that order, and returns its outputs,
 * contiguous. They are valid until the batch after the next one.  NULL with error: CUDA's message;
 * then no other batch will run. */
const float *card_run(Card *card, const int *place, int count, Error *error);

#endif
