/* simt.h - the simulated GPU: memory, modules, kernels; deterministic on any number of host
 * threads.
 *
 * It executes PTX warp by warp over pre-decoded instructions, checks every access, counts what a
 * profiler would count and prices it on a described machine.  It knows nothing of CUDA's runtime,
 * of labs or of grading. */
#ifndef CONVLAB_SIMT_SIMT_H
#define CONVLAB_SIMT_SIMT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/simt/machine.h"
#include "common/simt/profile.h"

typedef struct SimtGpu SimtGpu;
typedef struct SimtModule SimtModule;
typedef struct SimtKernel SimtKernel;

typedef struct SimtOptions {
    int threads;                /* host threads, 0: one per core */
    int initcheck;              /* report reads of device or shared memory that nothing wrote */
    int count;                  /* counters and cycles; 0: functional only, fastest */
    int profile;                /* with count: keep a SimtProfile of the last launch */
    int racecheck;              /* report hazards between threads that no barrier orders */
    uint64_t instruction_limit; /* warp instructions of one launch; 0: 20e9 */
} SimtOptions;

/* `machine` is copied.  NULL with error when memory cannot be reserved. */
SimtGpu *simt_open(const SimtMachine *machine, const SimtOptions *options, Error *error);
void simt_close(SimtGpu *gpu);
const SimtMachine *simt_machine(const SimtGpu *gpu);

/* Memory.  Addresses are device addresses, 256-byte aligned, never 0, with an unmapped gap between
 * allocations; `bytes` 0 gives a distinct valid address.  Host-side accesses are bounds-checked
 * too. simt_poison fills with 32-bit `word` and marks unwritten. */
int simt_alloc(SimtGpu *gpu, uint64_t bytes, uint64_t *address, Error *error);
int simt_free(SimtGpu *gpu, uint64_t address, Error *error);
int simt_write(SimtGpu *gpu, uint64_t address, const void *data, uint64_t bytes, Error *error);
int simt_read(SimtGpu *gpu, uint64_t address, void *data, uint64_t bytes, Error *error);
int simt_fill(SimtGpu *gpu, uint64_t address, int byte, uint64_t bytes, Error *error);
int simt_copy(SimtGpu *gpu, uint64_t to, uint64_t from, uint64_t bytes, Error *error);
int simt_poison(SimtGpu *gpu, uint64_t address, uint64_t bytes, uint32_t word, Error *error);
/* Leak check: how many allocations were made and never freed; `text` gets the first ones in the
 * order in which they were made: "1024 bytes at 0x700000000000 (allocation 3)". */
uint64_t simt_leaks(const SimtGpu *gpu, char *text, size_t bytes);
void simt_memory_info(const SimtGpu *gpu, uint64_t *free_bytes, uint64_t *total_bytes);

/* Modules.  Loading parses and places variables; a kernel is decoded at its first lookup or launch,
 * and what it cannot execute is refused then. */
SimtModule *simt_module_load(SimtGpu *gpu, const void *image, size_t bytes, Error *error);
void simt_module_unload(SimtGpu *gpu, SimtModule *module);
SimtKernel *simt_kernel_find(SimtModule *module, const char *name, Error *error);
int simt_variable_find(SimtModule *module, const char *name, uint64_t *address, uint64_t *bytes,
                       Error *error);

typedef struct SimtKernelInfo {
    const char *name; /* mangled, as in the PTX */
    uint32_t params, param_offset[64], param_bytes[64], params_bytes;
    uint32_t registers; /* per thread: the cubin's; without one, estimated from live ranges */
    uint32_t shared_bytes, local_bytes, const_bytes, max_threads, ptx_target;
} SimtKernelInfo;
void simt_kernel_info(const SimtKernel *kernel, SimtKernelInfo *info);

/* Blocks of `threads` with `dynamic_shared` bytes that fit one SM at once: min over registers
 * (allocated by warp in the machine's unit), shared memory, threads and blocks. 0 when one block
 * does not fit. `limit` (may be NULL) names what binds. */
uint32_t simt_resident_blocks(const SimtGpu *gpu, const SimtKernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared, const char **limit);

typedef struct SimtLaunch {
    uint32_t grid[3], block[3], dynamic_shared;
    const void *params; /* packed as the PTX declares, params_bytes long */
    uint32_t params_bytes;
} SimtLaunch;

typedef enum SimtCheck {
    SIMT_OK,
    SIMT_BAD_LAUNCH,  /* refused: too many threads, too much shared memory, a zero dimension */
    SIMT_UNSUPPORTED, /* an instruction the simulator does not execute */
    SIMT_MEMCHECK,    /* out of bounds, misaligned, use after free, write to const */
    SIMT_INITCHECK,   /* reads what nothing wrote: reported, execution goes on */
    SIMT_SYNCCHECK,   /* barrier that not all threads reach */
    SIMT_TIMEOUT,     /* over the instruction limit */
    SIMT_TRAP,        /* trap, assert, brkpt */
    SIMT_RACECHECK    /* hazard between threads not ordered by a barrier */
} SimtCheck;

typedef struct SimtReport {
    SimtCheck check;
    char kernel[256]; /* demangled to its plain name */
    uint32_t block[3], thread[3];
    uint64_t address;
    uint32_t bytes;
    char source[256]; /* file, no directories; "" when the code has no -lineinfo */
    uint32_t line;
    char text[1024]; /* the whole finding in compute-sanitizer's terms, one or two lines */
} SimtReport;

typedef struct SimtCounters {
    uint64_t blocks, threads, warps;
    uint64_t warp_instructions, thread_instructions;
    uint64_t global_load_requests, global_load_sectors, global_store_requests, global_store_sectors;
    uint64_t global_load_bytes, global_store_bytes; /* asked for by active lanes */
    uint64_t shared_load_requests, shared_store_requests, shared_wavefronts;
    uint64_t local_load_sectors, local_store_sectors, const_requests;
    uint64_t branches, divergent_branches, barriers, atomics;
    uint64_t dram_bytes;                     /* modelled */
    uint64_t l1_hit_sectors, l2_hit_sectors; /* of global loads; modelled */
    uint64_t bank_conflicts; /* wavefronts beyond those that the words themselves need */
    /* Warp instructions as PTX has them; `free` ones are folded into others by ptxas. */
    uint64_t float_instructions, integer_instructions, special_instructions, memory_instructions,
        control_instructions, tensor_instructions, free_instructions;
    uint64_t
        occupancy_percent; /* achieved on the replayed SM: warps there, of those it could hold */
} SimtCounters;

typedef struct SimtResult {
    SimtCounters counters;
    uint64_t cycles;
    uint32_t resident_blocks;
    uint64_t waves;
    SimtReport report; /* check == SIMT_OK when clean; else the first finding in block order */
    uint64_t findings; /* how many in all */
} SimtResult;

/* The profile of the longest launch so far, when options.profile was set, else NULL.  Owned by the
 * GPU, valid until its next launch. */
const SimtProfile *simt_profile(const SimtGpu *gpu);

/* Runs the kernel to its end.  0 when it ran (initcheck findings included), -1 when report.check
 * says why not. Of several faults the one of the lowest block, then warp, then instruction is
 * reported, whatever the number of host threads. */
int simt_launch(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *launch, SimtResult *result);

#endif
