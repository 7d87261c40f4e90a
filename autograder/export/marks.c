#include "autograder/export/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lms/entry_name.h"
#include "autograder/text/text.h"

static int compare_labs(const void *a, const void *b)
{
    return strcmp(a, b);
}

int marks_lab(const Marks *marks, const char *lab)
{
    int at = 0;
    while (at < marks->labs && strcmp(marks->lab[at], lab) != 0)
        at++;
    return at;
}

void marks_questions_column(const char *lab, char column[80])
{
    text_set(column, 80, "%s questions", lab);
}

size_t marks_lab_length(const char *column)
{
    return strcspn(column, " ");
}

int marks_is_questions(const Marks *marks, int lab)
{
    return marks->lab[lab][marks_lab_length(marks->lab[lab])] != '\0';
}

static int column_add(Marks *marks, const char *name, Error *error)
{
    int at = marks_lab(marks, name);
    if (at == MARKS_LABS) return error_set(error, "more than %d labs", MARKS_LABS);
    if (at == marks->labs) text_set(marks->lab[marks->labs++], sizeof marks->lab[0], "%s", name);
    return 0;
}

static int take_lab(const GradebookResult *result, void *context, Error *error)
{
    return column_add(context, result->lab, error);
}

/* The number of the column of the lab's questions. */
static int column_of(const Marks *marks, const GradebookAnswer *answer)
{
    char name[80];
    marks_questions_column(answer->lab, name);
    return marks_lab(marks, name);
}

static int take_question(const GradebookAnswer *answer, void *context, Error *error)
{
    char name[80];
    marks_questions_column(answer->lab, name);
    return column_add(context, name, error);
}

/* ---- people --------------------------------------------------------------------------------- */

/* Parses the name of a submission, which in an LMS's download identifies its student. */
static void fields_of_entry(const char *submission, EntryName *entry)
{
    char top[ENTRY_TEXT];
    text_set(top, sizeof top, "%.*s", (int)strcspn(submission, "/"), submission);
    entry_name_parse(top, entry);
    entry->file = NULL; /* it is inside `top` */
}

static const char *field_of_entry(const EntryName *entry, int field)
{
    int is_moodle = entry->kind == ENTRY_MOODLE_FILE || entry->kind == ENTRY_MOODLE_TEXT;
    if (!entry_is_lms(entry)) return "";
    if (field == PERSON_NAME) return entry->name;
    if (field == PERSON_ID && !is_moodle) return entry->id;
    if (field == PERSON_PARTICIPANT && is_moodle) return entry->id;
    return "";
}

static int take_person(const GradebookPerson *person, void *context, Error *error)
{
    Marks *marks = context;
    EntryName entry;
    size_t bytes = (size_t)(marks->students + 1) * sizeof *marks->student;
    MarksStudent *grown = realloc(marks->student, bytes);
    if (!grown) return error_set(error, "out of memory");
    marks->student = grown;
    MarksStudent *student = &grown[marks->students++];
    *student = (MarksStudent){.name = strdup(person->holder), .is_on_roster = person->is_on_roster};
    marks->has_roster |= person->is_on_roster;
    fields_of_entry(person->submission, &entry);
    int is_complete = student->name != NULL;
    for (int i = 0; i < PERSON_FIELDS; i++) {
        const char *text = person->field[i];
        student->field[i] = strdup(*text ? text : field_of_entry(&entry, i));
        is_complete = is_complete && student->field[i];
    }
    for (int i = 0; i < MARKS_LABS; i++)
        student->mark[i] = student->result[i].earned = NAN;
    return is_complete ? 0 : error_set(error, "out of memory");
}

static int by_name(const void *key, const void *student)
{
    return strcmp(key, ((const MarksStudent *)student)->name);
}

const MarksStudent *marks_student(const Marks *marks, const char *student)
{
    if (!marks->students) return NULL;
    return bsearch(student, marks->student, (size_t)marks->students, sizeof *marks->student,
                   by_name);
}

const char *marks_name(const MarksStudent *student)
{
    return *student->field[PERSON_NAME] ? student->field[PERSON_NAME] : student->name;
}

void marks_participant(const MarksStudent *student, int lab, char number[32])
{
    EntryName entry = {.kind = ENTRY_PLAIN};
    const char *own = student->field[PERSON_PARTICIPANT], *name = student->field[PERSON_NAME];
    if (student->result[lab].submission) fields_of_entry(student->result[lab].submission, &entry);
    const char *found = field_of_entry(&entry, PERSON_PARTICIPANT);
    int is_own = *found && (!*own || !strcmp(entry.name, name));
    text_set(number, 32, "%s", is_own ? found : own);
}

/* ---- results -------------------------------------------------------------------------------- */

