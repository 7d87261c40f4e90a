#include "autograder/judging/judge.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/sandbox/sandbox.h"
#include "autograder/record/case_words.h"
#include "autograder/text/text.h"
#include "common/operations/operation/diagnose.h"

static void spend(Judge *judge, SpentOn on, double since)
{
    judge->spent[on] += sandbox_clock() - since;
}

void judge_choose(Judge *judge, const Operation *operation)
{
    if (judge->operation != operation) judge->current.bytes = 0;
    judge->operation = operation;
}

static int is_current(const Judge *judge, const Problem *problem)
{
    return judge->current.bytes == problem->bytes &&
           !memcmp(judge->current.data, problem->data, problem->bytes);
}

int judge_set_problem(Judge *judge, const Problem *problem, Error *error)
{
    if (is_current(judge, problem)) return 0;
    return judge_begin_problem(judge, problem, error);
}

int judge_begin_problem(Judge *judge, const Problem *problem, Error *error)
{
    double start = sandbox_clock();
    judge->current.bytes = 0;
    int failed = session_set_problem(judge->session, judge->operation, problem, judge->host, error);
    spend(judge, SPENT_START, start);
    if (failed) return -1;
    judge->current = *problem;
    return 0;
}

/* The same in the same process, which continues. */
static int judge_next_problem(Judge *judge, const Problem *problem, Error *error)
{
    if (is_current(judge, problem)) return 0;
    judge->current.bytes = 0;
    if (session_next_problem(judge->session, problem, error)) return -1;
    judge->current = *problem;
    return 0;
}

/* ---- timed runs ------------------------------------------------------------------------------ */

void judge_fill(Judge *judge, Workload *workload, Random *random)
{
    double start = sandbox_clock();
    workload_fill(workload, random);
    spend(judge, SPENT_INPUTS, start);
}

void judge_run(Judge *judge, int slot, int repeats, const float *const *tensor, float *output,
               Observed *observed, RunOutcome *outcome)
{
    int call = repeats < 0;
    if (repeats == JUDGE_CALL)
        session_call(judge->session, slot, tensor, output, observed, outcome);
    else if (repeats == JUDGE_SEARCH)
        session_search(judge->session, slot, tensor, output, observed, outcome);
    else if (repeats == JUDGE_PROBE)
        session_probe(judge->session, slot, tensor, output, observed, outcome);
    else
        session_replay(judge->session, slot, repeats, tensor, output, observed, outcome);
    const RunSpent *spent = &outcome->spent;
    judge->spent[SPENT_START] += spent->start;
    judge->spent[SPENT_CROSSING] += spent->crossing;
    judge->spent[SPENT_UPLOAD] += spent->upload;
    judge->spent[call ? SPENT_CALLS : SPENT_REPLAYS] += spent->run;
    judge->spent[SPENT_DOWNLOAD] += spent->download;
}

/* A ProbeRun: runs the submission again on inputs that the diagnosis chose. */
static int probe_run(void *context, const Problem *problem, const float *const *tensor,
                     float *output)
{
    Judge *judge = context;
    Observed observed;
    RunOutcome outcome;
    /* Stops after one exceeded limit: the next probe would probably exceed it too, and costs
     * time. */
    if (judge->probe_limited || judge_set_problem(judge, problem, NULL)) return -1;
    judge_run(judge, 0, JUDGE_PROBE, tensor, output, &observed, &outcome);
    judge->probe_limited = outcome.status == RUN_LIMIT;
    return outcome.status == RUN_OK ? 0 : -1;
}

static CaseVerdict verdict_of(RunStatus status)
{
    switch (status) {
    case RUN_OK:
        return CASE_CORRECT;
    case RUN_DEVICE_ERROR:
        return CASE_ERROR;
    case RUN_EXITED:
        return CASE_EXITED;
    case RUN_CRASHED:
        return CASE_CRASHED;
    case RUN_LIMIT:
        return CASE_LIMIT;
    case RUN_PROTOCOL:
        return CASE_PROTOCOL;
    case RUN_STARVED:
        return CASE_DEFERRED;
    case RUN_NOT_RECORDED:
    case RUN_BROKEN:
        break;
    }
    return CASE_BROKEN;
}

