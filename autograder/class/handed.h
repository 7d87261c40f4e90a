/* handed.h - list of a class's submissions, from the names of the entries of its folder alone.
 *
 * A submission is a folder, an archive, or the loose files of one student in an LMS's download;
 * docs/instructor/class.md lists the accepted names.  An entry that cannot be graded is kept with
 * its reason, so that nothing disappears.  Names are data: any bytes except NUL and '/', so clean
 * them before printing. */
#ifndef CONVLAB_AUTOGRADER_CLASS_HANDED_H
#define CONVLAB_AUTOGRADER_CLASS_HANDED_H

#include <stddef.h>
#include <stdint.h>

#include "autograder/lms/times.h"
#include "common/base/error.h"

typedef enum HandedKind {
    HANDED_FOLDER,
    HANDED_ARCHIVE,
    HANDED_LOOSE, /* files of one student next to those of others */
    HANDED_LINK,
    HANDED_UNUSABLE /* known student, nothing to grade */
} HandedKind;

/* One loose file. */
typedef struct HandedFile {
    char *path;       /* below the class's folder */
    const char *name; /* the student's name of it, inside path */
} HandedFile;

/* One submission of one student. */
typedef struct Handed {
    char *student, *submission; /* submission: path below the class's folder; the first of loose
                                 * files */
    HandedKind kind;
    /* Seconds since 1970, from a time stamp in a name that the student did not choose; 0: there is
     * none. */
    int64_t named_at;
    /* Archives without a time stamp in one folder are one attempt: they have the same number; 0:
     * an attempt of its own. */
    size_t attempt;
    char *reason;     /* HANDED_UNUSABLE: why, else NULL */
    HandedFile *file; /* HANDED_LOOSE: sorted by path */
    size_t files;
} Handed;

/* An entry of the class's folder that is no submission, or was refused. */
typedef struct HandedEntry {
    char *path, *student; /* student: "" if the name says none */
    int is_refused;       /* Boolean: a submission that cannot be read, not one without the lab */
    char reason[400];
} HandedEntry;

typedef struct HandedList {
    Handed *item; /* sorted by student, then submission, byte by byte */
    size_t count;
    HandedEntry *entry; /* in the order of their discovery */
    size_t entries;
} HandedList;

/* -1 with error: the folder cannot be read, or it contains no submission. */
int handed_list_read(const char *folder, HandedList *list, Error *error);
void handed_list_clear(HandedList *list);
/* Adds an entry that is not graded, once per path.  -1 with error. */
int handed_list_note(HandedList *list, const char *path, const char *student, int is_refused,
                     const char *reason, Error *error);

/* A name for one line of text: cleaned, shortened, without newlines and tabs. */
void name_show(const char *name, char *text, size_t bytes);

#endif
