/* call_order.h - the order that one CUDA call makes between operations on the device.
 *
 * This is the only definition of CUDA's ordering rules for a call.  The recording and its edges
 * (recording.c, recording_order.c), the race check between streams (sim/sim_order.c) and the
 * timeline of live calls (sim/sim_device_time.c) all follow it.  If the race check knew an edge
 * that the price does not have, dependent kernels could overlap in the price without a finding. */
#ifndef CONVLAB_CUDA_CALL_ORDER_H
#define CONVLAB_CUDA_CALL_ORDER_H

#include "common/cuda/device.h"

/* Work for which the host has waited when the call returns. */
typedef enum HostWait {
    HOST_WAITS_NOT,
    HOST_WAITS_STREAM, /* all that was asked for on the call's stream, this call included */
    HOST_WAITS_EVENT,  /* all that the event's last record waits for */
    HOST_WAITS_DEVICE  /* everything on all streams */
} HostWait;

typedef struct CallOrder {
    int is_operation;  /* works on device memory: it takes time and has a node in a recording */
    int is_on_stream;  /* begins after the calls before it on its stream */
    int waits_event;   /* later calls on its stream begin after the event's last record */
    int records_event; /* the event now records all calls before this one on its stream */
    HostWait host;
} CallOrder;

CallOrder call_order(const DeviceCall *call);

#endif
