/* sass.h - SASS decoder: a kernel's SASS instructions, each with its PTX line, its loops, and its
 * accesses to local memory.
 *
 * Module: the decoder of SASS of compute capability 7.5 to 9.0, and its opcode tables.
 * Callers: ptx, which finds the code in cubins; decode, ptxas and sass_map.
 * May use: base.
 *
 * PTX does not show which values are spilled: SASS stores and loads them relative to the stack
 * pointer. Each instruction also states when the next one may issue, which the hardware's scheduler
 * obeys because it does not check operands. */
#ifndef CONVLAB_PTX_MACHINE_H
#define CONVLAB_PTX_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/sass/opcodes.h"

typedef enum SassKind { SASS_KIND_OTHER, SASS_KIND_LOCAL_LOAD, SASS_KIND_LOCAL_STORE } SassKind;

typedef struct SassIns {
    uint32_t line;  /* line in the PTX text, from 1; 0: not known */
    uint32_t loop;  /* the innermost one around it, from 1; 0: none */
    uint32_t piece; /* number of its basic block */
    uint32_t other; /* for a local load, the instruction that first reads its result; for a store,
                     * the one that defined its value; both in the same basic block, else its own
                     * number */
    int32_t offset; /* local: bytes from the stack pointer */
    uint8_t kind, bytes; /* bytes: of each lane, of what is local or loaded from shared memory */
    uint8_t last;        /* a local load after which the value in memory is not needed */
    uint8_t reached;     /* by branches from the first instruction on; routines are not */
    uint8_t guarded;     /* by a predicate */
    uint16_t op;         /* the operation, with the form of its operands */
    uint8_t stall;       /* cycles until the warp's next instruction */
    uint8_t fetches[2];  /* operands that come from each bank of registers, one per cycle */
    uint8_t waits;       /* bit mask of six counters that must be zero before it issues */
    uint8_t made, read;  /* the counter, from 1, that is non-zero until its result is available, or
                          * until its operands are read; 0: none */
} SassIns;

typedef struct SassCode {
    SassIns *ins;
    uint32_t count, sm;
    uint32_t *loop_line; /* PTX line of the branch that closes each loop */
    uint32_t loops;
} SassCode;

/* One section of SASS; `line` has one entry for each instruction. */
typedef struct SassText {
    const unsigned char *bytes; /* 16 an instruction */
    uint32_t count, sm;
    const uint32_t *line;
} SassText;

/* Is SASS for sm_NN of a supported form: 128-bit instructions of 7.5 to 9.0. */
int sass_is_known(uint32_t sm);

/* Nothing, with *code empty, where memory does not suffice or `work`, which is counted down, ends:
 * steps that a hostile file may cost. */
void sass_decode(const SassText *text, size_t *work, SassCode *code);
void sass_free(SassCode *code);

#endif
