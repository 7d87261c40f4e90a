/* explain.h - diagnosis of a wrong convolution, as a sentence that names the mistake.
 *
 * Module: patterns in the error map, known mistakes, and experiments that distinguish them.
 * Callers: operations.
 * May use: conv, operation, base.
 *
 * The error map's signature comes first, then probes, which run the submission again on inputs
 * chosen to separate the hypotheses. */
#ifndef CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H
#define CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H

#include "common/operations/operation/diagnose.h"

/* Operation's explain for a problem that is a ConvProblem. */
void conv_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
