/* The drop-in runtime with a fake device: a few kilobytes of memory and a list of its calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime.h"

/* Declarations as in nvcc's generated code. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(void **kernel, const void *host);
cudaError_t __cudaLaunchKernel(void *, dim3, dim3, void **, size_t, cudaStream_t);

/* Addresses below 64 KiB, where no process has memory, so that mistaken addresses are detected. */
enum { BASE = 0x2000, ARENA = 0x4000, SYMBOL = BASE + 0x3000 };

typedef struct FakeDevice {
    Device device;
    unsigned char memory[ARENA];
    uint64_t next;
    unsigned calls[CALL_KINDS];
    DeviceCall last;
    unsigned char parameters[64];
    TensorMapRequest map;
    int32_t fail_kind, fail_status;
    const char *fail_message;
    int gone;
    unsigned char data[ARENA];
} FakeDevice;

static FakeDevice fake;

static int in_arena(uint64_t address, uint64_t bytes)
{
    return address >= BASE && bytes <= ARENA && address - BASE <= ARENA - bytes;
}

static void answer(DeviceReply *reply, const void *data, size_t bytes)
{
    memcpy(fake.data, data, bytes);
    reply->data = fake.data;
    reply->data_bytes = bytes;
}

/* A kernel (char, double, int): offsets 0, 8, 16. */
static const FunctionInfo kernel_info = {.param_count = 3,
                                         .param_offset = {0, 8, 16},
                                         .param_bytes = {1, 8, 4},
                                         .params_bytes = 20,
                                         .registers = 24,
                                         .shared_bytes = 1024,
                                         .max_threads = 512,
                                         .ptx_version = 75,
                                         .binary_version = 90};

static void fake_memory(const DeviceCall *call, DeviceReply *reply)
{
    uint64_t to = call->dst - BASE, from = call->src - BASE;
    int sends = call->kind == CALL_COPY_TO_HOST, takes = call->kind == CALL_COPY_TO_DEVICE;
    uint64_t bytes = takes ? call->data_bytes : call->bytes;
    int reads = sends || call->kind == CALL_COPY_ON_DEVICE;
    if ((reads && !in_arena(call->src, bytes)) || (!sends && !in_arena(call->dst, bytes)))
        reply->status = 1;
    else if (takes)
        memcpy(fake.memory + to, call->data, bytes);
    else if (sends)
        answer(reply, fake.memory + from, bytes);
    else if (call->kind == CALL_FILL)
        memset(fake.memory + to, (int)call->value, bytes);
    else
        memmove(fake.memory + to, fake.memory + from, bytes);
}

static void fake_answer(const DeviceCall *call, DeviceReply *reply)
{
    static const DeviceProperties properties = {.name = "fake",
                                                .cc_major = 9,
                                                .sms = 132,
                                                .warp_size = 32,
                                                .max_threads_per_block = 1024,
                                                .shared_per_block = 49152,
                                                .clock_khz = 1980000,
                                                .driver_version = 12040,
                                                .persisting_l2_bytes = 39321600,
                                                .has_clusters = 1,
                                                .max_grid = {0x7fffffff, 65535, 65535}};
    double milliseconds = 2.5;
    switch (call->kind) {
    case CALL_PROPERTIES:
        answer(reply, &properties, sizeof properties);
        break;
    case CALL_ALLOC: /* as in a grade: this process has no managed memory */
        if (call->value == ALLOC_MANAGED) reply->status = DEVICE_NOT_SUPPORTED;
        reply->value[0] = BASE + fake.next;
        fake.next += (call->bytes + 255) / 256 * 256;
        break;
    case CALL_COPY_TO_DEVICE:
    case CALL_COPY_TO_HOST:
    case CALL_COPY_ON_DEVICE:
    case CALL_FILL:
        fake_memory(call, reply);
        break;
    case CALL_MODULE_FUNCTION:
        answer(reply, &kernel_info, sizeof kernel_info);
        reply->value[0] = 77;
        if (strcmp(call->data, "kernel") != 0) reply->status = DEVICE_INVALID_FUNCTION;
        break;
    case CALL_MODULE_VARIABLE:
        reply->value[0] = SYMBOL;
        reply->value[1] = 64;
        break;
    case CALL_MODULE_LOAD:
    case CALL_STREAM_CREATE:
    case CALL_EVENT_CREATE:
        reply->value[0] = 5;
        break;
    case CALL_EVENT_ELAPSED:
        memcpy(&reply->value[0], &milliseconds, 8);
        break;
    case CALL_OCCUPANCY:
        reply->value[0] = 3;
        break;
    case CALL_MEM_INFO:
        reply->value[0] = 10;
        reply->value[1] = 20;
        break;
    case CALL_LIMIT:
        reply->value[0] = call->bytes + 8; /* rounds up, as a GPU does */
        break;
    case CALL_POINTER:
        reply->value[0] = (uint64_t)in_arena(call->dst, 1);
        break;
    case CALL_TENSOR_MAP:
        answer(reply, fake.memory, TENSOR_MAP_BYTES);
        break;
    }
}

