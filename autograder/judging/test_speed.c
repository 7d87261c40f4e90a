#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/judging/cycle_cache.h"
#include "autograder/judging/judge.h"
#include "autograder/judging/speed.h"
#include "autograder/judging/speed_counted.h"
#include "common/operations/conv/conv_problem.h"
#include "common/operations/catalog/operations.h"

/* A fake session: every program computes the oracle's outputs, in cycles or seconds that the test
 * sets. */
static struct {
    uint64_t cycles[SESSION_RUNNERS];
    double seconds[SESSION_RUNNERS];
    int calls[SESSION_RUNNERS], replays[SESSION_RUNNERS];
    int searched, priced; /* number of calls with search, number of calls with cost */
    int counted[SESSION_RUNNERS], can_count, opens; /* parallel session: counts by slot, whether
                                                     * counting works, number of sessions */
    int wrong_replay;                               /* the submission's replay with a wrong
                                                     * output */
    int process_calls, wrong_call; /* calls of the submission since its process started; the wrong
                                    * one (1, 2, ...) */
    int next_fails;                /* Boolean: a living process rejects another problem */
    int wrong_channels;            /* number of channels for which every call is wrong */
    unsigned shared;               /* a bit mask of the slots called since the problem started */
    int crowded;                   /* number of replays on a device on which other slots were
                                    * called */
    RunStatus status;              /* status of the submission's runs */
    const char *message;           /* the submission's message; NULL: a default */
    const Operation *operation;
    Problem problem;
    /* Factor of the time of every second window; for slot 1 of two of four, for slot 2 of four of
     * eight. */
    double wavers[SESSION_RUNNERS];
    double first; /* factor of the first of several runs; 0: no factor */
    uint32_t noise;
} fake;

int session_open(const SessionOptions *options, Session **session, Error *error)
{
    static char nothing;
    (void)options;
    *session = (Session *)&nothing;
    return fake.opens ? 0 : error_set(error, "no");
}
int session_open_parallel(const Session *session, Session **parallel, Error *error)
{
    return session_open((const void *)session, parallel, error);
}
void session_close(Session *session)
{
    (void)session;
}
void session_properties(const Session *session, DeviceProperties *properties)
{
    (void)session, (void)properties;
}
int session_start_runner(Session *session, int slot, const Build *build, Error *error)
{
    (void)session, (void)slot, (void)build, (void)error;
    return 0;
}
int session_set_problem(Session *session, const Operation *operation, const Problem *problem,
                        int host, Error *error)
{
    (void)session, (void)host, (void)error;
    fake.operation = operation;
    fake.problem = *problem;
    fake.shared = 0;
    fake.process_calls = 0;
    return 0;
}

int session_next_problem(Session *session, const Problem *problem, Error *error)
{
    (void)session;
    fake.problem = *problem;
    return fake.next_fails ? error_set(error, "no next problem") : 0;
}

static void compute(const float *const *tensor, float *output)
{
    TensorShape shape[OPERATION_TENSORS];
    fake.operation->tensors(&fake.problem, shape);
    size_t count = tensor_count(&shape[2]);
    double *expected = malloc(count * sizeof *expected),
           *magnitude = malloc(count * sizeof *magnitude);
    double *terms = malloc(count * sizeof *terms);
    fake.operation->oracle(&fake.problem, tensor, expected, magnitude, terms);
    for (size_t i = 0; i < count; i++)
        output[i] = (float)expected[i];
    free(expected);
    free(magnitude);
    free(terms);
}

static void answer(int slot, const float *const *tensor, float *output, Observed *observed,
                   RunOutcome *outcome)
{
    *observed = (Observed){.output = output};
    *outcome = (RunOutcome){.status = slot ? RUN_OK : fake.status};
    snprintf(outcome->message, sizeof outcome->message, "%s",
             fake.message ? fake.message : "made up");
    outcome->cost.cycles = fake.cycles[slot];
    fake.noise = fake.noise * 1664525 + 1013904223;
    outcome->cost.seconds = fake.seconds[slot] * (1 + 1e-3 * (double)(fake.noise >> 16) / 65536);
    if (fake.wavers[slot] > 0 && fake.replays[slot] >> slot & 1)
        outcome->cost.seconds *= fake.wavers[slot];
    outcome->cost.first = outcome->cost.seconds * (fake.first > 0 ? fake.first : 1);
    outcome->cpu_seconds = outcome->cost.seconds;
    if (output) compute(tensor, output);
}

