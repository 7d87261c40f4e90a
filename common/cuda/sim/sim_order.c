#include "common/cuda/sim/sim_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/call_order.h"

/* The first NAMED_OPERATIONS operations keep a name of their own.  Later ones of the same stream
 * and epoch are merged with the operation before, which loses only the name. */
enum { NAMED_OPERATIONS = 64, PAGE_WORDS = 64 * SIMT_TOUCH_PAGE, KINDS = 3, NONE = -1 };

/* The words of a page that one kind of access touched. */
typedef enum PageUse { USE_NONE, USE_ALL, USE_BITS } PageUse;

typedef struct TouchedPage {
    uint32_t number;
    unsigned char use[KINDS]; /* PageUse by SimtTouchKind */
    uint32_t bits[KINDS];     /* USE_BITS: index of the page's first group in Operation.group */
} TouchedPage;

typedef struct Operation {
    uint32_t lane, epoch, stream;
    char name[96];
    TouchedPage *page; /* ascending */
    uint32_t pages;
    uint64_t *group;
    uint32_t groups;
    uint32_t atomics; /* SimtTouch.atomics */
} Operation;

/* A stream, or what is left of one that ended before its work did. */
typedef struct Lane {
    OrderClock clock; /* operations that end before the next one on the stream starts */
    uint32_t stream;  /* its handle */
    uint32_t epoch;   /* its last operation's epoch */
    int is_used, has_ended;
    int is_exported; /* some other clock has this epoch: the next operation begins a new one */
    int is_open;     /* used since the last call on the legacy stream, which has to wait for it */
    uint64_t host_known; /* `host_version` at which it learned what the host knows */
} Lane;

struct StreamOrder {
    Lane *lane[ORDER_STREAMS]; /* [0]: the legacy default stream */
    uint32_t lanes;
    int32_t *lane_of; /* by number of a stream's handle; NONE */
    uint32_t numbers;
    OrderClock host;
    uint64_t host_version;
    Operation *operation; /* oldest first */
    uint32_t operations, capacity;
    uint64_t bytes; /* memory of all operations */
    int is_lost;
    int is_hidden; /* Boolean: atomics carried data between operations that nothing orders */
};

/* ---- clocks --------------------------------------------------------------------------------- */

void order_clock_free(OrderClock *clock)
{
    free(clock->epoch);
    *clock = (OrderClock){0};
}

static int clock_room(OrderClock *clock, uint32_t count)
{
    if (clock->count >= count) return 0;
    uint32_t *grown = realloc(clock->epoch, count * sizeof *grown);
    if (!grown) return -1;
    memset(grown + clock->count, 0, (count - clock->count) * sizeof *grown);
    clock->epoch = grown, clock->count = count;
    return 0;
}

static uint32_t clock_at(const OrderClock *clock, uint32_t lane)
{
    return lane < clock->count ? clock->epoch[lane] : 0;
}

/* Returns whether it learned anything.  Without memory the order is lost: no clock may know less
 * than it should. */
static int clock_learn(StreamOrder *order, OrderClock *to, const OrderClock *from)
{
    int learned = 0;
    if (clock_room(to, from->count) != 0) return order->is_lost = 1;
    for (uint32_t i = 0; i < from->count; i++)
        if (from->epoch[i] > to->epoch[i]) to->epoch[i] = from->epoch[i], learned = 1;
    return learned;
}

static void clock_set(StreamOrder *order, OrderClock *clock, uint32_t lane, uint32_t epoch)
{
    if (clock_room(clock, lane + 1) == 0)
        clock->epoch[lane] = epoch;
    else
        order->is_lost = 1;
}

/* Another clock learns all that the lane's stream has done so far. */
static void lane_export(StreamOrder *order, Lane *lane, OrderClock *to)
{
    clock_learn(order, to, &lane->clock);
    lane->is_exported = 1;
}

/* ---- streams -------------------------------------------------------------------------------- */

static void clock_clear(OrderClock *clock)
{
    for (uint32_t i = 0; i < clock->count; i++)
        clock->epoch[i] = 0;
}