static int fake_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    (void)device;
    memset(reply, 0, sizeof *reply);
    if (fake.gone) return -1;
    fake.calls[call->kind]++;
    fake.last = *call;
    if (call->kind == CALL_LAUNCH) memcpy(fake.parameters, call->data, call->data_bytes);
    if (call->kind == CALL_TENSOR_MAP) memcpy(&fake.map, call->data, sizeof fake.map);
    if ((int32_t)call->kind == fake.fail_kind) {
        reply->status = fake.fail_status;
        if (fake.fail_message) strcpy(reply->message, fake.fail_message);
        return 0;
    }
    fake_answer(call, reply);
    return 0;
}

static int fresh_device(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.device.execute = fake_execute;
    fake.fail_kind = -1;
    runtime_set_device(&fake.device);
    return 0;
}

/* Makes calls of one kind return a status from now on. */
static void break_calls(DeviceCallKind kind, int32_t status, const char *message)
{
    fake.fail_kind = (int32_t)kind;
    fake.fail_status = status;
    fake.fail_message = message;
}

static char failure[1536];

#define SUCCEEDS(call)      assert_int_equal((call), cudaSuccess)
#define FAILS(call, status) assert_int_equal((call), (status))

/* ---- memory --------------------------------------------------------------------------------- */

static void bytes_go_out_and_come_back(void **state)
{
    (void)state;
    void *a, *b;
    char text[8] = "seven..", back[8];
    SUCCEEDS(cudaMalloc(&a, 8));
    SUCCEEDS(cudaMalloc(&b, 8));
    assert_true(a != b);
    SUCCEEDS(cudaMemcpy(a, text, 8, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaMemcpyAsync(b, a, 8, cudaMemcpyDeviceToDevice, NULL));
    SUCCEEDS(cudaMemset((char *)b + 5, 'x', 2));
    SUCCEEDS(cudaMemcpy(back, b, 8, cudaMemcpyDeviceToHost));
    assert_string_equal(back, "sevenxx");
    SUCCEEDS(cudaMemcpy(text, back, 8, cudaMemcpyHostToHost));
    assert_string_equal(text, "sevenxx");
    SUCCEEDS(cudaFree(a));
    assert_int_equal(fake.last.dst, (uintptr_t)a);
    unsigned before = fake.calls[CALL_COPY_TO_DEVICE];
    SUCCEEDS(cudaMemcpy(a, text, 0, cudaMemcpyHostToDevice));
    assert_int_equal(fake.calls[CALL_COPY_TO_DEVICE], before);
}

static void the_default_direction_follows_the_addresses(void **state)
{
    (void)state;
    void *a, *b;
    int value = 41, back = 0;
    SUCCEEDS(cudaMalloc(&a, 8));
    SUCCEEDS(cudaMalloc(&b, 8));
    SUCCEEDS(cudaMemcpy(a, &value, 4, cudaMemcpyDefault));
    SUCCEEDS(cudaMemcpy(b, a, 4, cudaMemcpyDefault));
    SUCCEEDS(cudaMemcpy(&back, b, 4, cudaMemcpyDefault));
    assert_int_equal(back, 41);
    value = 42;
    SUCCEEDS(cudaMemcpy(&back, &value, 4, cudaMemcpyDefault));
    assert_int_equal(back, 42);
    break_calls(CALL_POINTER, DEVICE_NOT_SUPPORTED, NULL); /* an engine that cannot classify
                                                            * pointers */
    value = 43;
    SUCCEEDS(cudaMemcpy(a, &value, 4, cudaMemcpyDefault));
    SUCCEEDS(cudaMemcpy(&back, a, 4, cudaMemcpyDefault));
    assert_int_equal(back, 43);
    assert_int_equal(runtime_take_failure(failure, sizeof failure), 0);
}

static void a_swapped_copy_is_an_error_and_no_crash(void **state)
{
    (void)state;
    void *a;
    char host[8] = "";
    SUCCEEDS(cudaMalloc(&a, 8));
    FAILS(cudaMemcpy(host, a, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, host, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(runtime_take_failure(failure, sizeof failure), cudaErrorInvalidValue);
    assert_non_null(strstr(failure, "swapped"));
    FAILS(cudaMemcpy(a, NULL, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    FAILS(cudaMemcpy(a, host, 8, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
}

static void rectangles_go_row_by_row(void **state)
{
    (void)state;
    void *a;
    char host[] = "ab..cd..ef..", back[7] = "";
    SUCCEEDS(cudaMalloc(&a, 64));
    SUCCEEDS(cudaMemset(a, '-', 64));
    SUCCEEDS(cudaMemcpy2D(a, 8, host, 4, 2, 3, cudaMemcpyHostToDevice));
    assert_memory_equal(fake.memory + ((uintptr_t)a - BASE), "ab------cd------ef------", 24);
    SUCCEEDS(cudaMemcpy2DAsync(back, 2, a, 8, 2, 3, cudaMemcpyDeviceToHost, NULL));
    assert_string_equal(back, "abcdef");
    FAILS(cudaMemcpy2D(a, 1, host, 4, 2, 3, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
}

static void pinned_memory_is_host_memory(void **state)
{
    (void)state;
    void *a, *b, *none;
    SUCCEEDS(cudaMallocHost(&a, 100));
    SUCCEEDS(cudaHostAlloc(&b, 100, cudaHostAllocWriteCombined));
    memset(a, 1, 100);
    memset(b, 2, 100);
    SUCCEEDS(cudaFreeHost(a));
    FAILS(cudaFreeHost(a), cudaErrorInvalidValue);
    SUCCEEDS(cudaFreeHost(b));
    SUCCEEDS(cudaFreeHost(NULL));
    FAILS(cudaHostAlloc(&none, 100, cudaHostAllocMapped), cudaErrorNotSupported);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void the_last_error_stays_until_it_is_read(void **state)
{
    (void)state;
    void *a;
    cudaGetLastError();
    break_calls(CALL_ALLOC, DEVICE_OUT_OF_MEMORY, NULL);
    FAILS(cudaMalloc(&a, 8), cudaErrorMemoryAllocation);
    assert_null(a);
    SUCCEEDS(cudaDeviceSynchronize());
    FAILS(cudaPeekAtLastError(), cudaErrorMemoryAllocation);
    FAILS(cudaGetLastError(), cudaErrorMemoryAllocation);
    SUCCEEDS(cudaGetLastError());
    break_calls(CALL_STREAM_QUERY, DEVICE_NOT_READY, NULL);
    FAILS(cudaStreamQuery(NULL), cudaErrorNotReady);
    SUCCEEDS(cudaGetLastError()); /* not ready is no error */
    assert_string_equal(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    assert_true(strlen(cudaGetErrorString(cudaErrorMemoryAllocation)) > 5);
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidClusterSize),
                        "cudaErrorInvalidClusterSize");
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidFilterSetting),
                        "cudaErrorInvalidFilterSetting");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
}

static void the_first_failure_is_stored_with_its_message(void **state)
{
    (void)state;
    void *a;
    assert_int_equal(runtime_take_failure(failure, sizeof failure), 0);
    assert_string_equal(failure, "");
    break_calls(CALL_ALLOC, DEVICE_OUT_OF_MEMORY, "8 bytes asked, 0 left");
    FAILS(cudaMalloc(&a, 8), cudaErrorMemoryAllocation);
    FAILS(cudaSetDevice(3), cudaErrorInvalidDevice);
    assert_int_equal(runtime_take_failure(failure, sizeof failure), cudaErrorMemoryAllocation);
    assert_string_equal(failure, "cudaMalloc: 8 bytes asked, 0 left");
    assert_int_equal(runtime_take_failure(failure, sizeof failure), 0);
}

static void a_device_that_went_away_is_an_error(void **state)
{
    (void)state;
    void *a;
    fake.gone = 1;
    FAILS(cudaMalloc(&a, 8), cudaErrorDevicesUnavailable);
    runtime_set_device(NULL);
    FAILS(cudaMalloc(&a, 8), cudaErrorInitializationError);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static void kernel_stub(void)
{
}

static void missing_stub(void)
{
}

static char symbol_shadow[64];

/* As if nvcc had compiled a file with one kernel and one variable; the image is PTX text. */
static void register_once(void)
{
    static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n";
    static struct {
        int32_t magic, version;
        const void *data;
        void *filename;
    } wrapper = {0x466243B1, 1, ptx, NULL};
    static int done;
    if (done) return;
    done = 1;
    void **module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, (const char *)kernel_stub, NULL, "kernel", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(module, (const char *)missing_stub, NULL, "missing", -1, 0, 0, 0, 0, 0);
    __cudaRegisterVar(module, symbol_shadow, NULL, "symbol", 0, 64, 1, 0);
    __cudaRegisterFatBinaryEnd(module);
    assert_int_equal(__cudaInitModule(module), 1);
}

static void assert_launched(uint32_t grid, uint32_t block, uint32_t shared)
{
    char c;
    double d;
    int i;
    memcpy(&c, fake.parameters, 1);
    memcpy(&d, fake.parameters + 8, 8);
    memcpy(&i, fake.parameters + 16, 4);
    assert_int_equal(fake.last.kind, CALL_LAUNCH);
    assert_int_equal(fake.last.function, 77);
    assert_int_equal(fake.last.data_bytes, 20);
    assert_int_equal(fake.last.grid[0], grid);
    assert_int_equal(fake.last.block[1], block);
    assert_int_equal(fake.last.shared_bytes, shared);
    assert_true(c == 'c' && d == 0.1 && i == -7);
}

static void launches_pack_their_arguments(void **state)
{
    (void)state;
    register_once();
    char c = 'c';
    double d = 0.1;
    int i = -7;
    void *arguments[] = {&c, &d, &i};
    dim3 grid = {4, 5, 6}, block = {7, 8, 9};
    assert_int_equal(fake.calls[CALL_MODULE_LOAD], 0); /* nothing is loaded before the first use */
    SUCCEEDS(cudaLaunchKernel((const void *)kernel_stub, grid, block, arguments, 33, NULL));
    assert_launched(4, 8, 33);
    SUCCEEDS(cudaLaunchKernel((const void *)kernel_stub, grid, block, arguments, 33, NULL));
    assert_int_equal(fake.calls[CALL_MODULE_LOAD], 1);
    assert_int_equal(fake.calls[CALL_MODULE_FUNCTION], 1);
    size_t bytes;
    SUCCEEDS(cudaGetSymbolSize(&bytes, symbol_shadow));
    assert_int_equal(fake.calls[CALL_MODULE_LOAD], 1); /* one image, loaded once for all its
                                                        * objects */
    void *kernel;
    SUCCEEDS(__cudaGetKernel(&kernel, (const void *)kernel_stub));
    memset(fake.parameters, 0, sizeof fake.parameters);
    grid.x = 99;
    SUCCEEDS(__cudaLaunchKernel(kernel, grid, block, arguments, 0, NULL));
    assert_launched(99, 8, 0);
    SUCCEEDS(cudaLaunchKernel((const void *)kernel_stub, grid, block, arguments, 1ull << 40, NULL));
    assert_int_equal(fake.last.shared_bytes, UINT32_MAX); /* too much stays too much */
}

static void objects_that_are_no_kernel_are_rejected(void **state)
{
    (void)state;
    register_once();
    dim3 one = {1, 1, 1};
    FAILS(cudaLaunchKernel((const void *)fresh_device, one, one, NULL, 0, NULL),
          cudaErrorInvalidDeviceFunction);
    FAILS(cudaLaunchKernel((const void *)missing_stub, one, one, NULL, 0, NULL),
          cudaErrorInvalidDeviceFunction);
    FAILS(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    FAILS(cudaLaunchKernel((const void *)kernel_stub, one, one, NULL, 0, NULL),
          cudaErrorInvalidValue);
    assert_int_equal(fake.calls[CALL_LAUNCH], 0);
}

static void launch_configurations_nest(void **state)
{
    (void)state;
    dim3 grid = {1, 2, 3}, block = {4, 5, 6}, popped_grid, popped_block;
    size_t shared;
    void *stream;
    assert_int_equal(__cudaPushCallConfiguration(grid, block, 7, (void *)21), 0);
    assert_int_equal(__cudaPushCallConfiguration(block, grid, 8, NULL), 0);
    SUCCEEDS(__cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &stream));
    assert_true(popped_grid.x == 4 && popped_block.z == 3 && shared == 8 && stream == NULL);
    SUCCEEDS(__cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &stream));
    assert_true(popped_grid.z == 3 && popped_block.x == 4 && shared == 7 && stream == (void *)21);
    FAILS(__cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &stream),
          cudaErrorMissingConfiguration);
}

static void a_fault_in_a_kernel_sticks(void **state)
{
    (void)state;
    register_once();
    void *a;
    char c = 0;
    double d = 0;
    int i = 0;
    void *arguments[] = {&c, &d, &i};
    dim3 one = {1, 1, 1};
    break_calls(CALL_LAUNCH, DEVICE_ILLEGAL_ADDRESS, "read past the end in kernel");
    FAILS(cudaLaunchKernel((const void *)kernel_stub, one, one, arguments, 0, NULL),
          cudaErrorIllegalAddress);
    FAILS(cudaGetLastError(), cudaErrorIllegalAddress);
    SUCCEEDS(cudaGetLastError());
    unsigned asked = fake.calls[CALL_SYNC];
    FAILS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    FAILS(cudaMalloc(&a, 8), cudaErrorIllegalAddress);
    assert_int_equal(fake.calls[CALL_SYNC], asked);
    assert_int_equal(runtime_take_failure(failure, sizeof failure), cudaErrorIllegalAddress);
    assert_string_equal(failure, "kernel launch: read past the end in kernel");
    SUCCEEDS(cudaDeviceReset());
    SUCCEEDS(cudaMalloc(&a, 8));
}

static void limits_are_what_the_device_made_of_them(void **state)
{
    (void)state;
    size_t value;
    SUCCEEDS(cudaDeviceSetLimit(cudaLimitStackSize, 4000));
    assert_int_equal(fake.last.value, DEVICE_LIMIT_STACK);
    SUCCEEDS(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    assert_int_equal(value, 4008);
    break_calls(CALL_LIMIT, DEVICE_INVALID_VALUE, "too late");
    FAILS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4000), cudaErrorInvalidValue);
    assert_int_equal(fake.last.value, DEVICE_LIMIT_HEAP);
    SUCCEEDS(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    assert_int_equal(value, 8 << 20);
    SUCCEEDS(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4000)); /* no call of the device */
}

static void a_refused_launch_does_not_stick(void **state)
{
    (void)state;
    register_once();
    char c = 0;
    double d = 0;
    int i = 0;
    void *arguments[] = {&c, &d, &i};
    dim3 one = {1, 1, 1};
    break_calls(CALL_LAUNCH, DEVICE_INVALID_CONFIGURATION, "too many threads");
    FAILS(cudaLaunchKernel((const void *)kernel_stub, one, one, arguments, 0, NULL),
          cudaErrorInvalidConfiguration);
    SUCCEEDS(cudaDeviceSynchronize());
    FAILS(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

static void nonfatal_findings_are_stored_as_text(void **state)
{
    (void)state;
    register_once();
    char c = 0;
    double d = 0;
    int i = 0;
    void *arguments[] = {&c, &d, &i};
    dim3 one = {1, 1, 1};
    break_calls(CALL_LAUNCH, 0, "reads what nothing wrote");
    SUCCEEDS(cudaLaunchKernel((const void *)kernel_stub, one, one, arguments, 0, NULL));
    SUCCEEDS(cudaGetLastError());
    assert_int_equal(runtime_take_failure(failure, sizeof failure), 0);
    assert_string_equal(failure, "reads what nothing wrote");
}

static void symbols_are_found_and_bounded(void **state)
{
    (void)state;
    register_once();
    void *address;
    size_t bytes;
    float in[16] = {[3] = 1.5f}, out = 0;
    SUCCEEDS(cudaGetSymbolAddress(&address, symbol_shadow));
    assert_int_equal((uintptr_t)address, SYMBOL);
    SUCCEEDS(cudaGetSymbolSize(&bytes, symbol_shadow));
    assert_int_equal(bytes, 64);
    SUCCEEDS(cudaMemcpyToSymbol(symbol_shadow, in, 64, 0, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaMemcpyFromSymbol(&out, symbol_shadow, 4, 12, cudaMemcpyDeviceToHost));
    assert_true(out == 1.5f);
    FAILS(cudaMemcpyToSymbol(symbol_shadow, in, 64, 4, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol(symbol_shadow, in, 4, SIZE_MAX, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
    FAILS(cudaMemcpyToSymbol("symbol", in, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
}

static void kernel_attributes_can_be_queried(void **state)
{
    (void)state;
    register_once();
    struct cudaFuncAttributes attributes;
    int blocks = 0;
    SUCCEEDS(cudaFuncGetAttributes(&attributes, (const void *)kernel_stub));
    assert_int_equal(attributes.numRegs, 24);
    assert_int_equal(attributes.maxThreadsPerBlock, 512);
    assert_int_equal(attributes.maxDynamicSharedSizeBytes, 49152 - 1024);
    SUCCEEDS(cudaFuncSetAttribute((const void *)kernel_stub,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, 90000));
    assert_int_equal(fake.last.value, 8);
    assert_int_equal(fake.last.bytes, 90000);
    SUCCEEDS(cudaFuncGetAttributes(&attributes, (const void *)kernel_stub));
    assert_int_equal(attributes.maxDynamicSharedSizeBytes, 90000);
    FAILS(cudaFuncSetAttribute((const void *)kernel_stub,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, -1),
          cudaErrorInvalidValue);
    SUCCEEDS(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel_stub, 256, 64));
    assert_int_equal(blocks, 3);
    assert_int_equal(fake.last.block[0], 256);
    assert_int_equal(fake.last.shared_bytes, 64);
}

/* 3 blocks fit an SM; of 132 SMs 16 each are a group, which can hold 9 clusters of 5, and the
 * remaining 4 SMs can hold 2. */
static void clusters_are_counted(void **state)
{
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
    cudaLaunchConfig_t config = {
        .gridDim = {64, 1, 1}, .blockDim = {32, 8, 1}, .attrs = &attribute, .numAttrs = 1};
    int clusters = 0, size = 0;
    (void)state;
    attribute.val.clusterDim.x = 5, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    SUCCEEDS(cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel_stub, &config));
    assert_int_equal(clusters, 8 * 9 + 2);
    attribute.val.clusterDim.x = 17;
    FAILS(cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel_stub, &config),
          cudaErrorInvalidClusterSize);
    SUCCEEDS(cudaOccupancyMaxPotentialClusterSize(&size, (const void *)kernel_stub, &config));
    assert_int_equal(size, 8);
    config.attrs = NULL;
    FAILS(cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel_stub, &config),
          cudaErrorInvalidValue);
    FAILS(cudaLaunchKernelExC(&config, (const void *)kernel_stub, NULL), cudaErrorInvalidValue);
}

/* ---- streams, events, properties ------------------------------------------------------------ */

static void streams_and_events_are_passed_on(void **state)
{
    (void)state;
    cudaStream_t stream;
    cudaEvent_t event;
    float milliseconds;
    SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    assert_int_equal(fake.last.value, 1);
    assert_true(stream != NULL && stream != cudaStreamLegacy);
    SUCCEEDS(cudaEventCreate(&event));
    SUCCEEDS(cudaEventRecord(event, stream));
    assert_true(fake.last.kind == CALL_EVENT_RECORD && fake.last.event == 5 &&
                fake.last.stream == 5);
    SUCCEEDS(cudaStreamWaitEvent(cudaStreamLegacy, event, 0));
    assert_true(fake.last.kind == CALL_STREAM_WAIT && fake.last.stream == 0);
    SUCCEEDS(cudaEventElapsedTime(&milliseconds, event, event));
    assert_true(milliseconds == 2.5f);
    FAILS(cudaEventRecord(NULL, stream), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    FAILS(cudaStreamSynchronize((cudaStream_t) ~(uintptr_t)0), cudaErrorInvalidResourceHandle);
    SUCCEEDS(cudaEventDestroy(event));
    SUCCEEDS(cudaStreamDestroy(stream));
}

/* The name that an object of another toolkit uses. */
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device);

static void the_device_describes_itself(void **state)
{
    (void)state;
    struct cudaDeviceProp properties;
    int value;
    size_t free_bytes, total_bytes;
    SUCCEEDS(cudaGetDeviceProperties(&properties, 0));
    assert_string_equal(properties.name, "fake");
    assert_int_equal(properties.multiProcessorCount, 132);
    SUCCEEDS(cudaGetDeviceProperties_v2(&properties, 0));
    assert_int_equal(properties.warpSize, 32);
    FAILS(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
    SUCCEEDS(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    assert_int_equal(value, 1980000);
    assert_int_equal(properties.persistingL2CacheMaxSize, 39321600);
    assert_true(properties.clusterLaunch && !properties.cooperativeLaunch);
    SUCCEEDS(cudaDeviceGetAttribute(&value, cudaDevAttrMaxPersistingL2CacheSize, 0));
    assert_int_equal(value, 39321600);
    SUCCEEDS(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0));
    assert_int_equal(value, cudaComputeModeDefault);
    SUCCEEDS(cudaDeviceGetAttribute(&value, cudaDevAttrManagedMemory, 0));
    assert_int_equal(value, 0);
    for (int attribute = 1; attribute < cudaDevAttrMax; attribute++)
        SUCCEEDS(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)attribute, 0));
    FAILS(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
    SUCCEEDS(cudaGetDeviceCount(&value));
    assert_int_equal(value, 1);
    SUCCEEDS(cudaDriverGetVersion(&value));
    assert_int_equal(value, 12040);
    SUCCEEDS(cudaRuntimeGetVersion(&value));
    assert_int_equal(value, CUDART_VERSION);
    SUCCEEDS(cudaMemGetInfo(&free_bytes, &total_bytes));
    assert_true(free_bytes == 10 && total_bytes == 20);
    assert_int_equal(fake.calls[CALL_PROPERTIES], 1);
}

/* In the toolkit's header since 12.5. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found);

/* ISO C has no cast from an object pointer to a function pointer. */
static void driver_entry(const char *symbol, void *slot)
{
    enum cudaDriverEntryPointQueryResult found;
    void *function;
    SUCCEEDS(cudaGetDriverEntryPointByVersion(symbol, &function, 12000, 0, &found));
    assert_int_equal(found, cudaDriverEntryPointSuccess);
    memcpy(slot, &function, sizeof function);
}

/* The largest rank that is used. */
enum { TOO_MANY = 6 };
static const cuuint64_t map_dims[TOO_MANY] = {64, 7, 9, 2},
                        map_strides[TOO_MANY] = {256, 1792, 16128};
static const cuuint32_t map_steps[TOO_MANY] = {1, 2, 3, 1};

static void tiled_maps_are_passed_unchanged(void **state)
{
    (void)state;
    static const cuuint32_t box[TOO_MANY] = {32, 4, 5, 1};
    CUtensorMap map;
    CUresult (*tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                      const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                      CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill);
    driver_entry("cuTensorMapEncodeTiled", &tiled);
    memset(fake.memory, 77, TENSOR_MAP_BYTES);
    SUCCEEDS(tiled(&map, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, (void *)BASE, map_dims, map_strides,
                   box, map_steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
    assert_memory_equal(&map, fake.memory, sizeof map);
    const TensorMapRequest expected = {.kind = TENSOR_MAP_TILED,
                                       .type = 11,
                                       .rank = 4,
                                       .address = BASE,
                                       .dims = {64, 7, 9, 2},
                                       .strides = {256, 1792, 16128},
                                       .element_strides = {1, 2, 3, 1},
                                       .swizzle = 3,
                                       .promotion = 3,
                                       .fill = 1,
                                       .box = {32, 4, 5, 1}};
    assert_memory_equal(&fake.map, &expected, sizeof expected);
    CUtensorMap *askew = (CUtensorMap *)((char *)fake.data + 8);
    unsigned before = fake.calls[CALL_TENSOR_MAP];
    FAILS(tiled(askew, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, (void *)BASE, map_dims, map_strides, box,
                map_steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          CUDA_ERROR_INVALID_VALUE);
    FAILS(tiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, TOO_MANY, (void *)BASE, map_dims,
                map_strides, box, map_steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(fake.calls[CALL_TENSOR_MAP], before);
}

static void im2col_maps_are_passed_unchanged(void **state)
{
    (void)state;
    static const int lower[] = {-1, -2}, upper[] = {3, -4};
    CUtensorMap map;
    CUresult (*im2col)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                       const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t,
                       const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                       CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    driver_entry("cuTensorMapEncodeIm2col", &im2col);
    SUCCEEDS(im2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)BASE, map_dims, map_strides,
                    lower, upper, 64, 128, map_steps, CU_TENSOR_MAP_INTERLEAVE_16B,
                    CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    const TensorMapRequest expected = {.kind = TENSOR_MAP_IM2COL,
                                       .type = 6,
                                       .rank = 4,
                                       .address = BASE,
                                       .dims = {64, 7, 9, 2},
                                       .strides = {256, 1792, 16128},
                                       .element_strides = {1, 2, 3, 1},
                                       .interleave = 1,
                                       .swizzle = 2,
                                       .promotion = 1,
                                       .lower = {-1, -2},
                                       .upper = {3, -4},
                                       .channels = 64,
                                       .pixels = 128};
    assert_memory_equal(&fake.map, &expected, sizeof expected);
    break_calls(CALL_TENSOR_MAP, DEVICE_INVALID_VALUE, "corner");
    FAILS(im2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, (void *)BASE, map_dims, map_strides,
                 lower, upper, 64, 128, map_steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(runtime_take_failure(failure, sizeof failure), cudaErrorInvalidValue);
    assert_non_null(strstr(failure, "cuTensorMapEncodeIm2col: corner"));
}

static void of_the_driver_there_are_tensor_maps_alone(void **state)
{
    (void)state;
    enum cudaDriverEntryPointQueryResult found;
    void *function = &found;
    SUCCEEDS(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, 0, &found));
    assert_int_equal(found, cudaDriverEntryPointSymbolNotFound);
    assert_null(function);
    FAILS(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, 0, NULL),
          cudaErrorSymbolNotFound);
    FAILS(cudaGetDriverEntryPointByVersion(NULL, &function, 12000, 0, &found),
          cudaErrorInvalidValue);
}

int main(void)
{
#define FRESH(test) cmocka_unit_test_setup(test, fresh_device)
    const struct CMUnitTest tests[] = {
        FRESH(limits_are_what_the_device_made_of_them),
        FRESH(bytes_go_out_and_come_back),
        FRESH(the_default_direction_follows_the_addresses),
        FRESH(a_swapped_copy_is_an_error_and_no_crash),
        FRESH(rectangles_go_row_by_row),
        FRESH(pinned_memory_is_host_memory),
        FRESH(the_last_error_stays_until_it_is_read),
        FRESH(the_first_failure_is_stored_with_its_message),
        FRESH(a_device_that_went_away_is_an_error),
        FRESH(launches_pack_their_arguments),
        FRESH(objects_that_are_no_kernel_are_rejected),
        FRESH(launch_configurations_nest),
        FRESH(a_fault_in_a_kernel_sticks),
        FRESH(a_refused_launch_does_not_stick),
        FRESH(nonfatal_findings_are_stored_as_text),
        FRESH(symbols_are_found_and_bounded),
        FRESH(kernel_attributes_can_be_queried),
        FRESH(clusters_are_counted),
        FRESH(streams_and_events_are_passed_on),
        FRESH(the_device_describes_itself),
        FRESH(tiled_maps_are_passed_unchanged),
        FRESH(im2col_maps_are_passed_unchanged),
        FRESH(of_the_driver_there_are_tensor_maps_alone),
    };
    return cmocka_run_group_tests_name("cuda/runtime", tests, NULL, NULL);
}
