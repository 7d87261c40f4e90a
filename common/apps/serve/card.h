/* card.h - the device's side of the server: weights, the inputs of all places, batches. */
#ifndef CONVLAB_SERVE_CARD_H
#define CONVLAB_SERVE_CARD_H

#include "common/apps/serve/batches/cost.h"
#include "common/apps/serve/model.h"

typedef struct Card Card;

/* The weights go onto the device, where there is room for batches of up to `largest`.  NULL with
 * error. */
Card *card_open(const Model *model, int largest, Error *error);
void card_close(Card *card);

/* Memory for the inputs of so many requests, which the device copies from.  -1 with error. */
int card_places(Card *card, int places, Error *error);
float *card_input(const Card *card, int place);

/* Runs a batch of the inputs at `count` places, in that order, and returns its outputs, side by
 * side.  They stay until the batch after the next one.  NULL with error: what CUDA said; then
 * nothing else will run. */
const float *card_run(Card *card, const int *place, int count, Error *error);

#endif
