/* trial_files.h - files written after a call.  Each function returns 0, or -1 with a message. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_FILES_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_FILES_H

#include "autograder/trial/trial.h"

/* The distribution of the cycles, on the terminal and as files in trial->profile with their
 * plots. */
int trial_profile(const Trial *trial, Error *error);
/* Numbers for scripts (docs/numbers): microseconds, and every metric of the call. */
int trial_see(const Trial *trial, const char *shape, Error *error);
/* Numbers for scripts (docs/numbers): microseconds, and every metric of the call. */
int trial_write_counters(const Trial *trial, Error *error);
/* Execution counts for autograder/tests/coverage: simt_write_runs. */
int trial_write_runs(const Trial *trial, Error *error);
/* Phases for a program that compares its own with these. */
int trial_write_phases(const Trial *trial, Error *error);
int trial_write_stalls(const Trial *trial, Error *error);

#endif
