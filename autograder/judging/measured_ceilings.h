/* measured_ceilings.h - roofline ceilings of the GPU that is used for grading, measured while the
 * compilers run. */
#ifndef CONVLAB_AUTOGRADER_JUDGING_MEASURED_CEILINGS_H
#define CONVLAB_AUTOGRADER_JUDGING_MEASURED_CEILINGS_H

#include "common/cuda/gpu/gpu_ceilings.h"

typedef struct MeasuredCeilings MeasuredCeilings;

/* Starts the measurement in a thread of its own.  NULL: out of memory. */
MeasuredCeilings *measured_ceilings_begin(void);

/* Waits for the result, which the measurement owns.  NULL: no measurement was started, or it failed
 * and reported the reason on standard error. */
const GpuCeilings *measured_ceilings_wait(MeasuredCeilings *ceilings);

/* Waits until the measurement has released the GPU, so that it does not disturb timed runs. */
void measured_ceilings_release(MeasuredCeilings *ceilings);

void measured_ceilings_end(MeasuredCeilings *ceilings);

#endif
