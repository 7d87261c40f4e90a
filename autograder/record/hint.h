/* hint.h - staged hints: one more each time, and those that the last grade's faults unlocked. */
#ifndef CONVLAB_AUTOGRADER_RECORD_HINT_H
#define CONVLAB_AUTOGRADER_RECORD_HINT_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* Prints the hints that the last grade unlocked, then the next staged one; remembers it in
 * <build>/progress/<lab>. */
int hint_print(FILE *stream, const Lab *lab, const char *build, Error *error);

#endif
