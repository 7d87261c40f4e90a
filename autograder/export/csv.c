/* csv.c - a class in the import formats of learning management systems: one row per person, one
 * column per lab.  docs/instructor/export.md names the page that documents each format.
 *
 * Canvas: its importer is the documentation, lib/gradebook_importer.rb in
 * https://github.com/instructure/canvas-lms: Student, ID, SIS User ID, SIS Login ID and Section
 * come first, and a row has the points possible.  A student is found by ID, then by SIS User ID,
 * then by login, then by name.
 *
 * Moodle: https://docs.moodle.org/en/Grade_import: any headings; the instructor maps one column to
 * a field of the user and each lab to its grade item.  The grading worksheet of one assignment has
 * fixed headings: https://docs.moodle.org/en/Assignment_settings ("Offline grading worksheet") and
 * mod/assign/feedback/offline/importgradeslib.php.
 *
 * Blackboard: a row is found by Username, a column by its ID in the heading.  Brightspace: Username
 * or OrgDefinedId, "<item> Points Grade", and a last column "End-of-Line Indicator".  Open edX:
 * bulk_grades/api.py in https://github.com/openedx/edx-bulk-grades.
 *
 * A student without a mark has an empty cell, which all ignore. */
#include <math.h>
#include <string.h>

#include "autograder/export/checks.h"
#include "autograder/export/format.h"
#include "autograder/export/plain.h"
#include "autograder/text/text.h"

/* ---- cells ---------------------------------------------------------------------------------- */

static void number_put(FILE *stream, double number)
{
    char text[32];
    if (!isnan(number)) fputs(points_exact(number, text), stream);
}

/* Cells of text, each followed by a comma. */
static void cells(FILE *stream, int count, const char *const *text)
{
    for (int i = 0; i < count; i++) {
        plain_csv(stream, text[i]);
        fputc(',', stream);
    }
}

static const char *field(const MarksStudent *student, PersonField number)
{
    return student->field[number];
}

/* ---- grade items ---------------------------------------------------------------------------- */

/* Whether `key`, "04" or "04-tiled", names the lab; "04 questions" names the column of its open
 * questions. */
static int names_lab(const char *key, size_t length, const char *column)
{
    const char *kind = column + marks_lab_length(column);
    size_t tail = strlen(kind);
    if (length < tail || memchr(key, ' ', length - tail) != NULL ||
        strncmp(key + length - tail, kind, tail) != 0)
        return 0;
    const char *end = column + (length - tail);
    return !strncmp(key, column, length - tail) && (end == kind || *end == '-');
}

/* The platform's name of a lab: from ITEMS="04=Lab 4 (1234); ...", else the lab's own. */
static const char *item_name(const ClassResults *results, int lab, char text[300])
{
    const char *own = results->marks.lab[lab];
    for (const char *at = results->items ? results->items : ""; *at;) {
        at += strspn(at, "; ");
        size_t length = strcspn(at, ";"), key = strcspn(at, "=;");
        if (key < length && names_lab(at, key, own)) {
            size_t end = length;
            while (end > key + 1 && at[end - 1] == ' ')
                end--;
            text_set(text, 300, "%.*s", (int)(end - key - 1), at + key + 1);
            return text;
        }
        at += length;
    }
    return own;
}

static void item_headings(FILE *stream, const ClassResults *results, const char *before,
                          const char *after)
{
    char name[300], text[400];
    for (int i = 0; i < results->marks.labs; i++) {
        text_set(text, sizeof text, "%s%s%s", before, item_name(results, i, name), after);
        if (i) fputc(',', stream);
        plain_csv(stream, text);
    }
}

static void mark_cells(FILE *stream, const ClassResults *results, const MarksStudent *student)
{
    for (int i = 0; i < results->marks.labs; i++) {
        if (i) fputc(',', stream);
        number_put(stream, student->mark[i]);
    }
}

/* ---- platforms ------------------------------------------------------------------------------ */

