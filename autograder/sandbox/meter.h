/* meter.h - what a process and its descendants used, apart from what the machine kept from them.
 *
 * A clock on the wall also counts the time in which other programs had the processor: with it a
 * busy machine makes right code late.  A meter tells three things apart.  CPU time was used.
 * Waiting is time in which nothing was used although nothing was in the way: asleep, stopped, or
 * waiting for what never comes.  Starving is wanting to run, or waiting for a disk, in vain.  The
 * first two are the program's own doing and have a limit each; the third is the machine's. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_METER_H
#define CONVLAB_AUTOGRADER_SANDBOX_METER_H

#include <sys/types.h>

typedef enum Excess {
    EXCESS_NONE,
    EXCESS_CPU,    /* used more CPU time than allowed */
    EXCESS_WAITED, /* waited longer than allowed */
    EXCESS_STARVED /* nothing like it, but no end either: the machine is too busy to tell */
} Excess;

/* So many times the allowed seconds may pass on the wall before a meter gives up. */
enum { METER_PATIENCE = 30 };

typedef struct Meter {
    pid_t pid, helper;
    double allowed;                 /* seconds of CPU time */
    double allowed_waiting;         /* of waiting; meter_open makes them as many */
    double cpu, waited, starved;    /* seconds since meter_open */
    double opened, at;              /* CLOCK_MONOTONIC */
    double last_cpu[2], last_delay; /* of pid's tree, of the helper's; of both */
} Meter;

/* Begins now.  `pid` is the root of the tree that is charged.  `helper`, 0 for none, is the root of
 * another that works for it: while that one is busy the first is not called waiting. */
void meter_open(Meter *meter, pid_t pid, pid_t helper, double allowed);

/* What was used since, and whether that is too much.  To be called every meter_interval(): longer
 * pauses of the caller itself are not charged. */
Excess meter_sample(Meter *meter);

/* Seconds that the living threads of pid's tree have run, to the nanosecond. */
double meter_ran(pid_t pid);

/* Milliseconds until the next sample; never twice the same, so that nothing can keep in step. */
int meter_interval(void);

#endif
