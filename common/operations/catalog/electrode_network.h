/* electrode_network.h - the network of convlab/electrode.h in fp64, each value with its spread (the
 * standard deviation of fp32's rounding errors), with or without a mistake. */
#ifndef CONVLAB_OPERATIONS_ELECTRODE_NETWORK_H
#define CONVLAB_OPERATIONS_ELECTRODE_NETWORK_H

#include "convlab/electrode.h"

/* A layer with C input maps of H x W and K output maps of the same size, and filters of R x R.  In
 * FULL and OUT a map is one value and R is 1. */
typedef struct ElectrodeLayer {
    int C, H, W, K, R;
} ElectrodeLayer;

ElectrodeLayer electrode_layer(const ElectrodeProblem *p, int layer);

/* Terms of an output, without the bias. */
int electrode_taps(const ElectrodeLayer *layer);

/* Computes the derived fields: the offsets of each layer's weights and biases. */
void electrode_derive(ElectrodeProblem *p);

double electrode_image_macs(const ElectrodeProblem *p);

/* The layers with a mistake: a bit for each, 1 << ELECTRODE_CONV2. */
typedef struct ElectrodeSlips {
    int no_bias, no_relu;
    int flipped;     /* convolutions: flipped filters */
    int transposed;  /* convolutions: rows and columns exchanged; FULL and OUT: w[c][k] */
    int behind;      /* convolutions: the larger half of the padding first, not last */
    int unpadded;    /* convolutions: no padding first, all of it last */
    int one_map;     /* convolutions: only the last input map */
    int mean;        /* the average of 2 x 2, not the maximum */
    int maps_last;   /* FULL reads CONV3 in the order row, column, map */
    int first_image; /* Boolean: every output is computed from the first image */
    int relu_at_end, logits, undivided;
} ElectrodeSlips;

/* `classes` values of each image and their spreads, in units of u = 2^-24; NAN for all if memory is
 * exhausted.  Uses all cores. */
void electrode_run(const ElectrodeProblem *p, const ElectrodeSlips *slips, const float *x,
                   const float *w, double *value, double *spread);

#endif
