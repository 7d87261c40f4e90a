/* csv.c - a class in the import formats of two platforms: one row per student, one column per lab.
 *
 * Canvas: its importer is the documentation, lib/gradebook_importer.rb in
 * https://github.com/instructure/canvas-lms: Student, ID, SIS Login ID and Section come first, and
 * a row has the points possible.  A student is found by the login, which is the name of the
 * submission.
 *
 * Moodle: https://docs.moodle.org/en/Grade_import: any headings; the instructor maps Username to
 * "username" and each lab to its grade item.  Feedback is left out, as importing it overwrites
 * grades.
 *
 * A student without a mark has an empty cell, which both ignore. */
#include <math.h>

#include "autograder/export/checks.h"
#include "autograder/export/format.h"
#include "autograder/export/plain.h"

static void number_cell(FILE *stream, double number)
{
    char text[32];
    fprintf(stream, ",%s", isnan(number) ? "" : points_exact(number, text));
}

static void lab_headings(FILE *stream, const Marks *marks)
{
    for (int i = 0; i < marks->labs; i++) {
        fputc(',', stream);
        plain_csv(stream, marks->lab[i]);
    }
    fputs("\r\n", stream);
}

static void numbers(FILE *stream, const double *number, int count)
{
    for (int i = 0; i < count; i++)
        number_cell(stream, number[i]);
    fputs("\r\n", stream);
}

int canvas_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("Student,ID,SIS Login ID,Section", stream);
    lab_headings(stream, marks);
    fputs("Points Possible,,,", stream);
    numbers(stream, marks->full, marks->labs);
    for (int i = 0; i < marks->students; i++) {
        plain_csv(stream, marks->student[i].name);
        fputs(",,", stream);
        plain_csv(stream, marks->student[i].name);
        fputc(',', stream);
        numbers(stream, marks->student[i].mark, marks->labs);
    }
    return 0;
}

int moodle_write(FILE *stream, const ClassResults *results, Error *error)
{
    const Marks *marks = &results->marks;
    (void)error;
    fputs("Username", stream);
    lab_headings(stream, marks);
    for (int i = 0; i < marks->students; i++) {
        plain_csv(stream, marks->student[i].name);
        numbers(stream, marks->student[i].mark, marks->labs);
    }
    return 0;
}
