/* CUDA source through nvcc, the drop-in runtime and the simulated engine, in one process.
 *
 * The source is compiled when the test runs, into a library that finds the cuda* functions in this
 * program. Without nvcc the test is skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cuda/recording.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/cuda/wire.h"
#include "common/simulator/core/tensor_map.h"

#define SOURCE "common/cuda/sim/test_end_to_end.cu"
#define GPUS   "common/simulator/gpus"

static void *library;
static Device *device;
static char failure[1536];

/* ---- set-up --------------------------------------------------------------------------------- */

static const char *find_nvcc(void)
{
    const char *named = getenv("NVCC");
    if (named && *named) return named;
    if (access("/usr/local/cuda/bin/nvcc", X_OK) == 0) return "/usr/local/cuda/bin/nvcc";
    return system("command -v nvcc >/dev/null 2>&1") == 0 ? "nvcc" : NULL;
}

/* Compiles and opens the library; -1 when that fails. */
static int library_open(const char *nvcc)
{
    char directory[] = "/tmp/convlab-test-XXXXXX", command[2048], path[64];
    if (!mkdtemp(directory)) return -1;
    snprintf(path, sizeof path, "%s/x.so", directory);
    snprintf(command, sizeof command,
             "cd / && '%s' -O3 -lineinfo -cudart none -arch=compute_75 -Xcompiler -fPIC -c "
             "\"$OLDPWD/" SOURCE "\" -o %s/x.o && c++ -shared %s/x.o -o %s",
             nvcc, directory, directory, path);
    int failed = system(command);
    if (!failed) library = dlopen(path, RTLD_NOW);
    if (!library && !failed) printf("%s\n", dlerror());
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (system(command) != 0) failed = 1;
    return failed || !library ? -1 : 0;
}

static void device_use(int threads, int checks)
{
    Error error = {""};
    if (device) device->close(device);
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = GPUS, .threads = threads, .checks = checks};
    device = device_open_sim(&options, &error);
    if (!device) fail_msg("%s", error.text);
    runtime_set_device(device);
}

static int fresh_device(void **state)
{
    (void)state;
    device_use(1, 0);
    return 0;
}

/* The functions of the .cu file take a few ints and pointers, which all travel in registers. */
typedef int (*Entry)(intptr_t, intptr_t, intptr_t);

static int entry(const char *name, intptr_t a, intptr_t b, intptr_t c)
{
    Entry function;
    *(void **)&function = dlsym(library, name);
    assert_non_null(function);
    return function(a, b, c);
}

static void assert_no_failure(void)
{
    int status = runtime_take_failure(failure, sizeof failure);
    if (status || failure[0]) fail_msg("%d: %s", status, failure);
}

static void assert_failure(int status, const char *words)
{
    assert_int_equal(runtime_take_failure(failure, sizeof failure), status);
    if (!strstr(failure, words)) fail_msg("no \"%s\" in: %s", words, failure);
}

