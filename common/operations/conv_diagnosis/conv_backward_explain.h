/* conv_backward_explain.h - diagnosis of a wrong gradient of a convolution, as a sentence that
 * names the mistake. */
#ifndef CONVLAB_CONV_DIAGNOSIS_CONV_BACKWARD_EXPLAIN_H
#define CONVLAB_CONV_DIAGNOSIS_CONV_BACKWARD_EXPLAIN_H

#include "common/operations/operation/diagnose.h"

/* Operation's explain for dx, or for dw if `filter`. */
void conv_backward_explain(int filter, const Judgement *judged, ProbeRun run, void *context,
                           Finding *finding);

#endif
