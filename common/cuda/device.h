/* device.h - the device interface: every CUDA call of a lab is one DeviceCall, answered by one
 * DeviceReply.
 *
 * Module: calls as data, their transport over a socket, and their recording.
 * Callers: code that makes, forwards or executes calls.
 * May use: base.
 *
 * One struct has four uses: the drop-in runtime builds it, the wire sends it to another process,
 * the recorder stores it, and an engine executes it.  So a submission's calls are data that can be
 * logged, replayed and fuzzed.
 *
 *   submission -> runtime.c (cudaMalloc, <<<>>> ...) -> Device: an engine in the same process
 *   (make run), or a wire to an engine in another (make grade)
 *
 * Addresses are device addresses (uint64_t), handles are small integers given out by the engine,
 * statuses are the numbers of cudaError_t (0 = success, 2 = out of memory, 700 = illegal address
 * ...).  All calls are executed in the order in which they arrive; asynchrony is expressed by the
 * stream each call names, and by events. */
#ifndef CONVLAB_CUDA_DEVICE_H
#define CONVLAB_CUDA_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/array_name.h"
#include "common/base/counters.h"
#include "common/base/error.h"
#include "common/base/tensor_request.h"

typedef enum DeviceCallKind {
    CALL_PROPERTIES, /* -> reply data: DeviceProperties */
    CALL_MEM_INFO,   /* -> value[0] free bytes, value[1] total bytes */
    /* bytes, value: ALLOC_MANAGED or 0 -> value[0] address (256-byte aligned, contents
     * unwritten) */
    CALL_ALLOC,
    CALL_FREE,           /* dst (0 is allowed), value: FREE_ON_STREAM with stream, or 0 */
    CALL_COPY_TO_DEVICE, /* dst, data/data_bytes, stream */
    CALL_COPY_TO_HOST,   /* src, bytes, stream -> reply data */
    CALL_COPY_ON_DEVICE, /* dst, src, bytes, stream */
    CALL_FILL,           /* dst, value (a byte), bytes, stream */
    /* data: the fat binary; bytes: limit of its variables on the simulator, 0: none -> value[0]
     * module, value[1] their bytes (0 on a GPU) */
    CALL_MODULE_LOAD,
    CALL_MODULE_UNLOAD,      /* module */
    CALL_MODULE_FUNCTION,    /* module, data: name -> value[0] function, reply data: FunctionInfo */
    CALL_MODULE_VARIABLE,    /* module, data: name -> value[0] address, value[1] bytes */
    CALL_FUNCTION_ATTRIBUTE, /* function, value: a cudaFuncAttribute, bytes: its new value */
    CALL_OCCUPANCY,          /* function, block[0], shared_bytes -> value[0] blocks an SM holds */
    /* function, grid, block, shared_bytes, stream, data: parameters, value: LAUNCH_... or 0 */
    CALL_LAUNCH,
    CALL_STREAM_CREATE, /* value: flags -> value[0] stream */
    CALL_STREAM_DESTROY,
    CALL_STREAM_SYNC,
    CALL_STREAM_QUERY,
    CALL_STREAM_WAIT,  /* stream, event */
    CALL_EVENT_CREATE, /* value: flags -> value[0] event */
    CALL_EVENT_DESTROY,
    CALL_EVENT_RECORD, /* event, stream */
    CALL_EVENT_SYNC,
    CALL_EVENT_QUERY,
    CALL_EVENT_ELAPSED, /* event, event2 -> value[0] the bits of a double, milliseconds */
    CALL_SYNC,          /* the whole device */
    CALL_POINTER,       /* dst: any address -> value[0] 1 for device memory, 2 for managed memory,
                         * else 0 */
    CALL_TENSOR_MAP,    /* data: a TensorMapRequest -> reply data: TENSOR_MAP_BYTES for a kernel */
    CALL_LIMIT,         /* value: a DeviceLimit, bytes: its new value -> value[0] its present
                         * value */
    CALL_KINDS
} DeviceCallKind;

