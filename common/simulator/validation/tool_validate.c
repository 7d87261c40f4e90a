/* tool_validate.c - comparison of simulated launches with measured ones.
 *
 *   tool_validate RECORDED SIMULATED OUT NAME...
 *
 * RECORDED has NAME-times.tsv and NAME-counters.tsv, and SIMULATED has NAME.tsv.
 * RECORDED may also have NAME-runs.tsv, the counts of further runs, and forecast-NAME.tsv, the
 * times that were predicted before any launch was measured.
 *
 * Prints the report as Markdown, and writes OUT/times.tsv for the figure.  Exits 1 if a limit is
 * exceeded:
 *   - counts within 2 % of a GPU's, or of the range of its runs,
 *   - rank correlation of all times at least 0.985,
 *   - mean absolute error at most 8 % for all launches, 12 % for one set and for Hopper's units,
 *   - 97 % of all times within 25 % of the measured ones, and none off by more than 1.5 times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/simulator/validation/agreement.h"
#include "common/simulator/validation/runs.h"
#include "common/simulator/validation/tsv.h"

enum { MOST = 2048, KINDS = 3, RACING = KINDS + 1, FAMILIES = 32, COUNTS = 7, DATE = 16 };
/* Kinds of launches, as the records and the report name them. */
static const char *const KIND[] = {"fit", "regression", "lab", "counters", "racing"};
static const char *const KIND_TITLE[] = {"fit", "regression", "solutions of labs", "counts only",
                                         "racing"};

/* Counts: columns of the GPU's counters that are added, one that is subtracted, and the simulator's
 * columns. */
static const struct {
    const char *name, *gpu[2], *less, *own[2];
} COUNT[COUNTS] = {
    {"global sectors", {"load_sectors", "store_sectors"}, NULL, {"load_sectors", "store_sectors"}},
    {"sectors of atomics", {"atom_sectors", "red_sectors"}, NULL, {"atomic_sectors"}},
    {"shared wavefronts", {"wavefronts"}, NULL, {"shared_wavefronts", "shared_atomic_wavefronts"}},
    {"bank conflicts", {"wavefronts"}, "wavefronts_ideal", {"bank_conflicts"}},
    {"local sectors", {"local_loads", "local_stores"}, NULL, {"local_sectors"}},
    {"sectors of copies", {"copied_sectors"}, NULL, {"copied_sectors"}},
    {"sectors of textures", {"texture_sectors"}, NULL, {"texture_sectors"}}};
static const double COUNT_TOLERANCE = 0.02, COUNT_SLACK = 16, STEADY = 0.005;
static const double LEAST_CORRELATION = 0.985, LEAST_NEAR = 0.97, MOST_ERROR = 0.08,
                    MOST_SET_ERROR = 0.12;

/* Launches with a limit of their own.  Copies of the tensor memory accelerator are in none of ncu's
 * counters that are compared: the counts of these launches are left out. */
static const char *const HOPPER = "hopper-units";

/* The forecasts of whole programs by a finished model: the sets of the report by duration. */
static const char *const PROGRAMS[] = {"common-kernels", "experts-and-hashes",
                                       "attention-and-convolutions", "gemm-ladder-and-science"};

/* us by which an empty kernel takes longer on the GPU of a file than in the simulator.  Files of a
 * machine with slower launches start with an empty kernel; each time is reduced by the difference.
 * */
static double late;

/* Launches with a count that differs from the GPU's in every run and is no failure.
 * docs/simulator/validation.md states the causes. */