static int lane_open(StreamOrder *order, uint32_t at, uint32_t stream)
{
    Lane *lane = order->lane[at] ? order->lane[at] : calloc(1, sizeof *lane);
    if (!lane) return -1;
    order->lane[at] = lane;
    if (at >= order->lanes) order->lanes = at + 1;
    /* The stream that had this lane possibly waited for events, which orders nothing now. */
    clock_clear(&lane->clock);
    lane->stream = stream, lane->is_used = 1, lane->has_ended = 0, lane->is_open = 0;
    lane->host_known = 0;
    return 0;
}

StreamOrder *stream_order_open(void)
{
    StreamOrder *order = calloc(1, sizeof *order);
    if (order && lane_open(order, 0, 0) == 0) {
        order->host_version = 1;
        return order;
    }
    free(order);
    return NULL;
}

static uint32_t stream_number(uint32_t stream)
{
    return stream & ~DEVICE_STREAM_NON_BLOCKING;
}

static int numbers_room(StreamOrder *order, uint32_t number)
{
    if (number < order->numbers) return 0;
    uint32_t numbers = number < 32 ? 64 : 2 * number;
    int32_t *grown = realloc(order->lane_of, numbers * sizeof *grown);
    if (!grown) return -1;
    for (uint32_t i = order->numbers; i < numbers; i++)
        grown[i] = NONE;
    order->lane_of = grown, order->numbers = numbers;
    return 0;
}

/* Is all that the lane did over for whoever comes later? */
static int lane_is_over(const StreamOrder *order, uint32_t at)
{
    return clock_at(&order->host, at) >= order->lane[at]->epoch;
}

int stream_order_begin(StreamOrder *order, uint32_t stream)
{
    uint32_t number = stream_number(stream), at = 1;
    if (numbers_room(order, number) != 0) return -1;
    while (at < order->lanes && order->lane[at]->is_used &&
           !(order->lane[at]->has_ended && lane_is_over(order, at)))
        at++;
    if (at == ORDER_STREAMS || lane_open(order, at, stream) != 0) return -1;
    order->lane_of[number] = (int32_t)at;
    return 0;
}

void stream_order_end(StreamOrder *order, uint32_t stream)
{
    uint32_t number = stream_number(stream);
    if (number >= order->numbers || order->lane_of[number] == NONE) return;
    order->lane[order->lane_of[number]]->has_ended = 1;
    order->lane_of[number] = NONE;
}

static uint32_t lane_of(const StreamOrder *order, uint32_t stream)
{
    uint32_t number = stream_number(stream);
    return number && number < order->numbers && order->lane_of[number] != NONE
               ? (uint32_t)order->lane_of[number]
               : 0;
}

/* The call takes its place on the stream: its clock becomes what is over before. */
static void stream_place(StreamOrder *order, uint32_t at)
{
    Lane *lane = order->lane[at], *legacy = order->lane[0];
    if (lane->host_known != order->host_version) {
        clock_learn(order, &lane->clock, &order->host);
        lane->host_known = order->host_version;
    }
    if (lane->stream & DEVICE_STREAM_NON_BLOCKING) return;
    if (at && !lane->is_open) {
        lane_export(order, legacy, &lane->clock);
        lane->is_open = 1;
    }
    for (uint32_t i = 1; !at && i < order->lanes; i++) {
        if (!order->lane[i]->is_open) continue;
        lane_export(order, order->lane[i], &legacy->clock);
        order->lane[i]->is_open = 0;
    }
}

static int host_learns(StreamOrder *order, const OrderClock *clock)
{
    int learned = clock_learn(order, &order->host, clock);
    order->host_version += (uint64_t)learned;
    return learned;
}

/* ---- accessed words ------------------------------------------------------------------------- */

static uint64_t operation_bytes(const Operation *o)
{
    return sizeof *o + o->pages * sizeof *o->page + o->groups * sizeof *o->group;
}

static void operation_free(Operation *operation)
{
    free(operation->page);
    free(operation->group);
}

