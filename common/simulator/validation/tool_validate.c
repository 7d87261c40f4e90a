/* tool_validate.c - comparison of simulated launches with a GPU's records.
 *
 *   tool_validate ROOT GPU SIMULATED OUT
 *
 * ROOT has the sets (launches.h), known.tsv (known.h) and limits.tsv; SIMULATED has the simulated
 * results.  Prints a report as Markdown, and writes OUT/launches.tsv, the times of every launch.
 * docs/numbers/validation.py makes the other tables of docs/simulator/validation.md from it.
 *
 * Exits 1 if a limit of the GPU in limits.tsv is exceeded, a count differs without an entry of
 * known.tsv, or an entry is not needed; 2 after an error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/validation/agreement.h"
#include "common/simulator/validation/known.h"
#include "common/simulator/validation/launches.h"
#include "common/simulator/validation/tsv.h"

enum { WORST = 8, LIST_BYTES = 8000 };

/* Times of this set have a limit of their own, and are not among the times of all launches. */
static const char *const OWN_LIMIT = "hopper-units";

static const char *const KIND_TITLE[TIMED] = {"fit", "regression", "solutions of labs"};

/* The limits of a GPU, in the order of the columns of limits.tsv after the GPU's name. */
typedef struct Limits {
    double correlation; /* rank correlation of all times: at least */
    double near;        /* share of all times within 25 %: at least */
    double beyond;      /* times off by more than 1.5 times: at most */
    double error;       /* mean absolute error of all times: at most */
    double kind_error;  /* the same of one kind, and of OWN_LIMIT: at most */
} Limits;

/* Agreement of predicted with measured times. */
typedef struct Agreement {
    size_t launches, beyond;               /* beyond: off by more than 1.5 times */
    double correlation, error, near, bias; /* bias: geometric mean of predicted ÷ measured */
} Agreement;

/* ---- counts --------------------------------------------------------------------------------- */

/* Appends a differing launch to a list. */
static void list_add(char *list, const Launch *launch, int counter)
{
    size_t used = strlen(list);
    double ratio = launch_count_ratio(launch, counter);
    snprintf(list + used, LIST_BYTES - used, isinf(ratio) ? "%s%s %.0f for 0" : "%s%s %.2f",
             used ? ", " : "", launch->name, isinf(ratio) ? launch->counted[counter] : ratio);
}

/* Prints one counter's row; returns the number of differences that are not known. */
static int counter_row(const Launches *all, const Known *known, const char *gpu, int counter)
{
    char list[LIST_BYTES] = "";
    int launches[2] = {0}, right[2] = {0}; /* [1]: the GPU's count varies between runs */
    int unknown = 0;
    for (size_t i = 0; i < all->count; i++) {
        const Launch *launch = &all->launch[i];
        if (!launch_is_counted(launch, counter)) continue;
        int varies = !launch_is_steady(launch, counter),
            is_right = launch_is_right(launch, counter);
        launches[varies]++, right[varies] += is_right;
        if (is_right) continue;
        list_add(list, launch, counter);
        unknown += !known_find(known, gpu, launch, counter);
    }
    printf(*list ? "| %s | %d | %d | %d | %d | `%s` |\n" : "| %s | %d | %d | %d | %d | none%s |\n",
           COUNTER_NAME[counter], launches[0], right[0], launches[1], right[1], list);
    return unknown;
}