void session_call(Session *session, int slot, const float *const *tensor, float *output,
                  Observed *observed, RunOutcome *outcome)
{
    fake.priced++;
    session_search(session, slot, tensor, output, observed, outcome);
}

void session_search(Session *session, int slot, const float *const *tensor, float *output,
                    Observed *observed, RunOutcome *outcome)
{
    fake.searched++;
    session_probe(session, slot, tensor, output, observed, outcome);
}

void session_probe(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome)
{
    (void)session;
    fake.calls[slot]++;
    fake.shared |= 1u << slot;
    answer(slot, tensor, output, observed, outcome);
    if (slot) return;
    ConvProblem conv;
    memcpy(&conv, fake.problem.data, sizeof conv);
    if (++fake.process_calls == fake.wrong_call || conv.C == fake.wrong_channels) output[3] += 1e9f;
}

void session_replay(Session *session, int slot, int repeats, const float *const *tensor,
                    float *output, Observed *observed, RunOutcome *outcome)
{
    (void)session, (void)repeats;
    fake.replays[slot]++;
    fake.crowded += (fake.shared & ~(1u << slot)) != 0;
    answer(slot, tensor, output, observed, outcome);
    if (!slot && output && fake.wrong_replay) output[3] += 1e9f;
}

const char *session_cannot_count(void)
{
    return fake.can_count ? NULL : "there is no counter";
}
uint64_t run_count_cycles(const RunCount *count)
{
    return count->instructions;
}
void session_count(Session *session, int slot, const float *const *tensor, float *output,
                   Observed *observed, RunOutcome *outcome, RunCount *count)
{
    (void)session;
    fake.counted[slot]++;
    answer(slot, tensor, output, observed, outcome);
    *count = (RunCount){.instructions = fake.cycles[slot]};
    if (!slot && fake.wrong_replay) output[3] += 1e9f;
}

/* ---- set-up of every test ---- */

static Judge judge;
static Build build[SESSION_RUNNERS];
static SimtMachine machine = {.name = "small", .sms = 1, .fp32_lanes = 1, .l2_bytes_per_cycle = 32};
static char cache[] = "/tmp/convlab-speed-XXXXXX";

static SpeedSetup begin(int sim)
{
    memset(&fake, 0, sizeof fake);
    memset(build, 0, sizeof build);
    Error error;
    judge = (Judge){.operation = operation_find("conv_forward")};
    assert_int_equal(judge.operation->parse("N=1 C=1 H=6 W=6 K=1 R=3 S=3 pad=valid stride=1",
                                            &fake.problem, &error),
                     0);
    fake.operation = judge.operation;
    SpeedSetup setup = {.judge = &judge,
                        .sim = sim,
                        .machine = &machine,
                        .cache = cache,
                        .slack = 1.2,
                        .started = {1, 0, 0}};
    for (int i = 0; i < SESSION_RUNNERS; i++) {
        setup.build[i] = &build[i];
        snprintf(build[i].digest, sizeof build[i].digest, "%s-%d", __func__, i);
        fake.cycles[i] = 100000;
        fake.seconds[i] = 0.01;
    }
    return setup;
}

static RecordCase measure(SpeedSetup *setup)
{
    static Random random;
    Problem problem = fake.problem;
    RecordCase item = {.verdict = CASE_CORRECT, .points = 3};
    random_seed(&random, 1);
    item.speed.possible = 10;
    if (setup->sim) judge_case(&judge, &problem, &random, NULL, CASE_TIMED, &item);
    if (item.verdict == CASE_CORRECT) speed_measure(setup, &problem, &random, &item);
    return item;
}

