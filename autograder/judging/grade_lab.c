#include "autograder/judging/grade_lab.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/lab/hidden.h"
#include "autograder/lab/lab_shape.h"
#include "autograder/lab/predict.h"
#include "autograder/lab/slow.h"
#include "autograder/judging/beside.h"
#include "autograder/judging/lab_programs.h"
#include "autograder/record/case_words.h"
#include "autograder/record/score.h"
#include "autograder/judging/speed.h"
#include "autograder/judging/speed_counted.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "autograder/lab/todo.h"
#include "common/base/intake.h"

typedef struct LabRun LabRun;

/* On a GPU: what a case costs on the simulator, for predictions. */
typedef struct Simulated {
    const LabRun *run;
    const LabCase *item;
    pthread_t thread;
    int begun, threaded, failed;
    DeviceCost cost;
    Error error;
} Simulated;

struct LabRun {
    const Grader *grader;
    const Lab *lab;
    Record *record;
    Session *session;
    DeviceProperties properties;
    LabPrograms programs;
    Ahead *ahead;
    Beside *beside;
    OwnCounts *counts; /* of a host lab */
    Simulated simulated[LAB_CASES];
    int faults_simulated;
    Judge judge;
    SpeedSetup speed;
};

/* ---- what the record says before anything ran --------------------------------------------- */

static int case_selected(const LabRun *run, const char *name)
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

static const Problem *case_problem(const LabRun *run, int i)
{
    const LabCase *item = &run->lab->ini.item[i];
    return run->grader->engine == ENGINE_SIM || run->lab->ini.host ? &item->problem
                                                                   : &item->problem_gpu;
}

/* The generator for `what` of this lab: the same for the same seed, whatever else was drawn. */
static void run_random(const LabRun *run, const char *what, Random *random)
{
    Random grade, lab;
    random_seed(&grade, run->grader->seed);
    random_child(&grade, run->lab->name, &lab);
    random_child(&lab, what, random);
}

/* Every case and prediction with what it could earn. */
static void record_plan(LabRun *run)
{
    const LabIni *ini = &run->lab->ini;
    Record *record = run->record;
    double share = score_share(ini->points_correct, ini->cases, ini->hidden_count);
    for (int i = 0; i < ini->cases; i++) {
        const LabCase *from = &ini->item[i];
        if (!case_selected(run, from->name)) continue;
        RecordCase *item =
            record_add_case(run, from->name, from->about, from->operation, case_problem(run, i));
        item->possible = share;
        if (!from->timed || ini->points_speed <= 0) continue;
        item->speed.possible = ini->points_speed / ini->timed_cases;
        item->speed.verdict = SPEED_NOT_CORRECT;
        text_set(item->speed.text, sizeof item->speed.text,
                 "Speed counts once every case is right.");
    }
    for (int i = 0; i < ini->hidden_count && case_selected(run, "hidden"); i++) {
        Random random;
        Problem problem = {0};
        char name[48], shape[64];
        text_set(name, sizeof name, "hidden %d", i + 1);
        text_set(shape, sizeof shape, "the shape of %s", name);
        run_random(run, shape, &random);
        const Operation *operation = hidden_draw(ini, &random, i, &problem);
        RecordCase *item = record_add_case(run, name, "drawn fresh", operation, &problem);
        item->hidden = 1;
        /* One share for the whole set: the last case carries it. */
        item->possible = i + 1 == ini->hidden_count ? share : 0;
    }
    for (int i = 0; i < ini->predictions; i++) {
        const LabPrediction *from = &ini->prediction[i];
        if (!case_selected(run, ini->item[from->case_index].name)) continue;
        RecordPrediction *to = &record->prediction[record->predictions++];
        text_set(to->name, sizeof to->name, "%s", from->name);
        text_set(to->question, sizeof to->question, "%s", from->question);
        to->possible = from->points;
    }
}

static void record_start(LabRun *run)
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

/* Ends grading with a status; what could not be run stays "not run". */
static void record_stop(LabRun *run, RecordStatus status, const char *message)
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

/* ---- the answers -------------------------------------------------------------------------- */

/* What predict.ini beside the source says, into the record's predictions. */
static void predictions_read(LabRun *run)
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
        if (answer) to->answer = *answer;
        if (trouble || !answer)
            text_set(to->text, sizeof to->text, "%.190s", trouble ? trouble : RECORD_NO_ANSWER);
    }
}

/* ---- needs -------------------------------------------------------------------------------- */

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

