/* counters.h - everything that is counted of kernels, in one list: the simulator counts it, a
 * DeviceCost carries it, a record keeps it, lab.ini's metrics and formulas name it.
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
    X(float_instructions, "float_instructions", "of them: fp16, fp32 and fp64")                    \
    X(integer_instructions, "integer_instructions", "of them: integers, addresses, predicates")    \
    X(special_instructions, "special_instructions", "of them: for the special function unit")      \
    X(tensor_instructions, "tensor_instructions", "of them: products of matrices")                 \
    X(memory_instructions, "memory_instructions", "of them: loads, stores, atomics")               \
    X(control_instructions, "control_instructions", "of them: branches, barriers, votes")          \
    X(free_instructions, "free_instructions", "of them: folded into others by ptxas")              \
    X(branches, "branches", "branches that may part a warp")                                       \
    X(divergent_branches, "divergent_branches", "of them: those that did")                         \
    X(barriers, "barriers", "arrivals of warps at barriers")                                       \
    X(atomics, "atomics", "atomic operations")                                                     \
    X(atomic_sectors, "atomic_sectors", "sectors that they touched in global memory")              \
    X(shared_atomic_wavefronts, "shared_atomic_wavefronts", "their passes through shared memory")  \
    X(global_load_requests, "global_load_requests", "loads from global memory")                    \
    X(global_load_sectors, "global_load_sectors", "sectors that they touched")                     \
    X(global_load_bytes, "global_load_bytes", "bytes that the active threads asked for")           \
    X(global_store_requests, "global_store_requests", "stores to global memory")                   \
    X(global_store_sectors, "global_store_sectors", "sectors that they touched")                   \
    X(global_store_bytes, "global_store_bytes", "bytes that the active threads stored")            \
    X(copied_sectors, "copied_sectors", "sectors that cp.async brings past the L1, to one each")   \
    X(l1_hit_sectors, "l1_hit_sectors", "loaded sectors found in the L1; modelled")                \
    X(l2_hit_sectors, "l2_hit_sectors", "loaded sectors found in the L2; modelled")                \
    X(dram_bytes, "dram_bytes", "bytes to and from DRAM; modelled")                                \
    X(texture_requests, "texture_requests", "accesses to textures and surfaces")                   \
    X(texture_sectors, "texture_sectors", "sectors looked up, four or eight lanes at once")        \
    X(shared_load_requests, "shared_load_requests", "loads from shared memory")                    \
    X(shared_store_requests, "shared_store_requests", "stores to shared memory")                   \
    X(shared_wavefronts, "shared_wavefronts", "passes through shared memory")                      \
    X(bank_conflicts, "bank_conflicts", "passes, atomics too, beyond what the bytes need")         \
    X(local_sectors, "local_sectors", "sectors of local memory, loaded and stored")                \
    X(const_requests, "const_requests", "loads from constant memory")                              \
    X(accelerator_calls, "accelerator_calls", "calls of accelerators, where a machine has them")   \
    X(accelerator_cycles, "accelerator_cycles", "cycles for which those held their warps")

#define COUNTER_FIELD(field, metric, about) uint64_t field;

typedef struct Counters {
    COUNTERS(COUNTER_FIELD)
} Counters;

/* Adds every counter of `from` to that of `to`. */
void counters_add(Counters *to, const Counters *from);

#endif
