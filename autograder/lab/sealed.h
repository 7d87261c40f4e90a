/* sealed.h - labs/NN/.sealed: data that a student's copy of a lab needs but does not show.
 *
 * One line per part, "name base64", each part in a secretbox of libsodium.  The key is in sealed.c,
 * because the copy grades offline.  So this prevents casual reading, but not somebody who writes a
 * program to open it; docs/instructor/instructor.md describes the consequences. */
#ifndef CONVLAB_AUTOGRADER_LAB_SEALED_H
#define CONVLAB_AUTOGRADER_LAB_SEALED_H

#include <stddef.h>

#include "common/base/error.h"

#define SEALED_FILE ".sealed"
/* The parts: lab.ini with true values, hints and hidden shapes; the two programs as objects. */
#define SEALED_INI       "lab.ini"
#define SEALED_BASELINE  "baseline"
#define SEALED_REFERENCE "reference"

/* Whether `folder` (labs/NN) has a sealed file: a student's copy. */
int sealed_exists(const char *folder);

/* One line of a sealed file (malloc'd), reproducible for equal parts.  NULL: out of memory. */
char *sealed_line(const char *name, const void *data, size_t bytes);

/* The bytes of one part of folder/.sealed with a NUL at the end (malloc'd).  NULL with error: the
 * part does not exist, or the file is damaged. */
char *sealed_part(const char *folder, const char *name, size_t *bytes, Error *error);

/* Whether a sealed program is for this machine's processor.  -1 with error: for another one. */
int sealed_check_machine(const void *object, size_t bytes, Error *error);

#endif
