/* hidden.h - problems drawn at random for each grading run. */
#ifndef CONVLAB_AUTOGRADER_LAB_HIDDEN_H
#define CONVLAB_AUTOGRADER_LAB_HIDDEN_H

#include "autograder/lab/lab_ini.h"
#include "common/operations/operation/random.h"

/* Draws hidden problem number `index` and returns its operation.  The lab's operations are used
 * round-robin, as are the alternatives (" | ") of the keys in the lab's [hidden] with =, which
 * replace those of the draw.  A draw that does not fit these keys is repeated. */
const Operation *hidden_draw(const LabIni *lab, Random *random, int index, Problem *problem);

/* Rejects keys that no problem of one of the lab's operations could have.  -1 with error. */
int hidden_check(const LabIni *lab, Error *error);

#endif
