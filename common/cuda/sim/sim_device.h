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
#include "common/simulator/core/simt_types.h"

typedef struct SimDeviceOptions {
    const char *machine; /* "h200" ... a file common/simulator/gpus/<machine>.ini */
    const char *gpus_directory;
    int threads;                /* 0: one per core */
    int checks;                 /* memcheck is always on; 1 adds initcheck */
    uint64_t instruction_limit; /* limit of warp instructions between two take_cost; 0: the default,
                                 * per launch */
    int profile;                /* Boolean: store a profile of the longest launch ... */
    const char *profile_kernel; /* ... as in SimtOptions */
    uint32_t profile_launch;
    int launches;     /* Boolean: store a list of the launches */
    int machine_code; /* as in SimtOptions; never for a submission, which could forge
                                 * it */
    int gaps;         /* as in SimtOptions; for programs whose libraries copy structs */
    int warns;        /* as in SimtOptions; also for copies of unwritten memory */
    int warp_sync;    /* as in SimtOptions; for labs that teach __syncwarp() */
    int repeats;      /* as in SimtOptions; never for a submission */
    int untrusted;    /* as in SimtOptions; for submissions */
    const volatile int *interrupted; /* as in SimtOptions */
} SimDeviceOptions;

struct SimtGpu;

/* Set by a debugger before it opens a device: called with each GPU. */
extern void (*sim_device_debugger)(struct SimtGpu *gpu);
/* Set by a debugger, too: called with the expected outputs of a lab's call, `count` floats at
 * `address`, and with the tolerance of each. */
extern void (*sim_device_expected)(uint64_t address, const double *expected,
                                   const double *tolerance, size_t count);
/* NULL with `error` when there is no machine of that name (the error lists those there are). */
Device *device_open_sim(const SimDeviceOptions *options, Error *error);
/* The profile of the longest launch on a device opened with options.profile, or NULL; valid until
 * its next call. */
const SimtProfile *sim_device_profile(Device *device);
/* The launches so far, on a device opened with options.launches, at most SIM_LAUNCHES_MOST; valid
 * until the next call. */
enum { SIM_LAUNCHES_MOST = 1 << 16 };
const DeviceLaunch *sim_device_launches(Device *device, uint32_t *count);
/* Cycles of the last successful launch alone, and its resident blocks per SM.  If the host has no
 * memory to compute them, `reply` has the error; else it is unchanged. */
uint64_t sim_device_last_launch(Device *device, uint32_t *resident_blocks, DeviceReply *reply);
/* Why the function's cycles are predicted from its PTX, or NULL (simt_kernel_sass). */
const char *sim_device_sass(Device *device, uint32_t function);
/* Launches of the function, a handle, that repeated an earlier launch (simt_repeats). */
uint64_t sim_device_repeats(Device *device, uint32_t function);
/* The findings of the last launch, grouped (simt_findings); valid until the next call. */
const SimtFinding *sim_device_findings(const Device *device, uint32_t *count);
/* simt_write_runs, for a device opened with options.profile: the executed lines. */
void sim_device_write_runs(Device *device, FILE *stream);
/* Allocations that were never freed; `text` lists the first ones. */
uint64_t sim_device_leaks(const Device *device, char *text, size_t bytes);
/* Sets whether later launches protect managed memory from host accesses while a kernel may use it;
 * initially they do not.  Needs a SIGSEGV handler that calls sim_device_guards: guard_access
 * (sim_guard.h). */
void sim_device_set_guards(Device *device, int guards);
/* Guards the pinned memory of an asynchronous copy, which the host may not use (`writes`) or change
 * before it has waited. */
void sim_device_guard_copy(Device *device, uint64_t address, uint64_t bytes, int writes);
/* The last kernel that called printf and for which the host has not waited; "": there is none. */
const char *sim_device_printed(const Device *device);
int sim_device_guards(Device *device, uint64_t address, char *text, size_t bytes);
/* Whether the address may belong to device memory; describes the nearest allocation. */
int sim_device_describe(const Device *device, uint64_t address, char *text, size_t bytes);

#endif
