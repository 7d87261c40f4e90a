/* tool_validate.c - holds what the simulator said against what a card did.
 *
 *   tool_validate RECORDED SIMULATED OUT NAME...
 *
 * For each NAME reads RECORDED/NAME-times.tsv, RECORDED/NAME-counters.tsv and SIMULATED/NAME.tsv,
 * and RECORDED/foretold-NAME.tsv if there is one: what was simulated before anything was measured.
 * Prints the comparison as Markdown, and writes OUT/times.tsv for the plots.  Exits 1 when one of
 * the promises is broken: counts within 2 %, rank correlation of all times at least 0.985, mean
 * absolute error of all at most 8 %, of one set and of Hopper's units at most 12 %, 97 % of all
 * times within a quarter of a card's and none beyond 1.5 times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/validate/agreement.h"
#include "common/validate/tsv.h"

enum { MOST = 2048, SETS = 3, COUNTED = SETS, FAMILIES = 32, COUNTS = 7 };
static const char *const SET[] = {"fit", "held-out", "layer", "counted"};

/* What is counted: columns of the card's counters that are added, one that is taken off, and the
 * simulator's columns. */
static const struct {
    const char *name, *card[2], *less, *own[2];
} COUNT[COUNTS] = {
    {"global sectors", {"load_sectors", "store_sectors"}, NULL, {"load_sectors", "store_sectors"}},
    {"sectors of atomics", {"atom_sectors", "red_sectors"}, NULL, {"atomic_sectors"}},
    {"shared wavefronts", {"wavefronts"}, NULL, {"shared_wavefronts", "shared_atomic_wavefronts"}},
    {"bank conflicts", {"wavefronts"}, "wavefronts_ideal", {"bank_conflicts"}},
    {"local sectors", {"local_loads", "local_stores"}, NULL, {"local_sectors"}},
    {"sectors of copies", {"copied_sectors"}, NULL, {"copied_sectors"}},
    {"sectors of textures", {"texture_sectors"}, NULL, {"texture_sectors"}}};
static const double COUNT_TOLERANCE = 0.02, LEAST_CORRELATION = 0.985, LEAST_NEAR = 0.97,
                    MOST_ERROR = 0.08, MOST_SET_ERROR = 0.12;

/* Launches with a promise of their own.  What copies of the tensor memory accelerator move is in
 * none of ncu's counters that are compared: their counts are left out. */
static const char *const HOPPER = "hopper";

/* Some launches were measured on a machine that takes longer to launch, and begin with an empty
 * kernel: what that took more than the simulator's is no part of any time of the file.  In us. */
static double late;

/* Launches of which a count is known to differ, and does not break the promise (docs/validation.md
 * says why). */
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
    {WAVEFRONTS, "layernorm-slope"},
    {WAVEFRONTS, "waiting-size-0"},
    {WAVEFRONTS, "norm-slope-rows"},
    {CONFLICTS, "norm-slope-rows"},
    /* What ptxas leaves out of a loop, for an earlier turn has loaded it. */
    {SECTORS, "denoise"},
    {WAVEFRONTS, "separable-rows"},
    {CONFLICTS, "separable-rows"},
    {WAVEFRONTS, "separable-columns"},
    {CONFLICTS, "separable-columns"},
    /* Lanes that leave a loop in different turns, or by two ways: a card joins others again. */
    {SECTORS, "from-below"},
    {SECTORS, "product-counted"},
    {WAVEFRONTS, "product-counted"},
    {CONFLICTS, "product-counted"},
    /* Vectors of which some lanes take no part: four passes in each of 32 blocks. */
    {CONFLICTS, "boxes-over"},
    /* Copies to where others are still on their way: a card may leave those out. */
    {SECTORS, "copies-16"},
    {SECTORS, "copies-16-dense"},
    {SECTORS, "copies-16-80"},
    {SECTORS, "copies-16-144"},
    {SECTORS, "copies-16-32"},
    {SECTORS, "copies-16-48"},
    {SECTORS, "copies-16-256"},
    {SECTORS, "copies-16-dense-from-32"},
    {SECTORS, "copies-16-dense-from-48"},
    {SECTORS, "copies-16-80-from-64"},
    {SECTORS, "copies-16-64-from-64"},
    {SECTORS, "copies-16-few"},
    {SECTORS, "copies-16-conflicts"},
    /* How often a thread looks in vain, or who comes next in a queue, is the card's order. */
    {SECTORS, "token-132"},
    {SECTORS, "token-528"},
    {SECTORS, "grid-132-8"},
    {SECTORS, "grid-1056-8"},
    {SECTORS, "around-2"},
    {SECTORS, "around-8"},
    {SECTORS, "around-132"},
    {SECTORS, "pass-132"},
    {SECTORS, "pass-1056"},
    {SECTORS, "pass-fence-132"},
    {SECTORS, "start-132"},
    {SECTORS, "start-1056"},
    {SECTORS, "all-132"},
    {SECTORS, "all-528"},
    {SECTORS, "all-1056"},
    {SECTORS, "all-2112"},
    {SECTORS, "all-8-fence"},
    {SECTORS, "all-132-fence"},
    {SECTORS, "all-1056-fence"},
    {SECTORS, "ticket-8"},
    {SECTORS, "ticket-132"},
    {SECTORS, "back-132"},
    {SECTORS, "back-528"},
    {SECTORS, "back-1056"},
    {SECTORS, "back-8448"},
    {SECTORS, "back-warp-132"},
    {SECTORS, "back-warp-1056"},
    {SECTORS, "back-warp-8448"},
    {ATOMIC_SECTORS, "lock-8"},
    {ATOMIC_SECTORS, "lock-32"},
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
    const char *group; /* the file that it is from */
    int set, hopper;
    double measured, simulated; /* us */
    double foretold;            /* us, before anything was measured; 0: it was not */
    double counted[2][COUNTS];  /* both */
} Entry;

