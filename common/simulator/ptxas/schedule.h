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

struct InsCost {
    uint8_t slots;      /* SASS instructions; 0: folded into others */
    uint8_t pipe;       /* Pipe */
    uint16_t busy;      /* cycles that the pipe of one scheduler is taken */
    uint16_t part_busy; /* cycles that one MMA of SASS occupies the pipe, for a PTX instruction that
                         * becomes several */
    uint16_t latency;
    uint8_t wait;    /* SimtStall of instructions that wait for the result */
    uint8_t guards;  /* for a branch that became a predicate: number of predicated instructions that
                      * follow */
    uint8_t passed;  /* a short branch, or its JOIN, over which code may move */
    uint8_t last;    /* the last instruction of its basic block */
    uint8_t guarded; /* cycles that its predicate takes more than another operand would */
    uint8_t folded;  /* an instruction of the kernel's own that costs no slot */
    uint8_t plain;   /* has only register operands and a result; for critical_path.h, which steps
                      * over blocks */
    uint8_t simple;  /* ... and to replay.c */
    uint8_t slows;   /* the clock falls to tensor_mhz */
    uint32_t part;   /* number of its basic block */
    uint32_t rank;   /* position in its basic block in the order of ptxas */
    /* Loops that are unrolled (unroll.h). */
    uint32_t loop;   /* it begins one: its number, from 1 */
    uint32_t saves;  /* closes a loop: slots that each copy of an iteration but the last saves */
    uint32_t origin; /* the instruction that it is, or is a copy of */
    /* SASS instructions that are replayed (sass_map.h), with the fields of SassIns (sass.h). */
    uint8_t follows, stall, fetches[2], waits, made, read;
};

enum { PIECE = 512 };      /* instructions that are put in order together, at most */
enum { GUARD_SOURCE = 3 }; /* index into Ins.t_s: the instruction's own predicate */

static inline int is_memory(const Ins *ins)
{
    return ins->class >= CLASS_LOAD && ins->class <= CLASS_ATOMIC;
}

/* Cycles that a pipe with this number of lanes takes for a warp. */
uint32_t cycles_for(uint32_t lanes, const SimtMachine *machine);
/* Does a basic block end after this instruction? */
int segment_ends(const Ins *ins, const InsCost *price);
/* Ranks the instructions of one basic block, as far as its registers allow; `alive`: values live
 * after it (liveness.h). */
void piece_order(const SimtKernel *kernel, const Ins *code, InsCost *price, uint32_t count,
                 const uint64_t *alive);

/* The prices of the kernel's own instructions and, after them, of copies of unrolled loops; fills
 * kernel->played and kernel->unrolled.  *prices: their number.  The caller owns the list.
 * `machine_code`: the SASS says which local arrays are in registers.  NULL: out of memory. */
InsCost *schedule_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code,
                        uint32_t *prices);

#endif
