/* parallel.h - one piece of work in several shares, on all cores that there are for it. */
#ifndef CONVLAB_BASE_PARALLEL_H
#define CONVLAB_BASE_PARALLEL_H

#include <pthread.h>
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

/* The same where shares take their work from one heap, and share 0 finds out only on its way that
 * there is enough for others: then it calls parallel_begin, and parallel_end when the heap is
 * empty. Of the others, those are not called that have not begun when more() says that nothing is
 * left. */
typedef int ParallelMore(void *context);
typedef struct Parallel Parallel;
typedef struct ParallelShare {
    const Parallel *all;
    int number, threaded;
    pthread_t thread;
} ParallelShare;

struct Parallel {
    ParallelWork *work;
    ParallelMore *more; /* NULL: every share is to be worked */
    void *context;
    int count; /* of shares, 0 included */
    ParallelShare share[PARALLEL_MOST];
};

void parallel_begin(Parallel *all);
void parallel_end(Parallel *all);

/* memcpy, and whether memcmp is 0, of what may be hundreds of megabytes: one core has a tenth of
 * the memory's bandwidth. */
void parallel_copy(void *to, const void *from, size_t bytes);
int parallel_equal(const void *one, const void *other, size_t bytes);

#endif
