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
    SimEarly early;   /* nothing has been waited for since */
    int guards;       /* sim_device_set_guards */
    int warns;        /* Boolean: warnings are wanted */
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

SimFunction *sim_function(SimDevice *sim, uint32_t handle);
int sim_launch(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
/* Adds a launch's cost, and stores it for sim_settle or for the caller of sim_launch. */
void sim_launch_cost(SimDevice *sim, const DeviceCall *call, const SimtResult *result);
/* Places the pending launch, if there is one, on the timeline before any other work. -1: the host
 * had no memory to compute its cycles; the reply, or that of the next call, reports it. */
int sim_settle(SimDevice *sim, DeviceReply *reply);
/* Warns if a copy to the host reads memory that nothing has written. */
void sim_warn_unwritten(const SimDevice *sim, const DeviceCall *call);
int sim_occupancy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_function_attribute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* Bytes that count as one instruction: a warp's load and its store move 128. */
enum { BYTES_AN_INSTRUCTION = 64 };

/* Warp instructions that may still be executed before take_cost, 0: none, where `bytes` are copied
 * or filled now.  Copies and fills count like a kernel that does the same. */
uint64_t sim_instructions_left(const SimDevice *sim, uint64_t bytes);

/* Stores the cost of the current call; its caller computes the start. */
void sim_spend(SimDevice *sim, TimelineResource resource, uint32_t share, uint64_t cycles);

#endif
