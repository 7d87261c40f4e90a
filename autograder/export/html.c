/* html.c - HTML page of one submission: one table per lab, one row per check. */
#include <stdlib.h>

#include "autograder/export/checks.h"
#include "autograder/export/format.h"
#include "autograder/export/page.h"
#include "autograder/record/score.h"
#include "autograder/text/text.h"

static const char *of_points(double points, double possible, char text[72])
{
    char left[32], right[32];
    text_set(text, 72, "%s/%s", score_text(points, left), score_text(possible, right));
    return text;
}

static void write_check(FILE *stream, const Check *check)
{
    char points[72];
    const char *outcome = check_outcome_name(check->outcome);
    page_row(stream);
    page_cell(stream, NULL, check->name);
    page_cell(stream, outcome, outcome);
    page_cell(stream, "number", of_points(check->points, check->possible, points));
    page_cell_begin(stream, NULL);
    page_element(stream, "pre", NULL, check->text);
    fputs("</td></tr>\n", stream);
}

void html_lab_heading(FILE *stream, const Record *record)
{
    char heading[200];
    text_set(heading, sizeof heading, "%s: %s", record->lab, record->title);
    page_element(stream, "h2", NULL, heading);
}

void html_lab_write(FILE *stream, const Record *record)
{
    static const char *const HEADING[] = {"check", "outcome", "#points", "why", NULL};
    Checks *checks = checks_of(record);
    if (*record->message) page_element(stream, "p", "failed", record->message);
    if (record->compiler) page_element(stream, "pre", NULL, record->compiler);
    if (*record->todo) page_element(stream, "p", NULL, record->todo);
    page_table(stream, HEADING);
    for (int i = 0; checks && i < checks->count; i++)
        write_check(stream, &checks->item[i]);
    fputs("</table>\n", stream);
    free(checks);
    if (!record->printed) return;
    page_element(stream, "p", NULL, "Output of the kernels, the beginning:");
    page_element(stream, "pre", "quiet", record->printed);
}

static void write_status(FILE *stream, const Record *record)
{
    char text[200], points[72];
    text_set(text, sizeof text, "%s points, %s, at %s on %s %s",
             of_points(record->points, record->possible, points),
             record_status_name(record->status), record->graded_at, record->engine,
             *record->machine ? record->machine : record->device);
    page_element(stream, "p", NULL, text);
}

void html_write(FILE *stream, const Submission *submission)
{
    char title[400], points[72];
    text_set(title, sizeof title, "%s: %s points", submission->name,
             of_points(submission->points, submission->possible, points));
    page_begin(stream, title);
    for (int i = 0; i < submission->records; i++) {
        html_lab_heading(stream, submission->record[i]);
        write_status(stream, submission->record[i]);
        html_lab_write(stream, submission->record[i]);
    }
    page_end(stream);
}