static Entry entry[MOST];
static size_t entries;

/* ---- reading ------------------------------------------------------------------------------ */

static int number_of(const Tsv *tsv, size_t row, const char *name, double *number, Error *error)
{
    int column = tsv_column(tsv, name, error);
    return column < 0 ? -1 : tsv_number(tsv, row, column, number, error);
}

static int columns_add(const Tsv *tsv, size_t row, const char *const name[2], double *sum,
                       Error *error)
{
    for (int i = 0; i < 2 && name[i]; i++) {
        double value;
        if (number_of(tsv, row, name[i], &value, error)) return -1;
        *sum += value;
    }
    return 0;
}

/* The card's counts of one kernel, added. */
static int kernel_add(const Tsv *counters, size_t row, double counted[COUNTS], Error *error)
{
    for (int i = 0; i < COUNTS; i++) {
        Error none = {""};
        double less = 0;
        if (tsv_column(counters, COUNT[i].card[0], &none) < 0) { /* an older record */
            counted[i] = NAN;
            continue;
        }
        if (columns_add(counters, row, COUNT[i].card, &counted[i], error) ||
            (COUNT[i].less && number_of(counters, row, COUNT[i].less, &less, error)))
            return -1;
        counted[i] -= less;
    }
    return 0;
}

/* The simulated row of that name; -1: there is none. */
static long row_of(const Tsv *simulated, const char *name)
{
    for (size_t row = 0; row < simulated->rows; row++)
        if (!strcmp(simulated->field[row * simulated->columns], name)) return (long)row;
    return -1;
}

/* What was foretold of the entry, if anything was. */
static int foretold_read(const Tsv *foretold, Entry *e, Error *error)
{
    long row = row_of(foretold, e->name);
    return row < 0 ? 0 : number_of(foretold, (size_t)row, "us", &e->foretold, error);
}

static int entry_read(const Tsv *times, const Tsv *simulated, const Tsv *counters, size_t row,
                      size_t *kernel, int hopper, Error *error)
{
    Entry *e = &entry[entries];
    double launches;
    int name = tsv_column(times, "name", error), set = tsv_column(times, "set", error);
    int family = tsv_column(times, "family", error);
    *e = (Entry){.set = -1, .hopper = hopper};
    if (name < 0 || set < 0 || family < 0 || number_of(times, row, "us", &e->measured, error))
        return -1;
    const char *own = times->field[row * times->columns + (size_t)name];
    long found = row_of(simulated, own);
    if (found < 0)
        return error_set(error, "%s, row %zu: %s was measured, but is not simulated; record again",
                         times->path, row + 1, own);
    if (number_of(simulated, (size_t)found, "us", &e->simulated, error) ||
        number_of(simulated, (size_t)found, "launches", &launches, error))
        return -1;
    snprintf(e->name, sizeof e->name, "%s", own);
    snprintf(e->family, sizeof e->family, "%s",
             times->field[row * times->columns + (size_t)family]);
    for (int i = 0; i <= COUNTED; i++)
        if (!strcmp(times->field[row * times->columns + (size_t)set], SET[i])) e->set = i;
    for (int i = 0; i < COUNTS; i++)
        if (columns_add(simulated, (size_t)found, COUNT[i].own, &e->counted[1][i], error))
            return -1;
    for (; launches > 0; launches--, ++*kernel) {
        if (*kernel >= counters->rows)
            return error_set(error, "%s: no kernels left for %s; record again", counters->path,
                             own);
        if (kernel_add(counters, *kernel, e->counted[0], error)) return -1;
    }
    if (!strcmp(own, "empty")) {
        late = e->measured - e->simulated;
        return 0;
    }
    if (hopper) memset(e->counted, 0, sizeof e->counted);
    e->measured -= late;
    entries++;
    return e->set < 0 ? error_set(error, "%s: %s has no known set", times->path, own) : 0;
}

