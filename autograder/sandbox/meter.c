/* meter.c - CPU time and run delay of process trees, from /proc.
 *
 * proc(5): stat has the state and the CPU time, including that of children that were waited for.
 * The file schedstat has the nanoseconds that a thread ran and that it waited in a processor's
 * queue.  The file task/T/children has the processes that a thread created.  If the kernel lacks
 * one of them, that part counts as 0. */
#include "autograder/sandbox/meter.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox.h"

enum { DEPTH = 8, LEAST_MS = 50, SPREAD_MS = 100 };

/* A longer interval between samples is not charged: the caller was stopped or starved itself. */
static const double LONGEST_WINDOW = 1.0;

typedef struct Usage {
    double cpu;        /* seconds, including children that have ended; resolution: ticks of 10 ms */
    double ran, delay; /* seconds, of living threads; resolution: nanoseconds */
    int wants;         /* Boolean: a thread is running, runnable, or waiting for a disk */
} Usage;

/* Reads a small file; "" if it cannot be read. */
static void proc_read(const char *path, char *text, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : 0;
    text[got > 0 ? got : 0] = 0;
    if (fd >= 0) close(fd);
}

/* Parses after the name, which may contain any character: returns the state, and stores CPU ticks
 * in *ticks unless NULL. */
static char stat_parse(const char *text, long *ticks)
{
    const char *name_end = strrchr(text, ')');
    char state = 0;
    long user = 0, system = 0, children_user = 0, children_system = 0;
    if (!name_end ||
        sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld %ld %ld", &state,
               &user, &system, &children_user, &children_system) != 5)
        return 0;
    if (ticks) *ticks = user + system + children_user + children_system;
    return state;
}

static void tree_add(pid_t pid, int depth, Usage *usage);

static void thread_add(const char *directory, int depth, Usage *usage)
{
    char path[128], text[4096];
    unsigned long long ran, delay;
    snprintf(path, sizeof path, "%s/stat", directory);
    proc_read(path, text, sizeof text);
    char state = stat_parse(text, NULL);
    usage->wants |= state == 'R' || state == 'D';
    snprintf(path, sizeof path, "%s/schedstat", directory);
    proc_read(path, text, sizeof text);
    if (sscanf(text, "%llu %llu", &ran, &delay) == 2) {
        usage->ran += 1e-9 * (double)ran;
        usage->delay += 1e-9 * (double)delay;
    }
    snprintf(path, sizeof path, "%s/children", directory);
    proc_read(path, text, sizeof text);
    for (char *at = text, *end; depth > 0; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at) break;
        tree_add((pid_t)child, depth - 1, usage);
    }
}

static void tree_add(pid_t pid, int depth, Usage *usage)
{
    char path[64], directory[96], text[1024];
    long ticks = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    proc_read(path, text, sizeof text);
    if (!stat_parse(text, &ticks)) return;
    usage->cpu += (double)ticks / (double)sysconf(_SC_CLK_TCK);
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        snprintf(directory, sizeof directory, "%s/%.16s", path, entry->d_name);
        thread_add(directory, depth, usage);
    }
    if (tasks) closedir(tasks);
}

static double at_least_0(double seconds)
{
    return seconds > 0 ? seconds : 0;
}

void meter_open(Meter *meter, pid_t pid, pid_t helper, double allowed)
{
    Usage own = {0}, other = {0};
    tree_add(pid, DEPTH, &own);
    if (helper > 0) tree_add(helper, DEPTH, &other);
    double now = sandbox_clock();
    *meter = (Meter){.pid = pid,
                     .helper = helper,
                     .allowed = allowed,
                     .allowed_waiting = allowed,
                     .opened = now,
                     .at = now,
                     .last_cpu = {own.cpu, other.cpu},
                     .last_delay = own.delay + other.delay};
}

double meter_patience(void)
{
    const char *text = getenv("CONVLAB_PATIENCE");
    double factor = text ? strtod(text, NULL) : 0;
    return factor >= 1 ? factor : METER_PATIENCE;
}

static Excess meter_judge(const Meter *meter)
{
    if (meter->cpu > meter->allowed) return EXCESS_CPU;
    if (meter->waited > meter->allowed_waiting) return EXCESS_WAITED;
    if (meter->at - meter->opened < meter_patience() * meter->allowed) return EXCESS_NONE;
    /* The limit passed and the machine was not overloaded, so the program is at fault. */
    return meter->starved < 0.5 * (meter->at - meter->opened) ? EXCESS_WAITED : EXCESS_STARVED;
}

Excess meter_sample(Meter *meter)
{
    Usage own = {0}, other = {0};
    tree_add(meter->pid, DEPTH, &own);
    if (meter->helper > 0) tree_add(meter->helper, DEPTH, &other);
    double now = sandbox_clock(), window = now - meter->at;
    double used = at_least_0(own.cpu - meter->last_cpu[0]);
    double helped = at_least_0(other.cpu - meter->last_cpu[1]);
    double delay = at_least_0(own.delay + other.delay - meter->last_delay);
    if (window > LONGEST_WINDOW) window = LONGEST_WINDOW;
    double idle = at_least_0(window - used - helped);
    double hindered = own.wants || other.wants || delay > idle ? idle : delay;
    meter->cpu += used;
    meter->starved += hindered;
    meter->waited += idle - hindered;
    meter->at = now;
    meter->last_cpu[0] = own.cpu;
    meter->last_cpu[1] = other.cpu;
    meter->last_delay = own.delay + other.delay;
    return meter_judge(meter);
}

double meter_ran(pid_t pid)
{
    Usage usage = {0};
    tree_add(pid, DEPTH, &usage);
    return usage.ran;
}

int meter_interval(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return LEAST_MS + (int)(now.tv_nsec / 1000 % SPREAD_MS);
}
