/* speed.h - the times of baseline, submission and reference on one case, taken side by side. */
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
    int sim; /* exact cycles of the simulator; else counts of a host lab, or paired times */
    const SimtMachine *machine; /* sim: for the roofline floor and the cache's key */
    const char *cache;          /* build/cache/cycles */
    uint64_t simulator;         /* digest of what simulates */
    double slack;               /* of lab.ini */
    double none_below;          /* of the case that is measured */
    uint64_t counted; /* of a host lab: the submission's count of this case; 0: not yet counted */
    const GpuCeilings *ceilings; /* of the card, for the roofline floor; NULL: unknown */
    Expected *whole; /* on a card: for the window that is judged whole; NULL: made when it comes */
} SpeedSetup;

/* Measures the problem that slot 0 was last judged on, into item->speed: times, or a verdict that
 * says why there are none.  Every timed output of the submission is checked, and a wrong
 * one makes the case wrong.  Does not score.  On the simulator judge_case has put the submission's
 * cycles there. */
void speed_measure(SpeedSetup *setup, const Problem *problem, Random *random, RecordCase *item);

/* Starts `slot` if need be and calls it once, so that it can be replayed; nobody looks at what it
 * computes.  Its inputs are the workload's; NULL: those that lie there, of device labs.  -1 with
 * verdict and text of the run that failed in *failed. */
int speed_start(SpeedSetup *setup, int slot, Workload *workload, RecordCase *failed);

/* The submission, right before, was not in `later`, a run that was timed or counted: so its case is
 * wrong, unless the grader's own trouble was in the way.  A limit that only a timed run met costs
 * no more than that run's points: it says nothing of what the code computes. */
void speed_wrong(RecordCase *item, const RecordCase *later);

/* The end of a measurement: its verdict and, printf-style, why. */
void speed_end(RecordSpeed *speed, SpeedVerdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Turns times, or `exact` cycles, into points, once it is known whether every case is right. */
void speed_score(RecordSpeed *speed, double slack, double none_below, int exact, int all_correct);

/* Cycles below which nobody can be on this machine: arithmetic at full rate (of the tensor cores
 * where the lab allows less than fp32), every byte once through the L2. */
double speed_floor_cycles(const SimtMachine *machine, Precision precision, double flops,
                          double least_bytes);

/* No card's tensor cores do more products a second than so many times its fp32 pipes (an H200's
 * 15 times, a B200's 28 times, by their data sheets): for the floor of a lab that may use them. */
enum { SPEED_TENSOR_RATE = 32 };

/* The inputs of the workbook's own programs where their cost is kept: always the same ones, so that
 * a mark does not depend on whose grade was the first, also where cycles follow from the inputs. */
void speed_own_inputs(Random *random);

#endif
