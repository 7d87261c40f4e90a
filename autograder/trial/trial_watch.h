/* trial_watch.h - code that does not end.
 *
 * What counts are CPU seconds of one call's host code, as make grade allows them; the device's work
 * is not among them, and has a limit of its own: on the simulator instructions, on a card the
 * seconds that host code waits for it, more of them than make grade allows, for a tool may look on.
 * A call that reaches its limit ends the process, with words. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_WATCH_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_WATCH_H

#include "autograder/tensors/workload.h"
#include "autograder/trial/trial.h"

/* CPU seconds of this process: what else runs on the machine takes no part in them. */
double trial_cpu_seconds(void);

/* Once, when the engine is open. */
void trial_watch_open(const Trial *trial);
void trial_watch_begin(const Workload *workload);
void trial_watch_end(void);

#endif