static void cycles_become_points(void **state)
{
    (void)state;
    SpeedSetup setup = begin(1);
    fake.cycles[SLOT_BASELINE] = 480000;
    fake.cycles[SLOT_SUBMISSION] = 240000;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_float_equal(item.speed.s, 2, 0);
    assert_float_equal(item.speed.s_ref, 4.8, 1e-12);
    speed_score(&item.speed, 1.2, 0, 0, 1);
    assert_float_equal(item.speed.needed, 4, 1e-12);
    assert_float_equal(item.speed.points, 5, 1e-9);
}

static void own_programs_are_simulated_once(void **state)
{
    (void)state;
    SpeedSetup setup = begin(1);
    strcpy(build[SLOT_BASELINE].digest, "once-b");
    strcpy(build[SLOT_REFERENCE].digest, "once-r");
    measure(&setup);
    assert_int_equal(fake.replays[SLOT_BASELINE] + fake.replays[SLOT_REFERENCE], 2);
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_int_equal(fake.replays[SLOT_BASELINE] + fake.replays[SLOT_REFERENCE], 2);
    assert_int_equal(fake.replays[SLOT_SUBMISSION], 2);
    setup.simulator = 7; /* another simulator: cached cycles are invalid */
    measure(&setup);
    assert_int_equal(fake.replays[SLOT_BASELINE] + fake.replays[SLOT_REFERENCE], 4);
}

/* Allocations of one program must not change the addresses, and therefore the cycles, of another or
 * of the next case, even one of the same shape. */
static void timed_runs_have_the_device_alone(void **state)
{
    (void)state;
    SpeedSetup setup = begin(1);
    RecordCase item = {0};
    Problem problem = fake.problem;
    Random random;
    random_seed(&random, 1);
    strcpy(build[SLOT_BASELINE].digest, "alone-b");
    strcpy(build[SLOT_REFERENCE].digest, "alone-r");
    judge_case(&judge, &problem, &random, NULL, CASE_TIMED, &item);
    measure(&setup);
    assert_int_equal(fake.calls[SLOT_BASELINE] + fake.calls[SLOT_REFERENCE], 2);
    assert_int_equal(fake.crowded, 0);
    judge_case(&judge, &problem, &random, NULL, CASE_TIMED, &item);
    assert_int_equal(fake.shared, 1u << SLOT_SUBMISSION);
}

static void different_outputs_on_fresh_inputs_are_wrong(void **state)
{
    (void)state;
    for (CasePrice price = CASE_UNPRICED; price <= CASE_TIMED; price++) {
        begin(1);
        fake.wrong_replay = 1;
        Random random;
        Problem problem = fake.problem;
        RecordCase item = {.verdict = CASE_NOT_RUN};
        random_seed(&random, 1);
        judge_case(&judge, &problem, &random, NULL, price, &item);
        assert_int_equal(item.verdict, CASE_WRONG);
        assert_string_equal(item.fault, "repeat");
        assert_non_null(strstr(item.text, "repeated on fresh inputs"));
        assert_int_equal(fake.replays[SLOT_SUBMISSION], 1);
    }
    SpeedSetup setup = begin(1);
    judge.host = 1; /* nothing is recorded in host labs */
    assert_int_equal(measure(&setup).verdict, CASE_CORRECT);
    assert_int_equal(fake.replays[SLOT_SUBMISSION], 0);
}

/* Checks need only the call, so each call is searched, and a wrong one is not run again.  The call
 * of a timed case is not priced, because its replay is. */