enum { SECTORS, ATOMIC_SECTORS, WAVEFRONTS, CONFLICTS };
static const struct {
    int count;
    const char *name;
} KNOWN[] = {
    {ATOMIC_SECTORS, "bins-256"},
    {WAVEFRONTS, "hot-shared-float"},
    {WAVEFRONTS, "hot-shared-float-4"},
    {WAVEFRONTS, "hot-shared-float-32"},
    {WAVEFRONTS, "again-add-2"},
    {WAVEFRONTS, "again-add-4"},
    {WAVEFRONTS, "again-add-128-16"},
    {WAVEFRONTS, "copies-2"},
    {CONFLICTS, "copies-2"},
    {WAVEFRONTS, "cholesky"},
    {CONFLICTS, "cholesky"},
    {WAVEFRONTS, "waiting-size-0"},
    /* Lanes that wait after a loop of atomics: on a GPU they continue at its YIELD. */
    {SECTORS, "product-counted"},
    {WAVEFRONTS, "product-counted"},
    {CONFLICTS, "product-counted"},
    /* The same for trees in shared memory. */
    {WAVEFRONTS, "tiles-joined"},
    {CONFLICTS, "tiles-joined"},
    /* Paths that ptxas merges; lanes in different copies of a loop that ptxas unrolled. */
    {SECTORS, "nibbles-unpacked"},
    {SECTORS, "colours-guessed"},
    /* Vectors with inactive lanes: ncu's source page estimates, and its counter has more. */
    {CONFLICTS, "boxes-over"},
    /* Numbers of failed polls, and orders of queues, that no run of a GPU had. */
    {SECTORS, "token-528"},
    {SECTORS, "grid-1056-8"},
    {SECTORS, "start-1056"},
    {SECTORS, "all-132"},
    {SECTORS, "all-1056"},
    {SECTORS, "all-2112"},
    {SECTORS, "all-1056-fence"},
    {SECTORS, "ticket-132"},
    {SECTORS, "back-528"},
    {SECTORS, "back-1056"},
    {SECTORS, "back-8448"},
    {SECTORS, "back-warp-132"},
    {SECTORS, "back-warp-1056"},
    {SECTORS, "drawn-asleep-32"},
    {SECTORS, "drawn-asleep-132"},
    {SECTORS, "barrier-asleep-1056"},
    {SECTORS, "barrier-asleep-long-528"},
    {SECTORS, "produced-look-264"},
    {SECTORS, "produced-look-1056"},
    {SECTORS, "produced-look-asleep-132"},
    {SECTORS, "produced-clocked-132"},
    {SECTORS, "produced-clocked-528"},
    {ATOMIC_SECTORS, "lock-8"},
    {ATOMIC_SECTORS, "locked-asleep-8"},
    {ATOMIC_SECTORS, "locked-lanes-16"},
    {ATOMIC_SECTORS, "produced-add-264"},
    {ATOMIC_SECTORS, "produced-add-1056"},
    {ATOMIC_SECTORS, "produced-compare-264"},
    {ATOMIC_SECTORS, "produced-or-528"},
    {ATOMIC_SECTORS, "produced-add-asleep-264"},
    {SECTORS, "wave-132"},
    {SECTORS, "locked-looking-32"},
    {SECTORS, "locked-looking-132"},
    {ATOMIC_SECTORS, "locked-clocked-32"},
    {ATOMIC_SECTORS, "locked-lanes-2"},
    {ATOMIC_SECTORS, "bfs-queue"},
};

static int is_known(int count, const char *name)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (KNOWN[i].count == count && !strcmp(name, KNOWN[i].name)) return 1;
    return 0;
}

typedef struct Entry {
    char name[64], family[32];
    const char *group; /* name of its file */
    int kind, hopper;
    double measured, simulated;         /* us */
    double forecast;                    /* us, predicted before any measurement; 0: none */
    double least[COUNTS], most[COUNTS]; /* range of the GPU's counts; NAN: not recorded */
    double counted[COUNTS];             /* the simulator's counts */
} Entry;

static Entry entry[MOST];
static size_t entries;

/* The tables of a file of launches. */
typedef struct Tables {
    Tsv times, simulated, counters, runs, forecast;
} Tables;

/* ---- reading ------------------------------------------------------------------------------ */

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

