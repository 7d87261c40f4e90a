/* train_explain.h - what is wrong with a training step, in its own words. */
#ifndef CONVLAB_TRAINING_TRAIN_EXPLAIN_H
#define CONVLAB_TRAINING_TRAIN_EXPLAIN_H

#include "common/operations/operation/diagnose.h"

/* Operation.explain: which parts of y are wrong, and the slip that makes just this output. */
void train_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
