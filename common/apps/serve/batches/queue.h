/* queue.h - the requests that wait and those that run, in the order in which they came.
 *
 * A queue is a ring of places.  A place belongs to its request until the batch that passed it is
 * done, and the request's floats lie in the same place of another array: so a batch's inputs are
 * one or two stretches of memory, but for requests that nobody waits for any more. */
#ifndef CONVLAB_SERVE_BATCHES_QUEUE_H
#define CONVLAB_SERVE_BATCHES_QUEUE_H

#include <stdint.h>

#include "common/base/error.h"

typedef struct Ticket {
    void *client;  /* whose; NULL: it was answered, or its client is gone */
    uint64_t id;   /* the client's number */
    uint64_t came; /* when; nanoseconds, as all times here */
    uint64_t deadline;
} Ticket;

typedef struct Queue {
    Ticket *ticket;                    /* of each place */
    int *batch;                        /* the places of the running ones */
    uint64_t places, done, taken, put; /* running: done..taken; waiting: taken..put */
    int waiting, most;                 /* waiting with a client; as many as may */
    int running, largest;
} Queue;

/* At most `most` wait, at most `largest` run.  -1 with error: out of memory. */
int queue_open(Queue *queue, int most, int largest, Error *error);
void queue_close(Queue *queue);

/* How many places a queue has. */
int queue_places(int most, int largest);

/* Returns the place, -1 when it is full. */
int queue_put(Queue *queue, const Ticket *ticket);

/* The waiting one that came first; NULL if none waits. */
const Ticket *queue_first(const Queue *queue);

/* The first `count` waiting ones, which are there, begin to run; none runs at the time.  Their
 * places are queue->batch. */
void queue_take(Queue *queue, int count);
/* The running ones are done. */
void queue_release(Queue *queue);

/* Those whose deadline is before `now`, waiting or running: each is told to `tell` and then has no
 * client. */
typedef void QueueTell(void *context, const Ticket *ticket);
void queue_expire(Queue *queue, uint64_t now, QueueTell *tell, void *context);

/* `client` is gone: its requests have no client.  Returns how many had. */
int queue_forget(Queue *queue, const void *client);

#endif
