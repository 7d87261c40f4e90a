/* mutants_parts.h - rules that create mutants.  Internal to the module. */
#ifndef CONVLAB_AUTOGRADER_MUTATE_MUTANTS_PARTS_H
#define CONVLAB_AUTOGRADER_MUTATE_MUTANTS_PARTS_H

#include "autograder/mutate/mutants.h"
#include "autograder/mutate/tokens.h"

/* State of the current region. */
typedef struct Rewriter {
    const Tokens *tokens;
    size_t first, end; /* tokens of the region */
    int region;
    MutantList *list;
    int failed; /* out of memory */
} Rewriter;

/* Replaces tokens a to b - 1 by printf's text, in which %s is the original text. */
void rewrite(Rewriter *rewriter, const char *kind, size_t a, size_t b, const char *pattern);

/* Mutates single tokens and indices. */
void expressions_mutate(Rewriter *rewriter);
/* Mutates statements, loops and conditions. */
void statements_mutate(Rewriter *rewriter);

#endif
