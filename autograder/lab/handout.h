/* handout.h - the tables of a lab's README.md that lab.ini decides, as Markdown: the shapes of its
 * cases and the questions of its predictions.  `make numbers` puts them between their markers, so
 * that no handout can say anything else than what is graded. */
#ifndef CONVLAB_AUTOGRADER_LAB_HANDOUT_H
#define CONVLAB_AUTOGRADER_LAB_HANDOUT_H

#include <stdio.h>

#include "autograder/lab/catalog.h"

/* One row a case: the keys of its shape (the size on a GPU in brackets where it differs), the axes
 * of its output, whether it is timed, what it is.  Below: the hidden cases, what earns points. */
void handout_print_shapes(FILE *stream, const LabIni *ini);
/* One row a lab: its handout, which labs come before, how long it takes, its title; for a page in
 * docs/. */
void handout_print_plan(FILE *stream, const Catalog *catalog);
/* One row a prediction: name, question, points. */
void handout_print_questions(FILE *stream, const LabIni *ini);

#endif
