/* lab_json.h - labs as JSON for the page.
 *
 * Each function returns a new object that the caller owns (json_decref); NULL: out of memory. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_LAB_JSON_H
#define CONVLAB_AUTOGRADER_WORKBENCH_LAB_JSON_H

#include <jansson.h>

#include "autograder/workbench/workbench.h"

/* {"labs": [{name, title, part, takes, points, state}], "machines": [...], "programs": [...]}; each
 * machine with its title and a few numbers of its file. */
json_t *labs_json(const Workbench *bench);

/* One lab: its cases, predictions, regions, the two files with their digests, and the handout as
 * HTML.  A file that cannot be read has "error" instead of "text". */
json_t *lab_json(const Workbench *bench, const Lab *lab);

/* The digests of the lab's two files, and its best points: what the page asks for every second. */
json_t *lab_state_json(const Workbench *bench, const Lab *lab);

/* A program of the playground: its source; and its digest alone. */
json_t *program_json(const Workbench *bench, const char *name);
json_t *program_state_json(const Workbench *bench, const char *name);

/* The folder of the labs, and the path below it of one of a lab's two files, "source" or "predict".
 * -1: another name. */
int lab_file_name(const Workbench *bench, const Lab *lab, const char *which, char *folder,
                  char *name, size_t bytes);

#endif
