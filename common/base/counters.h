/* counters.h - list of all kernel counters, used by the simulator, DeviceCost, records, and
 * lab.ini's metrics and formulas.
 *
 * Each is a sum over the launches of a call.  Requests, wavefronts, barriers, branches and the
 * kinds of instructions count warps; a sector is 32 aligned bytes. */
#ifndef CONVLAB_BASE_COUNTERS_H
#define CONVLAB_BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* X(field, metric, about): `field` is its name in C and in a record, `metric` in lab.ini, where the
 * plain word stands for the costliest launch. */
#define COUNTERS(X)                                                                                \
    X(launches, "launches", "kernels launched")                                                    \
    X(blocks, "all_blocks", "blocks of threads")                                                   \
    X(threads, "all_threads", "threads")                                                           \
    X(warps, "all_warps", "warps")                                                                 \
    X(instructions, "thread_instructions", "PTX instructions, by threads")                         \
    X(warp_instructions, "warp_instructions", "PTX instructions, by warps")                        \
    X(float_instructions, "float_instructions", "instructions on fp16, fp32 and fp64 numbers")     \
    X(integer_instructions, "integer_instructions", "integer, address, predicate instructions")    \
    X(special_instructions, "special_instructions", "special function unit instructions")          \
    X(tensor_instructions, "tensor_instructions", "matrix products on tensor cores (MMA)")         \
    X(memory_instructions, "memory_instructions", "loads, stores and atomics")                     \
    X(control_instructions, "control_instructions", "branches, barriers and votes")                \
    X(free_instructions, "free_instructions", "instructions that ptxas folds into others")         \
    X(branches, "branches", "branches at which a warp may diverge")                                \
    X(divergent_branches, "divergent_branches", "branches at which a warp diverged")               \
    X(barriers, "barriers", "arrivals of warps at barriers")                                       \
    X(atomics, "atomics", "atomic operations")                                                     \
    X(atomic_sectors, "atomic_sectors", "sectors of global memory that atomics access")            \
    X(shared_atomic_wavefronts, "shared_atomic_wavefronts", "wavefronts of shared-memory atomics") \
    X(global_load_requests, "global_load_requests", "loads from global memory")                    \
    X(global_load_sectors, "global_load_sectors", "sectors that these loads access")               \
    X(global_load_bytes, "global_load_bytes", "bytes that active threads load")                    \
    X(global_store_requests, "global_store_requests", "stores to global memory")                   \
    X(global_store_sectors, "global_store_sectors", "sectors that these stores access")            \
    X(global_store_bytes, "global_store_bytes", "bytes that active threads store")                 \
    X(copied_sectors, "copied_sectors", "sectors that cp.async copies past the L1")                \
    X(l1_hit_sectors, "l1_hit_sectors", "loaded sectors found in the L1; modelled")                \
    X(l2_hit_sectors, "l2_hit_sectors", "loaded sectors found in the L2; modelled")                \
    X(dram_bytes, "dram_bytes", "bytes to and from DRAM; modelled")                                \
    X(texture_requests, "texture_requests", "accesses to textures and surfaces")                   \
    X(texture_sectors, "texture_sectors", "sectors looked up, four or eight lanes at once")        \
    X(shared_load_requests, "shared_load_requests", "loads from shared memory")                    \
    X(shared_store_requests, "shared_store_requests", "stores to shared memory")                   \
    X(shared_wavefronts, "shared_wavefronts", "wavefronts of shared memory")                       \
    X(bank_conflicts, "bank_conflicts", "wavefronts above the minimum, incl. atomics")             \
    X(local_sectors, "local_sectors", "sectors of local memory, loaded and stored")                \
    X(const_requests, "const_requests", "loads from constant memory")                              \
    X(accelerator_calls, "accelerator_calls", "calls of accelerators, where a machine has them")   \
    X(accelerator_cycles, "accelerator_cycles", "cycles in which these calls held their warps")

#define COUNTER_FIELD(field, metric, about) uint64_t field;

typedef struct Counters {
    COUNTERS(COUNTER_FIELD)
} Counters;

/* Adds every counter of `from` to that of `to`. */
void counters_add(Counters *to, const Counters *from);

#endif
