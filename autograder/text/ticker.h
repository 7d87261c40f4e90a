/* ticker.h - progress of long work: the current work, and its estimated remaining time.
 *
 * On a terminal it is one line at the bottom, which appears after a second and disappears when the
 * work ends.  In a file or a pipe it is lines: a script's work (ticker_follow) prints one every ten
 * seconds if a part has ended meanwhile, other work none.  The environment variable PROGRESS=n
 * selects lines every n seconds for all work. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TICKER_H
#define CONVLAB_AUTOGRADER_TEXT_TICKER_H

#include <stdio.h>

/* Starts on standard error. */
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
