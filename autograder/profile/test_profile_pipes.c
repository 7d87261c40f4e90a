/* test_profile_pipes.c - operations of opcodes, the pipe in use, files of stalls, and timelines of
 * warps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/profile/profile_pipes.h"
#include "autograder/profile/profile_stalls.h"
#include "autograder/profile/profile_timeline.h"

static void opcodes_have_their_operations(void **state)
{
    static const struct {
        const char *opcode;
        double flops;
        FlopPipe pipe;
    } KNOWN[] = {
        {"fma.rn.f32", 2, FLOPS_FP32},
        {"add.f32", 1, FLOPS_FP32},
        {"mul.rn.ftz.f32", 1, FLOPS_FP32},
        {"fma.rn.f64", 2, FLOPS_FP64},
        {"fma.rn.f16x2", 4, FLOPS_FP16},
        {"add.s32", 0, FLOP_PIPES},
        {"mad.lo.s32", 0, FLOP_PIPES},
        {"div.rn.f32", 0, FLOP_PIPES},
        {"ld.global.f32", 0, FLOP_PIPES},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 2 * 16 * 8 * 16, FLOPS_TENSOR_FP16},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2 * 16 * 8 * 8, FLOPS_TENSOR_TF32},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 2 * 16 * 8 * 32, FLOPS_TENSOR_8},
        {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2 * 8 * 8 * 4, FLOPS_TENSOR_FP64},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 4 * 2 * 8 * 8 * 4, FLOPS_TENSOR_FP16},
        {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 2 * 16 * 8 * 16,
         FLOPS_TENSOR_FP16},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 2 * 16 * 16 * 16, FLOPS_TENSOR_FP16},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16", 0, FLOP_PIPES},
        {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", 2 * 64 * 128 * 16 / 4,
         FLOPS_TENSOR_FP16},
        {"wgmma.mma_async.sync.aligned.m64n96k8.f32.tf32.tf32", 2 * 64 * 96 * 8 / 4,
         FLOPS_TENSOR_TF32}};
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        FlopPipe pipe = FLOP_PIPES;
        if (opcode_flops(KNOWN[i].opcode, &pipe) != KNOWN[i].flops || pipe != KNOWN[i].pipe)
            fail_msg("%s: %g operations of pipe %d", KNOWN[i].opcode,
                     opcode_flops(KNOWN[i].opcode, &pipe), (int)pipe);
    }
}

static const SimtMachine MACHINE = {.title = "a GPU",
                                    .sms = 100,
                                    .clock_mhz = 1000,
                                    .tensor_mhz = 500,
                                    .fp32_lanes = 128,
                                    .fp64_lanes = 64,
                                    .tensor_fma = 1024};

/* Few operations of tensor cores are not the pipe in use, if other operations take longer. */
static void the_pipe_in_use_takes_longest(void **state)
{
    SimtInstruction in[] = {
        {.opcode = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
         .text = "",
         .warp_instructions = 10,
         .thread_instructions = 320},
        {.opcode = "fma.rn.f32", .text = "", .warp_instructions = 10, .thread_instructions = 320}};
    SimtProfile profile = {.instruction = in, .instructions = 2};
    PipeFlops flops;
    (void)state;
    pipe_flops_find(&profile, &MACHINE, &flops);
    assert_true(flops.flops[FLOPS_TENSOR_FP16] == 10 * 4096 && flops.flops[FLOPS_FP32] == 640);
    assert_true(flops.peak[FLOPS_FP32] == 2.0 * 100 * 128);
    assert_true(flops.peak[FLOPS_TENSOR_FP16] == 2.0 * 100 * 1024 * 0.5);
    assert_true(flops.peak[FLOPS_TENSOR_TF32] == flops.peak[FLOPS_TENSOR_FP16] / 2);
    assert_int_equal(flop_pipe_main(&flops), FLOPS_TENSOR_FP16);
    in[1].thread_instructions = 100000;
    pipe_flops_find(&profile, &MACHINE, &flops);
    assert_int_equal(flop_pipe_main(&flops), FLOPS_FP32);
    profile.instructions = 0;
    pipe_flops_find(&profile, &MACHINE, &flops);
    assert_int_equal(flop_pipe_main(&flops), FLOP_PIPES);
}

static void stalls_are_read_back_unchanged(void **state)
{
    char path[] = "/tmp/test-stalls-XXXXXX";
    Error error = {""};
    ProfileStalls read, stalls = {.kernel = "kernel", .cycles = 77};
    (void)state;
    for (int k = 0; k < SIMT_STALLS; k++)
        stalls.stall[k] = (uint64_t)k * 1000;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(profile_stalls_write(path, &stalls, &error), 0);
    assert_int_equal(profile_stalls_read(path, &read, &error), 0);
    assert_string_equal(read.kernel, "kernel");
    assert_true(read.cycles == 77 && !memcmp(read.stall, stalls.stall, sizeof read.stall));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(profile_stalls_read(path, &read, &error), -1);
    assert_non_null(strstr(error.text, "is no stalls.tsv"));
    unlink(path);
    assert_int_equal(profile_stalls_read(path, &read, &error), -1);
}

