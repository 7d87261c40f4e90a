/* network_probe.h - which layer of a wrong network to look at first. */
#ifndef CONVLAB_OPERATIONS_NETWORK_PROBE_H
#define CONVLAB_OPERATIONS_NETWORK_PROBE_H

#include "common/operations/operation/diagnose.h"

/* What is said where every output is wrong by a little. */
#define NETWORK_ROUNDED                                                                            \
    "Every output is near the expected value, but the errors are larger than those of fp32 in "    \
    "this "                                                                                        \
    "network: some values have a lower precision (half, bfloat16, tf32, or a fast "                \
    "approximation)."

typedef struct NetworkLayer {
    const char *name;
    int weights, biases; /* where they begin in the tensor of parameters; weights end at biases */
} NetworkLayer;

/* The last layer that is wrong by itself, so that those behind it are right.  Found by further runs
 * where all weights of the layers before one are 0, so that nothing of its inputs depends on them,
 * and their biases positive, so that a ReLU lets them through.
 * `tensor` is the number of the parameters' tensor.  -1: the submission did not run. */
int network_wrong_layer(const Judgement *judged, ProbeRun run, void *context, int tensor,
                        const NetworkLayer *layer, int layers);

/* Says so; nothing of layer -1. */
void network_say_layer(int wrong, const NetworkLayer *layer, int layers, Finding *finding);

#endif
