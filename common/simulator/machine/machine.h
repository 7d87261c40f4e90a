/* machine.h - a GPU described by numbers in a text file, each number with its source.
 *
 * Module: the descriptions of GPUs in common/simulator/gpus, read and checked.
 * Callers: the simulator; modules of the autograder that need a machine's properties.
 * May use: base. */
#ifndef CONVLAB_SIMT_MACHINE_H
#define CONVLAB_SIMT_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { MACHINE_WARP_SIZE = 32 }; /* the same on every GPU so far */

/* The costs of the time model.  One field for each key, therefore more than 40. */
typedef struct MachineCosts {
#define MECHANISM(name, title, occurs)
#define COST(key, unit, lowest, highest)        uint32_t key;
#define LIST(key, count, unit, lowest, highest) uint32_t key[count];
#include "common/simulator/machine/machine_costs.def"
} MachineCosts;

/* The instructions that the GPU can execute; 0 or 1 each. */
typedef struct MachineFeatures {
#define FEATURE(key, title) uint32_t key;
#include "common/simulator/machine/machine_features.def"
} MachineFeatures;

typedef struct SimtMachine {
    char name[64], title[128]; /* "h200", "NVIDIA H200" */
    char architecture[16];     /* "sm90": the file of its costs and features */
    char costs_of[16];         /* the architecture of unmeasured costs; "": all are its own */
    uint32_t cc_major, cc_minor, sms;
    double clock_mhz;  /* the clock that cycles are counted in */
    double tensor_mhz; /* clock of all SMs during MMAs, except MMAs of doubles; 0: clock_mhz */
    uint64_t memory_bytes, l2_bytes;
    double dram_gb_s, l2_bytes_per_cycle; /* 1e9 bytes per second; whole chip, bytes per clock */
    double dram_latency, l2_latency, l1_latency, shared_latency, alu_latency; /* cycles */

    uint32_t schedulers;        /* per SM */
    uint32_t issue_cycles;      /* from one instruction of a scheduler to its next */
    double l2_bytes_per_sm;     /* bytes per clock that one SM can receive, if it is alone */
    uint32_t tensor_fma;        /* FMAs of halves, dense, per SM and clock; 0: no tensor cores */
    uint32_t accelerators;      /* 1: it has the accelerators of accelerator.h */
    double block_launch_cycles; /* interval between two block launches on the whole chip */
    uint32_t fp32_lanes, int32_lanes, fp64_lanes, sfu_lanes; /* per SM and cycle */
    uint32_t l1_bytes, l1_sectors_per_cycle, shared_banks, shared_wavefronts_per_cycle, lsu_lanes;
    uint32_t texture_units; /* per SM: lanes that read a texel of 32 bits in one cycle */
    double texture_latency; /* cycles of a warp's read of such texels that the L1 has */
    double launch_cycles;   /* empty kernel, start to end */
    uint32_t max_threads_per_block, max_threads_per_sm, max_blocks_per_sm, max_warps_per_sm;
    uint32_t registers_per_sm, max_registers_per_thread;
    uint32_t register_unit; /* registers allocated per warp at a time */
    uint32_t shared_per_block, shared_per_block_optin, shared_per_sm, shared_unit, shared_reserved;
    uint32_t memory_clock_khz, memory_bus_bits;
    uint64_t persisting_l2_bytes; /* largest part of the L2 for persisting accesses; 0: none */
    uint64_t access_window_bytes; /* largest window of an access policy; 0: none */
    MachineCosts costs;
    MachineFeatures has;
    uint64_t unmeasured; /* mechanisms of machine_costs.def with an unmeasured cost, a bit each */
    uint32_t unmeasured_costs, all_costs; /* keys */
} SimtMachine;

/* Reads <directory>/<name>.ini, in which `like = other` as the first key takes over what the file
 * does not give itself, and then <directory>/architectures/<architecture>.ini.  An unknown name
 * lists the known ones.  Errors name the file, the line, the key and its range. */
int machine_load(const char *directory, const char *name, SimtMachine *machine, Error *error);
/* The machine's number of that name, a key of its file ("registers_per_sm"), or warp_size; -1:
 * unknown key. */
int machine_number(const SimtMachine *machine, const char *name, double *value);
/* "atomics in the L2, fences": the mechanisms with costs that were never measured on the machine's
 * generation.  "" if there are none. */
void machine_unmeasured(const SimtMachine *machine, char *text, size_t bytes);
/* Is it the name of a mechanism of machine_costs.def?  Then its title, else NULL. */
const char *machine_mechanism(const char *name);
/* A feature's title, "bulk copies" for "tma"; NULL: there is no such feature. */
const char *machine_feature(const char *name);
/* "gtx480, gtx980, h200": for messages.  Sorted. */
int machine_names(const char *directory, char *text, size_t bytes);

/* Number of blocks of `threads` threads that the register file of an SM can hold. Registers are
 * allocated per warp in the machine's unit, from the part of the file that belongs to one
 * scheduler. */
uint32_t machine_blocks_by_registers(const SimtMachine *machine, uint32_t registers,
                                     uint32_t threads);
/* Number of blocks with `bytes` bytes of shared memory that an SM can hold, including the driver's
 * reservation. */
uint32_t machine_blocks_by_shared(const SimtMachine *machine, uint64_t bytes);

#endif
