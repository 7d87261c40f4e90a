/* The race check between streams and the order in a recording are one: random programs of copies,
 * fills, streams, events and waits, made by a generator with a fixed seed.
 *
 * Two operations conflict if both use a buffer and one writes it.  If the check reports no race,
 * the recording must order all conflicting operations; so no program has dependent operations that
 * overlap in the price without a finding.  If it reports a race, the recording must leave
 * some conflicting pair unordered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/recording.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/sim/sim_order.h"

enum {
    PROGRAMS = 1500,
    STEPS = 48,
    BUFFERS = 4,
    BUFFER = 64 << 10,
    STREAMS = 40, /* more than 32 */
    EVENTS = 6,
    MOST_CALLS = 4 * STEPS
};

typedef struct Program {
    Device *engine, *recorder;
    Recording recording;
    uint64_t buffer[BUFFERS];
    uint32_t stream[STREAMS], event[EVENTS];
    int is_recorded[EVENTS];
    int raced;                                      /* a reply had a message */
    unsigned reads[MOST_CALLS], writes[MOST_CALLS]; /* buffers of the recording's calls, as bits */
} Program;

static uint64_t random_state;

static uint32_t chance(uint32_t most)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % most;
}

static uint64_t ask(Program *p, DeviceCall call, unsigned reads, unsigned writes)
{
    DeviceReply reply;
    size_t before = p->recording.count;
    assert_int_equal(p->recorder->execute(p->recorder, &call, &reply), 0);
    if (reply.status != DEVICE_SUCCESS) fail_msg("call %u: %s", call.kind, reply.message);
    if (reply.message[0]) p->raced = 1;
    assert_true(p->recording.count < MOST_CALLS);
    if (p->recording.count > before) {
        p->reads[p->recording.count - 1] = reads;
        p->writes[p->recording.count - 1] = writes;
    }
    return reply.value[0];
}

static void stream_renew(Program *p, uint32_t i)
{
    if (p->stream[i])
        ask(p, (DeviceCall){.kind = CALL_STREAM_DESTROY, .stream = p->stream[i]}, 0, 0);
    p->stream[i] = (uint32_t)ask(
        p, (DeviceCall){.kind = CALL_STREAM_CREATE, .value = chance(4) ? 1 : 0}, 0, 0);
}

/* The stream of a step: mostly one of a few, so that conflicts are many; 0 at times. */
static uint32_t some_stream(const Program *p)
{
    static const uint32_t FEW[] = {1, 2, 32, 33};
    if (!chance(8)) return 0;
    return p->stream[chance(3) ? FEW[chance(4)] : chance(STREAMS)];
}

static void operation(Program *p, uint32_t stream)
{
    static unsigned char bytes[BUFFER];
    uint32_t to = chance(BUFFERS), from = chance(BUFFERS);
    uint64_t size = chance(6) ? BUFFER : 0; /* nothing at times */
    unsigned write = size ? 1u << to : 0, read = size ? 1u << from : 0;
    switch (chance(8)) {
    case 0:
        ask(p,
            (DeviceCall){.kind = CALL_COPY_TO_DEVICE,
                         .dst = p->buffer[to],
                         .data = bytes,
                         .data_bytes = size,
                         .stream = stream},
            0, write);
        break;
    case 1:
        ask(p,
            (DeviceCall){
                .kind = CALL_COPY_TO_HOST, .src = p->buffer[from], .bytes = size, .stream = stream},
            read, 0);
        break;
    case 2:
    case 3:
    case 4:
        ask(p,
            (DeviceCall){.kind = CALL_COPY_ON_DEVICE,
                         .dst = p->buffer[to],
                         .src = p->buffer[from],
                         .bytes = size,
                         .stream = stream},
            read, write);
        break;
    default:
        ask(p,
            (DeviceCall){.kind = CALL_FILL, .dst = p->buffer[to], .bytes = size, .stream = stream},
            0, write);
    }
}

