/* hidden.h - the problems that are drawn fresh at grading. */
#ifndef CONVLAB_AUTOGRADER_LAB_HIDDEN_H
#define CONVLAB_AUTOGRADER_LAB_HIDDEN_H

#include "autograder/lab/lab_ini.h"
#include "common/operations/operation/random.h"

/* Number `index` of the hidden problems.  The lab's operations take turns, and that of this number
 * is returned: it draws the problem, and the lab's [hidden] with = keys change it, of which the
 * alternatives (" | ") are taken in turn.  A draw that does not fit these keys is drawn again. */
const Operation *hidden_draw(const LabIni *lab, Random *random, int index, Problem *problem);

/* Refuses keys that no problem of one of the lab's operations could have.  -1 with error. */
int hidden_check(const LabIni *lab, Error *error);

#endif
