/* queue.h - waiting and running requests, in the order of arrival.
 *
 * A queue is a ring buffer of places.  A place belongs to its request until the batch that passed
 * it is finished.  The request's floats are in the same place of another array.  So a batch's
 * inputs are one or two contiguous ranges, except for abandoned requests. */
#ifndef CONVLAB_SERVE_BATCHES_QUEUE_H
#define CONVLAB_SERVE_BATCHES_QUEUE_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct Ticket {
    void *client;     /* its client; NULL: it was answered, or its client has disconnected */
    uint64_t id;      /* the client's number */
    uint64_t arrival; /* time of arrival; nanoseconds, as all times here */
    uint64_t deadline;
} Ticket;

typedef struct Queue {
    Ticket *ticket;                    /* by place */
    int *batch;                        /* places of the running requests */
    uint64_t places, done, taken, put; /* running: done..taken; waiting: taken..put */
    int waiting, most;                 /* number of waiting requests with a client; maximum */
    int running, largest;
} Queue;

/* At most `most` wait, at most `largest` run.  -1 with error: out of memory. */
int queue_open(Queue *queue, int most, int largest, Error *error);
void queue_close(Queue *queue);

/* Number of places in a queue. */
int queue_places(int most, int largest);

/* Returns the place, -1 if it is full. */
int queue_put(Queue *queue, const Ticket *ticket);

/* The oldest waiting request; NULL: none. */
const Ticket *queue_first(const Queue *queue);

/* Starts the first `count` waiting requests; none must be running.  Their places are
 * queue->batch. */
void queue_take(Queue *queue, int count);
/* Ends the running requests. */
void queue_release(Queue *queue);

/* Reports each waiting or running request whose deadline is before `now` to `tell`, and removes its
 * client. */
typedef void QueueReport(void *context, const Ticket *ticket);
void queue_expire(Queue *queue, uint64_t now, QueueReport *tell, void *context);

/* Removes a disconnected client from its requests.  Returns their number. */
int queue_forget(Queue *queue, const void *client);

#endif
