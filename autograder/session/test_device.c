/* test_device.c - access control of the device process, on a fake engine in plain memory, with a
 * client that forges handles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/build/build.h"
#include "autograder/session/device_parts.h"
#include "common/operations/operation/verdict.h"
#include "common/cuda/wire.h"

/* ---- an engine of plain memory ------------------------------------------------------------ */

typedef struct Engine {
    Device device;
    uint32_t handles;
    uint32_t seen[64]; /* the kinds of call that reached the engine */
    int calls, live;
} Engine;

static int engine_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    Engine *engine = (Engine *)device;
    memset(reply, 0, sizeof *reply);
    if (engine->calls < 64) engine->seen[engine->calls++] = call->kind;
    switch (call->kind) {
    case CALL_ALLOC:
        reply->value[0] = (uint64_t)(uintptr_t)aligned_alloc(256, (call->bytes + 255) / 256 * 256);
        engine->live++;
        break;
    case CALL_FREE:
        free((void *)(uintptr_t)call->dst);
        engine->live--;
        break;
    case CALL_COPY_TO_DEVICE:
        memcpy((void *)(uintptr_t)call->dst, call->data, call->data_bytes);
        break;
    case CALL_COPY_TO_HOST:
        reply->data = (void *)(uintptr_t)call->src;
        reply->data_bytes = call->bytes;
        break;
    case CALL_MODULE_LOAD:
    case CALL_MODULE_FUNCTION:
    case CALL_STREAM_CREATE:
    case CALL_EVENT_CREATE:
        reply->value[0] = ++engine->handles;
        break;
    default:
        break;
    }
    return 0;
}

static int engine_poison(Device *device, uint64_t address, uint64_t bytes, uint32_t word,
                         Error *error)
{
    (void)device;
    (void)error;
    for (uint64_t i = 0; i < bytes / 4; i++)
        memcpy((char *)(uintptr_t)address + 4 * i, &word, 4);
    return 0;
}

static Engine engine_make(void)
{
    return (Engine){.device = {.execute = engine_execute, .poison = engine_poison}};
}

/* ---- the gatekeeper ----------------------------------------------------------------------- */

static DeviceReply ask(Gatekeeper *gatekeeper, Engine *engine, DeviceCall call)
{
    DeviceReply reply;
    assert_int_equal(gatekeeper_execute(gatekeeper, &engine->device, &call, &reply), 0);
    return reply;
}

/* The call is rejected with a message and does not reach the engine. */
static void refused(Gatekeeper *gatekeeper, Engine *engine, DeviceCall call)
{
    int before = engine->calls;
    DeviceReply reply = ask(gatekeeper, engine, call);
    assert_int_not_equal(reply.status, DEVICE_SUCCESS);
    assert_true(reply.message[0]);
    assert_int_equal(engine->calls, before);
}

static void test_gatekeeper_own_handles(void **state)
{
    Engine engine = engine_make();
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, "");
    (void)state;
    uint32_t module =
        (uint32_t)ask(gatekeeper, &engine, (DeviceCall){.kind = CALL_MODULE_LOAD}).value[0];
    uint32_t function = (uint32_t)ask(gatekeeper, &engine,
                                      (DeviceCall){.kind = CALL_MODULE_FUNCTION, .module = module})
                            .value[0];
    uint32_t stream =
        (uint32_t)ask(gatekeeper, &engine, (DeviceCall){.kind = CALL_STREAM_CREATE}).value[0];
    uint32_t event =
        (uint32_t)ask(gatekeeper, &engine, (DeviceCall){.kind = CALL_EVENT_CREATE}).value[0];
    DeviceCall launch = {.kind = CALL_LAUNCH, .function = function, .stream = stream};
    assert_int_equal(ask(gatekeeper, &engine, launch).status, DEVICE_SUCCESS);
    launch.stream = 0;
    assert_int_equal(ask(gatekeeper, &engine, launch).status, DEVICE_SUCCESS);
    DeviceCall record = {.kind = CALL_EVENT_RECORD, .event = event, .stream = stream};
    assert_int_equal(ask(gatekeeper, &engine, record).status, DEVICE_SUCCESS);
    ask(gatekeeper, &engine, (DeviceCall){.kind = CALL_EVENT_DESTROY, .event = event});
    refused(gatekeeper, &engine, record); /* destroyed: no longer its own */
    gatekeeper_close(gatekeeper, &engine.device);
}