/* A plain name is the login, where no roster says otherwise. */
static const char *login_of(const MarksStudent *student)
{
    int is_plain = !student->is_on_roster && !*field(student, PERSON_ID) &&
                   !*field(student, PERSON_PARTICIPANT);
    return is_plain ? student->name : field(student, PERSON_LOGIN);
}

/* Notes a person whom the platform could not find. */
static void leave_out(const ClassResults *results, const MarksStudent *student, const char *lacks)
{
    if (results->left_out) left_out_add(results->left_out, marks_name(student), lacks);
}

int canvas_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("Student,ID,SIS User ID,SIS Login ID,Section,", stream);
    item_headings(stream, results, "", "");
    fputs("\r\nPoints Possible,,,,,", stream);
    for (int i = 0; i < marks->labs; i++) {
        if (i) fputc(',', stream);
        number_put(stream, marks->full[i]);
    }
    fputs("\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        const char *text[] = {marks_name(student), field(student, PERSON_ID),
                              field(student, PERSON_NUMBER), login_of(student),
                              field(student, PERSON_SECTION)};
        cells(stream, 5, text);
        mark_cells(stream, results, student);
        fputs("\r\n", stream);
    }
    return 0;
}

int moodle_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("Username,Email address,ID number,Full name,", stream);
    item_headings(stream, results, "", "");
    fputs("\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        const char *text[] = {login_of(student), field(student, PERSON_EMAIL),
                              field(student, PERSON_NUMBER), marks_name(student)};
        if (!*text[0] && !*text[1] && !*text[2]) {
            leave_out(results, student, "login, e-mail address or ID number");
            continue;
        }
        cells(stream, 4, text);
        mark_cells(stream, results, student);
        fputs("\r\n", stream);
    }
    return 0;
}

/* "80 of 100 points; 1 day late, 72 count": one line for the student. */
static void comment_text(const ClassResults *results, const MarksStudent *student, int lab,
                         char text[300])
{
    char part[3][32];
    const MarksResult *result = &student->result[lab];
    text[0] = '\0';
    if (isnan(student->mark[lab])) return;
    text_set(text, 300, "%s of %s points", points_exact(result->earned, part[0]),
             points_exact(results->marks.full[lab], part[1]));
    if (result->late) {
        char late[40];
        text_add(text, 300, "; %s late, %s count", late_text(result->late, late),
                 points_exact(student->mark[lab], part[2]));
    }
}

int moodle_worksheet_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    if (marks->labs != 1)
        return error_set(error, "a worksheet is of one assignment: name the lab, LAB=04");
    fputs("Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
          "Last modified (submission),Last modified (grade),Feedback comments\r\n",
          stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        char number[32], identifier[60], comment[300];
        marks_participant(student, 0, number);
        if (!*number) {
            leave_out(results, student, "participant number");
            continue;
        }
        text_set(identifier, sizeof identifier, "Participant %s", number);
        const char *text[] = {identifier, marks_name(student), field(student, PERSON_EMAIL), ""};
        cells(stream, 4, text);
        number_put(stream, student->mark[0]);
        fputc(',', stream);
        number_put(stream, marks->full[0]);
        fputs(",Yes,-,-,", stream);
        comment_text(results, student, 0, comment);
        plain_csv(stream, comment);
        fputs("\r\n", stream);
    }
    return 0;
}

/* The part of a name before or after its last blank, or its comma. */
static void name_split(const char *name, char first[200], char last[200])
{
    const char *comma = strchr(name, ','), *blank = strrchr(name, ' ');
    if (comma) {
        text_set(last, 200, "%.*s", (int)(comma - name), name);
        text_set(first, 200, "%s", comma + 1 + strspn(comma + 1, " "));
    } else {
        text_set(first, 200, "%.*s", blank ? (int)(blank - name) : 0, name);
        text_set(last, 200, "%s", blank ? blank + 1 : name);
    }
}