/* The groups of 64 words that a page touched, or NULL for none of that kind. */
static const uint64_t *page_groups(const Operation *o, const TouchedPage *page, int kind)
{
    static const uint64_t ALL[SIMT_TOUCH_PAGE] = {[0 ... SIMT_TOUCH_PAGE - 1] = UINT64_MAX};
    if (page->use[kind] == USE_BITS) return o->group + page->bits[kind];
    return page->use[kind] == USE_ALL ? ALL : NULL;
}

/* Appends one kind of a page to the operation, whose last page it is. */
static int page_add(Operation *o, int kind, const uint64_t *bits)
{
    TouchedPage *page = &o->page[o->pages - 1];
    uint64_t any = 0, all = UINT64_MAX;
    for (int i = 0; i < SIMT_TOUCH_PAGE; i++)
        any |= bits[i], all &= bits[i];
    page->use[kind] = !any ? USE_NONE : all == UINT64_MAX ? USE_ALL : USE_BITS;
    if (page->use[kind] != USE_BITS) return 0;
    if ((o->groups & (o->groups - 1)) == 0) { /* full at 0, 64, 128, 256 ... */
        uint64_t *grown =
            realloc(o->group, (o->groups ? 2 * o->groups : SIMT_TOUCH_PAGE) * sizeof *grown);
        if (!grown) return -1;
        o->group = grown;
    }
    page->bits[kind] = o->groups;
    memcpy(o->group + o->groups, bits, SIMT_TOUCH_PAGE * sizeof *bits);
    o->groups += SIMT_TOUCH_PAGE;
    return 0;
}

static int page_begin(Operation *o, uint32_t number)
{
    if ((o->pages & (o->pages - 1)) == 0) { /* full at 0, 1, 2, 4 ... */
        TouchedPage *grown = realloc(o->page, (o->pages ? 2 * o->pages : 1) * sizeof *grown);
        if (!grown) return -1;
        o->page = grown;
    }
    o->page[o->pages++] = (TouchedPage){.number = number};
    return 0;
}

static int pages_of_launch(Operation *o, const SimtTouch *touch)
{
    if (simt_touch_is_partial(touch)) return -1;
    o->atomics = *touch->atomics;
    for (uint64_t part = 0; part < touch->groups / SIMT_TOUCH_PAGE / 64 + 1; part++)
        for (uint64_t m = touch->pages[part]; m; m &= m - 1) {
            uint64_t page = part * 64 + (uint64_t)__builtin_ctzll(m), from = page * SIMT_TOUCH_PAGE;
            if (page_begin(o, (uint32_t)page) != 0) return -1;
            for (int kind = 0; kind < KINDS; kind++)
                if (page_add(o, kind, touch->bits[kind] + from) != 0) return -1;
        }
    return 0;
}

/* Bit mask of the page's groups that the `words` words from `first` on touch; returns 0 if none. */
static int range_groups(uint64_t first, uint64_t words, uint64_t page, uint64_t *bits)
{
    uint64_t begin = page * PAGE_WORDS, end = begin + PAGE_WORDS;
    uint64_t from = first > begin ? first : begin, to = first + words < end ? first + words : end;
    memset(bits, 0, SIMT_TOUCH_PAGE * sizeof *bits);
    for (uint64_t word = from; word < to;) {
        uint64_t at = word - begin, bit = at % 64, count = 64 - bit;
        if (count > to - word) count = to - word;
        bits[at / 64] |= (count == 64 ? UINT64_MAX : (1ull << count) - 1) << bit;
        word += count;
    }
    return from < to;
}

typedef struct Range {
    uint64_t first, words;
} Range;

static Range range_make(uint64_t address, uint64_t bytes)
{
    uint64_t begin = (address - simt_memory_begin()) / 4;
    uint64_t end = (address - simt_memory_begin() + bytes + 3) / 4;
    return (Range){begin, end - begin};
}

static int pages_of_range(Operation *o, const Range range[2], uint64_t from, uint64_t to)
{
    static const int KIND[2] = {SIMT_TOUCH_READ, SIMT_TOUCH_WRITE};
    uint64_t bits[SIMT_TOUCH_PAGE];
    for (uint64_t page = from; page < to; page++) {
        int begun = 0;
        for (int i = 0; i < 2; i++) {
            if (!range_groups(range[i].first, range[i].words, page, bits)) continue;
            if (!begun && page_begin(o, (uint32_t)page) != 0) return -1;
            begun = 1;
            if (page_add(o, KIND[i], bits) != 0) return -1;
        }
    }
    return 0;
}

