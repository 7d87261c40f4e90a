/* decode.h - decoding: of a kernel's PTX, once, into the instructions (Ins) that are executed.
 *
 * Module: from PTX to decoded instructions (Ins), once for each kernel.
 * Callers: common/simulator, to find or launch a kernel.
 * May use: core, ptx.
 *
 * The handlers are passed in as a table, so that the decoder does not depend on the executor. */
#ifndef CONVLAB_SIMT_DECODE_H
#define CONVLAB_SIMT_DECODE_H

#include "common/simulator/core/core.h"

/* Decodes the kernel, at the first call; a kernel that was refused is refused again. `handlers` has
 * one for each Op. Returns -1 with the unsupported instruction and its line in `error`. */
/* Instructions that this process has decoded, refused kernels included: what it costs. */
uint64_t decode_work(void);
/* From now on kernels are refused after `more` further instructions have been decoded; UINT64_MAX:
 * no limit. This bounds the cost of decoding third-party programs. */
void decode_allow(uint64_t more);
/* Was a kernel refused for that since decode_allow was called? */
int decode_is_stopped(void);

int kernel_decode(SimtKernel *kernel, const Handler *handlers, Error *error);
void kernel_release(SimtKernel *kernel);

#endif
