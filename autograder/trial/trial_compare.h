/* trial_compare.h - run of another of the course's programs on the same case: the lab's baseline,
 * or the reference. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_COMPARE_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_COMPARE_H

#include "autograder/trial/trial.h"

/* Shows the current work on a terminal, until ticker_end.  `part` names the part for the stored
 * duration. */
void trial_progress_begin(const Trial *trial, const char *part, const char *doing);

/* Runs trial->baseline with the same inputs; its phases are written to the file `phases`, unless
 * that is NULL.  0 if it ran. */
int trial_compare(const Trial *trial, const char *phases, DeviceCost *cost, Error *error);

/* Runs it, and prints the factors by which this program exceeds it, and both programs' counters. */
/* Prints the stall reasons next to those of an earlier profile, in the folder choice.before.  -1
 * with error. */
int trial_print_before(const Trial *trial, Error *error);
void trial_print_against(const Trial *trial);

#endif
