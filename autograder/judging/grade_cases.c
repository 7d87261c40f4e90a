/* grade_cases.c - the cases of a grade: judged one by one, earning their points, timed. */
#include "autograder/judging/lab_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/lab/hidden.h"
#include "autograder/lab/lab_shape.h"
#include "autograder/lab/slow.h"
#include "autograder/lab/slow_hint.h"
#include "autograder/record/case_words.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"

static void unlock_hint(LabRun *run, RecordCase *item)
{
    const char *hint = lab_fault_question(&run->lab->ini, item->fault);
    for (RecordCase *before = run->record->item; before < item; before++)
        if (!strcmp(before->fault, item->fault)) return;
    if (hint) text_set(item->hint, sizeof item->hint, "%s", hint);
}

/* Repeats a failed GPU run in the simulator, which can name the source line, on a public case in
 * the simulator's shape.  Only the first few failures are repeated; more add no information. */
static void run_simulated(LabRun *run, const Problem *problem, Random *random, RecordCase *item)
{
    int i = lab_case_find(&run->lab->ini, item->name);
    Judge judge;
    Error error;
    if (run->lab->ini.host || run->grader->engine != ENGINE_GPU || item->verdict != CASE_ERROR ||
        run->faults_simulated++ >= JUDGE_DIAGNOSES ||
        lab_run_simulator(run, run->judge.operation, &judge, &error))
        return;
    judge_simulated(&judge, i < 0 ? problem : &run->lab->ini.item[i].problem, random, item);
    session_close(judge.session);
}

/* The problem of a case and the generator of its inputs for the purpose `what` ("": the case
 * itself). -1: its shape is invalid. */
static int inputs_of(const LabRun *run, const RecordCase *item, const char *what,
                     PrecomputeCase *inputs, Error *error)
{
    char name[sizeof item->name + 32];
    text_set(name, sizeof name, "%s%s", item->name, what);
    lab_run_random(run, name, &inputs->random);
    inputs->operation = lab_shape_parse(&run->lab->ini, item->shape, &inputs->problem, error);
    return inputs->operation ? 0 : -1;
}

/* Whether a prediction needs the simulator's counters of this case. */
static int case_is_selected(const LabRun *run, const RecordCase *item)
{
    const LabIni *ini = &run->lab->ini;
    for (int i = 0; i < ini->predictions; i++)
        if (ini->prediction[i].needs_launch &&
            !strcmp(ini->item[ini->prediction[i].case_index].name, item->name))
            return 1;
    return 0;
}

/* Simulated cycles are measured with the case.  Clock times are measured after all cases are
 * correct.  Other counters are needed for a prediction, for a single case, or if all were
 * requested. */
static CasePrice case_price(const LabRun *run, const RecordCase *item)
{
    const Grader *grader = run->grader;
    if (item->speed.possible > 0 && run->speed.sim) return CASE_TIMED;
    if (item->hidden) return CASE_UNPRICED;
    return grader->counters || grader->only_case || case_is_selected(run, item) ? CASE_PRICED
                                                                                : CASE_UNPRICED;
}

/* The case's judgement: taken from the parallel session if it was correct there, else made here. */
static void run_or_take(LabRun *run, PrecomputeCase *inputs, CasePrice price, RecordCase *item)
{
    const int number = (int)(item - run->record->item);
    if (parallel_session_take(run->parallel, number, item)) return;
    double start = sandbox_clock();
    Expected *precomputed = precompute_take(run->precomputed, number);
    run->judge.spent[SPENT_JUDGING] += sandbox_clock() - start;
    judge_case(&run->judge, &inputs->problem, &inputs->random, precomputed, price, item);
    run_simulated(run, &inputs->problem, &inputs->random, item);
}

