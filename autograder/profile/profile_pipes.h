/* profile_pipes.h - floating-point operations that a launch executed, by pipe, and the highest rate
 * of each pipe. */
#ifndef CONVLAB_AUTOGRADER_PROFILE_PROFILE_PIPES_H
#define CONVLAB_AUTOGRADER_PROFILE_PROFILE_PIPES_H

#include "common/simulator/core/profile.h"
#include "common/simulator/machine/machine.h"

typedef enum FlopPipe {
    FLOPS_FP32,
    FLOPS_FP64,
    FLOPS_FP16,        /* pairs of FP16 or BF16 in a register, without tensor cores */
    FLOPS_TENSOR_FP16, /* FP16 and BF16 */
    FLOPS_TENSOR_TF32,
    FLOPS_TENSOR_8, /* FP8 and bytes */
    FLOPS_TENSOR_4, /* 4-bit integers and single bits */
    FLOPS_TENSOR_FP64,
    FLOP_PIPES
} FlopPipe;

typedef struct PipeFlops {
    double flops[FLOP_PIPES]; /* a multiply-add counts as two */
    double peak[FLOP_PIPES];  /* 1e9 per second; 0: the machine has no such pipe */
} PipeFlops;

/* "FP32", "tensor cores, TF32" */
const char *flop_pipe_name(FlopPipe pipe);

/* Operations of one warp (tensor cores) or one thread (other pipes) in one instruction with this
 * opcode: "fma.rn.f32" has 2.  0: none; then *pipe is unchanged. */
double opcode_flops(const char *opcode, FlopPipe *pipe);

void pipe_flops_find(const SimtProfile *profile, const SimtMachine *machine, PipeFlops *flops);

/* The pipe that needs most time for its operations; FLOP_PIPES: no operation was executed. */
FlopPipe flop_pipe_main(const PipeFlops *flops);

#endif
