#include "autograder/lms/rubric.h"

#include <string.h>

#include "autograder/text/text.h"
#include "common/base/intake.h"

static int question_read(Rubric *rubric, const IniSection *section, Error *error)
{
    const IniFile *file = &rubric->file;
    const IniEntry *text = ini_entry_find(section, "question"),
                   *points = ini_entry_find(section, "points");
    if (rubric->questions == RUBRIC_QUESTIONS)
        return ini_error(error, file, section->line, "more than %d questions", RUBRIC_QUESTIONS);
    RubricQuestion *question = &rubric->question[rubric->questions];
    *question = (RubricQuestion){.name = section->name, .line = section->line};
    size_t word = strcspn(section->name, " ");
    if (!section->name[word] || word >= sizeof question->lab)
        return ini_error(error, file, section->line,
                         "[%s] names no lab: write the lab's number first, for example [04 halo]",
                         section->name);
    text_set(question->lab, sizeof question->lab, "%.*s", (int)word, section->name);
    for (size_t i = 0; i < section->entries; i++)
        if (&section->entry[i] != text && &section->entry[i] != points)
            return ini_error(error, file, section->entry[i].line,
                             "unknown key '%s': a question has the keys question and points",
                             section->entry[i].key);
    if (!text || !*text->value || !points)
        return ini_error(error, file, section->line, "[%s] has no %s", section->name,
                         points ? "question" : "points");
    if (ini_number(points->value, &question->points) || question->points <= 0)
        return ini_error(error, file, points->line, "points = %s: a number above 0", points->value);
    question->text = text->value;
    rubric->questions++;
    return 0;
}

/* The column with the heading; -1: none. */
static int column_find(const LmsRoster *roster, const char *heading)
{
    for (int i = 0; i < roster->table.row[0].cells; i++)
        if (lms_heading_is(roster->table.row[0].cell[i], heading)) return i;
    return -1;
}

static int columns_find(Rubric *rubric, const LmsRoster *roster, const char *roster_path,
                        Error *error)
{
    char comment[80];
    for (size_t i = 0; i < rubric->questions; i++) {
        RubricQuestion *question = &rubric->question[i];
        text_set(comment, sizeof comment, "%s comment", question->name);
        question->mark = column_find(roster, question->name);
        question->comment = column_find(roster, comment);
        if (question->mark < 0)
            return ini_error(error, &rubric->file, question->line,
                             "%.200s has no column '%s': add one with the marks of this question, "
                             "empty for answers that are not marked yet",
                             roster_path, question->name);
        for (size_t j = 0; j < i; j++)
            if (rubric->question[j].mark == question->mark)
                return ini_error(error, &rubric->file, question->line,
                                 "[%s] has the same column as [%s] on line %d: their names are "
                                 "equal apart from case, blanks and signs",
                                 question->name, rubric->question[j].name,
                                 rubric->question[j].line);
    }
    return 0;
}

int rubric_mark(const LmsRoster *roster, const Person *person, const RubricQuestion *question,
                double *points)
{
    const char *text = lms_roster_cell(roster, person, question->mark);
    return *text && !ini_number(text, points);
}

static int marks_check(const Rubric *rubric, const LmsRoster *roster, const char *roster_path,
                       Error *error)
{
    for (size_t i = 0; i < roster->people; i++)
        for (size_t j = 0; j < rubric->questions; j++) {
            const RubricQuestion *question = &rubric->question[j];
            const Person *person = &roster->person[i];
            const char *text = lms_roster_cell(roster, person, question->mark);
            double points;
            if (!*text || (!ini_number(text, &points) && points >= 0 && points <= question->points))
                continue;
            error_set(error,
                      "%.300s:%d:%d: '%.60s' is no mark of [%s]: write a number from 0 to %g, or "
                      "nothing if the answer is not marked yet",
                      roster_path, person->line, question->mark + 1, text, question->name,
                      question->points);
            intake_clean(error->text);
            return -1;
        }
    return 0;
}

int rubric_read(const char *path, const LmsRoster *roster, const char *roster_path, Rubric *rubric,
                Error *error)
{
    *rubric = (Rubric){.questions = 0};
    if (ini_file_read(path, path, &rubric->file, error)) return -1;
    for (size_t i = 0; i < rubric->file.sections; i++)
        if (question_read(rubric, &rubric->file.section[i], error)) return -1;
    if (!rubric->questions)
        return error_set(error, "%.300s:1: no question: write a section such as [04 halo]", path);
    return columns_find(rubric, roster, roster_path, error) ||
                   marks_check(rubric, roster, roster_path, error)
               ? -1
               : 0;
}

void rubric_clear(Rubric *rubric)
{
    ini_file_clear(&rubric->file);
    *rubric = (Rubric){.questions = 0};
}
