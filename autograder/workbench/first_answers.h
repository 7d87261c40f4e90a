/* first_answers.h - the predictions that the student gave before the first measurement.
 *
 * The page locks the form of an answered prediction as soon as something was measured; the first
 * answers are in BUILD/workbench/NN-name/first-answers.ini.  The grade reads predict.ini alone. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_FIRST_ANSWERS_H
#define CONVLAB_AUTOGRADER_WORKBENCH_FIRST_ANSWERS_H

#include "autograder/lab/predict.h"
#include "autograder/workbench/workbench.h"

/* No answers if nothing was measured. */
void first_answers_read(const Workbench *bench, const Lab *lab, PredictFile *first);

/* Something was measured: answers in predict.ini to questions without a first answer become first
 * answers.  -1: the file could not be written. */
int first_answers_lock(const Workbench *bench, const Lab *lab, Error *error);

/* Whether `text`, a new predict.ini, changes or removes a first answer; -1 with an error that names
 * it. */
int first_answers_check(const Workbench *bench, const Lab *lab, const char *text, Error *error);

#endif
