/* sim_state.h - the insides of the simulated engine, shared by sim_device*.c only. */
#ifndef CONVLAB_CUDA_SIM_STATE_H
#define CONVLAB_CUDA_SIM_STATE_H

#include "common/cuda/sim/sim_device.h"
#include "common/cuda/sim/sim_guard.h"
#include "common/cuda/sim/sim_order.h"
#include "common/cuda/sim/sim_timeline.h"
#include "common/simulator/launch/simt.h"

typedef struct SimFunction {
    SimtKernel *kernel;
    uint32_t module;        /* its handle; a function lives as long as its module */
    uint32_t dynamic_limit; /* as cudaFuncSetAttribute set it; 0: not set */
    SimtKernelInfo info;
} SimFunction;

typedef struct SimStream {
    int live;
    int lets_next;     /* its last operation is a launch that lets the next one begin early */
    TimelineMark mark; /* of its last operation */
} SimStream;

typedef struct SimEvent {
    int live, recorded, timed;
    OrderClock order; /* what is over once it is reached */
    uint64_t cycle;   /* when what was before it on its stream has ended */
} SimEvent;

/* What the call in hand did that takes time. */
typedef struct SimWork {
    TimelineResource resource;
    uint32_t share;
    uint64_t cycles;
    int is_launch, overlaps, tells;
    TimelineLaunch launch; /* if it is one */
} SimWork;

/* A launch that has run, while its cycles are worked out beside the next one (simt_launch_begin):
 * nothing of it is on the timeline yet. */
typedef struct SimUnsettled {
    int waits;
    DeviceCall call;
    SimtResult *result; /* one of SimDevice's two: the next launch has the other */
} SimUnsettled;

/* The last launch, if it let the next one begin before its own end. */
typedef struct SimEarly {
    int is_there;
    SimtTouch touch;
    uint32_t stream;
    char kernel[96];
} SimEarly;

/* Handles are index + 1 into these; numbers are never given out twice, so a stale handle is
 * always caught. */
typedef struct SimTable {
    void *item;
    uint32_t count, capacity;
} SimTable;

typedef struct SimDevice {
    Device device; /* first: a Device * of this engine is a SimDevice * */
    SimtGpu *gpu;
    SimtMachine machine;
    uint64_t instruction_limit; /* between two take_cost; 0: each launch has the default */
    SimTable modules;           /* SimtModule *, NULL once unloaded */
    SimTable functions;         /* SimFunction */
    SimTable streams;           /* SimStream; the default stream is not among them */
    SimTable events;            /* SimEvent */
    Timeline timeline;
    TimelineMark default_mark; /* of the default stream's last operation */
    int default_lets_next;     /* SimStream.lets_next of the default stream */
    uint64_t blocking_ready;   /* ... and that of any stream that waits for the default one */
    uint64_t host;             /* how far the host has waited */
    uint64_t taken;            /* the timeline's end when the cost was last taken */
    StreamOrder *order;        /* NULL until the program makes a stream of its own */
    int is_unordered;          /* without `order`, operations since the host waited for all */
    int is_stopped;            /* a kernel was not found, for decoding it would take too much */
    uint64_t looked;           /* bytes that the race check looked at since the cost was taken */
    SimtTouch touch;           /* of the launch in hand, if `has_touch`; else cleared by the next */
    int has_touch;
    SimEarly early; /* nothing has been waited for since */
    int guards;     /* sim_device_set_guards */
    SimGuard guard;
    uint64_t line_work[SIMT_LINES]; /* the same */
    SimWork work;
    int settles_later; /* the launch in hand may */
    SimUnsettled unsettled;
    DeviceReply lost; /* a failure that nobody could be told of: the next call's */
    SimtResult result[2];
    DeviceCost cost;
    uint64_t last_cycles; /* of the last launch, and the blocks that an SM holds of it */
    uint32_t last_resident;
    uint64_t costliest;  /* cycles of the launch that cost describes last */
    uint64_t moved;      /* bytes that copies and fills took since cost was */
    unsigned char *data; /* of the last reply */
    uint64_t data_capacity;
} SimDevice;

SimFunction *sim_function(SimDevice *sim, uint32_t handle);
int sim_launch(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
/* Adds up what a launch cost, and says it to sim_settle or to the caller of sim_launch. */
void sim_launch_cost(SimDevice *sim, const DeviceCall *call, const SimtResult *result);
/* The launch that waits, if one does, is put where it belongs, before anything else is.  -1: the
 * host had no memory for its cycles, which the reply says; where there is none, that of the next
 * call does. */
int sim_settle(SimDevice *sim, DeviceReply *reply);
int sim_occupancy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_function_attribute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* Bytes that count as one instruction: a warp's load and its store move 128. */
enum { BYTES_AN_INSTRUCTION = 64 };

/* Warp instructions that may still be executed before take_cost, 0: none, where `bytes` are copied
 * or filled now.  What copies and fills take counts as a kernel's that does the same. */
uint64_t sim_instructions_left(const SimDevice *sim, uint64_t bytes);

/* Says what the call in hand costs; its caller finds out when it runs. */
void sim_spend(SimDevice *sim, TimelineResource resource, uint32_t share, uint64_t cycles);

#endif