/* A lab gets cases after it was measured: these are simulated, and wait for the next recording. */
static void unmeasured_say(const char *name, const Tsv *times, const Tsv *simulated)
{
    if (simulated->rows > times->rows)
        fprintf(stderr, "validate: %s has %zu cases that were never measured\n", name,
                simulated->rows - times->rows);
}

static int group_read(const char *recorded, const char *simulated, const char *name, Error *error)
{
    enum { TIMES, SIMULATED, COUNTERS, FORETOLD, TABLES };
    char path[TABLES][600];
    Tsv table[TABLES] = {{0}};
    size_t kernel = 0, first = entries;
    late = 0;
    snprintf(path[TIMES], sizeof path[TIMES], "%s/%s-times.tsv", recorded, name);
    snprintf(path[SIMULATED], sizeof path[SIMULATED], "%s/%s.tsv", simulated, name);
    snprintf(path[COUNTERS], sizeof path[COUNTERS], "%s/%s-counters.tsv", recorded, name);
    snprintf(path[FORETOLD], sizeof path[FORETOLD], "%s/foretold-%s.tsv", recorded, name);
    int tables = access(path[FORETOLD], F_OK) ? FORETOLD : TABLES, status = 0;
    for (int i = 0; i < tables && !status; i++)
        status = tsv_read(path[i], &table[i], error);
    if (!status) unmeasured_say(name, &table[TIMES], &table[SIMULATED]);
    for (size_t row = 0; !status && row < table[TIMES].rows; row++)
        status = entries == MOST ? error_set(error, "more than %d entries", MOST)
                                 : entry_read(&table[TIMES], &table[SIMULATED], &table[COUNTERS],
                                              row, &kernel, !strcmp(name, HOPPER), error);
    for (size_t i = first; !status && i < entries; i++) {
        entry[i].group = name;
        if (tables == TABLES) status = foretold_read(&table[FORETOLD], &entry[i], error);
    }
    for (int i = 0; i < TABLES; i++)
        tsv_close(&table[i]);
    return status;
}

/* ---- judging ------------------------------------------------------------------------------ */

static double error_of(const Entry *e)
{
    return fabs(e->simulated / e->measured - 1);
}

/* Lists what is counted differently; returns how many entries are. */
static int counts_report(void)
{
    int wrong = 0, known = 0;
    printf("| counted | entries | within 2 %% | those that are not |\n| --- | --- | --- | --- |\n");
    for (int c = 0; c < COUNTS; c++) {
        char others[4000] = "";
        int all = 0, off = 0;
        for (size_t i = 0; i < entries; i++) {
            double card = entry[i].counted[0][c], own = entry[i].counted[1][c];
            if (isnan(card) || (card <= 0 && own <= 0)) continue;
            all++;
            if (fabs(own - card) <= COUNT_TOLERANCE * card + 16) continue;
            off++;
            known += is_known(c, entry[i].name);
            size_t used = strlen(others);
            snprintf(others + used, sizeof others - used,
                     card > 0 ? "%s%s %.2f" : "%s%s %.0f for 0", used ? ", " : "", entry[i].name,
                     card > 0 ? own / card : own);
        }
        printf("| %s | %d | %d | %s |\n", COUNT[c].name, all, all - off, off ? others : "none");
        wrong += off;
    }
    return wrong - known;
}

/* How well a list of times follows the measured ones: its head, and a row of a table. */
static const char *const AGREEMENT =
    " entries | rank correlation | mean absolute error | within a quarter | beyond 1.5 times |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

typedef struct Agreement {
    double correlation, error, near; /* share within a quarter */
    size_t beyond;                   /* 1.5 times either way */
} Agreement;

