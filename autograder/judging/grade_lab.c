/* grade_lab.c - one lab of one submission, from its source to the record. */
#include "autograder/judging/grade_lab.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autograder/judging/lab_run.h"
#include "autograder/lab/todo.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "common/base/intake.h"

static const LabNeed *unmet_need(const LabRun *run)
{
    const LabIni *ini = &run->lab->ini;
    unsigned have = run->properties.cc_major * 100 + run->properties.cc_minor;
    for (int i = 0; i < ini->needs; i++) {
        const LabNeed *need = &ini->need[i];
        unsigned least = need->cc_major * 100 + need->cc_minor;
        if (need->engine != ENGINE_AUTO ? need->engine != run->grader->engine
                                        : have < least || (need->exact && have != least))
            return need;
    }
    return NULL;
}

/* Whether the submission and the skeleton have TODO regions that can be compared. */
static int todo_lists(LabRun *run, TodoList *mine, TodoList *theirs)
{
    const char *text = run->programs.build[SLOT_SUBMISSION].source;
    const char *pristine = lab_run_skeleton(run);
    return text && pristine && !todo_scan(run->programs.source, text, mine, NULL) &&
           !todo_scan("skeleton", pristine, theirs, NULL);
}

static void count_written(LabRun *run)
{
    TodoList mine, theirs;
    if (!run->record->stages || !todo_lists(run, &mine, &theirs)) return;
    for (int i = 0; i < run->record->stages; i++) {
        RecordStage *stage = &run->record->stage[i];
        stage->written =
            todo_count_written(run->programs.build[SLOT_SUBMISSION].source, &mine,
                               lab_run_skeleton(run), &theirs, stage->first, stage->last);
    }
}

static void find_todo(LabRun *run)
{
    TodoList mine, theirs;
    const char *source = run->programs.source;
    const char *text = run->programs.build[SLOT_SUBMISSION].source;
    const char *pristine = lab_run_skeleton(run);
    if (todo_lists(run, &mine, &theirs)) {
        const char *hint = lab_stage_hint(&run->lab->ini, 1);
        const TodoRegion *open = todo_first_open(text, &mine, pristine, &theirs, hint ? hint : "");
        size_t root = strlen(run->grader->root);
        int inside = !strncmp(source, run->grader->root, root) && source[root] == '/';
        if (open)
            text_set(run->record->todo, sizeof run->record->todo, "%.400s:%d: TODO(%d): %s",
                     inside ? source + root + 1 : source, open->line, open->number, open->sentence);
    }
    intake_clean(run->record->todo);
}

static void judge_start(LabRun *run)
{
    const LabIni *ini = &run->lab->ini;
    run->judge = (Judge){.session = run->session,
                         .operation = ini->operation[0],
                         .precision = ini->precision,
                         .algorithm = ini->algorithm,
                         .host = ini->host};
    run->speed = (SpeedSetup){.judge = &run->judge,
                              .sim = !ini->host && run->grader->engine == ENGINE_SIM,
                              .machine = &run->grader->machine,
                              .slack = ini->slack,
                              .simulator = run->grader->simulator};
    if (!ini->host) run->speed.ceilings = measured_ceilings_wait(run->grader->ceilings);
    for (int i = 0; i < SESSION_RUNNERS; i++)
        run->speed.build[i] = &run->programs.build[i];
    run->speed.started[SLOT_SUBMISSION] = 1;
}

/* If the reference solution does not build either, on its own, the installation is at fault. */
static void stop_unbuilt(LabRun *run, const Build *build)
{
    char message[sizeof build->message + 64];
    RecordStatus status = build->status == BUILD_BROKEN    ? RECORD_BROKEN
                          : build->status == BUILD_STARVED ? RECORD_DEFERRED
                                                           : RECORD_NO_BUILD;
    text_set(message, sizeof message, "%s", build->message);
    if (build->log && *build->log) run->record->compiler = strdup(build->log);
    if (status == RECORD_NO_BUILD && build->status != BUILD_REFUSED &&
        !programs_key_works(&run->programs)) {
        status = RECORD_BROKEN;
        text_set(message, sizeof message, "the reference solution does not build here either: %s",
                 run->programs.build[SLOT_REFERENCE].message);
    }
    lab_run_stop(run, status, message);
}

