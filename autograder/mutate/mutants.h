/* mutants.h - first-order mutants of a solution's TODO regions, which the cases of a lab must
 * detect.
 *
 * Module: the list of a source's first-order mutants, made token by token.
 * Callers: lab.
 * May use: lab, text, base.
 *
 * A mutant replaces one part of the source.  It may be invalid; then the compiler rejects it
 * (mutate.sh).  Kinds:
 *
 *     operator    another one of its kind (+ for -, <= for <, = for +=); none for ! ~ and unary -
 *     constant    one more, one less, 0
 *     name        its partner of the same kind: r and s, P and Q, C and K, h and w ...
 *     index       an array index is one more, one less
 *     loop        starts one later or earlier, ends one earlier, has a step larger by one
 *     condition   if, while and ?: always or never; a part of && or || left out
 *     statement   left out, a barrier for example, or a loop */
#ifndef CONVLAB_AUTOGRADER_MUTATE_MUTANTS_H
#define CONVLAB_AUTOGRADER_MUTATE_MUTANTS_H

#include <stddef.h>
#include <stdint.h>

#include "autograder/lab/todo.h"
#include "common/base/error.h"

typedef struct Mutant {
    size_t begin, end; /* byte range of the source ... */
    char *text;        /* ... and its replacement */
    const char *kind;
    int region, line;     /* TODO(region); line of `begin`, from 1 */
    char *before, *after; /* the lines that it changes, with blanks and line ends reduced to one
                           * blank */
    int which;            /* index among the lines of its region that equal `before`, from 1 */
    uint64_t digest;      /* digest of the four above: its name across versions of the source */
} Mutant;

typedef struct MutantList {
    Mutant *mutant; /* in source order, without duplicates */
    size_t mutants;
} MutantList;

/* `todo` is todo_scan's of `source`.  -1 with error: out of memory. */
int mutants_find(const char *source, const TodoList *todo, MutantList *list, Error *error);
void mutants_free(MutantList *list);

/* Keeps `count` of them, selected by the seed and their digests, so that a change of the source
 * changes the selection little. */
void mutants_sample(MutantList *list, size_t count, uint64_t seed);

/* The source with the mutant applied, malloc'd; NULL: out of memory. */
char *mutant_plant(const char *source, const Mutant *mutant);

#endif
