/* sim_order.h - the race check between streams: does anything order two operations that use the
 * same memory?
 *
 * The simulator executes calls one after another, so a missing event or a wrong stream shows in no
 * output.  Here each stream, each event and the host has a vector clock, by the rules of
 * call_order.h, which also make the edges of a recording.  Operations that the later one's stream
 * does not know to be over are compared word by word.
 *
 * The clocks are complete: each stream has an entry of its own, and more than ORDER_STREAMS streams
 * at a time are refused.  No operation is dropped before the host has waited for it.  Operations
 * that no clock can tell apart become one.  If the stored operations still exceed ORDER_BYTES, the
 * order is lost until the host waits for the device, and the recording is priced serially.
 *
 * Two operations that use a word only by atomics are no race, because correct programs count and
 * add up so.  If one of them uses the value that it finds, or if their operations differ, data may
 * pass from one to the other.  Then the recording is priced serially, too. */
#ifndef CONVLAB_CUDA_SIM_ORDER_H
#define CONVLAB_CUDA_SIM_ORDER_H

#include "common/cuda/device.h"
#include "common/simulator/launch/simt.h"

/* Streams that exist or still have unfinished work, the default stream included. */
enum { ORDER_STREAMS = 1024 };
#define ORDER_BYTES (256ull << 20)

/* By stream: the last of its epochs that is over; beyond `count` 0. */
typedef struct OrderClock {
    uint32_t *epoch;
    uint32_t count;
} OrderClock;

typedef struct StreamOrder StreamOrder;

StreamOrder *stream_order_open(void); /* NULL: out of memory */
void stream_order_close(StreamOrder *order);
void order_clock_free(OrderClock *clock);

/* A stream begins or ends.  -1: there are ORDER_STREAMS already, or no memory. */
int stream_order_begin(StreamOrder *order, uint32_t stream);
void stream_order_end(StreamOrder *order, uint32_t stream);

/* After a call that succeeded.  `event` is the clock of the call's event, if it has one.  An
 * operation has a `name`, and what it touched: `touch` (a launch), or NULL for copies and fills,
 * whose call says it.  Writes what is wrong into `message`, unless there is something already.
 * Returns the bytes that the check looked at, which the submission has to pay for. */
uint64_t stream_order_call(StreamOrder *order, const DeviceCall *call, OrderClock *event,
                           const char *name, const SimtTouch *touch, char *message, size_t bytes);

/* Has the order been lost, or hidden by atomics, since the host waited for the device last? */
int stream_order_lost(const StreamOrder *order);

/* An operation, as its place in the clocks.  {0, 0}: one before the program's first stream. */
typedef struct OrderStamp {
    uint32_t lane, epoch;
} OrderStamp;

/* The last operation on the stream. */
OrderStamp stream_order_last(const StreamOrder *order, uint32_t stream);
/* Has the host waited for the operation? */
int stream_order_is_over(const StreamOrder *order, OrderStamp stamp);
/* Does the operation end before the next one on the stream begins? */
int stream_order_precedes(const StreamOrder *order, OrderStamp stamp, uint32_t stream);

#endif
