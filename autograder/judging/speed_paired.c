#include "autograder/judging/speed_paired.h"

#include <math.h>
#include <string.h>

#include "autograder/record/score.h"
#include "autograder/text/text.h"
#include "common/cuda/paired_timing/paired.h"

/* A mark is given only if its uncertainty is below this share of its points. */
static const double MARK_SLACK = 0.02;
/* The baseline's times are steady if the relative interval of their median is below this value. */
static const double STEADY = 0.05;
/* Limits of a first run against a later one: ratio, and additional seconds.  On an H200 the
 * solutions' first runs take 0.99 to 1.013 times as long. */
static const double FIRST_LONGER = 1.1, FIRST_MORE = 1e-6;

/* A GPU's clock resolves half a microsecond, so the mean of a hundred repeats of even the shortest
 * kernel is known to some tenths of a per cent.  The poisoning and the L2 flush before each repeat
 * take ten times as long as such a kernel, so longer windows would mostly measure them. */
static const PairedOptions on_a_card = {.window_seconds = 0.005, .repeats_max = 100};

/* One side of a comparison: a slot.  The submission gets fresh inputs in every window. */
typedef struct Side {
    SpeedSetup *setup;
    int slot;
    Random *random;
    Workload *workload;
    PairedSubject subject;                           /* its measured windows */
    int windows;                                     /* number of windows that were judged */
    int whole;                                       /* index of the window whose every output is
                                                      * judged */
    RecordCase judged;                               /* the last window's judgement, or the
                                                      * failure */
    double first[PAIRED_PAIRS], later[PAIRED_PAIRS]; /* by window, seconds: its first run, and the
                                                      * mean of its other runs */
    int several;                                     /* number of windows with several runs */
} Side;

static void note_first(Side *side, int repeats, const DeviceCost *cost)
{
    if (repeats < 2 || side->several == PAIRED_PAIRS) return;
    side->first[side->several] = cost->first;
    side->later[side->several++] = (cost->seconds * repeats - cost->first) / (repeats - 1);
}

/* One window of the first round is judged in full, and a submission cannot know which one.  A
 * sample of the others is judged. */
static void judge_window(Side *side, Expected *ready, const Observed *observed,
                         const RunOutcome *outcome, RecordCase *verdict)
{
    Judge *judge = side->setup->judge;
    const int whole = side->windows++ == side->whole;
    if (ready)
        judge_expected(judge, ready, observed, outcome, 0, verdict);
    else if (whole || !judge_sample(judge, side->workload, observed, outcome, side->random))
        judge_output(judge, side->workload, observed, outcome, 0, verdict);
}

/* Runs the submission `repeats` times on one set of fresh inputs.  Between two repeats all
 * allocated memory is poisoned, so that no repeat finds results of an earlier one. */
static int measure_submission(void *context, int repeats, double *seconds, Error *error)
{
    Side *side = context;
    Observed observed = {0};
    RunOutcome outcome = {0};
    RecordCase *verdict = &side->judged;
    Judge *judge = side->setup->judge;
    *verdict = (RecordCase){0};
    Expected *ready = side->windows == side->whole ? side->setup->whole : NULL;
    Workload *workload = ready ? &ready->workload : side->workload;
    /* Draws inputs even if precomputed ones exist, so that all windows start after equal delays. */
    judge_fill(judge, side->workload, side->random);
    judge_run(judge, side->slot, repeats, (const float *const *)workload->tensor, workload->output,
              &observed, &outcome);
    *seconds = outcome.cost.seconds;
    note_first(side, repeats, &outcome.cost);
    judge_window(side, ready, &observed, &outcome, verdict);
    return verdict->verdict == CASE_CORRECT ? 0 : error_set(error, "%.900s", verdict->text);
}

/* Measures a slot on the present inputs without judging it: the course's own programs, and runs
 * whose time does not count. */
static int measure_unseen(void *context, int repeats, double *seconds, Error *error)
{
    Side *side = context;
    Observed observed;
    RunOutcome outcome;
    judge_run(side->setup->judge, side->slot, repeats, NULL, NULL, &observed, &outcome);
    *seconds = outcome.cost.seconds;
    if (outcome.status == RUN_OK) return 0;
    side->judged = (RecordCase){0};
    judge_output(side->setup->judge, side->workload, &observed, &outcome, 0, &side->judged);
    return error_set(error, "%.900s", outcome.message);
}

