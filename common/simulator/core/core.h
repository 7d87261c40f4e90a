/* core.h - what the files of the simulated GPU share among themselves.
 *
 * Module: the simulator's shared state: memory, decoded instructions, warps, a launch.
 * Callers: the modules of the simulator; others only profile.h and simt_types.h.
 * May use: machine, ptx, base.
 *
 * A kernel is decoded once into Ins: operands are byte offsets into a warp's register file, where a
 * 32-bit register is 32 consecutive lanes (128 bytes), a 64-bit one 256 bytes and a predicate one
 * 32-bit mask.  Immediates, addresses of variables and special registers are slots too, so that an
 * instruction has one form, not one for every kind of operand. */
#ifndef CONVLAB_SIMT_CORE_H
#define CONVLAB_SIMT_CORE_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/array_name.h"
#include "common/base/parallel.h"
#include "common/simulator/ptx/fatbin.h"
#include "common/simulator/ptx/ptx.h"
#include "common/simulator/core/profile.h"
#include "common/simulator/core/launch_arena.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/machine/machine.h"

enum { HOT_ADDRESSES = 4096, HOT_SLICES = 128, RETRIED_WORDS = 4096 };
enum { LANES = 32, ROW_BYTES = LANES * 4, STACK_DEPTH = 160, MAX_WARPS = 32, MAX_BARRIERS = 16 };
#define FULL_MASK 0xffffffffu

/* The generic address space.  Device memory starts at DEVICE_BASE; a window address is its base
 * plus an offset. */
#define DEVICE_BASE   0x0000700000000000ull
#define SHARED_WINDOW 0x0000600000000000ull
#define LOCAL_WINDOW  0x0000610000000000ull
#define PARAM_WINDOW  0x0000620000000000ull
#define CODE_WINDOW   0x0000630000000000ull
#define WINDOW_BYTES  0x0000010000000000ull

/* An address of shared memory has the rank of a block of the cluster above these bits, one more; 0:
 * the thread's own block. */
enum { RANK_SHIFT = 24 };

/* ---- memory ---------------------------------------------------------------------------------- */
typedef struct Allocation {
    uint64_t address, bytes;
    unsigned char *host;
    int freed;
    int kept;      /* freed, but its bytes stay until memory_free: a replay uses them again */
    int read_only; /* __constant__ */
    int managed;   /* the program's own code uses it at the same address */
    int heap;      /* a kernel's malloc gave it out */
    uint64_t room; /* of such: the most that it can hold */
    struct Allocation *later; /* of such, freed: the one that was freed next */
    int initialised;          /* every byte is known to be written: the bitmap need not be asked */
    const char *name;         /* of a variable, NULL for an allocation */
    ArrayName array;          /* what is in it, where somebody said so; rank 0 else */
    uint64_t serial;
} Allocation;

typedef struct Memory {
    unsigned char *host;   /* reserved, not committed */
    unsigned char *shadow; /* one bit a byte: written; NULL without initcheck */
    uint64_t reserved, next, used, capacity;
    Allocation **table; /* sorted by address, freed ones included */
    uint32_t count, room;
    uint64_t serial;
    int arrays; /* some allocations have names: the others are the program's own */
} Memory;

int memory_open(Memory *memory, uint64_t capacity, int initcheck, Error *error);
void memory_close(Memory *memory);
/* Zeros that take memory where they are touched; munmap gives them back.  NULL: there are none. */
void *address_space(uint64_t bytes);
/* As calloc, but of pages that are written already.  One that is read before it is written is the
 * kernel's page of zeros at first; when it is replaced, all of the process's cores are interrupted.
 * free gives it back. */
void *zeros_alloc(size_t count, size_t bytes);
int memory_alloc(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made,
                 Error *error);
/* Of whole pages, which this process finds at the same address too: what a kernel writes its host
 * code reads, and the other way around.  Nothing tells what the host has written. */
int memory_alloc_managed(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made,
                         Error *error);
int memory_free(Memory *memory, uint64_t address, Error *error);
/* Address space for memory_place: allocations at places that the caller chooses there, which are
 * not counted.  NULL: out of host memory. */
int memory_reserve(Memory *memory, uint64_t bytes, uint64_t *address, Error *error);
Allocation *memory_place(Memory *memory, uint64_t address, uint64_t bytes);
/* Freed for all who use it from now on, or (retired 0) alive again; bytes and address stay. */
int memory_retire(Memory *memory, uint64_t address, int retired, Error *error);
/* The allocation, live or freed, that holds `address`, or NULL. */
Allocation *memory_find(const Memory *memory, uint64_t address);
/* A live allocation that holds all of [address, address + bytes), or NULL with an error that names
 * what is near. */
Allocation *memory_range(const Memory *memory, uint64_t address, uint64_t bytes, Error *error);
/* "16 bytes past the end of a 4096-byte allocation at 0x700000000000", or by the element where the
 * nearest allocation has a name. */
void memory_describe(const Memory *memory, uint64_t address, char *text, size_t bytes);
/* The same beside `allocation`, however near others are. */
void memory_describe_from(const Memory *memory, const Allocation *allocation, uint64_t address,
                          char *text, size_t bytes);
