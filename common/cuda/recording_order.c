/* Dependencies between calls by the rules of call_order.h, computed in one pass over the recording.
 *
 * First every recorded call, node or not, gets a few direct predecessors:
 *   - the call before it on its stream;
 *   - on a blocking stream, the last call on the legacy default stream; on that stream, the last
 *     call of every blocking stream since the one before;
 *   - for a wait on an event, the event's last record;
 *   - the last host synchronisation, unless another predecessor already came after it.
 * Then each node's predecessors are followed through calls without nodes up to the next nodes. If
 * a hostile recording makes that long (STEP_LIMIT), all nodes form one chain instead: a stricter
 * order, never a looser one. */
#include "common/cuda/recording_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/cuda/call_order.h"

enum { STEP_LIMIT = 1 << 23 };
#define NONE UINT32_MAX

typedef struct List {
    uint32_t *item;
    size_t count, capacity;
} List;

typedef struct Lane { /* state of a stream in the pass */
    uint32_t last;    /* its last call, or NONE */
    int since_legacy; /* Boolean: on the list `open` */
    int since_sync;   /* Boolean: on the list `active` */
} Lane;

typedef struct Pass {
    const Recording *recording;
    uint32_t *stream, *event; /* distinct handles, sorted */
    size_t streams, events;
    Lane *lane;             /* by index into stream; stream 0 always exists */
    uint32_t *event_record; /* by index into event: its last record, or NONE */
    List open;              /* lanes used since the last legacy call */
    List active;            /* lanes used since the last device synchronisation */
    uint32_t legacy, host;  /* last call on the legacy stream, last host synchronisation; or NONE */
    List pred, first;       /* call i's direct predecessors: from pred.item[first.item[i]] on */
    int broken;             /* out of memory */
} Pass;

struct RecordingOrder {
    size_t calls;
    int serial;              /* Boolean: one chain */
    uint32_t *previous_node; /* by call: the last node before it, or NONE */
    List edge, first;        /* as in Pass, between nodes */
};

static void list_add(List *list, uint32_t item, int *broken)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 64;
        uint32_t *grown = realloc(list->item, capacity * sizeof *grown);
        if (!grown) {
            *broken = 1;
            return;
        }
        list->item = grown;
        list->capacity = capacity;
    }
    list->item[list->count++] = item;
}

/* ---- handles as small numbers --------------------------------------------------------------- */

static int compare_handles(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Sorts and removes duplicates; returns the remaining number. */
static size_t handles_unique(uint32_t *handle, size_t count)
{
    qsort(handle, count, sizeof *handle, compare_handles);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || handle[kept - 1] != handle[i]) handle[kept++] = handle[i];
    return kept;
}

static size_t handle_index(const uint32_t *handle, size_t count, uint32_t wanted)
{
    const uint32_t *found = bsearch(&wanted, handle, count, sizeof *handle, compare_handles);
    return (size_t)(found - handle);
}

static int pass_begin(Pass *pass, const Recording *recording)
{
    size_t count = recording->count;
    *pass = (Pass){.recording = recording, .legacy = NONE, .host = NONE};
    pass->stream = calloc(count + 1, sizeof *pass->stream);
    pass->event = calloc(count + 1, sizeof *pass->event);
    pass->lane = calloc(count + 1, sizeof *pass->lane);
    pass->event_record = calloc(count + 1, sizeof *pass->event_record);
    if (!pass->stream || !pass->event || !pass->lane || !pass->event_record) return -1;
    for (size_t i = 0; i < count; i++) {
        pass->stream[i] = recording->call[i].stream;
        pass->event[i] = recording->call[i].event;
    }
    pass->streams = handles_unique(pass->stream, count + 1);
    pass->events = handles_unique(pass->event, count + 1);
    for (size_t i = 0; i < pass->streams; i++)
        pass->lane[i].last = NONE;
    for (size_t i = 0; i < pass->events; i++)
        pass->event_record[i] = NONE;
    return 0;
}