/* Adds the minimum and the maximum of a GPU's counts of one kernel to the entry's. */
static int kernel_add(const Tables *t, size_t kernel, int c, Entry *e, Error *error)
{
    double sum[RUNS] = {0}, least, most;
    int runs = 1;
    Error none = {""};
    if (tsv_column(&t->counters, COUNT[c].gpu[0], &none) < 0) { /* an older record */
        e->least[c] = e->most[c] = NAN;
        return 0;
    }
    for (int i = 0; i < 2 && COUNT[c].gpu[i]; i++)
        if (column_add(t, kernel, COUNT[c].gpu[i], 1, sum, &runs, error)) return -1;
    if (COUNT[c].less && column_add(t, kernel, COUNT[c].less, -1, sum, &runs, error)) return -1;
    least = most = sum[0];
    for (int i = 1; i < runs; i++)
        least = fmin(least, sum[i]), most = fmax(most, sum[i]);
    e->least[c] += least, e->most[c] += most;
    return 0;
}

/* The simulated row of that name; -1: there is none. */
static long row_of(const Tsv *simulated, const char *name)
{
    for (size_t row = 0; row < simulated->rows; row++)
        if (!strcmp(simulated->field[row * simulated->columns], name)) return (long)row;
    return -1;
}

/* Reads the entry's forecast, if it has one. */
static int forecast_read(const Tsv *forecast, Entry *e, Error *error)
{
    long row = row_of(forecast, e->name);
    return row < 0 ? 0 : tsv_named(forecast, (size_t)row, "us", &e->forecast, error);
}

/* Reads both counts of an entry: row `found` of the simulated ones, and the GPU's launches from
 * `kernel` on. */
static int counts_read(const Tables *t, size_t found, size_t *kernel, Entry *e, Error *error)
{
    double launches;
    if (tsv_named(&t->simulated, found, "launches", &launches, error)) return -1;
    for (int i = 0; i < COUNTS; i++)
        if (columns_add(&t->simulated, found, COUNT[i].own, &e->counted[i], error)) return -1;
    for (; launches > 0; launches--, ++*kernel) {
        if (*kernel >= t->counters.rows)
            return error_set(error, "%s: no kernels left for %s; record again", t->counters.path,
                             e->name);
        for (int i = 0; i < COUNTS; i++)
            if (kernel_add(t, *kernel, i, e, error)) return -1;
    }
    for (int i = 0; e->hopper && i < COUNTS; i++)
        e->least[i] = e->most[i] = NAN;
    return 0;
}

static int entry_read(const Tables *t, size_t row, size_t *kernel, const char *group, Error *error)
{
    Entry *e = &entry[entries];
    const Tsv *times = &t->times;
    int name = tsv_column(times, "name", error), kind = tsv_column(times, "kind", error);
    int family = tsv_column(times, "family", error);
    *e = (Entry){.kind = -1, .group = group, .hopper = !strcmp(group, HOPPER)};
    if (name < 0 || kind < 0 || family < 0 || tsv_named(times, row, "us", &e->measured, error))
        return -1;
    const char *own = times->field[row * times->columns + (size_t)name];
    long found = row_of(&t->simulated, own);
    if (found < 0)
        return error_set(error, "%s, row %zu: %s was measured, but is not simulated; record again",
                         times->path, row + 1, own);
    snprintf(e->name, sizeof e->name, "%s", own);
    snprintf(e->family, sizeof e->family, "%s",
             times->field[row * times->columns + (size_t)family]);
    for (int i = 0; i <= RACING; i++)
        if (!strcmp(times->field[row * times->columns + (size_t)kind], KIND[i])) e->kind = i;
    if (tsv_named(&t->simulated, (size_t)found, "us", &e->simulated, error) ||
        counts_read(t, (size_t)found, kernel, e, error) || forecast_read(&t->forecast, e, error))
        return -1;
    if (!strcmp(own, "empty")) {
        late = e->measured - e->simulated;
        return 0;
    }
    e->measured -= late;
    entries++;
    return e->kind < 0 ? error_set(error, "%s: %s has no known kind", times->path, own) : 0;
}

