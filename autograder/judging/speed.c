#include "autograder/judging/speed.h"

#include <math.h>

#include "autograder/judging/cycle_cache.h"
#include "autograder/record/score.h"
#include "autograder/judging/speed_counted.h"
#include "autograder/judging/speed_paired.h"
#include "autograder/text/text.h"

double speed_floor_cycles(const SimtMachine *machine, Precision precision, double flops,
                          double least_bytes)
{
    double fma_lanes = machine->fp32_lanes;
    if (precision != PRECISION_FP32) fma_lanes = fmax(fma_lanes, machine->tensor_fma);
    double arithmetic = flops / (2.0 * machine->sms * fma_lanes);
    double traffic = least_bytes / machine->l2_bytes_per_cycle;
    return fmax(arithmetic, traffic);
}

/* As speed_start, but the device has no other allocations: those of another runner would shift
 * addresses and therefore change the cycles. */
static int speed_start_alone(SpeedSetup *setup, int slot, const Problem *problem, Random *random,
                             RecordCase *failed)
{
    Judge *judge = setup->judge;
    Workload workload;
    Error error;
    if (judge_begin_problem(judge, problem, &error) ||
        workload_open(judge->operation, problem, &workload, &error)) {
        text_set(failed->text, sizeof failed->text, "%s", error.text);
        return -1;
    }
    judge_fill(judge, &workload, random);
    int status = speed_start(setup, slot, &workload, failed);
    workload_close(&workload);
    return status;
}

/* Cycles of one of the course's own programs, from the cache or simulated now; 0 if it could not be
 * timed. */
static uint64_t own_cycles(SpeedSetup *setup, int slot, const Problem *problem, DeviceCost *cost,
                           RecordSpeed *speed)
{
    Random random;
    const char *who = slot == SLOT_BASELINE ? "baseline" : "reference";
    char shape[256];
    RecordCase item = {0};
    const Operation *operation = setup->judge->operation;
    operation->print(problem, shape, sizeof shape);
    CycleCacheKey key = cycle_cache_key(setup->build[slot]->digest, operation->name, shape,
                                        setup->machine->name, setup->simulator);
    if (!cycle_cache_find(setup->cache, &key, cost)) return cost->cycles;
    speed_own_inputs(&random);
    if (!speed_start_alone(setup, slot, problem, &random, &item)) {
        judge_replay(setup->judge, slot, problem, &random, 1, &item);
        if (item.verdict == CASE_CORRECT) {
            *cost = item.cost;
            cycle_cache_keep(setup->cache, &key, cost);
            return cost->cycles;
        }
    }
    speed_end(speed, SPEED_DEFERRED, "the workbook's own %s could not be timed: %s", who,
              item.text);
    return 0;
}

/* The submission's cycles are those of the replay that judge_case made. */
static void measure_cycles(SpeedSetup *setup, const Problem *problem, RecordCase *item)
{
    RecordSpeed *speed = &item->speed;
    const Operation *operation = setup->judge->operation;
    DeviceCost plain;
    uint64_t baseline = own_cycles(setup, SLOT_BASELINE, problem, &plain, speed);
    uint64_t reference =
        baseline ? own_cycles(setup, SLOT_REFERENCE, problem, &speed->against, speed) : 0;
    if (!reference) return;
    speed->baseline = (double)baseline;
    speed->reference = (double)reference;
    speed->s = speed->s_low = speed->s_high = speed->baseline / speed->student;
    speed->s_ref = speed->baseline / speed->reference;
    double flops = operation->flops(problem) / algorithm_saving(setup->judge->algorithm);
    Precision precision = setup->judge->precision;
    if (operation->has_integers) { /* tensor cores, at twice the rate of halves */
        precision = PRECISION_FP16;
        flops /= 2;
    }
    double floor_cycles =
        speed_floor_cycles(setup->machine, precision, flops, operation->least_bytes(problem));
    speed->roof = setup->machine->launch_cycles + floor_cycles;
    if (speed->student < floor_cycles) {
        speed_end(speed, SPEED_REVIEW,
                  "%.0f cycles are fewer than the %.0f that this machine needs for the arithmetic "
                  "and the bytes of the problem: an instructor has to review this.",
                  speed->student, floor_cycles);
        return;
    }
    speed->verdict = SPEED_SCORED;
}

void speed_measure(SpeedSetup *setup, const Problem *problem, Random *random, RecordCase *item)
{
    item->speed.text[0] = 0;
    if (setup->sim) {
        measure_cycles(setup, problem, item);
    } else if (setup->judge->host) {
        speed_measure_counted(setup, problem, random, item);
    } else {
        speed_measure_paired(setup, problem, random, item);
    }
}

void speed_score(RecordSpeed *speed, double slack, double none_below, int exact, int all_correct)
{
    if (speed->verdict == SPEED_NOT_TIMED || speed->verdict == SPEED_NOT_CORRECT) return;
    SpeedScore score =
        score_speed(speed->s, speed->s_ref, slack, none_below,
                    exact ? SCORE_LEAST_EXACT : SCORE_LEAST_MEASURED, speed->possible);
    speed->needed = score.needed;
    if (speed->verdict != SPEED_SCORED) return;
    if (!score.counts) {
        speed_end(speed, SPEED_TOO_CLOSE,
                  "The reference is too close to the baseline in this case to distinguish speeds; "
                  "no points.");
    } else if (!all_correct) {
        speed_end(speed, SPEED_NOT_CORRECT, "Speed counts when every case is correct.");
    } else {
        speed->points = score.points;
    }
}