/* ", y at (n,k,p,q) = (0,0,1,2)" where the address lies in an array that has a name, else "". */
void memory_element(const Memory *memory, uint64_t address, char *text, size_t bytes);
/* Names what the allocation at `address` holds.  -1 with error: there is none. */
int memory_name(Memory *memory, uint64_t address, const ArrayName *array, Error *error);
void memory_mark(Memory *memory, uint64_t address, uint64_t bytes, int written);
int memory_is_written(const Memory *memory, uint64_t address, uint64_t bytes);
/* What was written of one range becomes what was written of another; they may overlap. */
void memory_marks_copy(Memory *memory, uint64_t to, uint64_t from, uint64_t bytes);
/* simt.h's simt_leaks. */
uint64_t memory_leaks(const Memory *memory, char *text, size_t bytes);

/* ---- the device heap (heap.c) ---------------------------------------------------------------- */
typedef struct HeapPlaces {
    Allocation *first, *last; /* in the order in which they were freed */
} HeapPlaces;

enum { HEAP_CLASSES = 4 * 61 };

typedef struct Heap {
    uint64_t limit; /* cudaLimitMallocHeapSize */
    uint64_t begin, next, end, used;
    uint64_t furthest;              /* where next was when it was furthest */
    uint32_t places;                /* given out once or more often */
    HeapPlaces freed[HEAP_CLASSES]; /* by how much they hold (heap.c) */
} Heap;

typedef enum HeapFree { HEAP_FREE_DONE, HEAP_FREE_INVALID, HEAP_FREE_TWICE } HeapFree;

/* Before a kernel that uses it.  -1: there is no room for it. */
int heap_open(SimtGpu *gpu, Error *error);
/* NULL: the heap is full.  *again: others had the block's place before. */
Allocation *heap_alloc(SimtGpu *gpu, uint64_t bytes, int *again);
HeapFree heap_free(SimtGpu *gpu, uint64_t address);
/* Frees all of it and begins at its first place again. */
void heap_restore(SimtGpu *gpu);

/* ---- decoded instructions ----------------------------------------------------------------- */
typedef struct Warp Warp;
typedef struct Ins Ins;
typedef struct Worker Worker;
typedef const Ins *(*Handler)(Warp *warp, const Ins *ins);

typedef enum OpClass {
    CLASS_FREE, /* folded away by the machine's own compiler: moves, address casts, parameters */
    CLASS_INT,
    CLASS_INT_WIDE,
    CLASS_FP32,
    CLASS_FP64,
    CLASS_SFU,
    CLASS_DIV,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_SHARED_LOAD,
    CLASS_SHARED_STORE,
    CLASS_ATOMIC,
    CLASS_BRANCH,
    CLASS_BARRIER,
    CLASS_TENSOR,
    CLASS_COUNT
} OpClass;

enum { NO_SLOT = 0xffffffffu, NO_ROUTINE = 0xffffffffu };

/* Accesses to shared memory that ptxas joins into one: of loads the first stands for all, of stores
 * the last, and the others follow. */
enum { MERGE_NONE, MERGE_4, MERGE_8, MERGE_16, MERGE_FOLLOWER };

typedef struct TensorPlan TensorPlan; /* tensor.h */
typedef struct BulkPlan BulkPlan;     /* async.h, as the next three */
typedef struct WgmmaPlan WgmmaPlan;
typedef struct Flight Flight;
typedef struct Departure Departure;
typedef struct ProductRead ProductRead;
typedef struct PhaseNumber PhaseNumber;
typedef struct InsCost InsCost;   /* schedule.h */
typedef struct Unrolled Unrolled; /* unroll.h */
typedef struct SassMap SassMap;   /* sass_map.h */

struct Ins {
    Handler fn, inner;   /* inner: what a guarded instruction does where its predicate holds */
    uint32_t d, a, b, c; /* byte offsets into the register file */
    uint32_t v[4];       /* registers of a vector access */
    int64_t imm;
    uint32_t guard; /* predicate slot or NO_SLOT */
    uint32_t target, reconv;
    uint32_t mem;  /* number of this access in the worker's cache of allocations */
    uint32_t from; /* the PTX instruction, UINT32_MAX for none */
    uint16_t op;
    uint8_t guard_negated, pseudo, class, bytes, vector, space;
    uint8_t is_signed, base64, carries, merge, read_only, order;
    uint8_t shared_atomic;   /* SharedAtomic of kinds.h */
    uint8_t joins;           /* of an atomic: WarpAggregate of kinds.h */
    uint8_t yields;          /* a branch back in a loop that waits: YIELDS_* of kinds.h */
    uint8_t last_use;        /* of a spilled value, by this load */
    uint8_t part_bytes;      /* of a vector that ptxas does not load whole; 0: it does */
    uint8_t part[2];         /* ... where its parts begin; the second 0: there is one */
    uint8_t is_operand;      /* of a constant: machine code has no load of it for each lane */
    uint16_t t_d[4], t_s[6]; /* scoreboard numbers written and read; 0: none */
    uint32_t aux;
};

/* Where the upper half of a register of 128 bits lies. */
static inline uint32_t upper_half(uint32_t slot)
{
    return slot + LANES * 8;
}

typedef struct ConstSlot {
    uint64_t bits;
    uint32_t slot, bytes;
    int dynamic; /* counted from the end of the static shared memory */
} ConstSlot;

