/* debug_program - what `make debug PROGRAM=...` links with a CUDA program and the debugger: the
 * drop-in runtime on the simulated GPU, with all checks on.
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

/* Before the program's own constructors, which may call CUDA. */
__attribute__((constructor(102))) static void device_open(void)
{
    Error error;
    SimDeviceOptions options = {.machine = chosen("SIMULATE_GPU", "h200"),
                                .gpus_directory = chosen("SIMULATE_GPUS", "common/simulator/gpus"),
                                .checks = 1,
                                .gaps = 1};
    Device *device = device_open_sim(&options, &error);
    if (!device) {
        fprintf(stderr, "debug: %s\n", error.text);
        _exit(2);
    }
    runtime_set_device(device);
    runtime_map_pinned();
}