static void step(Program *p)
{
    uint32_t stream = some_stream(p), e = chance(EVENTS), event = p->event[e];
    switch (chance(20)) {
    case 0:
    case 1:
    case 2:
        p->is_recorded[e] = 1;
        ask(p, (DeviceCall){.kind = CALL_EVENT_RECORD, .stream = stream, .event = event}, 0, 0);
        break;
    case 3:
    case 4:
    case 5:
        ask(p, (DeviceCall){.kind = CALL_STREAM_WAIT, .stream = stream, .event = event}, 0, 0);
        break;
    case 6:
        ask(p, (DeviceCall){.kind = CALL_STREAM_QUERY, .stream = stream}, 0, 0);
        break;
    case 7:
        ask(p, (DeviceCall){.kind = chance(2) ? CALL_EVENT_QUERY : CALL_EVENT_SYNC, .event = event},
            0, 0);
        break;
    case 8:
        ask(p, (DeviceCall){.kind = CALL_STREAM_SYNC, .stream = stream}, 0, 0);
        break;
    case 9:
        if (!chance(8)) ask(p, (DeviceCall){.kind = CALL_SYNC}, 0, 0);
        break;
    case 10:
        ask(p, (DeviceCall){.kind = CALL_FREE}, 0, 0); /* frees no memory: waits for nothing */
        break;
    case 11:
        stream_renew(p, chance(STREAMS));
        break;
    default:
        operation(p, stream);
    }
}

/* ordered[i][j]: call i comes after call j. */
static unsigned char ordered[MOST_CALLS][MOST_CALLS];

static int is_apart(const Program *p)
{
    size_t before[MOST_CALLS];
    memset(ordered, 0, sizeof ordered);
    for (size_t i = 0; i < p->recording.count; i++) {
        size_t edges = recording_edges(&p->recording, i, before);
        for (size_t k = 0; k < edges; k++) {
            for (size_t j = 0; j < before[k]; j++)
                ordered[i][j] |= ordered[before[k]][j];
            ordered[i][before[k]] = 1;
        }
        for (size_t j = 0; j < i; j++) {
            unsigned clash =
                (p->writes[i] & (p->reads[j] | p->writes[j])) | (p->reads[i] & p->writes[j]);
            if (clash && !ordered[i][j]) return 1;
        }
    }
    return 0;
}

static void program_begin(Program *p, uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    p->raced = 0;
    memset(p->reads, 0, sizeof p->reads);
    memset(p->writes, 0, sizeof p->writes);
    p->recorder = recorder_open(p->engine, &p->recording);
    assert_non_null(p->recorder);
}

static void program_end(Program *p)
{
    DeviceReply reply;
    p->recorder->close(p->recorder);
    recording_clear(&p->recording, p->engine);
    assert_int_equal(p->engine->execute(p->engine, &(DeviceCall){.kind = CALL_SYNC}, &reply), 0);
}

static void operations_without_a_race_are_ordered_in_the_price(void **state)
{
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1, .checks = 1};
    Error error = {""};
    Program *p = calloc(1, sizeof *p);
    int races = 0;
    (void)state;
    assert_non_null(p);
    p->engine = device_open_sim(&options, &error);
    if (!p->engine) fail_msg("%s", error.text);
    program_begin(p, 0);
    for (int i = 0; i < BUFFERS; i++)
        p->buffer[i] = ask(p, (DeviceCall){.kind = CALL_ALLOC, .bytes = BUFFER}, 0, 0);
    /* The creation of the program's first own stream waits for all earlier operations. */
    ask(p, (DeviceCall){.kind = CALL_FILL, .dst = p->buffer[0], .bytes = BUFFER}, 0, 1);
    for (uint32_t i = 0; i < STREAMS; i++)
        stream_renew(p, i);
    for (int i = 0; i < EVENTS; i++)
        p->event[i] = (uint32_t)ask(p, (DeviceCall){.kind = CALL_EVENT_CREATE}, 0, 0);
    ask(p,
        (DeviceCall){
            .kind = CALL_FILL, .dst = p->buffer[0], .bytes = BUFFER, .stream = p->stream[0]},
        0, 1);
    assert_int_equal(p->raced, is_apart(p));
    assert_false(p->raced);
    program_end(p);
    for (int i = 1; i <= PROGRAMS; i++) {
        program_begin(p, (uint64_t)i);
        for (int k = (int)chance(STEPS); k >= 0; k--)
            step(p);
        if (p->raced != is_apart(p))
            fail_msg("program %d: the check %s, and the recording %s", i,
                     p->raced ? "found a race" : "found nothing",
                     p->raced ? "orders all that conflicts" : "leaves two operations unordered");
        races += p->raced;
        program_end(p);
    }
    assert_in_range(races, PROGRAMS / 10, PROGRAMS * 9 / 10);
    p->engine->close(p->engine);
    free(p);
}

