/* sealed.h - labs/NN/.sealed: what a student's copy of a lab needs and does not show.
 *
 * A line a part, "name base64", each part in a secretbox of libsodium.  The key stands in
 * sealed.c, as it must: the copy grades without asking anybody.  So this is a lock against reading
 * in passing, not against who writes a program to open it; docs/instructor/instructor.md says what follows. */
#ifndef CONVLAB_AUTOGRADER_LAB_SEALED_H
#define CONVLAB_AUTOGRADER_LAB_SEALED_H

#include <stddef.h>

#include "common/base/error.h"

#define SEALED_FILE ".sealed"
/* The parts: lab.ini with truths, hints and hidden shapes; the two programs as objects. */
#define SEALED_INI       "lab.ini"
#define SEALED_BASELINE  "baseline"
#define SEALED_REFERENCE "reference"

/* Whether `folder` (labs/NN) has a sealed file: a student's copy. */
int sealed_exists(const char *folder);

/* One line of a sealed file, malloc'd: the same for the same part.  NULL: out of memory. */
char *sealed_line(const char *name, const void *data, size_t bytes);

/* The bytes of one part of folder/.sealed with a NUL behind them, malloc'd.  NULL with error: it
 * has no such part, or the file was damaged. */
char *sealed_part(const char *folder, const char *name, size_t *bytes, Error *error);

#endif
