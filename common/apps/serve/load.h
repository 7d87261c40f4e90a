/* load.h - load generator: clients in one thread, as an open or a closed loop. */
#ifndef CONVLAB_SERVE_LOAD_H
#define CONVLAB_SERVE_LOAD_H

#include "common/apps/serve/answers.h"
#include "common/apps/serve/batches/frame.h"
#include "common/apps/serve/latency.h"

typedef struct LoadOptions {
    const char *path;
    double rate; /* requests per second with exponential distances; 0: a closed loop */
    int clients; /* connections */
    int each;    /* closed loop: unanswered requests per connection */
    uint64_t begin, end, limit; /* nanoseconds: start and end of the load; time from a request's due
                                 * time to its deadline */
    uint64_t seed;
    int check; /* Boolean: store the outputs, to be judged */
} LoadOptions;

/* Outcomes; every due request has exactly one. */
typedef struct LoadCounts {
    uint64_t sent, status[FRAME_STATUSES];
    uint64_t lost;       /* the connection ended before the answer */
    uint64_t unanswered; /* no answer within the patience, on an open connection */
    uint64_t unsent;     /* its socket accepted no more data; not counted in `sent` */
    uint64_t after;      /* answered after the deadline (a part of answered) */
    uint64_t strange;    /* answers without a request */
} LoadCounts;

/* Runs until `end`, and until every request has its answer, or cannot get one any more.  A
 * request's time starts when it is due, not when it is sent.  -1 with error: it could not start. */
int load_run(const LoadOptions *options, Answers *answers, LoadCounts *counts, Latency *latency,
             Error *error);

#endif
