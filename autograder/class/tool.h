/* tool.h - running a program of the system, by its name on the path and never by a shell. */
#ifndef CONVLAB_AUTOGRADER_CLASS_TOOL_H
#define CONVLAB_AUTOGRADER_CLASS_TOOL_H

#include "common/base/error.h"

enum { TOOL_MISSING = 127 };

/* Runs `word` (NULL-terminated) in `folder` to its end, its input and its output files there; NULL:
 * none.  Its exit status, TOOL_MISSING where there is no such program; -1 with error. */
int tool_run(const char *folder, const char *const *word, const char *input, const char *output,
             Error *error);

#endif