/* The values of cudaLimit that engines support. */
typedef enum DeviceLimit { DEVICE_LIMIT_STACK = 0, DEVICE_LIMIT_HEAP = 2 } DeviceLimit;

/* A free in stream order that does not block, as cudaFreeAsync's. */
enum { FREE_ON_STREAM = 1 };

/* `value` of CALL_MODULE_FUNCTION for a name that the program itself asks for and that may lack. */
enum { FUNCTION_MAY_LACK = 1 };

/* `value` of a copy between device and pinned host memory that the host does not wait for; only set
 * if the engine is in the program's process. */
enum { COPY_ASYNC = 1 };

/* `value` of a copy between host and device by a library that computes on the host.  The copy takes
 * no time, and the host does not wait for it.  Reads of unwritten memory are findings.  `data` of a
 * copy to the host is the library function's name, for messages.  Only if the engine is in the
 * program's process. */
enum { COPY_BY_LIBRARY = 2 };

/* Memory that host code uses too, at the same address: only if the engine is in the program's
 * process. */
enum { ALLOC_MANAGED = 1 };

/* `value` of a launch.  Cooperative: all of its blocks must be resident at once, or it is rejected.
 * Overlaps: it may start when the previous launch on the stream allows it (programmatic dependent
 * launch), and waits by itself. From bit LAUNCH_CLUSTER on, 8 bits each: the blocks of a cluster in
 * x, y, z; 0: as the kernel declares. */
enum { LAUNCH_TOGETHER = 1, LAUNCH_OVERLAPS = 2, LAUNCH_CLUSTER = 8, LAUNCH_CLUSTER_MOST = 16 };

typedef struct DeviceCall {
    uint32_t kind;
    /* handles; stream 0 is the legacy default stream */
    uint32_t stream, event, event2, module, function;
    uint32_t value;
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t dst, src, bytes;
    uint64_t data_bytes;
    const void *data; /* owned by the caller during the call */
} DeviceCall;

/* The values of cudaError_t that engines and runtime use; CUDA's ABI fixes them. */
typedef enum DeviceStatus {
    DEVICE_SUCCESS = 0,
    DEVICE_INVALID_VALUE = 1,
    DEVICE_OUT_OF_MEMORY = 2,
    DEVICE_NOT_INITIALISED = 3,
    DEVICE_INVALID_CONFIGURATION = 9,
    DEVICE_INVALID_SYMBOL = 13,
    DEVICE_INVALID_COPY_DIRECTION = 21,
    DEVICE_UNAVAILABLE = 46,
    DEVICE_INVALID_FUNCTION = 98,
    DEVICE_NO_DEVICE = 100,
    DEVICE_INVALID_DEVICE = 101,
    DEVICE_INVALID_IMAGE = 200,
    DEVICE_INVALID_HANDLE = 400,
    DEVICE_NOT_FOUND = 500,
    DEVICE_NOT_READY = 600,
    DEVICE_ILLEGAL_ADDRESS = 700,
    DEVICE_OUT_OF_RESOURCES = 701,
    DEVICE_LAUNCH_TIMEOUT = 702,
    DEVICE_ASSERT = 710,
    DEVICE_ILLEGAL_INSTRUCTION = 715,
    DEVICE_MISALIGNED_ADDRESS = 716,
    DEVICE_LAUNCH_FAILURE = 719,
    DEVICE_COOPERATIVE_TOO_LARGE = 720,
    DEVICE_NOT_SUPPORTED = 801,
    DEVICE_UNKNOWN = 999
} DeviceStatus;

/* Bit of the handle of a stream made with cudaStreamNonBlocking, so that a list of calls determines
 * its order. */
#define DEVICE_STREAM_NON_BLOCKING 0x80000000u

