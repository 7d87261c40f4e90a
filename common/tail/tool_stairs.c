/* tool_stairs.c - `tool_stairs LAUNCH_US [LEAST] <TABLE`: the staircase of a sweep, predicted and
 * found.
 *
 * TABLE has a line a width, in order: value, kernel, blocks, resident, sms, pieces, launches, us,
 * with tabs between.
 * Out comes the same with waves, blocks of the busiest SM, utilisation, predicted us, whether the
 * width calibrated the prediction, and the steps of both (stairs.h).  The last line, behind a ;,
 * counts the steps: those predicted, measured, in both at the same width, and the share of the
 * last among all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/error.h"
#include "common/tail/stairs.h"

enum { MOST = 1024, NAME = 200 };

static Stair stair[MOST];
static char value[MOST][32], kernel[MOST][NAME];

/* The number of the row that had this kernel first. */
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
    if (sscanf(line, "%31[^\t]\t%199[^\t]\t%lf\t%lf\t%lf\t%lf\t%lf\t%lf", value[row], kernel[row],
               &s->blocks, &s->resident, &s->sms, &s->pieces, &s->launches, &s->us) != 8 ||
        !(s->blocks > 0 && s->resident > 0 && s->sms > 0 && s->pieces > 0 && s->us > 0))
        return error_set(error,
                         "line %d is not VALUE KERNEL BLOCKS RESIDENT SMS PIECES LAUNCHES US: %s",
                         row + 1, line);
    s->kernel = kernel_number(row);
    return 0;
}

static int table_read(Error *error)
{
    char line[512];
    int rows = 0;
    while (rows < MOST && fgets(line, sizeof line, stdin))
        if (row_read(line, rows++, error)) return -1;
    return rows ? rows : error_set(error, "no line came in");
}

static void table_print(int rows, double least, const int *calibrates)
{
    static double us[MOST], predicted[MOST];
    static int measured_step[MOST], predicted_step[MOST];
    int both = 0, either = 0, ours = 0, theirs = 0;
    for (int i = 0; i < rows; i++) {
        us[i] = stair[i].us;
        predicted[i] = stair[i].predicted;
    }
    stairs_find(us, rows, least, measured_step);
    stairs_find(predicted, rows, least, predicted_step);
    printf("value\tkernel\tblocks\tresident\tsms\tpieces\tlaunches\tus\twaves\tbusiest\tutilisation"
           "\tpredicted_us\t"
           "calibrates\tpredicted_step\tmeasured_step\n");
    for (int i = 0; i < rows; i++) {
        const Stair *s = &stair[i];
        const int mine = predicted_step[i], its = measured_step[i];
        printf("%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.3f\t%.0f\t%.0f\t%.3f\t%.3f\t%d\t%d\t%d\n",
               value[i], kernel[i], s->blocks, s->resident, s->sms, s->pieces, s->launches, s->us,
               stair_waves(s), stair_busiest(s), stair_utilisation(s), s->predicted, calibrates[i],
               mine, its);
        ours += mine != 0;
        theirs += its != 0;
        both += mine && mine == its;
        either += mine || its;
    }
    printf("; steps: %d predicted, %d measured, %d at the same width, %.0f %% of all\n", ours,
           theirs, both, either ? 100.0 * both / either : 100.0);
}

int main(int argc, char **argv)
{
    static int calibrates[MOST];
    Error error;
    if (argc < 2) return fprintf(stderr, "usage: tool_stairs LAUNCH_US [LEAST] <TABLE\n"), 2;
    const int rows = table_read(&error);
    if (rows < 0) return fprintf(stderr, "tool_stairs: %s\n", error.text), 1;
    stairs_predict(stair, rows, atof(argv[1]), calibrates);
    table_print(rows, argc > 2 ? atof(argv[2]) : 0.04, calibrates);
    return 0;
}
