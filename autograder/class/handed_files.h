/* handed_files.h - the files that count, out of what a student handed in: NN-name/<source> and
 * NN-name/predict.ini of each lab, wherever in a folder or an archive they lie.
 *
 * Nothing else is ever written: an archive is read entry by entry and never extracted.  It may not
 * name a path outside itself, and has bounds on bytes, entries and how far it swells.  What cannot
 * be taken becomes a sentence in that student's record.  All of it happens in a process of its own
 * with limits on time and memory: what a broken archive breaks is that. */
#ifndef CONVLAB_AUTOGRADER_CLASS_HANDED_FILES_H
#define CONVLAB_AUTOGRADER_CLASS_HANDED_FILES_H

#include "autograder/class/roster.h"
#include "autograder/lab/catalog.h"

enum { HANDED_LABS = 64, HANDED_DIGEST = 65 };

typedef struct HandedLab {
    char problem[400];          /* why its source was not taken, for the student; or "" */
    char digest[HANDED_DIGEST]; /* of its files and its problem, in hexadecimal */
} HandedLab;

typedef struct HandedFiles {
    char problem[400]; /* why nothing was taken at all, or "" */
    int64_t newest;    /* seconds since 1970: of the files that were taken, or the archive */
    HandedLab lab[HANDED_LABS]; /* as in the catalog */
} HandedFiles;

/* Takes the files of `handed`, below `folder`, into into/NN-name/.  `only`: one lab, whose files
 * may then lie loose, without NN-name/; NULL: all.  -1 with error: the house's own trouble. */
int handed_files_take(const char *folder, const Handed *handed, const Catalog *catalog,
                      const Lab *only, const char *into, HandedFiles *files, Error *error);

#endif
