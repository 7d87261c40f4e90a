/* simt_types.h - requests and results of a launch, for callers of simt.h and for all modules of the
 * simulator. */
#ifndef CONVLAB_SIMT_CORE_SIMT_TYPES_H
#define CONVLAB_SIMT_CORE_SIMT_TYPES_H

#include <stdint.h>

#include "common/base/counters.h"

typedef struct SimtGpu SimtGpu;
typedef struct SimtModule SimtModule;
typedef struct SimtKernel SimtKernel;

typedef struct SimtOptions {
    int threads;                /* host threads, 0: one per core */
    int initcheck;              /* report reads of device or shared memory that nothing wrote */
    int gaps;                   /* with initcheck: not of elements that are partly written */
    int init_at_read;           /* with initcheck: report reads, not the use of their values */
    int warns;                  /* report what is probably wrong, too, as warnings (SimtReport) */
    int warp_sync;              /* with racecheck: lanes of a warp that exchange data in shared
                                 * memory without __syncwarp() are a finding, not a warning */
    int count;                  /* counters and cycles; 0: functional only, fastest */
    int profile;                /* with count: keep a SimtProfile of the longest launch ... */
    const char *profile_kernel; /* ... and only of this kernel, a plain name; NULL: any */
    uint32_t profile_launch;    /* number of the only profiled launch among those, from 1; 0: all */
    int racecheck;              /* report hazards between threads that no barrier orders */
    int machine_code;           /* with count: trust the program's SASS (sass_map/sass_map.h) */
    /* Set for untrusted programs that may try to detect whether they are counted, or which program
     * ran before. Consecutive reads of a clock differ by 16 cycles, and every block starts with the
     * same register contents. */
    int untrusted;
    /* With count: launches that repeat an earlier one are executed and not priced again (repeat.h).
     * Never for a submission. */
    int repeats;
    uint64_t instruction_limit; /* warp instructions of one launch; 0: 20e9 */
    /* If this becomes non-zero, a launch soon ends like one that exceeds its limit; NULL: not used.
     * A signal handler may set it. */
    const volatile int *interrupted;
} SimtOptions;

typedef struct SimtKernelInfo {
    const char *name; /* mangled, as in the PTX */
    uint32_t params, param_offset[64], param_bytes[64], params_bytes;
    uint32_t registers; /* per thread: the cubin's; without one, estimated from live ranges */
    uint32_t shared_bytes, local_bytes, max_threads, ptx_target;
    uint32_t spilled_bytes; /* bytes of a thread's local memory that only SASS has */
    uint32_t spills;        /* accesses to spilled values that are counted and priced */
    uint32_t spill_line;    /* source line with most of these; 0: not known */
    int tells;              /* it may let the next launch begin before its end */
    int fences;             /* or volatile or ordered accesses, or atomics for the host, too */
} SimtKernelInfo;

typedef enum SimtTouchKind { SIMT_TOUCH_READ, SIMT_TOUCH_WRITE, SIMT_TOUCH_ATOMIC } SimtTouchKind;

enum { SIMT_TOUCH_PAGE = 64 }; /* groups of a page */

/* Words of device memory that a launch accessed: one bit each, in groups of 64. An access to a part
 * of a word counts for the whole word. The pages show which groups to examine, so that the work
 * does not grow with the allocated memory. */
typedef struct SimtTouch {
    uint64_t *bits[3]; /* by SimtTouchKind */
    uint64_t *pages;   /* a bit for each SIMT_TOUCH_PAGE groups: any of them is not 0; the bit
                        * after the last page: words beyond all groups were touched */
    uint64_t groups;   /* a multiple of SIMT_TOUCH_PAGE */
    uint32_t *atomics; /* one word: SIMT_TOUCH_FETCHES, and a bit for each atomic operation */
} SimtTouch;

/* Bit of SimtTouch.atomics: an atomic whose previous value the thread uses, or one that replaces
 * the value.  Another atomic on the same word changes what it reads or leaves. */
enum { SIMT_TOUCH_FETCHES = 1 << 16 };

enum { SIMT_LINES = 4096 };

/* A launch lets the next one begin early; and a warp did so before it had waited for the launch
 * before this one, so that the next one may overlap that launch too. */