/* Reports cases that a lab got after its measurement: they wait for the next recording. */
static void unmeasured_say(const char *name, const Tsv *times, const Tsv *simulated)
{
    if (simulated->rows > times->rows)
        fprintf(stderr, "validate: %s has %zu cases that were never measured\n", name,
                simulated->rows - times->rows);
}

/* Reads the tables of a name; the last two are optional. */
static int tables_read(const char *recorded, const char *simulated, const char *name, Tables *t,
                       Error *error)
{
    char path[600];
#define PATH(...) (snprintf(path, sizeof path, __VA_ARGS__), path)
    return tsv_read(PATH("%s/%s-times.tsv", recorded, name), &t->times, error) ||
           tsv_read(PATH("%s/%s.tsv", simulated, name), &t->simulated, error) ||
           tsv_read(PATH("%s/%s-counters.tsv", recorded, name), &t->counters, error) ||
           (!access(PATH("%s/%s-runs.tsv", recorded, name), F_OK) &&
            runs_read(path, &t->counters, &t->runs, error)) ||
           (!access(PATH("%s/forecast-%s.tsv", recorded, name), F_OK) &&
            tsv_read(path, &t->forecast, error));
#undef PATH
}

static int group_read(const char *recorded, const char *simulated, const char *name, Error *error)
{
    Tables t = {0};
    size_t kernel = 0;
    late = 0;
    int status = tables_read(recorded, simulated, name, &t, error);
    if (!status) unmeasured_say(name, &t.times, &t.simulated);
    for (size_t row = 0; !status && row < t.times.rows; row++)
        status = entries == MOST ? error_set(error, "more than %d entries", MOST)
                                 : entry_read(&t, row, &kernel, name, error);
    Tsv *all[] = {&t.times, &t.simulated, &t.counters, &t.runs, &t.forecast};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tsv_close(all[i]);
    return status;
}

/* ---- judging ------------------------------------------------------------------------------ */

static double error_of(const Entry *e)
{
    return fabs(e->simulated / e->measured - 1);
}

/* Do the GPU's counts vary by no more than STEADY from run to run? */
static int is_steady(const Entry *e, int c)
{
    return e->most[c] - e->least[c] <= STEADY * e->most[c];
}

/* Is the simulator's count within the tolerance of the GPU's range? */
static int is_right(const Entry *e, int c)
{
    return e->counted[c] >= e->least[c] * (1 - COUNT_TOLERANCE) - COUNT_SLACK &&
           e->counted[c] <= e->most[c] * (1 + COUNT_TOLERANCE) + COUNT_SLACK;
}

/* Has the entry such a count, and does its program not race with itself? */
static int is_counted(const Entry *e, int c)
{
    return e->kind != RACING && !isnan(e->most[c]) && (e->most[c] > 0 || e->counted[c] > 0);
}

/* Prints the table of counts; returns the number of differences without an exception. */
static int counts_report(void)
{
    int wrong = 0, known = 0;
    printf("\n### Counts\n\n"
           "| count | launches with constant counts | of these within 2 %% | launches with varying "
           "counts | of these within the range | differing launches: predicted ÷ measured |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (int c = 0; c < COUNTS; c++) {
        char others[4000] = "";
        int all[2] = {0}, right[2] = {0}; /* steady ones, those that vary */
        for (size_t i = 0; i < entries; i++) {
            const Entry *e = &entry[i];
            if (!is_counted(e, c)) continue;
            int varies = !is_steady(e, c);
            all[varies]++;
            right[varies] += is_right(e, c);
            if (is_right(e, c)) continue;
            wrong++;
            known += is_known(c, e->name);
            double gpu = e->counted[c] < e->least[c] ? e->least[c] : e->most[c];
            size_t used = strlen(others);
            snprintf(others + used, sizeof others - used, gpu > 0 ? "%s%s %.2f" : "%s%s %.0f for 0",
                     used ? ", " : "", e->name, gpu > 0 ? e->counted[c] / gpu : e->counted[c]);
        }
        printf(*others ? "| %s | %d | %d | %d | %d | `%s` |\n"
                       : "| %s | %d | %d | %d | %d | none%s |\n",
               COUNT[c].name, all[0], right[0], all[1], right[1], others);
    }
    return wrong - known;
}

