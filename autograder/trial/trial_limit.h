/* trial_limit.h - limits for endless code.
 *
 * The limit is on CPU seconds of one call's host code, as in make grade.  The device's work is
 * excluded and has its own limit: instructions on the simulator, and on a GPU the seconds that host
 * code waits for it.  The latter exceeds that of make grade, because a tool may be attached. A call
 * that reaches a limit ends the process, with a message. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_LIMIT_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_LIMIT_H

#include "autograder/tensors/workload.h"
#include "autograder/trial/trial.h"

/* CPU seconds of this process, independent of the machine's load. */
double trial_cpu_seconds(void);

/* To be called once, when the engine is open. */
void trial_limit_open(const Trial *trial);
void trial_limit_begin(const Workload *workload);
void trial_limit_end(void);

#endif