static Agreement agreement_row(const char *name, const double *measured, const double *said,
                               size_t count)
{
    Agreement agreement = {rank_correlation(measured, said, count),
                           mean_absolute_error(measured, said, count), 0, 0};
    for (size_t i = 0; i < count; i++) {
        double ratio = said[i] / measured[i];
        agreement.near += (fabs(ratio - 1) <= 0.25) / (double)count;
        agreement.beyond += ratio > 1.5 || ratio < 1 / 1.5;
    }
    printf("| %s | %zu | %.3f | %.1f %% | %.1f %% | %zu |\n", name, count, agreement.correlation,
           100 * agreement.error, 100 * agreement.near, agreement.beyond);
    return agreement;
}

static int times_report(void)
{
    static double measured[MOST], simulated[MOST];
    int broken = 0;
    printf("\n| set |%s", AGREEMENT);
    for (int set = 0; set <= SETS; set++) {
        size_t count = 0;
        for (size_t i = 0; i < entries; i++) {
            int own = entry[i].set;
            if (entry[i].hopper || own == COUNTED || (set < SETS && own != set)) continue;
            measured[count] = entry[i].measured, simulated[count++] = entry[i].simulated;
        }
        if (!count) continue;
        Agreement agreement =
            agreement_row(set < SETS ? SET[set] : "all", measured, simulated, count);
        /* A set may be as small as its times are alike: order is promised of all together. */
        broken |= set == SETS && !(agreement.correlation >= LEAST_CORRELATION &&
                                   agreement.near >= LEAST_NEAR && !agreement.beyond);
        broken |= !(agreement.error <= (set == SETS ? MOST_ERROR : MOST_SET_ERROR));
    }
    return broken;
}

/* What was simulated before anything was measured: no promise, for no model can mend it. */
static void foretold_report(int groups, char **group)
{
    static double measured[MOST], foretold[MOST];
    printf("\n| foretold |%s", AGREEMENT);
    for (int g = 0; g < groups; g++) {
        size_t count = 0;
        for (size_t i = 0; i < entries; i++) {
            if (entry[i].group != group[g] || entry[i].foretold <= 0) continue;
            measured[count] = entry[i].measured, foretold[count++] = entry[i].foretold;
        }
        if (count) agreement_row(group[g], measured, foretold, count);
    }
}

/* The mean error of Hopper's launches, of a family and a set or of all (NULL, SETS). */
static double hopper_error(const char *family, int set, size_t *count)
{
    double measured[MOST], simulated[MOST];
    *count = 0;
    for (size_t i = 0; i < entries; i++) {
        const Entry *e = &entry[i];
        if (!e->hopper || (set < SETS && e->set != set)) continue;
        if (family && strcmp(e->family, family)) continue;
        measured[*count] = e->measured, simulated[(*count)++] = e->simulated;
    }
    return mean_absolute_error(measured, simulated, *count);
}

static void hopper_row(const char *family)
{
    printf("| %s |", family ? family : "all");
    for (int set = 0; set < 2; set++) {
        size_t count;
        double error = hopper_error(family, set, &count);
        printf(" %zu | %.1f %% |", count, 100 * error);
    }
    printf("\n");
}

/* By family, in the order of the records; 1 when the promise of all is broken. */
static int hopper_report(void)
{
    const char *family[FAMILIES];
    size_t families = 0, count;
    double all = hopper_error(NULL, SETS, &count);
    if (!count) return 0;
    printf("\n| Hopper's units | fit | mean absolute error | held-out | mean absolute error |\n"
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
    printf("\n| worst | set | measured us | simulated us | ratio |\n| --- | --- | --- | --- | --- "
           "|\n");
    int shown = 0;
    for (size_t i = 0; i < entries && shown < 8; i++) {
        if (entry[i].hopper || entry[i].set == COUNTED) continue;
        shown++;
        printf("| %s | %s | %.2f | %.2f | %.2f |\n", entry[i].name, SET[entry[i].set],
               entry[i].measured, entry[i].simulated, entry[i].simulated / entry[i].measured);
    }
}

static int times_write(const char *out, Error *error)
{
    char path[600];
    snprintf(path, sizeof path, "%s/times.tsv", out);
    FILE *file = fopen(path, "w");
    if (!file) return error_set(error, "%s: %m", path);
    for (int set = 0; set < SETS; set++) {
        fprintf(file, "# %s\n", SET[set]);
        for (size_t i = 0; i < entries; i++)
            if (entry[i].set == set)
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
    int wrong = counts_report(), broken = times_report();
    broken |= hopper_report();
    foretold_report(argc - 4, argv + 4);
    if (times_write(argv[3], &error)) {
        fprintf(stderr, "validate: %s\n", error.text);
        return 2;
    }
    worst_report();
    if (wrong) printf("\n%d counts are off by more than 2 %%\n", wrong);
    if (broken) printf("\na set's times are worse than promised\n");
    return wrong || broken;
}
