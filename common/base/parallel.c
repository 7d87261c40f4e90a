#include "common/base/parallel.h"

#include <pthread.h>
#include <unistd.h>

typedef struct Share {
    ParallelWork *work;
    void *context;
    int number, threaded;
    pthread_t thread;
} Share;

int parallel_shares(double units, double least)
{
    double shares = units / least, cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (shares > cores) shares = cores;
    if (shares > PARALLEL_MOST) shares = PARALLEL_MOST;
    return shares > 1 ? (int)shares : 1;
}

static void *share_run(void *argument)
{
    Share *share = argument;
    share->work(share->context, share->number);
    return NULL;
}

void parallel_run(int shares, ParallelWork *work, void *context)
{
    Share share[PARALLEL_MOST];
    for (int i = 0; i < shares; i++)
        share[i] = (Share){.work = work, .context = context, .number = i};
    for (int i = 1; i < shares; i++)
        share[i].threaded = !pthread_create(&share[i].thread, NULL, share_run, &share[i]);
    for (int i = 0; i < shares; i++)
        if (!share[i].threaded) share_run(&share[i]);
    for (int i = 1; i < shares; i++)
        if (share[i].threaded) pthread_join(share[i].thread, NULL);
}
