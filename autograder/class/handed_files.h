/* handed_files.h - the graded files of a submission: NN-name/<source> and NN-name/predict.ini of
 * each lab, anywhere in a folder or an archive.
 *
 * No other file is ever written: an archive is read entry by entry and never extracted.  It must
 * not name a path outside itself, and its bytes, entries and compression ratio are limited.  The
 * reason for a rejected file is a sentence in that student's record.  All this runs in a process of
 * its own with limits on time and memory, so a malicious archive can only break that process. */
#ifndef CONVLAB_AUTOGRADER_CLASS_HANDED_FILES_H
#define CONVLAB_AUTOGRADER_CLASS_HANDED_FILES_H

#include "autograder/class/handed.h"
#include "autograder/lab/catalog.h"

enum { HANDED_LABS = 64, HANDED_DIGEST = 65 };

typedef struct HandedLab {
    char problem[400];          /* reason for the student why its source was not accepted, or "" */
    char digest[HANDED_DIGEST]; /* digest of its files and its problem, in hexadecimal */
    int has_source;             /* Boolean: the source was accepted */
} HandedLab;

typedef struct HandedFiles {
    char problem[400]; /* reason why the whole submission was rejected, or "" */
    char other[200];   /* first path by name that is not a lab's file, or "" */
    int64_t newest;    /* seconds since 1970: time of the newest accepted file, or of the archive */
    HandedLab lab[HANDED_LABS]; /* in the catalog's order */
} HandedFiles;

/* Copies the files of `handed`, below `folder`, into into/NN-name/.  `only`: one lab, whose files
 * may then be without NN-name/; NULL: all labs.  -1 with error: a failure of this machine. */
int handed_files_take(const char *folder, const Handed *handed, const Catalog *catalog,
                      const Lab *only, const char *into, HandedFiles *files, Error *error);

#endif
