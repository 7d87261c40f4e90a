/* test_sim_timeline.c - overlap on the simulated GPU, in cycles computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cuda/recording.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/sim/sim_timeline.h"

enum { HALF = TIMELINE_WHOLE / 2 };

static void shares_fill_the_machine(void **state)
{
    Timeline t = {0};
    (void)state;
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 0, 100), 100);
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 0, 40), 40);
    /* From 40 on half is free again, but not before; a launch that needs all waits for the longer
     * one. */
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 0, 60), 100);
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, TIMELINE_WHOLE, 0, 10), 110);
    /* A part fits only if the resource is free for its whole length. */
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 50, 20), 130);
    assert_int_equal(timeline_place(&t, TIMELINE_TO_HOST, TIMELINE_WHOLE, 5, 20), 25);
    assert_int_equal(timeline_place(&t, TIMELINE_TO_DEVICE, TIMELINE_WHOLE, 0, 20), 20);
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, TIMELINE_WHOLE, 7, 0), 7);
    assert_int_equal(t.end, 130);
}

static void remaining_capacity_is_filled(void **state)
{
    Timeline t = {0};
    (void)state;
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 10, 100), 110);
    /* Ten cycles alone, then half as fast, then alone again. */
    assert_int_equal(timeline_fill(&t, TIMELINE_SMS, TIMELINE_WHOLE, 0, 100), 150);
    assert_int_equal(timeline_fill(&t, TIMELINE_SMS, HALF, 120, 10), 160);
    assert_int_equal(timeline_fill(&t, TIMELINE_SMS, HALF, 500, 0), 500);
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, HALF, 0, 10), 160);
}

static void launches_overlap_up_to_their_wait(void **state)
{
    const TimelineLaunch launch = {
        .launch = 10, .pdl_trigger = 20, .pdl_wait = 60, .cycles = 100, .share = HALF};
    Timeline t = {0};
    (void)state;
    /* It does not wait: 10 cycles after its first instruction the next one may start. */
    TimelineMark mark =
        timeline_overlap(&t, &launch, 0, (TimelineMark){.pdl_trigger = 50, .end = 200});
    assert_int_equal(mark.pdl_trigger, 50 + TIMELINE_HAND + 10);
    assert_int_equal(mark.end, 50 + TIMELINE_HAND + 90);
    /* It waits, and the last 40 cycles come after the other's end. */
    mark = timeline_overlap(&t, &launch, 0, (TimelineMark){.pdl_trigger = 50, .end = 9000});
    assert_int_equal(mark.pdl_trigger, 50 + TIMELINE_HAND + 10);
    assert_int_equal(mark.end, 9000 + TIMELINE_RESUME + 40);
    /* The start takes time if nothing precedes it, and a late trigger is replaced by the end. */
    const TimelineLaunch late = {
        .launch = 10, .pdl_trigger = 95, .pdl_wait = 100, .cycles = 100, .share = HALF};
    mark = timeline_overlap(&t, &late, 20000, (TimelineMark){.pdl_trigger = 50, .end = 20050});
    assert_int_equal(mark.end, 20100);
    /* A launch that never waits does not end before the other, so that waiting for it is waiting
     * for both. */
    mark = timeline_overlap(&t, &late, 20000, (TimelineMark){.pdl_trigger = 50, .end = 60000});
    assert_int_equal(mark.end, 60000);
    /* Without a price it has no cycles: nothing is placed, and nothing wraps around. */
    Timeline none = {0};
    mark = timeline_overlap(&none, &(TimelineLaunch){.launch = 10, .share = HALF}, 0,
                            (TimelineMark){0});
    assert_true(mark.end < 10000);
    mark = timeline_overlap(&t, &(TimelineLaunch){10, 95, 60, 100, HALF, 0}, 30000,
                            (TimelineMark){.pdl_trigger = 50, .end = 60000});
    assert_int_equal(mark.end, 60000 + TIMELINE_RESUME + 40);
    assert_int_equal(mark.pdl_trigger, mark.end - 5);
}

