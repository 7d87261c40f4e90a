/* kernel.h - a module's kernels as the decoder leaves them, with the results of later analyses.
 *
 * decode fills in SimtKernel; the first counted launch adds KernelCosts.  launch frees both. */
#ifndef CONVLAB_SIMT_CORE_KERNEL_H
#define CONVLAB_SIMT_CORE_KERNEL_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/simulator/core/instruction.h"
#include "common/simulator/core/memory.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/ptx/fatbin.h"
#include "common/simulator/ptx/ptx.h"

typedef struct TensorPlan TensorPlan; /* tensor.h */
typedef struct BulkPlan BulkPlan;     /* async.h, like the next one */
typedef struct WgmmaPlan WgmmaPlan;
typedef struct InsCost InsCost;   /* schedule.h */
typedef struct Unrolled Unrolled; /* unroll.h */
typedef struct SassMap SassMap;   /* sass_map.h */

/* ---- calls (decode_routine.c) ---------------------------------------------------------------- */
/* A recursive function, which has code of its own.  A call saves the routine's registers and moves
 * its frame by frame_bytes. */
typedef struct Routine {
    const PtxFunction *function;
    uint32_t entry, leave;         /* its first instruction and its OP_RETURN */
    uint32_t first_slot, end_slot; /* its registers */
    uint8_t *width;                /* per 128 bytes of them: 4, 8, or 0 for predicates */
    uint32_t frame_bytes;          /* its parameters, results and variables */
    uint32_t stack_bytes;          /* stack of the GPU that one call takes */
} Routine;

/* Bytes of an argument, from the caller's frame to the callee's, or (result) in the other
 * direction. */
typedef struct CallCopy {
    uint32_t caller, callee, bytes;
    int result;
} CallCopy;

typedef struct CallSite {
    uint32_t routine, caller; /* caller: NO_ROUTINE for the kernel itself */
    uint32_t copy, copies;
} CallSite;

typedef struct KernelCalls {
    Routine *routine;
    CallSite *call;
    CallCopy *copy;
    uint32_t routines, calls, copies;
    uint32_t frame_slot; /* 64 bits per lane: start of the current routine's frame */
    uint32_t stack_slot; /* 64 bits per lane: the last result of alloca; 0: no calls of it */
} KernelCalls;

/* ---- matrix products and bulk copies --------------------------------------------------------- */
/* Operands of instructions that have more of them than Ins; Ins.aux is the number of a plan. */
typedef struct KernelPlans {
    TensorPlan *tensor;
    uint32_t tensors;
    BulkPlan *bulk;
    WgmmaPlan *wgmma;
    uint32_t bulks, wgmmas;
    uint16_t *wgmma_register; /* per 32 lanes of the file: its number among wgmma's; 0: none */
    uint32_t wgmma_registers;
} KernelPlans;

/* ---- costs (ptxas, sass_map, timing) --------------------------------------------------------- */
/* A load of which SASS executes only `loads` in `iterations` iterations of its loop; its address
 * advances by `step` bytes per iteration. */
typedef struct ReusedLoad {
    int64_t step;
    uint32_t iterations, loads; /* iterations 0: the load is not reused */
} ReusedLoad;

/* The kernel's code as the machine's compiler schedules it.  Built by the first counted launch;
 * before it, `price` is NULL. */
typedef struct KernelCosts {
    InsCost *price; /* per instruction of `code` */
    Ins *code;      /* the kernel's code, followed by the copies of unrolled loops */
    Unrolled *unrolled;
    SassMap *sass;        /* SASS that is replayed instead; NULL: none */
    ReusedLoad *reused;   /* per memory instruction; NULL: there are none */
    uint32_t scoreboard;  /* scoreboard entries of `code` */
    uint32_t *code_piece; /* per instruction (code_pieces.c); NULL: the code is short */
    uint32_t code_slots;  /* machine instructions of the PTX */
} KernelCosts;

/* ---- properties of the code (decode) --------------------------------------------------------- */
typedef struct KernelTraits {
    int allocates;            /* calls malloc or free */
    int reads_clock;          /* the clock or the global timer */
    int polls_clock;          /* has a loop that only polls the clock */
    int reads_cluster_rank;   /* reads a block's position in its cluster */
    int reads_reserved;       /* reads the address of CUDA's own part of shared memory */
    int awaits_launch;        /* griddepcontrol.wait */
    int has_fences;           /* or volatile or ordered accesses that other blocks see */
    int has_system_atomics;   /* atomics that order accesses of the host, too */
    int has_block_atomics;    /* atomics of block scope, possibly in global memory */
    int has_init_fence;       /* fence.mbarrier_init or fence.proxy.async */
    int reads_grid_barrier;   /* the address of a cooperative grid's barrier */
    int has_polling;          /* a loop polls writes of other threads: blocks run side by side */
    int only_polls_blocks;    /* such a loop, which only polls words that other blocks write */
    int is_ordered;           /* polling, or global atomics: blocks run one after another */
    int stores_partial_words; /* stores of less than a word to global memory */
} KernelTraits;

/* ---- the cubin of this PTX ------------------------------------------------------------------- */
typedef struct KernelCubin {
    int has_registers;       /* SimtKernelInfo.registers is the cubin's */
    uint32_t local_bytes;    /* local memory of a thread */
    int arrays_in_registers; /* SASS has no local memory for the PTX's arrays */
    const SassCode *sass;    /* NULL: there is no cubin */
    uint32_t *order;         /* with spills: place of each `from` in the SASS, from 1; 0: none */
} KernelCubin;

