/* trial_page.h - what `make run` prints. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_PAGE_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_PAGE_H

#include "autograder/trial/trial.h"

/* `shape` is the problem in words. */
void trial_print_case(const Trial *trial, const char *shape);
/* "correct", or what is wrong with its lines and its hint; then what is odd and costs no points. */
void trial_print_verdict(const Trial *trial, const RecordCase *item);
/* Of a correct call time or cycles and counters, those of the baseline beside; of another how it
 * was launched. */
void trial_print_cost(const Trial *trial, int correct);

/* "18,004 cycles (9.1 us)", or "92.1 us" where no cycles are simulated.  Returns `text`. */
const char *trial_time_text(const DeviceCost *cost, char text[80]);

#endif