/* Slots of special registers come first in every register file. */
typedef enum Special {
    SR_TID_X,
    SR_TID_Y,
    SR_TID_Z,
    SR_NTID_X,
    SR_NTID_Y,
    SR_NTID_Z,
    SR_CTAID_X,
    SR_CTAID_Y,
    SR_CTAID_Z,
    SR_NCTAID_X,
    SR_NCTAID_Y,
    SR_NCTAID_Z,
    SR_LANEID,
    SR_WARPID,
    SR_NWARPID,
    SR_SMID,
    SR_NSMID,
    SR_MASK_EQ,
    SR_MASK_LE,
    SR_MASK_LT,
    SR_MASK_GE,
    SR_MASK_GT,
    SR_DYNAMIC_SMEM,
    SR_TOTAL_SMEM,    /* in units in which a block gets it */
    SR_AGGR_SMEM,     /* with CUDA's own part, in bytes */
    SR_GRIDID,        /* the launch's number, from 1 */
    SR_RESERVED_CAP,  /* bytes of CUDA's own part of shared memory ... */
    SR_RESERVED_SMEM, /* where it, and in it the scratch of cooperative groups, begins */
    SR_RESERVED_END,  /* ... and where what the driver uses of it ends */
    SR_ENVREG1,       /* and 2: the address of a cooperative grid's barrier, high and low half */
    SR_ENVREG2,
    SR_EXPLICIT_CLUSTER, /* a predicate: launched with clusters */
    SR_CLUSTERID_X,      /* these as a grid of clusters ... */
    SR_CLUSTERID_Y,
    SR_CLUSTERID_Z,
    SR_NCLUSTERID_X,
    SR_NCLUSTERID_Y,
    SR_NCLUSTERID_Z,
    SR_CLUSTER_CTAID_X, /* ... and the block in its cluster */
    SR_CLUSTER_CTAID_Y,
    SR_CLUSTER_CTAID_Z,
    SR_CLUSTER_NCTAID_X,
    SR_CLUSTER_NCTAID_Y,
    SR_CLUSTER_NCTAID_Z,
    SR_CLUSTER_CTARANK,
    SR_CLUSTER_NCTARANK,
    SR_COUNT
} Special;

/* A function that calls itself, directly or through others: code of its own.  A call saves the
 * routine's registers and gives its local variables another place, so many bytes further on. */
typedef struct Routine {
    const PtxFunction *function;
    uint32_t entry, leave;         /* its first instruction and its OP_RETURN */
    uint32_t first_slot, end_slot; /* its registers */
    uint8_t *width;                /* per 128 bytes of them: 4, 8, or 0 for predicates */
    uint32_t frame_bytes;          /* its parameters, results and variables */
    uint32_t stack_bytes;          /* what a call of it takes of a card's stack */
} Routine;

/* Bytes of an argument, from the caller's frame to the callee's, or (result) the other way. */
typedef struct CallCopy {
    uint32_t caller, callee, bytes;
    int result;
} CallCopy;

/* A load of which machine code makes `loads` in so many turns of its loop; its address goes on by
 * `step` in each. */
typedef struct ReusedLoad {
    int64_t step;
    uint32_t turns, loads; /* turns 0: it is none of those */
} ReusedLoad;

typedef struct CallSite {
    uint32_t routine, caller; /* caller: NO_ROUTINE for the kernel itself */
    uint32_t copy, copies;
} CallSite;

typedef struct DebugHook DebugHook; /* debug_hook.h */

/* A variable of a function body, at the place that the decoder gave it. */
typedef struct ScopeVariable {
    const PtxVariable *variable;
    uint64_t offset;
    PtxSpace space;
} ScopeVariable;

/* A function body as it was decoded at one place: the kernel itself, or a function that was
 * expanded where it is called.  Only kept for a debugger. */
typedef struct CodeScope {
    const PtxFunction *function;
    uint32_t caller;  /* number of the scope that calls it; UINT32_MAX: none */
    uint32_t call;    /* the `from` of that call */
    uint32_t routine; /* the routine that it belongs to, or NO_ROUTINE */
    uint32_t *slot;   /* per PTX register; 0: not used */
    ScopeVariable *variable;
    uint32_t variables;
} CodeScope;

