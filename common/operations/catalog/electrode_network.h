/* electrode_network.h - the network of convlab/electrode.h in fp64, each value with its spread:
 * what the roundings of fp32 come to; and the network that a mistake makes of it. */
#ifndef CONVLAB_OPERATIONS_ELECTRODE_NETWORK_H
#define CONVLAB_OPERATIONS_ELECTRODE_NETWORK_H

#include "convlab/electrode.h"

/* A layer: C maps of H x W to K maps of the same size, by filters of R x R.  In FULL and OUT a map
 * is one value and R is 1. */
typedef struct ElectrodeLayer {
    int C, H, W, K, R;
} ElectrodeLayer;

ElectrodeLayer electrode_layer(const ElectrodeProblem *p, int layer);

/* Products of an output, without the bias. */
int electrode_taps(const ElectrodeLayer *layer);

/* Fills in what follows from the sizes: where each layer's weights and biases begin. */
void electrode_derive(ElectrodeProblem *p);

double electrode_image_macs(const ElectrodeProblem *p);

/* Which layers a mistake is about: a bit each, 1 << ELECTRODE_CONV2. */
typedef struct ElectrodeSlips {
    int no_bias, no_relu;
    int flipped;     /* convolutions: the filters turned round */
    int transposed;  /* convolutions: rows taken for columns; FULL and OUT: w[c][k] */
    int behind;      /* convolutions: the larger half of the zeros before, not behind */
    int unpadded;    /* convolutions: no zeros before, all behind */
    int one_map;     /* convolutions: the last input map alone */
    int mean;        /* the average of 2 x 2, not the largest */
    int maps_last;   /* FULL reads CONV3 as row, column, map */
    int first_image; /* for all */
    int relu_at_end, logits, undivided;
} ElectrodeSlips;

/* classes values of each image and their spreads, in units of u = 2^-24; NAN for all where there is
 * no memory.  On all cores. */
void electrode_run(const ElectrodeProblem *p, const ElectrodeSlips *slips, const float *x,
                   const float *w, double *value, double *spread);

#endif
