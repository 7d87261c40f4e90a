/* judge.h - judgement of one problem: inputs, run and verdict. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_JUDGE_H
#define CONVLAB_AUTOGRADER_JUDGING_JUDGE_H

#include "autograder/judging/precompute.h"
#include "autograder/record/record.h"
#include "autograder/session/session.h"
#include "autograder/tensors/workload.h"

typedef struct Judge {
    Session *session;
    const Operation *operation; /* operation of all following problems; see judge_choose */
    Precision precision;
    Algorithm algorithm;
    int host;
    int probe_limited; /* Boolean: one of the diagnosis' runs exceeded a limit */
    uint32_t habits;   /* flags of the submission, as in RunOutcome */
    int diagnosed;     /* number of cases that were diagnosed by further runs */
    Problem current;   /* the session's problem; bytes 0: none yet */
    double spent[SPENT_KINDS];
} Judge;

/* Selects the operation of the following problems. */
void judge_choose(Judge *judge, const Operation *operation);

/* Makes `problem` the session's problem, if it is not already. */
int judge_set_problem(Judge *judge, const Problem *problem, Error *error);
/* The same, but always starts again, so that no state of earlier runs remains (session.h). */
int judge_begin_problem(Judge *judge, const Problem *problem, Error *error);

/* Draws new inputs. */
void judge_fill(Judge *judge, Workload *workload, Random *random);
/* Runs session_replay, or session_call, session_search or session_probe if `repeats` is JUDGE_CALL,
 * JUDGE_SEARCH or JUDGE_PROBE.  Records the time that they take. */
enum { JUDGE_CALL = -1, JUDGE_PROBE = -2, JUDGE_SEARCH = -3 };
void judge_run(Judge *judge, int slot, int repeats, const float *const *tensor, float *output,
               Observed *observed, RunOutcome *outcome);

/* Judges slot 0's output: fills the verdict part of `item` (verdict, fault, where, text, wrong,
 * total, worst).  With `probe`, a wrong output is diagnosed by running the submission again. */
void judge_output(Judge *judge, const Workload *workload, const Observed *observed,
                  const RunOutcome *outcome, int probe, RecordCase *item);

/* The same for inputs whose expected outputs are already known. */
void judge_expected(Judge *judge, Expected *expected, const Observed *observed,
                    const RunOutcome *outcome, int probe, RecordCase *item);

/* Whether a random sample of that output is correct (verify.h), after a whole output was judged.
 * 0: judge_output is needed. */
int judge_sample(Judge *judge, const Workload *workload, const Observed *observed,
                 const RunOutcome *outcome, Random *random);

/* Whether the cost of a case is needed; it takes a third of the simulator's time. */
typedef enum CasePrice { CASE_UNPRICED, CASE_PRICED, CASE_TIMED } CasePrice;

/* Fresh inputs, one call of slot 0, verdict and cost into `item`.  If the output is correct, the
 * GPU work is replayed once on other fresh inputs and must be correct again.
 *
 * The cost of a CASE_PRICED is the call's; that of a CASE_TIMED is the replay's, and its cycles are
 * item->speed.student. The first JUDGE_DIAGNOSES wrong cases are diagnosed by further runs; more
 * diagnoses would cost time and rarely add information.
 *
 * `ahead`: the result of expected_make for the same problem and `random`, freed here; NULL:
 * computed here. */
enum { JUDGE_DIAGNOSES = 3 };
void judge_case(Judge *judge, const Problem *problem, Random *random, Expected *precomputed,
                CasePrice price, RecordCase *item);

/* Replays what `slot` recorded `repeats` times (0: once, unpriced) on fresh inputs: verdict and
 * cost into *item, which it clears first. */
void judge_replay(Judge *judge, int slot, const Problem *problem, Random *random, int repeats,
                  RecordCase *item);

/* `item` failed on a GPU, which reports no source line.  Runs the same code on `simulator`; if it
 * fails there too, adds its finding to item->text and takes its fault. */
void judge_simulated(Judge *simulator, const Problem *problem, Random *random, RecordCase *item);

/* `item` was correct, and `later`, a timed or counted run, is not.  That becomes item's verdict,
 * and its points are lost. */
void judge_wrong_later(RecordCase *item, const RecordCase *later);

/* Calls slot 0 several times in one process: for `problem`, for which it was correct, and for
 * `other` in between.  A wrong call becomes item's verdict. */
void judge_again(Judge *judge, const Problem *problem, const Problem *other, Random *random,
                 RecordCase *item);

#endif