static void run_case(LabRun *run, RecordCase *item)
{
    PrecomputeCase inputs;
    Error error;
    if (inputs_of(run, item, "", &inputs, &error)) {
        item->verdict = CASE_BROKEN;
        text_set(item->text, sizeof item->text, "%s", error.text);
        return;
    }
    judge_choose(&run->judge, inputs.operation);
    const CasePrice price = case_price(run, item);
    run_or_take(run, &inputs, price, item);
    if (item->verdict != CASE_CORRECT) {
        unlock_hint(run, item);
    } else if (price == CASE_TIMED) {
        programs_wait_all(&run->programs);
        speed_measure(&run->speed, &inputs.problem, &inputs.random, item);
    }
}

/* Index of a case's fully judged window (speed_paired.c) in the precomputed list. */
static int whole_number(const Record *record, int item)
{
    return record->cases + item;
}

/* The share of the reference's speed below which a public case earns no speed points. */
static double none_below_of(const LabRun *run, const RecordCase *item)
{
    const int number = lab_case_find(&run->lab->ini, item->name);
    return number < 0 ? 0 : run->lab->ini.item[number].none_below;
}

static void time_case(LabRun *run, RecordCase *item, uint64_t counted)
{
    PrecomputeCase inputs;
    Error error;
    if (inputs_of(run, item, ", timed", &inputs, &error)) return;
    judge_choose(&run->judge, inputs.operation);
    run->speed.counted = counted;
    run->speed.none_below = none_below_of(run, item);
    run->speed.whole = precompute_take(run->precomputed,
                                       whole_number(run->record, (int)(item - run->record->item)));
    speed_measure(&run->speed, &inputs.problem, &inputs.random, item);
    expected_free(run->speed.whole);
    run->speed.whole = NULL;
}

/* Simulating a whole layer takes a second, and a diagnosis runs it several times. */
static const double LARGE_FLOPS = 1e8;

static int case_is_large(const LabRun *run, const RecordCase *item)
{
    Problem problem;
    Error error;
    const Operation *operation = lab_shape_parse(&run->lab->ini, item->shape, &problem, &error);
    return run->speed.sim && operation && operation->flops(&problem) > LARGE_FLOPS;
}

static const char STARVED[] = "Deferred, because this machine was too busy to run every case.";

/* Points that depend on several cases are left out of N if one of those cases could not be
 * judged. */
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

/* The public case of an operation with the least work, except `except`; -1: none. */
static int smallest_case(const LabRun *run, const Operation *operation, int except)
{
    const LabIni *ini = &run->lab->ini;
    int smallest = -1;
    for (int i = 0; i < ini->cases; i++)
        if (i != except && ini->item[i].operation == operation &&
            (smallest < 0 || operation->flops(lab_run_problem(run, i)) <
                                 operation->flops(lab_run_problem(run, smallest))))
            smallest = i;
    return smallest;
}

/* Tests whether the code of the lab's operation `which` keeps state from call to call, on its
 * smallest case.  Skipped if that case is not graded, so that the grade of a single case agrees
 * with the whole grade.  Every earlier case had a process of its own. */
static void run_again(LabRun *run, int which)
{
    const LabIni *ini = &run->lab->ini;
    const Operation *operation = ini->operation[which];
    int smallest = smallest_case(run, operation, -1);
    int second = smallest_case(run, operation, smallest);
    Problem other;
    Random random;
    lab_run_random(run, "called again", &random);
    judge_choose(&run->judge, operation);
    if (second >= 0)
        other = *lab_run_problem(run, second);
    else
        hidden_draw(ini, &random, which, &other);
    for (int i = 0; i < run->record->cases && smallest >= 0; i++) {
        RecordCase *item = &run->record->item[i];
        if (item->hidden || strcmp(item->name, ini->item[smallest].name)) continue;
        judge_again(&run->judge, lab_run_problem(run, smallest), &other, &random, item);
        if (item->verdict == CASE_CORRECT) continue;
        item->points = 0;
        unlock_hint(run, item);
    }
}

/* Estimated work of a case: its multiplications plus a constant per case. */
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

/* The cases in their order, except that the case that failed last time comes first. */
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

