/* test_gpu_hardware - the gpu engine on a real GPU; skipped if there is none.
 *
 *   test_gpu_hardware [FATBIN]    FATBIN: also loads this fat binary, which has a kernel `add` */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cuda/gpu/gpu_ceilings.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/recording.h"

/* A test continues after a failed check, so that one run on a GPU reports as much as possible. */
static int failures;

static void settle(void)
{
    int failed = failures;
    failures = 0;
    if (failed) fail_msg("%d checks failed", failed);
}

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAILED line %d: %s: ", __LINE__, #condition);                                  \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

/* add: y[i] = a[i] + b[i] * scale.  spin: waits for `ns` nanoseconds, then y[0] += 1.  wild: writes
 * to an unmapped address. mixed: only a parameter list. */
static const char test_ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .const .align 4 .f32 scale = 0f3F800000;\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 y, .param .u32 n) {\n"
    ".reg .b64 %d<8>; .reg .b32 %r<8>; .reg .f32 %f<5>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [y];\n"
    "ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p1, %r5, %r1; @%p1 bra done;\n"
    "mul.wide.u32 %d4, %r5, 4; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4;\n"
    "add.u64 %d3, %d3, %d4; ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2];\n"
    "ld.const.f32 %f3, [scale]; fma.rn.f32 %f4, %f2, %f3, %f1; st.global.f32 [%d3], %f4;\n"
    "done: ret; }\n"
    ".visible .entry spin(.param .u64 y, .param .u64 ns) {\n"
    ".reg .b64 %d<6>; .reg .f32 %f<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [y]; ld.param.u64 %d2, [ns]; mov.u64 %d3, %globaltimer;\n"
    "again: mov.u64 %d4, %globaltimer; sub.u64 %d5, %d4, %d3; setp.lt.u64 %p1, %d5, %d2;\n"
    "@%p1 bra again;\n"
    "ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, 0f3F800000; st.global.f32 [%d1], %f1; ret; }\n"
    ".visible .entry _Z4wildPf(.param .u64 y) {\n"
    ".reg .b64 %d<2>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %d1, [y]; mov.u32 %r1, 1; st.global.u32 [%d1+-4096], %r1; ret; }\n"
    ".visible .entry mixed(.param .u8 flag, .param .align 8 .b8 shape[24], .param .u32 count,\n"
    ".param .u64 out, .param .f32 last) { ret; }\n";

/* Each block stores the number of blocks in its cluster. */
static const char cluster_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry size(.param .u64 y) {\n"
    ".reg .b64 %d<3>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %d1, [y]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_nctaid.x;\n"
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret; }\n";

static const char broken_ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n.entry f() { nonsense; }\n";

static DeviceReply reply;

static int32_t ask(Device *device, DeviceCall call)
{
    device->execute(device, &call, &reply);
    return reply.status;
}

static int32_t expect_ok(Device *device, DeviceCall call, int line)
{
    int32_t status = ask(device, call);
    if (status) {
        failures++;
        printf("FAILED line %d: call %u gave %d: %s\n", line, call.kind, status, reply.message);
    }
    return status;
}

#define OK(...) expect_ok(device, (DeviceCall){__VA_ARGS__}, __LINE__)

static void refused(Device *device, DeviceCall call, int32_t status, const char *words, int line)
{
    int32_t got = ask(device, call);
    if (got == status && strstr(reply.message, words)) {
        printf("  %3d %s\n", got, reply.message);
        return;
    }
    failures++;
    printf("FAILED line %d: status %d instead of %d, \"%s\" lacks \"%s\"\n", line, got, status,
           reply.message, words);
}

#define REFUSED(status, words, ...)                                                                \
    refused(device, (DeviceCall){__VA_ARGS__}, status, words, __LINE__)

typedef struct Kernels {
    uint32_t module, add, spin, wild, mixed;
} Kernels;

static uint32_t function_find(Device *device, uint32_t module, const char *name)
{
    OK(.kind = CALL_MODULE_FUNCTION, .module = module, .data = name,
       .data_bytes = strlen(name) + 1);
    return (uint32_t)reply.value[0];
}

static Kernels kernels_load(Device *device)
{
    Kernels k = {0};
    OK(.kind = CALL_MODULE_LOAD, .data = test_ptx, .data_bytes = sizeof test_ptx);
    k.module = (uint32_t)reply.value[0];
    k.add = function_find(device, k.module, "add");
    k.spin = function_find(device, k.module, "spin");
    k.wild = function_find(device, k.module, "_Z4wildPf");
    k.mixed = function_find(device, k.module, "mixed");
    return k;
}

static uint64_t alloc(Device *device, uint64_t bytes)
{
    OK(.kind = CALL_ALLOC, .bytes = bytes);
    CHECK(reply.value[0] && reply.value[0] % 256 == 0, "address 0x%llx",
          (unsigned long long)reply.value[0]);
    return reply.value[0];
}

typedef struct AddParams {
    uint64_t a, b, y;
    uint32_t n;
} AddParams;

enum { ADD_BYTES = 28, SPIN_BYTES = 16 };

static void launch_add(Device *device, uint32_t function, uint32_t stream, uint64_t a, uint64_t b,
                       uint64_t y, uint32_t n)
{
    AddParams p = {a, b, y, n};
    OK(.kind = CALL_LAUNCH, .function = function, .stream = stream, .grid = {(n + 255) / 256, 1, 1},
       .block = {256, 1, 1}, .data = &p, .data_bytes = ADD_BYTES);
}

static void launch_spin(Device *device, uint32_t function, uint32_t stream, uint64_t y, uint64_t ns)
{
    uint64_t p[2] = {y, ns};
    OK(.kind = CALL_LAUNCH, .function = function, .stream = stream, .grid = {1, 1, 1},
       .block = {1, 1, 1}, .data = p, .data_bytes = SPIN_BYTES);
}

static float *floats_read(Device *device, uint64_t address, uint32_t n)
{
    OK(.kind = CALL_COPY_TO_HOST, .src = address, .bytes = 4ull * n);
    return reply.data;
}

/* ---- a fault, in a process of its own, before the parent touches the driver ---- */

enum { FAULT_TOLD, FAULT_NOT_TOLD, FAULT_NO_CARD };

static int fault_in_child(void)
{
    Error error;
    Device *device = device_open_gpu(0, &error);
    if (!device) {
        printf("skipped: %s\n", error.text);
        return FAULT_NO_CARD;
    }
    Kernels k = kernels_load(device);
    uint64_t y = alloc(device, 4096), wrong = 4096; /* page 0 */
    OK(.kind = CALL_LAUNCH, .function = k.wild, .grid = {1, 1, 1}, .block = {32, 1, 1},
       .data = &wrong, .data_bytes = 8);
    REFUSED(700, "kernel wild<<<(1,1,1),(32,1,1)>>>: CUDA_ERROR_ILLEGAL_ADDRESS",
            .kind = CALL_SYNC);
    REFUSED(700, "was lost before (kernel wild", .kind = CALL_ALLOC, .bytes = 16);
    CHECK(device->poison(device, y, 16, 0, &error) == -1, "poisoning a lost context");
    printf("      %s\n", error.text);
    device->close(device);
    device = device_open_gpu(0, &error);
    int again = device && !ask(device, (DeviceCall){.kind = CALL_ALLOC, .bytes = 16});
    printf("  after closing, a new device in the same process %s\n", again ? "works" : "fails");
    return failures ? FAULT_NOT_TOLD : FAULT_TOLD;
}

/* The way in which the child ended: one of FAULT_*, or -1 after a crash. */
static int fault_end(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int end = fault_in_child();
        fflush(stdout);
        _exit(end);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- calls ---- */

static int fault; /* the way in which the child ended */
static Device *card;
static Kernels kernels;
static const char *fatbin; /* the argument, or NULL */

static void a_fault_names_its_kernel_and_the_gpu_recovers(void **state)
{
    (void)state;
    assert_int_equal(fault, FAULT_TOLD);
}

/* Runs before all other tests: -1 if the GPU cannot be opened. */
static int executor_open(void **state)
{
    (void)state;
    Error error = {""};
    Device *device = card = device_open_gpu(0, &error);
    if (!device) {
        printf("%s\n", error.text);
        return -1;
    }
    OK(.kind = CALL_PROPERTIES);
    const DeviceProperties *p = reply.data;
    printf("%s, %u.%u, %u SMs, %llu MiB, L2 %llu MiB, %u KHz, memory %u KHz x %u bits, "
           "shared %u/%u/%u, driver %u\n",
           p->name, p->cc_major, p->cc_minor, p->sms, (unsigned long long)p->memory_bytes >> 20,
           (unsigned long long)p->l2_bytes >> 20, p->clock_khz, p->memory_clock_khz,
           p->memory_bus_bits, p->shared_per_block, p->shared_per_block_optin, p->shared_per_sm,
           p->driver_version);
    kernels = kernels_load(device);
    return failures ? -1 : 0;
}

static int executor_close(void **state)
{
    (void)state;
    Device *device = card;
    OK(.kind = CALL_SYNC);
    device->close(device);
    return failures ? -1 : 0;
}

static void parameters_have_the_layout_of_the_driver(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    const uint32_t offset[] = {0, 8, 32, 40, 48}, bytes[] = {1, 24, 4, 8, 4};
    OK(.kind = CALL_MODULE_FUNCTION, .module = k->module, .data = "mixed", .data_bytes = 6);
    const FunctionInfo *info = reply.data;
    CHECK(info->param_count == 5 && info->params_bytes == 52, "%u parameters, %u bytes",
          info->param_count, info->params_bytes);
    for (int i = 0; i < 5; i++)
        CHECK(info->param_offset[i] == offset[i] && info->param_bytes[i] == bytes[i],
              "parameter %d: %u bytes at %u", i, info->param_bytes[i], info->param_offset[i]);
    CHECK(info->registers && info->max_threads == 1024, "%u registers, %u threads", info->registers,
          info->max_threads);
    settle();
}

static void copies_fills_and_a_kernel(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    enum { N = 1000003 };
    float *x = malloc(4 * N), two = 2;
    uint64_t a = alloc(device, 4 * N), b = alloc(device, 4 * N), y = alloc(device, 4 * N);
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 1009);
    Error error;
    CHECK(!device->poison(device, y, 4 * N, 0x7fc01234, &error), "%s", error.text);
    uint32_t word;
    memcpy(&word, floats_read(device, y, N) + N - 1, 4);
    CHECK(word == 0x7fc01234, "poison reads 0x%x", word);
    OK(.kind = CALL_COPY_TO_DEVICE, .dst = a, .data = x, .data_bytes = 4 * N);
    OK(.kind = CALL_COPY_ON_DEVICE, .dst = b, .src = a, .bytes = 4 * N);
    OK(.kind = CALL_MODULE_VARIABLE, .module = k->module, .data = "scale", .data_bytes = 6);
    CHECK(reply.value[1] == 4, "scale has %llu bytes", (unsigned long long)reply.value[1]);
    OK(.kind = CALL_COPY_TO_DEVICE, .dst = reply.value[0], .data = &two, .data_bytes = 4);
    DeviceCost cost;
    device->take_cost(device, &cost);
    launch_add(device, k->add, 0, a, b, y, N);
    const float *got = floats_read(device, y, N);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += got[i] != 3 * x[i];
    CHECK(!wrong, "%d of %d sums are wrong", wrong, N);
    device->take_cost(device, &cost);
    CHECK(cost.launches == 1 && cost.blocks == (N + 255) / 256 && cost.registers &&
              cost.threads == cost.blocks * 256 && cost.resident_blocks == 8,
          "%llu launches, %llu blocks, %u registers, %u resident",
          (unsigned long long)cost.launches, (unsigned long long)cost.blocks, cost.registers,
          cost.resident_blocks);
    OK(.kind = CALL_FILL, .dst = y + 4, .value = 0x1ff, .bytes = 5);
    unsigned char *bytes = (unsigned char *)floats_read(device, y, 3);
    CHECK(bytes[4] == 255 && bytes[8] == 255 && bytes[9] != 255, "fill");
    OK(.kind = CALL_FREE, .dst = a);
    OK(.kind = CALL_FREE, .dst = b);
    OK(.kind = CALL_FREE, .dst = y);
    free(x);
    settle();
}

static void impossible_requests_are_rejected_with_a_message(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    char here = 0;
    uint64_t a = alloc(device, 1000), p[4] = {a, a, a, 1};
    printf("refusals\n");
    REFUSED(9, "2048 threads, at most 1024", .kind = CALL_LAUNCH, .function = k->add,
            .grid = {1, 1, 1}, .block = {32, 64, 1}, .data = p, .data_bytes = ADD_BYTES);
    REFUSED(9, "grid dimension y is 0", .kind = CALL_LAUNCH, .function = k->add, .grid = {1, 0, 1},
            .block = {32, 1, 1}, .data = p, .data_bytes = ADD_BYTES);
    REFUSED(1, "takes 28 bytes", .kind = CALL_LAUNCH, .function = k->add, .grid = {1, 1, 1},
            .block = {32, 1, 1}, .data = p, .data_bytes = 32);
    REFUSED(1, "dynamic shared memory and may have 49152", .kind = CALL_LAUNCH, .function = k->add,
            .grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_bytes = 60000, .data = p,
            .data_bytes = ADD_BYTES);
    OK(.kind = CALL_FUNCTION_ATTRIBUTE, .function = k->add, .value = 8, .bytes = 60000);
    OK(.kind = CALL_LAUNCH, .function = k->add, .grid = {1, 1, 1}, .block = {32, 1, 1},
       .shared_bytes = 60000, .data = p, .data_bytes = ADD_BYTES);
    REFUSED(1, "MaxDynamicSharedMemorySize, 9999999)", .kind = CALL_FUNCTION_ATTRIBUTE,
            .function = k->add, .value = 8, .bytes = 9999999);
    REFUSED(98, "no kernel sub", .kind = CALL_MODULE_FUNCTION, .module = k->module, .data = "sub",
            .data_bytes = 4);
    REFUSED(13, "no variable sub", .kind = CALL_MODULE_VARIABLE, .module = k->module, .data = "sub",
            .data_bytes = 4);
    REFUSED(400, "function 999999", .kind = CALL_LAUNCH, .function = 999999);
    REFUSED(1, "pass the end of the allocation of 1000", .kind = CALL_COPY_TO_HOST, .src = a + 8,
            .bytes = 1000);
    REFUSED(1, "not an address of allocated device memory", .kind = CALL_FILL,
            .dst = (uint64_t)(uintptr_t)&here, .bytes = 1);
    REFUSED(2, "cudaMalloc of 1125899906842624 bytes", .kind = CALL_ALLOC, .bytes = 1ull << 50);
    OK(.kind = CALL_FREE, .dst = a);
    REFUSED(1, "free already", .kind = CALL_FREE, .dst = a);
    REFUSED(200, "no fat binary", .kind = CALL_MODULE_LOAD,
            .data = "\x7f"
                    "ELF",
            .data_bytes = 4);
    REFUSED(218, "loading the program", .kind = CALL_MODULE_LOAD, .data = broken_ptx,
            .data_bytes = sizeof broken_ptx);
    OK(.kind = CALL_FREE, .dst = 0);
    settle();
}

static void streams_and_events_order_kernels(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    enum { MILLISECONDS = 3 };
    uint64_t y = alloc(device, 4);
    uint32_t stream[2], event[3];
    OK(.kind = CALL_FILL, .dst = y, .bytes = 4);
    for (int i = 0; i < 2; i++) {
        OK(.kind = CALL_STREAM_CREATE, .value = 1);
        stream[i] = (uint32_t)reply.value[0];
    }
    for (int i = 0; i < 3; i++) {
        OK(.kind = CALL_EVENT_CREATE);
        event[i] = (uint32_t)reply.value[0];
    }
    OK(.kind = CALL_SYNC);
    OK(.kind = CALL_EVENT_RECORD, .event = event[0], .stream = stream[0]);
    launch_spin(device, k->spin, stream[0], y, MILLISECONDS * 1000000);
    OK(.kind = CALL_EVENT_RECORD, .event = event[1], .stream = stream[0]);
    CHECK(ask(device, (DeviceCall){.kind = CALL_STREAM_QUERY, .stream = stream[0]}) == 600,
          "a stream that works is ready");
    OK(.kind = CALL_STREAM_WAIT, .event = event[1], .stream = stream[1]);
    launch_spin(device, k->spin, stream[1], y, 1000);
    OK(.kind = CALL_EVENT_RECORD, .event = event[2], .stream = stream[1]);
    OK(.kind = CALL_STREAM_SYNC, .stream = stream[1]);
    OK(.kind = CALL_EVENT_ELAPSED, .event = event[0], .event2 = event[2]);
    double milliseconds;
    memcpy(&milliseconds, &reply.value[0], sizeof milliseconds);
    CHECK(milliseconds > MILLISECONDS && milliseconds < MILLISECONDS + 1, "%g ms", milliseconds);
    CHECK(*floats_read(device, y, 1) == 2, "both kernels ran");
    OK(.kind = CALL_STREAM_DESTROY, .stream = stream[0]);
    REFUSED(400, "stream", .kind = CALL_STREAM_SYNC, .stream = stream[0]);
    OK(.kind = CALL_STREAM_DESTROY, .stream = stream[1]);
    OK(.kind = CALL_EVENT_DESTROY, .event = event[0]);
    REFUSED(400, "event", .kind = CALL_EVENT_SYNC, .event = event[0]);
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

/* ---- replay ---- */

static double replay(Device *device, Recording *recording, int repeats, DeviceCost *cost)
{
    Error error = {""};
    CHECK(!device->replay(device, recording, repeats, cost, &error), "%s", error.text);
    return cost->seconds;
}

/* A recorded call that sends data, fills, computes with the buffers' contents at replay time, and
 * reads back. */
static void a_replay_computes_anew(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    enum { N = 5000 };
    Recording recording = {0};
    uint64_t a = alloc(device, 4 * N), b = alloc(device, 4 * N), y = alloc(device, 4 * N);
    float *sent = malloc(4 * N), *fresh = malloc(4 * N);
    for (int i = 0; i < N; i++) {
        sent[i] = (float)i;
        fresh[i] = (float)(7 * i % 11);
    }
    OK(.kind = CALL_FILL, .dst = a, .bytes = 4 * N);
    device = recorder_open(card, &recording);
    OK(.kind = CALL_COPY_TO_DEVICE, .dst = b, .data = sent, .data_bytes = 4 * N);
    OK(.kind = CALL_FILL, .dst = y, .value = 255, .bytes = 4 * N);
    launch_add(device, k->add, 0, a, b, y, N - 1); /* y = a + 2 sent */
    launch_add(device, k->add, 0, y, y, y, N - 1); /* y = 3 y */
    floats_read(device, y, N);
    device->close(device);
    device = card;
    memset(sent, 0, 4 * N); /* the recording has its own copy */
    OK(.kind = CALL_COPY_TO_DEVICE, .dst = a, .data = fresh, .data_bytes = 4 * N);
    OK(.kind = CALL_FILL, .dst = b, .value = 1, .bytes = 4 * N);
    OK(.kind = CALL_FILL, .dst = y, .value = 1, .bytes = 4 * N);
    DeviceCost cost;
    double seconds = replay(device, &recording, 20, &cost);
    const float *got = floats_read(device, y, N);
    int wrong = 0;
    for (int i = 0; i < N - 1; i++)
        wrong += got[i] != 3 * (fresh[i] + 2 * (float)i);
    CHECK(!wrong && isnan(got[N - 1]), "%d of %d results are wrong, last %g", wrong, N, got[N - 1]);
    CHECK(cost.launches == 2 && cost.grid[0] == (N + 254) / 256, "%llu launches",
          (unsigned long long)cost.launches);
    printf("replay of copy, fill, 2 kernels, copy back: %.2f us\n", 1e6 * seconds);
    recording_clear(&recording, device);
    OK(.kind = CALL_FREE, .dst = a);
    OK(.kind = CALL_FREE, .dst = b);
    OK(.kind = CALL_FREE, .dst = y);
    free(sent);
    free(fresh);
    settle();
}

/* Clusters by an attribute of the launch, live and in a replay (a graph); limits. */
static void clusters_are_requested_at_the_launch(void **state)
{
    (void)state;
    enum { BLOCKS = 8, SIZE = 4 };
    Device *device = card;
    Recording recording = {0};
    DeviceCost cost;
    OK(.kind = CALL_PROPERTIES);
    if (((const DeviceProperties *)reply.data)->cc_major < 9) skip();
    OK(.kind = CALL_MODULE_LOAD, .data = cluster_ptx, .data_bytes = sizeof cluster_ptx);
    uint32_t size = function_find(device, (uint32_t)reply.value[0], "size");
    uint64_t y = alloc(device, 4 * BLOCKS);
    device = recorder_open(card, &recording);
    OK(.kind = CALL_LAUNCH, .function = size, .grid = {BLOCKS, 1, 1}, .block = {32, 1, 1},
       .value = (SIZE | 1u << 8 | 1u << 16) << LAUNCH_CLUSTER, .data = &y, .data_bytes = sizeof y);
    device->close(device);
    device = card;
    for (int replayed = 0; replayed < 2; replayed++) {
        OK(.kind = CALL_COPY_TO_HOST, .src = y, .bytes = 4 * BLOCKS);
        for (int i = 0; i < BLOCKS; i++)
            CHECK(((const uint32_t *)reply.data)[i] == SIZE, "block %d: a cluster of %u", i,
                  ((const uint32_t *)reply.data)[i]);
        OK(.kind = CALL_FILL, .dst = y, .bytes = 4 * BLOCKS);
        replay(device, &recording, 1, &cost);
    }
    OK(.kind = CALL_LAUNCH, .function = size, .grid = {BLOCKS, 1, 1}, .block = {32, 1, 1},
       .value = LAUNCH_TOGETHER, .data = &y, .data_bytes = sizeof y);
    OK(.kind = CALL_LIMIT, .value = DEVICE_LIMIT_STACK, .bytes = 5000);
    CHECK(reply.value[0] >= 5000, "a stack of %llu", (unsigned long long)reply.value[0]);
    REFUSED(1, "cudaDeviceSetLimit", .kind = CALL_LIMIT, .value = DEVICE_LIMIT_STACK,
            .bytes = 1 << 30);
    recording_clear(&recording, device);
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

/* Two kernels of 1 ms in two streams take 1 ms; with an event between them, or in the default
 * stream, 2 ms. */
static void a_replay_keeps_the_order_of_streams(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    uint64_t y = alloc(device, 1024);
    uint32_t stream[2], event;
    for (int i = 0; i < 2; i++) {
        OK(.kind = CALL_STREAM_CREATE, .value = 1);
        stream[i] = (uint32_t)reply.value[0];
    }
    OK(.kind = CALL_EVENT_CREATE);
    event = (uint32_t)reply.value[0];
    for (int ordered = 0; ordered < 3; ordered++) {
        Recording recording = {0};
        DeviceCost cost;
        device = recorder_open(card, &recording);
        launch_spin(device, k->spin, ordered == 2 ? 0 : stream[0], y, 1000000);
        if (ordered == 1) {
            OK(.kind = CALL_EVENT_RECORD, .event = event, .stream = stream[0]);
            OK(.kind = CALL_STREAM_WAIT, .event = event, .stream = stream[1]);
        }
        launch_spin(device, k->spin, ordered == 2 ? 0 : stream[1], y + 512, 1000000);
        device->close(device);
        device = card;
        double wanted = ordered ? 2e-3 : 1e-3, seconds = replay(device, &recording, 5, &cost);
        CHECK(fabs(seconds - wanted) < 0.1e-3, "%g s instead of %g", seconds, wanted);
        printf("replay of two 1 ms kernels, %s: %.3f ms\n",
               ordered == 0   ? "two streams"
               : ordered == 1 ? "two streams and an event"
                              : "one stream",
               1e3 * seconds);
        recording_clear(&recording, device);
    }
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

/* The time of a streaming kernel must agree with the copy ceiling of the same GPU. */
static void a_replay_takes_the_time_of_its_bytes(void **state)
{
    (void)state;
    Device *device = card;
    const Kernels *k = &kernels;
    enum { N = 1 << 26 };
    Error error;
    GpuCeilings c;
    Recording recording = {0};
    DeviceCost cost;
    CHECK(!gpu_ceilings_measure(device, &c, &error), "%s", error.text);
    printf("ceilings: copy %.1f GB/s, read %.1f GB/s, fma %.2f TFLOP/s, launch %.2f us, "
           "replay %.2f us\n",
           c.copy_bytes_per_second * 1e-9, c.read_bytes_per_second * 1e-9,
           c.fma_flops_per_second * 1e-12, c.launch_seconds * 1e6, c.replay_seconds * 1e6);
    uint64_t a = alloc(device, 4ull * N), b = alloc(device, 4ull * N), y = alloc(device, 4ull * N);
    OK(.kind = CALL_FILL, .dst = a, .value = 60, .bytes = 4ull * N);
    OK(.kind = CALL_FILL, .dst = b, .value = 61, .bytes = 4ull * N);
    device = recorder_open(card, &recording);
    launch_add(device, k->add, 0, a, b, y, N);
    device->close(device);
    device = card;
    double bytes = 12.0 * N, seconds = replay(device, &recording, 50, &cost);
    double bound = gpu_ceilings_floor(&c, 2.0 * N, 8.0 * N, 4.0 * N);
    printf("add of %.0f MB: %.1f us, %.1f GB/s, %.2f of the floor's speed\n", bytes * 1e-6,
           1e6 * seconds, bytes / seconds * 1e-9, bound / seconds);
    CHECK(bound / seconds > 0.5 && bound / seconds < 1, "time %g s, floor %g s", seconds, bound);
    double single = 0; /* one by one, as with a preparation between repeats */
    for (int i = 0; i < 50; i++)
        single += replay(device, &recording, 1, &cost) / 50;
    printf("the same, one replay at a time: %.1f us\n", 1e6 * single);
    CHECK(fabs(single / seconds - 1) < 0.05, "%g s one by one, %g s in a row", single, seconds);
    recording_clear(&recording, device);
    OK(.kind = CALL_FREE, .dst = a);
    OK(.kind = CALL_FREE, .dst = b);
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

static void a_recording_without_its_code_is_rejected(void **state)
{
    (void)state;
    Device *device = card;
    Kernels k = kernels_load(device);
    Recording recording = {0};
    DeviceCost cost;
    Error error;
    uint64_t y = alloc(device, 256);
    device = recorder_open(card, &recording);
    launch_spin(device, k.spin, 0, y, 1000);
    device->close(device);
    device = card;
    replay(device, &recording, 2, &cost);
    OK(.kind = CALL_MODULE_UNLOAD, .module = k.module);
    CHECK(device->replay(device, &recording, 2, &cost, &error) == -1, "replayed unloaded code");
    printf("  %s\n", error.text);
    recording_clear(&recording, device);
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

static void a_fat_binary_loads(void **state)
{
    (void)state;
    Device *device = card;
    FILE *file = fopen(fatbin, "rb");
    if (!file) fail_msg("cannot open %s", fatbin);
    static unsigned char image[1 << 20];
    size_t bytes = fread(image, 1, sizeof image, file);
    fclose(file);
    OK(.kind = CALL_MODULE_LOAD, .data = image, .data_bytes = bytes);
    Kernels k = {.module = (uint32_t)reply.value[0]};
    k.add = function_find(device, k.module, "add");
    const FunctionInfo *info = reply.data;
    printf("fat binary: binary %u, ptx %u, %u registers\n", info->binary_version, info->ptx_version,
           info->registers);
    uint64_t y = alloc(device, 400);
    OK(.kind = CALL_FILL, .dst = y, .bytes = 400);
    launch_add(device, k.add, 0, y, y, y, 100);
    CHECK(floats_read(device, y, 100)[99] == 0, "sum of zeros");
    REFUSED(200, "cut off", .kind = CALL_MODULE_LOAD, .data = image, .data_bytes = bytes / 2);
    OK(.kind = CALL_FREE, .dst = y);
    settle();
}

int main(int argc, char **argv)
{
    fault = fault_end(); /* before this process touches the driver */
    if (fault == FAULT_NO_CARD) return 0;
    fatbin = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest of_fatbin[] = {cmocka_unit_test(a_fat_binary_loads)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_names_its_kernel_and_the_gpu_recovers),
        cmocka_unit_test(parameters_have_the_layout_of_the_driver),
        cmocka_unit_test(copies_fills_and_a_kernel),
        cmocka_unit_test(impossible_requests_are_rejected_with_a_message),
        cmocka_unit_test(streams_and_events_order_kernels),
        cmocka_unit_test(a_replay_computes_anew),
        cmocka_unit_test(clusters_are_requested_at_the_launch),
        cmocka_unit_test(a_replay_keeps_the_order_of_streams),
        cmocka_unit_test(a_replay_takes_the_time_of_its_bytes),
        cmocka_unit_test(a_recording_without_its_code_is_rejected),
    };
    int failed = cmocka_run_group_tests_name("cuda/gpu_card", tests, executor_open, executor_close);
    if (fatbin)
        failed += cmocka_run_group_tests_name("cuda/gpu_fatbin", of_fatbin, executor_open,
                                              executor_close);
    return failed;
}