static int pages_of_copy(Operation *o, const DeviceCall *call)
{
    Range range[2] = {{0}}; /* read, written */
    uint64_t bytes = call->kind == CALL_COPY_TO_DEVICE ? call->data_bytes : call->bytes;
    if (call->kind == CALL_COPY_TO_HOST || call->kind == CALL_COPY_ON_DEVICE)
        range[0] = range_make(call->src, bytes);
    if (call->kind != CALL_COPY_TO_HOST) range[1] = range_make(call->dst, bytes);
    const Range *low = range[1].words && (!range[0].words || range[1].first < range[0].first)
                           ? &range[1]
                           : &range[0];
    const Range *high = low == range ? &range[1] : &range[0];
    uint64_t low_end = (low->first + low->words + PAGE_WORDS - 1) / PAGE_WORDS;
    uint64_t high_begin = high->first / PAGE_WORDS,
             high_end = (high->first + high->words + PAGE_WORDS - 1) / PAGE_WORDS;
    if (!high->words) return pages_of_range(o, range, low->first / PAGE_WORDS, low_end);
    if (high_begin < low_end) {
        uint64_t end = low_end > high_end ? low_end : high_end;
        return pages_of_range(o, range, low->first / PAGE_WORDS, end);
    }
    if (pages_of_range(o, range, low->first / PAGE_WORDS, low_end) != 0) return -1;
    return pages_of_range(o, range, high_begin, high_end);
}

/* Accesses of two operations to the same words. */
typedef struct Conflict {
    uint64_t words, first; /* words that both touch and one changes, not both by atomics */
    int shares_atomics;    /* Boolean: both have atomics on one word */
} Conflict;

static void pages_conflict(const Operation *a, const TouchedPage *pa, const Operation *b,
                           const TouchedPage *pb, Conflict *found)
{
    static const uint64_t NOTHING[SIMT_TOUCH_PAGE];
    const uint64_t *of_a[KINDS], *of_b[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        of_a[kind] = page_groups(a, pa, kind), of_b[kind] = page_groups(b, pb, kind);
        if (!of_a[kind]) of_a[kind] = NOTHING;
        if (!of_b[kind]) of_b[kind] = NOTHING;
    }
    for (uint64_t i = 0; i < SIMT_TOUCH_PAGE; i++) {
        uint64_t aw = of_a[SIMT_TOUCH_WRITE][i], bw = of_b[SIMT_TOUCH_WRITE][i];
        uint64_t aa = of_a[SIMT_TOUCH_ATOMIC][i], ba = of_b[SIMT_TOUCH_ATOMIC][i];
        uint64_t ar = of_a[SIMT_TOUCH_READ][i], br = of_b[SIMT_TOUCH_READ][i];
        uint64_t both = (aw & (br | bw | ba)) | (bw & (ar | aa)) | (aa & br) | (ba & ar);
        found->shares_atomics |= (aa & ba) != 0;
        if (both && !found->words)
            found->first =
                (uint64_t)pa->number * PAGE_WORDS + i * 64 + (uint64_t)__builtin_ctzll(both);
        found->words += (uint64_t)__builtin_popcountll(both);
    }
}

static Conflict conflict_find(const Operation *a, const Operation *b, uint64_t *checked)
{
    Conflict found = {0};
    for (uint32_t i = 0, k = 0; i < a->pages && k < b->pages;) {
        *checked += sizeof *a->page;
        if (a->page[i].number != b->page[k].number) {
            if (a->page[i].number < b->page[k].number)
                i++;
            else
                k++;
            continue;
        }
        pages_conflict(a, &a->page[i++], b, &b->page[k++], &found);
        *checked += SIMT_TOUCH_PAGE * sizeof(uint64_t);
    }
    return found;
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
             "Race reported between %s on %s and %s on %s. Both use %llu bytes from address 0x%llx "
             "on, one of them writes, and nothing orders the two: the second waits for no event "
             "after the first, and the host for neither",
             a->name, on_a, b->name, on_b, (unsigned long long)(words * 4),
             (unsigned long long)(simt_memory_begin() + word * 4));
}

