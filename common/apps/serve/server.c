#include "common/apps/serve/server.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/apps/serve/client.h"
#include "common/apps/serve/counts.h"
#include "common/apps/serve/listen.h"
#include "common/apps/serve/settings.h"
#include "common/apps/serve/batch_thread.h"

enum {
    SPARE_DESCRIPTORS = 64,    /* for the process itself, in addition to its clients' */
    ADMINISTRATION_BYTES = 64, /* maximum size of a request without floats */
};

#define TICK       1000000ull    /* interval of the checks of deadlines */
#define LAST_WORDS 1000000000ull /* time for slow clients when the server stops */
#define HANG       5000000000ull /* delay after which a batch is considered endless */

struct Server {
    ServerOptions options;
    const Model *model;
    Executor *executor;
    BatchThread *thread;
    Batcher batcher;
    Ticket *finished; /* requests of the batch that is being answered */
    Counts counts;
    Clients clients;
    Listen listening;
    struct event_base *base;
    struct evconnlistener *listener;
    struct evhttp *http;
    struct event *done, *wake, *tick, *term, *interrupt;
    uint64_t wakes;   /* the time to which `wake` is set */
    uint64_t stopped; /* time of the stop request; 0: none */
    int failed;
    Error error;
};

/* ---- answers ------------------------------------------------------------------------------ */

/* Sends and counts the only answer of a request. */
static void outcome(Server *server, const Ticket *ticket, int status, const void *bytes,
                    size_t count)
{
    uint64_t took = clock_now() - ticket->arrival;
    server->counts.outcome[status]++;
    if (status == FRAME_ANSWERED) counts_answer(&server->counts, took);
    Frame frame = {(uint32_t)count, (uint32_t)status, ticket->id, took};
    client_answer(ticket->client, &frame, bytes);
}

static void report_missed(void *context, const Ticket *ticket)
{
    outcome(context, ticket, FRAME_MISSED, NULL, 0);
}

/* ---- batches ------------------------------------------------------------------------------ */

static void wake_in(struct event *event, uint64_t nanoseconds)
{
    struct timeval in = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                         .tv_usec = (suseconds_t)(nanoseconds % 1000000000 / 1000)};
    event_add(event, &in);
}

/* Starts a batch if it is time, or sets the timer for it. */
static void schedule(Server *server)
{
    uint64_t wake, now = clock_now();
    Queue *queue = &server->batcher.queue;
    int size = batcher_size(&server->batcher, now, &wake);
    if (size) {
        batcher_begin(&server->batcher, size, now);
        counts_batch(&server->counts, size);
        batch_thread_begin(server->thread, queue->batch, size);
    } else if (wake != UINT64_MAX) {
        if (wake != server->wakes) wake_in(server->wake, wake > now ? wake - now : 0);
        server->wakes = wake;
    }
    if (!event_pending(server->tick, EV_TIMEOUT, NULL) && counts_pending(queue))
        wake_in(server->tick, TICK);
}

/* Copies the finished requests, so that the queue can be used for others. */
static int take_finished(Server *server)
{
    Queue *queue = &server->batcher.queue;
    int count = queue->running;
    for (int i = 0; i < count; i++)
        server->finished[i] = queue->ticket[queue->batch[i]];
    batcher_end(&server->batcher, clock_now());
    return count;
}

static void batch_answers(Server *server, int count, const float *output)
{
    size_t floats = server->model->count[server->model->y];
    uint64_t now = clock_now();
    for (int i = 0; i < count; i++) {
        Ticket *ticket = &server->finished[i];
        if (!ticket->client) continue;
        if (!output)
            outcome(server, ticket, FRAME_FAILED, NULL, 0);
        else if (now > ticket->deadline)
            outcome(server, ticket, FRAME_MISSED, NULL, 0);
        else
            outcome(server, ticket, FRAME_ANSWERED, output + i * floats, floats * sizeof *output);
    }
}

/* The next batch starts before the last one is answered, so that the device does not wait for
 * clients. */
static void on_done(evutil_socket_t descriptor, short what, void *context)
{
    Server *server = context;
    Error error;
    const float *output;
    int status = batch_thread_end(server->thread, &output, &error);
    (void)descriptor, (void)what;
    if (status > 0) return;
    int count = take_finished(server);
    if (!status) schedule(server);
    batch_answers(server, count, output);
    if (status && !server->failed) {
        server->failed = 1;
        server->error = error;
        raise(SIGTERM);
    }
    schedule(server);
    clients_flush(&server->clients);
}

static void on_wake(evutil_socket_t descriptor, short what, void *context)
{
    (void)descriptor, (void)what;
    ((Server *)context)->wakes = 0;
    schedule(context);
}

/* Answers requests at their deadlines, even if the device hangs. */
static void on_tick(evutil_socket_t descriptor, short what, void *context)
{
    Server *server = context;
    (void)descriptor, (void)what;
    queue_expire(&server->batcher.queue, clock_now(), report_missed, server);
    schedule(server);
    clients_flush(&server->clients);
}

