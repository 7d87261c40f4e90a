/* ordered_tasks.h - parallel tasks on several cores, each in a process of its own: the output of
 * each task is printed whole, in the order of the tasks. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_ORDERED_TASKS_H
#define CONVLAB_AUTOGRADER_JUDGING_ORDERED_TASKS_H

enum { TURN_RESULTS = 2 };

/* Runs task `number` and stores its numbers in `result`.  Returns 0, or another value after an
 * error. */
typedef int (*OrderedTask)(void *context, int number, double result[TURN_RESULTS]);

/* Runs tasks 0 to `turns` - 1, at most `beside` at a time; result[i] has task i's numbers,
 * initially zeros.  All tasks end with this process.  Returns the number of failed tasks; a task
 * that died by a signal, or could not start, is reported on standard error. */
int ordered_tasks_run(int turns, int at_once, OrderedTask turn, void *context,
                      double (*result)[TURN_RESULTS]);

#endif