struct SimtKernel {
    SimtModule *module;
    const PtxFunction *function;
    SimtKernelInfo info;
    int decoded; /* 1: fine, -1: refused */
    Error refusal;
    Ins *code;
    uint32_t count, mems;
    const PtxInstruction **origin; /* of each `from` */
    uint32_t origins;
    uint64_t *runs; /* warps that executed each of them, in all launches; NULL: none profiled */
    ConstSlot *constant;
    uint32_t constants;
    uint32_t file_bytes; /* of one warp's register file */
    uint32_t scoreboard; /* entries */
    uint8_t *width;      /* of each: 32-bit registers; 0: a predicate, or folded into operands */
    uint32_t static_shared, local_bytes;
    uint32_t *table; /* targets of jumps by table */
    uint32_t tables;
    Routine *routine;
    CallSite *call;
    CallCopy *copy;
    uint32_t routines, calls, copies;
    uint32_t frame_slot; /* 64 bits a lane: where the frame of the routine begins that it is in */
    uint32_t stack_slot; /* ... and where what alloca gave last begins; 0: it calls none */
    TensorPlan *tensor;
    uint32_t tensors;
    BulkPlan *bulk;
    WgmmaPlan *wgmma;
    uint32_t bulks, wgmmas;
    uint16_t *wgmma_register; /* per 32 lanes of the file: its number among those of wgmma, or 0 */
    uint32_t wgmma_registers;
    InsCost *price; /* per Ins, for the machine; NULL before the first counted launch */
    Ins *played;    /* its code, and copies of loops that are unrolled; of as many prices */
    Unrolled *unrolled;
    SassMap *follow;        /* machine code that is played instead; NULL: none */
    ReusedLoad *carried;    /* per memory instruction; NULL: there are none */
    uint32_t played_scores; /* scoreboard entries of `played` */
    uint32_t *code_piece;   /* of each that is played (code_pieces.c); NULL: the code is short */
    uint32_t code_slots;    /* machine instructions that its PTX is priced as */
    uint64_t executed;      /* warp instructions, in its last launch on several host threads */
    int allocates;          /* calls malloc or free */
    int reads_clock;
    int awaits_clock;       /* a loop only looks at the clock */
    int asks_cluster;       /* where in its cluster a block is */
    int asks_reserved;      /* where its reserved shared memory is */
    int awaits;             /* the launch before it: griddepcontrol.wait */
    int fences;             /* or volatile or ordered accesses of what other blocks see */
    int spins;              /* a loop waits for what other threads write: blocks run side by side */
    int waits;              /* ... and only looks at what other blocks may write */
    int in_order;           /* these, or global atomics: blocks run one after the other */
    int stores_parts;       /* stores less than a word to global memory */
    int registers_known;    /* from a cubin */
    uint32_t machine_local; /* bytes of local memory, from a cubin */
    int arrays_in_registers; /* what the PTX has in local memory, as machine code shows */
    const SassCode *machine; /* of a cubin made of this PTX; NULL: none */
    uint32_t *machine_order; /* with spills: of each `from` its place there, from 1; 0: none */
    CodeScope *scope;        /* for a debugger; NULL: there is none */
    uint32_t *scope_of;      /* per `from`: its scope */
    ScopeVariable *shared_variable;
    uint32_t scopes, shared_variables;
    uint32_t registers_needed; /* by a thread, in registers or elsewhere: registers.c */
};

typedef struct Symbol {
    const PtxVariable *variable;
    uint64_t address;
    Allocation *allocation;
} Symbol;

struct SimtModule {
    SimtGpu *gpu;
    const struct Image *image; /* common/simulator/launch/image.h: owns the two that follow */
    const PtxModule *ptx;
    const Fatbin *fatbin;
    Symbol *symbol;
    uint32_t symbols;
    SimtKernel *kernel;
    uint32_t kernels;
    uint64_t decoded;     /* instructions of its kernels so far */
    unsigned char *taken; /* per function: its address is; NULL before anybody asked */
    SimtModule *next;
};

/* ---- function.c: functions by their address ---- */
uint64_t function_address_at(uint32_t function);
/* 0: the module has no such function with a body. */
uint64_t function_address(const SimtModule *module, const char *name);
/* Could a call by address be meant for it? */
int function_is_taken(SimtModule *module, uint32_t function);

/* ---- execution ---------------------------------------------------------------------------- */
typedef enum WarpState {
    WARP_READY,
    WARP_BARRIER,
    WARP_PHASE, /* waits for a phase of an mbarrier */
    WARP_CLUSTER,
    WARP_DONE,
    WARP_FAULT
} WarpState;

/* What DRAM gives at once. */
enum { FETCH_BYTES = 64, FETCH_SECTORS = 2 };

/* Of a load by way of the L1 TraceStep.passes has, as many times, the cycles by which its result
 * comes later than behind its passes. */
enum { RESULT_DELAY_UNIT = 256 };

/* One executed instruction of a warp: passes through the load/store unit, or cycles of the texture
 * units, and what went beyond the L1. */
typedef struct TraceStep {
    uint32_t ins;
    /* The first in the warp's list of lines that an access asked for, plus 1; where
     * blocks run in the order of time, of an ordered load or an atomic the cycles that it waited
     * for others. */
    uint32_t wanted;
    uint16_t passes;       /* of a branch: 1 where the warp's lanes parted */
    uint8_t misses, lines; /* sectors, and the lines that they lie in */
} TraceStep;

/* Its upper bits are a hash: of numbers that follow each other they lie far apart. */
static inline uint64_t mixed(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u;
}

/* What a multiprocessor fetches of constant memory at a time, and a line of the smaller of its two
 * caches for that. */
enum { CONSTANT_BYTES = 256, CONST_L1_LINE_BYTES = 64 };

/* `lines` of an access to other blocks' shared memory: `misses` are cycles of the way there. */
enum { REMOTE_LINES = 255 };

/* A line of device memory, by number, and which of its sectors a load asked for; or of a store how
 * much of each sector it writes: 4 bits each, of 2 bytes, one less. */
typedef struct TraceLine {
    uint32_t line;
    uint8_t sectors, last; /* of its step */
    uint16_t written;
} TraceLine;

typedef struct WarpTrace {
    TraceStep *step;
    TraceLine *line;
    uint32_t count, lines, room; /* of both */
} WarpTrace;

