/* search.h - what a student's copy must not show, and the search for it.
 *
 * Module: `make handout`, the student's copy: what is sealed, what is looked for, the scripts.
 * Callers: handout.
 * May use: lab, build, judging, text.
 *
 * Looked for in every file, blanks, line ends and comments apart: the code of each TODO region of
 * each solution, but for two of less than 20 characters, a barrier and the choice of a number; the
 * formula of each prediction; each hint; each set of keys that hidden shapes share.  A short
 * formula says something only in its lab's own folder (`metric = blocks`), and so does a
 * prediction's value, which has to have five digits or more: another lab's page may show the same
 * number as what that lab counts.  2^n and 3 * 2^n are sizes that sources are full of: they
 * are looked for in the lab's own folder alone. */
#ifndef CONVLAB_AUTOGRADER_HANDOUT_SEARCH_H
#define CONVLAB_AUTOGRADER_HANDOUT_SEARCH_H

#include "autograder/lab/catalog.h"

typedef struct Secret {
    char what[160]; /* "TODO(2) of 02-naive" */
    const Lab *lab;
    char *text;  /* as search_normal makes it; of a number: its digits */
    int number;  /* the value of a prediction */
    int size;    /* and one that memories have: 2^n or 3 * 2^n */
    int region;  /* the code of a TODO region */
    int at_home; /* looked for in labs/<lab>/ only; a number that is no size, outside labs/ too */
} Secret;

typedef struct Secrets {
    Secret *item;
    int items;
} Secrets;

/* All secrets of the full workbook at `root`.  -1 with error: something of it cannot be read. */
int secrets_open(const char *root, const Catalog *catalog, Secrets *secrets, Error *error);
void secrets_close(Secrets *secrets);

/* Calls `say` for each secret that `text`, the file `path` of a copy, shows; returns how many. */
int secrets_search(const Secrets *secrets, const char *path, const char *text,
                   void (*say)(void *context, const char *path, const Secret *secret),
                   void *context);

/* The text without blanks, line ends and the characters that begin lines of comments, lists, tables
 * and quotes, wherever they stand: so code is found behind `//` or `>`, too.  Without `comments`
 * what follows `//` in a line is dropped.  malloc'd. */
char *search_normal(const char *text, int comments);

#endif
