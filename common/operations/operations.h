/* operations.h - the room of the operations that there are: a file for each, and this list.  Anybody may
 * call it; it uses operation and the rooms that explain one operation (conv, conv/diagnosis). */
#ifndef CONVLAB_OPERATIONS_OPERATIONS_H
#define CONVLAB_OPERATIONS_OPERATIONS_H

#include "common/operation/operation.h"

/* NULL if there is none of that name; operation_names() is a comma-separated list for the error
 * message. */
const Operation *operation_find(const char *name);
const char *operation_names(void);

#endif