static void operation_check(StreamOrder *order, const Operation *now, const OrderClock *known,
                            char *message, size_t bytes, uint64_t *checked)
{
    for (uint32_t i = 0; i < order->operations && !message[0]; i++) {
        const Operation *before = &order->operation[i];
        *checked += sizeof(uint64_t);
        if (before->epoch <= clock_at(known, before->lane)) continue;
        Conflict found = conflict_find(before, now, checked);
        if (found.words) conflict_report(before, now, found.first, found.words, message, bytes);
        order->is_hidden |=
            found.shares_atomics && !simt_touch_commutes(before->atomics | now->atomics);
    }
}

/* Drops all operations: no race is found until the host waits for the device. */
static void order_lose(StreamOrder *order)
{
    while (order->operations)
        operation_free(&order->operation[--order->operations]);
    order->bytes = 0;
    order->is_lost = 1;
}

/* One kind of a page of either or both. */
static int page_join(Operation *to, int kind, const uint64_t *one, const uint64_t *other)
{
    uint64_t bits[SIMT_TOUCH_PAGE];
    for (int i = 0; i < SIMT_TOUCH_PAGE; i++)
        bits[i] = (one ? one[i] : 0) | (other ? other[i] : 0);
    return page_add(to, kind, bits);
}

/* The later of two operations that no clock tells apart takes up what the earlier one touched. */
static int operation_join(const Operation *earlier, Operation *now, uint64_t *checked)
{
    Operation joined = *now;
    joined.atomics |= earlier->atomics;
    joined.page = NULL, joined.group = NULL, joined.pages = joined.groups = 0;
    for (uint32_t i = 0, k = 0; i < earlier->pages || k < now->pages;) {
        const TouchedPage *a = i < earlier->pages ? &earlier->page[i] : NULL;
        const TouchedPage *b = k < now->pages ? &now->page[k] : NULL;
        if (a && b && a->number < b->number) b = NULL;
        if (a && b && b->number < a->number) a = NULL;
        int failed = page_begin(&joined, a ? a->number : b->number);
        for (int kind = 0; kind < KINDS && !failed; kind++)
            failed = page_join(&joined, kind, a ? page_groups(earlier, a, kind) : NULL,
                               b ? page_groups(now, b, kind) : NULL);
        if (failed) {
            operation_free(&joined);
            return -1;
        }
        i += a != NULL, k += b != NULL;
        *checked += SIMT_TOUCH_PAGE * sizeof(uint64_t);
    }
    operation_free(now);
    *now = joined;
    return 0;
}

static Operation *same_epoch(StreamOrder *order, const Operation *now)
{
    for (uint32_t i = order->operations; i-- > 0;)
        if (order->operation[i].lane == now->lane)
            return order->operation[i].epoch == now->epoch ? &order->operation[i] : NULL;
    return NULL;
}

static int operation_append(StreamOrder *order, const Operation *now)
{
    if (order->operations == order->capacity) {
        uint32_t capacity = order->capacity ? 2 * order->capacity : NAMED_OPERATIONS;
        Operation *grown = realloc(order->operation, capacity * sizeof *grown);
        if (!grown) return -1;
        order->operation = grown, order->capacity = capacity;
    }
    order->operation[order->operations++] = *now;
    order->bytes += operation_bytes(now);
    return 0;
}

static void operation_add(StreamOrder *order, Operation *now, uint64_t *checked)
{
    Operation *earlier = order->operations >= NAMED_OPERATIONS ? same_epoch(order, now) : NULL;
    int failed = 0;
    *checked += order->operations;
    if (earlier) {
        order->bytes -= operation_bytes(earlier);
        failed = operation_join(earlier, now, checked);
        operation_free(earlier);
        *earlier = *now;
        order->bytes += operation_bytes(earlier);
    } else {
        failed = operation_append(order, now);
        if (failed) operation_free(now);
    }
    if (failed || order->bytes > ORDER_BYTES) order_lose(order);
}

