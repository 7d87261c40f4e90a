/* hidden.h - the problems that are drawn fresh at grading. */
#ifndef CONVLAB_AUTOGRADER_LAB_HIDDEN_H
#define CONVLAB_AUTOGRADER_LAB_HIDDEN_H

#include "autograder/lab/lab_ini.h"
#include "common/operation/random.h"

/* Number `index` of the hidden problems: drawn by the operation, then changed by the lab's
 * [hidden] with = keys, of which the alternatives (" | ") are taken in turn.  A draw that does not
 * fit these keys is drawn again. */
void hidden_draw(const LabIni *lab, Random *random, int index, Problem *problem);

/* Refuses keys that no problem could have.  -1 with error. */
int hidden_check(const LabIni *lab, Error *error);

#endif
