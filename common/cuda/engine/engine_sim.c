/* engine_sim.c - the simulated GPU.  ENGINE_GPU names the machine, ENGINE_GPUS the folder of the
 * machine descriptions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/engine/engine.h"

static Device *device;

static const char *chosen(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* Before the first CUDA call. */
__attribute__((constructor(101))) static void engine_open(void)
{
    Error error;
    SimDeviceOptions options = {.machine = chosen("ENGINE_GPU", "h200"),
                                .gpus_directory = chosen("ENGINE_GPUS", "common/simulator/gpus"),
                                .checks = 1};
    device = device_open_sim(&options, &error);
    if (!device) {
        fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.text);
        _exit(2);
    }
    runtime_set_device(device);
}

const char *engine_words(void)
{
    static char words[80];
    snprintf(words, sizeof words, "the simulated %.60s", chosen("ENGINE_GPU", "h200"));
    return words;
}

void engine_trust(void)
{
    device->study(device, DEVICE_EXECUTED);
}

const char *engine_complaint(void)
{
    static char text[1024];
    runtime_take_failure(text, sizeof text);
    return text;
}
