/* judge.h - one problem through one submission: inputs, run, verdict. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_JUDGE_H
#define CONVLAB_AUTOGRADER_JUDGING_JUDGE_H

#include "autograder/judging/ahead.h"
#include "autograder/record/record.h"
#include "autograder/session/session.h"
#include "autograder/tensors/workload.h"

typedef struct Judge {
    Session *session;
    const Operation *operation; /* what every problem is one of; see judge_choose */
    Precision precision;
    Algorithm algorithm;
    int host;
    int probe_limited; /* one of the diagnosis' runs met a limit */
    uint32_t habits;   /* of the submission: RunOutcome */
    int diagnosed;     /* cases that took further runs to say what is wrong */
    Problem current;   /* what the session's problem is; bytes 0: none yet */
    double spent[SPENT_KINDS];
} Judge;

/* From now on problems are of this operation. */
void judge_choose(Judge *judge, const Operation *operation);

/* Makes `problem` the session's, if it is not already. */
int judge_set_problem(Judge *judge, const Problem *problem, Error *error);
/* The same, but anew in any case: nothing that ran before leaves a trace (session.h). */
int judge_begin_problem(Judge *judge, const Problem *problem, Error *error);

/* Fresh inputs. */
void judge_fill(Judge *judge, Workload *workload, Random *random);
/* session_replay, or for `repeats` JUDGE_CALL session_call, JUDGE_SEARCH session_search or
 * JUDGE_PROBE session_probe; and what they take is noted. */
enum { JUDGE_CALL = -1, JUDGE_PROBE = -2, JUDGE_SEARCH = -3 };
void judge_ask(Judge *judge, int slot, int repeats, const float *const *tensor, float *output,
               Observed *observed, RunOutcome *outcome);

/* Judges an output that slot 0 left behind: fills the verdict part of `item` (verdict, fault,
 * where, text, wrong, total, worst).  With `probe`, a wrong output is diagnosed by running the
 * submission again. */
void judge_output(Judge *judge, const Workload *workload, const Observed *observed,
                  const RunOutcome *outcome, int probe, RecordCase *item);

/* The same of an output for inputs whose right outputs are known already. */
void judge_expected(Judge *judge, Expected *expected, const Observed *observed,
                    const RunOutcome *outcome, int probe, RecordCase *item);

/* Whether a random sample of that output is right (verify.h), where a whole one was judged before:
 * 0 asks for judge_output. */
int judge_sample(Judge *judge, const Workload *workload, const Observed *observed,
                 const RunOutcome *outcome, Random *random);

/* Whether somebody asks what a case costs, which the simulator takes a third of its time for. */
typedef enum CasePrice { CASE_UNPRICED, CASE_PRICED, CASE_TIMED } CasePrice;

/* Fresh inputs, one call of slot 0, verdict and cost into `item`; where it is right, its GPU work
 * replayed once on other fresh inputs, which must be right too.  The cost is the call's of a
 * CASE_PRICED; of a CASE_TIMED that replay's, and its cycles are item->speed.student.  The first
 * JUDGE_DIAGNOSES wrong cases are diagnosed by further runs: after these the answer is known, and
 * the reader waits.  `ahead`: what expected_make made of the same problem and `random`, freed here;
 * NULL: it is made here. */
enum { JUDGE_DIAGNOSES = 3 };
void judge_case(Judge *judge, const Problem *problem, Random *random, Expected *ahead,
                CasePrice price, RecordCase *item);

/* Replays what `slot` recorded `repeats` times (0: once, unpriced) on fresh inputs: verdict and
 * cost into *item, which it clears first. */
void judge_replay(Judge *judge, int slot, const Problem *problem, Random *random, int repeats,
                  RecordCase *item);

/* `item` failed on a card, which names no line: the same code on `simulator`, whose finding is
 * added to item->text, and its fault is the item's, if it fails there too. */
void judge_simulated(Judge *simulator, const Problem *problem, Random *random, RecordCase *item);

/* `item` was right, and `later`, a run that was timed or counted, is not: that is item's new
 * verdict, and its points are gone. */
void judge_wrong_later(RecordCase *item, const RecordCase *later);

/* Calls slot 0 several times in one process, for `problem`, which it was right for, and for `other`
 * in between.  Where a call is then wrong, that is item's new verdict. */
void judge_again(Judge *judge, const Problem *problem, const Problem *other, Random *random,
                 RecordCase *item);

#endif
