#include "common/cuda/sim/sim_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operations that are remembered; the oldest are forgotten, which misses races but invents none. */
enum { OPERATIONS = 64 };
static const uint64_t MOST_BYTES = 256u << 20;

typedef struct Operation {
    uint32_t lane, time, stream;
    char name[96];
    SimtTouch touch;                                   /* of a launch */
    uint64_t read, read_words, written, written_words; /* of a copy or fill: first word, words */
} Operation;

struct StreamOrder {
    OrderClock stream[ORDER_LANES], host;
    int waits_for_default[ORDER_LANES];
    Operation operation[OPERATIONS]; /* oldest first */
    uint32_t operations;
    uint64_t bytes;
};

StreamOrder *stream_order_open(void)
{
    return calloc(1, sizeof(StreamOrder));
}

static void oldest_forget(StreamOrder *order)
{
    Operation *oldest = &order->operation[0];
    order->bytes -= simt_touch_bytes(&oldest->touch);
    simt_touch_close(&oldest->touch);
    memmove(oldest, oldest + 1, --order->operations * sizeof *oldest);
}

void stream_order_close(StreamOrder *order)
{
    while (order && order->operations)
        oldest_forget(order);
    free(order);
}

/* ---- who knows what ------------------------------------------------------------------------- */

static void learn(OrderClock *to, const OrderClock *from)
{
    for (int i = 0; i < ORDER_LANES; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

static uint32_t lane_of(uint32_t stream)
{
    uint32_t number = stream & ~DEVICE_STREAM_NON_BLOCKING;
    return number ? (number - 1) % (ORDER_LANES - 1) + 1 : 0;
}

/* What is over before the next operation on the stream begins. */
static OrderClock *stream_begins(StreamOrder *order, uint32_t stream)
{
    uint32_t lane = lane_of(stream);
    OrderClock *clock = &order->stream[lane];
    learn(clock, &order->host);
    if (stream & DEVICE_STREAM_NON_BLOCKING) return clock;
    order->waits_for_default[lane] = 1;
    if (stream) {
        learn(clock, &order->stream[0]);
        return clock;
    }
    for (uint32_t i = 1; i < ORDER_LANES; i++)
        if (order->waits_for_default[i]) learn(clock, &order->stream[i]);
    return clock;
}

static void host_waits_for_all(StreamOrder *order)
{
    for (int i = 0; i < ORDER_LANES; i++)
        learn(&order->host, &order->stream[i]);
}

/* ---- what was touched ----------------------------------------------------------------------- */

static uint64_t range_bits(uint64_t first, uint64_t words, uint64_t index)
{
    uint64_t begin = index * 64, end = first + words, bits = UINT64_MAX;
    if (end <= begin || first >= begin + 64) return 0;
    if (first > begin) bits &= UINT64_MAX << (first - begin);
    if (end < begin + 64) bits &= UINT64_MAX >> (begin + 64 - end);
    return bits;
}

/* Bits of the 64 words from 64 * index on. */
static uint64_t touched(const Operation *o, SimtTouchKind kind, uint64_t index)
{
    if (o->touch.groups) return index < o->touch.groups ? o->touch.bits[kind][index] : 0;
    if (kind == SIMT_TOUCH_READ) return range_bits(o->read, o->read_words, index);
    if (kind == SIMT_TOUCH_WRITE) return range_bits(o->written, o->written_words, index);
    return 0;
}

static uint64_t groups_of(const Operation *o)
{
    uint64_t read = o->read + o->read_words, written = o->written + o->written_words;
    return o->touch.groups ? o->touch.groups : ((read > written ? read : written) + 63) / 64;
}

/* Words that both touch and one changes; atomics of both harm nobody. */
static uint64_t conflict(const Operation *a, const Operation *b, uint64_t *first)
{
    uint64_t groups = groups_of(a) < groups_of(b) ? groups_of(a) : groups_of(b), count = 0;
    for (uint64_t i = 0; i < groups; i++) {
        uint64_t aw = touched(a, SIMT_TOUCH_WRITE, i), bw = touched(b, SIMT_TOUCH_WRITE, i);
        uint64_t aa = touched(a, SIMT_TOUCH_ATOMIC, i), ba = touched(b, SIMT_TOUCH_ATOMIC, i);
        uint64_t ar = touched(a, SIMT_TOUCH_READ, i), br = touched(b, SIMT_TOUCH_READ, i);
        uint64_t both = (aw & (br | bw | ba)) | (bw & (ar | aa)) | (aa & br) | (ba & ar);
        if (both && !count) *first = i * 64 + (uint64_t)__builtin_ctzll(both);
        count += (uint64_t)__builtin_popcountll(both);
    }
    return count;
}

/* Whole words of a copy: parts of a word at its ends are left out. */
static void range_set(uint64_t address, uint64_t bytes, uint64_t *first, uint64_t *words)
{
    uint64_t begin = (address - simt_memory_begin() + 3) / 4;
    uint64_t end = (address - simt_memory_begin() + bytes) / 4;
    *first = begin, *words = end > begin ? end - begin : 0;
}

static void ranges_set(Operation *o, const DeviceCall *call)
{
    uint64_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
    if (call->kind == CALL_COPY_TO_HOST || call->kind == CALL_COPY_ON_DEVICE)
        range_set(call->src, bytes, &o->read, &o->read_words);
    if (call->kind != CALL_COPY_TO_HOST)
        range_set(call->dst, bytes, &o->written, &o->written_words);
}

/* ---- one operation -------------------------------------------------------------------------- */

static void stream_name(uint32_t stream, char *text, size_t bytes)
{
    if (!stream)
        snprintf(text, bytes, "the default stream");
    else
        snprintf(text, bytes, "%sstream %u",
                 stream & DEVICE_STREAM_NON_BLOCKING ? "non-blocking " : "",
                 stream & ~DEVICE_STREAM_NON_BLOCKING);
}

static void conflict_report(const Operation *a, const Operation *b, uint64_t word, uint64_t words,
                            char *message, size_t bytes)
{
    char on_a[48], on_b[48];
    stream_name(a->stream, on_a, sizeof on_a);
    stream_name(b->stream, on_b, sizeof on_b);
    snprintf(message, bytes,
             "Race reported between %s on %s and %s on %s: both use %llu bytes from address 0x%llx "
             "on, one of them writes, and nothing orders the two: the second waits for no event "
             "behind the first, and the host for neither",
             a->name, on_a, b->name, on_b, (unsigned long long)(words * 4),
             (unsigned long long)(simt_memory_begin() + word * 4));
}

static void operation_add(StreamOrder *order, const Operation *operation)
{
    uint64_t bytes = simt_touch_bytes(&operation->touch);
    while (order->operations &&
           (order->operations == OPERATIONS || order->bytes + bytes > MOST_BYTES))
        oldest_forget(order);
    order->operation[order->operations++] = *operation;
    order->bytes += bytes;
}

static void operation_check(StreamOrder *order, const Operation *now, const OrderClock *known,
                            char *message, size_t bytes)
{
    for (uint32_t i = 0; i < order->operations && !message[0]; i++) {
        const Operation *before = &order->operation[i];
        uint64_t word = 0, words;
        if (before->time <= known->of[before->lane]) continue;
        if ((words = conflict(before, now, &word)))
            conflict_report(before, now, word, words, message, bytes);
    }
}

/* What all streams and the host know to be over can meet nothing that is not ordered. */
static void known_forget(StreamOrder *order)
{
    while (order->operations) {
        const Operation *oldest = &order->operation[0];
        if (order->host.of[oldest->lane] < oldest->time) return;
        oldest_forget(order);
    }
}

/* Does the call take a place on its stream?  Of an allocation or a question `stream` says nothing,
 * and is 0 as the default stream's, which orders. */
static int takes_place(const DeviceCall *call, const char *name)
{
    switch (call->kind) {
    case CALL_STREAM_WAIT:
    case CALL_EVENT_RECORD:
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
        return 1;
    case CALL_FREE:
        return call->value == FREE_ON_STREAM;
    default:
        return name != NULL;
    }
}

void stream_order_call(StreamOrder *order, const DeviceCall *call, OrderClock *event,
                       const char *name, SimtTouch *touch, char *message, size_t bytes)
{
    OrderClock *clock = takes_place(call, name) ? stream_begins(order, call->stream)
                                                : &order->stream[lane_of(call->stream)];
    if (name) {
        Operation now = {.lane = lane_of(call->stream), .stream = call->stream};
        snprintf(now.name, sizeof now.name, "%s", name);
        if (touch)
            now.touch = *touch, *touch = (SimtTouch){0};
        else
            ranges_set(&now, call);
        operation_check(order, &now, clock, message, bytes);
        now.time = ++clock->of[now.lane];
        operation_add(order, &now);
    }
    switch (call->kind) {
    case CALL_STREAM_WAIT:
        if (event) learn(clock, event);
        break;
    case CALL_EVENT_RECORD:
        if (event) *event = *clock;
        break;
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY: /* nothing is ever not ready here, and the host is told so */
        if (event) learn(&order->host, event);
        break;
    case CALL_COPY_TO_DEVICE: /* cudaMemcpy is over when it returns; its Async twin may be not */
        if (call->stream) break;
        /* fall through */
    case CALL_COPY_TO_HOST:
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
        learn(&order->host, clock);
        break;
    case CALL_FREE:
        if (call->value != FREE_ON_STREAM) host_waits_for_all(order);
        break;
    case CALL_SYNC:
        host_waits_for_all(order);
        break;
    default:
        break;
    }
    known_forget(order);
}