/* Prints counts of programs that race with themselves, which have no limit, if they differ. */
static void raced_report(void)
{
    int rows = 0;
    for (size_t i = 0; i < entries; i++)
        for (int c = 0; c < COUNTS; c++) {
            const Entry *e = &entry[i];
            if (e->kind != RACING || isnan(e->most[c]) || is_right(e, c)) continue;
            if (!rows++)
                printf("\n### Racing launches\n\n"
                       "| launch | count | GPU, minimum | GPU, maximum | simulator |\n"
                       "| --- | --- | --- | --- | --- |\n");
            printf("| `%s` | %s | %.0f | %.0f | %.0f |\n", e->name, COUNT[c].name, e->least[c],
                   e->most[c], e->counted[c]);
        }
}

/* Agreement of predicted with measured times: columns and cells of the tables. */
static const char *const AGREEMENT =
    " launches | rank correlation | mean absolute error | within 25 % | off by more than 1.5× |\n";
static const char *const RULE = "| --- | --- | --- | --- | --- | --- |";

typedef struct Agreement {
    double correlation, error, near; /* near: share within 25 % */
    size_t beyond;                   /* launches off by more than 1.5 times */
} Agreement;

static int is_beyond(double measured, double predicted)
{
    return predicted > 1.5 * measured || predicted < measured / 1.5;
}

static Agreement agreement_of(const double *measured, const double *predicted, size_t count)
{
    Agreement agreement = {rank_correlation(measured, predicted, count),
                           mean_absolute_error(measured, predicted, count), 0, 0};
    for (size_t i = 0; i < count; i++) {
        agreement.near += (fabs(predicted[i] / measured[i] - 1) <= 0.25) / (double)count;
        agreement.beyond += (size_t)is_beyond(measured[i], predicted[i]);
    }
    return agreement;
}

static void agreement_print(const Agreement *agreement, size_t count)
{
    printf(" %zu | %.3f | %.1f %% | %.1f %% | %zu |\n", count, agreement->correlation,
           100 * agreement->error, 100 * agreement->near, agreement->beyond);
}

static int times_report(void)
{
    static double measured[MOST], simulated[MOST];
    int broken = 0;
    printf("\n### Fit and regression\n\n| set |%s%s\n", AGREEMENT, RULE);
    for (int kind = 0; kind <= KINDS; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < entries; i++) {
            const Entry *e = &entry[i];
            if (e->hopper || e->kind >= KINDS || (kind < KINDS && e->kind != kind)) continue;
            measured[count] = e->measured, simulated[count++] = e->simulated;
        }
        if (!count) continue;
        Agreement agreement = agreement_of(measured, simulated, count);
        printf("| %s |", kind < KINDS ? KIND_TITLE[kind] : "all");
        agreement_print(&agreement, count);
        /* A small set may have nearly equal times: the correlation has a limit for all together. */
        broken |= kind == KINDS && !(agreement.correlation >= LEAST_CORRELATION &&
                                     agreement.near >= LEAST_NEAR && !agreement.beyond);
        broken |= !(agreement.error <= (kind == KINDS ? MOST_ERROR : MOST_SET_ERROR));
    }
    return broken;
}