/* An error of the grader itself: the case is left out of N, with the reason. */
static void judge_broken(RecordCase *item, const Error *error)
{
    item->verdict = CASE_BROKEN;
    text_set(item->text, sizeof item->text, "%s", error->text);
}

/* Records a run's outcome in `item`, and the judgement of its output. */
static void judge_observed(Judge *judge, Judgement *judgement, const Observed *observed,
                           const RunOutcome *outcome, int probe, RecordCase *item)
{
    Finding found;
    Error error;
    Observed seen = *observed;
    seen.checked = outcome->finding;
    seen.algorithm = judge->algorithm;
    seen.host = judge->host;
    double start = sandbox_clock();
    int failed = verify_observed(judgement, &seen, &error);
    spend(judge, SPENT_JUDGING, start);
    if (failed) {
        judge_broken(item, &error);
        return;
    }
    judge->probe_limited = 0;
    diagnose(judgement, probe ? probe_run : NULL, judge, &found);
    case_judged(judgement, &found, item);
}

void judge_expected(Judge *judge, Expected *expected, const Observed *observed,
                    const RunOutcome *outcome, int probe, RecordCase *item)
{
    if (outcome->status == RUN_OK)
        judge_observed(judge, &expected->judgement, observed, outcome, probe, item);
    else
        case_stopped(verdict_of(outcome->status), outcome->message, item);
}

void judge_output(Judge *judge, const Workload *workload, const Observed *observed,
                  const RunOutcome *outcome, int probe, RecordCase *item)
{
    Judgement judgement;
    Error error;
    if (outcome->status != RUN_OK) {
        case_stopped(verdict_of(outcome->status), outcome->message, item);
        return;
    }
    double start = sandbox_clock();
    int failed = verify_expect(judge->operation, &workload->problem, judge->precision,
                               (const float *const *)workload->tensor, &judgement, &error);
    spend(judge, SPENT_JUDGING, start);
    if (failed) {
        judge_broken(item, &error);
        return;
    }
    judge_observed(judge, &judgement, observed, outcome, probe, item);
    judgement_free(&judgement);
}

int judge_sample(Judge *judge, const Workload *workload, const Observed *observed,
                 const RunOutcome *outcome, Random *random)
{
    Random drawn;
    Error error;
    int right = 0;
    if (outcome->status != RUN_OK || *outcome->finding) return 0;
    Observed seen = *observed;
    seen.algorithm = judge->algorithm;
    random_child(random, "sample", &drawn);
    double start = sandbox_clock();
    int failed =
        verify_sample(judge->operation, &workload->problem, judge->precision,
                      (const float *const *)workload->tensor, &seen, &drawn, &right, &error);
    spend(judge, SPENT_SAMPLES, start);
    return !failed && right;
}

/* ---- a case -------------------------------------------------------------------------------- */

/* Copies the cost of a run, whatever its result. */
static void take_outcome(Judge *judge, int slot, const RunOutcome *outcome, RecordCase *item)
{
    item->cost = outcome->cost;
    if (slot == 0) judge->habits |= outcome->habits;
}

/* One call of slot 0, JUDGE_CALL or JUDGE_SEARCH, on inputs whose expected outputs are known;
 * judged into `item`. */
static void judge_call(Judge *judge, Expected *expected, int call, int probe, RecordCase *item)
{
    Workload *workload = &expected->workload;
    Observed observed = {0};
    RunOutcome outcome = {0};
    judge_run(judge, 0, call, (const float *const *)workload->tensor, workload->output, &observed,
              &outcome);
    take_outcome(judge, 0, &outcome, item);
    judge_expected(judge, expected, &observed, &outcome, probe, item);
}

