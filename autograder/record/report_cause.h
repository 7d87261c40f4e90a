/* report_cause.h - what is wrong, as a person reads it: the finding, its lines of the source and
 * the hint that goes with it. */
#ifndef CONVLAB_AUTOGRADER_RECORD_REPORT_CAUSE_H
#define CONVLAB_AUTOGRADER_RECORD_REPORT_CAUSE_H

#include <stdio.h>

#include "autograder/record/record.h"

/* In at most `most` lines, where that can be: the finding is cut first, and says so.  0: no limit.
 * `source`: the file that the finding's places are in; `hint` may be "". */
void report_cause(FILE *stream, const RecordCase *item, const char *hint, const char *source,
                  size_t most);

/* Compilers' lines as editors and terminals want them: "conv.cu(3): error" becomes
 * "<source>:3: error".  Other lines that a source can have printed stand behind a bar.  Of more
 * than `most` lines (0: no limit) the first. */
void report_compiler(FILE *stream, const char *lines, const char *source, size_t most);

#endif
