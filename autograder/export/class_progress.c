/* class_progress.c - progress of a class over the weeks, on its HTML page. */
#include "autograder/export/class_progress.h"

#include <string.h>

#include "autograder/export/page.h"
#include "autograder/text/text.h"

enum { WEEKS = 8 }; /* the last ones */

/* The rows of one lab: the last row of each week. */
static void write_lab(FILE *stream, const Progress *progress, const char *lab, int weeks,
                      char (*monday)[12])
{
    page_row(stream);
    page_cell(stream, "lab", lab);
    for (int i = 0; i < weeks; i++) {
        const ProgressRow *last = NULL;
        char week[12], text[80] = "";
        for (size_t j = 0; j < progress->rows; j++) {
            const ProgressRow *row = &progress->row[j];
            if (!progress_week(row->date, week) && !strcmp(week, monday[i]) &&
                !strcmp(row->lab, lab))
                last = row;
        }
        if (last)
            text_set(text, sizeof text, "%.1f; %d of %d", last->mean, last->full, last->students);
        page_cell(stream, "number", text);
    }
}

/* The Mondays of the last weeks that have rows, oldest first; returns their number. */
static int weeks_find(const Progress *progress, char (*monday)[12])
{
    int weeks = 0;
    char week[12];
    for (size_t i = 0; i < progress->rows; i++) {
        if (progress_week(progress->row[i].date, week)) continue;
        if (weeks && !strcmp(monday[weeks - 1], week)) continue;
        if (weeks == WEEKS) memmove(monday, monday + 1, --weeks * sizeof *monday);
        memcpy(monday[weeks++], week, sizeof week);
    }
    return weeks;
}

static int is_first(const Progress *progress, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(progress->row[i].lab, progress->row[at].lab)) return 0;
    return 1;
}

void class_progress_write(FILE *stream, const Progress *progress, const Catalog *catalog)
{
    char monday[WEEKS][12], heading[WEEKS][16];
    const char *name[WEEKS + 2] = {"lab"};
    int weeks = weeks_find(progress, monday);
    if (weeks < 2) return;
    for (int i = 0; i < weeks; i++) {
        text_set(heading[i], sizeof heading[i], "#%s", monday[i]);
        name[i + 1] = heading[i];
    }
    name[weeks + 1] = NULL;
    page_element(stream, "h2", NULL, "Progress by week");
    page_element(stream, "p", "note",
                 "The last run of each week that starts on the Monday given: mean in per cent of "
                 "the points; students with all points.");
    page_table(stream, name);
    for (int i = 0; i < catalog->labs; i++)
        for (size_t j = 0; j < progress->rows; j++)
            if (!strcmp(progress->row[j].lab, catalog->lab[i].name) && is_first(progress, j))
                write_lab(stream, progress, catalog->lab[i].name, weeks, monday);
    fputs("</table>\n", stream);
}
