/* The gpu engine with a fake driver that records its calls: forwarded and rejected calls, errors,
 * and the graph of a recording. test_gpu_hardware uses a real GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"
#include "common/cuda/gpu/test_driver.h"
#include "common/cuda/recording.h"

/* ---- calls of the engine ---- */

static GpuDriver driver;
static Device *device;
static DeviceReply reply;

static int device_setup(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    first_event = NULL;
    driver = fake_driver();
    Error error;
    device = gpu_device_open_with(&driver, 0, &error);
    return device ? 0 : -1;
}

static int device_teardown(void **state)
{
    (void)state;
    device->close(device);
    return fake.live_contexts;
}

static int32_t ask(Device *to, DeviceCall call)
{
    assert_int_equal(to->execute(to, &call, &reply), 0);
    return reply.status;
}

#define ASK(...)       ask(device, (DeviceCall){__VA_ARGS__})
#define ASK_OK(...)    assert_int_equal(ASK(__VA_ARGS__), 0)
#define MESSAGE(words) assert_non_null(strstr(reply.message, words))

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .b8 table[12];\n"
                          ".visible .global .align 4 .b8 unused[12];\n"
                          ".visible .entry _Z1fPfcd(.param .u64 a, .param .u8 b,\n"
                          ".param .align 8 .b8 c[24], .param .f32 d) { ret; }\n";

static uint32_t module_load(void)
{
    ASK_OK(.kind = CALL_MODULE_LOAD, .data = ptx, .data_bytes = sizeof ptx);
    return (uint32_t)reply.value[0];
}

static uint32_t function_get(void)
{
    uint32_t module = module_load();
    ASK_OK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = "_Z1fPfcd", .data_bytes = 9);
    return (uint32_t)reply.value[0];
}

/* ---- tests ---- */

static void a_missing_driver_is_reported_in_one_line(void **state)
{
    (void)state;
    Error error;
    Device *real = device_open_gpu(99, &error);
    assert_null(real); /* with a driver: there is no GPU number 99 */
    assert_null(strchr(error.text, '\n'));
    if (!dlopen("libcuda.so.1", RTLD_NOW))
        assert_non_null(strstr(error.text, "libcuda.so.1 does not load): use ENGINE=sim"));
    GpuDriver none;
    assert_int_equal(gpu_driver_bind(&none, dlopen(NULL, RTLD_NOW), &error), -1);
    assert_non_null(strstr(error.text, "has no cuInit: update it"));
    assert_null(gpu_device_open_with(&driver, 1, &error));
    assert_non_null(strstr(error.text, "no GPU number 1: this machine has 1"));
}

static void memory_outside_allocations_is_refused(void **state)
{
    (void)state;
    char here[8] = "";
    ASK_OK(.kind = CALL_ALLOC, .bytes = 1000);
    uint64_t a = reply.value[0];
    ASK_OK(.kind = CALL_FILL, .dst = a + 999, .bytes = 1);
    assert_int_equal(ASK(.kind = CALL_FILL, .dst = a + 999, .bytes = 2), 1);
    MESSAGE("pass the end of the allocation of 1000 bytes");
    assert_int_equal(ASK(.kind = CALL_COPY_TO_HOST, .src = a, .bytes = UINT64_MAX), 1);
    assert_int_equal(
        ASK(.kind = CALL_COPY_TO_DEVICE, .dst = (uintptr_t)here, .data = "x", .data_bytes = 1), 1);
    MESSAGE("not an address of allocated device memory");
    assert_int_equal(ASK(.kind = CALL_COPY_ON_DEVICE, .dst = a, .src = 16, .bytes = 4), 1);
    ASK_OK(.kind = CALL_COPY_ON_DEVICE, .dst = 1, .src = 1, .bytes = 0);
    uint32_t module = module_load();
    ASK_OK(.kind = CALL_MODULE_VARIABLE, .module = module, .data = "table", .data_bytes = 6);
    uint64_t table = reply.value[0];
    ASK_OK(.kind = CALL_FILL, .dst = table + 4, .bytes = 8);
    assert_int_equal(ASK(.kind = CALL_FILL, .dst = table + 4, .bytes = 9), 1);
    ASK_OK(.kind = CALL_MODULE_UNLOAD, .module = module);
    assert_int_equal(ASK(.kind = CALL_FILL, .dst = table, .bytes = 8), 1);
    ASK_OK(.kind = CALL_FREE, .dst = 0);
    ASK_OK(.kind = CALL_FREE, .dst = a);
    assert_int_equal(ASK(.kind = CALL_FREE, .dst = a), 1);
    assert_int_equal(ASK(.kind = CALL_ALLOC, .bytes = 1ull << 40), 2);
    MESSAGE("cudaMalloc of 1099511627776 bytes: REFUSED");
    assert_int_equal(fake.free_calls, 1);
}

