/* test_simt_special.c - special registers that describe the launch: values of an H200, driver
 * 580.159, CUDA 13.0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

#define NINE ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Gives what `moves` leave in %r1 to %r4 and %x2, of the first block. */
static void specials(SimtGpu *gpu, uint32_t fixed, uint32_t dynamic, const uint32_t *cluster,
                     const char *moves, uint64_t *out)
{
    char text[2048];
    Error error = {""};
    SimtResult result;
    uint64_t address = device_data(gpu, NULL, 5 * sizeof *out);
    snprintf(text, sizeof text,
             "%s.visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%x<9>;\n"
             ".reg .pred %%p<3>;\n.shared .align 4 .b8 own[%u];\n"
             "mov.u32 %%r1, 0;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, 0;\nmov.u32 %%r4, 0;\n"
             "mov.u64 %%x2, 0;\nld.param.u64 %%x1, [out];\n%s\n%s\n"
             "st.global.u64 [%%x1+32], %%x2;\ncvt.u64.u32 %%x2, %%r1;\n"
             "st.global.u64 [%%x1], %%x2;\ncvt.u64.u32 %%x2, %%r2;\nst.global.u64 [%%x1+8], %%x2;\n"
             "cvt.u64.u32 %%x2, %%r3;\nst.global.u64 [%%x1+16], %%x2;\n"
             "cvt.u64.u32 %%x2, %%r4;\nst.global.u64 [%%x1+24], %%x2;\nret;\n}\n",
             NINE, fixed ? fixed : 1, fixed ? "st.shared.b8 [own], %r1;" : "", moves);
    SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
    SimtKernel *kernel = module ? simt_kernel_find(module, "k", &error) : NULL;
    if (!kernel) fail_msg("%s", error.text);
    SimtLaunch launch = {.grid = {4, 1, 1},
                         .block = {1, 1, 1},
                         .dynamic_shared = dynamic,
                         .params = &address,
                         .params_bytes = sizeof address};
    if (cluster) memcpy(launch.cluster, cluster, sizeof launch.cluster);
    if (simt_launch(gpu, kernel, &launch, &result) != 0) fail_msg("%s", result.report.text);
    simt_module_unload(gpu, module);
    device_fetch(gpu, address, out, 5 * sizeof *out);
}

static SimtGpu *hopper_open(void)
{
    SimtMachine machine = *small_machine(9);
    Error error = {""};
    SimtOptions options = {.threads = 1};
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    if (!gpu) fail_msg("%s", error.text);
    return gpu;
}

static void sizes_of_shared_memory(void **state)
{
    /* Fixed and dynamic bytes; all of them in units, and with CUDA's own KiB. */
    static const uint32_t WANTED[][4] = {
        {0, 0, 0, 1024},         {0, 1, 128, 1025},     {0, 129, 256, 1153},
        {4, 0, 128, 1028},       {4, 127, 256, 1155},   {4, 1000, 1024, 2028},
        {100, 1000, 1152, 2124}, {1000, 1, 1024, 2025}, {1024, 40000, 41088, 42048}};
    (void)state;
    SimtGpu *gpu = hopper_open();
    for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
        uint64_t out[5];
        specials(gpu, WANTED[i][0], WANTED[i][1], NULL,
                 "mov.u32 %r1, %total_smem_size;\nmov.u32 %r2, %aggr_smem_size;\n"
                 "mov.u32 %r3, %dynamic_smem_size;\nmov.u32 %r4, %reserved_smem_offset_cap;",
                 out);
        assert_int_equal(out[0], WANTED[i][2]);
        assert_int_equal(out[1], WANTED[i][3]);
        assert_int_equal(out[2], WANTED[i][1]);
        assert_int_equal(out[3], 1024);
    }
    simt_close(gpu);
}

