/* history.h - history of a learner's grades of a lab, a few numbers each, in chronological order.
 * */
#ifndef CONVLAB_AUTOGRADER_RECORD_HISTORY_H
#define CONVLAB_AUTOGRADER_RECORD_HISTORY_H

#include "autograder/record/record.h"

typedef struct HistoryCase {
    char name[48];
    double student, baseline, reference; /* cycles or seconds */
    double roof;                         /* lower bound on the machine; 0: unknown */
} HistoryCase;

typedef struct HistoryGrade {
    char at[32], digest[65], machine[200], unit[16]; /* machine: including its engine */
    double points, possible;
    HistoryCase item[LAB_CASES]; /* empty: not correct */
    int cases;
} HistoryGrade;

typedef struct GradeHistory {
    HistoryGrade *grade; /* in chronological order; a source that was graded again occurs once */
    int grades;
} GradeHistory;

/* Appends a learner's new record to <build>/progress/history/<lab>.tsv, one line per timed case.
 * Grades that could not be judged are not added.  -1 with error. */
int history_add(const char *build, const Record *record, Error *error);

/* The grade's case of that name, or NULL. */
const HistoryCase *history_case(const HistoryGrade *grade, const char *name);

/* -1 with error: it exists and cannot be read.  history_free frees it. */
int history_read(const char *build, const char *lab, GradeHistory *history, Error *error);
void history_free(GradeHistory *history);

#endif