/* ---- bounds --------------------------------------------------------------------------------- */

static void too_many_streams_are_rejected(void **state)
{
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1, .checks = 1};
    Error error = {""};
    DeviceReply reply;
    Device *device = device_open_sim(&options, &error);
    (void)state;
    if (!device) fail_msg("%s", error.text);
    for (int i = 1; i < ORDER_STREAMS; i++) {
        device->execute(device, &(DeviceCall){.kind = CALL_STREAM_CREATE}, &reply);
        assert_int_equal(reply.status, DEVICE_SUCCESS);
    }
    device->execute(device, &(DeviceCall){.kind = CALL_STREAM_CREATE}, &reply);
    assert_int_equal(reply.status, DEVICE_OUT_OF_MEMORY);
    assert_non_null(strstr(reply.message, "more than 1023 streams"));
    /* A stream that has ended without pending work frees its entry. */
    device->execute(device, &(DeviceCall){.kind = CALL_STREAM_DESTROY, .stream = 5}, &reply);
    device->execute(device, &(DeviceCall){.kind = CALL_STREAM_CREATE}, &reply);
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    device->close(device);
}

/* Operations that no clock distinguishes are stored as one.  Others are stored separately until the
 * memory is used up, and then the recording is serial. */
static void no_operation_is_evicted(void **state)
{
    enum { MANY = 300 };
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1, .checks = 1};
    Error error = {""};
    Program *p = calloc(1, sizeof *p);
    (void)state;
    assert_non_null(p);
    p->engine = device_open_sim(&options, &error);
    if (!p->engine) fail_msg("%s", error.text);
    for (int apart = 0; apart < 2; apart++) {
        DeviceReply reply;
        Device *d = p->engine;
        uint64_t at[2];
        uint32_t stream[2], event;
        for (int i = 0; i < 2; i++) {
            d->execute(d, &(DeviceCall){.kind = CALL_ALLOC, .bytes = 4 * MANY + 4}, &reply);
            at[i] = reply.value[0];
            d->execute(d, &(DeviceCall){.kind = CALL_STREAM_CREATE, .value = 1}, &reply);
            stream[i] = (uint32_t)reply.value[0];
        }
        d->execute(d, &(DeviceCall){.kind = CALL_EVENT_CREATE}, &reply);
        event = (uint32_t)reply.value[0];
        for (uint64_t i = 0; i < MANY; i++) {
            DeviceCall fill = {
                .kind = CALL_FILL, .dst = at[0] + 4 * i, .bytes = 4, .stream = stream[0]};
            d->execute(d, &fill, &reply);
            assert_string_equal(reply.message, "");
            DeviceCall record = {.kind = CALL_EVENT_RECORD, .event = event, .stream = stream[0]};
            if (apart) d->execute(d, &record, &reply);
        }
        DeviceCall copy = {.kind = CALL_COPY_ON_DEVICE,
                           .dst = at[1],
                           .src = at[0],
                           .bytes = 4,
                           .stream = stream[1]};
        d->execute(d, &copy, &reply);
        assert_non_null(strstr(reply.message, "nothing orders the two"));
        d->execute(d, &(DeviceCall){.kind = CALL_SYNC}, &reply);
        d->execute(d, &copy, &reply);
        assert_string_equal(reply.message, "");
    }
    p->engine->close(p->engine);
    free(p);
}

/* A new stream takes the entry of one that has ended.  It knows nothing of the event for which that
 * stream waited: in the recording, it follows nothing. */