/* In a grade, launches that wait for nothing take the time of their shares one after the other:
 * many slices in a chain must not be cheaper than one launch of their blocks. */
static void slices_of_a_chain_share_the_machine(void **state)
{
    TimelineLaunch slice = {
        .launch = 10, .pdl_trigger = 10, .pdl_wait = 5010, .cycles = 5010, .share = HALF};
    (void)state;
    for (int graded = 0; graded < 2; graded++) {
        Timeline t = {0};
        slice.is_exclusive = graded;
        TimelineMark mark = timeline_overlap(&t, &slice, 0, (TimelineMark){0});
        assert_int_equal(mark.pdl_trigger, TIMELINE_HAND);
        assert_int_equal(mark.end, TIMELINE_HAND + 5000);
        mark = timeline_overlap(&t, &slice, 0, mark);
        assert_int_equal(mark.end, TIMELINE_HAND + (graded ? 7500 : TIMELINE_HAND + 5000));
        assert_int_equal(t.end, mark.end);
    }
}

static void evicting_reports_no_false_race(void **state)
{
    Timeline t = {0};
    (void)state;
    for (uint64_t i = 0; i < TIMELINE_PIECES; i++)
        assert_int_equal(timeline_place(&t, TIMELINE_SMS, 1, i * 10, 10), i * 10 + 10);
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, 1, 0, 10), 10);
    /* The part that ended at 10 was dropped: nothing starts before it any more. */
    assert_int_equal(timeline_place(&t, TIMELINE_SMS, 1, 0, 10), 20);
}

static void shares_are_contiguous_blocks(void **state)
{
    (void)state;
    assert_int_equal(timeline_share(132, 264), HALF);
    assert_int_equal(timeline_share(1000, 264), TIMELINE_WHOLE);
    assert_int_equal(timeline_share(1, 1u << 20), 1);
}

/* ---- the engine ----------------------------------------------------------------------------- */

enum { COPY = 1 << 20 };
static unsigned char bytes[COPY];

static uint64_t call(Device *device, DeviceCall call)
{
    DeviceReply reply;
    assert_int_equal(device->execute(device, &call, &reply), 0);
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    return reply.value[0];
}

static uint64_t cycles(Device *device)
{
    DeviceCost cost;
    device->take_cost(device, &cost);
    return cost.cycles;
}

static void upload(Device *device, uint64_t to, uint32_t stream)
{
    call(device, (DeviceCall){.kind = CALL_COPY_TO_DEVICE,
                              .dst = to,
                              .data = bytes,
                              .data_bytes = COPY,
                              .stream = (uint32_t)stream});
}

static void fetch(Device *device, uint64_t from, uint32_t stream)
{
    call(device,
         (DeviceCall){.kind = CALL_COPY_TO_HOST, .src = from, .bytes = COPY, .stream = stream});
}

typedef struct Bench {
    Device *device;
    uint64_t buffer;
    uint32_t one, two;
} Bench;

static Bench bench_of(int checks)
{
    SimDeviceOptions options = {.machine = "h200",
                                .gpus_directory = "common/simulator/gpus",
                                .threads = 1,
                                .checks = checks};
    Error error = {""};
    Bench bench = {.device = device_open_sim(&options, &error)};
    if (!bench.device) fail_msg("%s", error.text);
    bench.buffer = call(bench.device, (DeviceCall){.kind = CALL_ALLOC, .bytes = COPY});
    bench.one = (uint32_t)call(bench.device, (DeviceCall){.kind = CALL_STREAM_CREATE});
    bench.two = (uint32_t)call(bench.device, (DeviceCall){.kind = CALL_STREAM_CREATE});
    return bench;
}

static Bench bench_open(void)
{
    return bench_of(0);
}