static void poison_fills_every_byte(void **state)
{
    (void)state;
    Error error;
    ASK_OK(.kind = CALL_ALLOC, .bytes = 103);
    uint64_t a = reply.value[0];
    assert_int_equal(device->poison(device, a, 103, 0x7fc00000, &error), 0);
    assert_int_equal(fake.filled_words, 25);
    assert_int_equal(fake.filled_bytes, 3);
    assert_int_equal(device->poison(device, a, 104, 0x7fc00000, &error), -1);
    assert_non_null(strstr(error.text, "pass the end"));
}

/* The driver knows one of the module's two variables. */
static void variables_are_reset_to_their_initial_values(void **state)
{
    (void)state;
    Error error;
    strcpy((char *)fake.variable, "at first");
    uint32_t module = module_load();
    strcpy((char *)fake.variable, "later");
    assert_int_equal(device->restore(device, &error), 0);
    assert_string_equal((char *)fake.variable, "at first");
    ASK_OK(.kind = CALL_MODULE_UNLOAD, .module = module);
    strcpy((char *)fake.variable, "another's");
    assert_int_equal(device->restore(device, &error), 0);
    assert_string_equal((char *)fake.variable, "another's");
}

static void stale_handles_are_caught(void **state)
{
    (void)state;
    uint32_t f = function_get();
    ASK_OK(.kind = CALL_STREAM_CREATE);
    uint32_t stream = (uint32_t)reply.value[0];
    assert_int_not_equal(stream, f);
    ASK_OK(.kind = CALL_EVENT_CREATE);
    uint32_t event = (uint32_t)reply.value[0];
    ASK_OK(.kind = CALL_EVENT_RECORD, .event = event, .stream = stream);
    assert_int_equal(ASK(.kind = CALL_EVENT_RECORD, .event = stream, .stream = stream), 400);
    assert_int_equal(ASK(.kind = CALL_EVENT_RECORD, .event = event, .stream = f), 400);
    assert_int_equal(ASK(.kind = CALL_STREAM_DESTROY), 400); /* the default stream */
    ASK_OK(.kind = CALL_STREAM_DESTROY, .stream = stream);
    assert_int_equal(ASK(.kind = CALL_STREAM_SYNC, .stream = stream), 400);
    ASK_OK(.kind = CALL_STREAM_CREATE);
    assert_int_not_equal(reply.value[0], stream); /* numbers are not reused */
    assert_int_equal(ASK(.kind = CALL_LAUNCH, .function = UINT32_MAX), 400);
    assert_int_equal(ASK(.kind = CALL_MODULE_UNLOAD, .module = f), 400);
    assert_int_equal(ASK(.kind = CALL_STREAM_CREATE, .value = 7), 1);
    assert_int_equal(ASK(.kind = CALL_EVENT_CREATE, .value = 4), 1);
    assert_int_equal(ASK(.kind = CALL_KINDS), 1);
    assert_int_equal(ASK(.kind = UINT32_MAX), 1);
}

