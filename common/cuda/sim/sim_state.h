/* sim_state.h - internal state of the simulated engine, shared by sim_device*.c only. */
#ifndef CONVLAB_CUDA_SIM_STATE_H
#define CONVLAB_CUDA_SIM_STATE_H

#include "common/cuda/sim/sim_device.h"
#include "common/cuda/sim/sim_guard.h"
#include "common/cuda/sim/sim_order.h"
#include "common/cuda/sim/sim_timeline.h"
#include "common/simulator/launch/simt.h"

typedef struct SimFunction {
    SimtKernel *kernel;
    uint32_t module;        /* handle of its module; a function is valid as long as its module */
    uint32_t dynamic_limit; /* set by cudaFuncSetAttribute; 0: not set */
    SimtKernelInfo info;
} SimFunction;

typedef struct SimStream {
    int live;
    int lets_next;     /* its last operation is a launch that lets the next one begin early */
    TimelineMark mark; /* its last operation's mark */
} SimStream;

typedef struct SimEvent {
    int live, recorded, timed;
    OrderClock order; /* operations that have ended when it is reached */
    uint64_t cycle;   /* end of the earlier work on its stream */
} SimEvent;

/* Timed work of the current call. */
typedef struct SimWork {
    TimelineResource resource;
    uint32_t share;
    uint64_t cycles;
    int is_launch, overlaps, tells;
    uint32_t number;       /* SimtResult.number of a launch */
    TimelineLaunch launch; /* set for a launch */
} SimWork;

/* A launch that has run, while its cycles are computed in parallel with the next one
 * (simt_launch_begin); it is not on the timeline yet. */
typedef struct SimUnsettled {
    int waits;
    DeviceCall call;
    SimtResult *result; /* one of SimDevice's two: the next launch uses the other */
} SimUnsettled;

/* The last launch, if it allowed the next one to start before its end. */
typedef struct SimEarly {
    int is_there;
    SimtTouch touch;
    uint32_t stream;
    char kernel[96];
} SimEarly;

/* The list of launches, with names of kernels that outlive their modules. */
typedef struct SimLaunches {
    int is_kept; /* Boolean: launches are added */
    DeviceLaunch *launch;
    char **name;
    uint32_t count, room, names;
} SimLaunches;

/* Handles are index + 1 into these; numbers are never reused, so that a stale handle is always
 * detected. */
typedef struct SimTable {
    void *item;
    uint32_t count, capacity;
} SimTable;

typedef struct SimDevice {
    Device device; /* first member: a Device * of this engine is a SimDevice * */
    SimtGpu *gpu;
    SimtMachine machine;
    int untrusted;              /* as in SimDeviceOptions */
    uint64_t instruction_limit; /* between two take_cost; 0: the default for each launch */
    SimTable modules;           /* SimtModule *, NULL once unloaded */
    SimTable functions;         /* SimFunction */
    SimTable streams;           /* SimStream; without the default stream */
    SimTable events;            /* SimEvent */
    Timeline timeline;
    TimelineMark default_mark; /* the default stream's mark */
    int default_lets_next;     /* SimStream.lets_next of the default stream */
    uint64_t blocking_ready;   /* ... and that of any stream that waits for the default one */
    uint64_t host;             /* cycle up to which the host has waited */
    uint64_t taken;            /* the timeline's end when the cost was last taken */
    StreamOrder *order;        /* NULL until the program makes a stream of its own */
    int is_unordered;          /* without `order`, operations since the host waited for all */
    int is_stopped;            /* a kernel was not found, for decoding it would take too much */
    uint64_t checked;          /* bytes that the race check looked at since the cost was taken */
    SimtTouch touch; /* current launch's accesses if `has_touch`; else the next clears it */
    int has_touch;
    SimEarly early; /* nothing has been waited for since */
    int guards;     /* sim_device_set_guards */
    int warns;      /* Boolean: warnings are wanted */
    SimLaunches launches;
    char printed[96]; /* the last kernel that printed and that the host has not waited for, or "" */
    SimGuard guard;
    uint64_t line_work[SIMT_LINES]; /* the same */
    SimWork work;
    int settles_later; /* Boolean: the current launch may be settled later */
    SimUnsettled unsettled;
    DeviceReply lost; /* a failure that was not reported yet; the next call reports it */
    SimtResult result[2];
    DeviceCost cost;
    uint64_t last_cycles; /* cycles of the last launch, and its resident blocks per SM */
    uint32_t last_resident;
    uint64_t costliest;  /* cycles of the most expensive launch so far */
    uint64_t moved;      /* bytes of copies and fills since the last take_cost */
    unsigned char *data; /* data of the last reply */
    uint64_t data_capacity;
} SimDevice;

