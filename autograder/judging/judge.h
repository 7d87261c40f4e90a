/* judge.h - one problem through one submission: inputs, run, verdict. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_JUDGE_H
#define CONVLAB_AUTOGRADER_JUDGING_JUDGE_H

#include "autograder/record/record.h"
#include "autograder/session/session.h"
#include "autograder/tensors/workload.h"

typedef struct Judge {
    Session *session;
    const Operation *operation;
    Precision precision;
    int host;
    int probe_limited; /* one of the diagnosis' runs met a limit */
    int diagnosed;     /* cases that took further runs to say what is wrong */
    Problem current;   /* what the session's problem is; bytes 0: none yet */
} Judge;

/* Makes `problem` the session's, if it is not already. */
int judge_set_problem(Judge *judge, const Problem *problem, Error *error);
/* The same, but anew in any case: nothing that ran before leaves a trace (session.h). */
int judge_begin_problem(Judge *judge, const Problem *problem, Error *error);

/* Judges an output that slot 0 left behind: fills the verdict part of `item` (verdict, fault,
 * where, text, wrong, total, worst).  With `probe`, a wrong output is diagnosed by running the
 * submission again. */
void judge_output(Judge *judge, const Workload *workload, const Observed *observed,
                  const RunOutcome *outcome, int probe, RecordCase *item);

/* Fresh inputs, one call of slot 0, verdict and cost into `item`.  The first JUDGE_DIAGNOSES wrong
 * cases are diagnosed by further runs: after these the answer is known, and the reader waits. */
enum { JUDGE_DIAGNOSES = 3 };
void judge_case(Judge *judge, const Problem *problem, Random *random, RecordCase *item);

#endif