/* ---- scopes, for a debugger (scope.c) -------------------------------------------------------- */
/* A variable of a function body, and its place. */
typedef struct ScopeVariable {
    const PtxVariable *variable;
    uint64_t offset;
    PtxSpace space;
} ScopeVariable;

/* A function body that was decoded at one place: the kernel itself, or a function that was expanded
 * at a call. */
typedef struct CodeScope {
    const PtxFunction *function;
    uint32_t caller;  /* number of the scope that calls it; UINT32_MAX: none */
    uint32_t call;    /* the `from` of that call */
    uint32_t routine; /* the routine that contains it, or NO_ROUTINE */
    uint32_t *slot;   /* per PTX register; 0: not used */
    ScopeVariable *variable;
    uint32_t variables;
} CodeScope;

/* Registers that a thread may read before it writes them (checks/unassigned.c). */
typedef struct KernelUnassigned {
    uint32_t *slot, count;
    int is_known;
} KernelUnassigned;

typedef struct KernelScopes {
    CodeScope *scope;   /* NULL: there is no debugger */
    uint32_t *scope_of; /* per `from`: its scope */
    ScopeVariable *shared_variable;
    uint32_t scopes, shared_variables;
} KernelScopes;

struct SimtKernel {
    SimtModule *module;
    const PtxFunction *function;
    SimtKernelInfo info;
    int decoded; /* 1: without errors, -1: refused */
    Error refusal;
    Ins *code;
    uint32_t count, mems;          /* instructions; memory instructions */
    const PtxInstruction **origin; /* per `from` */
    uint32_t origins;
    uint64_t *runs; /* warps that executed each origin, in all launches; NULL: no profile */
    ConstSlot *constant;
    uint32_t constants;
    uint32_t file_bytes; /* size of one warp's register file */
    uint32_t scoreboard; /* entries */
    uint8_t *width;      /* 32-bit registers of each entry; 0: a predicate, or folded */
    uint32_t static_shared, local_bytes;
    uint32_t *table; /* targets of jumps by table */
    uint32_t tables;
    uint32_t registers_needed; /* by a thread, in registers or elsewhere: registers.c */
    uint64_t executed;         /* warp instructions of its last launch on several host threads */
    uint8_t *digest_rule;      /* per instruction: DIGEST_* of timing/digest.h; NULL: not built */
    uint64_t repeats;          /* launches that were executed and not priced again (repeat.h) */
    KernelCalls calls;
    KernelPlans plans;
    KernelTraits traits;
    KernelCubin cubin;
    KernelCosts costs;
    KernelScopes scopes;
    KernelUnassigned unassigned;
};

typedef struct Symbol {
    const PtxVariable *variable;
    uint64_t address;
    Allocation *allocation;
} Symbol;

struct SimtModule {
    SimtGpu *gpu;
    const struct Image *image; /* common/simulator/launch/image.h: owner of the next two */
    const PtxModule *ptx;
    const Fatbin *fatbin;
    Symbol *symbol; /* sorted by `variable` once all are placed */
    uint32_t symbols;
    const Symbol **symbol_by_name;
    uint32_t *function_by_name; /* indices of ptx->function */
    SimtKernel *kernel;         /* in the order of `function` */
    uint32_t kernels;
    uint64_t decoded;     /* instructions of its kernels so far */
    unsigned char *taken; /* per function: its address is taken; NULL: not known yet */
    SimtModule *next;
};

/* ---- symbols.c: variables and functions by name ---------------------------------------------- */
/* Names, operands and initialisers are the submission's, and there may be millions of them.  So
 * each of these searches takes a logarithmic number of comparisons. */
/* Sorts the functions, or the placed variables; -1: out of memory. */
int functions_sort(SimtModule *module);
int symbols_sort(SimtModule *module);
/* NULL: not placed; no such name. */
const Symbol *symbol_of(const SimtModule *module, const PtxVariable *variable);
const Symbol *symbol_find(const SimtModule *module, const char *name);
/* The functions of this name are function_by_name[*first] and those after it; their number. */
uint32_t functions_find(const SimtModule *module, const char *name, uint32_t *first);

/* ---- function.c: addresses of functions ------------------------------------------------------ */
uint64_t function_address_at(uint32_t function);
/* 0: the module has no such function with a body. */
uint64_t function_address(const SimtModule *module, const char *name);
/* Is the function a possible target of an indirect call? */
int function_is_taken(SimtModule *module, uint32_t function);

/* ---- source.c: positions in the source ------------------------------------------------------- */
/* The source position of an instruction, for messages: "conv.cu:12" or "PTX line 88". */
void source_name(const SimtKernel *kernel, uint32_t from, char *text, size_t bytes);
/* The file without directories and the line; "" and 0 if the code has no -lineinfo. */
const char *source_line(const SimtKernel *kernel, uint32_t from, uint32_t *line);
/* The call of the inlined function that contains the line, in code of the program; "" if the
 * function is not inlined. */
const char *source_caller(const SimtKernel *kernel, uint32_t from, uint32_t *line);
/* The line of a .cu file that an instruction comes from; 0: none. */
uint32_t source_own_line(const SimtKernel *kernel, uint32_t from);

/* A branch of the PTX program: exits and branches inside an accelerator are none. */
int is_branch(const Ins *ins);

#endif
