/* trial_call.h - the call itself. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_CALL_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_CALL_H

#include "autograder/tensors/workload.h"
#include "autograder/trial/trial.h"

/* One call of the entry point on the workload's inputs: the trial's cost, habits and findings, and
 * what came out (owned by the workload). -1 with words, and trial->stopped, where it did not
 * return. */
int trial_call(Trial *trial, Workload *workload, Observed *observed, Error *error);

/* ProbeRun: the same once more, on inputs that the diagnosis chooses. `context` is the Trial. */
int trial_probe(void *context, const Problem *problem, const float *const *tensor, float *output);

#endif