/* ---- cases -------------------------------------------------------------------------------- */

static void unlock_hint(LabRun *run, RecordCase *item)
{
    const char *hint = lab_fault_hint(&run->lab->ini, item->fault);
    for (RecordCase *before = run->record->item; before < item; before++)
        if (!strcmp(before->fault, item->fault)) return;
    if (hint) text_set(item->hint, sizeof item->hint, "%s", hint);
}

/* The submission on the simulator, where a card is graded on; the session is the caller's to
 * close. */
static int simulator_open(const LabRun *run, const Operation *operation, Judge *judge, Error *error)
{
    const Grader *grader = run->grader;
    SessionOptions options = {.engine = ENGINE_SIM,
                              .machine = grader->machine_name,
                              .gpus_directory = grader->gpus,
                              .checks = 1};
    *judge = (Judge){.operation = operation,
                     .precision = run->lab->ini.precision,
                     .algorithm = run->lab->ini.algorithm};
    if (session_open(&options, &judge->session, error)) return -1;
    if (!session_start_runner(judge->session, 0, &run->programs.build[0], error)) return 0;
    session_close(judge->session);
    return -1;
}

/* What failed on a card, which names no line, is run once more where lines are known: a public case
 * in the simulator's shape.  The first few of them: after these the answer is known. */
static void run_simulated(LabRun *run, const Problem *problem, Random *random, RecordCase *item)
{
    int i = lab_case_find(&run->lab->ini, item->name);
    Judge judge;
    Error error;
    if (run->lab->ini.host || run->grader->engine != ENGINE_GPU || item->verdict != CASE_ERROR ||
        run->faults_simulated++ >= JUDGE_DIAGNOSES ||
        simulator_open(run, run->judge.operation, &judge, &error))
        return;
    judge_simulated(&judge, i < 0 ? problem : &run->lab->ini.item[i].problem, random, item);
    session_close(judge.session);
}

/* What a case runs, and the generator of its inputs for `what` of it, "": the case itself.  -1: its
 * shape is none. */
static int inputs_of(const LabRun *run, const RecordCase *item, const char *what, AheadCase *inputs,
                     Error *error)
{
    char name[sizeof item->name + 32];
    text_set(name, sizeof name, "%s%s", item->name, what);
    run_random(run, name, &inputs->random);
    inputs->operation = lab_shape_parse(&run->lab->ini, item->shape, &inputs->problem, error);
    return inputs->operation ? 0 : -1;
}

static void run_case(LabRun *run, RecordCase *item)
{
    AheadCase inputs;
    Error error;
    if (inputs_of(run, item, "", &inputs, &error)) {
        item->verdict = CASE_BROKEN;
        text_set(item->text, sizeof item->text, "%s", error.text);
        return;
    }
    judge_choose(&run->judge, inputs.operation);
    /* Exact, so at once; clocks wait until all cases are right. */
    int timed = item->speed.possible > 0 && run->speed.sim;
    Random *random = &inputs.random;
    const int number = (int)(item - run->record->item);
    if (beside_take(run->beside, number, item)) return;
    double start = sandbox_clock();
    Expected *ahead = ahead_take(run->ahead, number);
    run->judge.spent[SPENT_JUDGING] += sandbox_clock() - start;
    judge_case(&run->judge, &inputs.problem, random, ahead, timed, item);
    run_simulated(run, &inputs.problem, random, item);
    if (item->verdict != CASE_CORRECT) {
        unlock_hint(run, item);
    } else if (timed) {
        programs_wait_all(&run->programs);
        speed_measure(&run->speed, &inputs.problem, random, item);
    }
}

/* The place of a case's whole window (speed_paired.c) among what is made ahead. */
static int whole_number(const Record *record, int item)
{
    return record->cases + item;
}

static void time_case(LabRun *run, RecordCase *item)
{
    AheadCase inputs;
    Error error;
    if (inputs_of(run, item, ", timed", &inputs, &error)) return;
    judge_choose(&run->judge, inputs.operation);
    run->speed.whole =
        ahead_take(run->ahead, whole_number(run->record, (int)(item - run->record->item)));
    speed_measure(&run->speed, &inputs.problem, &inputs.random, item);
    expected_free(run->speed.whole);
    run->speed.whole = NULL;
}

/* A whole layer takes the simulator a second, and a diagnosis runs it several times. */
static const double LARGE_FLOPS = 1e8;