/* Stores the share of the points; marks_read scales it. */
static int take_mark(const GradebookResult *result, void *context, Error *error)
{
    Marks *marks = context;
    MarksStudent *student = (MarksStudent *)marks_student(marks, result->holder);
    int lab = marks_lab(marks, result->lab);
    if (!student) return error_set(error, "the gradebook has no person '%.100s'", result->holder);
    MarksResult *one = &student->result[lab];
    one->late = result->late;
    one->attempts = result->attempts;
    text_set(one->status, sizeof one->status, "%s", result->status);
    text_set(one->submitted_at, sizeof one->submitted_at, "%s", result->submitted_at);
    free(one->submission);
    one->submission = strdup(result->submission);
    if (!one->submission) return error_set(error, "out of memory");
    if (result->possible > marks->full[lab]) marks->full[lab] = result->possible;
    if (result->possible <= 0) return 0;
    student->mark[lab] = result->counted / result->possible;
    one->earned = result->points / result->possible;
    return 0;
}

static int take_points(const GradebookAnswer *answer, void *context, Error *error)
{
    Marks *marks = context;
    (void)error;
    marks->full[column_of(marks, answer)] += answer->possible;
    return 0;
}

/* A student's mark is the sum of the answers that are marked. */
static int take_answer(const GradebookAnswer *answer, void *context, Error *error)
{
    Marks *marks = context;
    MarksStudent *student = (MarksStudent *)marks_student(marks, answer->holder);
    if (!student) return 0; /* the roster has changed since */
    int column = column_of(marks, answer);
    size_t bytes = (size_t)(student->answers + 1) * sizeof *student->answer;
    MarksAnswer *grown = realloc(student->answer, bytes);
    if (!grown) return error_set(error, "out of memory");
    student->answer = grown;
    MarksAnswer *one = &grown[student->answers++];
    *one = (MarksAnswer){.question = strdup(answer->question),
                         .text = strdup(answer->text),
                         .comment = strdup(answer->comment),
                         .points = answer->points,
                         .possible = answer->possible};
    text_set(one->lab, sizeof one->lab, "%s", answer->lab);
    if (!one->question || !one->text || !one->comment) return error_set(error, "out of memory");
    double *mark = &student->mark[column];
    *mark = student->result[column].earned = (isnan(*mark) ? 0 : *mark) + answer->points;
    return 0;
}

/* Adds the columns of open questions. */
static int answers_read(Gradebook *book, Marks *marks, Error *error)
{
    if (gradebook_questions(book, take_points, marks, error) ||
        gradebook_answers(book, take_answer, marks, error))
        return -1;
    for (int i = 0; i < marks->students; i++)
        for (int j = 0; j < marks->labs; j++)
            if (marks_is_questions(marks, j))
                text_set(marks->student[i].result[j].status,
                         sizeof marks->student[i].result[j].status, "%s",
                         isnan(marks->student[i].mark[j]) ? "not marked" : "marked");
    return 0;
}

int marks_read(Gradebook *book, Marks *marks, Error *error)
{
    memset(marks, 0, sizeof *marks);
    int status = gradebook_people(book, take_person, marks, error);
    if (!status) status = gradebook_best_marks(book, take_lab, marks, error);
    if (!status) status = gradebook_questions(book, take_question, marks, error);
    qsort(marks->lab, (size_t)marks->labs, sizeof marks->lab[0], compare_labs);
    if (!status) status = gradebook_best_marks(book, take_mark, marks, error);
    for (int i = 0; i < marks->students; i++)
        for (int j = 0; j < marks->labs; j++) {
            marks->student[i].mark[j] *= marks->full[j];
            marks->student[i].result[j].earned *= marks->full[j];
        }
    return status ? status : answers_read(book, marks, error);
}

void marks_clear(Marks *marks)
{
    for (int i = 0; i < marks->students; i++) {
        MarksStudent *student = &marks->student[i];
        for (int j = 0; j < PERSON_FIELDS; j++)
            free(student->field[j]);
        for (int j = 0; j < MARKS_LABS; j++)
            free(student->result[j].submission);
        for (int j = 0; j < student->answers; j++) {
            free(student->answer[j].question);
            free(student->answer[j].text);
            free(student->answer[j].comment);
        }
        free(student->answer);
        free(student->name);
    }
    free(marks->student);
    memset(marks, 0, sizeof *marks);
}

double marks_find(const Marks *marks, const char *student, const char *lab)
{
    int at = marks_lab(marks, lab);
    const MarksStudent *found = marks_student(marks, student);
    return found && at < marks->labs ? found->mark[at] : NAN;
}

double marks_full(const Marks *marks, const char *lab)
{
    int at = marks_lab(marks, lab);
    return at < marks->labs ? marks->full[at] : 0;
}
