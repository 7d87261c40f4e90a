/* class_page.c - HTML page of a class, in the order of an instructor's questions. It shows the
 * results of the labs; cases that failed or were slow; the most common errors; changes since the
 * last run; each student, those who need help first. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/format.h"
#include "autograder/export/page.h"
#include "autograder/export/spread.h"
#include "autograder/export/tally.h"
#include "autograder/record/score.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

/* A formatted cell; its text is escaped. */
static void cell(FILE *stream, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void cell(FILE *stream, const char *class, const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_cell(stream, class, text);
}

/* A secret number of a student, so that the order of anonymous names says nothing. */
static uint64_t secret_of(const ClassResults *results, const char *holder)
{
    char seed[24] = "";
    gradebook_setting(results->book, "seed", seed, sizeof seed, NULL);
    return digest_bytes(digest_bytes(DIGEST_START, seed, sizeof seed), holder, strlen(holder));
}

static int anonymous_number(const ClassResults *results, const char *holder)
{
    int number = 1;
    uint64_t own = secret_of(results, holder);
    for (int i = 0; i < results->marks.students; i++)
        number += secret_of(results, results->marks.student[i].name) < own;
    return number;
}

/* The name to show; on an anonymous page a number. */
static const char *shown_name(const ClassResults *results, const char *holder, char text[200])
{
    const MarksStudent *student = marks_student(&results->marks, holder);
    if (results->is_anonymous)
        text_set(text, 200, "student %d", anonymous_number(results, holder));
    else
        text_set(text, 200, "%s", student ? marks_name(student) : holder);
    return text;
}

/* ---- the labs ------------------------------------------------------------------------------- */

static void write_labs(FILE *stream, const Summary *summary)
{
    static const char *const NAME[] = {
        "lab",   "#students", "#graded",        "#mean",    "#median",   "#all points", "#none",
        "#late", "#missing",  "#no submission", "#refused", "#deferred", "spread",      NULL};
    page_element(stream, "h2", NULL, "Labs, in per cent of their points");
    page_table(stream, NAME);
    for (int i = 0; i < summary->labs; i++) {
        const SummaryLab *lab = &summary->lab[i];
        size_t marks = summary_marks(lab);
        if (!marks && !lab->deferred) continue;
        page_row(stream);
        cell(stream, "lab", "%s", lab->name);
        cell(stream, "number", "%zu", marks + lab->deferred);
        cell(stream, "number", "%zu", lab->graded);
        cell(stream, "number", "%.1f", marks ? summary_mean(lab) : 0);
        cell(stream, "number", "%.1f", marks ? summary_quartile(lab, 2) : 0);
        cell(stream, "number", "%zu", lab->full);
        cell(stream, "number", "%zu", lab->none);
        cell(stream, "number", "%zu", lab->late);
        cell(stream, "number", "%zu", lab->missing);
        cell(stream, "number", "%zu", lab->absent);
        cell(stream, lab->refused ? "number failed" : "number", "%zu", lab->refused);
        cell(stream, "number", "%zu", lab->deferred);
        page_cell_begin(stream, NULL);
        spread_write(stream, lab, -1);
        fputs("</td>", stream);
        fputs("</tr>\n", stream);
    }
    fputs("</table>\n", stream);
    page_element(stream, "p", "note",
                 "Mean and median are over all students: a lab that is missing, refused or not "
                 "submitted counts as 0.  Refused: an archive or a link that cannot be read.");
}

/* ---- entries that were not graded ------------------------------------------------------------ */

typedef struct EntryRows {
    FILE *stream;
    const ClassResults *results;
    size_t count;
} EntryRows;

static int write_entry(const GradebookEntry *entry, void *context, Error *error)
{
    static const char *const NAME[] = {"entry", "student", "lab", "reason", NULL};
    EntryRows *rows = context;
    int is_hidden = rows->results->is_anonymous;
    (void)error;
    if (!rows->count++) {
        page_element(rows->stream, "h2", NULL, "Entries that were not graded");
        page_table(rows->stream, NAME);
    }
    page_row(rows->stream);
    page_cell(rows->stream, NULL, is_hidden ? "-" : entry->path);
    page_cell(rows->stream, NULL, is_hidden ? "-" : *entry->student ? entry->student : "unknown");
    page_cell(rows->stream, "lab", *entry->lab ? entry->lab : "all");
    page_cell(rows->stream, entry->is_refused ? "failed" : NULL, entry->reason);
    fputs("</tr>\n", rows->stream);
    return 0;
}

static int write_entries(FILE *stream, const ClassResults *results, Error *error)
{
    EntryRows rows = {stream, results, 0};
    int status = gradebook_entries(results->book, write_entry, &rows, error);
    if (rows.count) fputs("</table>\n", stream);
    return status;
}

/* ---- cases and diagnoses -------------------------------------------------------------------- */

static void write_share(FILE *stream, size_t part, size_t whole)
{
    char text[64];
    text_set(text, sizeof text, "%zu of %zu", part, whole);
    page_cell_begin(stream, "share");
    page_bar(stream, (double)part / (double)whole, text);
    fputs("</td>", stream);
}

static void write_cases(FILE *stream, const Tally *tally)
{
    static const char *const NAME[] = {"case", "were correct", "#times as long as the solution",
                                       NULL};
    page_element(stream, "h2", NULL, "Cases, most failures first, then slowest");
    for (size_t i = 0; i < tally->cases; i++) {
        const TallyCase *item = &tally->item[i];
        int first = !i || strcmp(item->lab, item[-1].lab) != 0;
        if (first) page_element(stream, "h3", NULL, item->lab);
        if (first) page_table(stream, NAME);
        page_row(stream);
        cell(stream, "lab", "%s", item->name);
        write_share(stream, item->right, item->students);
        if (item->timed) {
            cell(stream, "number", "%.2f (median of %zu)", item->median, item->timed);
        } else {
            cell(stream, "number", "-");
        }
        fputs("</tr>\n", stream);
        if (i + 1 == tally->cases || strcmp(item->lab, item[1].lab) != 0)
            fputs("</table>\n", stream);
    }
}

static void write_faults(FILE *stream, const Tally *tally, int students)
{
    static const char *const NAME[] = {"lab", "diagnosis", "students", "one student's message",
                                       NULL};
    page_element(stream, "h2", NULL, "Most frequent errors");
    if (!tally->faults) page_element(stream, "p", NULL, "Nothing.");
    if (!tally->faults) return;
    page_table(stream, NAME);
    for (size_t i = 0; i < tally->faults; i++) {
        const TallyFault *fault = &tally->fault[i];
        page_row(stream);
        cell(stream, "lab", "%s", fault->lab);
        cell(stream, "lab", "%s", fault->name);
        write_share(stream, fault->students, (size_t)students);
        cell(stream, NULL, "%s", fault->example);
        fputs("</tr>\n", stream);
    }
    fputs("</table>\n", stream);
}

/* ---- since the last run --------------------------------------------------------------------- */

/* "+5", "-3.5", "new", or "" without a change or an earlier result. */
static const char *change_text(const ClassResults *results, const char *student, const char *lab,
                               double now, char text[40])
{
    double before = marks_find(&results->before, student, lab);
    char points[32];
    text[0] = 0;
    if (!results->compared || isnan(now)) return text;
    if (isnan(before)) return "new";
    const char *size = score_text(fabs(now - before), points);
    if (strcmp(size, "0") != 0) text_set(text, 40, "%c%s", now > before ? '+' : '-', size);
    return text;
}

static void write_changes(FILE *stream, const ClassResults *results)
{
    static const char *const NAME[] = {"student", "lab", "#points now", "#change", NULL};
    const Marks *marks = &results->marks;
    int changes = 0;
    page_element(stream, "h2", NULL, "Since the last run");
    for (int i = 0; i < marks->students; i++)
        for (int j = 0; j < marks->labs; j++) {
            const MarksStudent *student = &marks->student[i];
            char text[40], points[32], name[200];
            const char *change =
                change_text(results, student->name, marks->lab[j], student->mark[j], text);
            if (!*change) continue;
            if (!changes++) page_table(stream, NAME);
            page_row(stream);
            page_cell(stream, NULL, shown_name(results, student->name, name));
            cell(stream, "lab", "%s", marks->lab[j]);
            cell(stream, "number", "%s", score_text(student->mark[j], points));
            cell(stream, *change == '-' ? "number failed" : "number", "%s", change);
            fputs("</tr>\n", stream);
        }
    if (changes) fputs("</table>\n", stream);
    if (!changes)
        page_element(stream, "p", NULL,
                     results->compared ? "No mark has changed." : "This is the first run.");
}

/* ---- the students --------------------------------------------------------------------------- */

/* A student's rows, written while the gradebook is read, and shown in another order. */
typedef struct StudentPart {
    const MarksStudent *marks;
    char *rows;
    double points, full; /* full: of the labs that were submitted by the class, except deferred
                          * ones */
} StudentPart;

typedef struct Students {
    const ClassResults *results;
    StudentPart *part;
    int at; /* index of the current student; -1 before the first */
    FILE *rows;
    size_t bytes;
} Students;

static int same_fault(const RecordCase *a, const RecordCase *b)
{
    return a->verdict != CASE_CORRECT && b->verdict != CASE_CORRECT &&
           !strcmp(case_fault(a), case_fault(b));
}

/* "lenet-c1, uneven: tile-edge: why" for each fault, with the text of its first case. */
static void write_reasons(FILE *stream, const Record *record)
{
    if (*record->message) page_element(stream, "p", NULL, record->message);
    for (int i = 0; i < record->cases && record->status == RECORD_GRADED; i++) {
        const RecordCase *item = &record->item[i];
        char text[1600];
        int said = item->verdict == CASE_CORRECT;
        for (int j = 0; j < i; j++)
            said |= same_fault(&record->item[j], item);
        if (said) continue;
        text_set(text, sizeof text, "%s", item->name);
        for (int j = i + 1; j < record->cases; j++)
            if (same_fault(&record->item[j], item))
                text_add(text, sizeof text, ", %s", record->item[j].name);
        text_add(text, sizeof text, ": %s: %.600s", case_fault(item), case_reason(item));
        page_element(stream, "p", NULL, text);
    }
}

/* "80, late: 72 count" and similar, with the attempts. */
static void write_points(FILE *stream, const GradebookResult *result, const Record *record)
{
    char part[3][32], text[200];
    text_set(text, sizeof text, "%s/%s", score_text(record->points, part[0]),
             score_text(record->possible, part[1]));
    if (result->counted < result->points)
        text_add(text, sizeof text, ", %s count", score_text(result->counted, part[2]));
    page_cell(stream, "number", text);
}

static void write_record(FILE *stream, const ClassResults *results, const GradebookResult *result,
                         const Record *record, const char *change)
{
    int right = 0;
    double speed[2] = {0}, predicted[2] = {0};
    char part[4][32];
    for (int i = 0; i < record->cases; i++) {
        const RecordSpeed *timed = &record->item[i].speed;
        right += record->item[i].verdict == CASE_CORRECT;
        speed[0] += speed_counts(timed->verdict) ? timed->points : 0;
        speed[1] += speed_counts(timed->verdict) ? timed->possible : 0;
    }
    for (int i = 0; i < record->predictions; i++) {
        predicted[0] += record->prediction[i].points;
        predicted[1] += record->prediction[i].possible;
    }
    page_row(stream);
    cell(stream, "lab", "%s", result->lab);
    write_points(stream, result, record);
    cell(stream, "number", "%s", change);
    cell(stream, "number", "%d of %d", right, record->cases);
    cell(stream, "number", "%s/%s", score_text(speed[0], part[0]), score_text(speed[1], part[1]));
    cell(stream, "number", "%s/%s", score_text(predicted[0], part[2]),
         score_text(predicted[1], part[3]));
    char late[40], submission[900];
    text_set(submission, sizeof submission, "%s", results->is_anonymous ? "" : result->submission);
    if (result->late)
        text_add(submission, sizeof submission, "%s%s late", *submission ? ", " : "",
                 late_text(result->late, late));
    if (result->attempts > 1)
        text_add(submission, sizeof submission, "%sthe one of %d that counts",
                 *submission ? ", " : "", result->attempts);
    page_cell(stream, NULL, submission);
    page_cell_begin(stream, NULL);
    write_reasons(stream, record);
    fputs("</td></tr>\n", stream);
}

static int end_student(Students *students, Error *error)
{
    if (!students->rows) return 0;
    int status = fclose(students->rows);
    students->rows = NULL;
    return status ? error_set(error, "out of memory") : 0;
}

static int begin_student(Students *students, const char *holder, Error *error)
{
    const Marks *marks = &students->results->marks;
    const MarksStudent *student = marks_student(marks, holder);
    if (end_student(students, error)) return -1;
    if (!student) return error_set(error, "the gradebook has no person '%.100s'", holder);
    students->at = (int)(student - marks->student);
    students->rows = open_memstream(&students->part[students->at].rows, &students->bytes);
    return students->rows ? 0 : error_set(error, "out of memory");
}

static int take_result(const GradebookResult *result, void *context, Error *error)
{
    Students *students = context;
    const ClassResults *results = students->results;
    char change[40];
    Error inner;
    if (marks_lab(&results->marks, result->lab) == results->marks.labs) return 0; /* not LAB= */
    int same =
        students->at >= 0 && !strcmp(students->part[students->at].marks->name, result->holder);
    if (!same && begin_student(students, result->holder, error)) return -1;
    Record *record = malloc(sizeof *record);
    if (!record) return error_set(error, "out of memory");
    int status = record_parse(result->record, record, &inner);
    if (status)
        error_set(error, "the record of %.100s in %s: %.300s", result->student, result->lab,
                  inner.text);
    double now = marks_find(&results->marks, result->holder, result->lab);
    if (isnan(now)) students->part[students->at].full -= marks_full(&results->marks, result->lab);
    if (!status)
        write_record(students->rows, results, result, record,
                     change_text(results, result->holder, result->lab, now, change));
    record_clear(record);
    free(record);
    return status;
}

static int by_need(const void *left, const void *right)
{
    const StudentPart *a = left, *b = right;
    double more = a->points * b->full - b->points * a->full;
    if (more < 0 || more > 0) return more > 0 ? 1 : -1;
    return strcmp(a->marks->name, b->marks->name);
}

/* Shown without unfolding: late and repeated submissions, missing and absent labs. */
static void write_badges(FILE *stream, const Marks *marks, const MarksStudent *student)
{
    char text[900] = "", late[40];
    if (marks->has_roster && !student->is_on_roster)
        text_add(text, sizeof text, "not on the roster");
    for (int i = 0; i < marks->labs; i++) {
        const MarksResult *result = &student->result[i];
        const char *comma = *text ? "; " : "";
        if (!*result->status)
            text_add(text, sizeof text, "%s%.2s: no submission", comma, marks->lab[i]);
        else if (!strcmp(result->status, record_status_name(RECORD_MISSING)))
            text_add(text, sizeof text, "%s%.2s: missing", comma, marks->lab[i]);
        if (result->late)
            text_add(text, sizeof text, "%s%.2s: %s late", *text ? "; " : "", marks->lab[i],
                     late_text(result->late, late));
        if (result->attempts > 1)
            text_add(text, sizeof text, "%s%.2s: %d submissions", *text ? "; " : "", marks->lab[i],
                     result->attempts);
    }
    fputc(' ', stream);
    if (*text) page_element(stream, "span", "note", text);
}

/* Whether LAB= leaves the answer's lab, or the column of its questions. */
static int is_selected(const Marks *marks, const MarksAnswer *answer)
{
    char column[80];
    marks_questions_column(answer->lab, column);
    return marks_lab(marks, answer->lab) < marks->labs || marks_lab(marks, column) < marks->labs;
}

/* The marks of open questions, one line for each. */
static void write_answers(FILE *stream, const Marks *marks, const MarksStudent *student)
{
    char text[700], part[2][32];
    for (int i = 0; i < student->answers; i++) {
        const MarksAnswer *answer = &student->answer[i];
        if (!is_selected(marks, answer)) continue;
        text_set(text, sizeof text, "%s: %s of %s%s%.300s", answer->question,
                 score_text(answer->points, part[0]), score_text(answer->possible, part[1]),
                 *answer->comment ? "; " : "", answer->comment);
        page_element(stream, "p", NULL, text);
    }
}

static void write_student(FILE *stream, const ClassResults *results, const StudentPart *part)
{
    static const char *const NAME[] = {"lab",          "#points",    "#change", "#cases", "#speed",
                                       "#predictions", "submission", "why",     NULL};
    char text[80], points[32], full[32], name[200];
    text_set(text, sizeof text, "%s/%s", score_text(part->points, points),
             score_text(part->full, full));
    fputs("<details><summary><span class=\"share\">", stream);
    page_bar(stream, part->full > 0 ? part->points / part->full : 0, text);
    fputs("</span> ", stream);
    page_element(stream, "strong", NULL, shown_name(results, part->marks->name, name));
    write_badges(stream, &results->marks, part->marks);
    fputs("</summary>\n", stream);
    if (part->rows) page_table(stream, NAME);
    fputs(part->rows ? part->rows : "", stream);
    if (part->rows) fputs("</table>\n", stream);
    write_answers(stream, &results->marks, part->marks);
    fputs("</details>\n", stream);
}

static int write_students(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    Students students = {.results = results, .at = -1};
    students.part = calloc((size_t)marks->students + 1, sizeof *students.part);
    if (!students.part) return error_set(error, "out of memory");
    for (int i = 0; i < marks->students; i++)
        students.part[i].marks = &marks->student[i];
    int status = gradebook_best(results->book, take_result, &students, error);
    if (end_student(&students, status ? NULL : error)) status = -1;
    for (int i = 0; !status && i < marks->students; i++)
        for (int j = 0; j < marks->labs; j++) {
            double mark = marks->student[i].mark[j];
            students.part[i].points += isnan(mark) ? 0 : mark;
            int is_open = isnan(mark) && marks_is_questions(marks, j); /* not marked yet */
            students.part[i].full += is_open ? 0 : marks->full[j];
        }
    if (!status) qsort(students.part, (size_t)marks->students, sizeof *students.part, by_need);
    page_element(stream, "h2", NULL, "Students, lowest mark first");
    for (int i = 0; i < marks->students; i++) {
        if (!status) write_student(stream, results, &students.part[i]);
        free(students.part[i].rows);
    }
    free(students.part);
    return status;
}

/* ---- progress by week ----------------------------------------------------------------------- */

enum { WEEKS = 8 }; /* the last ones */

/* The rows of one lab: the last row of each week. */
static void write_weeks(FILE *stream, const Progress *progress, const char *lab, int weeks,
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

/* A row for each lab and a column for each of the last weeks that have runs.  A cell has the mean
 * and the number of students with all points after the week's last run.  Nothing if there are fewer
 * than two weeks. */
static void write_progress(FILE *stream, const Progress *progress, const Catalog *catalog)
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
                write_weeks(stream, progress, catalog->lab[i].name, weeks, monday);
    fputs("</table>\n", stream);
}

int class_page_write(FILE *stream, const ClassResults *results, Error *error)
{
    char title[100];
    Tally tally;
    int status = tally_make(results->book, &tally, error);
    if (!status) {
        text_set(title, sizeof title, "A class of %d, %zu results", results->marks.students,
                 tally.records);
        page_begin(stream, title);
        write_labs(stream, &results->summary);
        write_progress(stream, &results->progress, &results->catalog);
        status = write_entries(stream, results, error);
        write_cases(stream, &tally);
        write_faults(stream, &tally, results->marks.students);
        write_changes(stream, results);
        if (!status) status = write_students(stream, results, error);
        page_end(stream);
    }
    tally_clear(&tally);
    return status;
}