/* ---- sim_device_tables.c: NULL for a wrong handle ---- */
/* Appends a zeroed item; its handle is the new count.  NULL if the table is full. */
void *sim_table_append(SimTable *table, size_t item_bytes);
void *sim_table_at(const SimTable *table, uint32_t handle, size_t item_bytes);
SimFunction *sim_function(SimDevice *sim, uint32_t handle);
SimtModule *sim_module(SimDevice *sim, uint32_t handle);
SimEvent *sim_event(SimDevice *sim, uint32_t handle);
/* NULL for the default stream, too. */
SimStream *sim_stream(SimDevice *sim, uint32_t handle);
int sim_stream_is_live(SimDevice *sim, uint32_t handle);

/* ---- sim_device_time.c ---- */
static inline uint64_t cycle_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

double sim_seconds(const SimDevice *sim, uint64_t cycles);
/* Stores the cost of the current call; its caller computes the start. */
void sim_spend(SimDevice *sim, TimelineResource resource, uint32_t share, uint64_t cycles);
/* Stores the cost of a copy or fill. */
void sim_spend_bytes(SimDevice *sim, TimelineResource resource, double bytes, double gb_s);
/* Earliest start of the next operation on the stream. */
uint64_t sim_stream_ready(SimDevice *sim, uint32_t handle);
/* Places the current work.  `ready`: earliest start because of other streams; `before`: end on its
 * own stream. */
TimelineMark sim_work_place(SimDevice *sim, Timeline *timeline, uint64_t ready,
                            TimelineMark before);
/* After a live call: places its work on the timeline, and lets the host wait where CUDA's does. */
void sim_call_time(SimDevice *sim, const DeviceCall *call);
/* Adds the current launch, which has taken place at the mark, to the list. */
void sim_launches_add(SimDevice *sim, const DeviceCall *call, TimelineMark mark);
void sim_launches_close(SimLaunches *launches);

/* ---- sim_device_cost.c ---- */
/* Bytes that count as one instruction: a warp's load and its store move 128. */
enum { BYTES_AN_INSTRUCTION = 64 };

/* Warp instructions that may still be executed before take_cost, 0: none, where `bytes` are copied
 * or filled now.  Copies and fills count like a kernel that does the same. */
uint64_t sim_instructions_left(const SimDevice *sim, uint64_t bytes);
void sim_cost_take(SimDevice *sim, uint64_t cycles, DeviceCost *cost);

/* ---- sim_device_launch.c ---- */
int sim_launch(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
/* Places the pending launch, if there is one, on the timeline before any other work. -1: the host
 * had no memory to compute its cycles; the reply, or that of the next call, reports it. */
int sim_settle(SimDevice *sim, DeviceReply *reply);
/* Reports a failure that was not reported yet, in this reply. */
int sim_lost_report(SimDevice *sim, DeviceReply *reply);
int sim_occupancy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_function_attribute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* ---- sim_device_checks.c ---- */
/* The message of a library call that reads unwritten memory, which is a finding. */
void sim_find_unwritten(const SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
/* Warns if a copy to the host reads memory that nothing has written. */
void sim_warn_unwritten(const SimDevice *sim, const DeviceCall *call);

/* ---- sim_device_memory.c ---- */
/* Makes room for data of the reply; NULL: too many bytes. */
unsigned char *sim_reply_room(SimDevice *sim, DeviceReply *reply, uint64_t bytes);
int sim_memory_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_allocation_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_tensor_map_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_limit_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* ---- sim_device_modules.c ---- */
int sim_module_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* ---- sim_device_streams.c ---- */
int sim_stream_create(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_stream_destroy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_event_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
/* Name of an operation in messages, or NULL. */
const char *sim_operation_name(SimDevice *sim, const DeviceCall *call, char *text, size_t bytes);
/* After a call that succeeded: checks it against the operations that may run at the same time. */
void sim_order_note(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* ---- sim_device_overlap.c ---- */
/* Whether the accesses of the launch are needed: for the order between streams, or for the next
 * launch. */
int sim_wants_touch(SimDevice *sim, const DeviceCall *call);
/* Guards of host memory before a call, and after one that succeeded. */
void sim_guard_before(SimDevice *sim, const DeviceCall *call);
void sim_guard_after(SimDevice *sim, const DeviceCall *call);
/* May the launch begin before the end of the one before it on its stream?  Only if that one does
 * not let it, so that nothing overlaps, or if it is checked against what that one touched. */
int sim_may_overlap(SimDevice *sim, const DeviceCall *call);
/* Whether data passed by atomics from the launch that this one overlaps, which racecheck allows. */
int sim_overlap_is_hidden(const SimDevice *sim, const DeviceCall *call);
/* Updates which launch the next one may overlap, after a call that succeeded. */
void sim_early_keep(SimDevice *sim, const DeviceCall *call);

/* ---- sim_device_calls.c ---- */
/* Executes the call without regard to streams, so that a recording replays after its streams were
 * destroyed. */
int sim_call_execute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* ---- sim_device_replay.c ---- */
/* Device.replay. */
int sim_replay(Device *device, Recording *recording, int repeats, DeviceCost *cost, Error *error);

#endif
