/* tool.h - start of a system program, found on PATH, without a shell. */
#ifndef CONVLAB_AUTOGRADER_CLASS_TOOL_H
#define CONVLAB_AUTOGRADER_CLASS_TOOL_H

#include "common/base/error.h"

enum { TOOL_MISSING = 127 };

/* Runs `word` (NULL-terminated) in `folder` to its end; its input and its output are files there;
 * NULL: none.  Its exit status, TOOL_MISSING if there is no such program; -1 with error. */
int tool_run(const char *folder, const char *const *word, const char *input, const char *output,
             Error *error);

#endif
