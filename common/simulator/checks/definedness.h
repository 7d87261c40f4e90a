/* definedness.h - undefined values in registers, followed until they decide something.
 *
 * Reading memory that nothing has written is no fault by itself: the value may be copied and never
 * used, for example the padding of a struct. A bit per register and lane states that the value is
 * undefined. It is reported when the value is stored to global memory, is passed to or returned by
 * a function, forms an address, decides a branch or takes part in a barrier. A value stored to
 * shared memory or to a thread's own array leaves the word unwritten.
 *
 * A warp is followed (Warp.undefined.is_followed) only while one of its registers is undefined;
 * warps without such registers execute as if there were no check. A 64-bit register has one bit per
 * lane, too. The frames of recursive calls, what alloca returns, and the registers that these calls
 * save count as defined. */
#ifndef CONVLAB_SIMT_CHECKS_DEFINEDNESS_H
#define CONVLAB_SIMT_CHECKS_DEFINEDNESS_H

#include "common/simulator/core/core.h"

/* Elements of the widest vector access. */
enum { ELEMENTS_MOST = 8 };

/* A load of memory that nothing has written, before its values are in registers. */
typedef struct UndefinedRead {
    const uint64_t *address;       /* per lane: address, or offset in shared or local memory */
    uint32_t lanes[ELEMENTS_MOST]; /* per element of a vector access: the lanes that read it */
    uint32_t bytes;                /* per lane */
    PtxSpace space;                /* PTX_GLOBAL, PTX_SHARED or PTX_LOCAL */
} UndefinedRead;

/* May the read be followed instead of being reported? Only plain loads into registers, and not
 * under a debugger, which stops at the read. */
int undefined_can_follow(const Warp *warp, const Ins *ins);
/* Marks the destination registers of the load. Returns 0, or -1 if the host has no memory for it:
 * then the caller reports the read. */
int undefined_read(Warp *warp, const Ins *ins, const UndefinedRead *read);
/* Before an instruction of a followed warp: which registers it defines, and whether it uses an
 * undefined value. */
void undefined_step(Warp *warp, const Ins *ins);
/* A followed warp stores to shared or local memory: bytes of undefined values are marked as
 * unwritten again in `shadow`, which has a bit per byte.  `offset` per lane, for the lanes of
 * `mask`. */
void undefined_stored(Warp *warp, const Ins *ins, unsigned char *shadow, const uint32_t *offset,
                      uint32_t mask);
/* Is what the instruction reads stored again to the same place soon, on the same line?  That is
 * +=. */
int adds_in_place(const SimtKernel *kernel, const Ins *ins);
/* At the start of a block: registers that the kernel may read before it writes them. */
void undefined_begin(Warp *warp);
void undefined_close(Warp *warp);

/* ---- unassigned.c ---------------------------------------------------------------------------- */
/* Finds the registers that a thread may read before it writes them (SimtKernel.unassigned). Without
 * host memory, in very long kernels and in those with recursive calls, there are none. */
void unassigned_find(SimtKernel *kernel);

/* ---- operands.c ------------------------------------------------------------------------------ */
enum { READS_MOST = 160, WRITES_MOST = 136 };

/* Registers (slots) of an instruction, including those of matrix products. */
typedef struct Operands {
    uint32_t read[READS_MOST], write[WRITES_MOST], reads, writes;
} Operands;

void operands_of(const SimtKernel *kernel, const Ins *ins, Operands *operands);
int is_store(const Ins *ins);
int is_plain_load(const Ins *ins);

#endif
