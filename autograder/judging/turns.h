/* turns.h - turns side by side on several cores, each in a process of its own, that look as if one
 * came after the other: what they print appears whole and in their order. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_TURNS_H
#define CONVLAB_AUTOGRADER_JUDGING_TURNS_H

enum { TURN_RESULTS = 2 };

/* Turn `number`; leaves its numbers in `result`.  Returns 0, or that something went wrong. */
typedef int (*Turn)(void *context, int number, double result[TURN_RESULTS]);

/* Runs turns 0 to `turns` - 1, at most `beside` at a time; result[i] are turn i's numbers, zeros
 * before.  Turns end with this process.  Returns how many went wrong; one that died by a signal,
 * or could not begin, says so on standard error. */
int turns_run(int turns, int beside, Turn turn, void *context, double (*result)[TURN_RESULTS]);

#endif
