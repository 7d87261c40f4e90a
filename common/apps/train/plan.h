/* plan.h - training plan: a set of digits, its network, and the settings.
 *
 * Module: make train: it trains lab 18's step on a set of digits, on either engine.
 * Callers: common/apps/train/train.sh.
 * May use: datasets, operations. */
#ifndef CONVLAB_TRAIN_PLAN_H
#define CONVLAB_TRAIN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "convlab/train.h"

/* Images of one size, and their labels. */
typedef struct Digits {
    int count;
    uint8_t *image, *label; /* count*rows*columns; count */
} Digits;

typedef struct Plan {
    const char *set;   /* "digits-8x8" */
    TrainProblem step; /* problem of a mini-batch; its images have a frame of zeros around the
                        * set's */
    int rows, columns; /* size of the set's images */
    float scale;       /* value of a pixel of ink; paper is 0 */
    int epochs, steps; /* steps: per epoch; images that fill no batch are left for the next epoch */
    uint64_t seed;
    float rate, momentum, decay; /* initial rate, which falls to 0 along half a cosine; momentum;
                                  * decay */
    /* Maximum random change of each image in each epoch: pixels, radians, relative size.  Without
     * it the network overfits small sets. */
    float shift, rotation, stretch;
    Digits train, test;
} Plan;

/* Reads the set's files, below `datasets` (build/datasets) or in the sources; `epochs` 0: the set's
 * default.  -1 with error: no such set, no such file. */
int plan_open(Plan *plan, const char *root, const char *datasets, const char *set, int epochs,
              uint64_t seed, Error *error);
void plan_close(Plan *plan);

/* The initial parameters: weights of variance 2 over a unit's inputs (He and others, Delving deep
 * into rectifiers, 2015), biases 0. */
void plan_first_parameters(const Plan *plan, float *parameter);

/* The images of an epoch in their order, steps*N of them, each with the six numbers of its affine
 * map.  Source row = a[0]*h + a[1]*w + a[2], source column = a[3]*h + a[4]*w + a[5]. */
void plan_epoch(const Plan *plan, int epoch, int *order, float *augmentation);

/* The learning rate of step `step` of all epochs' steps. */
float plan_rate(const Plan *plan, long step);

#endif
