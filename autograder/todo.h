/* todo.h - the marked regions of a lab's source, and the proof that solving a lab only fills them.
 *
 *   // TODO(1): Load the tile and its halo.        the marker: an imperative sentence
 *   // Mind the edges.                             comment lines right below it belong to the task
 *   ...                                            the body: solved in solutions/, a stub in labs/
 *   // END TODO(1)
 *
 * The skeleton is not written by hand: it is the solution with each body taken out (`return 0;`
 * left where the body ended in a return), so it can be restored at any time, without git, from the
 * solution alone. */
#ifndef CONVLAB_AUTOGRADER_TODO_H
#define CONVLAB_AUTOGRADER_TODO_H

#include <stddef.h>

#include "common/base/error.h"

enum { TODO_REGIONS = 32 };

typedef struct TodoRegion {
    int number, line; /* of TODO(number), and the line it stands on */
    char sentence[200];
    size_t body, body_end; /* byte offsets: after the task's comment lines, and at the END line */
} TodoRegion;

typedef struct TodoList {
    TodoRegion region[TODO_REGIONS];
    int regions;
} TodoList;

/* -1 with "shown:line: ..." for markers that do not pair, nest, or do not count 1, 2, 3. */
int todo_scan(const char *shown, const char *text, TodoList *list, Error *error);

/* No code but what a skeleton may hold: blank lines, comments, `return 0;`, `(void)x;`. */
int todo_is_stub(const char *text, const TodoRegion *region);

/* The first region still a stub, or NULL. */
const TodoRegion *todo_first_open(const char *text, const TodoList *list);

/* The skeleton that `solution` gives, malloc'd; NULL when memory is short. */
char *todo_skeleton(const char *solution, const TodoList *list);

/* Proves that two files are identical outside their regions, with the same markers.  -1 with the
 * line of the first difference in `student`. */
int todo_compare(const char *shown, const char *student, const char *solution, Error *error);

#endif