/* Fresh inputs and their expected outputs, owned by the caller; NULL: `item` has the reason. */
static Expected *judge_expect(Judge *judge, const Problem *problem, const Random *random,
                              RecordCase *item)
{
    Error error;
    Expected *expected = expected_make(judge->operation, problem, judge->precision, random, &error);
    if (!expected) {
        judge_broken(item, &error);
        return NULL;
    }
    judge->spent[SPENT_INPUTS] += expected->inputs;
    judge->spent[SPENT_JUDGING] += expected->outputs;
    return expected;
}

/* One call of slot 0 on fresh inputs, judged into `item`. */
static void judge_fresh_call(Judge *judge, const Problem *problem, Random *random, RecordCase *item)
{
    Expected *expected = judge_expect(judge, problem, random, item);
    if (!expected) return;
    *random = expected->random;
    judge_call(judge, expected, JUDGE_SEARCH, 0, item);
    expected_free(expected);
}

void judge_replay(Judge *judge, int slot, const Problem *problem, Random *random, int repeats,
                  RecordCase *item)
{
    Workload workload;
    Error error;
    *item = (RecordCase){.verdict = CASE_NOT_RUN};
    if (workload_open(judge->operation, problem, &workload, &error)) {
        judge_broken(item, &error);
        return;
    }
    judge_fill(judge, &workload, random);
    Observed observed = {0};
    RunOutcome outcome = {0};
    judge_run(judge, slot, repeats, (const float *const *)workload.tensor, workload.output,
              &observed, &outcome);
    take_outcome(judge, slot, &outcome, item);
    if (judge_sample(judge, &workload, &observed, &outcome, random))
        item->verdict = CASE_CORRECT;
    else
        judge_output(judge, &workload, &observed, &outcome, 0, item);
    workload_close(&workload);
}

/* A race, or a lower precision, is itself the cause, whichever run shows it. */
static int is_cause(const char *fault)
{
    if (!strcmp(fault, fault_name(FAULT_PRECISION))) return 1;
    for (Fault race = FAULT_NONE; race <= FAULT_EVERYWHERE; race++)
        if (fault_is_race(race) && !strcmp(fault, fault_name(race))) return 1;
    return 0;
}

/* `item` was correct and `later`, another run of the same code, is not.  Its verdict goes into
 * `item`, whose text first says what was different and last what to look for.  Wrong outputs are
 * only counted, because their pattern depends on inputs that were different here. */
static void judge_later(RecordCase *item, const RecordCase *later, Fault fault, const char *what,
                        const char *look)
{
    item->verdict = later->verdict;
    if (case_is_left_out(later->verdict)) {
        text_set(item->text, sizeof item->text, "%s", later->text);
        return;
    }
    item->wrong = later->wrong;
    item->total = later->total;
    item->worst = later->worst;
    int known = is_cause(later->fault);
    text_set(item->fault, sizeof item->fault, "%s", known ? later->fault : fault_name(fault));
    text_set(item->where, sizeof item->where, "%s", later->where);
    size_t length = later->wrong > 0 && !known ? strcspn(later->text, "\n") : strlen(later->text);
    text_set(item->text, sizeof item->text, "%s\n%.*s\n%s", what,
             (int)(length < 700 ? length : 700), later->text, known ? "" : look);
}

/* Replays the recorded GPU work on fresh inputs.  This proves that the GPU does the work, not host
 * code with the inputs of the call. */
static void judge_repeat(Judge *judge, const Problem *problem, Random *random, int timed,
                         RecordCase *item)
{
    RecordCase again;
    judge_replay(judge, 0, problem, random, timed, &again);
    if (timed) {
        item->cost = again.cost;
        item->speed.student = (double)again.cost.cycles;
    }
    if (again.verdict != CASE_CORRECT)
        judge_later(item, &again, FAULT_REPEAT,
                    "Correct when it was called, but not when the call's GPU work was repeated on "
                    "fresh inputs:",
                    "Possibly host code computes with x or w, which only kernels may do. Or a "
                    "kernel reads memory that this call has not written, or is wrong for some "
                    "values only.");
}

