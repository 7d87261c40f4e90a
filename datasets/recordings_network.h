/* recordings_network.h - weights of lab 19's network for the recordings of recordings.h.
 *
 * The convolutions and FULL are designed by hand, OUT is trained:
 *
 *   CONV1  a filter is a spike that moves by d samples per contact, 16 values of d in -2.4..2.4,
 *          and 4 phases; a negative bias suppresses the noise
 *   CONV2  each map's mean of 4 x 4, CONV3 of 2 x 2
 *   FULL   each map's mean over a quarter of its rows
 *   OUT    softmax regression on FULL's 256 outputs: gradient descent on the full set from 0, with
 *          weight decay
 *
 * Only for the report's sizes: 56 x 100, 64 filters, 256 outputs, 3 classes. */
#ifndef CONVLAB_DATASETS_RECORDINGS_NETWORK_H
#define CONVLAB_DATASETS_RECORDINGS_NETWORK_H

#include <stdint.h>

#include "convlab/electrode.h"

/* Sets all of w: designed layers, and 0 in OUT. */
void recordings_design(const ElectrodeProblem *p, float *w);

/* Trains OUT with `count` recordings.  -1: out of memory. */
int recordings_learn(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     float *w);

/* Number of recordings that the network with w classifies correctly, in fp32 on the host; -1: out
 * of memory. */
int recordings_right(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     const float *w);

#endif