static void tensor_maps_are_the_drivers_own(void **state)
{
    (void)state;
    ASK_OK(.kind = CALL_ALLOC, .bytes = 4096);
    TensorMapRequest r = {.kind = TENSOR_MAP_TILED, .type = 7, .rank = 3, .box = {1, 50, 2}};
    r.address = reply.value[0] + 16;
    ASK_OK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = sizeof r);
    assert_int_equal(reply.data_bytes, TENSOR_MAP_BYTES);
    assert_int_equal(((unsigned char *)reply.data)[127], 57);
    assert_int_equal(fake.map_pixels, -1);
    r.kind = TENSOR_MAP_IM2COL, r.channels = 40, r.pixels = 600, r.lower[1] = -3, r.upper[0] = -2;
    r.swizzle = 3, r.fill = 1;
    ASK_OK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = sizeof r);
    assert_int_equal(((unsigned char *)reply.data)[0], 7 + 3 - 3 - 2 + 40 + 3 + 1);
    assert_int_equal(fake.map_pixels, 600);
    assert_int_equal(ASK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = 8), 1);
    r.address += 1 << 20;
    assert_int_equal(ASK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = sizeof r), 1);
    MESSAGE("not an address of allocated device memory");
    assert_null(reply.data);
    r.address -= 1 << 20, r.kind = TENSOR_MAP_TILED, r.rank = 9;
    assert_int_equal(ASK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = sizeof r), 1);
    MESSAGE("tensor map of rank 9");
    driver.tensor_im2col = NULL; /* a driver before CUDA 12 */
    assert_int_equal(ASK(.kind = CALL_TENSOR_MAP, .data = &r, .data_bytes = sizeof r), 801);
}

static void limits_are_the_drivers(void **state)
{
    (void)state;
    ASK_OK(.kind = CALL_LIMIT, .value = DEVICE_LIMIT_STACK, .bytes = 5000);
    assert_int_equal(reply.value[0], 5008);
    ASK_OK(.kind = CALL_LIMIT, .value = DEVICE_LIMIT_HEAP, .bytes = 5000);
    assert_int_equal(reply.value[0], 5000);
    assert_int_equal(ASK(.kind = CALL_LIMIT, .value = 1, .bytes = 1), 1);
    MESSAGE("cudaDeviceSetLimit(1, 1)");
}

static void layouts_come_from_driver_or_ptx(void **state)
{
    (void)state;
    function_get();
    const FunctionInfo *info = reply.data;
    assert_int_equal(info->param_count, 3);
    assert_int_equal(info->param_offset[2], 16);
    assert_int_equal(info->params_bytes, 24);
    assert_int_equal(info->registers, 40);
    driver.function_param = NULL; /* a driver before 12.4 */
    uint32_t module = module_load();
    ASK_OK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = "_Z1fPfcd", .data_bytes = 9);
    info = reply.data;
    const uint32_t offset[] = {0, 8, 16, 40}, bytes[] = {8, 1, 24, 4};
    assert_int_equal(info->param_count, 4);
    assert_memory_equal(info->param_offset, offset, sizeof offset);
    assert_memory_equal(info->param_bytes, bytes, sizeof bytes);
    assert_int_equal(info->params_bytes, 44);
    uint64_t first = reply.value[0];
    ASK_OK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = "_Z1fPfcd", .data_bytes = 9);
    assert_int_equal(reply.value[0], first);
    assert_int_equal(
        ASK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = "absent", .data_bytes = 7), 98);
    assert_int_equal(
        ASK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = "unended", .data_bytes = 3),
        400);
}

static void images_are_held_against_their_headers(void **state)
{
    (void)state;
    unsigned char image[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 48};
    assert_int_equal(ASK(.kind = CALL_MODULE_LOAD, .data = image, .data_bytes = 64), 200);
    assert_null(strstr(reply.message, "cut off")); /* complete according to its header, but empty */
    assert_int_equal(ASK(.kind = CALL_MODULE_LOAD, .data = image, .data_bytes = 63), 200);
    MESSAGE("cut off");
    assert_int_equal(ASK(.kind = CALL_MODULE_LOAD, .data = image, .data_bytes = 3), 200);
    assert_int_equal(ASK(.kind = CALL_MODULE_LOAD), 200);
    fake.next_load = 218;
    assert_int_equal(ASK(.kind = CALL_MODULE_LOAD, .data = ptx, .data_bytes = sizeof ptx), 218);
    MESSAGE("line 4: what is this: REFUSED (REFUSED)");
    fake.next_load = 0;
}

/* Every process of a program loads the same image: it is copied and parsed once, and cached.  Only
 * the last few other images are cached. */