static void test_gatekeeper_forged_handles(void **state)
{
    Engine engine = engine_make();
    Gatekeeper *owner = gatekeeper_open(1 << 20, ""), *thief = gatekeeper_open(1 << 20, "");
    (void)state;
    uint32_t module =
        (uint32_t)ask(owner, &engine, (DeviceCall){.kind = CALL_MODULE_LOAD}).value[0];
    uint32_t function =
        (uint32_t)ask(owner, &engine, (DeviceCall){.kind = CALL_MODULE_FUNCTION, .module = module})
            .value[0];
    uint32_t stream =
        (uint32_t)ask(owner, &engine, (DeviceCall){.kind = CALL_STREAM_CREATE}).value[0];
    uint64_t memory = ask(owner, &engine, (DeviceCall){.kind = CALL_ALLOC, .bytes = 64}).value[0];
    refused(thief, &engine, (DeviceCall){.kind = CALL_LAUNCH, .function = function});
    refused(thief, &engine, (DeviceCall){.kind = CALL_MODULE_FUNCTION, .module = module});
    refused(thief, &engine, (DeviceCall){.kind = CALL_MODULE_VARIABLE, .module = module});
    refused(thief, &engine, (DeviceCall){.kind = CALL_MODULE_UNLOAD, .module = module});
    refused(thief, &engine, (DeviceCall){.kind = CALL_FUNCTION_ATTRIBUTE, .function = function});
    refused(thief, &engine, (DeviceCall){.kind = CALL_STREAM_DESTROY, .stream = stream});
    refused(thief, &engine, (DeviceCall){.kind = CALL_COPY_ON_DEVICE, .stream = stream});
    refused(thief, &engine, (DeviceCall){.kind = CALL_FREE, .dst = memory});
    refused(thief, &engine, (DeviceCall){.kind = CALL_STREAM_DESTROY});
    refused(thief, &engine, (DeviceCall){.kind = CALL_KINDS + 7});
    refused(thief, &engine,
            (DeviceCall){.kind = CALL_COPY_TO_HOST, .src = memory, .bytes = 1ull << 62});
    gatekeeper_close(thief, &engine.device);
    assert_int_equal(engine.live, 1);
    gatekeeper_close(owner, &engine.device);
    assert_int_equal(engine.live, 0);
}

static void test_gatekeeper_tensor_maps(void **state)
{
    static const unsigned char request[sizeof(TensorMapRequest) + 1];
    Engine engine = engine_make();
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, "");
    (void)state;
    DeviceCall call = {.kind = CALL_TENSOR_MAP, .data = request, .data_bytes = sizeof request - 1};
    assert_int_equal(ask(gatekeeper, &engine, call).status, DEVICE_SUCCESS);
    call.data_bytes = sizeof request;
    refused(gatekeeper, &engine, call);
    call.data_bytes = 0;
    refused(gatekeeper, &engine, call);
    gatekeeper_close(gatekeeper, &engine.device);
}

static void test_gatekeeper_memory(void **state)
{
    Engine engine = engine_make();
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, "");
    (void)state;
    DeviceCall half = {.kind = CALL_ALLOC, .bytes = 1 << 19},
               huge = {.kind = CALL_ALLOC, .bytes = ~0ull};
    uint64_t first = ask(gatekeeper, &engine, half).value[0];
    ask(gatekeeper, &engine, half);
    refused(gatekeeper, &engine, half);
    refused(gatekeeper, &engine, huge);
    refused(gatekeeper, &engine,
            (DeviceCall){.kind = CALL_ALLOC, .bytes = 64, .value = ALLOC_MANAGED});
    /* The recorder defers a free: its bytes are available again only when the recording is cleared,
     * and until then each replay poisons the memory. */
    Recording recording = {0};
    Device *recorder = recorder_open(&engine.device, &recording);
    DeviceCall call = {.kind = CALL_FREE, .dst = first};
    DeviceReply reply;
    uint32_t *there = (uint32_t *)(uintptr_t)first;
    assert_int_equal(gatekeeper_execute(gatekeeper, recorder, &call, &reply), 0);
    assert_int_equal(reply.status, DEVICE_SUCCESS);
    there[7] = 1;
    assert_int_equal(gatekeeper_poison(gatekeeper, &engine.device, NULL), 0);
    assert_int_equal(there[7], OUTPUT_POISON);
    refused(gatekeeper, &engine, half);
    recording_clear(&recording, &engine.device);
    recorder->close(recorder);
    gatekeeper_settle(gatekeeper);
    assert_int_equal(ask(gatekeeper, &engine, half).status, DEVICE_SUCCESS);
    gatekeeper_close(gatekeeper, &engine.device);
    assert_int_equal(engine.live, 0);
}

/* With a digest, only the code of that digest is loaded. */
static void test_gatekeeper_code(void **state)
{
    static const char made[] = "what nvcc made", other[] = ".version 8.0";
    char digest[65];
    Engine engine = engine_make();
    (void)state;
    build_code_digest(made, sizeof made, digest);
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, digest);
    refused(gatekeeper, &engine,
            (DeviceCall){.kind = CALL_MODULE_LOAD, .data = other, .data_bytes = sizeof other});
    refused(gatekeeper, &engine,
            (DeviceCall){.kind = CALL_MODULE_LOAD, .data = made, .data_bytes = sizeof made - 1});
    refused(gatekeeper, &engine, (DeviceCall){.kind = CALL_MODULE_LOAD});
    DeviceCall load = {.kind = CALL_MODULE_LOAD, .data = made, .data_bytes = sizeof made};
    assert_int_equal(ask(gatekeeper, &engine, load).status, DEVICE_SUCCESS);
    gatekeeper_close(gatekeeper, &engine.device);
}

