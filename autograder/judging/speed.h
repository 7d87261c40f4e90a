/* speed.h - times of baseline, submission and reference on one case, measured next to each
 * other. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_SPEED_H
#define CONVLAB_AUTOGRADER_JUDGING_SPEED_H

#include "autograder/judging/judge.h"
#include "common/cuda/gpu/gpu_ceilings.h"
#include "common/simulator/machine/machine.h"

enum { SLOT_SUBMISSION, SLOT_BASELINE, SLOT_REFERENCE };

typedef struct SpeedSetup {
    Judge *judge;
    const Build *build[SESSION_RUNNERS]; /* by slot */
    int started[SESSION_RUNNERS];
    int sim; /* Boolean: cycles of the simulator; else counts of a host lab, or paired times */
    const SimtMachine *machine; /* simulator: for the roofline's lower bound and the cache's key */
    const char *cache;          /* build/cache/cycles */
    uint64_t simulator;         /* digest of what simulates */
    double slack;               /* lab.ini's slack */
    double none_below;          /* the measured case's none_below */
    uint64_t counted; /* host lab: the submission's count of this case; 0: not yet counted */
    const GpuCeilings *ceilings; /* the GPU's, for the roofline floor; NULL: unknown */
    Expected *whole; /* GPU only: for the window judged whole; NULL: made when it comes */
} SpeedSetup;

/* Measures the problem on which slot 0 was judged last, into item->speed: times, or a verdict with
 * the reason why there are none.  Every timed output of the submission is checked, and a wrong one
 * makes the case wrong.  Does not score.  On the simulator, judge_case has already stored the
 * submission's cycles. */
void speed_measure(SpeedSetup *setup, const Problem *problem, Random *random, RecordCase *item);

/* Starts `slot` if necessary and calls it once, so that it can be replayed; its output is not
 * checked. Its inputs are the workload's; NULL: those already in device memory (device labs only).
 * -1 with verdict and text of the failed run in *failed. */
int speed_start(SpeedSetup *setup, int slot, Workload *workload, RecordCase *failed);

/* The submission was correct before but not in `later`, a timed or counted run.  Therefore its case
 * is wrong, except if the grader itself failed.  A limit that only a timed run exceeded costs only
 * the points for speed, because it says nothing about correctness. */
void speed_wrong(RecordCase *item, const RecordCase *later);

/* Ends a measurement with a verdict and a printf-style reason. */
void speed_end(RecordSpeed *speed, SpeedVerdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Converts times, or `exact` cycles, into points, once it is known whether every case is right. */
void speed_score(RecordSpeed *speed, double slack, double none_below, int exact, int all_correct);

/* Lower bound of the cycles on this machine: arithmetic at full rate (that of the tensor cores if
 * the lab allows less than fp32), and every byte once through the L2. */
double speed_floor_cycles(const SimtMachine *machine, Precision precision, double flops,
                          double least_bytes);

/* Upper bound of the ratio of tensor core to fp32 multiply-adds per second.  Data sheets: 15 for an
 * H200, 28 for a B200; twice that for 8-bit integers.  Used for the lower bound of labs that may
 * use tensor cores. */
enum { SPEED_TENSOR_RATE = 32, SPEED_INTEGER_RATE = 2 * SPEED_TENSOR_RATE };

/* The inputs with which the costs of the course's own programs are cached.  They are always the
 * same, because cycles can depend on inputs and a mark must not depend on who was graded first. */
void speed_own_inputs(Random *random);

#endif
