#include "autograder/lab/metric.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct Metric {
    const char *name;
    int (*follow)(const MetricRun *run, double *value, Error *error); /* NULL: a counter */
    size_t offset, bytes;                                             /* offset and size of the
                                                                       * counter */
    int without_launch;
} Metric;

static int ratio(double top, double bottom, const char *what, double *value, Error *error)
{
    if (bottom <= 0) return error_set(error, "your kernel made no %s", what);
    *value = top / bottom;
    return 0;
}

/* ---- metrics of the most expensive launch ---- */

static double launch_blocks(const DeviceCost *cost)
{
    return (double)cost->grid[0] * cost->grid[1] * cost->grid[2];
}

static double launch_threads(const DeviceCost *cost)
{
    return (double)cost->block[0] * cost->block[1] * cost->block[2];
}

static int blocks(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = launch_blocks(run->cost);
    return 0;
}

static int threads_per_block(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = launch_threads(run->cost);
    return 0;
}

static int warps(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = launch_blocks(run->cost) * ceil(launch_threads(run->cost) / MACHINE_WARP_SIZE);
    return 0;
}

static int blocks_by_registers(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = machine_blocks_by_registers(run->machine, run->cost->registers,
                                         (uint32_t)launch_threads(run->cost));
    return 0;
}

static int blocks_by_shared(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = machine_blocks_by_shared(run->machine, run->cost->shared_bytes);
    return 0;
}

static int full_wave(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = (double)run->machine->sms * run->cost->resident_blocks;
    return 0;
}

static int waves(const MetricRun *run, double *value, Error *error)
{
    double at_once = (double)run->machine->sms * run->cost->resident_blocks;
    if (ratio(launch_blocks(run->cost), at_once, "resident block", value, error)) return -1;
    *value = ceil(*value);
    return 0;
}

/* ---- metrics of all launches of the call ---- */

static int sectors_per_load(const MetricRun *run, double *value, Error *error)
{
    return ratio((double)run->cost->global_load_sectors, (double)run->cost->global_load_requests,
                 "global load", value, error);
}

static int sectors_per_store(const MetricRun *run, double *value, Error *error)
{
    return ratio((double)run->cost->global_store_sectors, (double)run->cost->global_store_requests,
                 "global store", value, error);
}

static int shared_wavefronts_per_load(const MetricRun *run, double *value, Error *error)
{
    const DeviceCost *cost = run->cost;
    return ratio((double)cost->shared_wavefronts,
                 (double)(cost->shared_load_requests + cost->shared_store_requests),
                 "shared-memory access", value, error);
}

static int bytes_per_flop(const MetricRun *run, double *value, Error *error)
{
    return ratio((double)(run->cost->global_load_bytes + run->cost->global_store_bytes),
                 run->operation->flops(run->problem), "FLOP", value, error);
}

/* With one thread per output, each multiply-add loads an input and a weight, 8 bytes. */
static int input_load_reduction(const MetricRun *run, double *value, Error *error)
{
    return ratio(run->operation->flops(run->problem) / 2 * 8, (double)run->cost->global_load_bytes,
                 "global load", value, error);
}

/* ---- metrics of the problem alone ---- */

static int least_bytes(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = run->operation->least_bytes(run->problem);
    return 0;
}

static int flops(const MetricRun *run, double *value, Error *error)
{
    (void)error;
    *value = run->operation->flops(run->problem);
    return 0;
}

/* ---- the table ---- */

#define FOLLOWS(function)                                                                          \
    {                                                                                              \
#function, function, 0, 0, 0                                                               \
    }
#define OF_PROBLEM(function)                                                                       \
    {                                                                                              \
#function, function, 0, 0, 1                                                               \
    }
#define COUNTER(name, member)                                                                      \
    {                                                                                              \
        name, NULL, offsetof(DeviceCost, member), sizeof(((DeviceCost *)0)->member), 0             \
    }

#define COUNTER_METRIC(field, metric, about) COUNTER(metric, field),

static const Metric METRICS[] = {
    FOLLOWS(blocks),
    COUNTER("grid_x", grid[0]),
    COUNTER("grid_y", grid[1]),
    COUNTER("grid_z", grid[2]),
    FOLLOWS(threads_per_block),
    FOLLOWS(warps),
    FOLLOWS(waves),
    FOLLOWS(full_wave),
    FOLLOWS(blocks_by_registers),
    FOLLOWS(blocks_by_shared),
    COUNTER("registers", registers),
    COUNTER("shared_bytes_per_block", shared_bytes),
    COUNTER("resident_blocks", resident_blocks),
    COUNTER("occupancy_percent", occupancy_percent),
    FOLLOWS(sectors_per_load),
    FOLLOWS(sectors_per_store),
    FOLLOWS(shared_wavefronts_per_load),
    FOLLOWS(bytes_per_flop),
    FOLLOWS(input_load_reduction),
    COUNTER("cycles", cycles),
    COUNTERS(COUNTER_METRIC) OF_PROBLEM(least_bytes),
    OF_PROBLEM(flops),
};

int metric_count(void)
{
    return sizeof METRICS / sizeof *METRICS;
}

const char *metric_name(int metric)
{
    return METRICS[metric].name;
}

int metric_find(const char *name)
{
    for (int i = 0; i < metric_count(); i++)
        if (!strcmp(METRICS[i].name, name)) return i;
    return -1;
}

const char *metric_names(void)
{
    static char names[2048];
    if (names[0]) return names;
    size_t used = 0;
    for (int i = 0; i < metric_count() && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 METRICS[i].name);
    return names;
}

int metric_needs_launch(int metric)
{
    return !METRICS[metric].without_launch;
}

static double counter_value(const Metric *metric, const DeviceCost *cost)
{
    const char *at = (const char *)cost + metric->offset;
    uint32_t narrow;
    uint64_t wide;
    if (metric->bytes == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return (double)wide;
}

int metric_value(int metric, const MetricRun *run, double *value, Error *error)
{
    const Metric *one = &METRICS[metric];
    if (metric_needs_launch(metric) && !run->cost->launches) {
        return error_set(error, "no kernel was launched");
    }
    if (one->follow) return one->follow(run, value, error);
    *value = counter_value(one, run->cost);
    return 0;
}

void metrics_write(FILE *stream, const MetricRun *run)
{
    double value;
    for (int i = 0; i < metric_count(); i++)
        if (!metric_value(i, run, &value, NULL))
            fprintf(stream, "%s\t%.15g\n", METRICS[i].name, value);
}