static void every_call_is_searched(void **state)
{
    (void)state;
    static const struct {
        CasePrice price;
        int wrong_call, limit;
    } CASES[] = {{CASE_TIMED, 0, 0},
                 {CASE_PRICED, 0, 0},
                 {CASE_UNPRICED, 0, 0},
                 {CASE_TIMED, 1, 0},
                 {CASE_TIMED, 0, 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        begin(1);
        fake.wrong_call = CASES[i].wrong_call;
        if (CASES[i].limit) fake.status = RUN_LIMIT;
        judge.diagnosed = JUDGE_DIAGNOSES;
        Random random;
        Problem problem = fake.problem;
        RecordCase item = {.verdict = CASE_NOT_RUN};
        random_seed(&random, 1);
        judge_case(&judge, &problem, &random, NULL, CASES[i].price, &item);
        assert_int_equal(fake.calls[SLOT_SUBMISSION], 1);
        assert_int_equal(fake.searched, 1);
        assert_int_equal(fake.priced, CASES[i].price == CASE_PRICED);
        if (CASES[i].price == CASE_UNPRICED) assert_int_equal(item.cost.cycles, 0);
        if (CASES[i].price == CASE_PRICED) assert_true(item.cost.cycles > 0);
        assert_int_equal(item.verdict, CASES[i].wrong_call ? CASE_WRONG
                                       : CASES[i].limit    ? CASE_LIMIT
                                                           : CASE_CORRECT);
    }
}

/* Calls the fake submission again; `item` was correct before. */
static RecordCase again(int wrong_call, int wrong_channels, int next_fails)
{
    Random random;
    Problem problem, other;
    Error error;
    RecordCase item = {.verdict = CASE_CORRECT, .points = 3};
    begin(1);
    problem = fake.problem;
    random_seed(&random, 1);
    assert_int_equal(
        judge.operation->parse("N=1 C=2 H=6 W=6 K=1 R=3 S=3 pad=valid stride=1", &other, &error),
        0);
    fake.wrong_call = wrong_call;
    fake.wrong_channels = wrong_channels;
    fake.next_fails = next_fails;
    judge_again(&judge, &problem, &other, &random, &item);
    return item;
}

static void results_cached_between_calls_are_found(void **state)
{
    (void)state;
    assert_int_equal(again(0, 0, 0).verdict, CASE_CORRECT);
    assert_int_equal(fake.calls[SLOT_SUBMISSION], 4);
    static const char *const words[] = {[2] = "the same process calls it again",
                                        [3] = "after a call for another problem",
                                        [4] = "called again after another problem"};
    for (int call = 2; call <= 4; call++) {
        RecordCase item = again(call, 0, 0);
        assert_int_equal(item.verdict, CASE_WRONG);
        assert_string_equal(item.fault, "state");
        assert_non_null(strstr(item.text, words[call]));
    }
    /* Wrong for the other problem in every process: not a matter of kept state. */
    assert_int_equal(again(0, 2, 0).verdict, CASE_CORRECT);
    /* A case that could not be tried is not called correct. */
    RecordCase item = again(0, 0, 1);
    assert_int_equal(item.verdict, CASE_BROKEN);
    assert_string_equal(item.text, "no next problem");
}

/* A GPU names no line; the simulator does, if the same code fails there. */
static void a_fault_on_a_gpu_gets_its_line_from_the_simulator(void **state)
{
    (void)state;
    Random random;
    static const RecordCase on_a_card = {.verdict = CASE_ERROR, .text = "cudaErrorIllegalAddress"};
    RecordCase item = on_a_card;
    random_seed(&random, 1);
    begin(1);
    Problem problem = fake.problem;
    fake.status = RUN_DEVICE_ERROR;
    fake.message = "Invalid __global__ read of 4 bytes at conv.cu:12";
    judge_simulated(&judge, &problem, &random, &item);
    assert_int_equal(item.verdict, CASE_ERROR);
    assert_string_equal(item.fault, "read-outside");
    assert_non_null(strstr(item.text, "cudaErrorIllegalAddress\nOn the simulator, with N="));
    assert_non_null(strstr(item.text, "conv.cu:12"));
    item = on_a_card;
    begin(1);
    judge_simulated(&judge, &problem, &random, &item);
    assert_int_equal(item.verdict, CASE_ERROR);
    assert_string_equal(item.fault, "");
    assert_non_null(strstr(item.text, "The simulator does not show it."));
}

static void failures_of_the_grader_are_not_scored(void **state)
{
    (void)state;
    SpeedSetup setup = begin(1);
    fake.status = RUN_BROKEN;
    assert_int_equal(measure(&setup).verdict, CASE_BROKEN);
}

/* 16 outputs of 9 multiply-adds: 288 FLOP on one lane are 144 cycles; 4*(36 + 9 + 16) bytes at 32
 * per cycle are 8. */
static void times_below_the_hardware_bound_are_reviewed(void **state)
{
    (void)state;
    SpeedSetup setup = begin(1);
    strcpy(build[SLOT_BASELINE].digest, "floor-b");
    strcpy(build[SLOT_REFERENCE].digest, "floor-r");
    assert_float_equal(speed_floor_cycles(&machine, PRECISION_FP32, 288, 244), 144, 1e-12);
    assert_float_equal(speed_floor_cycles(&machine, PRECISION_FP32, 2, 3200), 100, 1e-12);
    machine.tensor_fma = 4; /* 36 on tensor cores, if the lab allows them */
    assert_float_equal(speed_floor_cycles(&machine, PRECISION_FP32, 288, 244), 144, 1e-12);
    assert_float_equal(speed_floor_cycles(&machine, PRECISION_FP16, 288, 244), 36, 1e-12);
    machine.tensor_fma = 0;
    assert_float_equal(speed_floor_cycles(&machine, PRECISION_TF32, 288, 244), 144, 1e-12);
    fake.cycles[SLOT_SUBMISSION] = 143;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_REVIEW);
    assert_non_null(strstr(item.speed.text, "an instructor has to review this"));
    speed_score(&item.speed, 1.2, 0, 0, 1);
    assert_float_equal(item.speed.points, 0, 0);
    fake.cycles[SLOT_SUBMISSION] = 144;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_SCORED);
}