static void a_new_stream_waits_for_no_event_of_an_old_one(void **state)
{
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1, .checks = 1};
    Error error = {""};
    Program *p = calloc(1, sizeof *p);
    (void)state;
    assert_non_null(p);
    p->engine = device_open_sim(&options, &error);
    if (!p->engine) fail_msg("%s", error.text);
    program_begin(p, 1);
    for (int i = 0; i < 2; i++)
        p->buffer[i] = ask(p, (DeviceCall){.kind = CALL_ALLOC, .bytes = BUFFER}, 0, 0);
    for (int i = 0; i < 2; i++)
        p->stream[i] = (uint32_t)ask(p, (DeviceCall){.kind = CALL_STREAM_CREATE, .value = 1}, 0, 0);
    uint32_t event = (uint32_t)ask(p, (DeviceCall){.kind = CALL_EVENT_CREATE}, 0, 0);
    ask(p,
        (DeviceCall){
            .kind = CALL_FILL, .dst = p->buffer[0], .bytes = BUFFER, .stream = p->stream[0]},
        0, 1);
    ask(p, (DeviceCall){.kind = CALL_EVENT_RECORD, .stream = p->stream[0], .event = event}, 0, 0);
    ask(p, (DeviceCall){.kind = CALL_STREAM_WAIT, .stream = p->stream[1], .event = event}, 0, 0);
    stream_renew(p, 1);
    ask(p,
        (DeviceCall){.kind = CALL_COPY_ON_DEVICE,
                     .dst = p->buffer[1],
                     .src = p->buffer[0],
                     .bytes = BUFFER,
                     .stream = p->stream[1]},
        1, 2);
    assert_true(is_apart(p));
    assert_true(p->raced);
    program_end(p);
    p->engine->close(p->engine);
    free(p);
}

/* A query from which the host learns nothing looks at no operation; any other is charged. */
static void questions_are_charged(void **state)
{
    enum { MANY = 200 };
    StreamOrder *order = stream_order_open();
    OrderClock event = {0}, never = {0};
    char message[1024] = "";
    (void)state;
    assert_non_null(order);
    assert_int_equal(stream_order_begin(order, 1), 0);
    DeviceCall record = {.kind = CALL_EVENT_RECORD, .stream = 1};
    DeviceCall query = {.kind = CALL_EVENT_QUERY};
    for (uint64_t i = 0; i < MANY; i++) {
        DeviceCall fill = {
            .kind = CALL_FILL, .stream = 1, .dst = simt_memory_begin() + 4 * i, .bytes = 4};
        assert_true(stream_order_call(order, &fill, NULL, "fill", NULL, message, sizeof message) >
                    8 * i);
        stream_order_call(order, &record, &event, NULL, NULL, message, sizeof message);
    }
    assert_int_equal(stream_order_call(order, &query, &never, NULL, NULL, message, sizeof message),
                     0);
    assert_int_equal(stream_order_call(order, &query, &event, NULL, NULL, message, sizeof message),
                     8 * MANY);
    assert_int_equal(stream_order_call(order, &query, &event, NULL, NULL, message, sizeof message),
                     0);
    assert_string_equal(message, "");
    order_clock_free(&event), order_clock_free(&never);
    stream_order_close(order);
}

/* ---- accesses that no load or store makes --------------------------------------------------- */

/* Accesses to one array by two launches on two streams, which nothing orders. */
typedef struct Pair {
    const char *first, *second;
    int is_race, is_serial; /* Booleans: a race is reported; the recording is priced serially */
} Pair;

static uint32_t kernel_load(Program *p, const char *body)
{
    static const char FORM[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b64 out) malloc(.param .b64 in);\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>;\n.reg .b64 %%rd<9>;\n"
        ".shared .align 16 .b8 tile[64];\nld.param.u64 %%rd1, [p];\nmov.u32 %%r1, 7;\n"
        "mov.u32 %%r2, tile;\n%s\nret;\n}\n";
    char text[2048];
    snprintf(text, sizeof text, FORM, body);
    uint32_t module = (uint32_t)ask(
        p, (DeviceCall){.kind = CALL_MODULE_LOAD, .data = text, .data_bytes = strlen(text) + 1}, 0,
        0);
    return (uint32_t)ask(
        p,
        (DeviceCall){.kind = CALL_MODULE_FUNCTION, .module = module, .data = "k", .data_bytes = 2},
        0, 0);
}

