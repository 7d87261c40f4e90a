/* parallel_session.h - parallel session for grading on the simulator, where one case leaves cores
 * idle.  The grader runs its cases from the first one forwards, this session runs them from the
 * last one backwards, until every case is taken.  Only correct results of this session count; the
 * grader runs every other case itself, with its full diagnosis. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_PARALLEL_SESSION_H
#define CONVLAB_AUTOGRADER_JUDGING_PARALLEL_SESSION_H

#include "autograder/judging/judge.h"
#include "autograder/judging/precompute.h"

typedef struct ParallelCase {
    PrecomputeCase inputs; /* operation NULL: not run in the parallel session */
    RecordCase item;       /* the record before the case is judged */
    CasePrice price;       /* as for judge_case */
} ParallelCase;

typedef struct ParallelSession ParallelSession;

/* Starts at the end of `order`, which has `count` indices into `list`.  The session owns the list
 * and frees it.  `judge` is the grader's; its session options and function pointers are copied.
 * NULL: there is no parallel session, and the list is freed. */
ParallelSession *parallel_session_begin(const Judge *judge, const Build *build,
                                        Precompute *precomputed, ParallelCase *list,
                                        const int *order, int count);
/* 1: case `number` was run in the parallel session and is correct, and *item is as judge_case
 * leaves it.  0: the caller runs it. */
int parallel_session_take(ParallelSession *parallel, int number, RecordCase *item);
/* Waits for the current case and adds what the calls revealed about the submission to `judge`.
 * NULL is allowed. */
void parallel_session_end(ParallelSession *parallel, Judge *judge);

#endif
