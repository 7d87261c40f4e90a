/* device.h - the device interface: every CUDA call of a lab is one DeviceCall, answered by one
 * DeviceReply.
 *
 * Module: the call as data, the wire that carries it, the recorder that keeps it.
 * Callers: whoever makes calls, passes them on or executes them.
 * May use: base.
 *
 * One struct serves four masters: the drop-in runtime builds it, the wire carries it to another
 * process, the recorder keeps it, an engine executes it.  So "what a submission asked of the
 * GPU" is data that can be logged, replayed and fuzzed.
 *
 *   submission -> runtime.c (cudaMalloc, <<<>>> ...) -> Device: an engine in the same process
 *   (make run), or a wire to an engine in another (make grade)
 *
 * Addresses are device addresses (uint64_t), handles are small integers given out by the
 * engine, statuses are the numbers of cudaError_t (0 = success, 2 = out of memory, 700 =
 * illegal address ...).  All calls are executed in the order in which they arrive; asynchrony
 * is expressed by the stream each call names, and by events. */
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
    /* data: the fat binary; bytes: the most that its variables may take on the simulator, 0: any ->
     * value[0] module, value[1] their bytes (0 on a card) */
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
    CALL_POINTER,       /* dst: any address -> value[0] 1 when it is device memory, 2 when it is
                           managed, else 0 */
    CALL_TENSOR_MAP,    /* data: a TensorMapRequest -> reply data: TENSOR_MAP_BYTES for a kernel */
    CALL_LIMIT,         /* value: a DeviceLimit, bytes: its new value -> value[0] what it is now */
    CALL_KINDS
} DeviceCallKind;

/* Of the numbers of cudaLimit, those that engines know of. */
typedef enum DeviceLimit { DEVICE_LIMIT_STACK = 0, DEVICE_LIMIT_HEAP = 2 } DeviceLimit;

/* A free that takes its place on a stream and waits for nobody, as cudaFreeAsync's. */
enum { FREE_ON_STREAM = 1 };

/* Memory that the program's own code uses too, at the same address: only where the engine is in the
 * program's process. */
enum { ALLOC_MANAGED = 1 };

/* `value` of a launch.  Cooperative: all of its blocks are resident at once, or it is refused.
 * Overlaps: it may begin when the launch before it on the stream lets it, and waits by itself.
 * From bit LAUNCH_CLUSTER on, 8 bits each, the blocks of a cluster in x, y, z; 0: as the kernel
 * says. */
enum { LAUNCH_TOGETHER = 1, LAUNCH_OVERLAPS = 2, LAUNCH_CLUSTER = 8, LAUNCH_CLUSTER_MOST = 16 };

typedef struct DeviceCall {
    uint32_t kind;
    /* handles; stream 0 is the legacy default stream */
    uint32_t stream, event, event2, module, function;
    uint32_t value;
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t dst, src, bytes;
    uint64_t data_bytes;
    const void *data; /* owned by the caller for the length of the call */
} DeviceCall;

/* The numbers of cudaError_t that engines and runtime use by name; they are fixed for good by
 * CUDA's ABI. */
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

/* A stream made with cudaStreamNonBlocking has this bit in its handle, so that a list of calls
 * alone tells its order. */
#define DEVICE_STREAM_NON_BLOCKING 0x80000000u

/* What the simulator says to the recorder of the order between calls (DeviceReply.notes).
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
    /* What cudaError_t cannot say: kernel, block, thread, address, line; "" if none.  With status
     * 0: a finding that did not stop the kernel (initcheck). */
    char message[1024];
} DeviceReply;

enum { FUNCTION_PARAMS = 64 };

typedef struct FunctionInfo {
    uint32_t param_count;
    uint32_t param_offset[FUNCTION_PARAMS], param_bytes[FUNCTION_PARAMS];
    uint32_t params_bytes; /* of the packed block */
    uint32_t registers, shared_bytes, local_bytes, const_bytes, max_threads;
    uint32_t spilled_bytes; /* of local memory, in machine code only; the simulator's */
    uint32_t spills;        /* of the accesses to them, those that it prices */
    uint32_t spill_line;    /* of the source, where most of these are; 0: not known */
    uint32_t ptx_version, binary_version; /* 75, 90 ... as cudaFuncAttributes gives them */
} FunctionInfo;

