/* report_cause.h - text form of an error: the finding, its source lines, and where its hint is. */
#ifndef CONVLAB_AUTOGRADER_RECORD_REPORT_CAUSE_H
#define CONVLAB_AUTOGRADER_RECORD_REPORT_CAUSE_H

#include <stdio.h>

#include "autograder/record/record.h"

/* Prints at most `most` lines if possible: the finding is shortened first, with a note.  0: no
 * limit. `source`: the file to which the finding's places refer; `offer`: hint_offer, or "". */
void report_cause(FILE *stream, const RecordCase *item, const char *offer, const char *source,
                  size_t most);

/* Converts compilers' lines to the format of editors and terminals: "conv.cu(3): error" becomes
 * "<source>:3: error".  Other lines, which a source could have printed, are printed after a bar.
 * Prints the first `most` lines (0: all). */
void report_compiler(FILE *stream, const char *lines, const char *source, size_t most);

#endif