static int case_is_large(const LabRun *run, const RecordCase *item)
{
    Problem problem;
    Error error;
    const Operation *operation = lab_shape_parse(&run->lab->ini, item->shape, &problem, &error);
    return run->speed.sim && operation && operation->flops(&problem) > LARGE_FLOPS;
}

static const char STARVED[] = "Deferred, because this machine was too busy to run every case.";

/* Points that hang on several cases are left out of N where one of those could not be judged. */
static void leave_out_starved(Record *record)
{
    int starved = 0, hidden_starved = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (item->verdict != CASE_CORRECT && !case_is_left_out(item->verdict)) return;
        starved |= item->verdict == CASE_DEFERRED;
        hidden_starved |= item->hidden && item->verdict == CASE_DEFERRED;
    }
    for (int i = 0; i < record->cases && starved; i++) {
        RecordCase *item = &record->item[i];
        if (item->hidden && hidden_starved && item->possible > 0) item->verdict = CASE_DEFERRED;
        if (item->speed.possible <= 0) continue;
        item->speed.verdict = SPEED_DEFERRED;
        text_set(item->speed.text, sizeof item->speed.text, "%s", STARVED);
    }
}

/* The public case of least work of an operation, but for `except`; -1: none.  `graded`: of those
 * that are. */
static int smallest_case(const LabRun *run, const Operation *operation, int except, int graded)
{
    const LabIni *ini = &run->lab->ini;
    int smallest = -1;
    for (int i = 0; i < ini->cases; i++)
        if (i != except && ini->item[i].operation == operation &&
            (!graded || case_selected(run, ini->item[i].name)) &&
            (smallest < 0 || operation->flops(case_problem(run, i)) <
                                 operation->flops(case_problem(run, smallest))))
            smallest = i;
    return smallest;
}

/* Whether the code of the lab's operation number `which` keeps from call to call what it must not:
 * on its smallest case, where that is among those that are graded.  Every case so far had a process
 * of its own. */
static void run_again(LabRun *run, int which)
{
    const LabIni *ini = &run->lab->ini;
    const Operation *operation = ini->operation[which];
    int smallest = smallest_case(run, operation, -1, 1);
    int second = smallest_case(run, operation, smallest, 0);
    Problem other;
    Random random;
    run_random(run, "called again", &random);
    judge_choose(&run->judge, operation);
    if (second >= 0)
        other = *case_problem(run, second);
    else
        hidden_draw(ini, &random, which, &other);
    for (int i = 0; i < run->record->cases && smallest >= 0; i++) {
        RecordCase *item = &run->record->item[i];
        if (item->hidden || strcmp(item->name, ini->item[smallest].name)) continue;
        judge_again(&run->judge, case_problem(run, smallest), &other, &random, item);
        if (item->verdict == CASE_CORRECT) continue;
        item->points = 0;
        unlock_hint(run, item);
    }
}

/* ---- what predictions want to know of the simulator ----------------------------------------- */

static const LabPrediction *prediction_of(const LabIni *ini, const char *name)
{
    for (int i = 0; i < ini->predictions; i++)
        if (!strcmp(ini->prediction[i].name, name)) return &ini->prediction[i];
    return NULL;
}

static void *simulate_case(void *context)
{
    Simulated *simulated = context;
    const LabRun *run = simulated->run;
    const LabCase *item = simulated->item;
    Judge judge;
    Random random;
    RecordCase scratch = {0};
    simulated->failed = simulator_open(run, item->operation, &judge, &simulated->error);
    if (simulated->failed) return NULL;
    run_random(run, item->name, &random);
    judge_case(&judge, &item->problem, &random, NULL, 0, &scratch);
    session_close(judge.session);
    simulated->cost = scratch.cost;
    if (scratch.verdict != CASE_CORRECT)
        simulated->failed = error_set(&simulated->error, "on the simulator: %.900s", scratch.text);
    return NULL;
}

/* Begins to simulate a case, unless that has begun before. */
static void simulate_begin(LabRun *run, int item)
{
    Simulated *simulated = &run->simulated[item];
    if (simulated->begun) return;
    *simulated = (Simulated){.run = run, .item = &run->lab->ini.item[item], .begun = 1};
    simulated->threaded = !pthread_create(&simulated->thread, NULL, simulate_case, simulated);
    if (!simulated->threaded) simulate_case(simulated);
}

/* Waits until it is simulated. */
static void simulate_end(LabRun *run, Simulated *simulated)
{
    double start = sandbox_clock();
    if (simulated->threaded) pthread_join(simulated->thread, NULL);
    simulated->threaded = 0;
    run->record->spent[SPENT_SIMULATING] += sandbox_clock() - start;
}

