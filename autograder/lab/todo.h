/* todo.h - the marked regions of a lab's source, and the proof that solving a lab only fills them.
 *
 *   // TODO(1): Load the tile and its halo.        the marker: an imperative sentence
 *   // Mind the edges.                             comment lines right below it belong to the task
 *   ...                                            the body: solved in solutions/, a stub in labs/
 *   // END TODO(1)
 *
 * Stubs are real code (the skeleton has to compile), so a pristine copy of every skeleton is kept
 * in autograder/tests/skeletons/: `lab reset` restores from it without git, and the tests grade it
 * whatever the student's labs/ hold by now. */
#ifndef CONVLAB_AUTOGRADER_LAB_TODO_H
#define CONVLAB_AUTOGRADER_LAB_TODO_H

#include <stddef.h>

#include "common/base/error.h"

enum { TODO_REGIONS = 32 };

typedef struct TodoRegion {
    int number, line;      /* of TODO(number), and the line it stands on */
    char sentence[320];    /* the task, up to the first line that ends a sentence */
    size_t body, body_end; /* byte offsets: after the task's comment lines, and at the END line */
} TodoRegion;

typedef struct TodoList {
    TodoRegion region[TODO_REGIONS];
    int regions;
} TodoList;

/* -1 with "shown:line: ..." for markers that do not pair, nest, or do not count 1, 2, 3. */
int todo_scan(const char *shown, const char *text, TodoList *list, Error *error);

/* No loop, no launch, no barrier, no branch: nothing that solves anything. */
int todo_is_stub(const char *text, const TodoRegion *region);

/* Of the regions of `text` that still read like `pristine`'s, blanks and comments apart, the one
 * that `hint` names first, else the first; NULL: none. */
const TodoRegion *todo_first_open(const char *text, const TodoList *list, const char *pristine,
                                  const TodoList *pristine_list, const char *hint);

/* Whether any TODO(n) that `hint` names is still to be written, or it names none. */
int todo_hint_applies(const char *text, const TodoList *list, const char *pristine,
                      const TodoList *pristine_list, const char *hint);

/* Proves that two files are identical outside their regions, with the same markers.  -1 with the
 * line of the first difference in `student`. */
int todo_compare(const char *shown, const char *student, const char *solution, Error *error);

#endif
