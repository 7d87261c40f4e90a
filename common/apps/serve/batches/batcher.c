#include "common/apps/serve/batches/batcher.h"

#include <stddef.h>

/* An overdue batch is assumed to need the same time again, so that the server soon accepts nothing
 * more if a batch hangs. */
static uint64_t device_free(const Batcher *batcher, uint64_t now)
{
    const Queue *queue = &batcher->queue;
    if (!queue->running) return now;
    uint64_t end = batcher->began + cost_of(&batcher->cost, queue->running, now);
    return end > now ? end : now + (now - end);
}

uint64_t batcher_ready(const Batcher *batcher, uint64_t now)
{
    const Queue *queue = &batcher->queue;
    int alone = !queue->running && !queue->waiting;
    uint64_t whole = cost_of(&batcher->cost, batcher->largest, now);
    uint64_t before = (uint64_t)(queue->waiting / batcher->largest) * whole;
    return device_free(batcher, now) + before + (alone ? cost_of(&batcher->cost, 1, now) : whole);
}

FrameStatus batcher_offer(Batcher *batcher, const Ticket *ticket, uint64_t now, int *place)
{
    if (batcher->stopping) return FRAME_STOPPING;
    if (batcher_ready(batcher, now) + batcher->margin > ticket->deadline) return FRAME_LATE;
    *place = queue_put(&batcher->queue, ticket);
    return *place < 0 ? FRAME_FULL : FRAME_ANSWERED;
}

int batcher_size(const Batcher *batcher, uint64_t now, uint64_t *wake)
{
    const Queue *queue = &batcher->queue;
    const Ticket *first = queue_first(queue);
    *wake = UINT64_MAX;
    if (queue->running || !first) return 0;
    int size = queue->waiting < batcher->largest ? queue->waiting : batcher->largest;
    uint64_t needs = cost_of(&batcher->cost, batcher->largest, now) + batcher->margin;
    uint64_t latest = first->deadline > needs ? first->deadline - needs : 0;
    uint64_t begin = first->arrival + batcher->window;
    if (begin > latest) begin = latest;
    if (size < batcher->largest && !batcher->stopping && now < begin) {
        *wake = begin;
        return 0;
    }
    return size;
}

void batcher_begin(Batcher *batcher, int size, uint64_t now)
{
    queue_take(&batcher->queue, size);
    batcher->began = now;
}

void batcher_end(Batcher *batcher, uint64_t now)
{
    cost_note(&batcher->cost, batcher->queue.running, now - batcher->began, now);
    queue_release(&batcher->queue);
}

int batcher_largest(const Cost *cost, int most, uint64_t limit, uint64_t window, uint64_t margin)
{
    int largest = 0;
    for (int size = 1; size <= most && size <= COST_LARGEST; size *= 2)
        if (2 * cost_of(cost, size, 0) + window + margin <= limit) largest = size;
    if (largest == 0 && cost_of(cost, 1, 0) + margin <= limit) return 1;
    return largest;
}

int batcher_most(const Cost *cost, int largest, uint64_t limit, uint64_t margin)
{
    uint64_t batch = cost_of(cost, largest, 0);
    uint64_t batches = limit > margin && batch ? (limit - margin) / batch : 0;
    return batches > 1 ? (int)(batches - 1) * largest : largest;
}
