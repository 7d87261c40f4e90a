#include "common/simulator/validation/launches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/simulator/validation/runs.h"
#include "common/simulator/validation/tsv.h"

/* A counter is the sum of columns of the GPU's record, minus one column, and the sum of columns of
 * the simulator. */
static const struct {
    const char *gpu[2], *less, *own[2];
} COLUMNS[COUNTERS] = {{{"load_sectors", "store_sectors"}, NULL, {"load_sectors", "store_sectors"}},
                       {{"atom_sectors", "red_sectors"}, NULL, {"atomic_sectors"}},
                       {{"wavefronts"}, NULL, {"shared_wavefronts", "shared_atomic_wavefronts"}},
                       {{"wavefronts"}, "wavefronts_ideal", {"bank_conflicts"}},
                       {{"local_loads", "local_stores"}, NULL, {"local_sectors"}},
                       {{"copied_sectors"}, NULL, {"copied_sectors"}},
                       {{"texture_sectors"}, NULL, {"texture_sectors"}}};
const char *const COUNTER_NAME[COUNTERS] = {
    "global sectors", "sectors of atomics", "shared wavefronts",  "bank conflicts",
    "local sectors",  "sectors of copies",  "sectors of textures"};
const char *const KIND_NAME[KINDS] = {"fit", "regression", "lab", "counters", "racing"};

/* Copies of the tensor memory accelerator are in none of ncu's compared counters, so the counts of
 * this set are not compared. */
static const char *const TMA_SET = "hopper-units";

static const double TOLERANCE = 0.02, SLACK = 16, STEADY = 0.005;

/* The tables of one set. */
typedef struct Tables {
    Tsv times, simulated, counters, runs, forecast;
} Tables;

static int columns_add(const Tsv *tsv, size_t row, const char *const name[2], double *sum,
                       Error *error)
{
    for (int i = 0; i < 2 && name[i]; i++) {
        double value;
        if (tsv_named(tsv, row, name[i], &value, error)) return -1;
        *sum += value;
    }
    return 0;
}

/* Adds one of the GPU's columns of a kernel, times `sign`, to the counts of each run; raises `runs`
 * to the number of runs. */
static int column_add(const Tables *t, size_t kernel, const char *name, int sign, double sum[RUNS],
                      int *runs, Error *error)
{
    double recorded, counted[RUNS];
    if (tsv_named(&t->counters, kernel, name, &recorded, error)) return -1;
    int own = runs_find(&t->runs, kernel, name, counted);
    for (int i = 0; i < RUNS; i++)
        sum[i] += sign * (i < own ? counted[i] : recorded);
    if (*runs < own) *runs = own;
    return 0;
}

/* Adds the minimum and the maximum of a GPU's counts of one kernel to the launch's. */
static int kernel_add(const Tables *t, size_t kernel, int c, Launch *launch, Error *error)
{
    double sum[RUNS] = {0}, least, most;
    int runs = 1;
    Error none = {""};
    if (tsv_column(&t->counters, COLUMNS[c].gpu[0], &none) < 0) { /* an older record */
        launch->least[c] = launch->most[c] = NAN;
        return 0;
    }
    for (int i = 0; i < 2 && COLUMNS[c].gpu[i]; i++)
        if (column_add(t, kernel, COLUMNS[c].gpu[i], 1, sum, &runs, error)) return -1;
    if (COLUMNS[c].less && column_add(t, kernel, COLUMNS[c].less, -1, sum, &runs, error)) return -1;
    least = most = sum[0];
    for (int i = 1; i < runs; i++)
        least = fmin(least, sum[i]), most = fmax(most, sum[i]);
    launch->least[c] += least, launch->most[c] += most;
    return 0;
}

/* The row of that name; -1: there is none. */
static long row_find(const Tsv *table, const char *name)
{
    for (size_t row = 0; row < table->rows; row++)
        if (!strcmp(table->field[row * table->columns], name)) return (long)row;
    return -1;
}

/* Reads the launch's forecast, if it has one. */
static int forecast_read(const Tsv *forecast, Launch *launch, Error *error)
{
    long row = row_find(forecast, launch->name);
    return row < 0 ? 0 : tsv_named(forecast, (size_t)row, "us", &launch->forecast, error);
}

/* Reads both counts of a launch: row `found` of the simulated ones, and the GPU's kernels from
 * `kernel` on. */
static int counts_read(const Tables *t, size_t found, size_t *kernel, Launch *launch, Error *error)
{
    double kernels;
    if (tsv_named(&t->simulated, found, "launches", &kernels, error)) return -1;
    for (int i = 0; i < COUNTERS; i++)
        if (columns_add(&t->simulated, found, COLUMNS[i].own, &launch->counted[i], error))
            return -1;
    for (; kernels > 0; kernels--, ++*kernel) {
        if (*kernel >= t->counters.rows)
            return error_set(error, "%s: no kernels left for %s; record again", t->counters.path,
                             launch->name);
        for (int i = 0; i < COUNTERS; i++)
            if (kernel_add(t, *kernel, i, launch, error)) return -1;
    }
    for (int i = 0; !strcmp(launch->set, TMA_SET) && i < COUNTERS; i++)
        launch->least[i] = launch->most[i] = NAN;
    return 0;
}

