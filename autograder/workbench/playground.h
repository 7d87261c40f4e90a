/* playground.h - the student's own CUDA programs: regular files playground/NAME.cu below the root.
 *
 * The functions that return JSON return a new object that the caller owns; NULL: out of memory. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_PLAYGROUND_H
#define CONVLAB_AUTOGRADER_WORKBENCH_PLAYGROUND_H

#include <jansson.h>

#include "autograder/workbench/workbench.h"

enum { PLAYGROUND_NAME = 64, PLAYGROUND_PROGRAMS = 500 }; /* characters; names that are listed */

/* Whether `name` is letters, digits, '-' and '_', then ".cu": such a name cannot leave the
 * folder. */
int playground_is_name(const char *name);

/* Path of the folder, and of a program in it. */
void playground_folder(const Workbench *bench, char *path, size_t bytes);
void playground_path(const Workbench *bench, const char *name, char *path, size_t bytes);

/* The names of the programs, sorted. */
json_t *playground_json(const Workbench *bench);

/* Writes a first text into a new program, and creates the folder.  -1 with an error: the name is
 * not possible, or there is such a file. */
int playground_create(const Workbench *bench, const char *name, Error *error);

#endif