static double points_at(double s, double s_ref, double slack, double none_below)
{
    return score_speed(s, s_ref, slack, none_below, SCORE_LEAST_MEASURED, 1).points;
}

/* Whether the mark is the same for all values of the two ratios in their intervals.  `same`:
 * submission and reference are one program, so one ratio describes both. */
static int mark_is_settled(const PairedResult *student, const PairedResult *reference, int same,
                           double slack, double none_below)
{
    double drift = fabs(student->drift) + fabs(reference->drift);
    if (student->verdict == PAIRED_OK && reference->verdict == PAIRED_OK) drift = 0;
    double s_low = student->low * (1 - drift), s_high = student->high * (1 + drift);
    double low = points_at(s_low, same ? s_low : reference->high, slack, none_below);
    double high = points_at(s_high, same ? s_high : reference->low, slack, none_below);
    return fabs(high - low) <= MARK_SLACK;
}

/* Detects a run that reuses results of an earlier run on the same inputs: it is faster than the
 * first. Allocated memory is poisoned between runs, but a GPU lets a kernel write outside its
 * allocations, and not all memory that the driver has mapped can be cleared. */
static void first_run_against_later(Side *side, RecordSpeed *speed)
{
    if (!side->several || speed->verdict != SPEED_SCORED) return;
    double first = paired_median(side->first, side->several);
    double later = paired_median(side->later, side->several);
    if (first <= FIRST_LONGER * later + FIRST_MORE) return;
    speed_end(speed, SPEED_REVIEW,
              "The first of several runs on the same inputs took %.3g s, each later one %.3g s: "
              "possibly it keeps data from run to run. An instructor has to review this.",
              first, later);
}

static void times_into(RecordSpeed *speed, const PairedResult *student,
                       const PairedResult *reference)
{
    speed->baseline = student->a_seconds;
    speed->student = student->b_seconds;
    speed->reference = reference->b_seconds;
    speed->s = student->ratio;
    speed->s_low = student->low;
    speed->s_high = student->high;
    speed->s_ref = reference->ratio;
}

/* Finds how many repeats fill a window on each side; from then on the submission's windows are
 * judged. */
static int fill_windows(Side side[SESSION_RUNNERS], int same, Error *error)
{
    for (int slot = 0; slot < (same ? SLOT_REFERENCE : SESSION_RUNNERS); slot++) {
        side[slot].subject = (PairedSubject){measure_unseen, &side[slot], 0};
        if (paired_repeats(&side[slot].subject, &on_a_card, error)) return -1;
    }
    side[SLOT_SUBMISSION].subject.measure = measure_submission;
    return 0;
}

/* Baseline against submission, and against the reference if that is another program. */
typedef struct Comparison {
    PairedSeries series[2];
    PairedResult student, reference;
} Comparison;

/* Measures up to the end of the next round. */
static int comparison_check(Comparison *all, const Side side[SESSION_RUNNERS], int same,
                            Error *error)
{
    const PairedSubject *baseline = &side[SLOT_BASELINE].subject;
    if (paired_interim(&all->series[0], baseline, &side[SLOT_SUBMISSION].subject, &on_a_card,
                       &all->student, error))
        return -1;
    all->reference = all->student;
    return same ? 0
                : paired_interim(&all->series[1], baseline, &side[SLOT_REFERENCE].subject,
                                 &on_a_card, &all->reference, error);
}

/* Whether the submission's times vary and not the machine's, on which baseline and reference are
 * steady.  A kernel could wait for a time that its inputs determine, so that points that it would
 * not earn are left out. */
static int is_own_doing(const Comparison *all, int same)
{
    const PairedSeries *series = &all->series[0];
    return !same && paired_width(series->a, series->pairs) < STEADY &&
           all->reference.verdict == PAIRED_OK;
}

static void count_lowest(const Comparison *all, RecordSpeed *speed)
{
    speed->s = all->student.low;
    text_set(speed->text, sizeof speed->text,
             "The times of baseline and reference are stable, yours are not: it is %.2f to %.2f "
             "times as fast as the baseline. The lowest value counts.",
             all->student.low, all->student.high);
}