/* A case is right on the card: what predictions ask about it is simulated beside the next cases. */
static void simulate_beside(LabRun *run, const RecordCase *item)
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

static void simulate_end_all(LabRun *run)
{
    for (int i = 0; i < LAB_CASES; i++)
        simulate_end(run, &run->simulated[i]);
}

/* What a case takes, as its products and what every case takes besides. */
static double case_work(const LabRun *run, const RecordCase *item)
{
    static const double ANY_CASE = 5e6;
    Problem problem;
    Error error;
    const Operation *operation = lab_shape_parse(&run->lab->ini, item->shape, &problem, &error);
    return ANY_CASE + (operation ? operation->flops(&problem) : 0);
}

static void say_case(const LabRun *run, int number, const int *order)
{
    const Record *record = run->record;
    double done = 0, all = 0;
    for (int i = 0; i < record->cases; i++) {
        double work = case_work(run, &record->item[order[i]]);
        all += work;
        if (i < number) done += work;
    }
    ticker_say(all > 0 ? done / all : -1, "grading %s: case %d of %d, %s", record->lab, number + 1,
               record->cases, record->item[order[number]].name);
}

/* The cases as they stand, but first the one that was wrong last time. */
static void cases_order(const LabRun *run, int order[RECORD_CASES])
{
    const Record *record = run->record;
    int used = 0, first = -1;
    for (int i = 0; i < record->cases && *run->grader->first_case; i++)
        if (!strcmp(record->item[i].name, run->grader->first_case)) first = i;
    if (first >= 0) order[used++] = first;
    for (int i = 0; i < record->cases; i++)
        if (i != first) order[used++] = i;
}

/* From now on inputs are drawn, and what is right is computed, beside the compilers: of the cases
 * in their order, and then of each window of a card's that is judged whole. */
static void ahead_of_cases(LabRun *run)
{
    const Record *record = run->record;
    const int cases = record->cases, card = run->grader->engine == ENGINE_GPU;
    AheadCase *list = calloc((size_t)cases * 2 + 1, sizeof *list);
    int order[2 * RECORD_CASES];
    Error error;
    cases_order(run, order);
    for (int i = 0; i < cases && list; i++) {
        const RecordCase *item = &record->item[i];
        order[cases + i] = whole_number(record, i);
        inputs_of(run, item, "", &list[i], &error);
        if (card && !run->lab->ini.host && item->speed.possible > 0)
            inputs_of(run, item, ", a whole window", &list[whole_number(record, i)], &error);
    }
    if (list) run->ahead = ahead_begin(list, order, 2 * cases, run->lab->ini.precision);
    free(list);
}

/* So many cases that all meet a limit speak for the rest, where no case has ended: each of those
 * would cost a limit more, and on a card a new process that opens it. */
enum { ENDLESS_CASES = 6 };

/* Where points for speed are missing: what the simulator counted more of than in the reference, and
 * the hint that goes with the most of it, unless a case before has it. */
static void say_why_slow(LabRun *run, RecordCase *item)
{
    enum { REASONS = 3 };
    RecordSpeed *speed = &item->speed;
    SlowReason reason[REASONS];
    if (speed->verdict != SPEED_SCORED || speed->points >= speed->possible) return;
    text_set(speed->text, sizeof speed->text, "%.2f times the cycles of the reference.",
             speed->student / speed->reference);
    int found = slow_find(&item->cost, &speed->against, "the reference", run->lab->ini.source,
                          reason, REASONS);
    const char *hint = NULL;
    for (int i = 0; i < found; i++) {
        text_add(speed->text, sizeof speed->text, "\n- %s", reason[i].text);
        if (!hint) hint = lab_slow_hint(&run->lab->ini, slow_name(reason[i].cause));
    }
    for (const RecordCase *before = run->record->item; hint && before < item; before++)
        if (!strcmp(before->hint, hint)) return;
    if (hint) text_set(item->hint, sizeof item->hint, "%s", hint);
}