/* A profile with two warps: one copies and waits, one multiplies. */
static SimtProfile timeline_make(SimtInstruction *in)
{
    SimtProfile profile = {.cycles = 100, .instruction = in, .instructions = 2, .number = 7};
    in[0] =
        (SimtInstruction){.opcode = "cp.async.bulk.tensor", .text = "copy <&\"", .file = "k.cu"};
    in[1] = (SimtInstruction){.opcode = "wgmma.mma_async", .text = "product", .file = "k.cu"};
    snprintf(profile.kernel, sizeof profile.kernel, "k<1>");
    profile.timeline =
        (SimtTimeline){.bin = calloc(TIMELINE_BLOCKS * 2 * TIMELINE_BINS, sizeof(SimtBin)),
                       .bin_cycles = 10,
                       .end = 40,
                       .blocks = 1,
                       .warps = 2};
    assert_non_null(profile.timeline.bin);
    SimtBin *copies = timeline_bins(&profile.timeline, 0, 0),
            *products = timeline_bins(&profile.timeline, 0, 1);
    copies[0].cycles[STALL_SELECTED] = 9, copies[0].longest = 9;
    copies[1].cycles[STALL_MBARRIER] = 10, copies[2].cycles[STALL_MBARRIER] = 6;
    products[2].cycles[STALL_GMMA] = 10, products[2].longest = 10, products[2].instruction = 1;
    return profile;
}

static void runs_are_bins_with_one_stall(void **state)
{
    SimtInstruction in[2];
    SimtProfile profile = timeline_make(in);
    WarpRun run[TIMELINE_BINS];
    (void)state;
    assert_int_equal(warp_runs_find(&profile, 0, 0, run), 2);
    assert_true(run[0].stall == STALL_SELECTED && run[0].begin == 0 && run[0].end == 10);
    assert_true(run[1].stall == STALL_MBARRIER && run[1].begin == 10 && run[1].end == 30);
    assert_int_equal(run[1].cycles, 16);
    assert_int_equal(warp_runs_find(&profile, 0, 1, run), 1);
    assert_string_equal(warp_role(&profile, 0, 0), "producer");
    assert_string_equal(warp_role(&profile, 0, 1), "consumer");
    /* Without copies there are no roles. */
    in[0].opcode = "ld.global.f32";
    assert_string_equal(warp_role(&profile, 0, 1), "");
    free(profile.timeline.bin);
}

static void the_trace_is_json(void **state)
{
    SimtInstruction in[2];
    SimtProfile profile = timeline_make(in);
    SimtSpan span[] = {{.block = 3, .begin = 0, .end = 40}, {.block = 4, .begin = 10, .end = 30}};
    DeviceLaunch launch = {
        .kernel = "k<1>", .number = 7, .begin = 1000, .end = 1100, .cycles = 100};
    DeviceCost cost = {.launches = 1};
    ProfilePage page = {.profile = &profile,
                        .cost = &cost,
                        .machine = &MACHINE,
                        .launches = {&launch, 1, MACHINE.clock_mhz}};
    char *text = NULL;
    size_t bytes = 0, found = 0;
    (void)state;
    profile.span = span, profile.spans = 2, profile.replayed_cycles = 40;
    FILE *file = open_memstream(&text, &bytes);
    timeline_trace(file, &page);
    fclose(file);
    json_t *root = json_loads(text, 0, NULL), *event;
    assert_non_null(root);
    size_t i;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const char *name = json_string_value(json_object_get(event, "name"));
        assert_non_null(name);
        if (strcmp(name, "an mbarrier")) continue;
        found++;
        /* The launch begins after 1 us, its third ten cycles after 10 ns more. */
        assert_float_equal(json_real_value(json_object_get(event, "ts")), 1.01, 1e-9);
        assert_float_equal(json_real_value(json_object_get(event, "dur")), 0.02, 1e-9);
    }
    assert_int_equal(found, 1);
    json_decref(root);
    free(text);
    file = open_memstream(&text, &bytes);
    timeline_html(file, &page);
    fclose(file);
    assert_non_null(strstr(text, "<h1>k&lt;1&gt;</h1>"));
    assert_non_null(strstr(text, "warp 0, producer"));
    assert_non_null(strstr(text, "warp 1: a result of tensor cores, 10 cycles"));
    assert_null(strstr(text, "<script"));
    free(text), free(profile.timeline.bin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opcodes_have_their_operations),
                                       cmocka_unit_test(the_pipe_in_use_takes_longest),
                                       cmocka_unit_test(stalls_are_read_back_unchanged),
                                       cmocka_unit_test(runs_are_bins_with_one_stall),
                                       cmocka_unit_test(the_trace_is_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