/* CUDA's reserved part has the same size, but here it is after the block's own part. */
static void addresses_of_reserved_shared_memory(void **state)
{
    uint64_t out[5];
    (void)state;
    SimtGpu *gpu = hopper_open();
    specials(gpu, 100, 0, NULL,
             "mov.u32 %r1, %reserved_smem_offset_begin;\nmov.u32 %r2, %reserved_smem_offset_end;\n"
             "sub.u32 %r2, %r2, %r1;\nmov.u32 %r3, %reserved_smem_offset_0;\n"
             "sub.u32 %r3, %r3, %r1;\nmov.u32 %r4, %reserved_smem_offset_1;\n"
             "sub.u32 %r4, %r4, %r1;\nst.shared.u32 [%r1], %r4;",
             out);
    assert_int_equal(out[1], 288);
    assert_int_equal(out[2], 0);
    assert_int_equal(out[3], 0);
    simt_close(gpu);
}

static void launches_are_numbered(void **state)
{
    (void)state;
    SimtGpu *gpu = hopper_open();
    for (uint64_t n = 1; n <= 3; n++) {
        uint64_t out[5];
        specials(gpu, 0, 0, NULL, "mov.u32 %r1, %gridid;\nmov.u64 %x2, %gridid;", out);
        assert_int_equal(out[0], n);
        assert_int_equal(out[4], n);
    }
    simt_close(gpu);
}

static void requested_clusters_are_explicit(void **state)
{
    static const uint32_t CLUSTER[][3] = {{0, 0, 0}, {1, 1, 1}, {2, 1, 1}};
    (void)state;
    SimtGpu *gpu = hopper_open();
    for (size_t i = 0; i < 3; i++) {
        uint64_t out[5];
        specials(gpu, 0, 0, CLUSTER[i][0] ? CLUSTER[i] : NULL,
                 "mov.pred %p1, %is_explicit_cluster;\nselp.u32 %r1, 7, 0, %p1;", out);
        assert_int_equal(out[0], i ? 7 : 0);
    }
    simt_close(gpu);
}

/* Nobody has set up a counter, and no kernel has launched a graph. */
static void properties_of_the_driver(void **state)
{
    uint64_t out[5];
    (void)state;
    SimtGpu *gpu = hopper_open();
    specials(gpu, 0, 0, NULL,
             "mov.u32 %r1, %envreg6;\nmov.u32 %r2, %envreg10;\nmov.u32 %r3, %envreg31;\n"
             "mov.u32 %r4, %pm7;\nmov.u64 %x2, %pm0_64;",
             out);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 288);
    assert_int_equal(out[2] | out[3] | out[4], 0);
    specials(gpu, 0, 0, NULL,
             "mov.u32 %r1, %ntid.w;\nmov.u32 %r2, %nctaid.w;\nmov.u32 %r3, %nclusterid.w;\n"
             "mov.u32 %r4, %tid.w;\nmov.u64 %x2, %current_graph_exec;",
             out);
    for (int i = 0; i < 5; i++)
        assert_int_equal(out[i], 0);
    simt_close(gpu);
}

/* A clock's upper half is that of 64 bits, and so is a timer's: no time has passed yet. */
static void halves_of_the_clock_registers(void **state)
{
    uint64_t out[5];
    (void)state;
    SimtGpu *gpu = hopper_open();
    specials(gpu, 0, 0, NULL,
             "mov.u64 %x2, %globaltimer;\nmov.u32 %r1, %clock_hi;\nmov.u32 %r2, %globaltimer_lo;\n"
             "mov.u32 %r3, %globaltimer_hi;\nmov.u32 %r4, %clock;",
             out);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[2], out[4] >> 32);
    assert_in_range(out[1] - (uint32_t)out[4], 0, 4096);
    assert_in_range(out[3], 1, 1 << 20);
    simt_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_shared_memory),
        cmocka_unit_test(addresses_of_reserved_shared_memory),
        cmocka_unit_test(launches_are_numbered),
        cmocka_unit_test(requested_clusters_are_explicit),
        cmocka_unit_test(properties_of_the_driver),
        cmocka_unit_test(halves_of_the_clock_registers),
    };
    return cmocka_run_group_tests_name("simt special", tests, NULL, NULL);
}