/* What executes calls.  AUTO stands in options alone: whichever there is. */
typedef enum DeviceEngine { ENGINE_SIM, ENGINE_GPU, ENGINE_AUTO } DeviceEngine;

const char *engine_name(DeviceEngine engine);            /* "sim", "gpu", "auto" */
int engine_find(const char *name, DeviceEngine *engine); /* -1: no such name */

/* What the simulator does with a launch beside executing it and checking its accesses: nothing, in
 * a third of the time; or it counts and prices; or it looks for races; or both. */
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
    uint32_t driver_version;
    uint32_t managed; /* there is ALLOC_MANAGED */
} DeviceProperties;

/* The source lines in which the most of the warps' instructions are, in no order; line 0: none. */
enum { COST_LINES = 64 };

typedef struct LineWork {
    uint64_t warp_instructions[COST_LINES];
    uint32_t line[COST_LINES];
} LineWork;

/* What one pass over recorded or live launches cost and counted.  The gpu engine fills seconds,
 * launches, blocks, threads and what is said of the costliest launch; it counts nothing else. */
typedef struct DeviceCost {
    double seconds;  /* gpu: measured by events; sim: cycles / clock */
    double first;    /* of several replays on the same inputs: the first one's seconds */
    uint64_t cycles; /* sim only */
    union {
        Counters counters;
        struct {
            COUNTERS(COUNTER_FIELD)
        };
    };
    /* Of the costliest launch. */
    uint32_t occupancy_percent; /* achieved */
    uint32_t registers, shared_bytes, resident_blocks;
    uint32_t grid[3], block[3];
    uint32_t local_line, load_line, conflict_line; /* sim: where most of it is (SimtResult) */
    LineWork work;                                 /* sim: of all launches */
} DeviceCost;

typedef struct Device Device;
typedef struct Recording Recording;

/* What an entry point may do and nobody asks of it. */
typedef enum DeviceHabit {
    HABIT_NO_STREAM = 1, /* a launch that names no stream */
    HABIT_WAITS = 2,     /* waiting for the device */
    HABIT_LEAKS = 4      /* memory that several calls in a row allocated and did not free */
} DeviceHabit;

struct Device {
    /* Executes one call.  Always fills *reply; returns 0, or -1 only when the device itself is gone
     * (a closed wire). */
    int (*execute)(Device *device, const DeviceCall *call, DeviceReply *reply);
    /* The cost of all launches and copies since the last take; zeroes it.  NULL where unknown (a
     * wire). */
    void (*take_cost)(Device *device, DeviceCost *cost);
    /* Replays a recording `repeats` times back to back as one unit; fills cost (one replay's).
     * gpu: as a CUDA graph, the L2 flushed before each launch and a pair of events around each one,
     * so that no flush is in the time; nothing runs that was not asked for.  sim: once, since
     * the next would cost the same.  Inputs and outputs are whatever the buffers hold.  NULL
     * where unsupported. */
    int (*replay)(Device *device, Recording *recording, int repeats, DeviceCost *cost,
                  Error *error);
    /* Marks [address, +bytes) as never written, for initcheck, after filling it with `word`. */
    int (*poison)(Device *device, uint64_t address, uint64_t bytes, uint32_t word, Error *error);
    /* The program freed the memory at `address`, but a replay will need it: until it is freed, or
     * retired 0 gives it back, using it is a fault.  NULL where the engine cannot tell. */
    int (*retire)(Device *device, uint64_t address, int retired, Error *error);
    /* Names the array that was allocated at `address`, for findings.  NULL where nothing is told by
     * name. */
    int (*name)(Device *device, uint64_t address, const ArrayName *array, Error *error);
    /* The variables of all modules hold again what they held when their module was loaded, so that
     * nothing there outlives a run.  NULL where unsupported. */
    int (*restore)(Device *device, Error *error);
    /* How much is found out about later launches; DEVICE_STUDIED at first.  NULL where there is no
     * difference. */
    void (*study)(Device *device, DeviceStudy study);
    void (*close)(Device *device);
};

const char *device_status_name(int32_t status); /* "cudaErrorIllegalAddress" */
const char *device_status_text(int32_t status); /* cudaGetErrorString's, in our words */
int device_status_sticky(int32_t status);       /* a fault: every later call fails too */

/* Puts status and message (printf style) into *reply; returns 0, so that engines can write
 * `return device_fail(...)`. */
int device_fail(DeviceReply *reply, int32_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
