/* test_simt_maps.c - tensor maps that a kernel changes in shared memory and passes to other
 * threads: the result equals a map that the host makes with the same values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/core/tensor_map.h"
#include "common/simulator/tests/simt_fixture.h"

#define PUBLISH                                                                                    \
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "      \
    "[%x2], [%r2], 128;\n"                                                                         \
    "fence.proxy.tensormap::generic.acquire.gpu [%x2], 128;\n"

/* The kernel has the map that lies at `from` in shared memory, at %r2, and `to` in %x2; %p1 holds
 * in thread 0. */
static int maps_run(const char *body, const TensorMap *from, TensorMap *to, SimtResult *result)
{
    char text[4096];
    uint64_t params[2];
    Error error = {""};
    SimtMachine machine = *small_machine(9);
    SimtOptions options = {.threads = 1, .count = 1, .racecheck = 1};
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    if (!gpu) fail_msg("%s", error.text);
    snprintf(text, sizeof text,
             ".version 8.3\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 from, .param .u64 to)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%x<9>; .reg .pred %%p<3>;\n"
             ".shared .align 128 .b8 map[128];\n"
             "ld.param.u64 %%x1, [from]; ld.param.u64 %%x2, [to]; mov.u32 %%r1, %%tid.x;\n"
             "mov.u32 %%r2, map; shl.b32 %%r3, %%r1, 2; add.u32 %%r4, %%r2, %%r3;\n"
             "cvt.u64.u32 %%x3, %%r3; add.u64 %%x3, %%x1, %%x3; ld.global.u32 %%r5, [%%x3];\n"
             "st.shared.u32 [%%r4], %%r5; bar.warp.sync 0xffffffff; setp.eq.u32 %%p1, %%r1, 0;\n"
             "%s\nret;\n}\n",
             body);
    params[0] = device_data(gpu, from, sizeof *from);
    params[1] = device_data(gpu, NULL, 2 * sizeof *to);
    int status = run(gpu, text, 1, 32, 0, params, sizeof params, result);
    if (status == 0) device_fetch(gpu, params[1], to, sizeof *to);
    simt_close(gpu);
    return status;
}

static TensorMapRequest request(void)
{
    return (TensorMapRequest){.kind = TENSOR_MAP_TILED,
                              .type = TENSOR_MAP_F32,
                              .rank = 3,
                              .address = 0x700000000000,
                              .dims = {64, 32, 8},
                              .strides = {256, 8192},
                              .element_strides = {1, 1, 1},
                              .box = {16, 4, 2}};
}

static void encode(const TensorMapRequest *r, TensorMap *map)
{
    Error error = {""};
    if (tensor_map_encode(r, map, NULL, &error) != 0) fail_msg("%s", error.text);
}

static void a_changed_tensor_map_belongs_to_the_host(void **state)
{
    static const char BODY[] =
        "mov.u64 %x4, 0x700000100000; mov.u64 %x5, 512; mov.u32 %r6, 60;\n"
        "@%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r2], %x4;\n"
        "@%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r2], 0, %r6;\n"
        "@%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r2], 0, %x5;\n"
        "cvt.u64.u32 %x6, %r2; cvta.shared.u64 %x6, %x6;\n"
        "@%p1 tensormap.replace.tile.box_dim.b1024.b32 [%x6], 1, 8;\n"
        "@%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r2], 0xb;\n"
        "@%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r2], 1;\n"
        "bar.warp.sync 0xffffffff;\n" PUBLISH;
    TensorMapRequest r = request();
    TensorMap from, to, wanted;
    SimtResult result;
    (void)state;
    encode(&r, &from);
    r.address = 0x700000100000, r.dims[0] = 60, r.strides[0] = 512, r.box[1] = 8, r.fill = 1;
    r.type = TENSOR_MAP_TF32;
    encode(&r, &wanted);
    if (maps_run(BODY, &from, &to, &result) != 0) fail_msg("%s", result.report.text);
    assert_memory_equal(&to, &wanted, sizeof to);
    assert_int_equal(result.findings, 0);
}

static void faults(const char *body, const char *words)
{
    TensorMapRequest r = request();
    TensorMap from, to;
    SimtResult result;
    encode(&r, &from);
    assert_int_not_equal(maps_run(body, &from, &to, &result), 0);
    if (!strstr(result.report.text, words)) fail_msg("%s: %s", body, result.report.text);
}

static void invalid_tensor_maps_are_reported(void **state)
{
    (void)state;
    faults("@%p1 st.shared.u32 [%r2+8], 77;\n"
           "@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;\n",
           "none was encoded there");
    faults("@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2+16], 1;\n",
           "no multiple of 64");
    faults("@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2+64], 1;\n", "__shared__");
    faults("@%p1 tensormap.replace.tile.rank.global.b1024.b32 [%x1+8192], 1;\n", "__global__");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_tensor_map_belongs_to_the_host),
        cmocka_unit_test(invalid_tensor_maps_are_reported),
    };
    return cmocka_run_group_tests_name("simt maps", tests, NULL, NULL);
}
