/* tool_validate.c - holds what the simulator said against what a card did.
 *
 *   tool_validate RECORDED SIMULATED OUT NAME...
 *
 * For each NAME reads RECORDED/NAME-times.tsv, RECORDED/NAME-counters.tsv and SIMULATED/NAME.tsv,
 * and where there are any RECORDED/NAME-runs.tsv, what was counted in other runs, and
 * RECORDED/foretold-NAME.tsv, what was simulated before anything was measured.
 * Prints the comparison as Markdown, and writes OUT/times.tsv for the plots.  Exits 1 when one of
 * the promises is broken: counts within 2 % of a card's, or of what it counted in some run, rank
 * correlation of all times at least 0.985, mean absolute error of all at most 8 %, of one set and
 * of Hopper's units at most 12 %, 97 % of all times within a quarter of a card's and none beyond
 * 1.5 times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/simulator/validation/agreement.h"
#include "common/simulator/validation/runs.h"
#include "common/simulator/validation/tsv.h"

enum { MOST = 2048, SETS = 3, RACED = SETS + 1, FAMILIES = 32, COUNTS = 7 };
static const char *const SET[] = {"fit", "held-out", "layer", "counted", "raced"};

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
static const double COUNT_TOLERANCE = 0.02, COUNT_SLACK = 16, STEADY = 0.005;
static const double LEAST_CORRELATION = 0.985, LEAST_NEAR = 0.97, MOST_ERROR = 0.08,
                    MOST_SET_ERROR = 0.12;

/* Launches with a promise of their own.  What copies of the tensor memory accelerator move is in
 * none of ncu's counters that are compared: their counts are left out. */
static const char *const HOPPER = "hopper";

/* Some launches were measured on a machine that takes longer to launch, and begin with an empty
 * kernel: what that took more than the simulator's is no part of any time of the file.  In us. */
static double late;

/* Launches of which a count is known to differ from what a card had in any run, and does not break
 * the promise (docs/simulator/validation.md says why). */
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
    /* Lanes that wait behind a loop of atomics: on a card they go on at its YIELD. */
    {SECTORS, "product-counted"},
    {WAVEFRONTS, "product-counted"},
    {CONFLICTS, "product-counted"},
    /* The same of trees in shared memory. */
    {WAVEFRONTS, "tiles-joined"},
    {CONFLICTS, "tiles-joined"},
    /* Ways that ptxas makes one; lanes in different copies of a loop that ptxas unrolled. */
    {SECTORS, "nibbles-unpacked"},
    {SECTORS, "colours-guessed"},
    /* Vectors of which some lanes take no part: ncu reckons, and its own counter has more. */
    {CONFLICTS, "boxes-over"},
    /* How often a thread looks in vain, or who comes next in a queue: a card never had that. */
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
    const char *group; /* the file that it is from */
    int set, hopper;
    double measured, simulated;         /* us */
    double foretold;                    /* us, before anything was measured; 0: it was not */
    double least[COUNTS], most[COUNTS]; /* that a card counted; NAN: it did not */
    double counted[COUNTS];             /* that the simulator did */
} Entry;

static Entry entry[MOST];
static size_t entries;

