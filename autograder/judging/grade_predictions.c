/* grade_predictions.c - points for predictions, and the simulated counters that they need. */
#include "autograder/judging/lab_run.h"

#include <string.h>

#include "autograder/lab/predict.h"
#include "autograder/record/score.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/text.h"

static const LabPrediction *prediction_of(const LabIni *ini, const char *name)
{
    for (int i = 0; i < ini->predictions; i++)
        if (!strcmp(ini->prediction[i].name, name)) return &ini->prediction[i];
    return NULL;
}

int lab_run_simulator(const LabRun *run, const Operation *operation, Judge *judge, Error *error)
{
    const Grader *grader = run->grader;
    SessionOptions options = {.engine = ENGINE_SIM,
                              .machine = grader->machine_name,
                              .gpus_directory = grader->gpus,
                              .sim_threads = grader->sim_threads,
                              .checks = 1};
    *judge = (Judge){.operation = operation,
                     .precision = run->lab->ini.precision,
                     .algorithm = run->lab->ini.algorithm};
    if (session_open(&options, &judge->session, error)) return -1;
    if (!session_start_runner(judge->session, 0, &run->programs.build[0], error)) return 0;
    session_close(judge->session);
    return -1;
}

static void *simulate_case(void *context)
{
    Simulated *simulated = context;
    const LabRun *run = simulated->run;
    const LabCase *item = simulated->item;
    Judge judge;
    Random random;
    RecordCase scratch = {0};
    simulated->failed = lab_run_simulator(run, item->operation, &judge, &simulated->error);
    if (simulated->failed) return NULL;
    lab_run_random(run, item->name, &random);
    judge_case(&judge, &item->problem, &random, NULL, CASE_PRICED, &scratch);
    session_close(judge.session);
    simulated->cost = scratch.cost;
    if (scratch.verdict != CASE_CORRECT)
        simulated->failed = error_set(&simulated->error, "on the simulator: %.900s", scratch.text);
    return NULL;
}

/* Starts to simulate a case, unless it has already started. */
static void simulate_begin(LabRun *run, int item)
{
    Simulated *simulated = &run->simulated[item];
    if (simulated->begun) return;
    *simulated = (Simulated){.run = run, .item = &run->lab->ini.item[item], .begun = 1};
    simulated->threaded = !pthread_create(&simulated->thread, NULL, simulate_case, simulated);
    if (!simulated->threaded) simulate_case(simulated);
}

/* Waits for the end of the simulation. */
static void simulate_end(LabRun *run, Simulated *simulated)
{
    double start = sandbox_clock();
    if (simulated->threaded) pthread_join(simulated->thread, NULL);
    simulated->threaded = 0;
    run->record->spent[SPENT_SIMULATING] += sandbox_clock() - start;
}

void lab_run_simulate_start(LabRun *run, const RecordCase *item)
{
    const LabIni *ini = &run->lab->ini;
    for (int i = 0; i < run->record->predictions && run->grader->engine == ENGINE_GPU; i++) {
        const RecordPrediction *asked = &run->record->prediction[i];
        const LabPrediction *from = prediction_of(ini, asked->name);
        if (asked->answered && from->needs_launch && !item->hidden &&
            !strcmp(ini->item[from->case_index].name, item->name))
            simulate_begin(run, from->case_index);
    }
}

void lab_run_simulate_end(LabRun *run)
{
    for (int i = 0; i < LAB_CASES; i++)
        simulate_end(run, &run->simulated[i]);
}

/* The cost of a case on the simulator: already known if the case was graded there. */
static int simulated_cost(LabRun *run, int item, DeviceCost *cost, Error *error)
{
    const Record *record = run->record;
    const LabCase *from = &run->lab->ini.item[item];
    if (run->grader->engine == ENGINE_SIM) {
        for (int i = 0; i < record->cases; i++)
            if (!strcmp(record->item[i].name, from->name)) *cost = record->item[i].cost;
        return 0;
    }
    Simulated *simulated = &run->simulated[item];
    simulate_begin(run, item);
    simulate_end(run, simulated);
    *cost = simulated->cost;
    *error = simulated->error;
    return simulated->failed;
}

static CaseVerdict case_verdict(const Record *record, const char *name)
{
    for (int i = 0; i < record->cases; i++)
        if (!strcmp(record->item[i].name, name)) return record->item[i].verdict;
    return CASE_NOT_RUN;
}

/* The part to which a case belongs, unless all of its regions are written; else NULL. */
static const RecordStage *unwritten_part(const Record *record, const LabCase *item)
{
    const RecordStage *part = item->stage ? &record->stage[item->stage - 1] : NULL;
    return part && part->written <= part->last - part->first ? part : NULL;
}

static void score_prediction(LabRun *run, const LabPrediction *from, RecordPrediction *to)
{
    const LabCase *item = &run->lab->ini.item[from->case_index];
    DeviceCost cost = {0};
    Error error;
    CaseVerdict verdict = case_verdict(run->record, item->name);
    if (case_is_left_out(verdict)) {
        to->possible = 0;
        text_set(to->text, sizeof to->text, "Left out, because case %s was not run.", item->name);
        return;
    }
    if (verdict != CASE_CORRECT) {
        text_set(to->text, sizeof to->text, "Counts when case %s is correct.", item->name);
        return;
    }
    const RecordStage *part = from->needs_launch ? unwritten_part(run->record, item) : NULL;
    if (part) {
        text_set(to->text, sizeof to->text,
                 "Counts when part %s is written: until then the launch is that of another part.",
                 part->name);
        return;
    }
    MetricRun measured = {.operation = item->operation,
                          .problem = &item->problem,
                          .machine = &run->grader->machine,
                          .cost = &cost};
    if ((from->needs_launch && simulated_cost(run, from->case_index, &cost, &error)) ||
        formula_value(from->formula, &measured, &to->truth, &error)) {
        text_set(to->text, sizeof to->text, "%.190s", error.text);
        return;
    }
    text_set(to->metric, sizeof to->metric, "%s", from->formula);
    if (from->needs_launch) text_set(to->text, sizeof to->text, "%s", RECORD_OWN_LAUNCH);
    to->measured = 1;
    to->points = to->possible * predict_part(to->answer, to->truth, from->tolerance);
}

void lab_run_predictions(LabRun *run)
{
    Record *record = run->record;
    for (int i = 0; i < record->predictions; i++)
        if (record->prediction[i].answered)
            score_prediction(run, prediction_of(&run->lab->ini, record->prediction[i].name),
                             &record->prediction[i]);
}