/* Sets the kind and the family of a row of measured times. */
static int kind_read(const Tsv *times, size_t row, Launch *launch, Error *error)
{
    int kind = tsv_column(times, "kind", error), family = tsv_column(times, "family", error);
    if (kind < 0 || family < 0) return -1;
    char *const *field = times->field + row * times->columns;
    snprintf(launch->family, sizeof launch->family, "%s", field[family]);
    for (launch->kind = 0; launch->kind < KINDS; launch->kind++)
        if (!strcmp(field[kind], KIND_NAME[launch->kind])) return 0;
    return error_set(error, "%s: %s has no known kind: '%.40s'", times->path, launch->name,
                     field[kind]);
}

static int launch_read(const Tables *t, size_t row, size_t *kernel, Launch *launch, Error *error)
{
    int name = tsv_column(&t->times, "name", error);
    if (name < 0 || tsv_named(&t->times, row, "us", &launch->measured, error)) return -1;
    snprintf(launch->name, sizeof launch->name, "%s",
             t->times.field[row * t->times.columns + (size_t)name]);
    if (kind_read(&t->times, row, launch, error)) return -1;
    long found = row_find(&t->simulated, launch->name);
    if (found < 0)
        return error_set(error, "%s, row %zu: %s was measured, but is not simulated; record again",
                         t->times.path, row + 1, launch->name);
    return tsv_named(&t->simulated, (size_t)found, "us", &launch->simulated, error) ||
           counts_read(t, (size_t)found, kernel, launch, error) ||
           forecast_read(&t->forecast, launch, error);
}

/* Reports cases that a lab got after its measurement: they wait for the next recording. */
static void unmeasured_say(const char *set, const Tsv *times, const Tsv *simulated)
{
    if (simulated->rows > times->rows)
        fprintf(stderr, "validate: %s has %zu cases that were never measured\n", set,
                simulated->rows - times->rows);
}

/* Reads the tables of a set; the last two are optional. */
static int tables_read(const char *records, const char *simulated, const char *set, Tables *t,
                       Error *error)
{
    char path[2048];
#define PATH(...) (snprintf(path, sizeof path, __VA_ARGS__), path)
    return tsv_read(PATH("%s/%s-times.tsv", records, set), &t->times, error) ||
           tsv_read(PATH("%s/%s.tsv", simulated, set), &t->simulated, error) ||
           tsv_read(PATH("%s/%s-counters.tsv", records, set), &t->counters, error) ||
           (!access(PATH("%s/%s-runs.tsv", records, set), F_OK) &&
            runs_read(path, &t->counters, &t->runs, error)) ||
           (!access(PATH("%s/forecast-%s.tsv", records, set), F_OK) &&
            tsv_read(path, &t->forecast, error));
#undef PATH
}

/* A set may start with an empty kernel.  The GPU's excess time for it, in us, is subtracted from
 * all later launches of the set: machines differ in the time of a launch. */
static int set_read(const char *records, const char *simulated, const char *set, Launches *all,
                    Error *error)
{
    Tables t = {0};
    size_t kernel = 0;
    double excess = 0;
    int status = tables_read(records, simulated, set, &t, error);
    Launch *grown = realloc(all->launch, (all->count + t.times.rows + 1) * sizeof *grown);
    if (grown) all->launch = grown;
    if (!grown) status = error_set(error, "out of memory");
    if (!status) unmeasured_say(set, &t.times, &t.simulated);
    for (size_t row = 0; !status && row < t.times.rows; row++) {
        Launch *launch = &all->launch[all->count];
        *launch = (Launch){.kind = KINDS};
        snprintf(launch->set, sizeof launch->set, "%s", set);
        status = launch_read(&t, row, &kernel, launch, error);
        if (status || strcmp(launch->name, "empty") != 0)
            launch->measured -= excess, all->count++;
        else
            excess = launch->measured - launch->simulated;
    }
    Tsv *tables[] = {&t.times, &t.simulated, &t.counters, &t.runs, &t.forecast};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        tsv_close(tables[i]);
    return status;
}

int launches_read(const char *root, const char *gpu, const char *simulated, Launches *launches,
                  Error *error)
{
    char path[1024], records[512];
    Tsv sets;
    *launches = (Launches){0};
    snprintf(path, sizeof path, "%s/sets.tsv", root);
    snprintf(records, sizeof records, "%s/data/%s", root, gpu);
    if (tsv_read(path, &sets, error)) return -1;
    int status = 0, column = tsv_column(&sets, "set", error);
    for (size_t i = 0; !status && column >= 0 && i < sets.rows; i++)
        status = set_read(records, simulated, sets.field[i * sets.columns + (size_t)column],
                          launches, error);
    tsv_close(&sets);
    if (status || column < 0) launches_free(launches);
    return status || column < 0 ? -1 : 0;
}

void launches_free(Launches *launches)
{
    free(launches->launch);
    *launches = (Launches){0};
}

double launch_error(const Launch *launch)
{
    return fabs(launch->simulated / launch->measured - 1);
}

int launch_is_counted(const Launch *launch, int counter)
{
    return launch->kind < COUNTED && !isnan(launch->most[counter]) &&
           (launch->most[counter] > 0 || launch->counted[counter] > 0);
}

int launch_is_steady(const Launch *launch, int counter)
{
    return launch->most[counter] - launch->least[counter] <= STEADY * launch->most[counter];
}

int launch_is_right(const Launch *launch, int counter)
{
    return launch->counted[counter] >= launch->least[counter] * (1 - TOLERANCE) - SLACK &&
           launch->counted[counter] <= launch->most[counter] * (1 + TOLERANCE) + SLACK;
}

double launch_count_ratio(const Launch *launch, int counter)
{
    double count = launch->counted[counter];
    double gpu = count < launch->least[counter] ? launch->least[counter] : launch->most[counter];
    return gpu > 0 ? count / gpu : INFINITY;
}
