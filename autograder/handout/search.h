/* search.h - secrets of the labs, and the search for them in a student's copy.
 *
 * Module: `make handout`, the student's copy: sealing, search, scripts.
 * Callers: handout.
 * May use: lab, build, judging, text.
 *
 * The secrets are the code of each TODO region of each solution, the formula of each prediction,
 * each hint, and each set of keys that hidden shapes share.  Two regions of less than 20
 * characters, a barrier and the choice of a number, are excepted.  They are searched for in every
 * file, without blanks, line ends and comments.
 *
 * A region is also found if a file contains SECRET_LINES of its lines, in any order.  Lines of less
 * than 16 characters do not count, and neither do lines of the lab's own skeleton or of its
 * baseline.c.
 *
 * A short formula (`metric = blocks`) is a secret only in its lab's own folder.  The same holds
 * for a prediction's value, which must have five digits or more: another lab's page may show the
 * same number for another quantity.  2^n and 3 * 2^n are frequent sizes in sources, so they are
 * searched for in the lab's own folder only. */
#ifndef CONVLAB_AUTOGRADER_HANDOUT_SEARCH_H
#define CONVLAB_AUTOGRADER_HANDOUT_SEARCH_H

#include "autograder/lab/catalog.h"

enum { SECRET_LINES = 3 };

typedef struct Secret {
    char what[160]; /* "TODO(2) of 02-naive" */
    const Lab *lab;
    char *text;  /* normalised by search_normal; for a number: its digits */
    int number;  /* Boolean: the value of a prediction */
    int size;    /* Boolean: a value of the form 2^n or 3 * 2^n */
    int region;  /* Boolean: the code of a TODO region */
    char **line; /* its distinct lines, normalised */
    int lines;
    int at_home; /* Boolean: searched for in labs/<lab>/ only; a number that is not a size is also
                  * searched for outside labs/ */
} Secret;

typedef struct Secrets {
    Secret *item;
    int items;
} Secrets;

/* All secrets of the full course at `root`.  -1 with error: a file cannot be read. */
int secrets_open(const char *root, const Catalog *catalog, Secrets *secrets, Error *error);
void secrets_close(Secrets *secrets);

/* Calls `say` for each secret in `text`, the file `path` of a copy; returns their number.  `lines`:
 * number of lines of a region that were found; 0: the whole secret. */
typedef void SecretFound(void *context, const char *path, const Secret *secret, int lines);
int secrets_search(const Secrets *secrets, const char *path, const char *text, SecretFound *say,
                   void *context);

/* The text without blanks, line ends and the characters that start lines of comments, lists, tables
 * and quotes, anywhere, so that code is also found after `//` or `>`.  Without `comments`, text
 * after `//` in a line is dropped.  malloc'd. */
char *search_normal(const char *text, int comments);

#endif