static void copies_of_opposite_direction_overlap(void **state)
{
    Bench b = bench_open();
    (void)state;
    upload(b.device, b.buffer, b.one);
    uint64_t alone = cycles(b.device);
    assert_true(alone > 0);
    upload(b.device, b.buffer, b.one), upload(b.device, b.buffer, b.two);
    assert_int_equal(cycles(b.device), 2 * alone);
    upload(b.device, b.buffer, b.one), fetch(b.device, b.buffer, b.two);
    assert_int_equal(cycles(b.device), alone);
    upload(b.device, b.buffer, b.one), fetch(b.device, b.buffer, b.one);
    assert_int_equal(cycles(b.device), 2 * alone);
    /* The default stream waits for both, and both wait for it. */
    upload(b.device, b.buffer, b.one), fetch(b.device, b.buffer, 0);
    assert_int_equal(cycles(b.device), 2 * alone);
    upload(b.device, b.buffer, 0), fetch(b.device, b.buffer, b.two);
    assert_int_equal(cycles(b.device), 2 * alone);
    b.device->close(b.device);
}

static void events_and_host_waits_order_streams(void **state)
{
    Bench b = bench_open();
    (void)state;
    uint32_t event = (uint32_t)call(b.device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    upload(b.device, b.buffer, b.one);
    uint64_t alone = cycles(b.device);
    upload(b.device, b.buffer, b.one);
    call(b.device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = event, .stream = b.one});
    call(b.device, (DeviceCall){.kind = CALL_STREAM_WAIT, .event = event, .stream = b.two});
    fetch(b.device, b.buffer, b.two);
    assert_int_equal(cycles(b.device), 2 * alone);
    upload(b.device, b.buffer, b.one);
    call(b.device, (DeviceCall){.kind = CALL_SYNC});
    fetch(b.device, b.buffer, b.two);
    assert_int_equal(cycles(b.device), 2 * alone);
    b.device->close(b.device);
}

static void a_replay_overlaps_as_the_call_did(void **state)
{
    Bench b = bench_open();
    Recording recording = {0};
    Error error = {""};
    DeviceCost cost;
    (void)state;
    upload(b.device, b.buffer, b.one);
    uint64_t alone = cycles(b.device);
    Device *recorder = recorder_open(b.device, &recording);
    upload(recorder, b.buffer, b.one), fetch(recorder, b.buffer, b.two);
    upload(recorder, b.buffer, b.one);
    uint64_t live = cycles(b.device);
    assert_int_equal(live, 2 * alone);
    assert_int_equal(b.device->replay(b.device, &recording, 1, &cost, &error), 0);
    assert_int_equal(cost.cycles, live);
    recorder->close(recorder);
    recording_clear(&recording, b.device);
    b.device->close(b.device);
}

/* Three launches that work, then wait for the previous one; the first of them may trigger the next
 * one immediately. */
