/* trial_page.h - output of `make run`. */
#ifndef CONVLAB_AUTOGRADER_TRIAL_TRIAL_PAGE_H
#define CONVLAB_AUTOGRADER_TRIAL_TRIAL_PAGE_H

#include "autograder/trial/trial.h"

/* `shape` is the problem in words. */
void trial_print_case(const Trial *trial, const char *shape);
/* "correct", or the error with its lines and its hint; then remarks that cost no points. */
void trial_print_verdict(const Trial *trial, const RecordCase *item);
/* The time or cycles and the counters of a correct call, compared with the baseline's; the launches
 * of another one. */
void trial_print_cost(const Trial *trial, int correct);

#endif
