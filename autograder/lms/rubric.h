/* rubric.h - open questions of handouts, which a person marks: their texts and points from an ini
 * file, their marks from columns of the roster.
 *
 * A section of the file is a question: its name starts with the lab's number, and the roster has
 * a column of this name.  A second column, "<name> comment", is optional.
 *
 *     [04 halo]
 *     question = Why does the tile need a halo, and how wide is it?
 *     points   = 5
 */
#ifndef CONVLAB_AUTOGRADER_LMS_RUBRIC_H
#define CONVLAB_AUTOGRADER_LMS_RUBRIC_H

#include "autograder/lms/roster.h"
#include "autograder/text/ini_file.h"

enum { RUBRIC_QUESTIONS = 100 };

typedef struct RubricQuestion {
    const char *name, *text; /* "04 halo"; the question */
    char lab[16];            /* first word of the name: "04" */
    double points;           /* points of a complete answer */
    int line;                /* line of its section in the file */
    int mark, comment;       /* columns of the roster; comment: -1 if there is none */
} RubricQuestion;

typedef struct Rubric {
    IniFile file;
    RubricQuestion question[RUBRIC_QUESTIONS]; /* in the file's order */
    size_t questions;
} Rubric;

/* Reads the questions and finds their columns in `roster`, which was read from roster_path.  -1
 * with error, "FILE:LINE: ..." or "FILE:LINE:COLUMN: ...": a malformed file, a question without a
 * column, a mark that is no number from 0 to the question's points.  Either way rubric_clear frees
 * it. */
int rubric_read(const char *path, const LmsRoster *roster, const char *roster_path, Rubric *rubric,
                Error *error);
void rubric_clear(Rubric *rubric);

/* The points that a person has for a question.  0: the cell is empty, so the answer is not marked
 * yet; 1: marked. */
int rubric_mark(const LmsRoster *roster, const Person *person, const RubricQuestion *question,
                double *points);

#endif
