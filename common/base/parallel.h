/* parallel.h - one piece of work in several shares, on all cores that there are for it. */
#ifndef CONVLAB_BASE_PARALLEL_H
#define CONVLAB_BASE_PARALLEL_H

#include <stddef.h>

enum { PARALLEL_MOST = 64 };

/* The cores that this process may run on: taskset and a cluster's queue give it some of the
 * machine's.  At least 1. */
int parallel_cores(void);

/* How many shares `units` of work are worth, when one share should have `least` of them: a thread
 * costs some 50 us.  1 .. parallel_cores(), PARALLEL_MOST at most. */
int parallel_shares(double units, double least);

/* Calls work(context, i) for each i of 0..shares-1, all at once, and returns when all are done.
 * Where no thread is to be had, one after the other. */
typedef void ParallelWork(void *context, int share);
void parallel_run(int shares, ParallelWork *work, void *context);

/* The same for shares that take their work from one heap: those that have not begun when more()
 * says that nothing is left are not called.  Share 0 always is. */
typedef int ParallelMore(void *context);
void parallel_run_while(int shares, ParallelMore *more, ParallelWork *work, void *context);

/* memcpy, and whether memcmp is 0, of what may be hundreds of megabytes: one core has a tenth of
 * the memory's bandwidth. */
void parallel_copy(void *to, const void *from, size_t bytes);
int parallel_equal(const void *one, const void *other, size_t bytes);

#endif