int blackboard_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("\"Last Name\",\"First Name\",\"Username\",\"Student ID\",", stream);
    item_headings(stream, results, "", "");
    fputs("\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        char first[200], last[200];
        if (!*login_of(student)) {
            leave_out(results, student, "login");
            continue;
        }
        name_split(marks_name(student), first, last);
        const char *text[] = {last, first, login_of(student), field(student, PERSON_NUMBER)};
        cells(stream, 4, text);
        for (int j = 0; j < marks->labs; j++) { /* Blackboard wants quotes around all cells */
            fputs(j ? ",\"" : "\"", stream);
            number_put(stream, student->mark[j]);
            fputc('"', stream);
        }
        fputs("\r\n", stream);
    }
    return 0;
}

int brightspace_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("OrgDefinedId,Username,", stream);
    item_headings(stream, results, "", " Points Grade");
    fputs(",End-of-Line Indicator\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        const char *text[] = {field(student, PERSON_NUMBER), login_of(student)};
        if (!*text[0] && !*text[1]) {
            leave_out(results, student, "login or OrgDefinedId");
            continue;
        }
        cells(stream, 2, text);
        mark_cells(stream, results, student);
        fputs(",#\r\n", stream);
    }
    return 0;
}

int openedx_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    char name[300];
    if (!results->course)
        return error_set(error,
                         "which course?  COURSE=course-v1:Org+Course+Run, as in its address");
    for (int i = 0; i < marks->labs; i++)
        if (item_name(results, i, name) == marks->lab[i])
            return error_set(error,
                             "which subsection is %s?  ITEMS=\"%.2s=1a2b3c4d\": the eight digits "
                             "after name- in the headings of Open edX's own file",
                             marks->lab[i], marks->lab[i]);
    fputs("user_id,username,course_id,track,cohort,", stream);
    item_headings(stream, results, "new_override-", "");
    fputs("\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        if (!*field(student, PERSON_ID)) {
            leave_out(results, student, "user_id");
            continue;
        }
        const char *text[] = {field(student, PERSON_ID), login_of(student), results->course, "",
                              ""};
        cells(stream, 5, text);
        mark_cells(stream, results, student);
        fputs("\r\n", stream);
    }
    return 0;
}

/* ---- everything that is known --------------------------------------------------------------- */

int table_write(FILE *stream, const ClassResults *results, Error *error)
{
    static const char *const PART[] = {"",           " earned", " status",
                                       " submitted", " late h", " submissions"};
    const Marks *marks = &results->marks;
    (void)error;
    fputs("student,on roster", stream);
    for (int i = 0; i < PERSON_SUBMITTED; i++)
        fprintf(stream, ",%s", person_field_name((PersonField)i));
    for (int i = 0; i < marks->labs; i++)
        for (size_t j = 0; j < sizeof PART / sizeof *PART; j++) {
            char text[100];
            text_set(text, sizeof text, "%s%s", marks->lab[i], PART[j]);
            fputc(',', stream);
            plain_csv(stream, text);
        }
    fputs("\r\n", stream);
    for (int i = 0; i < marks->students; i++) {
        const MarksStudent *student = &marks->student[i];
        plain_csv(stream, student->name);
        fputs(student->is_on_roster ? ",yes" : ",no", stream);
        for (int j = 0; j < PERSON_SUBMITTED; j++) {
            fputc(',', stream);
            plain_csv(stream, student->field[j]);
        }
        for (int j = 0; j < marks->labs; j++) {
            const MarksResult *result = &student->result[j];
            fputc(',', stream);
            number_put(stream, student->mark[j]);
            fputc(',', stream);
            number_put(stream, result->earned);
            fprintf(stream, ",%s,%s,", *result->status ? result->status : "no submission",
                    result->submitted_at);
            if (result->late) fprintf(stream, "%.1f", (double)result->late / 3600);
            fprintf(stream, ",%d", result->attempts);
        }
        fputs("\r\n", stream);
    }
    return 0;
}