/* Precomputes the cases in their order, then each GPU window that is judged in full. */
void lab_run_precompute(LabRun *run)
{
    const Record *record = run->record;
    const int cases = record->cases, card = run->grader->engine == ENGINE_GPU;
    PrecomputeCase *list = calloc((size_t)cases * 2 + 1, sizeof *list);
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
    if (list) run->precomputed = precompute_begin(list, order, 2 * cases, run->lab->ini.precision);
    free(list);
}

/* Number of cases that may exceed a limit while no case has ended; the others are skipped.  Each
 * would cost another limit, and on a GPU a new process that opens it. */
enum { ENDLESS_CASES = 6 };

/* Reports the source phase with the largest share of the instructions that the reference does not
 * need. */
static void say_where_slow(LabRun *run, RecordCase *item)
{
    char text[200];
    const Build *build = run->programs.build;
    const SlowSide mine = {&item->cost, build[SLOT_SUBMISSION].source};
    const SlowSide other = {&item->speed.against, build[SLOT_REFERENCE].source};
    if (!mine.source || !other.source) return;
    if (slow_phase(&mine, &other, "the reference", text, sizeof text)) return;
    text_add(item->speed.text, sizeof item->speed.text, "\n- %s", text);
}

/* Sets the hint for the causes of a slow case, the most important one first. */
static void unlock_slow_hint(LabRun *run, RecordCase *item, const SlowCause *cause, int causes)
{
    const char *shown[RECORD_CASES];
    SlowHintSituation situation = {.source = run->programs.build[SLOT_SUBMISSION].source,
                                   .skeleton = lab_run_skeleton(run),
                                   .shown = shown};
    slow_hint_regions(&run->lab->ini, item->stage, &situation);
    for (const RecordCase *before = run->record->item; before < item; before++)
        if (*before->hint) shown[situation.shown_count++] = before->hint;
    const char *hint = slow_hint_choose(&run->lab->ini, cause, causes, &situation);
    if (hint) text_set(item->hint, sizeof item->hint, "%s", hint);
}

/* In plain C only instruction counts are reported, next to the measured times. */
static void say_why_slow_in_c(LabRun *run, RecordCase *item)
{
    RecordSpeed *speed = &item->speed;
    char measured[sizeof speed->text];
    text_set(measured, sizeof measured, "%s", speed->text);
    text_set(speed->text, sizeof speed->text, "%.2f times the cycles of the reference.%s%s",
             speed->student / speed->reference, *measured ? "\n" : "", measured);
    unlock_slow_hint(run, item, (SlowCause[]){SLOW_INSTRUCTIONS}, 1);
}

/* If points for speed are missing, reports which counter exceeds the reference's most, and the hint
 * for it.  On a GPU nothing is counted. */
static void say_why_slow(LabRun *run, RecordCase *item)
{
    enum { REASONS = 3 };
    RecordSpeed *speed = &item->speed;
    SlowReason reason[REASONS];
    SlowCause cause[REASONS];
    if (speed->verdict != SPEED_SCORED || speed->points >= speed->possible) return;
    if (run->judge.host) {
        say_why_slow_in_c(run, item);
        return;
    }
    if (!run->speed.sim) {
        text_add(speed->text, sizeof speed->text,
                 "%sA GPU reports no counters here: ENGINE=sim CASE=%s shows which counters exceed "
                 "the reference's, and where.",
                 *speed->text ? " " : "", item->name);
        return;
    }
    text_set(speed->text, sizeof speed->text, "%.2f times the cycles of the reference.",
             speed->student / speed->reference);
    int found = slow_find(&item->cost, &speed->against, "the reference", run->lab->ini.source,
                          reason, REASONS);
    for (int i = 0; i < found; i++) {
        text_add(speed->text, sizeof speed->text, "\n- %s", reason[i].text);
        cause[i] = reason[i].cause;
    }
    say_where_slow(run, item);
    unlock_slow_hint(run, item, cause, found);
}

/* Whether all cores except this thread's are busy now; then a second session would only cost its
 * start.  A load average would include the compilers, which have just ended. */
