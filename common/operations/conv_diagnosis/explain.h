/* explain.h - from a wrong convolution to a sentence that names the mistake.
 *
 * Module: patterns in the map of errors, known mistakes, and experiments that tell them apart.
 * Callers: operations.
 * May use: conv, operation, base.
 *
 * The error map's signature comes first, then probes, which run the submission again on inputs
 * chosen to separate the hypotheses. */
#ifndef CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H
#define CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H

#include "common/operations/operation/diagnose.h"

/* Operation's explain, for a problem that is a ConvProblem. */
void conv_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