/* Whether this machine has cores to spare: a second session on busy ones only costs its start. */
static int machine_is_busy(void)
{
    double load;
    return getloadavg(&load, 1) == 1 && load >= (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The first case is right: so others are run beside, but for those that are timed. */
static void beside_cases(LabRun *run, const int *order)
{
    const Record *record = run->record;
    if (!run->speed.sim || run->grader->crowded || record->cases < 3 || machine_is_busy()) return;
    BesideCase *list = calloc((size_t)record->cases, sizeof *list);
    Error error;
    for (int i = 0; i < record->cases && list; i++) {
        list[i].item = record->item[i];
        if (i == order[0] || list[i].item.speed.possible > 0 ||
            inputs_of(run, &list[i].item, "", &list[i].inputs, &error))
            list[i].inputs.operation = NULL;
    }
    if (list)
        run->beside = beside_begin(&run->judge, &run->programs.build[SLOT_SUBMISSION], run->ahead,
                                   list, order, record->cases);
}

/* And of a host lab the workbook's own programs are counted, which takes longest of all. */
static void count_beside(LabRun *run)
{
    const Record *record = run->record;
    AheadCase timed[RECORD_CASES];
    Error error;
    int count = 0;
    if (!run->judge.host || session_cannot_count()) return;
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].speed.possible > 0 &&
            !inputs_of(run, &record->item[i], "", &timed[count], &error))
            count++;
    programs_wait_all(&run->programs);
    if (count) run->counts = own_counts_begin(&run->speed, timed, count);
}

/* Every case has its own judgement, whatever became of those before it; where the grade stops at a
 * wrong one, those behind it stay not run. */
static void run_cases(LabRun *run)
{
    Record *record = run->record;
    int hidden_right = 1, endless = 0, ended = 0, order[RECORD_CASES];
    const char *wrong = NULL;
    cases_order(run, order);
    for (int i = 0; i < record->cases && !(wrong && run->grader->stop); i++) {
        RecordCase *item = &record->item[order[i]];
        say_case(run, i, order);
        if (endless == ENDLESS_CASES && !ended) {
            text_set(item->text, sizeof item->text, "not run: all %d cases before it met a limit",
                     ENDLESS_CASES);
        } else if (wrong && case_is_large(run, item)) {
            text_set(item->text, sizeof item->text, "large: not run until %s is right", wrong);
        } else {
            run_case(run, item);
            if (item->verdict == CASE_LIMIT)
                endless++;
            else
                ended++;
            if (item->verdict != CASE_CORRECT && !wrong) wrong = item->name;
            if (i == 0 && !wrong) {
                beside_cases(run, order);
                count_beside(run);
            }
            if (item->verdict == CASE_CORRECT) simulate_beside(run, item);
        }
    }
    beside_end(run->beside, &run->judge);
    for (int i = 0; i < record->cases && wrong && run->grader->stop; i++)
        if (record->item[i].verdict == CASE_NOT_RUN)
            text_set(record->item[i].text, sizeof record->item[i].text, "not run until %s is right",
                     wrong);
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].hidden) hidden_right &= record->item[i].verdict == CASE_CORRECT;
    for (int i = 0; i < record->cases; i++) {
        RecordCase *item = &record->item[i];
        if (item->verdict == CASE_CORRECT && (!item->hidden || hidden_right))
            item->points = item->possible;
    }
    for (int i = 0; i < run->lab->ini.operations && record_all_correct(record); i++)
        run_again(run, i);
    RecordCase *first = record->item;
    if (record->cases && first->verdict == CASE_CORRECT)
        case_habits(run->judge.habits, first->text, sizeof first->text);
    int all = record_all_correct(record);
    /* Nobody else is at work when a card, or a processor, is timed. */
    own_counts_end(run->counts);
    ahead_stop(run->ahead);
    simulate_end_all(run);
    programs_wait_all(&run->programs);
    card_ceilings_leave(run->grader->ceilings);
    for (int i = 0; i < record->cases && all && !run->speed.sim; i++)
        if (record->item[i].speed.possible > 0) time_case(run, &record->item[i]);
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].speed.possible > 0)
            speed_score(&record->item[i].speed, run->lab->ini.slack,
                        run->speed.sim || run->judge.host, all);
    for (int i = 0; i < record->cases && run->speed.sim; i++)
        say_why_slow(run, &record->item[i]);
    leave_out_starved(record);
}

/* ---- predictions -------------------------------------------------------------------------- */

/* The cost of a case on the simulator: known already when grading there. */
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
        text_set(to->text, sizeof to->text, "Counts once case %s is right.", item->name);
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
    to->measured = 1;
    to->points = to->possible * predict_part(to->answer, to->truth, from->tolerance);
}

static void run_predictions(LabRun *run)
{
    Record *record = run->record;
    for (int i = 0; i < record->predictions; i++)
        if (record->prediction[i].answered)
            score_prediction(run, prediction_of(&run->lab->ini, record->prediction[i].name),
                             &record->prediction[i]);
}

