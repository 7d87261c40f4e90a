/* feedback_page.c - the page that one student of a class receives. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/feedback.h"
#include "autograder/export/page.h"
#include "autograder/export/spread.h"
#include "autograder/record/cause.h"
#include "autograder/record/score.h"
#include "autograder/text/text.h"

/* With fewer marks a distribution would show somebody's own. */
enum { ANONYMOUS_MARKS = 5 };

static const SummaryLab *summary_of(const ClassResults *results, const char *lab)
{
    for (int i = 0; i < results->summary.labs; i++)
        if (!strcmp(results->summary.lab[i].name, lab)) return &results->summary.lab[i];
    return NULL;
}

static void write_mark(FILE *stream, const FeedbackPage *page, const Record *record, int lab)
{
    const MarksResult *result = &page->student->result[lab];
    char text[600], part[2][32], late[40];
    text_set(text, sizeof text, "%s of %s points", score_text(record->points, part[0]),
             score_text(record->possible, part[1]));
    if (result->late) text_add(text, sizeof text, "; %s late", late_text(result->late, late));
    if (result->late && page->student->mark[lab] < result->earned)
        text_add(text, sizeof text, ", so %s of %s count",
                 score_text(page->student->mark[lab], part[0]),
                 score_text(page->results->marks.full[lab], part[1]));
    if (*result->submitted_at) text_add(text, sizeof text, "; submitted %s", result->submitted_at);
    if (result->attempts > 1)
        text_add(text, sizeof text, "; of %d submissions this one counts", result->attempts);
    page_element(stream, "p", NULL, text);
    if (*record->deferred) page_element(stream, "p", "note", record->deferred);
}

static void write_comparison(FILE *stream, const FeedbackPage *page, int lab)
{
    const SummaryLab *class = summary_of(page->results, page->results->marks.lab[lab]);
    double mark = page->student->mark[lab], full = page->results->marks.full[lab];
    char text[300];
    if (!class || class->graded < ANONYMOUS_MARKS || isnan(mark) || full <= 0) return;
    text_set(
        text, sizeof text,
        "In the class: you have %.0f %%, the median is %.0f %%, the middle half of %zu students "
        "is between %.0f and %.0f %%.",
        100 * mark / full, summary_quartile(class, 2), summary_marks(class),
        summary_quartile(class, 1), summary_quartile(class, 3));
    page_element(stream, "p", NULL, text);
    spread_write(stream, class, 100 * mark / full);
}

/* The first error to fix, and the hints that the faults unlocked. */
static void write_hints(FILE *stream, const Record *record)
{
    const RecordCase *first = cause_first(record);
    char text[3000];
    if (*record->todo && record->status == RECORD_GRADED && first) {
        text_set(text, sizeof text, "The first unsolved task: %s", record->todo);
        page_element(stream, "p", NULL, text);
    }
    if (!first || record->status != RECORD_GRADED) return;
    text_set(text, sizeof text, "Fix this first, in case %s: %s", first->name, first->text);
    page_element(stream, "h3", NULL, "What was missed");
    page_element(stream, "pre", NULL, text);
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (!*item->hint || item->verdict == CASE_CORRECT) continue;
        text_set(text, sizeof text, "Hint: %s", item->hint);
        page_element(stream, "pre", "hint", text);
    }
}

static void write_record(FILE *stream, const Record *record)
{
    char *text = record_print(record);
    if (!text) return;
    fputs("<details><summary>The full record</summary>\n", stream);
    page_element(stream, "pre", NULL, text);
    fputs("</details>\n", stream);
    free(text);
}

/* The marks of answers to the lab's open questions. */
static void write_answers(FILE *stream, const FeedbackPage *page, const char *lab)
{
    static const char *const NAME[] = {"question", "#points", "comment", NULL};
    const MarksStudent *student = page->student;
    char text[72], part[2][32];
    int rows = 0;
    for (int i = 0; i < student->answers; i++) {
        const MarksAnswer *answer = &student->answer[i];
        if (strcmp(answer->lab, lab) != 0) continue;
        if (!rows++) page_element(stream, "h3", NULL, "Open questions");
        if (rows == 1) page_table(stream, NAME);
        text_set(text, sizeof text, "%s of %s", score_text(answer->points, part[0]),
                 score_text(answer->possible, part[1]));
        page_row(stream);
        page_cell(stream, NULL, answer->text);
        page_cell(stream, "number", text);
        page_cell(stream, NULL, answer->comment);
    }
    if (rows) fputs("</table>\n", stream);
}

/* The column of open questions of a lab that has no column of its own. */
static void write_questions(FILE *stream, const FeedbackPage *page, const char *column)
{
    char lab[64];
    text_set(lab, sizeof lab, "%.*s", (int)marks_lab_length(column), column);
    if (marks_lab(&page->results->marks, lab) < page->results->marks.labs) return;
    page_element(stream, "h2", NULL, lab);
    write_answers(stream, page, lab);
}

static void write_absent(FILE *stream, const FeedbackPage *page)
{
    const Marks *marks = &page->results->marks;
    for (int i = 0; i < marks->labs; i++) {
        if (marks_is_questions(marks, i)) write_questions(stream, page, marks->lab[i]);
        if (*page->student->result[i].status) continue;
        page_element(stream, "h2", NULL, marks->lab[i]);
        page_element(stream, "p", "failed", "No submission.");
        write_answers(stream, page, marks->lab[i]);
    }
}

void feedback_page_write(FILE *stream, const FeedbackPage *page)
{
    char title[400];
    const Marks *marks = &page->results->marks;
    text_set(title, sizeof title, "%s: feedback", marks_name(page->student));
    page_begin(stream, title);
    for (int i = 0; i < page->submission->records; i++) {
        const Record *record = page->submission->record[i];
        int lab = marks_lab(marks, record->lab);
        html_lab_heading(stream, record);
        if (lab < marks->labs) write_mark(stream, page, record, lab);
        if (lab < marks->labs) write_comparison(stream, page, lab);
        write_hints(stream, record);
        html_lab_write(stream, record);
        write_answers(stream, page, record->lab);
        write_record(stream, record);
    }
    write_absent(stream, page);
    page_end(stream);
}