static void an_image_is_read_once(void **state)
{
    (void)state;
    GpuDevice *gpu = (GpuDevice *)device;
    char other[sizeof ptx];
    uint32_t first = module_load(), second = module_load();
    GpuImage *image = gpu->image[0];
    assert_int_equal(image->users, 2);
    assert_null(gpu->image[1]);
    ASK_OK(.kind = CALL_MODULE_UNLOAD, .module = first);
    ASK_OK(.kind = CALL_MODULE_UNLOAD, .module = second);
    assert_int_equal(image->users, 0);
    first = module_load();
    assert_ptr_equal(gpu->image[0], image);
    assert_int_equal(image->users, 1);
    for (int i = 0; i < 2 * GPU_IMAGES; i++) {
        memcpy(other, ptx, sizeof ptx);
        memset(other + sizeof other - 1, 0, 1);
        other[sizeof other - 2] = (char)('0' + i); /* changes the last line's end */
        other[sizeof other - 3] = '/', other[sizeof other - 4] = '/';
        ASK(.kind = CALL_MODULE_LOAD, .data = other, .data_bytes = sizeof other);
    }
    assert_ptr_equal(gpu->image[0], image); /* in use, so it is not replaced */
}

static void launches_are_checked_and_counted(void **state)
{
    (void)state;
    uint32_t f = function_get();
    char block[24] = "";
    DeviceCall launch = {.kind = CALL_LAUNCH,
                         .function = f,
                         .grid = {3, 2, 1},
                         .block = {32, 4, 1},
                         .data = block,
                         .data_bytes = 24};
    DeviceCall bad = launch;
    bad.block[2] = 9; /* 1152 threads */
    assert_int_equal(ask(device, bad), 9);
    MESSAGE("kernel f: a block of 32 x 4 x 9 = 1152 threads, at most 1024");
    bad.block[0] = bad.block[1] = bad.block[2] = 2048; /* the number of threads exceeds 32 bits */
    assert_int_equal(ask(device, bad), 9);
    bad = launch;
    bad.grid[1] = 0;
    assert_int_equal(ask(device, bad), 9);
    bad = launch;
    bad.data_bytes = 23;
    assert_int_equal(ask(device, bad), 1);
    bad = launch;
    bad.block[1] = 21; /* 672 threads, more than the registers allow */
    assert_int_equal(ask(device, bad), 701);
    MESSAGE("40 registers a thread can run 640 threads a block, the launch asks for 672");
    DeviceCost cost;
    device->take_cost(device, &cost);
    assert_int_equal(cost.launches, 0);
    assert_int_equal(ask(device, launch), 0);
    launch.grid[0] = 5;
    assert_int_equal(ask(device, launch), 0);
    launch.grid[0] = 1;
    assert_int_equal(ask(device, launch), 0);
    device->take_cost(device, &cost);
    assert_int_equal(cost.launches, 3);
    assert_int_equal(cost.blocks, 6 + 10 + 2);
    assert_int_equal(cost.threads, 18 * 128);
    assert_int_equal(cost.grid[0], 5);
    assert_int_equal(cost.resident_blocks, 16);
    assert_int_equal(cost.registers, 40);
    device->take_cost(device, &cost);
    assert_int_equal(cost.launches, 0);
}

static void clusters_and_cooperation_are_attributes(void **state)
{
    (void)state;
    char block[24] = "";
    DeviceCall launch = {.kind = CALL_LAUNCH,
                         .function = function_get(),
                         .grid = {8, 2, 1},
                         .block = {32, 1, 1},
                         .data = block,
                         .data_bytes = 24};
    assert_int_equal(ask(device, launch), 0);
    assert_int_equal(fake.launched.attributes, 0);
    launch.value = (4u | 2u << 8 | 1u << 16) << LAUNCH_CLUSTER | LAUNCH_TOGETHER;
    assert_int_equal(ask(device, launch), 0);
    assert_int_equal(fake.launched.attributes, 2);
    assert_int_equal(fake.attribute[0].id, DRIVER_COOPERATIVE);
    assert_int_equal(fake.attribute[0].value.cooperative, 1);
    assert_int_equal(fake.attribute[1].id, DRIVER_CLUSTER);
    for (int k = 0; k < 3; k++)
        assert_int_equal(fake.attribute[1].value.cluster[k], ((int[]){4, 2, 1})[k]);
}