/* The first date in the comments of a file of forecasts; "" if it has none. */
static void forecast_date(const char *recorded, const char *name, char date[DATE])
{
    char path[600], line[400];
    int year, month, day;
    snprintf(path, sizeof path, "%s/forecast-%s.tsv", recorded, name);
    FILE *file = fopen(path, "r");
    *date = 0;
    while (file && !*date && fgets(line, sizeof line, file) && *line == ';')
        for (const char *at = strstr(line, " 20"); at && !*date; at = strstr(at + 1, " 20"))
            if (sscanf(at, " %4d-%2d-%2d", &year, &month, &day) == 3)
                snprintf(date, DATE, "%04d-%02d-%02d", year % 10000, month % 100, day % 100);
    if (file) fclose(file);
}

/* Prints the forecasts, which have no limit: no later change of the model can correct them. */
static void forecast_report(const char *recorded, int groups, char **group)
{
    static double measured[MOST], forecast[MOST];
    int rows = 0;
    for (int g = 0; g < groups; g++) {
        size_t count = 0;
        char date[DATE];
        for (size_t i = 0; i < entries; i++) {
            if (entry[i].group != group[g] || entry[i].forecast <= 0) continue;
            measured[count] = entry[i].measured, forecast[count++] = entry[i].forecast;
        }
        if (!count) continue;
        if (!rows++)
            printf("\n### Forecasts\n\n| forecast set | date of prediction |%s%s --- |\n",
                   AGREEMENT, RULE);
        forecast_date(recorded, group[g], date);
        Agreement agreement = agreement_of(measured, forecast, count);
        printf("| `%s` | %s |", group[g], date);
        agreement_print(&agreement, count);
    }
}

static int is_program(const Entry *e)
{
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
        if (!strcmp(e->group, PROGRAMS[i])) return 1;
    return 0;
}

/* Prints, for measured durations from `low` to `high` us, the agreement of the forecasts of
 * programs (the model of that day) and of all launches (the present model). */
static void duration_row(const char *title, double low, double high)
{
    static double measured[2][MOST], predicted[2][MOST];
    size_t count[2] = {0};
    for (size_t i = 0; i < entries; i++) {
        const Entry *e = &entry[i];
        if (e->measured < low || e->measured >= high || e->hopper || e->kind >= KINDS) continue;
        if (is_program(e) && e->forecast > 0)
            measured[0][count[0]] = e->measured, predicted[0][count[0]++] = e->forecast;
        measured[1][count[1]] = e->measured, predicted[1][count[1]++] = e->simulated;
    }
    printf("| %s |", title);
    for (int i = 0; i < 2; i++) {
        Agreement agreement = agreement_of(measured[i], predicted[i], count[i]);
        printf(" %zu | %.1f %% | %.1f %% |", count[i], 100 * agreement.error, 100 * agreement.near);
    }
    printf("\n");
}

static void duration_report(void)
{
    static const struct {
        const char *title;
        double low, high; /* us */
    } RANGE[] = {{"below 8", 0, 8},    {"8 to 16", 8, 16},     {"16 to 32", 16, 32},
                 {"32 to 64", 32, 64}, {"64 to 128", 64, 128}, {"128 and more", 128, INFINITY}};
    printf("\n### Error by launch duration\n\n"
           "| measured duration, µs | forecast launches | mean absolute error of the forecasts | "
           "forecasts within 25 %% | all launches | mean absolute error today | today within 25 %% "
           "|\n%s --- |\n",
           RULE);
    for (size_t i = 0; i < sizeof RANGE / sizeof *RANGE; i++)
        duration_row(RANGE[i].title, RANGE[i].low, RANGE[i].high);
}

/* The mean error of Hopper's launches, for one family and one kind, or for all (NULL, KINDS). */
static double hopper_error(const char *family, int kind, size_t *count)
{
    double measured[MOST], simulated[MOST];
    *count = 0;
    for (size_t i = 0; i < entries; i++) {
        const Entry *e = &entry[i];
        if (!e->hopper || (kind < KINDS && e->kind != kind)) continue;
        if (family && strcmp(e->family, family)) continue;
        measured[*count] = e->measured, simulated[(*count)++] = e->simulated;
    }
    return mean_absolute_error(measured, simulated, *count);
}

