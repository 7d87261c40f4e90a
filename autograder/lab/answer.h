/* answer.h - a number as a student writes it: "384", "1,466", "2*192", "(28+4)/2", "384 blocks". */
#ifndef CONVLAB_AUTOGRADER_LAB_ANSWER_H
#define CONVLAB_AUTOGRADER_LAB_ANSWER_H

#include <stddef.h>

/* Numbers, commas between thousands, + - * / and parentheses; one word behind it all is taken for a
 * unit and left aside, unless it would change the number ("4 KB", "2 million").  -1: `why` says in
 * a sentence why `text` is no number. */
int answer_read(const char *text, double *number, char *why, size_t bytes);

#endif