static void a_fault_names_the_kernel_and_sticks(void **state)
{
    (void)state;
    Error error;
    char block[24] = "";
    uint32_t f = function_get();
    ASK_OK(.kind = CALL_LAUNCH, .function = f, .grid = {3, 2, 1}, .block = {32, 1, 1},
           .data = block, .data_bytes = 24);
    fake.next_sync = 700;
    assert_int_equal(ASK(.kind = CALL_SYNC), 700);
    MESSAGE("kernel f<<<(3,2,1),(32,1,1)>>>: ILLEGAL");
    MESSAGE("context is lost");
    fake.next_sync = 0;
    assert_int_equal(ASK(.kind = CALL_ALLOC, .bytes = 4), 700);
    MESSAGE("was lost before (kernel f");
    ASK_OK(.kind = CALL_PROPERTIES);
    Recording recording = {0};
    DeviceCost cost;
    assert_int_equal(device->replay(device, &recording, 1, &cost, &error), -1);
    assert_int_equal(device->poison(device, BASE, 4, 0, &error), -1);
}

static void only_sticky_errors_stick(void **state)
{
    (void)state;
    fake.next_sync = 202; /* a number that the runtime does not have */
    assert_int_equal(ASK(.kind = CALL_SYNC), 999);
    fake.next_sync = 0;
    ASK_OK(.kind = CALL_SYNC);
    const int sticky[] = {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};
    int count = 0;
    for (int status = 0; status < 1000; status++)
        count += gpu_is_sticky(status);
    assert_int_equal(count, sizeof sticky / sizeof *sticky);
    for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
        assert_true(gpu_is_sticky(sticky[i]));
}

/* ---- replay ---- */

typedef struct Taped {
    Recording recording;
    uint64_t a;
    uint32_t module;
} Taped;

/* copy in, fill (whole words), kernel, fill (odd bytes), kernel in a stream that waits for an
 * event, copy on the device, copy out */
static Taped tape(void)
{
    Taped t = {0};
    char block[24] = "parameters";
    uint32_t f = function_get();
    t.module = f - 1;
    ASK_OK(.kind = CALL_ALLOC, .bytes = 4096);
    t.a = reply.value[0];
    ASK_OK(.kind = CALL_STREAM_CREATE, .value = 1);
    uint32_t stream = (uint32_t)reply.value[0];
    ASK_OK(.kind = CALL_EVENT_CREATE);
    uint32_t event = (uint32_t)reply.value[0];
    Device *engine = device;
    device = recorder_open(engine, &t.recording);
    ASK_OK(.kind = CALL_COPY_TO_DEVICE, .dst = t.a, .data = "sent", .data_bytes = 5);
    ASK_OK(.kind = CALL_FILL, .dst = t.a, .value = 7, .bytes = 400);
    ASK_OK(.kind = CALL_LAUNCH, .function = f, .grid = {2, 1, 1}, .block = {32, 1, 1},
           .data = block, .data_bytes = 24);
    ASK_OK(.kind = CALL_FILL, .dst = t.a + 1, .value = 7, .bytes = 400);
    ASK_OK(.kind = CALL_EVENT_RECORD, .event = event);
    ASK_OK(.kind = CALL_STREAM_WAIT, .event = event, .stream = stream);
    ASK_OK(.kind = CALL_LAUNCH, .function = f, .grid = {1, 1, 1}, .block = {32, 1, 1},
           .stream = stream, .data = block, .data_bytes = 24,
           .value = (1u | 1u << 8 | 1u << 16) << LAUNCH_CLUSTER);
    ASK_OK(.kind = CALL_COPY_ON_DEVICE, .dst = t.a, .src = t.a + 1024, .bytes = 100,
           .stream = stream);
    ASK_OK(.kind = CALL_COPY_TO_HOST, .src = t.a, .bytes = 300, .stream = stream);
    device->close(device);
    device = engine;
    memset(block, 0, sizeof block);
    return t;
}

