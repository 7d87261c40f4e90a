/* trial_files.h - what a call leaves as files.  Each is 0, or -1 with words. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_FILES_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_FILES_H

#include "autograder/trial/trial.h"

/* Where the cycles went, on the terminal and as files in trial->profile with their plots. */
int trial_profile(const Trial *trial, Error *error);
/* What warps did to memory, as the page trial->see; `shape` is the problem in words. */
int trial_see(const Trial *trial, const char *shape, Error *error);
/* For scripts (docs/numbers): microseconds, and every metric that the call has. */
int trial_write_counters(const Trial *trial, Error *error);
/* For autograder/tests/coverage: simt_write_runs. */
int trial_write_runs(const Trial *trial, Error *error);
/* For a program that shows them beside its own. */
int trial_write_phases(const Trial *trial, Error *error);

#endif
