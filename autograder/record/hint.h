/* hint.h - hints: staged ones, those of a TODO region in three levels, and those that the last
 * grade's faults unlocked. */
#ifndef CONVLAB_AUTOGRADER_RECORD_HINT_H
#define CONVLAB_AUTOGRADER_RECORD_HINT_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* The student's source and the skeleton, to know which TODO regions are written; either may be
 * NULL. */
typedef struct HintSource {
    const char *text, *skeleton;
} HintSource;

/* Prints the hints that the last grade unlocked, then the next staged one that does not only name
 * regions that are already written; records it in <build>/progress/<lab>. */
int hint_print(FILE *stream, const Lab *lab, const char *build, const HintSource *source,
               Error *error);

/* Prints the next level of the hint of TODO(number): question, idea, code.  Records it in
 * <build>/progress/levels/<lab>.<number>. */
int hint_print_todo(FILE *stream, const Lab *lab, const char *build, int number,
                    const HintSource *source, Error *error);

/* The line of a report that replaces a hint, because a hint appears only on request: "make hint
 * LAB=02 explains it." for the lab "02-naive". */
void hint_offer(const char *lab, char *text, size_t bytes);

#endif
