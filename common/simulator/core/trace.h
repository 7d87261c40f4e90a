/* trace.h - traces of executed instructions, which the time model replays.
 *
 * exec writes a trace; timing puts it into ptxas's order and replays it. */
#ifndef CONVLAB_SIMT_CORE_TRACE_H
#define CONVLAB_SIMT_CORE_TRACE_H

#include <assert.h>
#include <stdint.h>

#include "common/base/sanitized.h"
#include "common/simulator/core/block_cost.h"

/* TraceStep.passes of a load through the L1 is passes + RESULT_DELAY_UNIT * cycles by which the
 * result comes after the last pass. */
enum { RESULT_DELAY_UNIT = 256 };

/* Kind of a step.  It selects the valid members of the unions in TraceStep and WarpStep. */
typedef enum TraceStepKind {
    STEP_PLAIN,       /* only `ins`: all unions are 0, and every function below accepts it */
    STEP_BRANCH,      /* is_divergent */
    STEP_DIVIDE,      /* is_slow_path */
    STEP_MATCH,       /* values */
    STEP_BARRIER,     /* barrier */
    STEP_ASYNC,       /* phase, and bulk_sectors of a bulk copy */
    STEP_SLEEP,       /* sleeps, sleep_cycles */
    STEP_WAIT,        /* wait_cycles */
    STEP_ACCELERATOR, /* cycles */
    /* Memory accesses. */
    STEP_ACCESS,   /* passes, first_line, sectors, lines */
    STEP_ORDERED,  /* passes, wait_cycles, sectors, lines; only if blocks run in time order */
    STEP_CONSTANT, /* passes, first_line */
    STEP_TEXTURE,  /* cycles, first_line, sectors, lines */
    STEP_REMOTE,   /* passes, remote_cycles */
    STEP_KINDS
} TraceStepKind;

enum {
    STEP_INS_BITS = 28,
    NO_STEP =
        (1 << STEP_INS_BITS) - 1, /* TraceStep.ins of no instruction: more than any code has */
    MOST_STEP_LINES = 254,        /* TraceStep.lines of a texture access */
    BARRIER_WARPS_SHIFT = 8
};

/* One executed instruction of a warp.  Kernels have up to 1.5 million of them, so the kinds share
 * their 12 bytes; the functions below check the kind in sanitized builds. */
typedef struct TraceStep {
    uint32_t ins : STEP_INS_BITS; /* number in the replayed code */
    uint32_t kind : 4;            /* TraceStepKind */
    union {
        uint32_t first_line;   /* first of its lines in WarpTrace.line, plus 1; 0: not listed */
        uint32_t wait_cycles;  /* wait for other blocks, or for the clock */
        uint32_t sleep_cycles; /* 0: lanes with different times, or no sleep */
    };
    union {
        uint16_t passes;       /* through the load/store unit; see RESULT_DELAY_UNIT */
        uint16_t cycles;       /* cycles of the texture units or of an accelerator */
        uint16_t is_divergent; /* the branch splits the warp's lanes */
        uint16_t is_slow_path; /* a lane takes the slow path of a division */
        uint16_t values;       /* distinct values of a match */
        uint16_t barrier; /* number + 1, and warps << BARRIER_WARPS_SHIFT; 0: the whole block */
        uint16_t phase;   /* number of an mbarrier's phase in the block; 0: none */
        uint16_t sleeps;  /* distinct times of the lanes */
    };
    union {
        struct {
            uint8_t sectors, lines; /* beyond the L1: sectors, at most 255, and their lines */
        };
        uint8_t remote_cycles;   /* transfer to another block's shared memory */
        uint8_t bulk_sectors[2]; /* lower and upper byte */
    };
} TraceStep;

_Static_assert(sizeof(TraceStep) == 12, "the size of a trace decides its length");
_Static_assert(STEP_KINDS <= 16, "TraceStep.kind has 4 bits");

/* The step of the current instruction, in Warp; the same unions with more bits. */
typedef struct WarpStep {
    uint16_t kind; /* TraceStepKind */
    union {
        uint16_t lines, bulk_sectors_high;
    };
    union {
        uint32_t first_line, wait_cycles, sleep_cycles;
    };
    union {
        uint32_t passes, cycles, is_divergent, is_slow_path, values, barrier, phase, sleeps;
    };
    union {
        uint32_t sectors, remote_cycles, bulk_sectors_low;
    };
    uint64_t latency; /* latency of an access in cycles; 0: the instruction's own */
} WarpStep;