typedef enum Pipe {
    PIPE_NONE,
    PIPE_FP32,
    PIPE_INT,
    PIPE_FP64,
    PIPE_SFU,
    PIPE_TENSOR,
    PIPE_IMAD, /* of integers */
    PIPES,
    PIPE_CONSTANT = PIPES /* of machine code, and one for all schedulers */
} Pipe;

/* Integer sums of one block or one SM: adding them in any order gives the same. */
typedef struct BlockCost {
    uint64_t steps, passes, load_misses, store_misses, local_misses, blocks;
    uint64_t slots, pipe[PIPES]; /* machine instructions; cycles of each pipe of a scheduler */
    uint64_t folded;             /* instructions that are part of others */
    uint64_t spun;               /* machine instructions of turns that only looked at the clock */
    uint64_t load_rows;    /* rows of DRAM that loads touched beyond those that cost nothing */
    uint64_t store_rows;   /* ... that stores did which touched many */
    uint64_t store_lines;  /* lines that store_misses lie in, each access by itself */
    uint64_t store_parts;  /* sectors of which a store writes only some words */
    uint64_t bulk_sectors; /* loaded by the tensor memory accelerator */
    uint64_t spill_stores; /* sectors of local memory that spills store */
    uint64_t remote;       /* cycles of the way to other blocks' shared memory */
    uint64_t texture;      /* cycles of the texture units */
    uint64_t chain;        /* cycles from the first instruction to the last */
    uint64_t warp_chains;  /* ... of each warp */
} BlockCost;

typedef struct BlockTrace {
    uint64_t number;
    uint64_t weight; /* of a block that was kept for having much to do */
    uint64_t ended;  /* where blocks run in the order of time, of a sampled one */
    BlockCost cost;
    uint64_t slots, steps; /* that were traced; counted when they are put in order */
    WarpTrace *warp;
} BlockTrace;

/* The chain of what a warp must wait for, were it alone on the machine (critical_path.h). */
typedef struct CriticalPath {
    uint64_t *ready;               /* per scoreboard number */
    uint64_t begin, latest, slots; /* of the straight piece of code in hand */
    uint64_t copied, joined;
    uint32_t turns; /* of the unrolled loop that it is in */
    int before;     /* its next fence: cycles that this takes for it, 0: as long as any */
} CriticalPath;

typedef struct Path {
    uint32_t pc, mask, rpc;
    uint32_t waits; /* for these lanes, to come to what it stands at; 0: it can go on */
} Path;

/* A call that some lanes have not returned from. */
typedef struct CallFrame {
    const Ins *call;
    uint32_t mask;
    uint32_t stack; /* bytes of a card's stack, with all frames below */
    size_t saved;   /* where in Warp.saved the routine's registers and the caller's frames are */
} CallFrame;

/* The blocks with the most to do of those that one host thread ran; traced all of them, and the one
 * in hand. */
/* Loops of atomics in shared memory, of a block: words, each with its successes since another word
 * took its place, and the most of any; the wavefronts of the loads in them, and of what swaps. */
typedef struct Retries {
    struct {
        uint32_t word, successes;
    } place[RETRIED_WORDS];
    uint32_t most;
    uint64_t turns, loads, swaps;
} Retries;

/* One atomic of a warp that is a loop, and what such take. */
typedef struct Retry {
    uint32_t warp, mask, changing, bytes, offset[LANES];
} Retry;

typedef struct RetrySums {
    uint64_t turns, loads, swaps, needed;
} RetrySums;

/* Those of a block's warps since the last barrier, and how much more they take than alone. */
typedef struct Retried {
    Retry *one;
    uint32_t count, room, chance;
    RetrySums alone, failed;
    uint64_t clock, *changed; /* when each word was changed last */
} Retried;

typedef struct Heaviest {
    BlockTrace *block; /* `most` + 1 */
    TraceStep *steps;
    TraceLine *line;
    WarpTrace *warps;
    uint32_t most, count; /* kept are the first `count`; the next one is in hand */
    uint32_t lightest;    /* of those kept, when they are `most` */
} Heaviest;

typedef struct Block Block;
typedef struct RaceWords RaceWords; /* race.h */
typedef struct RaceOrder RaceOrder; /* race_order.h */
typedef struct AccessLog AccessLog; /* access_log.h */

/* A cp.async whose bytes have not arrived yet. */
typedef struct AsyncCopy {
    uint32_t to, group, ins;
    uint8_t lane, bytes;
    unsigned char data[16];
} AsyncCopy;

