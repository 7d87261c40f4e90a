/* roster.h - list of a class's submissions, from the names of the entries of its folder alone.
 *
 * A student is a folder or an archive with the student's name; docs/instructor/class.md lists the
 * accepted names.  Names are data: any bytes except NUL and '/', so clean them before printing. */
#ifndef CONVLAB_AUTOGRADER_CLASS_ROSTER_H
#define CONVLAB_AUTOGRADER_CLASS_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef enum HandedKind { HANDED_FOLDER, HANDED_ARCHIVE, HANDED_LINK } HandedKind;

/* One submission of one student. */
typedef struct Handed {
    char *student, *submission; /* submission: path below the class's folder */
    HandedKind kind;
    /* Seconds since 1970, from a time stamp in a name that the student did not choose; 0: there is
     * none. */
    int64_t named_at;
    /* Archives without a time stamp in one folder are one attempt: they have the same number; 0:
     * an attempt of its own. */
    size_t attempt;
} Handed;

typedef struct Roster {
    Handed *item; /* sorted by student, then submission, byte by byte */
    size_t count;
    char strange[400]; /* entries that are not submissions, one line to show, or "" */
} Roster;

/* -1 with error: the folder cannot be read, or it contains no submission. */
int roster_read(const char *folder, Roster *roster, Error *error);
void roster_clear(Roster *roster);

/* A name for one line of text: cleaned, shortened, without newlines and tabs. */
void name_show(const char *name, char *text, size_t bytes);

/* Accepts "2026-10-01T12:00" with or without seconds, 'Z' or the local time zone, '_' or ' ' for
 * 'T', '-' or '.' for ':'; a date alone means its end at midnight.  Seconds since 1970; -1: not a
 * time. */
int64_t time_parse(const char *text);
/* "2026-10-01T12:00:00Z". */
void time_text(int64_t seconds, char text[24]);

#endif