/* Stores the verdict and the times in `speed`. */
static void measure_sides(SpeedSetup *setup, Side side[SESSION_RUNNERS], int same, RecordCase *item)
{
    Comparison all = {0};
    Error error;
    RecordSpeed *speed = &item->speed;
    int failed = fill_windows(side, same, &error);
    for (int look = 0; look < PAIRED_INTERIMS; look++) {
        if (failed || comparison_check(&all, side, same, &error)) {
            const RecordCase *later = &side[SLOT_SUBMISSION].judged;
            if (later->verdict != CASE_CORRECT)
                speed_wrong(item, later);
            else
                speed_end(speed, SPEED_DEFERRED, "%s", error.text);
            return;
        }
        times_into(speed, &all.student, &all.reference);
        speed->verdict = SPEED_SCORED;
        if (!mark_is_settled(&all.student, &all.reference, same, setup->slack, setup->none_below))
            continue;
        first_run_against_later(&side[SLOT_SUBMISSION], speed);
        return;
    }
    if (is_own_doing(&all, same))
        count_lowest(&all, speed);
    else
        speed_end(speed, SPEED_INCONCLUSIVE,
                  "this machine is too busy to measure times, so these points are left out of the "
                  "total. After %d pairs yours is %.2f to %.2f times as fast as the baseline, the "
                  "reference %.2f to %.2f times. Grade again when nothing else runs.",
                  PAIRED_PAIRS, all.student.low, all.student.high, all.reference.low,
                  all.reference.high);
}

/* Calls the programs once so that they can be replayed: the submission on fresh inputs, the
 * course's own programs on the same ones. */
static int start_sides(SpeedSetup *setup, Workload *workload, Random *random, int same,
                       RecordCase *item)
{
    RecordCase failed;
    judge_fill(setup->judge, workload, random);
    if (speed_start(setup, SLOT_SUBMISSION, workload, &failed)) {
        speed_wrong(item, &failed);
        return -1;
    }
    for (int slot = SLOT_BASELINE; slot <= (same ? SLOT_BASELINE : SLOT_REFERENCE); slot++) {
        if (!speed_start(setup, slot, NULL, &failed)) continue;
        speed_end(&item->speed, SPEED_DEFERRED, "the workbook's own %s could not be timed: %s",
                  slot == SLOT_BASELINE ? "baseline" : "reference", failed.text);
        return -1;
    }
    return 0;
}

/* Lower bound in seconds on this GPU; 0: unknown. */
static double floor_seconds(const SpeedSetup *setup, const Workload *workload)
{
    double read_bytes = 0, written_bytes = (double)workload->outputs * sizeof(float);
    double flops = workload->operation->flops(&workload->problem);
    flops /= algorithm_saving(setup->judge->algorithm);
    if (workload->operation->has_integers)
        flops /= SPEED_INTEGER_RATE;
    else if (setup->judge->precision != PRECISION_FP32)
        flops /= SPEED_TENSOR_RATE;
    if (!setup->ceilings) return 0;
    for (int i = 0; i < workload->tensors; i++)
        if (workload->tensor[i])
            read_bytes += (double)tensor_count(&workload->shape[i]) * sizeof(float);
    return gpu_ceilings_floor(setup->ceilings, flops, read_bytes, written_bytes);
}

void speed_measure_paired(SpeedSetup *setup, const Problem *problem, Random *random,
                          RecordCase *item)
{
    RecordSpeed *speed = &item->speed;
    Workload workload;
    Error error;
    Side side[SESSION_RUNNERS];
    int same = !strcmp(setup->build[SLOT_SUBMISSION]->digest, setup->build[SLOT_REFERENCE]->digest);
    /* A new process: state from an earlier call would be missing in the recording. */
    if (judge_begin_problem(setup->judge, problem, &error) ||
        workload_open(setup->judge->operation, problem, &workload, &error)) {
        speed_end(speed, SPEED_DEFERRED, "%s", error.text);
        return;
    }
    Random drawn;
    random_child(random, "whole", &drawn);
    const int whole = random_range(&drawn, 0, PAIRED_LEAST - 1);
    for (int slot = 0; slot < SESSION_RUNNERS; slot++)
        side[slot] = (Side){
            .setup = setup, .slot = slot, .random = random, .workload = &workload, .whole = whole};
    int started = !start_sides(setup, &workload, random, same, item);
    if (started) measure_sides(setup, side, same, item);
    speed->roof = floor_seconds(setup, &workload);
    workload_close(&workload);
    if (!started || speed->verdict != SPEED_SCORED || speed->student >= speed->roof) return;
    speed_end(speed, SPEED_REVIEW,
              "%.3g s is less than the %.3g s that the measured ceilings of this GPU allow: an "
              "instructor has to review this.",
              speed->student, speed->roof);
}
