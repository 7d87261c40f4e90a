/* simt_fixture.h - what the tests of the simulated GPU share: a small machine, and running a text's
 * kernel k.
 *
 * Module: tests of the whole simulator, its benchmark and its fuzzers.
 * Callers: none.
 * May use: common/simulator/launch.
 *
 * Include it after cmocka.h. */
#ifndef CONVLAB_SIMT_SIMT_FIXTURE_H
#define CONVLAB_SIMT_SIMT_FIXTURE_H

#include <string.h>

#include "common/simulator/launch/simt.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* A machine of 4 SMs with numbers that are easy to reckon with. */
static const SimtMachine SMALL_SHAPE = {.name = "small",
                                        .title = "a small GPU",
                                        .cc_major = 8,
                                        .sms = 4,
                                        .clock_mhz = 1000,
                                        .memory_bytes = 256u << 20,
                                        .l2_bytes = 1 << 20,
                                        .dram_gb_s = 100,
                                        .l2_bytes_per_cycle = 256,
                                        .dram_latency = 400,
                                        .l2_latency = 200,
                                        .l1_latency = 30,
                                        .shared_latency = 25,
                                        .alu_latency = 4,
                                        .schedulers = 4,
                                        .tensor_fma = 512,
                                        .issue_cycles = 1,
                                        .l2_bytes_per_sm = 64,
                                        .block_launch_cycles = 1,
                                        .fp32_lanes = 128,
                                        .int32_lanes = 64,
                                        .fp64_lanes = 64,
                                        .sfu_lanes = 16,
                                        .l1_bytes = 131072,
                                        .l1_sectors_per_cycle = 4,
                                        .shared_banks = 32,
                                        .shared_wavefronts_per_cycle = 1,
                                        .lsu_lanes = 32,
                                        .texture_units = 4,
                                        .texture_latency = 120,
                                        .launch_cycles = 1000,
                                        .max_threads_per_block = 1024,
                                        .max_threads_per_sm = 2048,
                                        .max_blocks_per_sm = 32,
                                        .max_warps_per_sm = 64,
                                        .registers_per_sm = 65536,
                                        .register_unit = 256,
                                        .max_registers_per_thread = 255,
                                        .shared_per_block = 49152,
                                        .shared_per_block_optin = 65536,
                                        .shared_per_sm = 102400,
                                        .shared_unit = 128,
                                        .shared_reserved = 1024,
                                        .memory_clock_khz = 1000000,
                                        .memory_bus_bits = 256,
                                        .persisting_l2_bytes = 0,
                                        .access_window_bytes = 0};

/* The same with the costs and features of that generation, from the GPU that is described first. */
static inline const SimtMachine *small_machine(uint32_t cc_major)
{
    static const char *const GPU[] = {[2] = "gtx480", [5] = "gtx980", [6] = "gtx1080ti",
                                      [7] = "titanv", [8] = "a100",   [9] = "h200"};
    static SimtMachine small[sizeof GPU / sizeof *GPU];
    SimtMachine *machine = &small[cc_major], described;
    Error error = {""};
    if (machine->sms) return machine;
    if (machine_load("common/simulator/gpus", GPU[cc_major], &described, &error) != 0)
        fail_msg("%s", error.text);
    *machine = SMALL_SHAPE;
    machine->cc_major = cc_major;
    machine->costs = described.costs, machine->has = described.has;
    return machine;
}

#define SMALL (*small_machine(8))

__attribute__((unused)) static SimtGpu *gpu_open(int threads, int initcheck, int count)
{
    Error error = {""};
    SimtOptions options = {.threads = threads, .initcheck = initcheck, .count = count};
    SimtGpu *gpu = simt_open(&SMALL, &options, &error);
    if (!gpu) fail_msg("%s", error.text);
    return gpu;
}

__attribute__((unused)) static uint64_t device_data(SimtGpu *gpu, const void *data, uint64_t bytes)
{
    Error error = {""};
    uint64_t address = 0;
    if (simt_alloc(gpu, bytes, &address, &error) != 0 ||
        (data && simt_write(gpu, address, data, bytes, &error) != 0))
        fail_msg("%s", error.text);
    return address;
}

__attribute__((unused)) static void device_fetch(SimtGpu *gpu, uint64_t address, void *data,
                                                 uint64_t bytes)
{
    Error error = {""};
    if (simt_read(gpu, address, data, bytes, &error) != 0) fail_msg("%s", error.text);
}

/* Loads `text`, runs its kernel k on blocks x threads, and unloads it. */
__attribute__((unused)) static int run(SimtGpu *gpu, const char *text, uint32_t blocks,
                                       uint32_t threads, uint32_t dynamic_shared,
                                       const void *params, uint32_t params_bytes,
                                       SimtResult *result)
{
    Error error = {""};
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    if (!module) fail_msg("%s", error.text);
    SimtKernel *kernel = simt_kernel_find(module, "k", &error);
    if (!kernel) fail_msg("%s", error.text);
    SimtLaunch launch = {.grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .dynamic_shared = dynamic_shared,
                         .params = params,
                         .params_bytes = params_bytes};
    int status = simt_launch(gpu, kernel, &launch, result);
    simt_module_unload(gpu, module);
    return status;
}

#endif