static void chain_ask(Device *device, int tells, uint32_t value)
{
    static const char FORM[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .f32 %%f<4>;\n.reg .b32 %%r<3>;\n.reg .pred %%p<2>;\nmov.u32 %%r1, 0;\n%s"
        "AGAIN:\nfma.rn.f32 %%f1, %%f1, %%f2, %%f3;\n"
        "add.s32 %%r1, %%r1, 1;\nsetp.lt.s32 %%p1, %%r1, 4096;\n@%%p1 bra AGAIN;\n"
        "griddepcontrol.wait;\nret;\n}\n";
    char text[1024];
    snprintf(text, sizeof text, FORM, tells ? "griddepcontrol.launch_dependents;\n" : "");
    uint32_t module = (uint32_t)call(
        device,
        (DeviceCall){.kind = CALL_MODULE_LOAD, .data = text, .data_bytes = strlen(text) + 1});
    uint32_t function = (uint32_t)call(device, (DeviceCall){.kind = CALL_MODULE_FUNCTION,
                                                            .module = module,
                                                            .data = (void *)"k",
                                                            .data_bytes = 2});
    for (int i = 0; i < 3; i++)
        call(device, (DeviceCall){.kind = CALL_LAUNCH,
                                  .function = function,
                                  .grid = {132, 1, 1},
                                  .block = {32, 1, 1},
                                  .value = value});
}

static uint64_t chain_cycles(int tells, uint32_t value)
{
    Bench b = bench_open();
    chain_ask(b.device, tells, value);
    uint64_t all = cycles(b.device);
    b.device->close(b.device);
    return all;
}

static void launches_of_a_chain_overlap(void **state)
{
    (void)state;
    uint64_t apart = chain_cycles(0, 0), one = apart / 3, launch = 5190;
    assert_int_equal(apart, 3 * one);
    /* The additional instruction waits for %r1's first value. */
    assert_int_equal(chain_cycles(1, 0), apart);
    /* Without a trigger the end counts: only the launch itself is hidden. */
    uint64_t late = chain_cycles(0, LAUNCH_OVERLAPS);
    assert_in_range(apart - late, 2 * (launch - TIMELINE_HAND), 2 * (launch - TIMELINE_HAND) + 8);
    /* Each starts when the previous one has started. */
    uint64_t early = chain_cycles(1, LAUNCH_OVERLAPS);
    assert_true(early > one && early < one + 3 * TIMELINE_HAND);
}

static void a_replay_of_a_chain_overlaps_as_the_call_did(void **state)
{
    Bench b = bench_open();
    Recording recording = {0};
    Error error = {""};
    DeviceCost cost;
    (void)state;
    Device *recorder = recorder_open(b.device, &recording);
    chain_ask(recorder, 1, LAUNCH_OVERLAPS);
    uint64_t live = cycles(b.device);
    assert_int_equal(live, chain_cycles(1, LAUNCH_OVERLAPS));
    assert_int_equal(b.device->replay(b.device, &recording, 1, &cost, &error), 0);
    assert_int_equal(cost.cycles, live);
    recorder->close(recorder);
    recording_clear(&recording, b.device);
    b.device->close(b.device);
}

/* ---- missing waits ------------------------------------------------------ */

typedef struct Pair {
    int tells, waits;
    uint32_t value; /* for the second launch */
    int copies;     /* Boolean: a copy between the two */
} Pair;

static uint32_t pair_function(Device *device, uint32_t module, const char *name)
{
    return (uint32_t)call(device, (DeviceCall){.kind = CALL_MODULE_FUNCTION,
                                               .module = module,
                                               .data = name,
                                               .data_bytes = strlen(name) + 1});
}

/* A launch writes a buffer that the next one reads.  The finding is in *text. */
static void pair_launch(const Pair *pair, char *text, size_t bytes)
{
    static const char FORM[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry writes(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\n.reg .b32 %%r<2>;\n"
        "%sld.param.u64 %%rd1, [p];\nmov.u32 %%r1, 7;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n"
        ".visible .entry reads(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\n.reg .b32 %%r<2>;\n"
        "ld.param.u64 %%rd1, [p];\n%sld.global.nc.u32 %%r1, [%%rd1];\nret;\n}\n";
    Bench b = bench_of(1);
    char ptx[1024], word[4] = {0};
    snprintf(ptx, sizeof ptx, FORM, pair->tells ? "griddepcontrol.launch_dependents;\n" : "",
             pair->waits ? "griddepcontrol.wait;\n" : "");
    uint32_t module = (uint32_t)call(
        b.device,
        (DeviceCall){.kind = CALL_MODULE_LOAD, .data = ptx, .data_bytes = strlen(ptx) + 1});
    uint32_t writes = pair_function(b.device, module, "writes"),
             reads = pair_function(b.device, module, "reads");
    DeviceCall launch = {.kind = CALL_LAUNCH,
                         .function = writes,
                         .grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .stream = b.one,
                         .data = &b.buffer,
                         .data_bytes = sizeof b.buffer};
    call(b.device, launch);
    if (pair->copies)
        call(b.device, (DeviceCall){.kind = CALL_COPY_TO_DEVICE,
                                    .dst = b.buffer + 256,
                                    .data = word,
                                    .data_bytes = sizeof word,
                                    .stream = b.one});
    launch.function = reads, launch.value = pair->value;
    DeviceReply reply;
    assert_int_equal(b.device->execute(b.device, &launch, &reply), 0);
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    snprintf(text, bytes, "%s", reply.message);
    b.device->close(b.device);
}

static void an_overlap_without_a_wait_is_reported(void **state)
{
    static const Pair CLEAN[] = {
        {.tells = 1, .waits = 1, .value = LAUNCH_OVERLAPS},
        {.tells = 0, .waits = 0, .value = LAUNCH_OVERLAPS},
        {.tells = 1, .waits = 0, .value = 0},
        {.tells = 1, .waits = 0, .value = LAUNCH_OVERLAPS, .copies = 1},
    };
    char text[2048];
    (void)state;
    pair_launch(&(Pair){.tells = 1, .value = LAUNCH_OVERLAPS}, text, sizeof text);
    if (!strstr(text, "Race between launches: Read access to __global__ memory") ||
        !strstr(text, "which kernel writes writes") || !strstr(text, "in kernel reads"))
        fail_msg("%s", text);
    for (size_t i = 0; i < sizeof CLEAN / sizeof *CLEAN; i++) {
        pair_launch(&CLEAN[i], text, sizeof text);
        assert_string_equal(text, "");
    }
}

/* Launches of a chain, on two streams, with calls between them. */
typedef enum Between { NOTHING, A_RECORD, A_SYNC, A_WAIT } Between;

/* writes, which lets the next one begin; `idle`, which does so before it has waited, if `three`;
 * and reads.  Returns the last launch's recorded `value`; what is found is in *text. */
static uint32_t chain_record(int three, Between between, char *text, size_t bytes)
{
    static const char PTX[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry writes(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
        "griddepcontrol.launch_dependents;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 7;\n"
        "st.global.u32 [%rd1], %r1;\nret;\n}\n"
        ".visible .entry idle(.param .u64 p)\n{\ngriddepcontrol.launch_dependents;\nret;\n}\n"
        ".visible .entry reads(.param .u64 p)\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
        "ld.param.u64 %rd1, [p];\nld.global.nc.u32 %r1, [%rd1];\nret;\n}\n";
    Bench b = bench_of(1);
    Recording recording = {0};
    Device *recorder = recorder_open(b.device, &recording);
    uint32_t module = (uint32_t)call(
                 b.device,
                 (DeviceCall){.kind = CALL_MODULE_LOAD, .data = PTX, .data_bytes = sizeof PTX}),
             event = (uint32_t)call(b.device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    DeviceCall launch = {.kind = CALL_LAUNCH,
                         .function = pair_function(b.device, module, "writes"),
                         .grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .stream = b.one,
                         .value = LAUNCH_OVERLAPS,
                         .data = &b.buffer,
                         .data_bytes = sizeof b.buffer};
    call(recorder, launch);
    launch.function = pair_function(b.device, module, "idle");
    if (three) call(recorder, launch);
    if (between == A_SYNC) call(recorder, (DeviceCall){.kind = CALL_STREAM_SYNC, .stream = b.one});
    if (between == A_RECORD || between == A_WAIT)
        call(recorder, (DeviceCall){.kind = CALL_EVENT_RECORD, .stream = b.one, .event = event});
    if (between == A_WAIT) {
        launch.stream = b.two;
        call(recorder, (DeviceCall){.kind = CALL_STREAM_WAIT, .stream = b.two, .event = event});
    }
    launch.function = pair_function(b.device, module, "reads");
    DeviceReply reply;
    DeviceCost cost;
    Error error = {""};
    assert_int_equal(recorder->execute(recorder, &launch, &reply), 0);
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    snprintf(text, bytes, "%s", reply.message);
    uint32_t value = recording.call[recording.count - 1].value;
    b.device->study(b.device, DEVICE_EXECUTED); /* without a price it ends, too */
    assert_int_equal(b.device->replay(b.device, &recording, 1, &cost, &error), 0);
    assert_int_equal(cost.cycles, 0);
    b.device->study(b.device, DEVICE_PRICED);
    assert_int_equal(b.device->replay(b.device, &recording, 1, &cost, &error), 0);
    assert_true(cost.cycles > 0 && cost.cycles < 100000);
    recorder->close(recorder);
    recording_clear(&recording, b.device);
    b.device->close(b.device);
    return value;
}

static void operations_that_overlap_in_the_price_are_checked(void **state)
{
    char text[2048];
    (void)state;
    assert_int_equal(chain_record(0, NOTHING, text, sizeof text), LAUNCH_OVERLAPS);
    assert_non_null(strstr(text, "Race between launches"));
    /* The launch between has waited for nothing: the third may overlap the first. */
    assert_int_equal(chain_record(1, NOTHING, text, sizeof text), LAUNCH_OVERLAPS);
    assert_non_null(strstr(text, "Race between launches"));
    /* The launch before is over for what comes between, so nothing may overlap. */
    assert_int_equal(chain_record(0, A_RECORD, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(chain_record(0, A_SYNC, text, sizeof text), 0);
    assert_string_equal(text, "");
    /* On another stream it waits for the end, whatever its flag says: the flag may stay, for the
     * replay looks at the streams. */
    chain_record(0, A_WAIT, text, sizeof text);
    assert_string_equal(text, "");
}

/* Blocks of 16 warps with 512 times four accumulators, three resident per SM; or of one warp. */
static uint64_t streams_cycles(uint32_t threads, int streams)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .f32 %f<9>;\n.reg .b32 %r<3>;\n.reg .pred %p<2>;\nmov.u32 %r1, 0;\nAGAIN:\n"
        "fma.rn.f32 %f1, %f1, %f5, %f6;\nfma.rn.f32 %f2, %f2, %f5, %f6;\n"
        "fma.rn.f32 %f3, %f3, %f5, %f6;\nfma.rn.f32 %f4, %f4, %f5, %f6;\n"
        "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 512;\n@%p1 bra AGAIN;\nret;\n}\n";
    SimDeviceOptions options = {
        .machine = "gtx480", .gpus_directory = "common/simulator/gpus", .threads = 1};
    Error error = {""};
    Device *device = device_open_sim(&options, &error);
    if (!device) fail_msg("%s", error.text);
    uint32_t module = (uint32_t)call(
        device,
        (DeviceCall){.kind = CALL_MODULE_LOAD, .data = (void *)text, .data_bytes = sizeof text});
    uint32_t function = (uint32_t)call(device, (DeviceCall){.kind = CALL_MODULE_FUNCTION,
                                                            .module = module,
                                                            .data = (void *)"k",
                                                            .data_bytes = 2});
    for (int i = 0; i < streams; i++) {
        uint32_t stream = (uint32_t)call(device, (DeviceCall){.kind = CALL_STREAM_CREATE});
        call(device, (DeviceCall){.kind = CALL_LAUNCH,
                                  .function = function,
                                  .grid = {15, 1, 1},
                                  .block = {threads, 1, 1},
                                  .stream = stream});
    }
    uint64_t all = cycles(device);
    device->close(device);
    return all;
}

static void streams_share_the_pipes(void **state)
{
    (void)state;
    /* One warp of 48 leaves the machine free for others; 16 of 48 use its pipes completely. */
    assert_int_equal(streams_cycles(32, 2), streams_cycles(32, 1));
    assert_int_equal(streams_cycles(512, 2), 2 * streams_cycles(512, 1));
}

/* A kernel whose duration grows with the number of blocks, launched three times; `asks`: reads each
 * duration before the next launch. */
static DeviceCost launches_cost(int threads, int asks)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b64 %rd<4>;\n.reg .b32 %r<5>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %ctaid.x;\n"
        "mul.wide.u32 %rd2, %r1, 128;\nadd.s64 %rd1, %rd1, %rd2;\nmov.u32 %r2, %tid.x;\n"
        "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd1, %rd1, %rd3;\nld.global.u32 %r3, [%rd1];\n"
        "add.s32 %r3, %r3, %r1;\nst.global.u32 [%rd1], %r3;\nret;\n}\n";
    static const uint32_t BLOCKS[] = {900, 20, 2000};
    SimDeviceOptions options = {.machine = "h200",
                                .gpus_directory = "common/simulator/gpus",
                                .threads = threads,
                                .checks = 1};
    Error error = {""};
    Device *device = device_open_sim(&options, &error);
    if (!device) fail_msg("%s", error.text);
    uint64_t buffer = call(device, (DeviceCall){.kind = CALL_ALLOC, .bytes = COPY});
    uint64_t all = 0;
    upload(device, buffer, 0);
    cycles(device);
    DeviceReply reply = {.status = DEVICE_SUCCESS};
    uint32_t resident, module = (uint32_t)call(device, (DeviceCall){.kind = CALL_MODULE_LOAD,
                                                                    .data = (void *)text,
                                                                    .data_bytes = sizeof text});
    uint32_t function = (uint32_t)call(device, (DeviceCall){.kind = CALL_MODULE_FUNCTION,
                                                            .module = module,
                                                            .data = (void *)"k",
                                                            .data_bytes = 2});
    for (int i = 0; i < 3; i++) {
        call(device, (DeviceCall){.kind = CALL_LAUNCH,
                                  .function = function,
                                  .grid = {BLOCKS[i], 1, 1},
                                  .block = {32, 1, 1},
                                  .data = &buffer,
                                  .data_bytes = sizeof buffer});
        if (asks) all += sim_device_last_launch(device, &resident, &reply);
    }
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    DeviceCost cost;
    device->take_cost(device, &cost);
    assert_true(!asks || cost.cycles == all);
    device->close(device);
    return cost;
}

/* The cost of a launch may be computed while the next one runs: the result is the same. */
static void waiting_launches_cost_the_same(void **state)
{
    (void)state;
    DeviceCost one = launches_cost(1, 1);
    assert_int_equal(one.launches, 3);
    for (int threads = 1; threads <= 4; threads += 3)
        for (int asks = 0; asks < 2; asks++) {
            DeviceCost cost = launches_cost(threads, asks);
            assert_memory_equal(&cost, &one, sizeof cost);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_fill_the_machine),
        cmocka_unit_test(remaining_capacity_is_filled),
        cmocka_unit_test(launches_overlap_up_to_their_wait),
        cmocka_unit_test(slices_of_a_chain_share_the_machine),
        cmocka_unit_test(evicting_reports_no_false_race),
        cmocka_unit_test(shares_are_contiguous_blocks),
        cmocka_unit_test(copies_of_opposite_direction_overlap),
        cmocka_unit_test(events_and_host_waits_order_streams),
        cmocka_unit_test(a_replay_overlaps_as_the_call_did),
        cmocka_unit_test(streams_share_the_pipes),
        cmocka_unit_test(waiting_launches_cost_the_same),
        cmocka_unit_test(launches_of_a_chain_overlap),
        cmocka_unit_test(a_replay_of_a_chain_overlaps_as_the_call_did),
        cmocka_unit_test(an_overlap_without_a_wait_is_reported),
        cmocka_unit_test(operations_that_overlap_in_the_price_are_checked),
    };
    return cmocka_run_group_tests_name("simulated time", tests, NULL, NULL);
}
