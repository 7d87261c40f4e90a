/* card.h - the device's side of the server: weights, the inputs of all places, batches. */
#ifndef CONVLAB_SERVE_CARD_H
#define CONVLAB_SERVE_CARD_H

#include "common/serve/cost.h"
#include "common/serve/model.h"

typedef struct Card Card;

/* The weights go onto the device, where there is room for batches of up to `largest`.  NULL with
 * error. */
Card *card_open(const Model *model, int largest, Error *error);
void card_close(Card *card);

/* Memory for the inputs of so many requests, which the device copies from.  -1 with error. */
int card_places(Card *card, int places, Error *error);
float *card_input(const Card *card, int place);

/* Runs a batch of the inputs at `count` places, in that order, and returns when its outputs are
 * there.  -1 with error: what CUDA said; then nothing else will run. */
int card_run(Card *card, const int *place, int count, Error *error);
/* Of the last batch: its i-th request's floats. */
const float *card_output(const Card *card, int i);

#endif
