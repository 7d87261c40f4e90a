/* todo.h - marked regions of a lab's source, and the check that a solution changes only these.
 *
 *   // TODO(1): Load the tile and its halo.        the marker: an imperative sentence
 *   // Mind the edges.                             comment lines right below it belong to the task
 *   ...                                            the body: solved in solutions/, a stub in labs/
 *   // END TODO(1)
 *
 * Stubs are real code, because the skeleton has to compile.  So a pristine copy of every skeleton
 * is in autograder/tests/skeletons/.  `lab reset` restores from it without git, and the tests
 * grade it independently of the student's present labs/. */
#ifndef CONVLAB_AUTOGRADER_LAB_TODO_H
#define CONVLAB_AUTOGRADER_LAB_TODO_H

#include <stddef.h>

#include "common/base/error.h"

enum { TODO_REGIONS = 32 };

typedef struct TodoRegion {
    int number, line;      /* n of TODO(n), and its line */
    char sentence[320];    /* the task, up to the first line that ends a sentence */
    size_t body, body_end; /* byte offsets: after the task's comment lines, and at the END line */
} TodoRegion;

typedef struct TodoList {
    TodoRegion region[TODO_REGIONS];
    int regions;
} TodoList;

/* -1 with "shown:line: ..." for markers that do not pair, are nested, or are not numbered 1, 2,
 * 3. */
int todo_scan(const char *shown, const char *text, TodoList *list, Error *error);

/* Whether the region has no loop, launch, barrier or branch, so that it cannot be a solution. */
int todo_is_stub(const char *text, const TodoRegion *region);

/* Among the regions of `text` that equal `pristine`'s except for blanks and comments, the first
 * that `hint` names, else the first one; NULL: none. */
const TodoRegion *todo_first_open(const char *text, const TodoList *list, const char *pristine,
                                  const TodoList *pristine_list, const char *hint);

/* Returns the number of written regions among TODO(first) to TODO(last): those that differ from
 * `pristine`'s. */
int todo_count_written(const char *text, const TodoList *list, const char *pristine,
                       const TodoList *pristine_list, int first, int last);

/* Whether any TODO(n) that `hint` names is still to be written in `text`, or it names none.  1 also
 * if that is not known, because a text is NULL or its markers do not pair. */
int todo_hint_applies(const char *text, const char *pristine, const char *hint);

/* `text` with the bodies of all regions after TODO(last) as in `pristine`: what a student has who
 * stops there.  malloc'd.  NULL with error: the markers do not pair, the texts have different
 * numbers of regions, or out of memory. */
char *todo_until(const char *text, const char *pristine, int last, Error *error);

/* Proves that two files are identical outside their regions, with the same markers.  -1 with the
 * line of the first difference in `student`. */
int todo_compare(const char *shown, const char *student, const char *solution, Error *error);

#endif