/* ---- requests ----------------------------------------------------------------------------- */

static size_t request_bytes(const Server *server)
{
    return server->model->count[server->model->x] * sizeof(float);
}

static void take_request(Server *server, Client *client, const Frame *frame, const unsigned char *x)
{
    uint64_t now = clock_now();
    Ticket ticket = {.client = client, .id = frame->id, .arrival = now, .deadline = frame->time};
    int place;
    char text[120];
    if (!ticket.deadline) ticket.deadline = now + server->options.limit;
    server->counts.requests++;
    if (frame->bytes != request_bytes(server)) {
        snprintf(text, sizeof text, "a request has %zu bytes, this one %u\n", request_bytes(server),
                 frame->bytes);
        outcome(server, &ticket, FRAME_MALFORMED, text, strlen(text));
        return;
    }
    FrameStatus status =
        server->failed ? FRAME_FAILED : batcher_offer(&server->batcher, &ticket, now, &place);
    if (status == FRAME_ANSWERED) {
        memcpy(executor_input(server->executor, place), x, frame->bytes);
        schedule(server); /* before other requests are added: its deadline may only allow it to run
                           * alone */
    } else {
        outcome(server, &ticket, (int)status, NULL, 0);
    }
}

static void write_model(FILE *stream, const Server *server)
{
    const Model *model = server->model;
    fprintf(stream,
            "operation %s\nshape %s\nprecision %s\nseed %" PRIu64 "\nweights %s\nx %zu\ny %zu\n"
            "limit %" PRIu64 "\nbatch %d\nqueue %d\n",
            model->operation->name, model->shape, model->precision, model->seed,
            *model->weights ? model->weights : "-", model->count[model->x], model->count[model->y],
            server->options.limit, server->options.largest, server->options.most);
}

/* Answers with a text about the server. */
static void answer_text(Server *server, Client *client, const Frame *frame)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return;
    server->counts.connected = server->clients.count;
    if (frame->word == FRAME_MODEL)
        write_model(stream, server);
    else
        counts_write(stream, &server->counts, &server->batcher, clock_now());
    if (!fclose(stream))
        client_answer(client, &(Frame){(uint32_t)bytes, FRAME_ANSWERED, frame->id, 0}, text);
    free(text);
}

static void take_frame(void *context, Client *client, const Frame *frame,
                       const unsigned char *bytes)
{
    static const char unknown[] = "no such kind of request\n";
    if (frame->word == FRAME_INFER)
        take_request(context, client, frame, bytes);
    else if (frame->word == FRAME_MODEL || frame->word == FRAME_METRICS)
        answer_text(context, client, frame);
    else
        client_answer(client, &(Frame){sizeof unknown - 1, FRAME_MALFORMED, frame->id, 0}, unknown);
}

static void client_left(void *context, Client *client)
{
    Server *server = context;
    int dropped = queue_forget(&server->batcher.queue, client);
    server->counts.outcome[OUTCOME_DROPPED] += (uint64_t)dropped;
}

static void on_connect(struct evconnlistener *listener, evutil_socket_t descriptor,
                       struct sockaddr *address, int length, void *context)
{
    Server *server = context;
    (void)listener, (void)address, (void)length;
    if (clients_add(&server->clients, descriptor))
        server->counts.rejected_connections++;
    else
        server->counts.connections++;
}

/* ---- metrics by HTTP ---------------------------------------------------------------------- */

static void on_scrape(struct evhttp_request *request, void *context)
{
    Server *server = context;
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return;
    server->counts.connected = server->clients.count;
    counts_write(stream, &server->counts, &server->batcher, clock_now());
    fclose(stream);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                      "text/plain; version=0.0.4");
    evbuffer_add(evhttp_request_get_output_buffer(request), text, bytes);
    evhttp_send_reply(request, HTTP_OK, "OK", NULL);
    free(text);
}

static int open_http(Server *server, Error *error)
{
    if (!server->options.metrics_port) return 0;
    server->http = evhttp_new(server->base);
    if (!server->http ||
        evhttp_bind_socket(server->http, "127.0.0.1", (ev_uint16_t)server->options.metrics_port))
        return error_set(error, "METRICS=%d: that port of 127.0.0.1 cannot be had",
                         server->options.metrics_port);
    evhttp_set_cb(server->http, "/metrics", on_scrape, server);
    return 0;
}

/* ---- stop --------------------------------------------------------------------------------- */

static void on_stop(evutil_socket_t descriptor, short what, void *context)
{
    Server *server = context;
    (void)descriptor, (void)what;
    if (server->stopped) return;
    server->stopped = clock_now();
    server->batcher.stopping = 1;
    evconnlistener_free(server->listener);
    server->listener = NULL;
    listen_end(&server->listening);
    schedule(server);
}

