/* explain.h - the room that says what is wrong with a convolution: from the pattern of its errors to a
 * sentence that names the mistake.  Operations call it; it uses conv, operation and base.
 *
 * The error map's signature comes first, then probes, which run the submission again on inputs chosen
 * to separate the hypotheses. */
#ifndef CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H
#define CONVLAB_CONV_DIAGNOSIS_EXPLAIN_H

#include "common/operation/diagnose.h"

/* Operation's explain, for a problem that is a ConvProblem. */
void conv_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
