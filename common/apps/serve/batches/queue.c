#include "common/apps/serve/batches/queue.h"

#include <stddef.h>
#include <stdlib.h>

/* Places of abandoned requests stay in use until a batch passes them, so there are twice as many
 * places as requests that may wait. */
int queue_places(int most, int largest)
{
    return 2 * most + largest;
}

int queue_open(Queue *queue, int most, int largest, Error *error)
{
    *queue =
        (Queue){.most = most, .largest = largest, .places = (uint64_t)queue_places(most, largest)};
    queue->ticket = calloc(queue->places, sizeof *queue->ticket);
    queue->batch = calloc((size_t)largest, sizeof *queue->batch);
    if (queue->ticket && queue->batch) return 0;
    queue_close(queue);
    return error_set(error, "out of memory for a queue of %d", most);
}

void queue_close(Queue *queue)
{
    free(queue->ticket);
    free(queue->batch);
    *queue = (Queue){0};
}

static Ticket *at(const Queue *queue, uint64_t position)
{
    return &queue->ticket[position % queue->places];
}

/* Skips abandoned requests at the front. */
static void skip(Queue *queue)
{
    while (queue->taken < queue->put && !at(queue, queue->taken)->client)
        queue->taken++;
    if (!queue->running) queue->done = queue->taken;
}

int queue_put(Queue *queue, const Ticket *ticket)
{
    skip(queue);
    if (queue->waiting == queue->most || queue->put - queue->done == queue->places) return -1;
    *at(queue, queue->put) = *ticket;
    queue->waiting++;
    return (int)(queue->put++ % queue->places);
}

const Ticket *queue_first(const Queue *queue)
{
    for (uint64_t i = queue->taken; i < queue->put; i++)
        if (at(queue, i)->client) return at(queue, i);
    return NULL;
}

void queue_take(Queue *queue, int count)
{
    while (queue->running < count) {
        if (at(queue, queue->taken)->client)
            queue->batch[queue->running++] = (int)(queue->taken % queue->places);
        queue->taken++;
    }
    queue->waiting -= count;
}

void queue_release(Queue *queue)
{
    queue->running = 0;
    queue->done = queue->taken;
}

void queue_expire(Queue *queue, uint64_t now, QueueReport *tell, void *context)
{
    for (uint64_t i = queue->done; i < queue->put; i++) {
        Ticket *ticket = at(queue, i);
        if (!ticket->client || ticket->deadline >= now) continue;
        tell(context, ticket);
        ticket->client = NULL;
        if (i >= queue->taken) queue->waiting--;
    }
    skip(queue);
}

int queue_forget(Queue *queue, const void *client)
{
    int forgotten = 0;
    for (uint64_t i = queue->done; i < queue->put; i++) {
        Ticket *ticket = at(queue, i);
        if (ticket->client != client) continue;
        ticket->client = NULL;
        forgotten++;
        if (i >= queue->taken) queue->waiting--;
    }
    skip(queue);
    return forgotten;
}
