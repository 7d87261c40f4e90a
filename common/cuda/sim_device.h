/* sim_device.h - the insides of the simulated engine, shared by sim_device*.c only. */
#ifndef CONVLAB_CUDA_SIM_DEVICE_H
#define CONVLAB_CUDA_SIM_DEVICE_H

#include "common/cuda/device.h"
#include "common/simt/simt.h"

typedef struct SimFunction {
    SimtKernel *kernel;
    uint32_t module;        /* its handle; a function lives as long as its module */
    uint32_t dynamic_limit; /* as cudaFuncSetAttribute set it; 0: not set */
    SimtKernelInfo info;
} SimFunction;

typedef struct SimEvent {
    int live, recorded, timed;
    uint64_t cycle; /* the device's clock when it was recorded */
} SimEvent;

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
    SimTable modules;   /* SimtModule *, NULL once unloaded */
    SimTable functions; /* SimFunction */
    SimTable streams;   /* int: live */
    SimTable events;    /* SimEvent */
    uint64_t clock;     /* cycles of everything so far, one after another */
    DeviceCost cost;
    uint64_t costliest;  /* cycles of the launch that cost describes last */
    unsigned char *data; /* of the last reply */
    uint64_t data_capacity;
} SimDevice;

SimFunction *sim_function(SimDevice *sim, uint32_t handle);
int sim_launch(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_occupancy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);
int sim_function_attribute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply);

/* Advances the clock and books the cycles. */
void sim_spend(SimDevice *sim, uint64_t cycles);

#endif
