#include "autograder/export/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

static int compare_labs(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int lab_index(const Marks *marks, const char *lab)
{
    int at = 0;
    while (at < marks->labs && strcmp(marks->lab[at], lab) != 0)
        at++;
    return at;
}

static int take_lab(const GradebookResult *result, void *context, Error *error)
{
    Marks *marks = context;
    int at = lab_index(marks, result->lab);
    if (at == MARKS_LABS) return error_set(error, "more than %d labs", MARKS_LABS);
    if (at == marks->labs)
        text_set(marks->lab[marks->labs++], sizeof marks->lab[0], "%s", result->lab);
    return 0;
}

/* Results are sorted by student, so a new student is appended. */
static MarksStudent *student_of(Marks *marks, const char *name)
{
    if (marks->students && !strcmp(marks->student[marks->students - 1].name, name))
        return &marks->student[marks->students - 1];
    size_t bytes = (size_t)(marks->students + 1) * sizeof *marks->student;
    MarksStudent *grown = realloc(marks->student, bytes);
    if (!grown) return NULL;
    marks->student = grown;
    MarksStudent *student = &grown[marks->students];
    for (int i = 0; i < MARKS_LABS; i++)
        student->mark[i] = NAN;
    student->name = strdup(name);
    if (!student->name) return NULL;
    marks->students++;
    return student;
}

/* Stores the share of the points; marks_read scales it. */
static int take_mark(const GradebookResult *result, void *context, Error *error)
{
    Marks *marks = context;
    MarksStudent *student = student_of(marks, result->student);
    int lab = lab_index(marks, result->lab);
    if (!student) return error_set(error, "out of memory");
    if (result->possible > marks->full[lab]) marks->full[lab] = result->possible;
    if (result->possible > 0) student->mark[lab] = result->points / result->possible;
    return 0;
}

int marks_read(Gradebook *book, Marks *marks, Error *error)
{
    memset(marks, 0, sizeof *marks);
    int status = gradebook_best(book, take_lab, marks, error);
    qsort(marks->lab, (size_t)marks->labs, sizeof marks->lab[0], compare_labs);
    if (!status) status = gradebook_best(book, take_mark, marks, error);
    for (int i = 0; i < marks->students; i++)
        for (int j = 0; j < marks->labs; j++)
            marks->student[i].mark[j] *= marks->full[j];
    return status;
}

void marks_clear(Marks *marks)
{
    for (int i = 0; i < marks->students; i++)
        free(marks->student[i].name);
    free(marks->student);
    memset(marks, 0, sizeof *marks);
}

double marks_find(const Marks *marks, const char *student, const char *lab)
{
    int at = lab_index(marks, lab);
    for (int i = 0; i < marks->students && at < marks->labs; i++)
        if (!strcmp(marks->student[i].name, student)) return marks->student[i].mark[at];
    return NAN;
}

double marks_full(const Marks *marks, const char *lab)
{
    int at = lab_index(marks, lab);
    return at < marks->labs ? marks->full[at] : 0;
}
