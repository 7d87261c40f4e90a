/* train_explain.h - diagnosis of a training step. */
#ifndef CONVLAB_TRAINING_TRAIN_EXPLAIN_H
#define CONVLAB_TRAINING_TRAIN_EXPLAIN_H

#include "common/operations/operation/diagnose.h"

/* Operation.explain: the wrong parts of y, and the mistake that gives exactly this output. */
void train_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
