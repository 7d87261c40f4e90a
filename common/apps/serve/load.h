/* load.h - clients of a server, all of one thread: an open loop or a closed one. */
#ifndef CONVLAB_SERVE_LOAD_H
#define CONVLAB_SERVE_LOAD_H

#include "common/apps/serve/answers.h"
#include "common/apps/serve/batches/frame.h"
#include "common/apps/serve/latency.h"

typedef struct LoadOptions {
    const char *path;
    double rate; /* requests a second, arriving as Poisson's; 0: a closed loop */
    int clients; /* connections */
    int each;    /* requests of a connection in a closed loop that have no answer yet */
    uint64_t begin, end, limit; /* nanoseconds: when requests are due; from due to deadline */
    uint64_t seed;
    int check; /* keep the answers, to be judged */
} LoadOptions;

/* Every request that was due is one of these. */
typedef struct LoadCounts {
    uint64_t sent, status[FRAME_STATUSES];
    uint64_t lost;       /* the connection ended before the answer */
    uint64_t unanswered; /* it did not end, and there was no answer for seconds */
    uint64_t unsent;     /* its socket took nothing any more: given up here, and not in `sent` */
    uint64_t after;      /* of the answered: those that came after their deadline */
    uint64_t strange;    /* answers to no question */
} LoadCounts;

/* Until `end`, and until every request has its answer, or cannot have one any more.  A request's
 * time begins when it is due, not when it is sent.  -1 with error: it could not begin. */
int load_run(const LoadOptions *options, Answers *answers, LoadCounts *counts, Latency *latency,
             Error *error);

#endif
