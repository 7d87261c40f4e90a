/* gradebook.h - marks of a class in one SQLite file.  It has a row for each student, lab and
 * submission, with the whole result record.  It also has the people of the roster, the marks of
 * their answers to open questions, and the entries that were not graded.
 *
 * Module: a class: its submissions, jobs, gradebook and summary.
 * Callers: the program class; exporters.
 * May use: record, lab, lms, text, base.
 *
 * A result is committed in one transaction or not at all, so a run may be killed at any time.
 * While a run commits results, the file is in WAL mode; gradebook_finish then rewrites it in key
 * order. The bytes of the file depend only on its contents, not on a clock or the order of
 * completion (with one version of SQLite; docs/instructor/class.md). */
#ifndef CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H
#define CONVLAB_AUTOGRADER_CLASS_GRADEBOOK_H

#include <stddef.h>
#include <stdint.h>

#include "autograder/lms/roster.h"
#include "autograder/lms/rubric.h"
#include "common/base/error.h"

typedef struct Gradebook Gradebook;

/* One submission of one student, graded in one lab.  No text is NULL. */
typedef struct GradebookResult {
    const char *student;      /* as in the submission: any bytes except NUL, so clean it before
                               * printing */
    const char *lab;          /* "04-tiled" */
    const char *submission;   /* path below the class's folder: "ada/2026-10-01T12-00.zip" */
    const char *submitted_at; /* UTC, "2026-10-01T12:00:00Z", or "": unknown */
    int64_t late;             /* seconds after the student's deadline; 0: in time, or no deadline */
    const char *digest;       /* digest of the files submitted for this lab, in hexadecimal */
    const char *basis;        /* digests of what graded it: "<lab>:<grader>" (basis.h) */
    uint64_t seed;
    const char *status; /* as in a record: "graded", "missing", ... */
    double points, possible;
    double counted;     /* points after the penalty for lateness; set by the gradebook */
    const char *record; /* the result record, JSON text (docs/instructor/result-record.md) */
    /* Set by the gradebook: the person of the roster whose mark it is, or the student. */
    const char *holder;
    int attempts; /* number of submissions of the holder that have this lab; gradebook_best only */
} GradebookResult;

/* A person of the roster, or a student who is not on it. */
typedef struct GradebookPerson {
    const char *holder;               /* as in results */
    const char *field[PERSON_FIELDS]; /* "" if unknown */
    const char *submission;           /* one of theirs, or "" */
    int is_on_roster;
} GradebookPerson;

/* The student of a submission, and one person of the roster who handed it in. */
typedef struct GradebookMember {
    const char *student, *person;
} GradebookMember;

typedef struct GradebookEntry {
    const char *path, *student, *reason; /* student: "" if nobody knows */
    const char *lab;                     /* set by the gradebook: "" if all labs were graded */
    int is_refused;                      /* Boolean: a submission that cannot be read */
} GradebookEntry;

/* A person's marked answer to an open question of a handout. */
typedef struct GradebookAnswer {
    const char *holder;
    const char *question, *lab, *text; /* "04 halo", "04-tiled", the question */
    double points, possible;
    const char *comment; /* the marker's, or "" */
} GradebookAnswer;

/* The choice among several submissions, and the cost of lateness. */
typedef struct GradebookPolicy {
    const char *deadline, *grace; /* texts to show, or "" */
    const char *counts; /* "best", "in-time" (a late one only if none is in time), "last" */
    double penalty;     /* per cent of the points that each started day costs */
    int attempts;       /* number of first submissions that count; 0: all */
} GradebookPolicy;

/* Opens `path` for writing; creates it and the folders above it.  NULL with error: it is not a
 * gradebook, has another version, or is used by another run. */
Gradebook *gradebook_open(const char *path, Error *error);
/* Opens an existing gradebook for reading, also while a run writes it. */
Gradebook *gradebook_read(const char *path, Error *error);
void gradebook_close(Gradebook *book);

/* Stores a setting of the whole gradebook, such as the class's seed.  -1 with error if it already
 * has another value; the error names both. */
int gradebook_settle(Gradebook *book, const char *name, const char *value, Error *error);
/* Copies the setting into value[bytes]: 1; 0: it does not exist; -1 with error. */
int gradebook_setting(Gradebook *book, const char *name, char *value, size_t bytes, Error *error);