struct Warp {
    char *file; /* registers */
    uint32_t mask, alive, rpc, depth;
    const Ins *pc, *code;
    Block *block;
    Worker *worker;
    int count; /* counters wanted */
    WarpState state;
    uint32_t index;
    uint32_t turns; /* of a loop that waits, made in vain by some of the warp's lanes */
    int changed;    /* ... and others went on without them */
    int paused;     /* gave way in a loop that also does something */
    uint32_t loop;  /* instructions of the loop in which it last gave way */
    /* Where blocks run in the order of time (interblock.h): */
    uint64_t gate;                    /* when it can go on; 0: it runs, or waits otherwise */
    uint64_t cleared_at;              /* value of `gate` that it may pass; 0: none */
    uint64_t met, queued, late;       /* when its last access was made, and waited for others */
    uint64_t atomic_done_at;          /* cycle at which the last atomic's result is available */
    uint64_t poll_cycles;             /* cycles of its failed polls */
    uint32_t clocked;                 /* how often, at the clock */
    const Ins *passed;                /* the access that it was let on for; NULL: none yet */
    uint32_t failed_polls;            /* number of failed polls in a row */
    uint8_t fenced;                   /* no store since its last fence */
    uint8_t across;                   /* the access just made goes to the other half of the L2 */
    uint8_t was_poll;                 /* it only polled when it was last cleared */
    uint32_t awaited;                 /* the Path.waits of the path just taken up */
    uint32_t barrier, barrier_wanted; /* where it waits, and for how many threads (0: all) */
    const Ins *barrier_ins;
    unsigned char *local; /* LANES * the launch's local_bytes */
    uint64_t clock;       /* that has nothing to do with what anything takes */
    uint64_t pending;     /* latency of the access just made, set by the counters */
    uint64_t phase_at;    /* of the chain: when the phase just waited for was complete */
    AsyncCopy *async;
    uint32_t asyncs, async_room, async_group;
    const Ins *phase_ins; /* the wait for a phase that it is at */
    uint32_t phase_mask, failed_phase_polls;
    uint32_t wgmma_group, wgmma_landed; /* groups of wgmma so far, and those waited for */
    uint32_t wgmma_fences, wgmmas;      /* so many of each so far */
    const Ins *wgmma_ins;               /* the latest product */
    uint32_t proxy_fences;
    uint32_t *wgmma_register; /* per register of wgmma: the group it is in flight of, and ... */
    uint32_t *wgmma_written;  /* ... the fences when it was written; both one more, 0: none */
    uint64_t proxy_epoch;     /* of its last fence between proxies */
    uint32_t cluster_arrivals, cluster_waits; /* at the cluster's barrier, so far */
    int early_over;                           /* it has waited for the launch before */
    WarpTrace *trace;                         /* NULL: nothing is counted */
    CriticalPath chain;
    uint32_t passes, misses, lines; /* of the access just made, set by the counters */
    uint32_t wanted;                /* ... and of a load the lines, see TraceStep */
    uint32_t filled;                /* lines that it has brought into the L1 */
    uint32_t retries;               /* turns of loops of atomics in shared memory */
    uint32_t accesses;              /* to global memory so far, as far as the L2 takes notes */
    uint32_t bulk_sectors;          /* the same of a bulk copy */
    CallFrame *frame;               /* the latest last */
    uint32_t frames, frame_room;
    char *saved; /* registers, of all frames */
    size_t saved_bytes, saved_room;
    Path *stack; /* own_stack, or where calls need more */
    uint32_t stack_room;
    Path own_stack[STACK_DEPTH];
};

struct Block {
    uint64_t number;
    uint32_t id[3];
    unsigned char *shared, *shared_shadow;
    uint32_t shared_bytes;
    uint32_t warps, threads;
    uint32_t arrived[MAX_BARRIERS];  /* threads that bar.arrive has counted */
    uint32_t expected[MAX_BARRIERS]; /* threads that the barrier waits for; 0: not known yet */
    Warp *warp;
    Flight *flight; /* bulk copies whose bytes have not landed */
    uint32_t flights, flight_room, flight_bytes;
    Departure *departure; /* what racecheck knows of copies out of shared memory */
    uint32_t departures, departure_room;
    uint32_t l1_since; /* the worker's l1_clock when the block's L1 last forgot all */
    ProductRead *read; /* for racecheck, a row of all pieces a warp; NULL: no product yet */
    PhaseNumber *phase;
    uint32_t *phase_at; /* by the barrier's offset: its place in `phase` and 1; 0: none */
    uint32_t phases, phase_room, phase_count;
    uint64_t progress;   /* of its mbarriers: arrivals and bytes */
    uint64_t early_over; /* the epoch in which a warp first waited for the launch before; 0: none */
};

typedef struct Launch Launch;

/* Bytes that go from core to core together: two lines of a cache on some processors. */
enum { SHARED_LINE = 128 };

typedef struct L1Line {
    uint64_t tag;
    uint32_t sectors, used;
    uint32_t warp,
        filled; /* who used it last, and how many lines that one had brought in by then */
} L1Line;

typedef struct InsCount {
    uint64_t runs, lanes;
    uint64_t requests, sectors, hits; /* global memory */
    uint64_t local_requests, local_sectors;
    uint64_t shared_requests, wavefronts, divergent;
} InsCount;

/* An access to banks: what decides how many passes it takes, and how many these are. */
typedef struct Banked {
    uint32_t distance[LANES], rest, unit; /* in units of so many bytes; 0: none yet */
    uint32_t mask, passes, needed;
} Banked;

/* A load in a loop, of which ptxas makes some turns into one: who was here last, and where its next
 * turn would be. */
typedef struct ReuseState {
    const Warp *warp;
    uint64_t block, next;
    uint32_t mask, number;
} ReuseState;

/* The last accesses of an instruction, which may be to either memory; a copy's are to both. */
typedef struct Wavefronts {
    Banked shared, global;
    ReuseState turns;
} Wavefronts;

/* Sectors of device memory, one bit each; words of pages that were not taken say nothing. */
typedef struct Touched {
    uint64_t *word, words;
    unsigned char *taken; /* per page of words */
} Touched;

