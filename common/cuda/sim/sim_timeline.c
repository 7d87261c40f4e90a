#include "common/cuda/sim/sim_timeline.h"

/* Maximum used share of the resource in [begin, end); the use only rises at starts of parts. */
static uint32_t most_taken(const TimelinePiece *piece, uint32_t count, uint64_t begin, uint64_t end)
{
    uint32_t most = 0;
    for (uint32_t moment = 0; moment <= count; moment++) {
        uint64_t at = moment < count ? piece[moment].begin : begin;
        uint32_t taken = 0;
        if (at < begin || at >= end) continue;
        for (uint32_t i = 0; i < count; i++)
            if (piece[i].begin <= at && at < piece[i].end) taken += piece[i].share;
        if (taken > most) most = taken;
    }
    return most;
}

/* The earliest end after `time`: the next moment at which the resource may be free. */
static uint64_t next_end(const TimelinePiece *piece, uint32_t count, uint64_t time)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (piece[i].end > time && piece[i].end < next) next = piece[i].end;
    return next;
}

static void piece_keep(Timeline *timeline, TimelineResource resource, TimelinePiece made)
{
    TimelinePiece *piece = timeline->piece[resource];
    uint32_t *count = &timeline->count[resource], first = 0;
    if (*count == TIMELINE_PIECES) {
        for (uint32_t i = 1; i < *count; i++)
            if (piece[i].end < piece[first].end) first = i;
        if (piece[first].end > timeline->floor[resource])
            timeline->floor[resource] = piece[first].end;
        piece[first] = piece[--*count];
    }
    piece[(*count)++] = made;
}

uint64_t timeline_place(Timeline *timeline, TimelineResource resource, uint32_t share,
                        uint64_t ready, uint64_t cycles)
{
    const TimelinePiece *piece = timeline->piece[resource];
    uint32_t count = timeline->count[resource];
    uint64_t begin = ready > timeline->floor[resource] ? ready : timeline->floor[resource];
    while (cycles && most_taken(piece, count, begin, begin + cycles) + share > TIMELINE_WHOLE)
        begin = next_end(piece, count, begin);
    TimelinePiece made = {.begin = begin, .end = begin + cycles, .share = share};
    if (cycles) piece_keep(timeline, resource, made);
    if (made.end > timeline->end) timeline->end = made.end;
    return made.end;
}

/* Free share of the resource at `time`, and the time until which it is constant. */
static uint32_t left_at(const TimelinePiece *piece, uint32_t count, uint64_t time, uint64_t *until)
{
    uint32_t taken = 0;
    *until = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t change = piece[i].begin > time ? piece[i].begin : piece[i].end;
        if (piece[i].begin <= time && time < piece[i].end) taken += piece[i].share;
        if (change > time && change < *until) *until = change;
    }
    return TIMELINE_WHOLE - taken;
}

uint64_t timeline_fill(Timeline *timeline, TimelineResource resource, uint32_t share,
                       uint64_t ready, uint64_t cycles)
{
    uint64_t at = ready > timeline->floor[resource] ? ready : timeline->floor[resource];
    uint64_t work = cycles * share;
    while (work) {
        uint64_t until;
        uint32_t left = left_at(timeline->piece[resource], timeline->count[resource], at, &until),
                 taken = left < share ? left : share;
        uint64_t whole = taken ? (work + taken - 1) / taken : UINT64_MAX;
        uint64_t end = whole < until - at ? at + whole : until;
        if (taken)
            piece_keep(timeline, resource,
                       (TimelinePiece){.begin = at, .end = end, .share = taken});
        work -= taken * (end - at) < work ? taken * (end - at) : work;
        at = end;
    }
    if (at > timeline->end) timeline->end = at;
    return at;
}

static uint64_t since(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Places the part of a launch before its wait; returns its end. */
static uint64_t own_place(Timeline *timeline, const TimelineLaunch *launch, uint64_t first)
{
    uint64_t own = since(launch->launch, launch->pdl_wait);
    if (!launch->is_exclusive)
        return timeline_fill(timeline, TIMELINE_SMS, launch->share, first, own);
    uint64_t busy =
        (uint64_t)(((__uint128_t)own * launch->share + TIMELINE_WHOLE - 1) / TIMELINE_WHOLE);
    uint64_t end =
        timeline_fill(timeline, TIMELINE_SMS, TIMELINE_WHOLE, first, busy) + (own - busy);
    if (end > timeline->end) timeline->end = end;
    return end;
}

TimelineMark timeline_overlap(Timeline *timeline, const TimelineLaunch *launch, uint64_t ready,
                              TimelineMark before)
{
    uint64_t first = before.pdl_trigger + TIMELINE_HAND; /* first instruction */
    if (first < ready + launch->launch) first = ready + launch->launch;
    uint64_t pdl_wait = own_place(timeline, launch, first);
    uint64_t goes_on = before.end + TIMELINE_RESUME;
    if (launch->pdl_wait == launch->cycles || goes_on < pdl_wait) goes_on = pdl_wait;
    uint64_t end = timeline_fill(timeline, TIMELINE_SMS, launch->share, goes_on,
                                 since(launch->pdl_wait, launch->cycles));
    int early = launch->pdl_trigger < launch->pdl_wait;
    uint64_t pdl_trigger = early ? first + since(launch->launch, launch->pdl_trigger)
                                 : end - since(launch->pdl_trigger, launch->cycles);
    /* A launch that never waits does not end before the one that it overlaps: whoever waits for it
     * waits for both. */
    if (!early && pdl_trigger < before.end) pdl_trigger = before.end;
    return (TimelineMark){.pdl_trigger = pdl_trigger, .end = end > before.end ? end : before.end};
}

uint32_t timeline_share(uint64_t part, uint64_t whole)
{
    if (part >= whole) return TIMELINE_WHOLE;
    if (!part) return 1;
    return (uint32_t)(((__uint128_t)part * TIMELINE_WHOLE + whole - 1) / whole);
}