static void a_recording_becomes_a_graph(void **state)
{
    (void)state;
    Taped t = tape();
    DeviceCost cost;
    Error error;
    assert_int_equal(device->replay(device, &t.recording, 1, &cost, &error), 0);
    fake.node[fake.nodes] = 0;
    assert_string_equal(fake.node, "CFKFKCC");
    const char *waits[] = {"", "0", "1", "2", "3", "4", "5"};
    for (int i = 0; i < 7; i++)
        assert_string_equal(fake.waits[i], waits[i]);
    assert_string_equal(fake.sent[0], "sent");
    assert_int_equal(fake.copy[0].source.memory_type, DRIVER_MEMORY_HOST);
    assert_int_equal(fake.copy[0].destination.device, t.a);
    assert_int_equal(fake.copy[0].width_bytes, 5);
    assert_int_equal(fake.fill[1].element_bytes, 4);
    assert_int_equal(fake.fill[1].value, 0x07070707);
    assert_int_equal(fake.fill[1].width, 100);
    assert_string_equal(fake.sent[2], "parameters");
    assert_int_equal(fake.attribute[0].id, DRIVER_CLUSTER);
    assert_int_equal(fake.attribute[0].value.cluster[2], 1);
    assert_int_equal(fake.fill[3].element_bytes, 1);
    assert_int_equal(fake.fill[3].width, 400);
    assert_int_equal(fake.copy[5].source.device, t.a + 1024);
    assert_int_equal(fake.copy[5].destination.device, t.a);
    assert_int_equal(fake.copy[6].destination.memory_type, DRIVER_MEMORY_HOST);
    assert_non_null(fake.copy[6].destination.host);
    assert_int_equal(cost.launches, 2);
    assert_int_equal(cost.threads, 96);
    assert_int_equal(cost.grid[0], 2);
    assert_int_equal(device->replay(device, &t.recording, 1, &cost, &error), 0);
    assert_int_equal(fake.nodes, 7); /* the graph was kept */
    recording_clear(&t.recording, device);
}

static void flushes_lie_outside_the_timed_intervals(void **state)
{
    (void)state;
    Taped t = tape();
    DeviceCost cost;
    Error error;
    float elapsed[20];
    for (int i = 0; i < 20; i++)
        elapsed[i] = i == 7 ? 90 : i == 9 ? 0.001f : i < 10 ? 2 : 4;
    fake.elapsed = elapsed;
    memset(fake.log, 0, sizeof fake.log);
    fake.logged = 0;
    first_event = NULL;
    assert_int_equal(device->replay(device, &t.recording, 20, &cost, &error), 0);
    assert_int_equal(strlen(fake.log), 20 * 4); /* no additional run */
    for (int i = 0; i < 20; i++)
        assert_memory_equal(fake.log + 4 * i, "F<G>", 4);
    /* 8 of 2 ms, 10 of 4, one of 90, one of 0: without two at either end 7 and 9 remain */
    assert_true(fabs(cost.seconds - 50e-3 / 16) < 1e-9);
    fake.elapsed = NULL;
    assert_int_equal(device->replay(device, &t.recording, 600, &cost, &error), 0);
    assert_true(fabs(cost.seconds - 1e-3) < 1e-9);
    recording_clear(&t.recording, device);
}

static void unreplayable_recordings_report_the_reason(void **state)
{
    (void)state;
    Taped t = tape();
    DeviceCost cost;
    Error error;
    assert_int_equal(device->replay(device, &t.recording, 0, &cost, &error), -1);
    assert_int_equal(device->replay(device, &t.recording, 1, &cost, &error), 0);
    ASK_OK(.kind = CALL_MODULE_UNLOAD, .module = t.module);
    assert_int_equal(device->replay(device, &t.recording, 1, &cost, &error), -1);
    assert_non_null(strstr(error.text, "unloaded since"));
    t.recording.overflow = 1;
    strcpy(t.recording.why, "too much");
    assert_int_equal(device->replay(device, &t.recording, 1, &cost, &error), -1);
    assert_non_null(strstr(error.text, "too much"));
    recording_clear(&t.recording, device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, device_setup, device_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_driver_is_reported_in_one_line),
        TEST(memory_outside_allocations_is_refused),
        TEST(poison_fills_every_byte),
        TEST(variables_are_reset_to_their_initial_values),
        TEST(tensor_maps_are_the_drivers_own),
        TEST(stale_handles_are_caught),
        TEST(limits_are_the_drivers),
        TEST(clusters_and_cooperation_are_attributes),
        TEST(layouts_come_from_driver_or_ptx),
        TEST(images_are_held_against_their_headers),
        TEST(an_image_is_read_once),
        TEST(launches_are_checked_and_counted),
        TEST(a_fault_names_the_kernel_and_sticks),
        TEST(only_sticky_errors_stick),
        TEST(a_recording_becomes_a_graph),
        TEST(flushes_lie_outside_the_timed_intervals),
        TEST(unreplayable_recordings_report_the_reason),
    };
    return cmocka_run_group_tests_name("cuda/gpu_device", tests, NULL, NULL);
}
