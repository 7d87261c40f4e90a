/* network_probe.h - search for the wrong layer of a network. */
#ifndef CONVLAB_OPERATIONS_NETWORK_PROBE_H
#define CONVLAB_OPERATIONS_NETWORK_PROBE_H

#include "common/operations/operation/diagnose.h"

/* The message if every output has a small error. */
#define NETWORK_ROUNDED                                                                            \
    "Every output is near the expected value, but the errors are larger than those of fp32 in "    \
    "this "                                                                                        \
    "network: some values have a lower precision (half, bfloat16, tf32, or a fast "                \
    "approximation)."

/* The same if the submission did not run again. */
#define NETWORK_NEAR                                                                               \
    "Every output is near the expected value. Possibly some values have a lower precision, or a "  \
    "small term of an early layer is wrong, for example a bias or the order of bias and function."

typedef struct NetworkLayer {
    const char *name;
    int weights, biases; /* offsets in the tensor of parameters; weights end at `biases` */
} NetworkLayer;

/* The last layer that is wrong by itself, so that all later ones are correct.  Found by further
 * runs in which all weights of the layers before one are 0, so that its inputs are constant, and
 * their biases are positive, so that ReLUs are active. `tensor` is the index of the parameters'
 * tensor.  -1: the submission did not run. */
int network_wrong_layer(const Judgement *judged, ProbeRun run, void *context, int tensor,
                        const NetworkLayer *layer, int layers);

/* Adds the sentence about it; none for layer -1. */
void network_say_layer(int wrong, const NetworkLayer *layer, int layers, Finding *finding);

#endif