/* An access to a line that stands for others (l2.h). */
typedef struct L2Note {
    uint64_t at; /* its moment */
    uint32_t line, words;
    uint8_t store, half; /* half: of the L2, that the SM lies beside */
} L2Note;

/* Those of one worker. */
typedef struct L2Log {
    L2Note *note;
    uint32_t count, room;
    uint32_t most; /* rank of a line that is noted; 0: none is */
    int failed;    /* out of memory */
} L2Log;

struct Worker {
    Launch *launch;
    SimtGpu *gpu;
    SimtKernel *kernel;
    LaunchArena *shelf; /* where its memory is, and stays for the next launch */
    Block block;
    uint32_t wave; /* that the block in hand belongs to (dram_fetch.h) */
    Warp *warp;
    char *files;
    size_t file_stride;
    Allocation **hit; /* per memory instruction: where it last was */
    unsigned char *shared, *shared_shadow, *local;
    const unsigned char *params;
    uint32_t params_bytes;
    int initcheck, racecheck;
    RaceWords *race_shared, *race_global;
    uint64_t *race_copied;     /* a bit for each word of shared memory, for race_copies() */
    uint64_t race_era;         /* the epochs that its tags can tell apart */
    uint64_t epoch;            /* barriers and blocks so far: in between nothing is ordered */
    int fenced;                /* the block in hand executed a fence */
    uint32_t *wgmma_registers; /* of all warps, see Warp */
    uint64_t block_epoch;      /* when the block in hand began */
    const Handler *handlers;
    Worker **peer; /* of the cluster, by rank; NULL without clusters */
    uint32_t peers, rank;
    const Ins *stopped; /* by the launch's limit: where a warp of this block stood */
    uint64_t stopped_block;
    int busy;               /* has a block in hand, where blocks run side by side */
    uint64_t begun;         /* when that began, in cycles of the launch (interblock.h) */
    uint32_t effort;        /* of its last turn, if that was in vain: turns of a short loop */
    InsCount *profile;      /* per instruction, of all blocks of this worker */
    Wavefronts *wavefronts; /* per memory instruction */
    AccessLog *watcher;     /* of the block in hand; NULL: nobody looks at it */
    uint64_t *critical_ready;
    Counters counters;
    BlockCost cost;   /* of the block in hand */
    BlockCost *sm;    /* per SM */
    uint64_t longest; /* the longest chain of any block */
    uint64_t ended;   /* when the last one did, where blocks run in the order of time */
    Heaviest heaviest;
    Retries retries; /* of the block in hand */
    Retried retried;
    L1Line *l1;
    uint32_t l1_sets, l1_clock;
    uint32_t *local_line;   /* those of local memory a warp has in the L1: count.c */
    uint32_t local_lines;   /* so many a warp */
    Touched loaded, stored; /* loads by pairs of sectors */
    uint32_t *first;        /* of each pair when this worker first asked for it (dram_fetch.h) */
    L2Log l2;
    uint64_t ran; /* warp instructions of the block in hand, about */
    uint64_t charged,
        patience;              /* warp instructions that the launch is yet to be told of, at most */
    void (*begin)(void *);     /* begins other workers; NULL: they have begun, or there are none */
    void *others;              /* for it */
    uint64_t findings;         /* that let execution go on */
    SimtReport finding, fault; /* the first of this worker: blocks come in rising order */
    uint64_t finding_block, fault_block;
    int failed; /* out of host memory */
};

/* Where blocks meet: when its sector is free; when it was last changed by an atomic (0: never), and
 * when the other half of the L2 has that (0: nobody has asked there); and when the last look came;
 * all in hundredths of a cycle. */
typedef struct L2Contention {
    uint64_t busy, added, copied, last_poll;
} L2Contention;