/* ---- what to do first --------------------------------------------------------------------- */

static void find_todo(LabRun *run)
{
    char path[1024];
    TodoList mine, theirs;
    text_set(path, sizeof path, "%s/autograder/tests/skeletons/%s/%s", run->grader->root,
             run->lab->name, run->lab->ini.source);
    const char *source = run->programs.source;
    const char *text = run->programs.build[SLOT_SUBMISSION].source;
    char *pristine = file_text(path, NULL);
    if (text && pristine && !todo_scan(source, text, &mine, NULL) &&
        !todo_scan(path, pristine, &theirs, NULL)) {
        const char *hint = lab_stage_hint(&run->lab->ini, 1);
        const TodoRegion *open = todo_first_open(text, &mine, pristine, &theirs, hint ? hint : "");
        size_t root = strlen(run->grader->root);
        int inside = !strncmp(source, run->grader->root, root) && source[root] == '/';
        if (open)
            text_set(run->record->todo, sizeof run->record->todo, "%.150s:%d: TODO(%d): %.200s",
                     inside ? source + root + 1 : source, open->line, open->number, open->sentence);
    }
    free(pristine);
    intake_clean(run->record->todo);
}

/* ---- the whole ---------------------------------------------------------------------------- */

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
    if (!ini->host) run->speed.ceilings = card_ceilings_wait(run->grader->ceilings);
    for (int i = 0; i < SESSION_RUNNERS; i++)
        run->speed.build[i] = &run->programs.build[i];
    run->speed.started[SLOT_SUBMISSION] = 1;
}

/* Where the answer key does not build either, and by itself, the house is at fault. */
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
        text_set(message, sizeof message, "the answer key does not build here either: %s",
                 run->programs.build[SLOT_REFERENCE].message);
    }
    record_stop(run, status, message);
}

static void grade_in_session(LabRun *run)
{
    char cache[600];
    Error error;
    Build *build = &run->programs.build[SLOT_SUBMISSION];
    const LabNeed *need = unmet_need(run);
    if (need) {
        char message[256];
        text_set(message, sizeof message, "needs %s; here is %s (cc %u.%u)", need->text,
                 run->properties.name, run->properties.cc_major, run->properties.cc_minor);
        record_stop(run, RECORD_DEFERRED, message);
        return;
    }
    if (build->status != BUILD_OK) {
        stop_unbuilt(run, build);
        return;
    }
    if (session_start_runner(run->session, SLOT_SUBMISSION, build, &error)) {
        record_stop(run, RECORD_BROKEN, error.text);
        return;
    }
    judge_start(run);
    text_set(cache, sizeof cache, "%s/cache/cycles", run->grader->build);
    run->speed.cache = cache;
    predictions_read(run);
    run_cases(run);
    for (int i = 0; i < SPENT_KINDS; i++)
        run->record->spent[i] += run->judge.spent[i];
    run_predictions(run);
}

static void grade_source(LabRun *run)
{
    const Grader *grader = run->grader;
    Error error;
    SessionOptions options = {.engine = run->lab->ini.host ? ENGINE_SIM : grader->engine,
                              .call_seconds = grader->call_seconds,
                              .machine = grader->machine_name,
                              .gpus_directory = grader->gpus,
                              .checks = 1};
    /* A card takes its time to open, and so do compilers. */
    ticker_say(-1, "grading %s: compiling", run->lab->name);
    programs_begin(&run->programs);
    ahead_of_cases(run);
    double start = sandbox_clock();
    int closed = session_open(&options, &run->session, &error);
    run->programs.waited += sandbox_clock() - start;
    if (closed) {
        record_stop(run, RECORD_BROKEN, error.text);
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
    record_start(&run);
    if (intake_exists(grader->submission, run.programs.beneath)) {
        grade_source(&run);
    } else {
        char message[700];
        text_set(message, sizeof message, "there is no %s/%s/%s to grade", grader->submission,
                 lab->name, lab->ini.source);
        record_stop(&run, RECORD_MISSING, message);
    }
    if (record->status == RECORD_GRADED && !record_all_correct(record)) find_todo(&run);
    ahead_end(run.ahead);
    programs_clear(&run.programs);
    intake_clean(record->message);
    intake_clean(record->source);
    record_total(record);
    clock_gettime(CLOCK_MONOTONIC, &end);
    record->seconds =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}
