/* ticker.h - progress line at the bottom of a terminal: the current work, and its estimated
 * remaining time.  It appears after a second and disappears when the work ends; a file or a pipe
 * never shows it. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TICKER_H
#define CONVLAB_AUTOGRADER_TEXT_TICKER_H

#include <stdio.h>

/* Starts on standard error, if that is a terminal. */
void ticker_begin(void);

/* The same for work that takes about as long as the last time: `file` stores the duration, if it
 * exceeds a second, and the remaining time is computed from it. */
void ticker_begin_again(const char *file);

/* Sets the current work, and its finished share, 0 to 1; negative: unknown.  The remaining time is
 * computed from the time that the finished share took. */
void ticker_say(double done, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Shows the number of finished parts out of `all` parts of `what`.  Each line of `lines` is a
 * finished part; the end of `lines` ends the progress.  With a `file`, the remaining time is
 * computed from the duration of the last time, for parts of very different lengths; NULL: the parts
 * are similar. */
void ticker_follow(FILE *lines, const char *what, int all, const char *file);

/* Ends it and clears the line.  Both are allowed without a start. */
void ticker_end(void);

/* Clears the line before the process ends.  Async-signal-safe. */
void ticker_abandon(void);

#endif
