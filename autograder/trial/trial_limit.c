/* trial_limit.c - limits for endless code, checked by timer ticks of this process, which stop while
 * a debugger holds it. (A timer of CPU time would make its clock coarse.) */
#include "autograder/trial/trial_limit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "autograder/text/text.h"
#include "autograder/text/ticker.h"

enum { HOST_SECONDS = 20, CARD_SECONDS = 20, TICK_US = 500000 };

double trial_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct {
    volatile sig_atomic_t in_device;
    double used, seen;       /* CPU seconds: of host code; of the process, at the last tick */
    double waited, patience; /* seconds spent in the device, and their limit */
    const char *name;
    int (*execute)(Device *device, const DeviceCall *call, DeviceReply *reply);
} watched = {.patience = INFINITY};

/* Ends the process, because only its end stops an endless kernel. */
static void stop_here(const char *text)
{
    ticker_abandon();
    ssize_t written = write(STDOUT_FILENO, text, strlen(text));
    _exit(written < 0 ? 2 : 1);
}

static void on_tick(int number)
{
    char text[300];
    (void)number;
    double now = trial_cpu_seconds();
    if (watched.in_device)
        watched.waited += TICK_US / 1e6;
    else
        watched.used += now - watched.seen;
    watched.seen = now;
    if (watched.used >= HOST_SECONDS) {
        text_set(text, sizeof text,
                 "  LIMIT\n"
                 "    %s used %d s of CPU time on the host and was stopped; %d s are allowed.\n"
                 "    Possibly a loop in host code does not end.\n",
                 watched.name, HOST_SECONDS, HOST_SECONDS);
        stop_here(text);
    }
    if (watched.waited >= watched.patience) {
        text_set(text, sizeof text,
                 "  LIMIT\n"
                 "    %s: the GPU worked for %.0f s and was stopped;\n"
                 "    solutions need a hundredth of that. Possibly a loop in a kernel does not "
                 "end: ENGINE=sim shows where\n",
                 watched.name, watched.waited);
        stop_here(text);
    }
}

static int watched_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    watched.in_device++;
    int status = watched.execute(device, call, reply);
    watched.in_device--;
    return status;
}

void trial_limit_open(const Trial *trial)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    if (trial->device && trial->engine == ENGINE_GPU)
        watched.patience = CARD_SECONDS + workload_gpu_seconds(trial->operation, trial->problem);
    if (!trial->device) return;
    watched.execute = trial->device->execute;
    trial->device->execute = watched_execute;
}

void trial_limit_begin(const Workload *workload)
{
    static const struct itimerval on = {.it_interval.tv_usec = TICK_US,
                                        .it_value.tv_usec = TICK_US};
    watched.used = watched.waited = 0;
    watched.seen = trial_cpu_seconds();
    watched.name = workload->operation->name;
    fflush(stdout);
    setitimer(ITIMER_REAL, &on, NULL);
}

void trial_limit_end(void)
{
    static const struct itimerval off;
    setitimer(ITIMER_REAL, &off, NULL);
}