static SpeedSetup begin_counted(void)
{
    SpeedSetup setup = begin(0);
    judge.host = fake.can_count = 1;
    snprintf(build[0].program, sizeof build[0].program, "/bin/true");
    fake.cycles[SLOT_BASELINE] = 480000;
    fake.cycles[SLOT_SUBMISSION] = 240000;
    return setup;
}

/* The counts decide, unless the clock contradicts them. */
static void counts_become_points(void **state)
{
    (void)state;
    SpeedSetup setup = begin_counted();
    fake.seconds[SLOT_SUBMISSION] = 0.006;
    RecordCase item = measure(&setup);
    if (item.speed.verdict == SPEED_DEFERRED) fail_msg("%s", item.speed.text);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_float_equal(item.speed.s, 2, 0);
    assert_float_equal(item.speed.s_ref, 4.8, 1e-12);
    assert_non_null(strstr(item.speed.text, "not graded: 6.0"));
    int own = fake.counted[SLOT_BASELINE];
    fake.seconds[SLOT_SUBMISSION] = 0.009; /* a different time on another day */
    assert_float_equal(measure(&setup).speed.s, 2, 0);
    assert_int_equal(fake.counted[SLOT_BASELINE], own); /* from the cache */
    assert_int_equal(fake.counted[SLOT_SUBMISSION], 2);
}

static void forged_counts_are_found(void **state)
{
    (void)state;
    SpeedSetup setup = begin_counted();
    RecordCase item;
    fake.cycles[SLOT_SUBMISSION] = 1000;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_REVIEW);
    fake.seconds[SLOT_SUBMISSION] = 0.01 / 400;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_SCORED);
    fake.wrong_replay = 1; /* here: wrong output of the counted call */
    item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_WRONG);
    assert_int_equal(item.verdict, CASE_WRONG);
    fake.wrong_replay = 0;
    static const unsigned char request[] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d,
                                            0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33};
    snprintf(build[0].program, sizeof build[0].program, "%s/asks", cache);
    FILE *file = fopen(build[0].program, "w");
    assert_non_null(file);
    fwrite("before", 1, 6, file);
    fwrite(request, 1, sizeof request, file);
    fclose(file);
    assert_int_equal(measure(&setup).speed.verdict, SPEED_WRONG);
    remove(build[0].program);
    fake.can_count = 0;
    item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_DEFERRED);
    assert_non_null(strstr(item.speed.text, "no counter"));
}

