/* sim_device.h - the simulated engine: a Device that executes calls on the simulated GPU.
 *
 * Module: DeviceCalls on the simulated GPU, and the timeline on which its streams overlap.
 * Callers: programs that open an engine.
 * May use: cuda, simt. */
#ifndef CONVLAB_CUDA_SIM_DEVICE_H
#define CONVLAB_CUDA_SIM_DEVICE_H

#include <stdio.h>

#include "common/cuda/device.h"
#include "common/simulator/core/profile.h"

typedef struct SimDeviceOptions {
    const char *machine; /* "h200" ... a file common/simulator/gpus/<machine>.ini */
    const char *gpus_directory;
    int threads;                /* 0: one per core */
    int checks;                 /* memcheck is always on; this adds initcheck */
    uint64_t instruction_limit; /* warp instructions between two take_cost; 0: default, a launch */
    int profile;                /* keep where the longest launch's cycles went */
    int machine_code;           /* SimtOptions': not of a submission, which could forge it */
    int gaps;                   /* SimtOptions': for programs whose libraries copy structs */
    int untrusted;              /* SimtOptions': for submissions */
    const volatile int *interrupted; /* SimtOptions' */
} SimDeviceOptions;

struct SimtGpu;

/* Set by a program that debugs kernels, before it opens a device: called with each GPU. */
extern void (*sim_device_debugger)(struct SimtGpu *gpu);
/* Set likewise: told of `count` floats at `address` what a lab's call should leave there, and by how
 * much each may differ. */
extern void (*sim_device_expected)(uint64_t address, const double *expected,
                                   const double *tolerance, size_t count);
/* NULL with `error` when there is no machine of that name (the error lists those there are). */
Device *device_open_sim(const SimDeviceOptions *options, Error *error);
/* Of a device that was opened with options.profile: of its longest launch, or NULL; valid until its
 * next call. */
const SimtProfile *sim_device_profile(Device *device);
/* Cycles of the last launch that ended well, alone, and how many of its blocks an SM holds.  If the
 * host has no memory to work them out, `reply` says so, which else is left as it is. */
uint64_t sim_device_last_launch(Device *device, uint32_t *resident_blocks, DeviceReply *reply);
/* simt_write_runs, of a device that was opened with options.profile: which lines were executed. */
void sim_device_write_runs(Device *device, FILE *stream);
/* Allocations never freed; `text` lists the first. */
uint64_t sim_device_leaks(const Device *device, char *text, size_t bytes);
/* Do launches from now on take managed memory from the program while a kernel may use it?  At first
 * not.  Only for who handles SIGSEGV and asks sim_device_guards there: guard_ask (sim_guard.h). */
void sim_device_set_guards(Device *device, int guards);
int sim_device_guards(Device *device, uint64_t address, char *text, size_t bytes);
/* Is the address one that device memory may have?  What it is near of. */
int sim_device_describe(const Device *device, uint64_t address, char *text, size_t bytes);

#endif