/* Notes of the simulator to the recorder of the order between calls (DeviceReply.notes).
 * Overlaps: a launch with LAUNCH_OVERLAPS was checked against the launch that it may overlap, or
 * that launch does not let it begin early; without this note it is recorded without the flag.
 * Waited: the call waited for the whole device before it did anything.  Serial: the race check
 * lost the order between streams, so this recording is priced one call after another. */
typedef enum DeviceReplyNotes {
    REPLY_OVERLAPS = 1,
    REPLY_WAITED = 2,
    REPLY_SERIAL = 4
} DeviceReplyNotes;

typedef struct DeviceReply {
    int32_t status; /* cudaError_t */
    uint32_t notes; /* DeviceReplyNotes; they stay in the process and do not cross a wire */
    uint64_t value[2];
    uint64_t data_bytes;
    void *data; /* owned by the Device, valid until its next call */
    /* Details beyond cudaError_t: kernel, block, thread, address, line; "" if none.  With status 0:
     * a finding that did not stop the kernel (initcheck). */
    char message[1024];
} DeviceReply;

enum { FUNCTION_PARAMS = 64 };

typedef struct FunctionInfo {
    uint32_t param_count;
    uint32_t param_offset[FUNCTION_PARAMS], param_bytes[FUNCTION_PARAMS];
    uint32_t params_bytes; /* size of the packed block */
    uint32_t registers, shared_bytes, local_bytes, const_bytes, max_threads;
    uint32_t spilled_bytes; /* local memory of spills, in machine code only (simulator) */
    uint32_t spills;        /* number of accesses to them that the simulator prices */
    uint32_t spill_line;    /* source line with most of these; 0: unknown */
    uint32_t ptx_version, binary_version; /* 75, 90 ... as in cudaFuncAttributes */
} FunctionInfo;

/* Engine that executes calls.  AUTO is only used in options: the available one. */
typedef enum DeviceEngine { ENGINE_SIM, ENGINE_GPU, ENGINE_AUTO } DeviceEngine;

const char *engine_name(DeviceEngine engine);            /* "sim", "gpu", "auto" */
int engine_find(const char *name, DeviceEngine *engine); /* -1: no such name */

/* Work of the simulator in addition to execution and access checks: none, in a third of the time;
 * counters and cycles; race detection; or both. */
typedef enum DeviceStudy {
    DEVICE_EXECUTED = 0,
    DEVICE_PRICED = 1,
    DEVICE_SEARCHED = 2,
    DEVICE_STUDIED = DEVICE_PRICED | DEVICE_SEARCHED
} DeviceStudy;

typedef struct DeviceProperties {
    char name[128]; /* "NVIDIA H200", "simulated h200" */
    DeviceEngine engine;
    uint64_t memory_bytes, l2_bytes, const_bytes;
    uint32_t cc_major, cc_minor, sms, warp_size, clock_khz, memory_clock_khz, memory_bus_bits;
    uint32_t max_threads_per_block, max_block[3], max_grid[3];
    uint32_t max_threads_per_sm, max_blocks_per_sm;
    uint32_t registers_per_block, registers_per_sm;
    uint32_t shared_per_block, shared_per_block_optin, shared_per_sm;
    uint32_t shared_reserved; /* bytes per block that CUDA itself uses */
    uint32_t driver_version;
    uint32_t fp64_ratio; /* fp32 operations per cycle over those of fp64 */
    uint32_t persisting_l2_bytes, access_window_bytes; /* 0: no persisting accesses in the L2 */
    /* Booleans: ALLOC_MANAGED, cooperative launches and clusters are supported. */
    uint32_t managed, has_cooperative_launches, has_clusters;
} DeviceProperties;

/* The source lines with most of the warps' instructions, unsorted; line 0: none. */
enum { COST_LINES = 64 };

typedef struct LineWork {
    uint64_t warp_instructions[COST_LINES];
    uint32_t line[COST_LINES];
} LineWork;

