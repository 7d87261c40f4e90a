#include "common/cuda/sim/sim_timeline.h"

/* The most that is taken of the resource at any moment of [begin, end): usage only rises where a
 * piece begins. */
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

/* The earliest end after `time`: the next moment at which there may be room. */
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

uint32_t timeline_share(uint64_t part, uint64_t whole)
{
    if (part >= whole) return TIMELINE_WHOLE;
    if (!part) return 1;
    return (uint32_t)(((__uint128_t)part * TIMELINE_WHOLE + whole - 1) / whole);
}
