/* meter.h - CPU and waiting time of a process and its descendants, independent of the machine's
 * load.
 *
 * Wall-clock time also includes the time in which other programs had the processor, so on a busy
 * machine it would make correct code late.  A meter distinguishes three things. CPU time is time on
 * a processor.  Waiting is time in which the process did nothing although it could have run:
 * asleep, stopped, or blocked on an event that never occurs.  Starving is time in which it was
 * runnable, or waited for a disk.  The first two are caused by the program and have a limit each;
 * the third is caused by the machine. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_METER_H
#define CONVLAB_AUTOGRADER_SANDBOX_METER_H

#include <sys/types.h>

typedef enum Excess {
    EXCESS_NONE,
    EXCESS_CPU,    /* used more CPU time than allowed */
    EXCESS_WAITED, /* waited longer than allowed */
    EXCESS_STARVED /* within both limits, but no end: the machine is too busy to decide */
} Excess;

/* Factor on the allowed seconds, in wall-clock time, after which a meter gives up.  The grader's
 * environment may set another one (CONVLAB_PATIENCE): tests do, so that no verdict depends on the
 * machine's load. */
enum { METER_PATIENCE = 30 };
double meter_patience(void);

typedef struct Meter {
    pid_t pid, helper;
    double allowed;                 /* seconds of CPU time */
    double allowed_waiting;         /* seconds of waiting; meter_open sets the same value */
    double cpu, waited, starved;    /* values for pid's tree and the helper's; for both */
    double opened, at;              /* CLOCK_MONOTONIC */
    double last_cpu[2], last_delay; /* values for pid's tree and the helper's; for both */
} Meter;

/* Starts metering.  `pid` is the root of the process tree that is charged.  `helper`, 0 for none,
 * is the root of another tree that works for it: while the helper is busy, the first tree is not
 * waiting. */
void meter_open(Meter *meter, pid_t pid, pid_t helper, double allowed);

/* Updates the times and checks the limits.  To be called every meter_interval(): longer pauses of
 * the caller are not charged. */
Excess meter_sample(Meter *meter);

/* Seconds that the living threads of pid's tree have run, with nanosecond resolution. */
double meter_ran(pid_t pid);

/* Milliseconds until the next sample; varies, so that no program can synchronise with the
 * samples. */
int meter_interval(void);

#endif
