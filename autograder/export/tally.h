/* tally.h - what a class got wrong: each case of each lab, and each diagnosis, over the best result
 * of every student. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_TALLY_H
#define CONVLAB_AUTOGRADER_EXPORT_TALLY_H

#include "autograder/class/gradebook.h"
#include "autograder/record/record.h"

typedef struct TallyCase {
    char lab[64], name[48]; /* the hidden shapes together are "hidden" */
    size_t students, right; /* that it was judged for; that had it right */
    double *slowness;       /* the student's time by the reference's, where it was taken */
    size_t timed;
    double median; /* of those, 0 where there is none */
} TallyCase;

typedef struct TallyFault {
    char lab[64], name[48]; /* a fault's or a verdict's name, or a status */
    char example[400];      /* the first student's */
    size_t students, last;  /* each counted once */
} TallyFault;

typedef struct Tally {
    TallyCase *item; /* by lab; in it the most failed first, of equals the slowest */
    size_t cases;
    TallyFault *fault; /* the most common first */
    size_t faults, records;
} Tally;

/* -1 with error; either way tally_clear frees it. */
int tally_make(Gradebook *book, Tally *tally, Error *error);
void tally_clear(Tally *tally);

/* What a case that is not right has: its fault, else its verdict; and the part of its text that
 * explains.  Both are the record's. */
const char *case_fault(const RecordCase *item);
const char *case_reason(const RecordCase *item);

#endif
