/* plan.h - list of pending jobs of a class: every submission is read, and each of its labs without
 * a result in the gradebook becomes a job. */
#ifndef CONVLAB_AUTOGRADER_CLASS_PLAN_H
#define CONVLAB_AUTOGRADER_CLASS_PLAN_H

#include "autograder/class/basis.h"
#include "autograder/class/gradebook.h"
#include "autograder/class/jobs.h"
#include "autograder/lms/policy.h"

/* The archive of an attempt that a lab was taken from. */
typedef struct AttemptFile {
    size_t attempt;
    const Lab *lab;
    const char *student, *submission;
} AttemptFile;

typedef struct Plan {
    const char *submissions, *work; /* the class's folder; an absolute work folder */
    const Catalog *catalog;
    const Lab *only; /* NULL: all */
    uint64_t seed;   /* the class's seed: a student's seed is derived from it and the student's
                      * name */
    LmsPolicy policy;
    LmsRoster *roster;          /* NULL: none */
    Rubric *rubric;             /* open questions, with marks in the roster; NULL: none */
    char (*basis)[BASIS_BYTES]; /* one per lab of the catalog */
    int regrade;                /* Boolean: results with another basis are graded again */
    HandedList list;
    Job *job;                  /* sorted by student, submission and lab */
    size_t jobs, held;         /* held: number of results that the gradebook already has */
    size_t stale;              /* those of `held`, or graded again, whose basis has changed */
    const char *stale_because; /* "the lab" */
    size_t undated;            /* number of submissions with unknown time, to which a deadline
                                   * cannot be applied */
    const char *first_undated; /* its student, or NULL */
    GradebookMember *member;   /* the people of each submission, by the roster */
    size_t members;
    AttemptFile *first;
    size_t firsts;
} Plan;

/* Reads the submissions of `list`, reports unusable ones on stdout, stores people, policy and
 * entries in the gradebook, and marks late ones.  -1 with error.  plan_clear frees it, including
 * the list. */
int plan_make(Plan *plan, Gradebook *book, Error *error);
void plan_clear(Plan *plan);

#endif