static int counts_report(const Launches *all, const Known *known, const char *gpu)
{
    int unknown = 0;
    printf(
        "\n### Counts\n\n"
        "| counter | launches with constant counts | of these within 2 %% | launches with varying "
        "counts | of these within the range | differing launches: predicted ÷ measured |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    for (int c = 0; c < COUNTERS; c++)
        unknown += counter_row(all, known, gpu, c);
    return unknown;
}

/* Prints differing counts of programs that race with themselves, which have no limit. */
static void racing_report(const Launches *all)
{
    int rows = 0;
    for (size_t i = 0; i < all->count; i++)
        for (int c = 0; c < COUNTERS; c++) {
            const Launch *launch = &all->launch[i];
            if (launch->kind < COUNTED || isnan(launch->most[c]) || launch_is_right(launch, c))
                continue;
            if (!rows++)
                printf("\n### Racing launches\n\n"
                       "| launch | counter | GPU, minimum | GPU, maximum | simulator |\n"
                       "| --- | --- | --- | --- | --- |\n");
            printf("| `%s` | %s | %.0f | %.0f | %.0f |\n", launch->name, COUNTER_NAME[c],
                   launch->least[c], launch->most[c], launch->counted[c]);
        }
}

/* ---- times ---------------------------------------------------------------------------------- */

static int is_own_limit(const Launch *launch)
{
    return !strcmp(launch->set, OWN_LIMIT);
}

static int is_beyond(const Launch *launch)
{
    return launch->simulated > 1.5 * launch->measured || launch->simulated < launch->measured / 1.5;
}

/* The agreement of all timed launches of a kind (TIMED: of all kinds), with or without OWN_LIMIT's.
 * The correlation is NAN if memory is short. */
static Agreement agreement_of(const Launches *all, int kind, int own_limit)
{
    Agreement a = {0};
    double *measured = malloc(2 * all->count * sizeof *measured + 1);
    if (!measured) return (Agreement){.correlation = NAN, .error = NAN};
    double *simulated = measured + all->count, logs = 0;
    for (size_t i = 0; i < all->count; i++) {
        const Launch *launch = &all->launch[i];
        if (launch->kind >= TIMED || (kind < TIMED && launch->kind != kind) ||
            is_own_limit(launch) != own_limit)
            continue;
        measured[a.launches] = launch->measured, simulated[a.launches++] = launch->simulated;
        a.near += launch_error(launch) <= 0.25;
        a.beyond += (size_t)is_beyond(launch);
        logs += log(launch->simulated / launch->measured);
    }
    double launches = a.launches ? (double)a.launches : 1;
    a.correlation = rank_correlation(measured, simulated, a.launches);
    a.error = mean_absolute_error(measured, simulated, a.launches);
    a.near /= launches, a.bias = exp(logs / launches);
    free(measured);
    return a;
}

static void agreement_print(const char *title, const Agreement *a)
{
    if (a->launches)
        printf("| %s | %zu | %.3f | %.1f %% | %.2f | %.1f %% | %zu |\n", title, a->launches,
               a->correlation, 100 * a->error, a->bias, 100 * a->near, a->beyond);
}

/* Prints the agreement by kind of launch; returns 1 if a limit is exceeded. */
static int times_report(const Launches *all, const Limits *limits)
{
    int exceeded = 0;
    printf(
        "\n### Times\n\n"
        "| launch kind | launches | rank correlation | mean absolute error | predicted ÷ measured, "
        "geometric mean | within 25 %% | off by more than 1.5× |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int kind = 0; kind < TIMED; kind++) {
        Agreement a = agreement_of(all, kind, 0);
        agreement_print(KIND_TITLE[kind], &a);
        exceeded |= !(a.error <= limits->kind_error);
    }
    Agreement a = agreement_of(all, TIMED, 0), own = agreement_of(all, TIMED, 1);
    agreement_print("all", &a);
    agreement_print("`hopper-units`, not in the rows above", &own);
    /* A kind may have nearly equal times: the correlation has a limit for all together. */
    return exceeded || !(a.correlation >= limits->correlation && a.near >= limits->near) ||
           (double)a.beyond > limits->beyond || !(a.error <= limits->error) ||
           !(own.error <= limits->kind_error);
}

static int by_error(const void *a, const void *b)
{
    double left = launch_error(*(const Launch *const *)a),
           right = launch_error(*(const Launch *const *)b);
    return (left < right) - (left > right);
}

static void worst_report(const Launches *all)
{
    const Launch **timed = malloc(all->count * sizeof *timed + 1);
    size_t count = 0;
    for (size_t i = 0; timed && i < all->count; i++)
        if (all->launch[i].kind < TIMED && !is_own_limit(&all->launch[i]))
            timed[count++] = &all->launch[i];
    if (timed) qsort(timed, count, sizeof *timed, by_error);
    printf("\n### Largest errors\n\n"
           "| launch | set | measured, µs | predicted, µs | predicted ÷ measured |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count && i < WORST; i++)
        printf("| `%s` | `%s` | %.2f | %.2f | %.2f |\n", timed[i]->name, timed[i]->set,
               timed[i]->measured, timed[i]->simulated, timed[i]->simulated / timed[i]->measured);
    free(timed);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int launches_write(const char *out, const Launches *all, Error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/launches.tsv", out);
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "%s: %m", path);
    fprintf(file, "set\tname\tkind\tfamily\tmeasured_us\tpredicted_us\tforecast_us\n");
    for (size_t i = 0; i < all->count; i++) {
        const Launch *l = &all->launch[i];
        fprintf(file, "%s\t%s\t%s\t%s\t%.4f\t%.4f\t%.4f\n", l->set, l->name, KIND_NAME[l->kind],
                l->family, l->measured, l->simulated, l->forecast);
    }
    return fclose(file) ? error_set(error, "%s: %m", path) : 0;
}

static int limits_read(const char *root, const char *gpu, Limits *limits, Error *error)
{
    char path[1024];
    Tsv table;
    snprintf(path, sizeof path, "%s/limits.tsv", root);
    if (tsv_read(path, &table, error)) return -1;
    size_t row = 0;
    while (row < table.rows && strcmp(table.field[row * table.columns], gpu) != 0)
        row++;
    int status = row == table.rows ? error_set(error, "%s: there is no GPU %s", path, gpu)
                 : tsv_named(&table, row, "correlation", &limits->correlation, error) ||
                         tsv_named(&table, row, "within_25_percent", &limits->near, error) ||
                         tsv_named(&table, row, "beyond_1.5", &limits->beyond, error) ||
                         tsv_named(&table, row, "error", &limits->error, error) ||
                         tsv_named(&table, row, "kind_error", &limits->kind_error, error)
                     ? -1
                     : 0;
    tsv_close(&table);
    return status;
}

static int compare(const char *gpu, const char *out, const Launches *all, const Known *known,
                   const Limits *limits, Error *error)
{
    if (launches_write(out, all, error)) return 2;
    int exceeded = times_report(all, limits), unknown = counts_report(all, known, gpu);
    racing_report(all);
    worst_report(all);
    int stale = known_report_stale(known, gpu, all);
    if (unknown) printf("\n%d counts are off by more than 2 %%\n", unknown);
    if (stale) printf("\n%d entries of known.tsv are not needed\n", stale);
    if (exceeded) printf("\nthe errors of the times exceed the limits of %s\n", gpu);
    return unknown || stale || exceeded;
}

int main(int argc, char **argv)
{
    Error error = {""};
    Known known;
    Limits limits;
    Launches all;
    if (argc != 5) {
        fprintf(stderr, "usage: %s ROOT GPU SIMULATED OUT\n", argv[0]);
        return 2;
    }
    int status = 2;
    if (!limits_read(argv[1], argv[2], &limits, &error) && !known_read(argv[1], &known, &error)) {
        if (!launches_read(argv[1], argv[2], argv[3], &all, &error)) {
            status = compare(argv[2], argv[4], &all, &known, &limits, &error);
            launches_free(&all);
        }
        known_close(&known);
    }
    if (*error.text) fprintf(stderr, "validate: %s\n", error.text);
    return status;
}