/* An attempt that fails counts as well, so that a digest is computed a few times at most; and no
 * call has more data than it can need. */
static void test_gatekeeper_unmetered(void **state)
{
    static const char made[] = "what nvcc made";
    static char large[(1 << 20) + 1];
    char digest[65];
    Engine engine = engine_make();
    (void)state;
    build_code_digest(made, sizeof made, digest);
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, digest);
    DeviceCall load = {.kind = CALL_MODULE_LOAD, .data = made, .data_bytes = sizeof made};
    uint32_t module = (uint32_t)ask(gatekeeper, &engine, load).value[0];
    DeviceCall name = {.kind = CALL_MODULE_FUNCTION,
                       .module = module,
                       .data = large,
                       .data_bytes = sizeof large - 1};
    assert_int_equal(ask(gatekeeper, &engine, name).status, DEVICE_SUCCESS);
    name.data_bytes++;
    refused(gatekeeper, &engine, name);
    refused(gatekeeper, &engine,
            (DeviceCall){.kind = CALL_SYNC, .data = large, .data_bytes = sizeof large});
    refused(
        gatekeeper, &engine,
        (DeviceCall){.kind = CALL_MODULE_LOAD, .data = made, .data_bytes = BUILD_FILE_BYTES + 1});
    for (int i = 0; i < 14; i++)
        refused(gatekeeper, &engine,
                (DeviceCall){.kind = CALL_MODULE_LOAD, .data = large, .data_bytes = 8});
    refused(gatekeeper, &engine, load);
    gatekeeper_close(gatekeeper, &engine.device);
}

static void test_gatekeeper_poison(void **state)
{
    Engine engine = engine_make();
    Gatekeeper *gatekeeper = gatekeeper_open(1 << 20, "");
    uint32_t word, poison = OUTPUT_POISON;
    (void)state;
    char *kept =
        (char *)(uintptr_t)ask(gatekeeper, &engine, (DeviceCall){.kind = CALL_ALLOC, .bytes = 40})
            .value[0];
    memset(kept, 1, 40);
    assert_int_equal(gatekeeper_poison(gatekeeper, &engine.device, NULL), 0);
    for (int i = 0; i < 10; i++) {
        memcpy(&word, kept + 4 * i, 4);
        assert_int_equal(word, poison);
    }
    gatekeeper_close(gatekeeper, &engine.device);
}

/* ---- the shared tensors ------------------------------------------------------------------- */

/* Two mappings of one memory; a descriptor of another size is rejected. */
static void test_shared_tensors(void **state)
{
    CallRequest call = {
        .tensors = 3, .role = {TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_INPUT}, .count = {10, 6, 3}};
    CallRequest larger = call;
    SharedTensors mine = {.fd = -1}, theirs, refused;
    Error error;
    (void)state;
    larger.count[2] = 17;
    assert_int_equal(call_floats(&call, TENSOR_INPUT), 13);
    assert_int_equal(call_floats(&call, TENSOR_OUTPUT), 6);
    assert_int_equal(shared_open(&mine, &call, &error), 0);
    assert_int_equal(shared_attach(&theirs, dup(mine.fd), &call, &error), 0);
    assert_null(theirs.input[1]);
    for (int i = 0; i < 10; i++)
        mine.input[0][i] = (float)i;
    for (int i = 0; i < 3; i++)
        mine.input[2][i] = (float)(20 + i);
    for (int i = 0; i < 6; i++)
        theirs.output[i] = (float)(30 + i);
    assert_true(theirs.input[0][9] == 9 && theirs.input[2][0] == 20 && theirs.input[2][2] == 22);
    assert_true(mine.output[0] == 30 && mine.output[5] == 35);
    assert_int_equal(shared_attach(&refused, dup(mine.fd), &larger, &error), -1);
    assert_null(refused.memory);
    shared_close(&theirs);
    /* The next problem's tensors reuse the memory if they fit, else they get new memory. */
    void *place = mine.memory;
    assert_int_equal(shared_open(&mine, &call, &error), 0);
    assert_ptr_equal(mine.memory, place);
    assert_int_equal(shared_open(&mine, &larger, &error), 0);
    assert_int_equal(shared_attach(&theirs, dup(mine.fd), &larger, &error), 0);
    shared_close(&theirs);
    shared_close(&mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gatekeeper_own_handles),
        cmocka_unit_test(test_gatekeeper_forged_handles),
        cmocka_unit_test(test_gatekeeper_tensor_maps),
        cmocka_unit_test(test_gatekeeper_memory),
        cmocka_unit_test(test_gatekeeper_code),
        cmocka_unit_test(test_gatekeeper_unmetered),
        cmocka_unit_test(test_gatekeeper_poison),
        cmocka_unit_test(test_shared_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