/* What is known of a file of launches. */
typedef struct Tables {
    Tsv times, simulated, counters, runs, foretold;
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

/* One of a card's columns of a kernel, times `sign`, added to what it counted in each run; `runs`
 * are at least so many. */
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

/* The least and the most that a card counted of one kernel, added to the entry's. */
static int kernel_add(const Tables *t, size_t kernel, int c, Entry *e, Error *error)
{
    double sum[RUNS] = {0}, least, most;
    int runs = 1;
    Error none = {""};
    if (tsv_column(&t->counters, COUNT[c].card[0], &none) < 0) { /* an older record */
        e->least[c] = e->most[c] = NAN;
        return 0;
    }
    for (int i = 0; i < 2 && COUNT[c].card[i]; i++)
        if (column_add(t, kernel, COUNT[c].card[i], 1, sum, &runs, error)) return -1;
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

/* What was foretold of the entry, if anything was. */
static int foretold_read(const Tsv *foretold, Entry *e, Error *error)
{
    long row = row_of(foretold, e->name);
    return row < 0 ? 0 : tsv_named(foretold, (size_t)row, "us", &e->foretold, error);
}

/* What both counted of an entry, which is row `found` of the simulated ones and whose launches
 * begin with the card's `kernel`. */
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
    int name = tsv_column(times, "name", error), set = tsv_column(times, "set", error);
    int family = tsv_column(times, "family", error);
    *e = (Entry){.set = -1, .group = group, .hopper = !strcmp(group, HOPPER)};
    if (name < 0 || set < 0 || family < 0 || tsv_named(times, row, "us", &e->measured, error))
        return -1;
    const char *own = times->field[row * times->columns + (size_t)name];
    long found = row_of(&t->simulated, own);
    if (found < 0)
        return error_set(error, "%s, row %zu: %s was measured, but is not simulated; record again",
                         times->path, row + 1, own);
    snprintf(e->name, sizeof e->name, "%s", own);
    snprintf(e->family, sizeof e->family, "%s",
             times->field[row * times->columns + (size_t)family]);
    for (int i = 0; i <= RACED; i++)
        if (!strcmp(times->field[row * times->columns + (size_t)set], SET[i])) e->set = i;
    if (tsv_named(&t->simulated, (size_t)found, "us", &e->simulated, error) ||
        counts_read(t, (size_t)found, kernel, e, error) || foretold_read(&t->foretold, e, error))
        return -1;
    if (!strcmp(own, "empty")) {
        late = e->measured - e->simulated;
        return 0;
    }
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

/* The tables of a name: the last two only where there are any. */
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
           (!access(PATH("%s/foretold-%s.tsv", recorded, name), F_OK) &&
            tsv_read(path, &t->foretold, error));
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
    Tsv *all[] = {&t.times, &t.simulated, &t.counters, &t.runs, &t.foretold};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tsv_close(all[i]);
    return status;
}

/* ---- judging ------------------------------------------------------------------------------ */

static double error_of(const Entry *e)
{
    return fabs(e->simulated / e->measured - 1);
}

/* Did a card count the same each time, as far as that matters? */
static int is_steady(const Entry *e, int c)
{
    return e->most[c] - e->least[c] <= STEADY * e->most[c];
}

/* Is the simulator's count a card's, or one that a card might have had? */
static int is_right(const Entry *e, int c)
{
    return e->counted[c] >= e->least[c] * (1 - COUNT_TOLERANCE) - COUNT_SLACK &&
           e->counted[c] <= e->most[c] * (1 + COUNT_TOLERANCE) + COUNT_SLACK;
}

/* Is anything of this counted in the entry, and not of a program that races with itself? */
static int is_counted(const Entry *e, int c)
{
    return e->set != RACED && !isnan(e->most[c]) && (e->most[c] > 0 || e->counted[c] > 0);
}

/* Lists what is counted differently; returns how many entries are. */
static int counts_report(void)
{
    int wrong = 0, known = 0;
    printf("| counted | the same in each run | within 2 %% | vary from run to run on the card | "
           "within what it counted | those that are not |\n"
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
            double card = e->counted[c] < e->least[c] ? e->least[c] : e->most[c];
            size_t used = strlen(others);
            snprintf(others + used, sizeof others - used,
                     card > 0 ? "%s%s %.2f" : "%s%s %.0f for 0", used ? ", " : "", e->name,
                     card > 0 ? e->counted[c] / card : e->counted[c]);
        }
        printf("| %s | %d | %d | %d | %d | %s |\n", COUNT[c].name, all[0], right[0], all[1],
               right[1], *others ? others : "none");
    }
    return wrong - known;
}

/* Programs that race with themselves, which nothing is promised of: what a card counted of them
 * and the simulator did not. */
static void raced_report(void)
{
    int rows = 0;
    for (size_t i = 0; i < entries; i++)
        for (int c = 0; c < COUNTS; c++) {
            const Entry *e = &entry[i];
            if (e->set != RACED || isnan(e->most[c]) || is_right(e, c)) continue;
            if (!rows++)
                printf(
                    "\n| races with itself | counted | the card, least | most | the simulator |\n"
                    "| --- | --- | --- | --- | --- |\n");
            printf("| %s | %s | %.0f | %.0f | %.0f |\n", e->name, COUNT[c].name, e->least[c],
                   e->most[c], e->counted[c]);
        }
}

/* How well a list of times follows the measured ones: its head, and a row of a table. */
static const char *const AGREEMENT =
    " entries | rank correlation | mean absolute error | within a quarter | beyond 1.5 times |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

typedef struct Agreement {
    double correlation, error, near; /* share within a quarter */
    size_t beyond;                   /* 1.5 times either way */
} Agreement;

static int is_beyond(double measured, double said)
{
    return said > 1.5 * measured || said < measured / 1.5;
}

static Agreement agreement_row(const char *name, const double *measured, const double *said,
                               size_t count)
{
    Agreement agreement = {rank_correlation(measured, said, count),
                           mean_absolute_error(measured, said, count), 0, 0};
    for (size_t i = 0; i < count; i++) {
        agreement.near += (fabs(said[i] / measured[i] - 1) <= 0.25) / (double)count;
        agreement.beyond += (size_t)is_beyond(measured[i], said[i]);
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
            const Entry *e = &entry[i];
            if (e->hopper || e->set >= SETS || (set < SETS && e->set != set)) continue;
            measured[count] = e->measured, simulated[count++] = e->simulated;
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
        if (entry[i].hopper || entry[i].set >= SETS) continue;
        shown++;
        printf("| %s | %s | %.2f | %.2f | %.2f |\n", entry[i].name, SET[entry[i].set],
               entry[i].measured, entry[i].simulated, entry[i].simulated / entry[i].measured);
    }
}

/* Exceptions that need not be any more. */
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
    int wrong = counts_report();
    raced_report();
    int broken = times_report();
    broken |= hopper_report();
    foretold_report(argc - 4, argv + 4);
    if (times_write(argv[3], &error)) {
        fprintf(stderr, "validate: %s\n", error.text);
        return 2;
    }
    worst_report();
    known_report();
    if (wrong) printf("\n%d counts are off by more than 2 %%\n", wrong);
    if (broken) printf("\na set's times are worse than promised\n");
    return wrong || broken;
}