static void pair_judge(const Pair *pair)
{
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1, .checks = 1};
    const char *const body[] = {pair->first, pair->second};
    Error error = {""};
    Program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->engine = device_open_sim(&options, &error);
    if (!p->engine) fail_msg("%s", error.text);
    program_begin(p, 1);
    uint64_t array = ask(p, (DeviceCall){.kind = CALL_ALLOC, .bytes = 256}, 0, 0);
    ask(p, (DeviceCall){.kind = CALL_FILL, .dst = array, .bytes = 256}, 0, 0);
    for (int i = 0; i < 2; i++) {
        uint32_t kernel = kernel_load(p, body[i]);
        uint32_t stream =
            (uint32_t)ask(p, (DeviceCall){.kind = CALL_STREAM_CREATE, .value = 1}, 0, 0);
        ask(p,
            (DeviceCall){.kind = CALL_LAUNCH,
                         .function = kernel,
                         .stream = stream,
                         .grid = {1, 1, 1},
                         .block = {1, 1, 1},
                         .data = &array,
                         .data_bytes = sizeof array},
            0, 0);
    }
    if (p->raced != pair->is_race || p->recording.serial != pair->is_serial)
        fail_msg("%s / %s: race %d, serial %d", pair->first, pair->second, p->raced,
                 p->recording.serial);
    program_end(p);
    p->engine->close(p->engine);
    free(p);
}

static void every_channel_between_launches_is_noted(void **state)
{
#define STORE   "st.global.u32 [%rd1], %r1;"
#define ADD     "red.global.add.u32 [%rd1], %r1;"
#define FETCH   "atom.global.add.u32 %r3, [%rd1], 0;\nst.global.u32 [%rd1+64], %r3;"
#define REPLACE "atom.global.exch.b32 %r3, [%rd1], %r1;"
#define ALLOCATE                                                                                   \
    "{\n.param .b64 in;\n.param .b64 out;\nmov.u64 %rd2, 16;\nst.param.b64 [in], %rd2;\n"          \
    "call.uni (out), malloc, (in);\nld.param.b64 %rd3, [out];\n}"
#define COPY(size)                                                                                 \
    "mov.u32 %r4, " #size ";\ncp.async.ca.shared.global [%r2], [%rd1], 16, %r4;\n"                 \
    "cp.async.wait_all;"
    static const Pair PAIRS[] = {
        {STORE, COPY(16), 1, 0},
        {STORE, COPY(4), 1, 0},
        {STORE, COPY(0), 0, 0},
        {"st.global.u32 [%rd1+4], %r1;", COPY(4), 0, 0},
        {STORE, ADD, 1, 0},
        {ADD, ADD, 0, 0},
        {ADD, "red.global.max.u32 [%rd1], %r1;", 0, 1},
        {ADD, "red.global.add.u32 [%rd1+32], %r1;", 0, 0},
        {REPLACE, ADD, 0, 1},
        {ADD, FETCH, 0, 1},
        {ADD, "atom.global.add.u32 %r3, [%rd1+32], 0;\nst.global.u32 [%rd1+64], %r3;", 0, 0},
        {ALLOCATE, ADD, 0, 0},
        {ALLOCATE, ALLOCATE, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        pair_judge(&PAIRS[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_without_a_race_are_ordered_in_the_price),
        cmocka_unit_test(too_many_streams_are_rejected),
        cmocka_unit_test(no_operation_is_evicted),
        cmocka_unit_test(a_new_stream_waits_for_no_event_of_an_old_one),
        cmocka_unit_test(questions_are_charged),
        cmocka_unit_test(every_channel_between_launches_is_noted),
    };
    return cmocka_run_group_tests_name("order between streams", tests, NULL, NULL);
}
