/* serve - server of a lab's network for clients of a Unix socket: started by
 * common/apps/serve/serve.sh. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cuda/engine/engine.h"
#include "common/apps/serve/server.h"
#include "common/apps/serve/settings.h"

enum { AUTO_LARGEST = 256, PLACES_MOST = 1 << 16, MEASURED_MOST = 8, REMEMBERED = 4 /* limits */ };

#define MEASURE_SECONDS 0.5 /* per size, but at least two batches */

typedef struct Wish {
    const char *operation, *shape, *precision, *path, *weights;
    double seed, limit, window, margin, batch, queue, port;
} Wish;

/* Runs batches of zeros, of every size that has a class; the first of each is a warm-up. */
static int measure_size(Executor *executor, Cost *cost, const int *place, int size, Error *error)
{
    uint64_t begin = clock_now(), most = (uint64_t)(MEASURE_SECONDS * 1e9);
    for (int i = 0; i < 3 || (i < MEASURED_MOST && clock_now() - begin < most); i++) {
        uint64_t from = clock_now();
        if (!executor_run(executor, place, size, error)) return -1;
        if (i) cost_begin(cost, size, clock_now() - from);
        if (!i) engine_trust();
    }
    return 0;
}

/* Measures up to `largest`, or to the first size that exceeds `limit`. */
static int measure(Executor *executor, Cost *cost, int largest, uint64_t limit, Error *error)
{
    int *place = calloc((size_t)largest, sizeof *place), status = 0, last = 0;
    if (!place || executor_places(executor, largest, error)) {
        free(place);
        return place ? -1 : error_set(error, "out of memory");
    }
    for (int i = 0; i < largest; i++)
        place[i] = i;
    memset(
        executor_input(executor, 0), 0,
        (size_t)((char *)executor_input(executor, largest) - (char *)executor_input(executor, 0)));
    for (int size = 1; !status && last < largest; size *= 2) {
        int now = size < largest ? size : largest;
        status = measure_size(executor, cost, place, now, error);
        last = cost_of(cost, now, 0) > limit ? largest : now;
    }
    free(place);
    return status;
}

/* Chooses the largest batch and the queue's size from the limit. */
static int decide(const Wish *wish, const Cost *cost, ServerOptions *options, Error *error)
{
    double one = (double)cost_of(cost, 1, 0) / 1e6;
    options->largest = wish->batch > 0 ? (int)wish->batch
                                       : batcher_largest(cost, AUTO_LARGEST, options->limit,
                                                         options->window, options->margin);
    if (!options->largest || one + wish->margin > wish->limit)
        return error_set(error,
                         "one image alone takes %.3g ms on %s, so LIMIT=%g cannot be kept: "
                         "LIMIT=%.3g is the least",
                         one, engine_words(), wish->limit, 2 * one + wish->margin + wish->window);
    options->most = wish->queue > 0
                        ? (int)wish->queue
                        : batcher_most(cost, options->largest, options->limit, options->margin);
    if (options->most > PLACES_MOST) options->most = PLACES_MOST;
    double whole = (double)cost_of(cost, options->largest, 0) / 1e6;
    printf("serve: a batch of 1 takes %.3g ms, one of %d %.3g ms;\n"
           "       LIMIT=%g WINDOW=%g BATCH=%d QUEUE=%d\n",
           one, options->largest, whole, wish->limit, wish->window, options->largest,
           options->most);
    if (2 * whole + wish->window + wish->margin > wish->limit)
        printf("serve: a request that arrives after the start of a full batch cannot be ready\n"
               "       in %g ms, and is rejected: a smaller BATCH answers more\n",
               wish->limit);
    return 0;
}

static int serve(const Wish *wish, const Model *model, Executor *executor, Error *error)
{
    Cost cost = {.memory = REMEMBERED * from_milliseconds(wish->limit)};
    ServerOptions options = {.path = wish->path,
                             .metrics_port = (int)wish->port,
                             .limit = from_milliseconds(wish->limit),
                             .window = from_milliseconds(wish->window),
                             .margin = from_milliseconds(wish->margin)};
    int largest = wish->batch > 0 ? (int)wish->batch : AUTO_LARGEST;
    uint64_t tried = wish->batch > 0 ? UINT64_MAX : options.limit;
    if (measure(executor, &cost, largest, tried, error) || decide(wish, &cost, &options, error) ||
        executor_places(executor, queue_places(options.most, options.largest), error))
        return -1;
    Server *server = server_open(&options, model, executor, &cost, error);
    if (!server) return -1;
    printf("serve: %s %s\n       on %s, at %s\n", model->operation->name, model->shape,
           engine_words(), wish->path);
    fflush(stdout);
    int status = server_run(server, error);
    if (status) return status; /* the device is lost: its resources cannot be closed */
    server_close(server);
    return 0;
}

int main(int argc, char **argv)
{
    Wish wish = {.path = "",
                 .operation = "",
                 .shape = "",
                 .precision = "fp32",
                 .weights = "",
                 .seed = 1,
                 .limit = 7,
                 .window = 0.2,
                 .margin = 0.5};
    const Setting table[] = {
        {.name = "OPERATION", .text = &wish.operation},
        {.name = "SHAPE", .text = &wish.shape},
        {.name = "PRECISION", .text = &wish.precision},
        {.name = "SOCKET", .text = &wish.path},
        {.name = "WEIGHTS", .text = &wish.weights},
        {"SEED", NULL, &wish.seed, 0, 1e15, "a whole number", 1},
        {"LIMIT", NULL, &wish.limit, 0.01, 1e6, "milliseconds", 0},
        {"WINDOW", NULL, &wish.window, 0, 1e6, "milliseconds", 0},
        {"MARGIN", NULL, &wish.margin, 0, 1e6, "milliseconds", 0},
        {"BATCH", NULL, &wish.batch, 1, COST_LARGEST, "requests", 1},
        {"QUEUE", NULL, &wish.queue, 1, PLACES_MOST, "requests", 1},
        {"METRICS", NULL, &wish.port, 1, 65535, "a port", 1},
        {0},
    };
    Error error = {""};
    Model model = {0};
    Executor *executor = NULL;
    int largest;
    if (settings_read(argc, argv, table, &error) ||
        model_open(wish.operation, wish.shape, (uint64_t)wish.seed, wish.weights, &model, &error) ||
        (largest = wish.batch > 0 ? (int)wish.batch : AUTO_LARGEST,
         !(executor = executor_open(&model, largest, &error)))) {
        fprintf(stderr, "serve: %s\n", error.text);
        return 2;
    }
    model.precision = wish.precision;
    int status = serve(&wish, &model, executor, &error);
    if (status) {
        fprintf(stderr, "serve: %s\n", error.text);
        fflush(stdout);
        _exit(1); /* a batch may still be running on the device */
    }
    executor_close(executor);
    model_close(&model);
    return 0;
}
