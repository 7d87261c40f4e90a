/* plan.h - what is to do for a class: every submission taken in, and a job for each of its labs
 * that the gradebook has no result of. */
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
    const char *submissions, *work; /* the class's folder; an absolute folder to work in */
    const Catalog *catalog;
    const Lab *only;  /* NULL: all */
    uint64_t seed;    /* of the class: a student's follows from it and the student's name */
    int64_t deadline; /* seconds since 1970; 0: there is none */
    Roster roster;
    Job *job;          /* by student, submission and lab */
    size_t jobs, held; /* held: results that the gradebook has already */
    size_t undated;    /* submissions that a deadline says nothing about: their time is not known */
    AttemptFile *first;
    size_t firsts;
} Plan;

/* Takes in what `roster` lists, tells on stdout what cannot be, and marks what is late.  -1 with
 * error.  plan_clear frees it, roster included. */
int plan_make(Plan *plan, Gradebook *book, Error *error);
void plan_clear(Plan *plan);

#endif
