/* roster.h - who handed in what: the entries of a class's folder, by their names alone.
 *
 * A student is a folder or an archive with the student's name; docs/instructor/class.md lists the names that
 * are understood.  Names are data: any bytes but NUL and '/', so clean them to print. */
#ifndef CONVLAB_AUTOGRADER_CLASS_ROSTER_H
#define CONVLAB_AUTOGRADER_CLASS_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef enum HandedKind { HANDED_FOLDER, HANDED_ARCHIVE, HANDED_LINK } HandedKind;

/* One submission of one student. */
typedef struct Handed {
    char *student, *submission; /* submission: its path below the class's folder */
    HandedKind kind;
    /* Seconds since 1970, from a time stamp in a name that the student did not choose; 0: there is
     * none. */
    int64_t named_at;
    /* Archives without a time stamp in one folder are one attempt: they have the same number; 0:
     * an attempt of its own. */
    size_t attempt;
} Handed;

typedef struct Roster {
    Handed *item; /* by student, then submission, byte by byte */
    size_t count;
    char strange[400]; /* what is no submission, one line to show, or "" */
} Roster;

/* -1 with error: the folder cannot be read, or nobody handed in anything. */
int roster_read(const char *folder, Roster *roster, Error *error);
void roster_clear(Roster *roster);

/* A name for a line of text: cleaned, cut, and without ends of lines and tabs. */
void name_show(const char *name, char *text, size_t bytes);

/* "2026-10-01T12:00" with seconds or not, 'Z' or the local time zone, '_' or ' ' for 'T', '-' or
 * '.' for ':'; a day alone ends at midnight.  Seconds since 1970; -1: it is no time. */
int64_t time_parse(const char *text);
/* "2026-10-01T12:00:00Z". */
void time_text(int64_t seconds, char text[24]);

#endif