/* The submission is counted once: in parallel to other cases, or later. */
static void precomputed_counts_are_used(void **state)
{
    (void)state;
    SpeedSetup setup = begin_counted();
    PrecomputeCase timed = {.operation = judge.operation, .problem = fake.problem};
    uint64_t cycles = 1;
    random_seed(&timed.random, 1);
    counts_end(counts_begin_submission(&setup, &timed, 1), &cycles);
    assert_int_equal(cycles, 0); /* no parallel session */
    fake.opens = 1;
    counts_end(counts_begin_submission(&setup, &timed, 1), &cycles);
    assert_int_equal(cycles, 240000);
    setup.counted = cycles;
    fake.cycles[SLOT_SUBMISSION] = 1;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_float_equal(item.speed.s, 2, 0);
    assert_int_equal(fake.counted[SLOT_SUBMISSION], 1);
    fake.wrong_replay = 1; /* a wrong parallel count is reported when the case is counted in
                            * sequence */
    counts_end(counts_begin_submission(&setup, &timed, 1), &cycles);
    assert_int_equal(cycles, 0);
    setup.counted = cycles;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_WRONG);
}

static void speed_waits_for_correctness_and_for_a_gap(void **state)
{
    (void)state;
    RecordSpeed speed = {.verdict = SPEED_SCORED, .s = 9, .s_ref = 4.8, .possible = 10};
    speed_score(&speed, 1.2, 0, 0, 0);
    assert_int_equal(speed.verdict, SPEED_NOT_CORRECT);
    assert_float_equal(speed.points, 0, 0);
    RecordSpeed close = {.verdict = SPEED_SCORED, .s = 9, .s_ref = 1.7, .possible = 10};
    speed_score(&close, 1.2, 0, 0, 1);
    assert_int_equal(close.verdict, SPEED_TOO_CLOSE);
}

static void paired_times_become_points(void **state)
{
    (void)state;
    SpeedSetup setup = begin(0);
    fake.seconds[SLOT_BASELINE] = 0.48;
    fake.seconds[SLOT_SUBMISSION] = 0.24;
    fake.seconds[SLOT_REFERENCE] = 0.10;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_float_equal(item.speed.s, 2, 0.01);
    assert_true(item.speed.s_low <= item.speed.s && item.speed.s <= item.speed.s_high);
    speed_score(&item.speed, 1.2, 0, 0, 1);
    assert_float_equal(item.speed.points, 5, 0.05);
    assert_true(fake.calls[0] == 1 && fake.calls[1] == 1 && fake.calls[2] == 1);
}

/* Outputs must be correct in every timed run, not only in the first call. */
static void every_timed_output_is_checked(void **state)
{
    (void)state;
    SpeedSetup setup = begin(0);
    fake.wrong_replay = 1;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_WRONG);
    assert_int_equal(item.verdict, CASE_WRONG);
    assert_string_equal(item.fault, "repeat");
    assert_float_equal(item.points, 0, 0);
    assert_non_null(strstr(item.text, "not in a later, timed run"));
}

/* A submission's process that ends in its timed call is wrong; one that the grader could not start
 * is the grader's error and costs no points. */
static void failures_of_timed_calls_name_the_cause(void **state)
{
    (void)state;
    const struct {
        RunStatus status;
        SpeedVerdict speed;
        CaseVerdict verdict;
    } table[] = {{RUN_EXITED, SPEED_WRONG, CASE_EXITED},
                 {RUN_LIMIT, SPEED_WRONG, CASE_CORRECT},
                 {RUN_BROKEN, SPEED_DEFERRED, CASE_CORRECT},
                 {RUN_STARVED, SPEED_DEFERRED, CASE_CORRECT}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        SpeedSetup setup = begin(0);
        fake.status = table[i].status;
        RecordCase item = measure(&setup);
        assert_int_equal(item.speed.verdict, table[i].speed);
        assert_int_equal(item.verdict, table[i].verdict);
        assert_float_equal(item.points, table[i].verdict == CASE_CORRECT ? 3 : 0, 0);
    }
}

/* If later runs on the same inputs are faster than the first, a review is requested. */
static void faster_later_runs_are_reviewed(void **state)
{
    (void)state;
    const struct {
        double first;
        SpeedVerdict verdict;
    } table[] = {{1.05, SPEED_SCORED}, {1.2, SPEED_REVIEW}, {0.5, SPEED_SCORED}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        SpeedSetup setup = begin(0);
        for (int slot = 0; slot < SESSION_RUNNERS; slot++)
            fake.seconds[slot] = 5e-4;
        fake.seconds[SLOT_BASELINE] = 10e-4;
        fake.first = table[i].first;
        RecordCase item = measure(&setup);
        assert_int_equal(item.speed.verdict, table[i].verdict);
        if (table[i].verdict == SPEED_REVIEW)
            assert_non_null(strstr(item.speed.text, "keeps data from run to run"));
    }
}

