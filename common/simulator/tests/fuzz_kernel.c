/* fuzz_kernel.c - a libFuzzer target for everything after the parser: loads a text, decodes every
 * kernel in it, and runs the accepted kernels, with all checks, for a few thousand instructions.
 *
 * `make fuzz` builds it, gives it the solutions' PTX as the initial corpus, and runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/core.h"
#include "common/simulator/launch/simt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4000, MOST_PARAMS = 4096 };

static SimtGpu *gpu_make(void)
{
    SimtMachine machine;
    Error error;
    SimtOptions options = {.threads = 1,
                           .initcheck = 1,
                           .racecheck = 1,
                           .count = 1,
                           .profile = 1,
                           .machine_code = 1,
                           .instruction_limit = LIMIT};
    if (machine_load("common/simulator/gpus", "h200", &machine, &error)) abort();
    machine.memory_bytes = 64u << 20;
    return simt_open(&machine, &options, &error);
}

/* Every 8 bytes of the parameters are a valid address: kernels get somewhere. */
static void kernel_run(SimtGpu *gpu, SimtKernel *kernel, uint64_t address)
{
    static uint64_t params[MOST_PARAMS / 8];
    SimtKernelInfo info;
    SimtResult result;
    simt_kernel_info(kernel, &info);
    if (info.params_bytes > MOST_PARAMS) return;
    for (size_t i = 0; i < MOST_PARAMS / 8; i++)
        params[i] = address;
    SimtLaunch launch = {.grid = {2, 1, 1},
                         .block = {64, 1, 1},
                         .dynamic_shared = 1024,
                         .params = params,
                         .params_bytes = info.params_bytes};
    simt_launch(gpu, kernel, &launch, &result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error error;
    uint64_t address;
    SimtGpu *gpu = gpu_make();
    if (!gpu) return 0;
    SimtModule *module = simt_module_load(gpu, data, size, 0, &error);
    if (module && simt_alloc(gpu, 4096, &address, &error) == 0)
        for (uint32_t i = 0; i < module->kernels; i++)
            kernel_run(gpu, &module->kernel[i], address);
    simt_close(gpu);
    return 0;
}
