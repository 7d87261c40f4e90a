/* parallel.h - parallel execution of one task in several shares, on all available cores. */
#ifndef CONVLAB_BASE_PARALLEL_H
#define CONVLAB_BASE_PARALLEL_H

#include <pthread.h>
#include <stddef.h>

enum { PARALLEL_MOST = 64 };

/* Number of cores on which this process may run (taskset and a cluster's queue can restrict it), at
 * least 1. */
int parallel_cores(void);

/* Number of shares for `units` of work if a share should have at least `least` of them, because a
 * thread costs some 50 us.  1 .. parallel_cores(), at most PARALLEL_MOST. */
int parallel_shares(double units, double least);

/* Calls work(context, i) for each i of 0..shares-1 in parallel, and returns when all are done.
 * Without threads, one after the other. */
typedef void ParallelWork(void *context, int share);
void parallel_run(int shares, ParallelWork *work, void *context);

/* The same for shares that take work from a common queue.  If share 0 finds out during its work
 * that there is enough for others, it calls parallel_begin, and parallel_end when the queue is
 * empty.  Shares that have not started when more() reports that no work is left are not called. */
typedef int ParallelMore(void *context);
typedef struct Parallel Parallel;
typedef struct ParallelShare {
    const Parallel *all;
    int number, threaded;
    pthread_t thread;
} ParallelShare;

struct Parallel {
    ParallelWork *work;
    ParallelMore *more; /* NULL: every share must be called */
    void *context;
    int count; /* number of shares, including 0 */
    ParallelShare share[PARALLEL_MOST];
};

void parallel_begin(Parallel *all);
void parallel_end(Parallel *all);

/* memcpy, and whether memcmp is 0, for up to hundreds of megabytes: one core has a tenth of the
 * memory's bandwidth. */
void parallel_copy(void *to, const void *from, size_t bytes);
int parallel_equal(const void *one, const void *other, size_t bytes);

#endif
