/* formula.h - arithmetic expressions in lab.ini, which give the true value of a prediction
 * (evaluated with muParser).
 *
 * A formula has + - * / % ^ ( ), ceil, floor, round, min, max and sqrt, and names numbers of the
 * case: the problem's (Operation.numbers), the machine's (machine_number) and every metric. */
#ifndef CONVLAB_AUTOGRADER_LAB_FORMULA_H
#define CONVLAB_AUTOGRADER_LAB_FORMULA_H

#include "autograder/lab/metric.h"

/* Check before any run: every name is known and the expression parses; if it depends on the problem
 * alone, it also has a value.  `needs_launch`: whether it uses a metric of the student's launch.
 * -1 with one line that says what to do. */
int formula_check(const char *text, const Operation *operation, const Problem *problem,
                  int *needs_launch, Error *error);

/* -1 with `error` if a metric has no value in this run, or the result is not finite. */
int formula_value(const char *text, const MetricRun *run, double *value, Error *error);

#endif
