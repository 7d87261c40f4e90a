/* plan.h - list of pending jobs of a class: every submission is read, and each of its labs without
 * a result in the gradebook becomes a job. */
#ifndef CONVLAB_AUTOGRADER_CLASS_PLAN_H
#define CONVLAB_AUTOGRADER_CLASS_PLAN_H

#include "autograder/class/gradebook.h"
#include "autograder/class/jobs.h"

/* The archive of an attempt that a lab was taken from. */
typedef struct AttemptFile {
    size_t attempt;
    const Lab *lab;
    const char *student, *submission;
} AttemptFile;

typedef struct Plan {
    const char *submissions, *work; /* the class's folder; an absolute work folder */
    const Catalog *catalog;
    const Lab *only;  /* NULL: all */
    uint64_t seed;    /* the class's seed: a student's seed is derived from it and the student's
                       * name */
    int64_t deadline; /* seconds since 1970; 0: none */
    Roster roster;
    Job *job;          /* sorted by student, submission and lab */
    size_t jobs, held; /* held: number of results that the gradebook already has */
    size_t undated;    /* number of submissions with unknown time, to which a deadline cannot be
                        * applied */
    AttemptFile *first;
    size_t firsts;
} Plan;

/* Reads the submissions of `roster`, reports unusable ones on stdout, and marks late ones.  -1 with
 * error.  plan_clear frees it, including the roster. */
int plan_make(Plan *plan, Gradebook *book, Error *error);
void plan_clear(Plan *plan);

#endif