/* Boolean: a run has begun and not finished, so that results may be missing.  -1 with error. */
int gradebook_is_unfinished(Gradebook *book, Error *error);

/* Called before results are committed: the file is in WAL mode until gradebook_finish.  A run that
 * is refused before leaves the file as it was. */
int gradebook_begin(Gradebook *book, Error *error);

/* Stores the policy, the people of `roster` (NULL: those of the last run stay) and the members for
 * their submissions, in one transaction. */
int gradebook_describe(Gradebook *book, const LmsRoster *roster, const GradebookMember *member,
                       size_t members, const GradebookPolicy *policy, Error *error);
/* Replaces the entries of a run that graded `lab`, or all labs (""). */
int gradebook_entries_set(Gradebook *book, const char *lab, const GradebookEntry *entry,
                          size_t entries, Error *error);

/* Stores the questions and everybody's marks in one transaction, in place of the previous ones.
 * lab[i] is the full name of question i's lab. */
int gradebook_rubric_set(Gradebook *book, const Rubric *rubric, const char *const *lab,
                         const LmsRoster *roster, Error *error);

/* Commits one result in a transaction.  A result for the same student, lab and submission is
 * replaced if its digest or basis is different or it was deferred; else -1, so that nothing is
 * graded twice. */
int gradebook_commit(Gradebook *book, const GradebookResult *result, Error *error);
/* 1: there is a result for this digest, and it is not deferred; 0: there is none; -1 with error. */
int gradebook_has(Gradebook *book, const char *student, const char *lab, const char *submission,
                  const char *digest, Error *error);
/* Copies the basis of that result into basis[40]: 1; 0: there is none; -1 with error. */
int gradebook_basis(Gradebook *book, const char *student, const char *lab, const char *submission,
                    char basis[40], Error *error);
/* Stores the time of a submission and the seconds that it is late, for one lab or all its labs
 * (""), because the deadline may change between two runs. */
int gradebook_mark_late(Gradebook *book, const char *student, const char *submission,
                        const char *lab, const char *submitted_at, int64_t late, Error *error);
/* Computes `counted` of all results from the policy's penalty. */
int gradebook_count(Gradebook *book, Error *error);

/* Called for each result, which is valid until it returns; a value other than 0 ends the
 * iteration. */
typedef int GradebookVisit(const GradebookResult *result, void *context, Error *error);

/* Visits every result by student, lab and submission, compared byte by byte.  -1 with error,
 * including the visitor's own. */
int gradebook_each(Gradebook *book, GradebookVisit *visit, void *context, Error *error);
/* Visits the best result of each holder and lab, by holder and lab: the largest share of its
 * points after the penalty (or what the policy says), among equals one in time, then the earliest
 * submitted.  A deferred one is best only if all are deferred, and a missing one only if none was
 * graded.  The members of a group are holders of the same results. */
int gradebook_best(Gradebook *book, GradebookVisit *visit, void *context, Error *error);

/* The same without records ("" each): much faster in a large class. */
int gradebook_best_marks(Gradebook *book, GradebookVisit *visit, void *context, Error *error);

typedef int GradebookPersonVisit(const GradebookPerson *person, void *context, Error *error);
typedef int GradebookEntryVisit(const GradebookEntry *entry, void *context, Error *error);
/* Visits every holder, also without results, by holder. */
int gradebook_people(Gradebook *book, GradebookPersonVisit *visit, void *context, Error *error);
/* Visits the entries that were not graded, by lab and path. */
int gradebook_entries(Gradebook *book, GradebookEntryVisit *visit, void *context, Error *error);

typedef int GradebookAnswerVisit(const GradebookAnswer *answer, void *context, Error *error);
/* Visits the marked answers by holder, lab and question. */
int gradebook_answers(Gradebook *book, GradebookAnswerVisit *visit, void *context, Error *error);
/* Visits the questions by lab and name; the holder, the points and the comment are empty. */
int gradebook_questions(Gradebook *book, GradebookAnswerVisit *visit, void *context, Error *error);

/* Rewrites the file in key order and closes the gradebook, also after an error. */
int gradebook_finish(Gradebook *book, Error *error);

#endif