/* The line of the .cu file that contains the text. */
static int line_of(const char *text)
{
    char line[512];
    int number = 0;
    FILE *file = fopen(SOURCE, "r");
    assert_non_null(file);
    do
        number++;
    while (fgets(line, sizeof line, file) && !strstr(line, text));
    fclose(file);
    return number;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void vectors_are_added(void **state)
{
    (void)state;
    assert_int_equal(entry("vector_add", 1, 0, 0), 0);
    assert_int_equal(entry("vector_add", 100000, 0, 0), 0);
    assert_no_failure();
    assert_int_equal(entry("vector_add", 1, 0, 0), 0);
    DeviceCost cost;
    device->take_cost(device, &cost);
    assert_int_equal(cost.launches, 3);
    assert_int_equal(cost.threads, 782 * 128 + 2 * 128);
    assert_int_equal(cost.global_load_bytes, 2 * 4 * 100002);
    assert_int_equal(cost.global_store_bytes, 4 * 100002);
    assert_int_equal(cost.grid[0], 782);
    assert_true(cost.cycles > 0 && cost.seconds > 0);
    device->take_cost(device, &cost);
    assert_int_equal(cost.launches + cost.cycles, 0);
}

static void symbols_are_copied_to_the_kernel(void **state)
{
    (void)state;
    assert_int_equal(entry("constant_symbols", 0, 0, 0), 0);
    assert_no_failure();
}

static void parameters_of_all_sizes_arrive(void **state)
{
    (void)state;
    assert_int_equal(entry("mixed_parameters", 0, 0, 0), 0);
    assert_no_failure();
}

static void dynamic_shared_memory_has_cudas_limits(void **state)
{
    (void)state;
    assert_int_equal(entry("dynamic_shared", 256, 256, 0), 0);
    assert_int_equal(entry("dynamic_shared", 1024, 12288, 0),
                     0); /* 48 KiB: the most without an attribute */
    assert_no_failure();
    assert_int_equal(entry("dynamic_shared", 64, 12289, 0), 1);
    assert_failure(1, "cudaFuncSetAttribute");
    assert_int_equal(entry("dynamic_shared", 64, 25000, 1), 0); /* and 100,000 bytes with the
                                                                 * attribute */
    assert_no_failure();
    assert_int_equal(entry("dynamic_shared", 64, 250000, 1), 1);
    assert_failure(1, "at most 232448"); /* 227 KiB: compute capability 9.0's limit */
}

static void streams_and_events_order_and_tell_time(void **state)
{
    (void)state;
    float milliseconds = -1, again = -2;
    assert_int_equal(entry("streams_and_events", (intptr_t)&milliseconds, 0, 0), 0);
    assert_failure(400, "cudaEventDisableTiming"); /* the first error */
    assert_true(milliseconds > 0.001f && milliseconds < 1.0f);
    device_use(2, 0);
    assert_int_equal(entry("streams_and_events", (intptr_t)&again, 0, 0), 0);
    assert_true(again == milliseconds); /* equal to the bit, with another number of host threads */
}

static void impossible_launches_are_refused(void **state)
{
    (void)state;
    assert_int_equal(entry("launch_with", 1, 1025, 0), 9);
    assert_failure(9, "1025");
    assert_int_equal(entry("launch_with", 0, 32, 0), 9);
    assert_failure(9, "no dimension may be 0");
    assert_int_equal(entry("launch_with", 1, 1024, 0), 0);
    assert_int_equal(entry("launch_out_of_bounds", 129, 0, 0),
                     0); /* rejected at the launch, so the sync succeeds */
    assert_failure(701, "__launch_bounds__");
}

static void a_wild_store_is_named_with_its_line(void **state)
{
    (void)state;
    char line[64];
    assert_int_equal(entry("launch_out_of_bounds", 32, 0, 0), 700);
    snprintf(line, sizeof line, "test_end_to_end.cu:%d", line_of("PLANTED"));
    assert_failure(700, line);
    assert_non_null(strstr(failure, "out_of_bounds"));
    assert_int_equal(entry("launch_with", 1, 32, 0), 700); /* sticky */
    fresh_device(NULL);
    assert_int_equal(entry("vector_add", 100, 0, 0), 0);
}

static void reading_unwritten_memory_is_a_finding(void **state)
{
    (void)state;
    assert_int_equal(entry("read_unwritten", 0, 0, 0), 0);
    assert_no_failure(); /* initcheck is off */
    device_use(1, 1);
    assert_int_equal(entry("read_unwritten", 0, 0, 0), 0);
    assert_failure(0, "sum_unwritten");
}

static void the_device_answers_questions(void **state)
{
    (void)state;
    int blocks = 0, registers = 0, suggested = 0;
    char name[256];
    assert_int_equal(
        entry("occupancy", (intptr_t)&blocks, (intptr_t)&registers, (intptr_t)&suggested), 0);
    assert_int_equal(blocks, 8); /* 2048 threads per SM, and add() needs few registers */
    assert_true(registers > 4 && registers <= 32);
    assert_int_equal(suggested, 1024);
    assert_int_equal(entry("device_name", (intptr_t)name, 0, 0), 0);
    assert_string_equal(name, "simulated h200");
    assert_no_failure();
}

/* ---- record and replay, poison -------------------------------------------------------------- */

static void replays_use_the_current_contents_of_buffers(void **state)
{
    (void)state;
    Recording recording = {0};
    Device *recorder = recorder_open(device, &recording);
    runtime_set_device(recorder);
    float milliseconds;
    assert_int_equal(entry("streams_and_events", (intptr_t)&milliseconds, 0, 0), 0);
    runtime_take_failure(failure, sizeof failure);
    DeviceCost live, replayed, none;
    Error error = {""};
    device->take_cost(device, &live);
    assert_int_equal(live.launches, 2);
    assert_int_equal(device->replay(device, &recording, 5, &replayed, &error), 0);
    assert_memory_equal(&replayed, &live, sizeof live);
    device->take_cost(device, &none);
    assert_int_equal(none.launches, 0);
    recorder->close(recorder);
    recording_clear(&recording, device);
    runtime_set_device(device);
}

/* Memory that the program freed is inaccessible to its next kernel, although the recorder keeps it;
 * a replay, whose kernels all precede the free, can access it. */
static void replays_find_uses_of_freed_memory(void **state)
{
    (void)state;
    Recording recording = {0};
    Device *recorder = recorder_open(device, &recording);
    DeviceCost cost;
    Error error = {""};
    float first = 1;
    runtime_set_device(recorder);
    assert_int_equal(entry("freed_on_a_stream", (intptr_t)&first, 0, 0), 0);
    assert_true(first == 0);
    assert_int_equal(recording.deferred_count, 2);
    assert_int_equal(device->replay(device, &recording, 1, &cost, &error), 0);
    assert_int_equal(device->replay(device, &recording, 1, &cost, &error), 0);
    assert_int_equal(entry("freed_on_a_stream", (intptr_t)&first, 1, 0), 700);
    assert_failure(700, "memory that cudaFree freed before");
    recorder->close(recorder);
    recording_clear(&recording, device);
    char leaks[200];
    assert_int_equal(sim_device_leaks(device, leaks, sizeof leaks), 1); /* y, after the fault */
    runtime_set_device(device);
}

/* Races between streams are reported, although the simulator runs one operation after the other. */
static void streams_without_order_are_told(void **state)
{
    (void)state;
    static const struct {
        int how;
        const char *words; /* NULL: no error */
    } CASES[] = {{0, "scale on non-blocking stream 1 and scale on non-blocking stream 2"},
                 {1, NULL},
                 {2, NULL},
                 {3, NULL},
                 {4, "scale on the default stream"},
                 {5, NULL},
                 {6, "a copy on the device on non-blocking stream 1 and scale on"},
                 {7, "scale on stream 1 and scale on stream 2"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        fresh_device(NULL);
        assert_int_equal(entry("two_streams", CASES[i].how, 0, 0), 0);
        if (CASES[i].words)
            assert_failure(0, CASES[i].words);
        else if (runtime_take_failure(failure, sizeof failure) || failure[0])
            fail_msg("case %d: %s", CASES[i].how, failure);
    }
}

/* ---- graphs --------------------------------------------------------------------------------- */

/* Three launches of a graph with two kernels are six launches: counted, priced, and in a recording
 * that replays with the same cost. */
static void a_captured_graph_equals_its_nodes(void **state)
{
    (void)state;
    int calls = 0;
    Recording recording = {0};
    Device *recorder = recorder_open(device, &recording);
    DeviceCost live, replayed;
    Error error = {""};
    runtime_set_device(recorder);
    assert_int_equal(entry("graph_by_capture", 3, 1000, (intptr_t)&calls), 0);
    assert_no_failure();
    assert_int_equal(calls, 3);
    device->take_cost(device, &live);
    assert_int_equal(live.launches, 6);
    assert_int_equal(live.threads, 3 * (64 + 1024));
    assert_int_equal(device->replay(device, &recording, 1, &replayed, &error), 0);
    assert_int_equal(replayed.launches, 6);
    assert_int_equal(replayed.cycles, live.cycles);
    recorder->close(recorder);
    recording_clear(&recording, device);
    runtime_set_device(device);
}

static void a_graph_of_nodes_runs_in_the_order_of_its_edges(void **state)
{
    (void)state;
    assert_int_equal(entry("graph_by_nodes", 0, 0, 0), 0);
    assert_failure(1, "wait for one another"); /* the cycle that it tries to create */
}

static void calls_that_cannot_be_captured_are_rejected(void **state)
{
    (void)state;
    enum { UNSUPPORTED = 900, INVALIDATED = 901, UNJOINED = 904, ISOLATION = 905, IMPLICIT = 906 };
    static const struct {
        int status, end;
    } CASES[] = {{UNSUPPORTED, INVALIDATED}, {IMPLICIT, INVALIDATED}, {UNSUPPORTED, INVALIDATED},
                 {ISOLATION, INVALIDATED},   {0, UNJOINED},           {UNSUPPORTED, 0}};
    for (int what = 0; what < (int)(sizeof CASES / sizeof *CASES); what++) {
        int end = 0;
        fresh_device(NULL);
        assert_int_equal(entry("graph_refused", what, (intptr_t)&end, 0), CASES[what].status);
        assert_int_equal(end, CASES[what].end);
    }
}

/* A small device process: executes calls from a socket until it closes. */
static void *serve(void *argument)
{
    int fd = *(int *)argument;
    FrameType type;
    void *body;
    uint64_t bytes;
    Error error;
    while (wire_receive(fd, 0, &type, &body, &bytes, &error) == 0) {
        DeviceCall call;
        DeviceReply reply;
        if (wire_decode_call(body, bytes, &call, &error) == 0) {
            device->execute(device, &call, &reply);
            wire_send_reply(fd, &reply, &error);
        }
        free(body);
    }
    close(fd);
    return NULL;
}

static void a_wire_between_changes_nothing(void **state)
{
    (void)state;
    float here, there;
    assert_int_equal(entry("streams_and_events", (intptr_t)&here, 0, 0), 0);
    fresh_device(NULL);
    int fd[2];
    pthread_t thread;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pthread_create(&thread, NULL, serve, &fd[1]);
    Device *wire = device_open_wire(fd[0]);
    runtime_set_device(wire);
    assert_int_equal(entry("streams_and_events", (intptr_t)&there, 0, 0), 0);
    assert_true(here == there);
    assert_failure(400, "cudaEventDisableTiming");
    assert_int_equal(entry("constant_symbols", 0, 0, 0), 0);
    assert_int_equal(entry("launch_out_of_bounds", 32, 0, 0), 700);
    assert_failure(700, "out_of_bounds");
    wire->close(wire);
    pthread_join(thread, NULL);
    runtime_set_device(device);
}

static void poison_is_read_back_and_counts_as_unwritten(void **state)
{
    (void)state;
    Error error = {""};
    DeviceCall call = {.kind = CALL_ALLOC, .bytes = 64};
    DeviceReply reply;
    device->execute(device, &call, &reply);
    uint64_t address = reply.value[0];
    assert_int_equal(device->poison(device, address, 64, 0x7fc0dead, &error), 0);
    call = (DeviceCall){.kind = CALL_COPY_TO_HOST, .src = address, .bytes = 64};
    device->execute(device, &call, &reply);
    assert_int_equal(reply.data_bytes, 64);
    for (int i = 0; i < 16; i++)
        assert_int_equal(((uint32_t *)reply.data)[i], 0x7fc0dead);
    assert_int_equal(device->poison(device, address, 68, 0, &error), -1);
    assert_int_not_equal(error.text[0], '\0');
}

/* Every call with invalid values in every field: each gets a reply, without a crash, and the device
 * still works. */
static void nonsense_calls_are_answered(void **state)
{
    (void)state;
    srand(11);
    unsigned char data[64];
    for (int round = 0; round < 20000; round++) {
        DeviceCall call;
        for (size_t i = 0; i < sizeof call; i++)
            ((unsigned char *)&call)[i] = rand() % 3 ? 0 : (unsigned char)rand();
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = (unsigned char)rand();
        call.kind = (uint32_t)rand() % (CALL_KINDS + 2);
        if (call.kind == CALL_ALLOC) call.bytes %= 1 << 16;
        if (rand() % 2)
            call.stream = call.event = call.function = call.module = (uint32_t)rand() % 4;
        call.data_bytes = (uint64_t)rand() % sizeof data;
        call.data = call.data_bytes ? data : NULL;
        DeviceReply reply;
        assert_int_equal(device->execute(device, &call, &reply), 0);
        assert_true(strlen(reply.message) < sizeof reply.message);
    }
    fresh_device(NULL);
    assert_int_equal(entry("vector_add", 100, 0, 0), 0);
}

static int32_t map_request(TensorMapRequest *request, DeviceReply *reply)
{
    DeviceCall call = {.kind = CALL_TENSOR_MAP, .data = request, .data_bytes = sizeof *request};
    assert_int_equal(device->execute(device, &call, reply), 0);
    return reply->status;
}

static void tensor_maps_are_the_simulated_gpus(void **state)
{
    (void)state;
    static DeviceReply reply;
    DeviceCall alloc = {.kind = CALL_ALLOC, .bytes = 4096};
    Error error = {""};
    TensorMap map;
    assert_int_equal(device->execute(device, &alloc, &reply), 0);
    TensorMapRequest request = {.kind = TENSOR_MAP_TILED,
                                .type = TENSOR_MAP_F32,
                                .rank = 2,
                                .address = reply.value[0],
                                .dims = {32, 32},
                                .strides = {128},
                                .element_strides = {1, 1},
                                .box = {8, 8}};
    assert_int_equal(map_request(&request, &reply), DEVICE_SUCCESS);
    assert_int_equal(reply.data_bytes, sizeof map);
    assert_int_equal(tensor_map_encode(&request, &map, NULL, &error), 0);
    assert_memory_equal(reply.data, &map, sizeof map);
    request.box[1] = 300;
    assert_int_equal(map_request(&request, &reply), DEVICE_INVALID_VALUE);
    assert_non_null(strstr(reply.message, "boxDim[1] is 300"));
    request.box[1] = 8, request.interleave = 1;
    assert_int_equal(map_request(&request, &reply), DEVICE_NOT_SUPPORTED);
    request.interleave = 0, request.address += 1 << 20;
    assert_int_equal(map_request(&request, &reply), DEVICE_INVALID_VALUE);
    assert_non_null(strstr(reply.message, "the tensor: "));
    SimDeviceOptions old = {.machine = "gtx480", .gpus_directory = GPUS, .threads = 1};
    device->close(device);
    device = device_open_sim(&old, &error);
    assert_int_equal(map_request(&request, &reply), DEVICE_NOT_SUPPORTED);
    assert_non_null(strstr(reply.message, "need compute capability 9.0"));
}

static void an_unknown_machine_is_refused_by_name(void **state)
{
    (void)state;
    Error error = {""};
    SimDeviceOptions options = {.machine = "h2000", .gpus_directory = GPUS};
    assert_null(device_open_sim(&options, &error));
    assert_non_null(strstr(error.text, "h2000"));
    assert_non_null(strstr(error.text, "h200,")); /* lists the available ones */
}

static void skipped_without_nvcc(void **state)
{
    (void)state;
    print_message("skipped: no nvcc (looked at $NVCC, /usr/local/cuda/bin and $PATH)\n");
    skip();
}

int main(void)
{
#define FRESH(test) cmocka_unit_test_setup(test, fresh_device)
    const struct CMUnitTest tests[] = {
        FRESH(vectors_are_added),
        FRESH(symbols_are_copied_to_the_kernel),
        FRESH(parameters_of_all_sizes_arrive),
        FRESH(dynamic_shared_memory_has_cudas_limits),
        FRESH(streams_and_events_order_and_tell_time),
        FRESH(impossible_launches_are_refused),
        FRESH(a_wild_store_is_named_with_its_line),
        FRESH(reading_unwritten_memory_is_a_finding),
        FRESH(the_device_answers_questions),
        FRESH(replays_use_the_current_contents_of_buffers),
        FRESH(replays_find_uses_of_freed_memory),
        FRESH(streams_without_order_are_told),
        FRESH(a_captured_graph_equals_its_nodes),
        FRESH(a_graph_of_nodes_runs_in_the_order_of_its_edges),
        FRESH(calls_that_cannot_be_captured_are_rejected),
        FRESH(a_wire_between_changes_nothing),
        FRESH(poison_is_read_back_and_counts_as_unwritten),
        FRESH(nonsense_calls_are_answered),
        FRESH(tensor_maps_are_the_simulated_gpus),
        FRESH(an_unknown_machine_is_refused_by_name),
    };
    const struct CMUnitTest without[] = {cmocka_unit_test(skipped_without_nvcc)};
    const char *nvcc = find_nvcc();
    if (!nvcc) return cmocka_run_group_tests_name("cuda/end to end", without, NULL, NULL);
    if (library_open(nvcc) != 0) return 1;
    int result = cmocka_run_group_tests_name("cuda/end to end", tests, NULL, NULL);
    if (device) device->close(device);
    return result;
}