/* Cost and counters of one pass over recorded or live launches.  The gpu engine fills seconds,
 * launches, blocks, threads and the fields of the most expensive launch; it has no other
 * counters. */
typedef struct DeviceCost {
    double seconds;  /* gpu: measured by events; sim: cycles / clock */
    double first;    /* seconds of the first of several replays on the same inputs */
    uint64_t cycles; /* sim only */
    union {
        Counters counters;
        struct {
            COUNTERS(COUNTER_FIELD)
        };
    };
    /* Values of the most expensive launch. */
    uint32_t occupancy_percent; /* achieved */
    uint32_t registers, shared_bytes, resident_blocks;
    uint32_t grid[3], block[3];
    uint32_t local_line, load_line, conflict_line; /* sim: lines with the largest share
                                                    * (SimtResult) */
    LineWork work;                                 /* sim: over all launches */
} DeviceCost;

/* A launch on the simulated GPU, in cycles since the first operation. */
typedef struct DeviceLaunch {
    const char *kernel; /* its plain name; valid as long as the device */
    uint32_t number;    /* among the GPU's launches, from 1 */
    uint32_t stream, grid[3], block[3];
    uint64_t begin, end; /* on the timeline of the streams */
    uint64_t cycles;     /* duration of the launch alone */
} DeviceLaunch;

typedef struct Device Device;
typedef struct Recording Recording;

/* Unnecessary behaviour of an entry point. */
typedef enum DeviceHabit {
    HABIT_NO_STREAM = 1, /* a launch that names no stream */
    HABIT_WAITS = 2,     /* waiting for the device */
    HABIT_LEAKS = 4      /* memory that several calls in a row allocated and did not free */
} DeviceHabit;

struct Device {
    /* Executes one call.  Always fills *reply; returns 0, or -1 only if the device itself is lost
     * (a closed wire). */
    int (*execute)(Device *device, const DeviceCall *call, DeviceReply *reply);
    /* The cost of all launches and copies since the last call of it, which it resets.  NULL if
     * unknown (a wire). */
    void (*take_cost)(Device *device, DeviceCost *cost);
    /* Replays a recording `repeats` times as one unit; fills cost (of one replay). gpu: as a CUDA
     * graph, without additional runs; the L2 is flushed before each launch, outside of the measured
     * time.  sim: once, because every replay costs the same.  Inputs and outputs are the present
     * contents of the buffers.  NULL if unsupported. */
    int (*replay)(Device *device, Recording *recording, int repeats, DeviceCost *cost,
                  Error *error);
    /* Fills [address, +bytes) with `word` and marks it as uninitialised, for initcheck. */
    int (*poison)(Device *device, uint64_t address, uint64_t bytes, uint32_t word, Error *error);
    /* The program freed the memory at `address`, but a replay will need it: until it is really
     * freed, or restored by retired 0, its use is a fault.  NULL if the engine cannot detect it. */
    int (*retire)(Device *device, uint64_t address, int retired, Error *error);
    /* Names the array at `address` in findings.  NULL if unsupported. */
    int (*name)(Device *device, uint64_t address, const ArrayName *array, Error *error);
    /* Resets the variables of all modules to their initial values, so that no state outlives a run.
     * NULL if unsupported. */
    int (*restore)(Device *device, Error *error);
    /* Sets the checks and counters of later launches; initially DEVICE_STUDIED.  NULL if there is
     * no difference. */
    void (*study)(Device *device, DeviceStudy study);
    void (*close)(Device *device);
};

const char *device_status_name(int32_t status); /* "cudaErrorIllegalAddress" */
const char *device_status_text(int32_t status); /* text like cudaGetErrorString's */
int device_status_sticky(int32_t status);       /* Boolean: a fault, after which every later call
                                                 * fails */

/* Stores status and message (printf style) in *reply; returns 0, so that engines can write `return
 * device_fail(...)`. */
int device_fail(DeviceReply *reply, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
