/* debug_program - what `make debug PROGRAM=...` links with a CUDA program and the debugger: the
 * drop-in runtime on the simulated GPU, with all checks on.  In a program that `simnvcc -G` links,
 * this GPU takes the place of the one that reports findings, if SIMCUDA_DEBUG is set.
 *
 * The environment chooses: SIMULATE_GPU (h200), SIMULATE_GPUS (the folder of machines). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"

static const char *chosen(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* Defined in programs that simnvcc -G links. */
extern const int debugger_is_optional __attribute__((weak));
extern const char simulate_gpus_folder[] __attribute__((weak));

/* Before the program's own constructors, which may call CUDA, and after simulate's. */
__attribute__((constructor(102))) static void device_open(void)
{
    Error error;
    const char *folder = simulate_gpus_folder ? simulate_gpus_folder : "common/simulator/gpus";
    SimDeviceOptions options = {.machine = chosen("SIMULATE_GPU", "h200"),
                                .gpus_directory = chosen("SIMULATE_GPUS", folder),
                                .checks = 1,
                                .gaps = 1};
    if (&debugger_is_optional && !getenv("SIMCUDA_DEBUG")) return;
    Device *device = device_open_sim(&options, &error);
    if (!device) {
        fprintf(stderr, "debug: %s\n", error.text);
        _exit(2);
    }
    runtime_set_device(device);
    runtime_map_pinned();
}