struct Launch {
    SimtGpu *gpu;
    SimtKernel *kernel;
    const SimtLaunch *launch;
    uint64_t blocks, limit;
    int notes;        /* what it touches has to be noted, or held against the launch before */
    int early_over;   /* its blocks order each other, and one has waited for the launch before */
    int tells;        /* SimtTells: a block has let the next launch begin */
    uint64_t stop_at; /* blocks from this number on need not run */
    uint32_t threads_per_block, warps_per_block, shared_bytes, resident;
    uint32_t reserved_at;               /* in shared memory: CUDA's own part, if it is asked for */
    uint32_t warp_places, block_places; /* of an SM: for this kernel's warps, for its blocks */
    uint32_t local_bytes;               /* of a thread: the kernel's, and what its calls may take */
    uint32_t cluster[3], cluster_blocks; /* 0: the launch has no clusters */
    uint32_t number;                     /* among the GPU's launches, from 1 */
    uint64_t *loaded, *stored;           /* what workers told of theirs: for DRAM traffic */
    uint64_t touched_words;              /* of each */
    uint32_t *first; /* when each fetch of DRAM was first asked for (dram_fetch.h) */
    uint64_t fetches;
    /* The GPU's RaceShadow, as far as this launch has device memory; NULL: not wanted. */
    uint32_t *readers, *writers;
    uint64_t *values, shadow_words;
    unsigned char *taken; /* per stretch of words: which of these say something */
    struct RowLock *row_lock;
    RaceOrder *order;  /* race_order.c; NULL: the kernel makes no order of its own */
    BlockTrace *trace; /* of SM 0's first blocks */
    WarpTrace *trace_warps;
    TraceStep *steps;
    TraceLine *step_lines;
    double load_sector_ratio;    /* sectors of loads beyond the L1: replayed over counted */
    double store_sector_ratio;   /* the same of stores */
    uint64_t grid_barrier;       /* address of what blocks of a cooperative grid meet at; or 0 */
    uint32_t traces, trace_room; /* blocks; steps of each of their warps */
    uint32_t more;               /* blocks that are traced where warps end early */
    uint32_t occupancy_percent;
    uint64_t *stall; /* per Ins and SimtStall, of the replayed SM; NULL: not wanted */
    SimtSpan *span;  /* of the traced blocks; NULL: not wanted */
    uint32_t spans;
    AccessLog *watcher; /* of the first blocks; NULL: not wanted */
    uint32_t watchers;
    int count;
    /* Where blocks run in the order of time (interblock.h); NULL: they meet in any order. */
    L2Contention *queue;     /* sectors of the L2, hashed */
    uint32_t *fetch_done_at; /* cycle at which each DRAM fetch is in the L2; 0: not requested */
    uint64_t next_event;     /* earliest cycle at which a warp acts that does not poll */
    int timeout;
    uint64_t timeout_block;
    /* What host threads change while others run lies apart from what all of them read. */
    _Alignas(SHARED_LINE) uint64_t next;
    uint64_t executed;
    uint32_t prints;    /* calls of printf */
    int lost;           /* some of them were too much */
    size_t saved_bytes; /* that warps have room for: registers of calls that have not returned */
    int l2_thrashes;    /* the working set exceeds the L2, so reuse misses */
    uint64_t dram_loads, dram_stores; /* sectors */
    uint64_t dram_fills;              /* loaded because a store wrote only a part of them */
    uint64_t dram_written;            /* stored, and gone from the L2 before the launch ends */
    uint64_t dram_rows;               /* times that what was stored in one line went on to DRAM, or
                                       * the rest of its sectors came from there */
    uint32_t hot[HOT_ADDRESSES];      /* hundredths of a cycle that atomics take, by word, hashed */
    uint32_t slice[HOT_SLICES];       /* ... and by the slice of the L2 that they lie in */
    uint32_t hottest;                 /* the most of them */
    uint32_t poll_load[HOT_ADDRESSES]; /* hundredths of a cycle of polls, by hashed sector */
    uint32_t most_poll_load;
};

/* Per word of device memory: who read it, who wrote it, and what was written, and whether that was
 * always the same (race_blocks.c).  Each launch clears what it needs. */
typedef struct RaceShadow {
    uint32_t *readers, *writers;
    uint64_t *values, words;
} RaceShadow;

struct SimtGpu {
    SimtMachine machine;
    SimtOptions options;
    int count, racecheck; /* launches are, by `options` and simt_study */
    uint64_t stack_limit; /* bytes of a thread's stack: cudaLimitStackSize */
    uint32_t launches;    /* that were not refused */
    Heap heap;
    Memory memory;
    LaunchArena *shelf, *spare; /* the workers', and those of the launch before the last */
    uint32_t shelves, spares;
    struct Run *unsettled; /* launch.c: a launch of which only the cycles are unknown; or NULL */
    RaceShadow race_shadow;
    SimtModule *modules;
    SimtProfile profile;     /* of the longest launch so far */
    PtxModule *accelerators; /* what the functions do that are hardware here; NULL: none is */
    DebugHook *debug;        /* NULL: there is no debugger */
    Allocation none;         /* empty: what a cache of allocations starts with */
};

/* Host threads that a launch may have. */
static inline int gpu_threads(const SimtGpu *gpu)
{
    return gpu->options.threads > 0 ? gpu->options.threads : parallel_cores();
}

/* Where the instruction came from, for messages: "conv.cu:12" or "PTX line 88". */
void source_name(const SimtKernel *kernel, uint32_t from, char *text, size_t bytes);
/* The file without directories and the line; "" and 0 where the code has no -lineinfo. */
const char *source_line(const SimtKernel *kernel, uint32_t from, uint32_t *line);
/* Where the function that the line belongs to was called, in the same file, if the compiler has put
 * it there; "" else. */
const char *source_caller(const SimtKernel *kernel, uint32_t from, uint32_t *line);
/* The line of a .cu file that an instruction comes from; 0: of none. */
uint32_t source_own_line(const SimtKernel *kernel, uint32_t from);

/* ---- profile.c */
int profile_open(Launch *launch);
void profile_close(Launch *launch);
/* Fills in the lines of *result where most of each is. */
void profile_hot_lines(const Launch *launch, const InsCount *count, SimtResult *result);
/* Adds each line's warp instructions to launch->launch->line_work, if that is wanted. */
void profile_line_work(const Launch *launch, const InsCount *count);
/* Makes the launch's profile the GPU's, if no longer launch was profiled before (0: one was);
 * workers' counts are added up in worker[0] already. */
int profile_keep(Launch *launch, const InsCount *count, uint64_t cycles);
/* Adds the launch's counts to its kernel's `runs`. */
void profile_add_runs(const Launch *launch, const InsCount *count);
/* A jump of the kernel's own: an exit is none, nor is what an accelerator does within. */
int is_branch(const Ins *ins);

#endif