static void pass_end(Pass *pass)
{
    free(pass->stream);
    free(pass->event);
    free(pass->lane);
    free(pass->event_record);
    free(pass->open.item);
    free(pass->active.item);
    free(pass->pred.item);
    free(pass->first.item);
}

/* ---- direct predecessors -------------------------------------------------------------------- */

static void pred_add(Pass *pass, uint32_t call)
{
    if (call != NONE) list_add(&pass->pred, call, &pass->broken);
}

/* Predecessors of a call because of its stream. */
static void pass_on_stream(Pass *pass, uint32_t i, uint32_t handle)
{
    uint32_t index = (uint32_t)handle_index(pass->stream, pass->streams, handle);
    Lane *lane = &pass->lane[index];
    int is_blocking = (handle & DEVICE_STREAM_NON_BLOCKING) == 0;
    if (handle == 0) {
        /* a call of another stream since the last legacy one waits for that one */
        if (pass->open.count == 0) pred_add(pass, lane->last);
        for (size_t k = 0; k < pass->open.count; k++) {
            Lane *other = &pass->lane[pass->open.item[k]];
            pred_add(pass, other->last);
            other->since_legacy = 0;
        }
        pass->open.count = 0;
        pass->legacy = i;
    } else if (is_blocking && !lane->since_legacy) {
        /* and the last legacy call waits for this stream's earlier calls */
        pred_add(pass, pass->legacy != NONE ? pass->legacy : lane->last);
        lane->since_legacy = 1;
        list_add(&pass->open, index, &pass->broken);
    } else {
        pred_add(pass, lane->last);
    }
    if (!lane->since_sync) {
        lane->since_sync = 1;
        list_add(&pass->active, index, &pass->broken);
    }
    lane->last = i;
}

/* The host waits for the whole device: later calls depend on earlier ones only through it. */
static void pass_device_sync(Pass *pass)
{
    for (size_t k = 0; k < pass->active.count; k++) {
        Lane *lane = &pass->lane[pass->active.item[k]];
        pred_add(pass, lane->last);
        *lane = (Lane){.last = NONE};
    }
    pass->active.count = 0;
    pass->open.count = 0;
    pass->legacy = NONE;
}

static void pass_call(Pass *pass, uint32_t i)
{
    const DeviceCall *call = &pass->recording->call[i];
    size_t begin = pass->pred.count;
    size_t event = handle_index(pass->event, pass->events, call->event);
    list_add(&pass->first, (uint32_t)begin, &pass->broken);
    CallOrder order = call_order(call);
    if (order.host == HOST_WAITS_DEVICE) pass_device_sync(pass);
    if (order.is_on_stream) pass_on_stream(pass, i, call->stream);
    if (order.waits_event || order.host == HOST_WAITS_EVENT)
        pred_add(pass, pass->event_record[event]);
    if (order.records_event) pass->event_record[event] = i;
    int after_host = 0;
    for (size_t k = begin; k < pass->pred.count; k++)
        if (pass->host == NONE || pass->pred.item[k] >= pass->host) after_host = 1;
    if (!after_host) pred_add(pass, pass->host);
    if (order.host != HOST_WAITS_NOT) pass->host = i;
}

/* ---- from direct predecessors to edges between nodes ---------------------------------------- */

typedef struct Walk {
    uint32_t *stamp;    /* by call: the last node from which it was reached, plus 1 */
    uint32_t *stand_in; /* by call: the end of the chain of calls without nodes that starts here,
                         * else itself */
    List stack;
    size_t steps;
} Walk;

static uint32_t stand_in(const Pass *pass, const Walk *walk, uint32_t i)
{
    size_t begin = pass->first.item[i], end = pass->first.item[i + 1];
    if (recording_is_node(&pass->recording->call[i]) || end - begin != 1) return i;
    return walk->stand_in[pass->pred.item[begin]];
}

