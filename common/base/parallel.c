#include "common/base/parallel.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

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

static void *share_run(void *argument)
{
    const ParallelShare *share = argument;
    share->all->work(share->all->context, share->number);
    return NULL;
}

static int others_are_wanted(const Parallel *all)
{
    return !all->more || all->more(all->context);
}

void parallel_begin(Parallel *all)
{
    for (int i = 1; i < all->count; i++) {
        ParallelShare *share = &all->share[i];
        *share = (ParallelShare){.all = all, .number = i};
        share->threaded =
            others_are_wanted(all) && pthread_create(&share->thread, NULL, share_run, share) == 0;
    }
}

void parallel_end(Parallel *all)
{
    for (int i = 1; i < all->count; i++)
        if (!all->share[i].threaded && others_are_wanted(all)) share_run(&all->share[i]);
    for (int i = 1; i < all->count; i++)
        if (all->share[i].threaded) pthread_join(all->share[i].thread, NULL);
}

void parallel_run(int shares, ParallelWork *work, void *context)
{
    Parallel all = {.work = work, .context = context, .count = shares};
    parallel_begin(&all);
    if (shares > 0) work(context, 0);
    parallel_end(&all);
}

/* ---- copies and comparisons ----------------------------------------------------------------- */

typedef struct Bytes {
    char *to; /* NULL: compares instead of copying */
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