/* A kernel with a variable delay earns points for its slowest time; a machine on which every time
 * varies costs no points. */
static void varying_times_cost_the_submission(void **state)
{
    (void)state;
    SpeedSetup setup = begin(0);
    fake.seconds[SLOT_BASELINE] = 0.48;
    fake.seconds[SLOT_SUBMISSION] = 0.12;
    fake.seconds[SLOT_REFERENCE] = 0.10;
    fake.wavers[SLOT_SUBMISSION] = 3;
    RecordCase item = measure(&setup);
    assert_int_equal(item.speed.verdict, SPEED_SCORED);
    assert_float_equal(item.speed.s, 0.48 / 0.36, 0.02);
    assert_non_null(strstr(item.speed.text, "The lowest value counts"));
    for (int slot = 0; slot < SESSION_RUNNERS; slot++)
        fake.wavers[slot] = 3;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_INCONCLUSIVE);
}

static void times_below_the_gpu_bound_are_reviewed(void **state)
{
    (void)state;
    SpeedSetup setup = begin(0);
    fake.seconds[SLOT_BASELINE] = 0.48;
    fake.seconds[SLOT_SUBMISSION] = 0.05;
    /* 288 FLOP at 4,800 a second are 0.06 s. */
    GpuCeilings ceilings = {
        .fma_flops_per_second = 4800, .read_bytes_per_second = 1e9, .copy_bytes_per_second = 1e9};
    setup.ceilings = &ceilings;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_REVIEW);
    Judge halves = *setup.judge;
    halves.precision = PRECISION_FP16; /* tensor cores may take less */
    setup.judge = &halves;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_SCORED);
    halves.precision = PRECISION_FP32;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_REVIEW);
    const Operation *plain = halves.operation;
    Operation integers = *plain;
    integers.has_integers = 1; /* tensor cores, whatever the precision is */
    halves.operation = &integers;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_SCORED);
    halves.operation = plain;
    assert_int_equal(measure(&setup).speed.verdict, SPEED_REVIEW);
    halves.algorithm = ALGORITHM_WINOGRAD_4X4; /* a quarter of the multiplications: 0.015 s */
    assert_int_equal(measure(&setup).speed.verdict, SPEED_SCORED);
}

static int make_cache(void **state)
{
    (void)state;
    return mkdtemp(cache) ? 0 : -1;
}

static int remove_cache(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", cache);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_become_points),
        cmocka_unit_test(own_programs_are_simulated_once),
        cmocka_unit_test(timed_runs_have_the_device_alone),
        cmocka_unit_test(different_outputs_on_fresh_inputs_are_wrong),
        cmocka_unit_test(every_call_is_searched),
        cmocka_unit_test(results_cached_between_calls_are_found),
        cmocka_unit_test(a_fault_on_a_gpu_gets_its_line_from_the_simulator),
        cmocka_unit_test(failures_of_the_grader_are_not_scored),
        cmocka_unit_test(times_below_the_hardware_bound_are_reviewed),
        cmocka_unit_test(counts_become_points),
        cmocka_unit_test(forged_counts_are_found),
        cmocka_unit_test(precomputed_counts_are_used),
        cmocka_unit_test(speed_waits_for_correctness_and_for_a_gap),
        cmocka_unit_test(paired_times_become_points),
        cmocka_unit_test(every_timed_output_is_checked),
        cmocka_unit_test(failures_of_timed_calls_name_the_cause),
        cmocka_unit_test(faster_later_runs_are_reviewed),
        cmocka_unit_test(varying_times_cost_the_submission),
        cmocka_unit_test(times_below_the_gpu_bound_are_reviewed),
    };
    return cmocka_run_group_tests_name("autograder/speed", tests, make_cache, remove_cache);
}
