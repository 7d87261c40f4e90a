/* fuzz_repeats.c - a libFuzzer target for repeated launches: each kernel of a text is launched
 * several times on two GPUs, one of which prices every launch.  Results and memory must be equal.
 *
 * `make fuzz` builds it, gives it the solutions' PTX as the initial corpus, and runs it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/core/core.h"
#include "common/simulator/launch/simt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4000, MOST_PARAMS = 4096, BYTES = 4096, LAUNCHES = 5 };

static SimtGpu *gpu_make(int repeats)
{
    SimtMachine machine;
    Error error;
    SimtOptions options = {.threads = 1,
                           .initcheck = 1,
                           .racecheck = 1,
                           .count = 1,
                           .machine_code = 1,
                           .repeats = repeats,
                           .instruction_limit = LIMIT};
    if (machine_load("common/simulator/gpus", "h200", &machine, &error)) abort();
    machine.memory_bytes = 64u << 20;
    return simt_open(&machine, &options, &error);
}

static void kernel_run(SimtGpu *gpu, SimtKernel *kernel, uint64_t address, SimtResult *result)
{
    static uint64_t params[MOST_PARAMS / 8];
    SimtKernelInfo info;
    simt_kernel_info(kernel, &info);
    if (info.params_bytes > MOST_PARAMS) return;
    for (size_t i = 0; i < MOST_PARAMS / 8; i++)
        params[i] = address;
    SimtLaunch launch = {.grid = {2, 1, 1},
                         .block = {64, 1, 1},
                         .dynamic_shared = 1024,
                         .params = params,
                         .params_bytes = info.params_bytes};
    for (uint32_t i = 0; i < LAUNCHES; i++)
        simt_launch(gpu, kernel, &launch, &result[i]);
}

static void results_compare(const SimtResult *a, const SimtResult *b)
{
    for (uint32_t i = 0; i < LAUNCHES; i++)
        if (a[i].cycles != b[i].cycles || a[i].findings != b[i].findings ||
            a[i].report.check != b[i].report.check ||
            memcmp(&a[i].counters, &b[i].counters, sizeof a[i].counters))
            abort();
}

static void memory_compare(SimtGpu *const gpu[2], uint64_t address)
{
    static unsigned char bytes[2][BYTES];
    Error error;
    for (int i = 0; i < 2; i++)
        if (simt_read(gpu[i], address, bytes[i], BYTES, &error) != 0) abort();
    if (memcmp(bytes[0], bytes[1], BYTES)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SimtGpu *gpu[2] = {gpu_make(0), gpu_make(1)};
    SimtModule *module[2] = {NULL, NULL};
    uint64_t address[2] = {0, 0};
    Error error;
    for (int i = 0; i < 2 && gpu[0] && gpu[1]; i++) {
        module[i] = simt_module_load(gpu[i], data, size, 0, &error);
        if (module[i] && (simt_alloc(gpu[i], BYTES, &address[i], &error) != 0 ||
                          simt_fill(gpu[i], address[i], 0, BYTES, &error) != 0))
            module[i] = NULL;
    }
    for (uint32_t k = 0; module[0] && module[1] && k < module[0]->kernels; k++) {
        static SimtResult result[2][LAUNCHES];
        memset(result, 0, sizeof result);
        for (int i = 0; i < 2; i++)
            kernel_run(gpu[i], &module[i]->kernel[k], address[i], result[i]);
        results_compare(result[0], result[1]);
        memory_compare(gpu, address[0]);
    }
    simt_close(gpu[0]), simt_close(gpu[1]);
    return 0;
}
