/* trial_beside.h - another of the workbook's programs on the same case: the lab's baseline, or the
 * reference. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_BESIDE_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_BESIDE_H

#include "autograder/trial/trial.h"

/* Until ticker_end, on a terminal: what is at work.  `part` is the clock's part that it is. */
void trial_progress_begin(const Trial *trial, const char *part, const char *doing);

/* Runs trial->baseline with the same inputs; its phases go into the file `phases`, unless that is
 * NULL.  0 when it ran. */
int trial_beside(const Trial *trial, const char *phases, DeviceCost *cost, Error *error);

/* Runs it, and prints how much more of what this one does, and the counters side by side. */
void trial_print_against(const Trial *trial);

#endif