#if SANITIZED || defined(STEP_CHECKS)
#define STEP_CHECK(step, kinds) assert((step)->kind == STEP_PLAIN || (kinds) >> (step)->kind & 1)
#else
#define STEP_CHECK(step, kinds) ((void)0)
#endif
#define STEP_BIT(kind) (1u << (kind))

/* 0 for a STEP_ORDERED access, which has no list. */
static inline uint32_t step_first_line(const TraceStep *step)
{
    const uint32_t kinds = STEP_BIT(STEP_ACCESS) | STEP_BIT(STEP_CONSTANT) | STEP_BIT(STEP_TEXTURE);
    return kinds >> step->kind & 1 ? step->first_line : 0;
}

/* 0 for an access that waits for no other block. */
static inline uint32_t step_wait_cycles(const TraceStep *step)
{
    return step->kind == STEP_ORDERED || step->kind == STEP_WAIT ? step->wait_cycles : 0;
}

static inline uint32_t step_passes(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_ACCESS) | STEP_BIT(STEP_ORDERED) | STEP_BIT(STEP_CONSTANT) |
                         STEP_BIT(STEP_REMOTE));
    return step->passes;
}

/* Sectors and lines of an access beyond the L1; 0 of one that does not leave the SM. */
static inline uint32_t step_sectors(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_ACCESS) | STEP_BIT(STEP_ORDERED) | STEP_BIT(STEP_TEXTURE));
    return step->sectors;
}

static inline uint32_t step_lines(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_ACCESS) | STEP_BIT(STEP_ORDERED) | STEP_BIT(STEP_TEXTURE));
    return step->lines;
}

static inline uint32_t step_unit_cycles(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_TEXTURE) | STEP_BIT(STEP_ACCELERATOR));
    return step->cycles;
}

static inline int step_is_divergent(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_BRANCH));
    return step->is_divergent;
}

static inline int step_is_slow_path(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_DIVIDE));
    return step->is_slow_path;
}

static inline uint32_t step_values(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_MATCH));
    return step->values;
}

static inline uint32_t step_barrier(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_BARRIER));
    return step->barrier;
}

static inline uint32_t step_phase(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_ASYNC));
    return step->phase;
}

static inline uint32_t step_bulk_sectors(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_ASYNC));
    return step->bulk_sectors[0] | (uint32_t)step->bulk_sectors[1] << 8;
}

static inline uint32_t step_sleeps(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_SLEEP));
    return step->sleeps;
}

static inline uint32_t step_sleep_cycles(const TraceStep *step)
{
    STEP_CHECK(step, STEP_BIT(STEP_SLEEP));
    return step->sleep_cycles;
}

/* Makes a step without a kind an access. */
static inline void step_access(WarpStep *step)
{
    if (step->kind == STEP_PLAIN) step->kind = STEP_ACCESS;
}

/* A line of device memory, by number. */
typedef struct TraceLine {
    uint32_t line;
    uint8_t sectors;  /* a bit for each sector that a load requested */
    uint8_t last;     /* last line of its step */
    uint16_t written; /* stores: 4 bits per sector, units of 2 bytes written, minus 1 */
} TraceLine;

typedef struct WarpTrace {
    TraceStep *step;
    TraceLine *line;
    uint32_t count, lines;
    uint32_t room; /* capacity of each array */
} WarpTrace;

typedef struct BlockTrace {
    uint64_t number;
    uint64_t weight; /* lower bound of its time; only of the heaviest blocks */
    uint64_t ended;  /* cycle of its end, of a sampled block in a launch in time order */
    BlockCost cost;
    uint64_t slots, steps; /* in the trace; known once the steps are in ptxas's order */
    WarpTrace *warp;
} BlockTrace;

/* The blocks with the largest lower bounds among those that one host thread executed.  All of them
 * are traced, and the current block too. */
typedef struct Heaviest {
    BlockTrace *block; /* `most` + 1; the current block is number `count` */
    TraceStep *steps;
    TraceLine *line;
    WarpTrace *warps;
    uint32_t most, count;
    uint32_t lightest; /* number of the lightest one, when there are `most` */
} Heaviest;

#endif