static void walk_push(const Pass *pass, Walk *walk, uint32_t from, uint32_t stamp, int *broken)
{
    for (size_t k = pass->first.item[from]; k < pass->first.item[from + 1]; k++) {
        uint32_t to = walk->stand_in[pass->pred.item[k]];
        walk->steps++;
        if (walk->stamp[to] == stamp) continue;
        walk->stamp[to] = stamp;
        list_add(&walk->stack, to, broken);
    }
}

static void walk_node(const Pass *pass, Walk *walk, uint32_t i, RecordingOrder *order, int *broken)
{
    size_t begin = order->edge.count;
    walk_push(pass, walk, i, i + 1, broken);
    while (walk->stack.count && walk->steps <= STEP_LIMIT && !*broken) {
        uint32_t call = walk->stack.item[--walk->stack.count];
        if (recording_is_node(&pass->recording->call[call]))
            list_add(&order->edge, call, broken);
        else
            walk_push(pass, walk, call, i + 1, broken);
    }
    if (!*broken && order->edge.count > begin + 1)
        qsort(order->edge.item + begin, order->edge.count - begin, sizeof *order->edge.item,
              compare_handles);
}

static int order_edges(const Pass *pass, RecordingOrder *order)
{
    int broken = 0;
    size_t count = order->calls;
    Walk walk = {.stamp = calloc(count + 1, sizeof *walk.stamp),
                 .stand_in = calloc(count + 1, sizeof *walk.stand_in)};
    if (!walk.stamp || !walk.stand_in) broken = 1;
    for (uint32_t i = 0; i < count && !broken && walk.steps <= STEP_LIMIT; i++) {
        walk.stand_in[i] = stand_in(pass, &walk, i);
        list_add(&order->first, (uint32_t)order->edge.count, &broken);
        if (recording_is_node(&pass->recording->call[i])) walk_node(pass, &walk, i, order, &broken);
    }
    list_add(&order->first, (uint32_t)order->edge.count, &broken);
    order->serial = walk.steps > STEP_LIMIT;
    free(walk.stamp);
    free(walk.stand_in);
    free(walk.stack.item);
    return broken ? -1 : 0;
}

/* ---- the order ------------------------------------------------------------------------------ */

static int order_previous_nodes(const Recording *recording, RecordingOrder *order)
{
    order->previous_node = calloc(recording->count + 1, sizeof *order->previous_node);
    if (!order->previous_node) return -1;
    uint32_t node = NONE;
    for (uint32_t i = 0; i < recording->count; i++) {
        order->previous_node[i] = node;
        if (recording_is_node(&recording->call[i])) node = i;
    }
    return 0;
}

RecordingOrder *recording_order_build(const Recording *recording)
{
    Pass pass;
    RecordingOrder *order = calloc(1, sizeof *order);
    if (!order) return NULL;
    order->calls = recording->count;
    int failed = pass_begin(&pass, recording) != 0;
    for (uint32_t i = 0; i < recording->count && !failed && !pass.broken; i++)
        pass_call(&pass, i);
    if (!failed) list_add(&pass.first, (uint32_t)pass.pred.count, &pass.broken);
    failed = failed || pass.broken || order_edges(&pass, order) != 0 ||
             order_previous_nodes(recording, order) != 0;
    pass_end(&pass);
    if (!failed) return order;
    recording_order_free(order);
    return NULL;
}

void recording_order_free(RecordingOrder *order)
{
    if (!order) return;
    free(order->previous_node);
    free(order->edge.item);
    free(order->first.item);
    free(order);
}

size_t recording_order_calls(const RecordingOrder *order)
{
    return order->calls;
}

size_t recording_order_before(const RecordingOrder *order, size_t i, size_t *before)
{
    if (order->serial) {
        if (order->previous_node[i] == NONE) return 0;
        before[0] = order->previous_node[i];
        return 1;
    }
    size_t begin = order->first.item[i], count = order->first.item[i + 1] - begin;
    for (size_t k = 0; k < count; k++)
        before[k] = order->edge.item[begin + k];
    return count;
}

int recording_is_node(const DeviceCall *call)
{
    return call_order(call).is_operation;
}