static int host_is_busy(void)
{
    long running = 0;
    FILE *file = fopen("/proc/loadavg", "r");
    if (file && fscanf(file, "%*f %*f %*f %ld/", &running) != 1) running = 0;
    if (file) fclose(file);
    return running > sysconf(_SC_NPROCESSORS_ONLN);
}

/* Starts the parallel session, which runs the cases from the last one backwards. */
static void parallel_cases(LabRun *run, const int *order)
{
    const Record *record = run->record;
    const int card = !run->speed.sim && !run->judge.host;
    if (card || run->grader->crowded || record->cases < 2 || host_is_busy()) return;
    ParallelCase *list = calloc((size_t)record->cases, sizeof *list);
    Error error;
    for (int i = 0; i < record->cases && list; i++) {
        list[i].item = record->item[i];
        list[i].price = case_price(run, &list[i].item);
        if (i == order[0] || inputs_of(run, &list[i].item, "", &list[i].inputs, &error))
            list[i].inputs.operation = NULL;
    }
    if (list)
        run->parallel = parallel_session_begin(&run->judge, &run->programs.build[SLOT_SUBMISSION],
                                               run->precomputed, list, order, record->cases);
}

/* The timed cases, with inputs for the purpose `what`, and their indices in the record. */
static int timed_cases(const LabRun *run, const char *what, PrecomputeCase timed[RECORD_CASES],
                       int place[RECORD_CASES])
{
    const Record *record = run->record;
    Error error;
    int count = 0;
    for (int i = 0; i < record->cases; i++) {
        if (record->item[i].speed.possible <= 0 ||
            inputs_of(run, &record->item[i], what, &timed[count], &error))
            continue;
        place[count++] = i;
    }
    return count;
}

/* Host labs: starts counting the course's own programs, which takes longest. */
static void count_parallel(LabRun *run)
{
    PrecomputeCase timed[RECORD_CASES];
    int place[RECORD_CASES];
    if (!run->judge.host || session_cannot_count()) return;
    int count = timed_cases(run, "", timed, place);
    programs_wait_all(&run->programs);
    if (count) run->counts = counts_begin_own(&run->speed, timed, count);
}

/* Counts the submission's timed cases in parallel, into `counted` by their index in the record; 0:
 * not counted here, so speed_measure counts it later on the same inputs. */
static void count_submission(LabRun *run, uint64_t counted[RECORD_CASES])
{
    PrecomputeCase timed[RECORD_CASES];
    uint64_t cycles[RECORD_CASES] = {0};
    int place[RECORD_CASES];
    double start = sandbox_clock();
    if (!run->judge.host || session_cannot_count() || run->grader->crowded || host_is_busy())
        return;
    int count = timed_cases(run, ", timed", timed, place);
    counts_end(counts_begin_submission(&run->speed, timed, count), cycles);
    for (int i = 0; i < count; i++)
        counted[place[i]] = cycles[i];
    run->judge.spent[SPENT_CALLS] += sandbox_clock() - start;
}

/* Index of a case's operation in the lab. */
static int operation_index(const LabRun *run, const RecordCase *item)
{
    const LabIni *ini = &run->lab->ini;
    Problem problem;
    Error error;
    const Operation *operation = lab_shape_parse(ini, item->shape, &problem, &error);
    for (int i = 0; i < ini->operations; i++)
        if (ini->operation[i] == operation) return i;
    return 0;
}

/* Every case is judged independently of the cases before it.  If the grade stops at a wrong case,
 * the later ones stay "not run". */
