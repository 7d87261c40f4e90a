/* launches.h - launches of the validation sets: measured and simulated times and counts.
 *
 * A root folder has sets.tsv and, for each GPU, data/GPU with SET-times.tsv and SET-counters.tsv.
 * Optional are SET-runs.tsv (counts of further runs) and forecast-SET.tsv (times that were
 * predicted before any launch was measured).  A folder of simulated results has SET.tsv. */
#ifndef CONVLAB_VALIDATE_LAUNCHES_H
#define CONVLAB_VALIDATE_LAUNCHES_H

#include <stddef.h>

#include "common/base/error.h"

enum { COUNTERS = 7 };
extern const char *const COUNTER_NAME[COUNTERS];

/* Kinds of launches as the records name them (measure.h).  Only the times of kinds below TIMED are
 * compared, and the counts of kinds below COUNTED. */
enum { KINDS = 5, TIMED = 3, COUNTED = 4 };
extern const char *const KIND_NAME[KINDS];

typedef struct Launch {
    char set[64], name[64], family[32];
    int kind;
    double measured, simulated;             /* us */
    double forecast;                        /* us, predicted before any measurement; 0: none */
    double least[COUNTERS], most[COUNTERS]; /* range of the GPU's counts; NAN: not recorded */
    double counted[COUNTERS];               /* the simulator's counts */
} Launch;

typedef struct Launches {
    Launch *launch; /* owned */
    size_t count;
} Launches;

/* Reads all sets of the root for one GPU.  Returns -1 with an error if a file is missing or
 * broken, if a launch was measured and not simulated, or if sets.tsv and the forecasts disagree. */
int launches_read(const char *root, const char *gpu, const char *simulated, Launches *launches,
                  Error *error);
void launches_free(Launches *launches);

/* |simulated / measured - 1| */
double launch_error(const Launch *launch);

/* Was the count recorded, and is it not zero on both sides? */
int launch_is_counted(const Launch *launch, int counter);

/* Does the GPU's count differ by at most 0.5 % between runs? */
int launch_is_steady(const Launch *launch, int counter);

/* Is the simulator's count within 2 %, or 16, of the range of the GPU's counts? */
int launch_is_right(const Launch *launch, int counter);

/* Predicted ÷ measured count, by the nearer end of the GPU's range; INFINITY if the GPU counted
 * none. */
double launch_count_ratio(const Launch *launch, int counter);

#endif
