/* simt.h - the simulated GPU: memory, modules, kernels; deterministic on any number of host
 * threads.
 *
 * Module: the simulated GPU's front: its memory, modules, kernels and launches.
 * Callers: common/cuda/sim.
 * May use: the modules below common/simulator, ptx, base.
 *
 * It executes PTX warp by warp over pre-decoded instructions, checks every access, counts what a
 * profiler would count and prices it on a described machine. */
#ifndef CONVLAB_SIMT_SIMT_H
#define CONVLAB_SIMT_SIMT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/array_name.h"
#include "common/base/error.h"
#include "common/simulator/core/profile.h"
#include "common/simulator/core/simt_types.h"
#include "common/simulator/machine/machine.h"

/* `machine` is copied.  NULL with error when memory cannot be reserved. */
SimtGpu *simt_open(const SimtMachine *machine, const SimtOptions *options, Error *error);
void simt_close(SimtGpu *gpu);
/* The analysis of later launches, within the limits of `options`. SIMT_EXECUTED: they are only
 * executed and their accesses checked, in a third of the time. SIMT_PRICED: they are also counted
 * and priced. SIMT_SEARCHED: they are also searched for races. SIMT_STUDIED, the default: both. */
typedef enum SimtStudy {
    SIMT_EXECUTED = 0,
    SIMT_PRICED = 1,
    SIMT_SEARCHED = 2,
    SIMT_STUDIED = SIMT_PRICED | SIMT_SEARCHED
} SimtStudy;
void simt_study(SimtGpu *gpu, SimtStudy study);

/* Bytes of a thread's stack, which only functions that call themselves need, and of the heap of
 * malloc in kernels.  -1 with error: too much, or a heap that a kernel has used already. */
typedef enum SimtLimit { SIMT_LIMIT_STACK, SIMT_LIMIT_HEAP } SimtLimit;
int simt_limit(SimtGpu *gpu, SimtLimit limit, uint64_t bytes, Error *error);

/* Memory.  Addresses are device addresses, 256-byte aligned, never 0, with an unmapped gap between
 * allocations; `bytes` 0 gives a distinct valid address.  Host-side accesses are bounds-checked
 * too. simt_poison fills with 32-bit `word` and marks unwritten. */
int simt_alloc(SimtGpu *gpu, uint64_t bytes, uint64_t *address, Error *error);
/* Memory that this process uses at the same address: cudaMallocManaged's. */
int simt_alloc_managed(SimtGpu *gpu, uint64_t bytes, uint64_t *address, Error *error);
int simt_is_managed(const SimtGpu *gpu, uint64_t address);
/* The pages of the next of them, from *next = 0 on; 0: there are no more. */
int simt_managed_pages(const SimtGpu *gpu, uint32_t *next, uint64_t *begin, uint64_t *end);
int simt_free(SimtGpu *gpu, uint64_t address, Error *error);
/* To be freed later, for a replay still needs it: a use from now on is one after cudaFree.  With
 * `retired` 0 it can be used again; simt_free frees it either way. */
int simt_retire(SimtGpu *gpu, uint64_t address, int retired, Error *error);
int simt_write(SimtGpu *gpu, uint64_t address, const void *data, uint64_t bytes, Error *error);
int simt_read(SimtGpu *gpu, uint64_t address, void *data, uint64_t bytes, Error *error);
int simt_fill(SimtGpu *gpu, uint64_t address, int byte, uint64_t bytes, Error *error);
int simt_copy(SimtGpu *gpu, uint64_t to, uint64_t from, uint64_t bytes, Error *error);
int simt_poison(SimtGpu *gpu, uint64_t address, uint64_t bytes, uint32_t word, Error *error);
/* Names the array at the allocation `address`, so that findings name its elements. */
int simt_name(SimtGpu *gpu, uint64_t address, const ArrayName *array, Error *error);
/* Leak check: how many allocations were made and never freed; `text` gets the first ones in the
 * order in which they were made: "1024 bytes at 0x700000000000 (allocation 3)". */
uint64_t simt_leaks(const SimtGpu *gpu, char *text, size_t bytes);
/* Is the address in the range of device memory? Describes the nearest allocation. */
int simt_describe(const SimtGpu *gpu, uint64_t address, char *text, size_t bytes);
void simt_memory_info(const SimtGpu *gpu, uint64_t *free_bytes, uint64_t *total_bytes);

/* Modules. Loading parses the module and places variables, which may take `room` bytes together (0:
 * all of the GPU's memory). A kernel is decoded at its first lookup or launch, and unsupported
 * instructions are refused then. */
SimtModule *simt_module_load(SimtGpu *gpu, const void *image, size_t bytes, uint64_t room,
                             Error *error);
