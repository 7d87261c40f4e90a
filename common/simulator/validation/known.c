#include "common/simulator/validation/known.h"

#include <stdio.h>
#include <string.h>

enum { GPU, SET, LAUNCH, COUNTER, VARIES, REASON, FIELDS };

static const char *field_of(const Known *known, size_t row, int field)
{
    return known->table.field[row * known->table.columns + (size_t)field];
}

/* The number of a counter; COUNTERS: unknown. */
static int counter_find(const char *name)
{
    int counter = 0;
    while (counter < COUNTERS && strcmp(name, COUNTER_NAME[counter]) != 0)
        counter++;
    return counter;
}

static int rows_check(const Known *known, Error *error)
{
    static const char *const NAMES[FIELDS] = {"gpu",     "set",    "launch",
                                              "counter", "varies", "reason"};
    for (int i = 0; i < FIELDS; i++) {
        int column = tsv_column(&known->table, NAMES[i], error);
        if (column < 0) return -1;
        if (column != i)
            return error_set(error, "%s: column %d must be %s", known->table.path, i + 1, NAMES[i]);
    }
    for (size_t row = 0; row < known->table.rows; row++) {
        if (counter_find(field_of(known, row, COUNTER)) == COUNTERS)
            return error_set(error, "%s, row %zu: there is no counter '%.40s'", known->table.path,
                             row + 1, field_of(known, row, COUNTER));
        const char *varies = field_of(known, row, VARIES);
        if (strcmp(varies, "yes") != 0 && strcmp(varies, "no") != 0)
            return error_set(error, "%s, row %zu: varies is yes or no, not '%.40s'",
                             known->table.path, row + 1, varies);
        if (!*field_of(known, row, REASON))
            return error_set(error, "%s, row %zu: there is no reason", known->table.path, row + 1);
    }
    return 0;
}

int known_read(const char *root, Known *known, Error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/known.tsv", root);
    if (tsv_read(path, &known->table, error)) return -1;
    if (!rows_check(known, error)) return 0;
    known_close(known);
    return -1;
}

void known_close(Known *known)
{
    tsv_close(&known->table);
}

static int is_entry(const Known *known, size_t row, const char *gpu, const Launch *launch)
{
    return !strcmp(field_of(known, row, GPU), gpu) &&
           !strcmp(field_of(known, row, SET), launch->set) &&
           !strcmp(field_of(known, row, LAUNCH), launch->name);
}

int known_find(const Known *known, const char *gpu, const Launch *launch, int counter)
{
    for (size_t row = 0; row < known->table.rows; row++)
        if (is_entry(known, row, gpu, launch) &&
            counter_find(field_of(known, row, COUNTER)) == counter)
            return 1;
    return 0;
}

int known_report_stale(const Known *known, const char *gpu, const Launches *launches)
{
    int stale = 0;
    for (size_t row = 0; row < known->table.rows; row++) {
        const char *why = "names no launch";
        if (strcmp(field_of(known, row, GPU), gpu) != 0) continue;
        for (size_t i = 0; i < launches->count; i++)
            if (is_entry(known, row, gpu, &launches->launch[i])) {
                int counter = counter_find(field_of(known, row, COUNTER));
                int varies = !strcmp(field_of(known, row, VARIES), "yes");
                int differs = launch_is_counted(&launches->launch[i], counter) &&
                              !launch_is_right(&launches->launch[i], counter);
                why = varies || differs ? NULL : "no longer differs";
            }
        if (!why) continue;
        stale++;
        printf("\n%s, row %zu: the entry %s %s %s, %s, %s\n", known->table.path, row + 1, gpu,
               field_of(known, row, SET), field_of(known, row, LAUNCH),
               field_of(known, row, COUNTER), why);
    }
    return stale;
}
