/* operations.h - list of all operations.
 *
 * Module: a file for each operation; the runner's call of each is in calls.
 * Callers: autograder, make compare.
 * May use: operation, and the modules that hold parts of some (conv, conv/diagnosis, training). */
#ifndef CONVLAB_OPERATIONS_OPERATIONS_H
#define CONVLAB_OPERATIONS_OPERATIONS_H

#include "common/operations/operation/operation.h"

/* NULL: no operation of that name; operation_names() is a comma-separated list for the error
 * message. */
const Operation *operation_find(const char *name);
const char *operation_names(void);

#endif
