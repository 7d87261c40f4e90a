/* sim_order.h - does anything order two operations on different streams that use the same memory?
 *
 * The simulator executes calls one after another, so a missing event or the wrong stream shows in
 * no output.  Here each stream has a vector clock: what it, the host and an event know of all
 * streams, by CUDA's rules.  Operations that the later one's stream does not know to be over are
 * compared word by word. */
#ifndef CONVLAB_CUDA_SIM_ORDER_H
#define CONVLAB_CUDA_SIM_ORDER_H

#include "common/cuda/device.h"
#include "common/simulator/launch/simt.h"

/* Streams beyond so many share a lane: then a race among these is missed. */
enum { ORDER_LANES = 32 };

typedef struct OrderClock {
    uint32_t of[ORDER_LANES];
} OrderClock;

typedef struct StreamOrder StreamOrder;

StreamOrder *stream_order_open(void); /* NULL: out of memory */
void stream_order_close(StreamOrder *order);

/* After a call that succeeded.  `event` is the clock of the call's event, if it has one.  An
 * operation has a `name`, and what it touched: `touch` becomes the order's own (a launch), or NULL
 * for copies and fills, whose call says it.  Writes what is wrong into `message`, unless there is
 * something already. */
void stream_order_call(StreamOrder *order, const DeviceCall *call, OrderClock *event,
                       const char *name, SimtTouch *touch, char *message, size_t bytes);

#endif