static void hopper_row(const char *family)
{
    printf(family ? "| `%s` |" : "| %s |", family ? family : "all");
    for (int kind = 0; kind < 2; kind++) {
        size_t count;
        double error = hopper_error(family, kind, &count);
        printf(" %zu | %.1f %% |", count, 100 * error);
    }
    printf("\n");
}

/* Prints the errors by family, in the order of the records; returns 1 if all exceed the limit. */
static int hopper_report(void)
{
    const char *family[FAMILIES];
    size_t families = 0, count;
    double all = hopper_error(NULL, KINDS, &count);
    if (!count) return 0;
    printf("\n### Hopper's asynchronous units\n\n"
           "| unit | fit launches | mean absolute error, fit | regression launches | mean absolute "
           "error, regression |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < entries; i++) {
        size_t k = 0;
        while (k < families && strcmp(family[k], entry[i].family))
            k++;
        if (!entry[i].hopper || k < families || families == FAMILIES) continue;
        family[families++] = entry[i].family;
        hopper_row(entry[i].family);
    }
    hopper_row(NULL);
    return !(all <= MOST_SET_ERROR);
}

static int by_error(const void *a, const void *b)
{
    double left = error_of(a), right = error_of(b);
    return (left < right) - (left > right);
}

static void worst_report(void)
{
    qsort(entry, entries, sizeof *entry, by_error);
    printf("\n### Largest errors\n\n"
           "| launch | set | measured, µs | predicted, µs | predicted ÷ measured |\n"
           "| --- | --- | --- | --- | --- |\n");
    int shown = 0;
    for (size_t i = 0; i < entries && shown < 8; i++) {
        if (entry[i].hopper || entry[i].kind >= KINDS) continue;
        shown++;
        printf("| `%s` | %s | %.2f | %.2f | %.2f |\n", entry[i].name, KIND_TITLE[entry[i].kind],
               entry[i].measured, entry[i].simulated, entry[i].simulated / entry[i].measured);
    }
}

/* Prints exceptions that are no longer necessary. */
static void known_report(void)
{
    for (size_t i = 0; i < entries; i++) {
        const Entry *e = &entry[i];
        for (int c = 0; c < COUNTS; c++)
            if (is_known(c, e->name) && is_right(e, c))
                printf("\n%s of %s need no exception\n", COUNT[c].name, e->name);
    }
}

static int times_write(const char *out, Error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/times.tsv", out);
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "%s: %m", path);
    for (int kind = 0; kind < KINDS; kind++) {
        fprintf(file, "# %s\n", KIND[kind]);
        for (size_t i = 0; i < entries; i++)
            if (entry[i].kind == kind)
                fprintf(file, "%s\t%.4f\t%.4f\n", entry[i].name, entry[i].measured,
                        entry[i].simulated);
        fprintf(file, "\n\n");
    }
    return fclose(file) ? error_set(error, "%s: %m", path) : 0;
}

int main(int argc, char **argv)
{
    Error error = {""};
    if (argc < 5) {
        fprintf(stderr, "usage: %s RECORDED SIMULATED OUT NAME...\n", argv[0]);
        return 2;
    }
    for (int i = 4; i < argc; i++)
        if (group_read(argv[1], argv[2], argv[i], &error)) {
            fprintf(stderr, "validate: %s\n", error.text);
            return 2;
        }
    forecast_report(argv[1], argc - 4, argv + 4);
    int broken = times_report();
    duration_report();
    broken |= hopper_report();
    int wrong = counts_report();
    raced_report();
    if (times_write(argv[3], &error)) {
        fprintf(stderr, "validate: %s\n", error.text);
        return 2;
    }
    worst_report();
    known_report();
    if (wrong) printf("\n%d counts are off by more than 2 %%\n", wrong);
    if (broken) printf("\nthe errors of a set's times exceed their limits\n");
    return wrong || broken;
}
