/* mutants_parts.h - the rules that make mutants.  Internal to the room. */
#ifndef CONVLAB_AUTOGRADER_MUTATE_MUTANTS_PARTS_H
#define CONVLAB_AUTOGRADER_MUTATE_MUTANTS_PARTS_H

#include "autograder/mutate/mutants.h"
#include "autograder/mutate/tokens.h"

/* A region under way. */
typedef struct Rewriter {
    const Tokens *tokens;
    size_t first, end; /* tokens of the region */
    int region;
    MutantList *list;
    int failed; /* out of memory */
} Rewriter;

/* Tokens a up to, and without, b become printf's text; %s of it stands for what they were. */
void rewrite(Rewriter *rewriter, const char *kind, size_t a, size_t b, const char *pattern);

/* What one token, or an index, may become. */
void expressions_mutate(Rewriter *rewriter);
/* Statements left out, loops and conditions. */
void statements_mutate(Rewriter *rewriter);

#endif
