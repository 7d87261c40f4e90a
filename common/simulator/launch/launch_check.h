/* launch_check.h - what CUDA refuses before a kernel starts. */
#ifndef CONVLAB_SIMT_LAUNCH_CHECK_H
#define CONVLAB_SIMT_LAUNCH_CHECK_H

#include "common/simulator/core/core.h"

/* SIMT_OK, and the launch's geometry filled in from launch->launch, kernel and machine; else what
 * kind of refusal it is, and `why` with the numbers. */
SimtCheck launch_check(Launch *launch, char *why, size_t bytes);

#endif
