/* schedule.h - what ptxas makes of a kernel between PTX and machine code, as far as time depends on
 * it: which PTX instructions vanish, which become several, what they wait for.  It looks at the
 * decoded code once, for one machine. */
#ifndef CONVLAB_SIMT_SCHEDULE_H
#define CONVLAB_SIMT_SCHEDULE_H

#include "common/simulator/core/core.h"

/* Generations of GPUs, as SimtMachine.cc_major. */
enum { MAXWELL = 5, VOLTA = 7, AMPERE = 8, HOPPER = 9 };

struct Price {
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
    uint8_t plain; /* it only takes operands and makes a result: to chain.h, which goes by pieces */
    uint8_t simple; /* ... and to replay.c */
    uint8_t slows;  /* the clock falls to tensor_mhz */
    uint32_t part;  /* number of the straight piece of code it lies in */
    uint32_t rank;  /* its place in that piece as ptxas would order it */
    /* Loops that are unrolled (unroll.h). */
    uint32_t loop;   /* it begins one: its number, from 1 */
    uint32_t saves;  /* it closes one: slots that a turn of the copies saves, but for the last */
    uint32_t origin; /* the instruction that it is, or is a copy of */
    /* Of machine instructions that are played (follow.h), as machine.h has them. */
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
int piece_ends(const Ins *ins, const Price *price);
/* Ranks the instructions of one piece of the kernel, as far as its registers allow it; `alive`
 * behind it (alive.h). */
void piece_order(const SimtKernel *kernel, const Ins *code, Price *price, uint32_t count,
                 const uint64_t *alive);

/* code_pieces.c: which piece of code each instruction lies in (traffic/code_cache.h).  Fills
 * kernel->code_piece and code_slots; `own` of the prices are those of the PTX and of its copies,
 * the others machine code's.  Nothing where all of it is short.  -1: out of memory. */
int code_pieces_find(SimtKernel *kernel, const Price *price, uint32_t own);

/* Fills kernel->price, once; with machine_code what ptxas made of it, too (follow.h).  -1: out of
 * memory. */
int schedule_build(SimtKernel *kernel, const SimtMachine *machine, int machine_code);

#endif
