/* schedule.h - instruction costs, and the order in which ptxas issues instructions.
 *
 * Module: what ptxas does to PTX, as far as time depends on it: scheduling, fusion, unrolling,
 * liveness, load reuse and vectorisation.
 * Callers: sass_map; timing, once for each kernel; exec, for the costs.
 * May use: core, machine.
 *
 * PTX instructions vanish, or become several.  The decoded code is read once, for one machine. */
#ifndef CONVLAB_SIMT_SCHEDULE_H
#define CONVLAB_SIMT_SCHEDULE_H

#include "common/simulator/core/core.h"

/* Generations of GPUs, as SimtMachine.cc_major. */
enum { MAXWELL = 5, VOLTA = 7, AMPERE = 8, HOPPER = 9 };

struct InsCost {
    uint8_t slots;      /* machine instructions; 0: folded into others */
    uint8_t pipe;       /* Pipe */
    uint16_t busy;      /* cycles that the pipe of one scheduler is taken */
    uint16_t part_busy; /* of a matrix product, by each product that machine code has of it */
    uint16_t latency;
    uint8_t wait;    /* SimtStall of who waits for the result */
    uint8_t guards;  /* of a branch that became a predicate: so many instructions behind it */
    uint8_t passed;  /* a short branch, or its JOIN, over which code may move */
    uint8_t last;    /* of its piece */
    uint8_t guarded; /* cycles that its predicate takes more than another operand would */
    uint8_t folded;  /* an instruction of the kernel's own that costs no slot */
    uint8_t plain;   /* it only takes operands and makes a result: to critical_path.h, which goes by
                     * pieces */
    uint8_t simple;  /* ... and to replay.c */
    uint8_t slows;   /* the clock falls to tensor_mhz */
    uint32_t part;   /* number of the straight piece of code it lies in */
    uint32_t rank;   /* its place in that piece as ptxas would order it */
    /* Loops that are unrolled (unroll.h). */
    uint32_t loop;   /* it begins one: its number, from 1 */
    uint32_t saves;  /* it closes one: slots that a turn of the copies saves, but for the last */
    uint32_t origin; /* the instruction that it is, or is a copy of */
    /* Of machine instructions that are played (sass_map.h), as machine.h has them. */
    uint8_t follows, stall, fetches[2], waits, made, read;
};

enum { PIECE = 512 };      /* instructions that are put in order together, at most */
enum { GUARD_SOURCE = 3 }; /* of Ins.t_s: the predicate of the instruction itself */

static inline int is_memory(const Ins *ins)
{
    return ins->class >= CLASS_LOAD && ins->class <= CLASS_ATOMIC;
}

/* Cycles that so many lanes of a pipe take for a warp. */
uint32_t cycles_for(uint32_t lanes, const SimtMachine *machine);
/* Does a straight piece of code end behind this instruction? */
int piece_ends(const Ins *ins, const InsCost *price);
/* Ranks the instructions of one piece of the kernel, as far as its registers allow it; `alive`
 * behind it (liveness.h). */
void piece_order(const SimtKernel *kernel, const Ins *code, InsCost *price, uint32_t count,
                 const uint64_t *alive);

/* The prices of the kernel's own instructions and, after them, of copies of unrolled loops; fills
 * kernel->played and kernel->unrolled.  *prices: their number.  The caller owns the list.
 * `machine_code`: the SASS says which local arrays are in registers.  NULL: out of memory. */
InsCost *schedule_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code,
                        uint32_t *prices);

#endif
