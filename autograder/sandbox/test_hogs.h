/* test_hogs.h - simulated load for tests: other processes on the same processor. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_TEST_HOGS_H
#define CONVLAB_AUTOGRADER_SANDBOX_TEST_HOGS_H

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Hogs {
    pid_t pid[40];
    int count;
    cpu_set_t before;
} Hogs;

/* Pins this process, and those that it starts, to its present processor. */
static void hogs_pin(Hogs *hogs)
{
    cpu_set_t one;
    hogs->count = 0;
    sched_getaffinity(0, sizeof hogs->before, &hogs->before);
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* Starts `count` processes that are busy on that processor. */
static void hogs_start(Hogs *hogs, int count)
{
    for (hogs->count = 0; hogs->count < count; hogs->count++) {
        hogs->pid[hogs->count] = fork();
        if (hogs->pid[hogs->count] > 0) continue;
        setsid(); /* if sessions share a processor evenly (sched_autogroup), each needs its own */
        for (volatile int spin = 1; spin;) {
        }
    }
}

static void hogs_stop(Hogs *hogs)
{
    for (int i = 0; i < hogs->count; i++) {
        kill(hogs->pid[i], SIGKILL);
        waitpid(hogs->pid[i], NULL, 0);
    }
    sched_setaffinity(0, sizeof hogs->before, &hogs->before);
}

#endif