/* Size of all its variables in device memory. */
uint64_t simt_module_bytes(const SimtModule *module);
void simt_module_unload(SimtGpu *gpu, SimtModule *module);
/* The variables of all modules hold again what they held when their module was loaded. */
void simt_modules_restore(SimtGpu *gpu);
/* Empties the device heap, which then allocates the same places again. */
void simt_heap_restore(SimtGpu *gpu);
SimtKernel *simt_kernel_find(SimtModule *module, const char *name, Error *error);
int simt_variable_find(SimtModule *module, const char *name, uint64_t *address, uint64_t *bytes,
                       Error *error);

void simt_kernel_info(const SimtKernel *kernel, SimtKernelInfo *info);

/* Blocks of `threads` with `dynamic_shared` bytes that fit one SM at once: min over registers
 * (allocated by warp in the machine's unit), shared memory, threads and blocks. 0 when one block
 * does not fit. `limit` (may be NULL) names what binds. */
/* decode_work, decode_allow and decode_is_stopped of decode.h. */
uint64_t simt_decode_work(void);
void simt_decode_allow(uint64_t more);
int simt_decode_is_stopped(void);

uint32_t simt_resident_blocks(const SimtGpu *gpu, const SimtKernel *kernel, uint32_t threads,
                              uint32_t dynamic_shared, const char **limit);

/* The profile of the longest launch so far, when options.profile was set, else NULL.  Owned by the
 * GPU, valid until its next launch, or until one that waits is settled. */
const SimtProfile *simt_profile(const SimtGpu *gpu);

/* Writes a row for each PTX instruction of each kernel that the loaded modules have, launched or
 * not: kernel (mangled), file, line, and how many warps executed it in all launches since that are
 * settled.  File and line are "" and 0 where unknown, and of a kernel that cannot be decoded.
 * Needs options.profile. */
void simt_write_runs(SimtGpu *gpu, FILE *stream);

/* Opens the record of a launch's accesses for the memory allocated now; -1: out of memory. Closing
 * clears it. */
int simt_touch_open(const SimtGpu *gpu, SimtTouch *touch);
void simt_touch_close(SimtTouch *touch);
/* Prepares the record for the next launch: opens it, enlarges it, or clears the parts that the last
 * launch used. */
int simt_touch_renew(const SimtGpu *gpu, SimtTouch *touch);
/* Adds what an earlier launch touched; returns the bytes that it looked at. */
uint64_t simt_touch_join(SimtTouch *touch, const SimtTouch *earlier);
/* Whether launches with these bits of SimtTouch.atomics give the same results in any order. */
int simt_touch_commutes(uint32_t atomics);
/* Whether atomics on a common word carry data between the two launches: no check reports that,
 * because correct code may do so, but the two have an order. */
int simt_touch_hides_order(const SimtTouch *touch, const SimtTouch *earlier);
/* Did the launch touch memory that had not been given out when the touch was opened? */
int simt_touch_is_partial(const SimtTouch *touch);
uint64_t simt_memory_span(const SimtGpu *gpu); /* bytes from there to the end of all memory */
uint64_t simt_memory_begin(void);              /* the address of the first word */

/* Runs the kernel to its end. 0 when it ran (initcheck findings included), -1 when report.check
 * says why not. If there are several faults, that of the lowest block, then warp, then instruction
 * is reported, whatever the number of host threads. */
int simt_launch(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *launch, SimtResult *result);

/* The kernel's launches that repeated an earlier one, with options.repeats: they were executed and
 * not priced again. */
uint64_t simt_repeats(const SimtKernel *kernel);

/* With options.machine_code: why the kernel's cycles are predicted from its PTX; NULL: they are
 * not (sass_map_missing). */
const char *simt_kernel_sass(const SimtGpu *gpu, const SimtKernel *kernel);

/* The findings of the last launch, grouped by check and lines: first the one that SimtResult.report
 * has, then the others in the order of their blocks.  After a fault they are those of the blocks up
 * to the faulting one, which may have caused it.  Owned by the GPU, valid until its next launch. */
const SimtFinding *simt_findings(const SimtGpu *gpu, uint32_t *count);
/* simt_warn adds a warning about an operation that is no launch to the list; simt_findings_clear
 * empties the list. */
void simt_warn(SimtGpu *gpu, SimtCheck check, const char *text);
void simt_findings_clear(SimtGpu *gpu);
/* Counts the bytes at `address` that were never written; *first is the address of the first.  0 if
 * all were written, or without initcheck.  4-byte words that are partly written count as written,
 * and so do several short gaps, such as those of structs. */
uint64_t simt_unwritten(const SimtGpu *gpu, uint64_t address, uint64_t bytes, uint64_t *first);

/* The same as simt_launch, but cycles are computed while the next launch runs, or by simt_settle.
 * Until then the members of *result that depend on time are not valid: `cycles`, start and end
 * times, hit counts of loads, and DRAM traffic. *result must stay at its address. One thread does
 * this while the others run blocks; with one thread alone nothing waits. */
int simt_launch_begin(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *launch,
                      SimtResult *result);
/* All of this launch is known, or, NULL, of whichever is not settled.  -1, not with NULL: the host
 * had no memory for it, which its report says. */
int simt_settle(SimtGpu *gpu, const SimtResult *result);

#endif
