/* tally.h - the most common errors of a class: each case of each lab, and each diagnosis, over the
 * best result of every student. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_TALLY_H
#define CONVLAB_AUTOGRADER_EXPORT_TALLY_H

#include "autograder/class/gradebook.h"
#include "autograder/record/record.h"

typedef struct TallyCase {
    char lab[64], name[48]; /* the hidden shapes together are "hidden" */
    size_t students, right; /* number of students for whom it was judged; who had it correct */
    double *slowness;       /* the student's time divided by the reference's, if it was measured */
    size_t timed;
    double median; /* median of the slownesses, 0 if there are none */
} TallyCase;

typedef struct TallyFault {
    char lab[64], name[48]; /* name of a fault or verdict, or a status */
    char example[400];      /* from the first student */
    size_t students, last;  /* number of students, each counted once; index of the last one
                             * counted */
} TallyFault;

typedef struct Tally {
    TallyCase *item; /* sorted by lab; within a lab the most failed first, among equals the
                      * slowest */
    size_t cases;
    TallyFault *fault; /* the most common first */
    size_t faults, records;
} Tally;

/* -1 with error; either way tally_clear frees it. */
int tally_make(Gradebook *book, Tally *tally, Error *error);
void tally_clear(Tally *tally);

/* The fault of a case that is not correct, else its verdict; and the explaining part of its text.
 * Both belong to the record. */
const char *case_fault(const RecordCase *item);
const char *case_reason(const RecordCase *item);

#endif
