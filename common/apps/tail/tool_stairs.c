/* tool_stairs.c - `tool_stairs LAUNCH_US <TABLE`: predicted and detected steps of a sweep
 * (stairs.h).
 *
 * TABLE has one line per width, in order, tab-separated: value, kernel, threads of a block, blocks,
 * resident, sms, rows, `pieces`, launches, us, the interval of us.  The output adds waves, blocks
 * of the busiest SM, utilisation, predicted us, whether the width's time calibrated the prediction,
 * and the steps of both.  The last line, after a ;, counts the steps: predicted, measured, both at
 * the same width, the share of the last among the measured, and among all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/apps/tail/stairs.h"

enum { MOST = 2048, NAME = 200 };
static const double LEAST = 0.08;

static Stair stair[MOST];
static char value[MOST][32], kernel[MOST][NAME];
static int calibrates[MOST];

/* Index of the first row with this kernel. */
static int kernel_number(int row)
{
    int first = 0;
    while (strcmp(kernel[first], kernel[row]))
        first++;
    return first;
}

static int row_read(char *line, int row, Error *error)
{
    Stair *s = &stair[row];
    double threads;
    if (sscanf(line, "%31[^\t]\t%199[^\t]\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf",
               value[row], kernel[row], &threads, &s->blocks, &s->resident, &s->sms, &s->rows,
               &s->pieces, &s->launches, &s->us, &s->low, &s->high) != 12 ||
        !(threads > 0 && s->blocks > 0 && s->resident > 0 && s->sms > 0 && s->rows > 0 &&
          s->pieces > 0 && s->us > 0))
        return error_set(error, "line %d has not twelve fields, or a number below 0: %s", row + 1,
                         line);
    s->warps = ceil(threads / 32);
    s->kernel = kernel_number(row);
    return 0;
}

static int table_read(Error *error)
{
    char line[640];
    int rows = 0;
    while (rows < MOST && fgets(line, sizeof line, stdin))
        if (row_read(line, rows++, error)) return -1;
    return rows ? rows : error_set(error, "no line came in");
}

static int percent(int part, int whole)
{
    return whole ? (int)(100.0 * part / whole + 0.5) : 100;
}

static void table_print(int rows)
{
    static double us[MOST], low[MOST], high[MOST], predicted[MOST];
    static int measured_step[MOST], predicted_step[MOST];
    int both = 0, either = 0, ours = 0, theirs = 0;
    for (int i = 0; i < rows; i++) {
        us[i] = stair[i].us;
        low[i] = stair[i].low;
        high[i] = stair[i].high;
        predicted[i] = stair[i].predicted;
    }
    stairs_find(us, low, high, rows, LEAST, measured_step);
    stairs_find(predicted, predicted, predicted, rows, LEAST, predicted_step);
    printf("value\tkernel\tthreads\tblocks\tresident\tsms\trows\tpieces\tlaunches\tus\tus_low\tus_"
           "high\twaves\t"
           "busiest\tutilisation\tpredicted_us\tcalibrates\tpredicted_step\tmeasured_step\n");
    for (int i = 0; i < rows; i++) {
        const Stair *s = &stair[i];
        const int mine = predicted_step[i], its = measured_step[i];
        printf(
            "%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.3f\t%.3f\t%.3f\t%.0f\t%.0f\t%.3f\t"
            "%.3f\t%d\t%d\t%d\n",
            value[i], kernel[i], s->warps * 32, s->blocks, s->resident, s->sms, s->rows, s->pieces,
            s->launches, s->us, s->low, s->high, stair_waves(s), stair_busiest(s),
            stair_utilisation(s), s->predicted, calibrates[i], mine, its);
        ours += mine != 0;
        theirs += its != 0;
        both += mine && mine == its;
        either += mine || its;
    }
    printf("; steps: %d predicted, %d measured, %d at the same width, %d %% of those measured, "
           "%d %% of all\n",
           ours, theirs, both, percent(both, theirs), percent(both, either));
}

int main(int argc, char **argv)
{
    Error error;
    if (argc != 2) return fprintf(stderr, "usage: tool_stairs LAUNCH_US <TABLE\n"), 2;
    const int rows = table_read(&error);
    if (rows < 0) return fprintf(stderr, "tool_stairs: %s\n", error.text), 1;
    stairs_predict(stair, rows, atof(argv[1]), calibrates);
    table_print(rows);
    return 0;
}