static void cases_in_order(LabRun *run, const int *order)
{
    Record *record = run->record;
    int endless[LAB_OPERATIONS] = {0}, ended[LAB_OPERATIONS] = {0};
    const char *wrong = NULL;
    parallel_cases(run, order);
    for (int i = 0; i < record->cases && !(wrong && run->grader->stop); i++) {
        RecordCase *item = &record->item[order[i]];
        const int which = operation_index(run, item);
        say_case(run, i, order);
        if (endless[which] == ENDLESS_CASES && !ended[which]) {
            text_set(item->text, sizeof item->text,
                     "not run: all %d cases before it exceeded a limit", ENDLESS_CASES);
            continue;
        }
        if (wrong && case_is_large(run, item)) {
            text_set(item->text, sizeof item->text, "large: not run until %s is correct", wrong);
            continue;
        }
        run_case(run, item);
        if (item->verdict == CASE_LIMIT)
            endless[which]++;
        else
            ended[which]++;
        if (item->verdict != CASE_CORRECT && !wrong) wrong = item->name;
        if (i == 0 && !wrong) count_parallel(run);
        if (item->verdict == CASE_CORRECT) lab_run_simulate_start(run, item);
    }
    parallel_session_end(run->parallel, &run->judge);
    for (int i = 0; i < record->cases && wrong && run->grader->stop; i++)
        if (record->item[i].verdict == CASE_NOT_RUN)
            text_set(record->item[i].text, sizeof record->item[i].text,
                     "not run until %s is correct", wrong);
}

/* The hidden cases share one set of points: all of them must be correct to earn it. */
static void cases_earn(Record *record)
{
    int hidden_right = 1;
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].hidden) hidden_right &= record->item[i].verdict == CASE_CORRECT;
    for (int i = 0; i < record->cases; i++) {
        RecordCase *item = &record->item[i];
        if (item->verdict == CASE_CORRECT && (!item->hidden || hidden_right))
            item->points = item->possible;
    }
}

/* In a part of which nothing is written, a kernel of an earlier part was timed.  It may be fast
 * enough for points, although they are for what the part teaches.  Returns whether points are
 * withheld: then the case gets no hint, which would be about a later part than the next one. */
static int withhold_speed(Record *record, RecordCase *item)
{
    const RecordStage *part = item->stage ? &record->stage[item->stage - 1] : NULL;
    if (!part || part->written || item->speed.verdict != SPEED_SCORED) return 0;
    item->speed.points = 0;
    text_set(item->speed.text, sizeof item->speed.text,
             "Speed counts when part %s is written: until then a kernel of another part is timed.",
             part->name);
    return 1;
}

/* Simulated speed was measured with its case.  Clock times are measured now, while no other work
 * runs. */
static void cases_speed(LabRun *run)
{
    Record *record = run->record;
    int all = record_all_correct(record);
    uint64_t counted[RECORD_CASES] = {0};
    counts_end(run->counts, NULL);
    precompute_stop(run->precomputed);
    lab_run_simulate_end(run);
    programs_wait_all(&run->programs);
    measured_ceilings_release(run->grader->ceilings);
    if (all) count_submission(run, counted);
    for (int i = 0; i < record->cases && all && !run->speed.sim; i++)
        if (record->item[i].speed.possible > 0) time_case(run, &record->item[i], counted[i]);
    all = record_all_correct(record); /* timed runs were judged again */
    for (int i = 0; i < record->cases; i++)
        if (record->item[i].speed.possible > 0)
            speed_score(&record->item[i].speed, run->lab->ini.slack,
                        none_below_of(run, &record->item[i]), run->speed.sim || run->judge.host,
                        all);
    for (int i = 0; i < record->cases; i++)
        if (!withhold_speed(record, &record->item[i])) say_why_slow(run, &record->item[i]);
}

void lab_run_cases(LabRun *run)
{
    Record *record = run->record;
    int order[RECORD_CASES];
    cases_order(run, order);
    cases_in_order(run, order);
    cases_earn(record);
    for (int i = 0; i < run->lab->ini.operations && record_all_correct(record); i++)
        run_again(run, i);
    RecordCase *first = record->item;
    const int ignores_stream =
        record->cases && !run->judge.host && case_ignores_stream(run->judge.habits, first);
    if (ignores_stream) {
        unlock_hint(run, first);
        first->points = 0;
    }
    if (record->cases && (ignores_stream || first->verdict == CASE_CORRECT))
        case_habits(run->judge.habits, first->text, sizeof first->text);
    cases_speed(run);
    leave_out_starved(record);
}
