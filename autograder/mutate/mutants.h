/* mutants.h - every small change of a solution's TODO regions: what the cases of a lab must find.
 *
 * Module: the list of a source's first-order mutants, made token by token.
 * Callers: lab.
 * May use: lab, text, base.
 *
 * A mutant replaces one stretch of the source.  It may be no program: the compiler says so
 * (mutate.sh).  Kinds:
 *
 *     operator    another one of its kind (+ for -, <= for <, = for +=); none for ! ~ and unary -
 *     constant    one more, one less, 0
 *     name        its partner of the same kind: r and s, P and Q, C and K, h and w ...
 *     index       of an array, one more, one less
 *     loop        begins one later or earlier, ends one earlier, steps one further
 *     condition   of if, while and ?: always or never; a part of && or || left out
 *     statement   left out, a barrier for example, or a loop
 */
#ifndef CONVLAB_AUTOGRADER_MUTATE_MUTANTS_H
#define CONVLAB_AUTOGRADER_MUTATE_MUTANTS_H

#include <stddef.h>
#include <stdint.h>

#include "autograder/lab/todo.h"
#include "common/base/error.h"

typedef struct Mutant {
    size_t begin, end; /* these bytes of the source ... */
    char *text;        /* ... become this */
    const char *kind;
    int region, line;     /* TODO(region); line of `begin`, from 1 */
    char *before, *after; /* the lines that it changes, blanks and line ends made one blank */
    int which;       /* of the stretches of its region that read like `before`: the first is 1 */
    uint64_t digest; /* of the four above: its name from one version of the source to the next */
} Mutant;

typedef struct MutantList {
    Mutant *mutant; /* in the order of the source, no two alike */
    size_t mutants;
} MutantList;

/* `todo` is todo_scan's of `source`.  -1 with error: out of memory. */
int mutants_find(const char *source, const TodoList *todo, MutantList *list, Error *error);
void mutants_free(MutantList *list);

/* Keeps `count` of them, which ones is the seed's choice.  A change of the source changes the
 * choice little: mutants are chosen by their digests. */
void mutants_sample(MutantList *list, size_t count, uint64_t seed);

/* The source with the mutant planted, malloc'd; NULL: out of memory. */
char *mutant_plant(const char *source, const Mutant *mutant);

#endif
