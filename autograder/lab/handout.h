/* handout.h - tables of a lab's README.md generated from lab.ini, as Markdown: the shapes of its
 * cases and the questions of its predictions.  `make numbers` puts them between their markers, so
 * that a handout always agrees with the grader. */
#ifndef CONVLAB_AUTOGRADER_LAB_HANDOUT_H
#define CONVLAB_AUTOGRADER_LAB_HANDOUT_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* One row per case: the keys of its shape (in parentheses the size on a GPU, if different), the
 * axes of its output, whether it is timed, its description.  Below: the hidden cases and the
 * points. */
void handout_print_shapes(FILE *stream, const LabIni *ini);
/* One row per lab: handout, prerequisites, time, title; for a page in docs/. */
void handout_print_plan(FILE *stream, const Catalog *catalog);
/* One row per prediction: name, question, points. */
void handout_print_questions(FILE *stream, const LabIni *ini);

#endif
