/* answer.h - a number as a student writes it: "384", "1,466", "2*192", "(28+4)/2", "384 blocks". */
#ifndef CONVLAB_AUTOGRADER_LAB_ANSWER_H
#define CONVLAB_AUTOGRADER_LAB_ANSWER_H

#include <stddef.h>

/* Reads numbers, commas between thousands, + - * / and parentheses.  One word at the end is ignored
 * as a unit, unless it changes the number ("4 KB", "2 million"); "%" is ignored, too.  -1: `why` is
 * a sentence that says why `text` is not a number. */
int answer_read(const char *text, double *number, char *why, size_t bytes);

#endif
