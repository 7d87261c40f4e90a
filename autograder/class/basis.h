/* basis.h - digests of the lab and the grader, on which a mark depends in addition to the
 * submission. */
#ifndef CONVLAB_AUTOGRADER_CLASS_BASIS_H
#define CONVLAB_AUTOGRADER_CLASS_BASIS_H

#include "autograder/lab/catalog.h"

enum { BASIS_BYTES = 40 };

/* "<lab>:<grader>", 16 hexadecimal digits each.  The lab: lab.ini, the solution with its
 * predictions, and the baseline.  The grader: `grade`, the device process, and the libraries
 * with which submissions are linked.  Paths and file times do not matter. */
void basis_of(const char *root, const char *build, const char *grade, const Lab *lab,
              char basis[BASIS_BYTES]);

/* "the lab", "the grader" or "the lab and the grader"; NULL: both are equal. */
const char *basis_difference(const char *old, const char *now);

#endif
