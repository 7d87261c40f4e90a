/* product_probe.h - impulse probes of operations whose outputs are sums of products.
 *
 * If one element of the first input is 1 and all others are 0, each output is the element of the
 * second input by which it is multiplied. */
#ifndef CONVLAB_OPERATION_PRODUCT_PROBE_H
#define CONVLAB_OPERATION_PRODUCT_PROBE_H

#include "common/operations/operation/diagnose.h"

/* Needs an operation with `has_products` and no rearranged tensors.  Reports which
 * element of the second input is multiplied instead of the expected one, in the first wrong output
 * of such a run.  Returns 1 with a finding, or 0: no run is possible, or none is wrong. */
int find_product(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