void judge_case(Judge *judge, const Problem *problem, Random *random, Expected *precomputed,
                CasePrice price, RecordCase *item)
{
    Error error;
    Expected *expected = precomputed ? precomputed : judge_expect(judge, problem, random, item);
    if (!expected) return;
    *random = expected->random;
    if (judge_begin_problem(judge, problem, &error)) {
        judge_broken(item, &error);
    } else {
        /* A timed case is priced by its replay. */
        int call = price == CASE_PRICED ? JUDGE_CALL : JUDGE_SEARCH;
        judge_call(judge, expected, call, judge->diagnosed < JUDGE_DIAGNOSES, item);
        if (call == JUDGE_SEARCH) item->cost.cycles = 0; /* cycles of its copies alone */
        judge->diagnosed += item->verdict == CASE_WRONG;
        if (item->verdict == CASE_CORRECT && !judge->host)
            judge_repeat(judge, problem, random, price == CASE_TIMED, item);
    }
    expected_free(expected);
}

void judge_wrong_later(RecordCase *item, const RecordCase *later)
{
    item->points = 0;
    judge_later(item, later, FAULT_REPEAT,
                "Correct when it was called and repeated once, but not in a later, timed run:",
                "Possibly threads race, and the earlier results were correct only by chance. Or a "
                "kernel's result depends on a clock, or on data that an earlier run has left.");
}

void judge_simulated(Judge *simulator, const Problem *problem, Random *random, RecordCase *item)
{
    RecordCase there = {.verdict = CASE_NOT_RUN};
    char shape[sizeof item->shape];
    judge_case(simulator, problem, random, NULL, CASE_UNPRICED, &there);
    if (there.verdict == CASE_CORRECT || case_is_left_out(there.verdict)) {
        text_add(item->text, sizeof item->text, "\nThe simulator does not show it.");
        return;
    }
    simulator->operation->print(problem, shape, sizeof shape);
    text_add(item->text, sizeof item->text, "\nOn the simulator, with %s:\n%s", shape, there.text);
    if (*there.fault) text_set(item->fault, sizeof item->fault, "%s", there.fault);
}

/* ---- repeated calls
 * ---------------------------------------------------------------------------- */

/* The calls of one process, and the message if one of them is the first wrong one. */
static const struct {
    int other; /* Boolean: the call is for the other problem */
    const char *what;
} AGAIN[] = {{0, "Correct at first, but not in a second process:"},
             {0, "Correct the first time, but not when the same process calls it again:"},
             {1, "Correct in a process of its own, but not after a call for another problem:"},
             {0, "Correct the first time, but not when it is called again after another problem:"}};

/* The same call in a process of its own. */
static void judge_alone(Judge *judge, const Problem *problem, Random *random, RecordCase *alone)
{
    Error error;
    *alone = (RecordCase){.verdict = CASE_NOT_RUN};
    if (judge_begin_problem(judge, problem, &error))
        judge_broken(alone, &error);
    else
        judge_fresh_call(judge, problem, random, alone);
}

void judge_again(Judge *judge, const Problem *problem, const Problem *other, Random *random,
                 RecordCase *item)
{
    Error error;
    int failed = judge_begin_problem(judge, problem, &error);
    for (size_t i = 0; i < sizeof AGAIN / sizeof *AGAIN; i++) {
        RecordCase later = {.verdict = CASE_NOT_RUN}, alone = later;
        const Problem *now = AGAIN[i].other ? other : problem;
        if (failed || judge_next_problem(judge, now, &error)) {
            judge_broken(item, &error);
            return;
        }
        judge_fresh_call(judge, now, random, &later);
        if (later.verdict == CASE_CORRECT) continue;
        if (AGAIN[i].other) {
            judge_alone(judge, other, random, &alone);
            if (case_is_left_out(alone.verdict)) later = alone;
            /* Also wrong alone: an error of that problem, which its own case reports. */
            else if (alone.verdict != CASE_CORRECT)
                return;
        }
        judge_later(item, &later, FAULT_STATE, AGAIN[i].what,
                    "Possibly your code keeps data from call to call and does not update it when "
                    "the problem or the inputs change. Check static variables, memory that is "
                    "allocated once, and __device__ variables that are added to.");
        return;
    }
}
