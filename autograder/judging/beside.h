/* beside.h - without a card one case leaves cores idle: while the grader runs its cases from the
 * first on, a session beside it runs them from the last on, until the two meet.  Only what is right
 * there counts; anything else the grader runs itself, in its turn and with all that it says. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_BESIDE_H
#define CONVLAB_AUTOGRADER_JUDGING_BESIDE_H

#include "autograder/judging/ahead.h"
#include "autograder/judging/judge.h"

typedef struct BesideCase {
    AheadCase inputs; /* operation NULL: not to be run beside */
    RecordCase item;  /* as it stands before it is judged */
    CasePrice price;  /* as judge_case's */
} BesideCase;

typedef struct Beside Beside;

/* Begins at the end of `order`, `count` indices into `list`, which is the session's from now on and
 * freed with it.  `judge` is the grader's, whose session and ways are taken over.  NULL: nothing
 * runs beside; then the list is freed. */
Beside *beside_begin(const Judge *judge, const Build *build, Ahead *ahead, BesideCase *list,
                     const int *order, int count);
/* 1: case `number` was run beside and is right, and *item is as judge_case leaves it.  0: it is the
 * caller's to run. */
int beside_take(Beside *beside, int number, RecordCase *item);
/* Waits for the case in hand; what the calls showed of the submission joins `judge`.  NULL is
 * allowed. */
void beside_end(Beside *beside, Judge *judge);

#endif
