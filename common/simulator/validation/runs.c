#include "common/simulator/validation/runs.h"

#include <stdlib.h>
#include <string.h>

/* The line's text in that column; NULL with error. */
static const char *text_of(const Tsv *runs, size_t line, const char *name, Error *error)
{
    int column = tsv_column(runs, name, error);
    return column < 0 ? NULL : runs->field[line * runs->columns + (size_t)column];
}

/* Numbers with spaces between; returns how many, -1 when there is anything else or too many. */
static int numbers_of(const char *text, double number[RUNS])
{
    int count = 0;
    for (char *end; *text; text = end + (*end == ' ')) {
        if (count == RUNS) return -1;
        number[count++] = strtod(text, &end);
        if (end == text || (*end && *end != ' ')) return -1;
    }
    return count;
}

static int line_check(const Tsv *runs, size_t line, const Tsv *counters, Error *error)
{
    double row, recorded, count[RUNS];
    const char *kernel = text_of(runs, line, "kernel", error),
               *counter = text_of(runs, line, "counter", error),
               *counts = text_of(runs, line, "counts", error);
    if (!kernel || !counter || !counts || tsv_named(runs, line, "row", &row, error)) return -1;
    if (row < 1 || row > (double)counters->rows ||
        strcmp(counters->field[((size_t)row - 1) * counters->columns], kernel) != 0)
        return error_set(error, "%s, row %zu: row %.0f of %s is no %s; record again", runs->path,
                         line + 1, row, counters->path, kernel);
    if (tsv_named(counters, (size_t)row - 1, counter, &recorded, error)) return -1;
    if (numbers_of(counts, count) < 2)
        return error_set(error, "%s, row %zu: '%.40s' is not 2 to %d numbers", runs->path, line + 1,
                         counts, RUNS);
    if (count[0] != recorded)
        return error_set(error, "%s, row %zu: starts with %.0f, but row %.0f of %s has %.0f %s",
                         runs->path, line + 1, count[0], row, counters->path, recorded, counter);
    return 0;
}

int runs_read(const char *path, const Tsv *counters, Tsv *runs, Error *error)
{
    if (tsv_read(path, runs, error)) return -1;
    for (size_t line = 0; line < runs->rows; line++)
        if (line_check(runs, line, counters, error)) {
            tsv_close(runs);
            return -1;
        }
    return 0;
}

int runs_find(const Tsv *runs, size_t row, const char *counter, double count[RUNS])
{
    Error none = {""};
    for (size_t line = 0; line < runs->rows; line++) {
        double number;
        if (!tsv_named(runs, line, "row", &number, &none) && number == (double)row + 1 &&
            !strcmp(text_of(runs, line, "counter", &none), counter))
            return numbers_of(text_of(runs, line, "counts", &none), count);
    }
    return 0;
}