static int overdue(const Server *server, uint64_t now)
{
    return server->batcher.queue.running && now - server->batcher.began > HANG;
}

/* Whether the loop may end: no request waits, and all answers were sent or cannot be sent. */
static int finished(const Server *server)
{
    uint64_t now = clock_now();
    if (!server->stopped) return 0;
    if (overdue(server, now)) return 1;
    if (server->batcher.queue.running || server->batcher.queue.waiting) return 0;
    return clients_written(&server->clients) || now - server->stopped > LAST_WORDS;
}

int server_run(Server *server, Error *error)
{
    while (!finished(server)) {
        if (server->stopped) wake_in(server->wake, TICK); /* to check again */
        if (event_base_loop(server->base, EVLOOP_ONCE) < 0)
            return error_set(error, "the event loop failed");
    }
    if (server->failed) return error_set(error, "%s", server->error.text);
    if (overdue(server, clock_now()))
        return error_set(error, "the last batch does not end on the device");
    return 0;
}

/* ---- open and close ----------------------------------------------------------------------- */

/* Maximum number of clients, from the limit of descriptors. */
static int clients_allowed(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return 512;
    limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < 2 * SPARE_DESCRIPTORS) return 1;
    return (int)limit.rlim_cur - SPARE_DESCRIPTORS;
}

static int open_clients(Server *server, Error *error)
{
    size_t most = request_bytes(server);
    server->clients = (Clients){
        .take = take_frame,
        .left = client_left,
        .context = server,
        .frame_most = (uint32_t)(most > ADMINISTRATION_BYTES ? most : ADMINISTRATION_BYTES),
        .base = server->base,
        .most = clients_allowed()};
    return clients_open(&server->clients, error);
}

static int open_events(Server *server, Error *error)
{
    struct event_config *config = event_config_new();
    if (config) event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    /* A finished batch is handled before the next client's input. */
    if (config) event_config_set_max_dispatch_interval(config, NULL, 1, 1);
    server->base = config ? event_base_new_with_config(config) : NULL;
    if (config) event_config_free(config);
    if (!server->base || event_base_priority_init(server->base, 2))
        return error_set(error, "no event loop");
    server->done = event_new(server->base, batch_thread_descriptor(server->thread),
                             EV_READ | EV_PERSIST, on_done, server);
    server->wake = evtimer_new(server->base, on_wake, server);
    server->tick = evtimer_new(server->base, on_tick, server);
    server->term = evsignal_new(server->base, SIGTERM, on_stop, server);
    server->interrupt = evsignal_new(server->base, SIGINT, on_stop, server);
    if (!server->done || !server->wake || !server->tick || !server->term || !server->interrupt)
        return error_set(error, "no event loop");
    event_priority_set(server->done, 0);
    event_priority_set(server->wake, 0);
    event_add(server->done, NULL);
    event_add(server->term, NULL);
    event_add(server->interrupt, NULL);
    return 0;
}

static int open_listener(Server *server, Error *error)
{
    server->listener =
        evconnlistener_new(server->base, on_connect, server, 0, 0, server->listening.socket);
    if (!server->listener) return error_set(error, "no event loop");
    return open_clients(server, error) || open_http(server, error);
}

Server *server_open(const ServerOptions *options, const Model *model, Executor *executor,
                    const Cost *cost, Error *error)
{
    Server *server = calloc(1, sizeof *server);
    if (!server) {
        error_set(error, "out of memory");
        return NULL;
    }
    *server = (Server){
        .options = *options, .model = model, .executor = executor, .listening = {-1, -1, ""}};
    server->batcher = (Batcher){.cost = *cost,
                                .largest = options->largest,
                                .window = options->window,
                                .margin = options->margin};
    server->finished = calloc((size_t)options->largest, sizeof *server->finished);
    signal(SIGPIPE, SIG_IGN);
    if (!server->finished)
        error_set(error, "out of memory");
    else if (!queue_open(&server->batcher.queue, options->most, options->largest, error) &&
             (server->thread = batch_thread_open(executor, error)) &&
             /* A user who can reach the server can also stop it. */
             !open_events(server, error) &&
             !listen_open(options->path, &server->listening, error) &&
             !open_listener(server, error))
        return server;
    server_close(server);
    return NULL;
}

void server_close(Server *server)
{
    struct event *event[] = {server->done, server->wake, server->tick, server->term,
                             server->interrupt};
    clients_close(&server->clients);
    for (size_t i = 0; i < sizeof event / sizeof *event; i++)
        if (event[i]) event_free(event[i]);
    if (server->listener) evconnlistener_free(server->listener);
    if (server->http) evhttp_free(server->http);
    if (server->base) event_base_free(server->base);
    listen_close(&server->listening);
    if (server->thread) batch_thread_close(server->thread);
    queue_close(&server->batcher.queue);
    free(server->finished);
    free(server);
}
