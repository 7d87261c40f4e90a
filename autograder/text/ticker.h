/* ticker.h - one line at the bottom of a terminal while something takes its time: what is at work,
 * and about how long it still takes.  It appears after a second and goes when the work ends; a
 * file or a pipe never sees it. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TICKER_H
#define CONVLAB_AUTOGRADER_TEXT_TICKER_H

#include <stdio.h>

/* Begins on standard error, if that is a terminal. */
void ticker_begin(void);

/* The same for what takes about as long as it did the last time: `file` keeps the seconds of it, of
 * more than one, and the time left follows from them. */
void ticker_begin_again(const char *file);

/* What is at work now, and which part of the whole, 0 to 1, is done; negative: nobody knows.  The
 * time left follows from how long the part took that is done. */
void ticker_say(double done, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows how many of `all` parts of `what` are done, a line of `lines` each, until there are no
 * more: the progress of a script, which ends when the script closes its end.  With a `file` the
 * time left is what it took the last time, for parts of very different lengths; NULL: they are
 * alike. */
void ticker_follow(FILE *lines, const char *what, int all, const char *file);

/* Ends it and clears the line.  Both are allowed where none has begun. */
void ticker_end(void);

/* Clears the line where the process is about to end.  Async-signal-safe. */
void ticker_abandon(void);

#endif
