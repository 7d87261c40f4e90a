#include "autograder/judging/judge.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"
#include "common/operation/diagnose.h"

int judge_set_problem(Judge *judge, const Problem *problem, Error *error)
{
    if (judge->current.bytes == problem->bytes &&
        !memcmp(judge->current.data, problem->data, problem->bytes)) {
        return 0;
    }
    return judge_begin_problem(judge, problem, error);
}

int judge_begin_problem(Judge *judge, const Problem *problem, Error *error)
{
    judge->current.bytes = 0;
    if (session_set_problem(judge->session, judge->operation, problem, judge->host, error))
        return -1;
    judge->current = *problem;
    return 0;
}

/* ProbeRun: the submission again, on inputs that the diagnosis chose. */
static int probe_run(void *context, const Problem *problem, const float *const *tensor,
                     float *output)
{
    Judge *judge = context;
    Observed observed;
    RunOutcome outcome;
    /* One limit met is enough: the next probe would meet it as well, and the reader waits. */
    if (judge->probe_limited || judge_set_problem(judge, problem, NULL)) return -1;
    session_call(judge->session, 0, tensor, output, &observed, &outcome);
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

/* Right outputs of a program whose result is a matter of luck: another GPU, another day, and they
 * are wrong. */
static void judge_luck(const Judgement *judgement, RecordCase *item)
{
    item->verdict = CASE_WRONG;
    text_set(item->fault, sizeof item->fault, "%s", fault_name(fault_checked(judgement)));
    text_set(item->text, sizeof item->text, "The outputs are right, but only by luck.\n%s",
             judgement->observed.checked);
}

/* What a checker found comes first, then what follows from it. */
static void judge_wrong(const Judgement *judgement, const Finding *found, RecordCase *item)
{
    const Verdict *verdict = &judgement->verdict;
    const char *checked = judgement->observed.checked;
    item->verdict = CASE_WRONG;
    text_set(item->fault, sizeof item->fault, "%s", fault_name(found->fault));
    text_set(item->where, sizeof item->where, "%s", verdict->where);
    if (checked && *checked) text_set(item->text, sizeof item->text, "%s\n", checked);
    if (verdict->wrong && found->fault != FAULT_UNWRITTEN && found->fault != FAULT_NAN)
        text_add(item->text, sizeof item->text,
                 "%zu of %zu outputs are wrong, first %s: got %.9g, expected %.9g.%s",
                 verdict->wrong, verdict->total, verdict->where, verdict->got, verdict->expected,
                 *found->text ? "\n" : "");
    text_add(item->text, sizeof item->text, "%s", found->text);
}

void judge_output(Judge *judge, const Workload *workload, const Observed *observed,
                  const RunOutcome *outcome, int probe, RecordCase *item)
{
    item->verdict = verdict_of(outcome->status);
    if (outcome->status != RUN_OK) {
        text_set(item->text, sizeof item->text, "%s", outcome->message);
        if (fault_stopped(outcome->message))
            text_set(item->fault, sizeof item->fault, "%s",
                     fault_name(fault_stopped(outcome->message)));
        return;
    }
    Judgement judgement;
    Finding found;
    Error error;
    Observed seen = *observed;
    seen.checked = outcome->finding;
    if (verify_output(judge->operation, &workload->problem, judge->precision,
                      (const float *const *)workload->tensor, &seen, &judgement, &error)) {
        item->verdict = CASE_BROKEN;
        text_set(item->text, sizeof item->text, "%s", error.text);
        return;
    }
    judge->probe_limited = 0;
    diagnose(&judgement, probe ? probe_run : NULL, judge, &found);
    const Verdict *verdict = &judgement.verdict;
    item->wrong = (double)verdict->wrong;
    item->total = (double)verdict->total;
    item->worst = verdict->worst;
    if (!verdict->correct)
        judge_wrong(&judgement, &found, item);
    else if (*outcome->finding)
        judge_luck(&judgement, item);
    judgement_free(&judgement);
}

void judge_case(Judge *judge, const Problem *problem, Random *random, RecordCase *item)
{
    Workload workload;
    Error error;
    if (workload_open(judge->operation, problem, &workload, &error) ||
        judge_begin_problem(judge, problem, &error)) {
        item->verdict = CASE_BROKEN;
        text_set(item->text, sizeof item->text, "%s", error.text);
        workload_close(&workload);
        return;
    }
    workload_fill(&workload, random);
    Observed observed = {0};
    RunOutcome outcome = {0};
    session_call(judge->session, 0, (const float *const *)workload.tensor, workload.output,
                 &observed, &outcome);
    item->cost = outcome.cost;
    judge_output(judge, &workload, &observed, &outcome, judge->diagnosed < JUDGE_DIAGNOSES, item);
    judge->diagnosed += item->verdict == CASE_WRONG;
    workload_close(&workload);
}
