/* trial_call.h - one call of the entry point. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_CALL_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_CALL_H

#include "autograder/tensors/workload.h"
#include "autograder/trial/trial.h"

/* One call of the entry point on the workload's inputs: stores the trial's cost, habits and
 * findings, and the output (owned by the workload). -1 with a message, and trial->stopped, if it
 * did not return. */
int trial_call(Trial *trial, Workload *workload, Observed *observed, Error *error);

/* A ProbeRun: one more call, on inputs chosen by the diagnosis. `context` is the Trial. */
int trial_probe(void *context, const Problem *problem, const float *const *tensor, float *output);

/* "18,004 cycles (9.1 us)", or "92.1 us" without simulated cycles.  Returns `text`. */
const char *trial_time_text(const DeviceCost *cost, char text[80]);

#endif
