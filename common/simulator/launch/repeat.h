/* repeat.h - launches that repeat an earlier one: they are executed, and their cost is that of the
 * earlier one.
 *
 * A launch may be a repeat if its kernel, configuration, parameters and the places of all
 * allocations are those of an earlier launch.  The first such launch is priced, the second one is
 * priced and digested (digest.h).  From the third on, the launch is executed with a digest, without
 * counting and without a search for races, which takes about a third of the time.  If its digest is
 * that of the second launch, it has the same counters and cycles.  Otherwise, and after a finding
 * or a fault, device memory is restored and the launch is executed once more, priced as usual.
 * Therefore the counters and cycles are those of pricing every launch. */
#ifndef CONVLAB_SIMT_REPEAT_H
#define CONVLAB_SIMT_REPEAT_H

#include "common/simulator/core/core.h"

typedef struct Repeats Repeats;
typedef struct Repeat Repeat;

/* NULL: out of memory. */
Repeats *repeats_open(void);
void repeats_close(Repeats *repeats);
/* The entry of launches with this kernel, configuration and parameters, which it counts; NULL: the
 * launch has none. */
Repeat *repeat_find(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request);
/* Is this launch to be digested while it is priced? */
int repeat_learns(const Repeat *repeat, SimtKernel *kernel);
/* All blocks of the launch have run; afterwards, its result is complete. */
void repeat_learn(Repeat *repeat, const Launch *launch);
void repeat_learn_result(Repeat *repeat, const SimtResult *result);
/* Invalidates the entries of the module's kernels, whose memory is freed. */
void repeats_forget(SimtGpu *gpu, const SimtModule *module);

/* Executes the launch without counting: 0, with the digest. */
typedef int RepeatRun(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                      SimtResult *result, uint64_t *digest);
/* Executes a launch as a repeat, with the earlier one's result.  0: it is none, or it is not worth
 * trying; memory is as before. */
int repeat_launch(SimtGpu *gpu, Repeat *repeat, SimtKernel *kernel, const SimtLaunch *request,
                  SimtResult *result, RepeatRun *run);

#endif
