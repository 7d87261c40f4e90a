/* fuzz_calls.c - libFuzzer target for a hostile process' calls of the simulated engine: two dozen
 * DeviceCalls, each made from 16 bytes of the input, recorded, executed and replayed.
 *
 * Handles are small numbers, addresses are in and around allocations, and sizes are small or huge,
 * so that most calls are almost valid.  Every status is accepted; no other memory may be read or
 * written. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/recording.h"
#include "common/cuda/sim/sim_device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 24, EACH = 16, ROOM = 4096 };

static const char PTX[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .b8 table[64];\n"
    ".visible .entry k(.param .u64 x, .param .u32 n)\n{\n.reg .b64 %rd<4>; .reg .b32 %r<5>;\n"
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
    "setp.ge.u32 %p1, %r2, %r1; @%p1 bra END;\nmul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, "
    "%rd2;\nld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, 1; st.global.u32 [%rd3], %r3;\nEND:\n"
    "ret;\n}\n";

/* Known names and addresses: the last few addresses and a name or an image. */
typedef struct Known {
    uint64_t address[4];
    unsigned next;
} Known;

static uint64_t address_of(const Known *known, const uint8_t *b)
{
    static const int64_t step[] = {0, 0, 0, 4, 256, ROOM - 4, ROOM, -4};
    if (b[1] > 250) return (uint64_t)b[1] << 56 | b[0];
    return known->address[b[0] % 4] + (uint64_t)step[b[1] % 8];
}

static uint64_t size_of(uint8_t b)
{
    static const uint64_t size[] = {0, 1, 4, 64, 256, 512, ROOM, 1 << 20, 1ull << 40, UINT64_MAX};
    return size[b % (sizeof size / sizeof *size)];
}

/* Valid for some bytes, wrong in one number for most. */
static TensorMapRequest map_request(const Known *known, const uint8_t *b)
{
    TensorMapRequest r = {.kind = b[2] % 4,
                          .type = b[3] % 18,
                          .rank = b[6] % 7,
                          .address = address_of(known, b + 10),
                          .interleave = b[4] > 250,
                          .swizzle = b[4] % 9,
                          .promotion = b[5] % 5,
                          .fill = b[5] / 128,
                          .channels = b[7] * 4u,
                          .pixels = b[8] * 5u};
    for (int i = 0; i < TENSOR_MAP_RANK; i++) {
        r.dims[i] = size_of(b[(size_t)i + 1]);
        r.element_strides[i] = b[(size_t)i + 7] % 10;
        r.box[i] = b[(size_t)i + 9] * 2u;
        if (i) r.strides[i - 1] = size_of(b[(size_t)i + 5]);
        if (i > 1) r.lower[i - 2] = (int8_t)b[i], r.upper[i - 2] = (int8_t)b[i + 3];
    }
    return r;
}

/* Arguments of a launch, or data of a copy: 16 bytes that start with an address. */
static void call_data(const Known *known, const uint8_t *b, DeviceCall *call)
{
    static uint64_t room[ROOM / 8];
    static const char *const name[] = {"k", "table", "", "none"};
    if (call->kind == CALL_MODULE_LOAD) {
        call->data = PTX, call->data_bytes = sizeof PTX;
        return;
    }
    if (call->kind == CALL_MODULE_FUNCTION || call->kind == CALL_MODULE_VARIABLE) {
        call->data = name[b[12] % 4], call->data_bytes = strlen(name[b[12] % 4]) + (b[13] < 200);
        return;
    }
    if (call->kind == CALL_TENSOR_MAP) {
        static TensorMapRequest map;
        map = map_request(known, b);
        call->data = &map, call->data_bytes = b[13] < 250 ? sizeof map : b[13];
        return;
    }
    room[0] = address_of(known, b + 10), room[1] = b[12];
    call->data_bytes = call->kind == CALL_LAUNCH ? 12 : size_of(b[13]);
    if (call->kind == CALL_LAUNCH && b[13] > 240) call->data_bytes = b[13] - 241u;
    if (call->data_bytes > sizeof room) call->data_bytes = sizeof room;
    call->data = call->data_bytes ? room : NULL;
}

static DeviceCall call_make(const Known *known, const uint8_t *b)
{
    DeviceCall call = {.kind = b[0] % CALL_KINDS,
                       .stream = (b[1] & 3u) | (b[1] & 4u ? DEVICE_STREAM_NON_BLOCKING : 0),
                       .event = b[2] & 3u,
                       .event2 = b[3] & 3u,
                       .module = b[1] >> 4,
                       .function = b[2] >> 4,
                       .value = b[3],
                       .grid = {b[4] % 6, 1 + b[5] / 200u, 1 + b[6] / 240u},
                       .block = {b[7], 1 + b[8] / 220u, 1},
                       .shared_bytes = b[9] < 250 ? b[9] * 4u : b[9] << 20,
                       .dst = address_of(known, b + 4),
                       .src = address_of(known, b + 6),
                       .bytes = size_of(b[8])};
    if (b[5] == 255) call.grid[0] = UINT32_MAX, call.grid[1] = UINT32_MAX;
    call_data(known, b, &call);
    return call;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SimDeviceOptions options = {.machine = "h200",
                                .gpus_directory = "common/simulator/gpus",
                                .threads = 1,
                                .checks = 1,
                                .instruction_limit = 20000};
    Error error = {""};
    Recording recording = {0};
    Known known = {{0}, 0};
    DeviceReply reply;
    DeviceCost cost;
    Device *engine = device_open_sim(&options, &error);
    Device *recorder = engine ? recorder_open(engine, &recording) : NULL;
    if (!recorder) abort();
    for (size_t i = 0; i < CALLS && (i + 1) * EACH <= size; i++) {
        DeviceCall call = call_make(&known, data + i * EACH);
        if (recorder->execute(recorder, &call, &reply) != 0) abort();
        if (!memchr(reply.message, 0, sizeof reply.message)) abort();
        if (call.kind == CALL_ALLOC && reply.status == 0)
            known.address[known.next++ % 4] = reply.value[0];
    }
    if (!recording.overflow) engine->replay(engine, &recording, 1, &cost, &error);
    engine->take_cost(engine, &cost);
    recorder->close(recorder);
    recording_clear(&recording, engine);
    engine->close(engine);
    return 0;
}
