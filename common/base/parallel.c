#include "common/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* All shares of one piece of work. */
typedef struct Shares {
    ParallelWork *work;
    ParallelMore *more; /* NULL: every share is to be worked */
    void *context;
    int count;
} Shares;

typedef struct Share {
    const Shares *all;
    int number;
} Share;

int parallel_cores(void)
{
    cpu_set_t set;
    long cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                             : sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 1 ? (int)cores : 1;
}

int parallel_shares(double units, double least)
{
    double shares = units / least, cores = parallel_cores();
    if (shares > cores) shares = cores;
    if (shares > PARALLEL_MOST) shares = PARALLEL_MOST;
    return shares > 1 ? (int)shares : 1;
}

static int share_is_wanted(const Share *share)
{
    const Shares *all = share->all;
    return share->number < all->count && (!all->more || all->more(all->context));
}

/* Begins two other shares, which begin two others each, before its own work: so all of many have
 * begun soon. */
static void *share_run(void *argument)
{
    enum { OTHERS = 2 };
    const Share *share = argument;
    Share other[OTHERS];
    pthread_t thread[OTHERS];
    int threaded[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        other[i] = (Share){share->all, OTHERS * share->number + 1 + i};
        threaded[i] = share_is_wanted(&other[i]) &&
                      pthread_create(&thread[i], NULL, share_run, &other[i]) == 0;
    }
    share->all->work(share->all->context, share->number);
    for (int i = 0; i < OTHERS; i++)
        if (!threaded[i] && share_is_wanted(&other[i])) share_run(&other[i]);
    for (int i = 0; i < OTHERS; i++)
        if (threaded[i]) pthread_join(thread[i], NULL);
    return NULL;
}

void parallel_run_while(int shares, ParallelMore *more, ParallelWork *work, void *context)
{
    Shares all = {.work = work, .more = more, .context = context, .count = shares};
    Share first = {&all, 0};
    if (shares > 0) share_run(&first);
}

void parallel_run(int shares, ParallelWork *work, void *context)
{
    parallel_run_while(shares, NULL, work, context);
}

/* ---- bytes -------------------------------------------------------------------------------- */

typedef struct Bytes {
    char *to; /* NULL: nothing is copied, but compared */
    const char *from, *other;
    size_t bytes;
    int shares;
    char differs[PARALLEL_MOST];
} Bytes;

static void bytes_share(void *context, int share)
{
    Bytes *all = context;
    size_t first = all->bytes * (size_t)share / (size_t)all->shares;
    size_t count = all->bytes * ((size_t)share + 1) / (size_t)all->shares - first;
    if (all->to)
        memcpy(all->to + first, all->from + first, count);
    else
        all->differs[share] = memcmp(all->from + first, all->other + first, count) != 0;
}

static void bytes_run(Bytes *all)
{
    all->shares = parallel_shares((double)all->bytes, 2e6);
    parallel_run(all->shares, bytes_share, all);
}

void parallel_copy(void *to, const void *from, size_t bytes)
{
    Bytes all = {.to = to, .from = from, .bytes = bytes};
    bytes_run(&all);
}

int parallel_equal(const void *one, const void *other, size_t bytes)
{
    Bytes all = {.from = one, .other = other, .bytes = bytes};
    bytes_run(&all);
    return !memchr(all.differs, 1, sizeof all.differs);
}