static void grade_in_session(LabRun *run)
{
    char cache[600];
    Error error;
    Build *build = &run->programs.build[SLOT_SUBMISSION];
    const LabNeed *need = unmet_need(run);
    if (need) {
        char message[256];
        text_set(message, sizeof message, "needs %s; this machine has %s (cc %u.%u)", need->text,
                 run->properties.name, run->properties.cc_major, run->properties.cc_minor);
        lab_run_stop(run, RECORD_DEFERRED, message);
        return;
    }
    if (build->status != BUILD_OK) {
        stop_unbuilt(run, build);
        return;
    }
    if (session_start_runner(run->session, SLOT_SUBMISSION, build, &error)) {
        lab_run_stop(run, RECORD_BROKEN, error.text);
        return;
    }
    judge_start(run);
    text_set(cache, sizeof cache, "%s/cache/cycles", run->grader->build);
    run->speed.cache = cache;
    lab_run_answers(run);
    count_written(run);
    lab_run_cases(run);
    for (int i = 0; i < SPENT_KINDS; i++)
        run->record->spent[i] += run->judge.spent[i];
    if (run->record->status == RECORD_GRADED &&
        (run->record->stages || !record_all_correct(run->record)))
        find_todo(run);
    lab_run_predictions(run);
}

static void grade_source(LabRun *run)
{
    const Grader *grader = run->grader;
    Error error;
    SessionOptions options = {.engine = run->lab->ini.host ? ENGINE_SIM : grader->engine,
                              .call_seconds = grader->call_seconds,
                              .sim_threads = grader->sim_threads,
                              .machine = grader->machine_name,
                              .gpus_directory = grader->gpus,
                              .checks = 1,
                              .warp_sync = run->lab->ini.warp_sync};
    /* Opening a GPU and compiling both take seconds. */
    ticker_say(-1, "grading %s: compiling", run->lab->name);
    programs_begin(&run->programs);
    lab_run_precompute(run);
    double start = sandbox_clock();
    int closed = session_open(&options, &run->session, &error);
    run->programs.waited += sandbox_clock() - start;
    if (closed) {
        lab_run_stop(run, RECORD_BROKEN, error.text);
        programs_wait_all(&run->programs);
        return;
    }
    programs_wait(&run->programs, SLOT_SUBMISSION);
    session_properties(run->session, &run->properties);
    if (!run->lab->ini.host)
        text_set(run->record->device, sizeof run->record->device, "%s", run->properties.name);
    grade_in_session(run);
    programs_wait_all(&run->programs);
    programs_note(&run->programs, run->record);
    run->record->spent[SPENT_BUILD] = run->programs.waited;
    const char *printed = session_printed(run->session);
    if (*printed) run->record->printed = strdup(printed);
    session_close(run->session);
}

void grade_lab_build(const Grader *grader, const Lab *lab)
{
    LabPrograms programs = {0};
    programs_find(&programs, &grader->toolchain, lab, grader->submission, grader->kind);
    if (!intake_exists(grader->submission, programs.beneath)) return;
    programs_begin(&programs);
    programs_wait_all(&programs);
    programs_clear(&programs);
}

void grade_lab(const Grader *grader, const Lab *lab, Record *record)
{
    LabRun run = {.grader = grader, .lab = lab, .record = record};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    programs_find(&run.programs, &grader->toolchain, lab, grader->submission, grader->kind);
    lab_run_start(&run);
    if (intake_exists(grader->submission, run.programs.beneath)) {
        grade_source(&run);
    } else {
        char message[700];
        text_set(message, sizeof message, "there is no %s/%s/%s to grade", grader->submission,
                 lab->name, lab->ini.source);
        lab_run_stop(&run, RECORD_MISSING, message);
    }
    precompute_end(run.precomputed);
    programs_clear(&run.programs);
    free(run.skeleton);
    intake_clean(record->message);
    intake_clean(record->source);
    record_total(record);
    clock_gettime(CLOCK_MONOTONIC, &end);
    record->seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}
