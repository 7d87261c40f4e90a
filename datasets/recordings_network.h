/* recordings_network.h - weights of lab 19's network that read the recordings of recordings.h.
 *
 * The convolutions and FULL are designed, OUT is learnt:
 *
 *   CONV1  a filter is a spike that travels by d samples a contact, at 16 slopes d from -2.4 to 2.4
 *          and 4 phases; a negative bias lets only what stands out of the noise through
 *   CONV2  each map's mean of 4 x 4, CONV3 of 2 x 2
 *   FULL   each map's mean over a quarter of its rows
 *   OUT    softmax regression on FULL's 256 outputs: full gradient steps from 0, with weight decay
 *
 * Only for the report's sizes: 56 x 100, 64 filters, 256 outputs, 3 classes. */
#ifndef CONVLAB_DATASETS_RECORDINGS_NETWORK_H
#define CONVLAB_DATASETS_RECORDINGS_NETWORK_H

#include <stdint.h>

#include "convlab/electrode.h"

/* Sets all of w: designed layers, and 0 in OUT. */
void recordings_design(const ElectrodeProblem *p, float *w);

/* Learns OUT from `count` recordings.  -1: no memory. */
int recordings_learn(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     float *w);

/* How many of them the network of w reads right, in fp32 on the host; -1: no memory. */
int recordings_right(const ElectrodeProblem *p, int count, const float *x, const uint8_t *label,
                     const float *w);

#endif