typedef enum SimtTells { TELLS_AFTER = 1, TELLS_BEFORE = 2 } SimtTells;

typedef struct SimtLaunch {
    uint32_t grid[3], block[3], dynamic_shared;
    const uint32_t *dynamic_limit; /* the most that dynamic_shared may be; NULL: all there is */
    const void *params;            /* packed as the PTX declares, params_bytes long */
    uint32_t params_bytes;
    uint64_t instruction_limit; /* warp instructions of this launch; 0: the GPU's option */
    uint32_t cluster[3];        /* blocks of a cluster; 0: as the kernel says */
    int cooperative;            /* its blocks may wait for one another: all must be resident */
    const SimtTouch *touch;     /* to be filled, with options.count; NULL: not wanted */
    const SimtTouch *early;     /* accesses of the previous launch, which let this one start before
                                 * its own end; NULL: it has ended */
    const char *early_name;     /* ... and its kernel */
    uint64_t
        *line_work; /* the same as touch: warp instructions of each line of a .cu file are added,
                                 * of lines below SIMT_LINES */
} SimtLaunch;

typedef enum SimtCheck {
    SIMT_OK,
    SIMT_BAD_LAUNCH,     /* refused: a zero dimension, one too large, too many threads */
    SIMT_BAD_SHARED,     /* refused: more dynamic shared memory than allowed */
    SIMT_BAD_RESOURCES,  /* refused: no block fits an SM, or more threads than compiled for */
    SIMT_UNSUPPORTED,    /* an instruction the simulator does not execute */
    SIMT_MEMCHECK,       /* out of bounds, misaligned, use after free, write to const */
    SIMT_INITCHECK,      /* reads uninitialised memory: reported, execution continues */
    SIMT_SYNCCHECK,      /* barrier that not all threads reach */
    SIMT_TIMEOUT,        /* over the instruction limit */
    SIMT_TRAP,           /* trap, assert, brkpt */
    SIMT_RACECHECK,      /* hazard between threads not ordered by a barrier */
    SIMT_BAD_COOPERATIVE /* refused: more blocks than are resident at once */
} SimtCheck;

typedef struct SimtReport {
    SimtCheck check;
    int is_warning;   /* Boolean: it works on most GPUs, or the program may intend it */
    char kernel[256]; /* demangled to its plain name */
    uint32_t block[3], thread[3];
    uint64_t address;
    uint32_t bytes;
    char source[256]; /* file, no directories; "" when the code has no -lineinfo */
    uint32_t line;
    char text[1024]; /* the whole finding in compute-sanitizer's terms, one or two lines */
    /* Line of the other access of a race; "" and 0: there is none. */
    char other_source[256];
    uint32_t other_line;
} SimtReport;

/* Findings of one launch that have the same check and the same pair of lines. */
typedef struct SimtFinding {
    SimtReport report; /* the first one in block order */
    uint64_t count;
} SimtFinding;
enum { SIMT_FINDINGS = 16 }; /* groups of a launch; later ones are only counted */

typedef struct SimtResult {
    Counters counters;    /* counters of this launch */
    uint64_t cycles;      /* duration in cycles of clock_mhz, also if the SMs' own clock was
                           * lower */
    uint64_t busy_cycles; /* lower bound by the busiest unit of the machine: at most `cycles` */
    /* Cycles from the start of the launch, with launch_cycles: until all blocks have triggered the
     * next launch, or ended; and until the first resident blocks wait for the launch before:
     * `cycles` if none does. */
    uint64_t pdl_trigger_cycles, pdl_wait_cycles;
    uint32_t number; /* number among the GPU's launches, from 1 */
    int tells;       /* SimtTells: a block did so */
    int prints;      /* Boolean: a thread called printf */
    uint32_t resident_blocks;
    uint32_t
        occupancy_percent; /* achieved on the replayed SM: warps there, of those it could hold */
    uint64_t waves;
    /* Source lines with the most sectors of local memory, sectors loaded from global memory more
     * than one a lane's word needs, and wavefronts more than one an access; 0 none. */
    uint32_t local_line, load_line, conflict_line;
    SimtReport report; /* check == SIMT_OK when clean; else the first finding in block order */
    uint64_t findings; /* total number of findings */
} SimtResult;

#endif
