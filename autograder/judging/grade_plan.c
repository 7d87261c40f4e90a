/* grade_plan.c - initial contents of a record: cases and predictions before anything has run, and
 * the status if nothing can run. */
#include "autograder/judging/lab_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autograder/lab/hidden.h"
#include "autograder/lab/lab_shape.h"
#include "autograder/lab/predict.h"
#include "autograder/record/score.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

static int is_selected(const LabRun *run, const char *name)
{
    const char *only = run->grader->only_case;
    return !only || !strcmp(only, name);
}

static RecordCase *record_add_case(LabRun *run, const char *name, const char *about,
                                   const Operation *operation, const Problem *problem)
{
    RecordCase *item = &run->record->item[run->record->cases++];
    text_set(item->name, sizeof item->name, "%s", name);
    text_set(item->about, sizeof item->about, "%s", about);
    lab_shape_print(&run->lab->ini, operation, problem, item->shape, sizeof item->shape);
    item->verdict = CASE_NOT_RUN;
    return item;
}

const Problem *lab_run_problem(const LabRun *run, int i)
{
    const LabCase *item = &run->lab->ini.item[i];
    return run->grader->engine == ENGINE_SIM || run->lab->ini.host ? &item->problem
                                                                   : &item->problem_gpu;
}

const char *lab_run_skeleton(LabRun *run)
{
    char path[1024];
    if (run->skeleton) return run->skeleton;
    lab_skeleton_path(run->grader->root, run->lab, path, sizeof path);
    return run->skeleton = file_text(path, NULL);
}

void lab_run_random(const LabRun *run, const char *what, Random *random)
{
    Random grade, lab;
    random_seed(&grade, run->grader->seed);
    random_child(&grade, run->lab->name, &lab);
    random_child(&lab, what, random);
}

/* Adds every case and prediction with the points it could earn. */
static void record_plan(LabRun *run)
{
    const LabIni *ini = &run->lab->ini;
    Record *record = run->record;
    double share = score_share(ini->points_correct, ini->cases, ini->hidden_count);
    for (int i = 0; i < ini->cases; i++) {
        const LabCase *from = &ini->item[i];
        if (!is_selected(run, from->name)) continue;
        RecordCase *item =
            record_add_case(run, from->name, from->about, from->operation, lab_run_problem(run, i));
        item->possible = share;
        item->stage = from->stage;
        if (!from->timed || ini->points_speed <= 0) continue;
        item->speed.possible = ini->points_speed / ini->timed_cases;
        item->speed.verdict = SPEED_NOT_CORRECT;
        text_set(item->speed.text, sizeof item->speed.text,
                 "Speed counts when every case is correct.");
    }
    for (int i = 0; i < ini->hidden_count && is_selected(run, "hidden"); i++) {
        Random random;
        Problem problem = {0};
        char name[48], shape[64];
        text_set(name, sizeof name, "hidden %d", i + 1);
        text_set(shape, sizeof shape, "the shape of %s", name);
        lab_run_random(run, shape, &random);
        const Operation *operation = hidden_draw(ini, &random, i, &problem);
        RecordCase *item = record_add_case(run, name, "drawn fresh", operation, &problem);
        item->hidden = 1;
        /* the set has one share of points, which its last case carries */
        item->possible = i + 1 == ini->hidden_count ? share : 0;
    }
    for (; record->stages < ini->stages; record->stages++) {
        const LabStage *from = &ini->stage[record->stages];
        RecordStage *to = &record->stage[record->stages];
        text_set(to->name, sizeof to->name, "%s", from->name);
        text_set(to->title, sizeof to->title, "%s", from->title);
        to->first = from->first;
        to->last = from->last;
        to->written = to->last - to->first + 1; /* until the source is compared with the skeleton */
    }
    for (int i = 0; i < ini->predictions; i++) {
        const LabPrediction *from = &ini->prediction[i];
        if (!is_selected(run, ini->item[from->case_index].name)) continue;
        RecordPrediction *to = &record->prediction[record->predictions++];
        text_set(to->name, sizeof to->name, "%s", from->name);
        text_set(to->question, sizeof to->question, "%s", from->question);
        to->possible = from->points;
    }
}

void lab_run_start(LabRun *run)
{
    const Grader *grader = run->grader;
    Record *record = run->record;
    time_t now = time(NULL);
    struct tm utc;
    memset(record, 0, sizeof *record);
    text_set(record->lab, sizeof record->lab, "%s", run->lab->name);
    text_set(record->title, sizeof record->title, "%s", run->lab->ini.title);
    gmtime_r(&now, &utc);
    strftime(record->graded_at, sizeof record->graded_at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_set(record->engine, sizeof record->engine, "%s",
             run->lab->ini.host ? "cpu" : engine_name(grader->engine));
    int sim = !run->lab->ini.host && grader->engine == ENGINE_SIM;
    text_set(record->machine, sizeof record->machine, "%s", sim ? grader->machine_name : "");
    text_set(record->unit, sizeof record->unit, "%s",
             sim || run->lab->ini.host ? "cycles" : "seconds");
    text_set(record->sandbox, sizeof record->sandbox, "%s", sandbox_level_name(sandbox_probe()));
    text_set(record->grader_digest, sizeof record->grader_digest, "%016" PRIx64, grader->simulator);
    text_set(record->source, sizeof record->source, "%s", run->programs.source);
    char *nvcc = realpath(grader->toolchain.nvcc, NULL);
    text_set(record->toolkit, sizeof record->toolkit, "%s", nvcc ? nvcc : grader->toolchain.nvcc);
    free(nvcc);
    record->seed = grader->seed;
    record_plan(run);
}

void lab_run_stop(LabRun *run, RecordStatus status, const char *message)
{
    Record *record = run->record;
    record->status = status;
    text_set(record->message, sizeof record->message, "%s", message);
    if (status != RECORD_DEFERRED && status != RECORD_BROKEN) return;
    for (int i = 0; i < record->cases; i++) {
        record->item[i].verdict = CASE_BROKEN;
        record->item[i].speed.verdict = SPEED_DEFERRED;
    }
    for (int i = 0; i < record->predictions; i++)
        record->prediction[i].possible = record->prediction[i].points = 0;
    text_set(record->deferred, sizeof record->deferred, "%s", message);
}

void lab_run_answers(LabRun *run)
{
    const LabIni *ini = &run->lab->ini;
    Record *record = run->record;
    const char *name[LAB_PREDICTIONS + 1] = {0};
    char path[sizeof run->programs.beneath], shown[200], *slash;
    PredictFile file;
    Error error = {""};
    for (int i = 0; i < ini->predictions; i++)
        name[i] = ini->prediction[i].name;
    text_set(path, sizeof path, "%s", run->programs.beneath);
    slash = strrchr(path, '/');
    text_set(slash ? slash + 1 : path, 16, "predict.ini");
    text_set(shown, sizeof shown, "%s/predict.ini", run->lab->name);
    int unreadable = predict_read(run->grader->submission, path, shown, name, &file, &error);
    intake_clean(error.text);
    for (int i = 0; i < record->predictions; i++) {
        RecordPrediction *to = &record->prediction[i];
        const double *answer = unreadable ? NULL : predict_find(&file, to->name);
        to->answered = answer != NULL;
        const char *trouble = unreadable ? error.text : predict_trouble(&file, to->name);
        if (answer) to->answer = predict_meant(&file, to->name, to->question);
        if (trouble || !answer)
            text_set(to->text, sizeof to->text, "%.190s", trouble ? trouble : RECORD_NO_ANSWER);
    }
}