/* Drops the operations for which the host has waited: everything later is ordered after them. */
static void known_forget(StreamOrder *order)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < order->operations; i++) {
        Operation *o = &order->operation[i];
        if (clock_at(&order->host, o->lane) < o->epoch) {
            order->operation[left++] = *o;
            continue;
        }
        order->bytes -= operation_bytes(o);
        operation_free(o);
    }
    order->operations = left;
}

static void operation_note(StreamOrder *order, const DeviceCall *call, uint32_t at,
                           const char *name, const SimtTouch *touch, char *message, size_t bytes,
                           uint64_t *checked)
{
    Lane *lane = order->lane[at];
    Operation now = {.lane = at, .stream = call->stream};
    if (lane->is_exported || !lane->epoch) lane->epoch++, lane->is_exported = 0;
    if (!order->is_lost) {
        snprintf(now.name, sizeof now.name, "%s", name);
        int failed = touch ? pages_of_launch(&now, touch) : pages_of_copy(&now, call);
        *checked += operation_bytes(&now);
        if (!failed) operation_check(order, &now, &lane->clock, message, bytes, checked);
        now.epoch = lane->epoch;
        if (failed) {
            operation_free(&now);
            order_lose(order);
        } else {
            operation_add(order, &now, checked);
        }
    }
    clock_set(order, &lane->clock, at, lane->epoch);
}

static void host_wait(StreamOrder *order, const CallOrder *rule, Lane *lane,
                      const OrderClock *event, uint64_t *checked)
{
    int learned = 0;
    switch (rule->host) {
    case HOST_WAITS_NOT:
        break;
    case HOST_WAITS_STREAM:
        lane->is_exported = 1;
        learned = host_learns(order, &lane->clock);
        break;
    case HOST_WAITS_EVENT:
        learned = event && host_learns(order, event);
        break;
    case HOST_WAITS_DEVICE:
        order->is_lost = order->is_hidden = 0;
        for (uint32_t i = 0; i < order->lanes; i++) {
            order->lane[i]->is_exported = 1;
            clock_set(order, &order->host, i, order->lane[i]->epoch);
        }
        order->host_version++;
        learned = 1;
        break;
    }
    /* A query of one event in a loop would else look at all operations each time. */
    if (!learned) return;
    *checked += order->operations * sizeof(uint64_t);
    known_forget(order);
}

uint64_t stream_order_call(StreamOrder *order, const DeviceCall *call, OrderClock *event,
                           const char *name, const SimtTouch *touch, char *message, size_t bytes)
{
    CallOrder rule = call_order(call);
    uint32_t at = lane_of(order, call->stream);
    Lane *lane = order->lane[at];
    uint64_t checked = 0;
    if (rule.is_on_stream) stream_place(order, at);
    if (rule.is_operation) operation_note(order, call, at, name, touch, message, bytes, &checked);
    if (rule.waits_event && event) clock_learn(order, &lane->clock, event);
    if (rule.records_event && event) {
        event->count = event->count < lane->clock.count ? event->count : lane->clock.count;
        clock_clear(event);
        lane_export(order, lane, event);
    }
    host_wait(order, &rule, lane, event, &checked);
    return checked;
}

int stream_order_lost(const StreamOrder *order)
{
    return order->is_lost || order->is_hidden;
}

OrderStamp stream_order_last(const StreamOrder *order, uint32_t stream)
{
    uint32_t at = lane_of(order, stream);
    return (OrderStamp){at, order->lane[at]->epoch};
}

int stream_order_is_over(const StreamOrder *order, OrderStamp stamp)
{
    return stamp.epoch <= clock_at(&order->host, stamp.lane);
}

int stream_order_precedes(const StreamOrder *order, OrderStamp stamp, uint32_t stream)
{
    return stamp.epoch <= clock_at(&order->lane[lane_of(order, stream)]->clock, stamp.lane);
}

void stream_order_close(StreamOrder *order)
{
    if (!order) return;
    order_lose(order);
    for (uint32_t i = 0; i < order->lanes; i++) {
        order_clock_free(&order->lane[i]->clock);
        free(order->lane[i]);
    }
    order_clock_free(&order->host);
    free(order->operation);
    free(order->lane_of);
    free(order);
}
