/* test_sim_memory.c - out of memory on the host: if the cycles of a launch cannot be computed
 * later, the next call reports it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cuda/recording.h"
#include "common/cuda/sim/sim_device.h"

static int fails; /* Boolean: every allocation fails from now on */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return fails ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return fails ? NULL : __real_realloc(old, bytes);
}

static int32_t ask(Device *device, DeviceCall call, DeviceReply *reply)
{
    assert_int_equal(device->execute(device, &call, reply), 0);
    return reply->status;
}

/* A device with a launch whose cycles are not computed yet; with one host thread they would be. */
static Device *launched(void)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k()\n{\n.reg .b32 %r<3>;\n"
                               "mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, %r1;\nret;\n}\n";
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 2};
    Error error = {""};
    DeviceReply reply;
    Device *device = device_open_sim(&options, &error);
    if (!device) fail_msg("%s", error.text);
    DeviceCall load = {.kind = CALL_MODULE_LOAD, .data = (void *)text, .data_bytes = sizeof text},
               find = {.kind = CALL_MODULE_FUNCTION, .data = (void *)"k", .data_bytes = 2},
               launch = {.kind = CALL_LAUNCH, .grid = {4, 1, 1}, .block = {32, 1, 1}};
    assert_int_equal(ask(device, load, &reply), DEVICE_SUCCESS);
    find.module = (uint32_t)reply.value[0];
    assert_int_equal(ask(device, find, &reply), DEVICE_SUCCESS);
    launch.function = (uint32_t)reply.value[0];
    assert_int_equal(ask(device, launch, &reply), DEVICE_SUCCESS);
    return device;
}

static void the_next_call_reports_lost_memory(void **state)
{
    const DeviceCall sync = {.kind = CALL_SYNC};
    (void)state;
    for (fails = 0; fails < 2; fails++) {
        int failing = fails;
        DeviceReply reply;
        DeviceCost cost;
        fails = 0;
        Device *device = launched();
        fails = failing;
        device->take_cost(device, &cost);
        fails = 0;
        assert_int_equal(cost.launches, !failing);
        assert_int_equal(cost.cycles > 0, !failing);
        assert_int_equal(ask(device, sync, &reply),
                         failing ? DEVICE_OUT_OF_MEMORY : DEVICE_SUCCESS);
        if (failing) assert_non_null(strstr(reply.message, "k: out of host memory"));
        assert_int_equal(ask(device, sync, &reply), DEVICE_SUCCESS);
        device->close(device);
        fails = failing;
    }
    fails = 0;
}

static void a_replay_reports_memory_lost_before_it(void **state)
{
    (void)state;
    Recording recording = {0};
    DeviceCost cost;
    DeviceReply reply;
    Error error = {""};
    Device *device = launched(), *recorder = recorder_open(device, &recording);
    fails = 1;
    assert_int_equal(device->replay(device, &recording, 1, &cost, &error), -1);
    fails = 0;
    assert_non_null(strstr(error.text, "k: out of host memory"));
    assert_int_equal(ask(device, (DeviceCall){.kind = CALL_SYNC}, &reply), DEVICE_SUCCESS);
    recorder->close(recorder);
    recording_clear(&recording, device);
    device->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_call_reports_lost_memory),
        cmocka_unit_test(a_replay_reports_memory_lost_before_it),
    };
    return cmocka_run_group_tests_name("no memory for cycles", tests, NULL, NULL);
}
