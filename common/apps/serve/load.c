#include "common/apps/serve/load.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

#include "common/apps/serve/settings.h"
#include "common/apps/serve/status.h"

enum { UNSENT_MOST = 1 << 18, ANSWER_MOST = 1 << 24, AT_ONCE = 256 << 10 };

#define PATIENCE 3000000000ull /* time after the last deadline */

/* One unanswered request. */
typedef struct PendingRequest {
    uint64_t due, deadline;
    uint32_t times; /* number of uses of this entry: the id's upper half */
    int client, input, next;
} PendingRequest;

typedef struct LoadClient {
    struct Load *load;
    struct bufferevent *stream; /* NULL: disconnected */
    int index;
} LoadClient;

typedef struct Load {
    const LoadOptions *options;
    Answers *answers;
    LoadCounts *counts;
    Latency *latency;
    struct event_base *base;
    struct event *timer;
    LoadClient *client;
    int alive, turn, input;
    PendingRequest *pending;
    int entries, free, open; /* free: first unused entry, -1 none; open: number of unanswered
                              * requests */
    uint64_t due;            /* time of the next request of an open loop */
    gsl_rng *random;
} Load;

/* ---- unanswered requests ------------------------------------------------------------------ */

static int entry_take(Load *load)
{
    if (load->free < 0) {
        int entries = load->entries ? 2 * load->entries : 1024;
        PendingRequest *pending = realloc(load->pending, (size_t)entries * sizeof *pending);
        if (!pending) return -1;
        for (int i = load->entries; i < entries; i++)
            pending[i] = (PendingRequest){.client = -1, .next = i + 1 < entries ? i + 1 : -1};
        load->free = load->entries;
        load->pending = pending;
        load->entries = entries;
    }
    int at = load->free;
    load->free = load->pending[at].next;
    load->open++;
    return at;
}

static void entry_free(Load *load, int at)
{
    load->pending[at].client = -1;
    load->pending[at].times++;
    load->pending[at].next = load->free;
    load->free = at;
    load->open--;
}

/* The entry of an answer's id; -1: there is no such request. */
static int entry_of(const Load *load, uint64_t id)
{
    uint64_t at = id & UINT32_MAX;
    if (at >= (uint64_t)load->entries || load->pending[at].client < 0 ||
        load->pending[at].times != id >> 32)
        return -1;
    return (int)at;
}

/* ---- sending ------------------------------------------------------------------------------ */

static LoadClient *next_client(Load *load)
{
    for (int i = 0; i < load->options->clients; i++) {
        LoadClient *client = &load->client[load->turn++ % load->options->clients];
        if (client->stream) return client;
    }
    return NULL;
}

static void request_send(Load *load, LoadClient *client, uint64_t due)
{
    const Model *model = &load->answers->model;
    unsigned char head[FRAME_BYTES];
    struct evbuffer *output = bufferevent_get_output(client->stream);
    int full = load->options->rate > 0 && evbuffer_get_length(output) > UNSENT_MOST;
    int at = full ? -1 : entry_take(load);
    if (at < 0) {
        load->counts->unsent++;
        return;
    }
    PendingRequest *pending = &load->pending[at];
    pending->due = due;
    pending->deadline = due + load->options->limit;
    pending->client = client->index;
    pending->input = load->input++ % ANSWERS_INPUTS;
    Frame frame = {.bytes = (uint32_t)(model->count[model->x] * sizeof(float)),
                   .word = FRAME_INFER,
                   .id = (uint64_t)pending->times << 32 | (uint64_t)at,
                   .time = pending->deadline};
    frame_write(&frame, head);
    evbuffer_add(output, head, sizeof head);
    evbuffer_add_reference(output, answers_input(load->answers, pending->input), frame.bytes, NULL,
                           NULL);
    load->counts->sent++;
}

static void timer_set(Load *load, uint64_t due)
{
    uint64_t now = clock_now(), in = due > now ? due - now : 0;
    struct timeval time = {.tv_sec = (time_t)(in / 1000000000),
                           .tv_usec = (suseconds_t)(in % 1000000000 / 1000)};
    event_add(load->timer, &time);
}

/* Sends all requests that are due, including late ones, in the order of their times. */
static void on_timer(evutil_socket_t descriptor, short what, void *context)
{
    Load *load = context;
    const LoadOptions *options = load->options;
    uint64_t now = clock_now();
    (void)descriptor, (void)what;
    while (options->rate > 0 && load->due <= now && load->due < options->end) {
        LoadClient *client = next_client(load);
        if (!client) break;
        request_send(load, client, load->due);
        load->due += (uint64_t)(gsl_ran_exponential(load->random, 1e9 / options->rate));
    }
    uint64_t last = options->end + options->limit + PATIENCE;
    if (!load->alive || (now >= options->end && !load->open) || now >= last)
        event_base_loopbreak(load->base);
    else if (options->rate > 0 && load->due < options->end)
        timer_set(load, load->due);
    else
        timer_set(load, now + 1000000 < options->end ? options->end : now + 1000000);
}

/* ---- answers ------------------------------------------------------------------------------ */

static void take_answer(LoadClient *client, const Frame *frame, struct evbuffer *input)
{
    Load *load = client->load;
    const Model *model = &load->answers->model;
    uint64_t now = clock_now();
    int at = entry_of(load, frame->id);
    if (at < 0 || load->pending[at].client != client->index || frame->word >= FRAME_STATUSES) {
        load->counts->strange++;
        return;
    }
    PendingRequest pending = load->pending[at];
    entry_free(load, at);
    load->counts->status[frame->word]++;
    if (frame->word == FRAME_ANSWERED) {
        latency_note(load->latency, now - pending.due);
        load->counts->after += now > pending.deadline;
        size_t bytes = model->count[model->y] * sizeof(float);
        if (frame->bytes != bytes)
            load->counts->strange++;
        else if (load->options->check)
            answers_note(load->answers, pending.input,
                         (const float *)(const void *)evbuffer_pullup(input, (ssize_t)bytes));
    }
    if (load->options->rate <= 0 && now < load->options->end) request_send(load, client, now);
}

static void on_read(struct bufferevent *stream, void *context)
{
    LoadClient *client = context;
    struct evbuffer *input = bufferevent_get_input(stream);
    unsigned char head[FRAME_BYTES];
    Frame frame;
    FrameStep step;
    while (evbuffer_copyout(input, head, sizeof head),
           (step = frame_next(head, evbuffer_get_length(input), ANSWER_MOST, &frame)) ==
               FRAME_WHOLE) {
        evbuffer_drain(input, FRAME_BYTES);
        size_t left = evbuffer_get_length(input) - frame.bytes;
        take_answer(client, &frame, input);
        evbuffer_drain(input, evbuffer_get_length(input) - left);
    }
    if (step == FRAME_BROKEN) client->load->counts->strange++;
}

static void on_end(struct bufferevent *stream, short what, void *context)
{
    LoadClient *client = context;
    Load *load = client->load;
    (void)what;
    for (int i = 0; i < load->entries; i++) {
        if (load->pending[i].client != client->index) continue;
        entry_free(load, i);
        load->counts->lost++;
    }
    bufferevent_free(stream);
    client->stream = NULL;
    if (!--load->alive) event_base_loopbreak(load->base);
}

/* ---- open, run, close --------------------------------------------------------------------- */

static int open_clients(Load *load, Error *error)
{
    for (int i = 0; i < load->options->clients; i++) {
        int descriptor = status_connect(load->options->path, error);
        if (descriptor < 0) return -1;
        evutil_make_socket_nonblocking(descriptor);
        LoadClient *client = &load->client[i];
        *client = (LoadClient){load, NULL, i};
        client->stream = bufferevent_socket_new(load->base, descriptor, BEV_OPT_CLOSE_ON_FREE);
        if (!client->stream) return error_set(error, "out of memory for %d clients", i);
        bufferevent_setcb(client->stream, on_read, NULL, on_end, client);
        bufferevent_set_max_single_read(client->stream, AT_ONCE);
        bufferevent_set_max_single_write(client->stream, AT_ONCE);
        bufferevent_enable(client->stream, EV_READ | EV_WRITE);
        load->alive++;
    }
    return 0;
}

static int load_open(Load *load, Error *error)
{
    const LoadOptions *options = load->options;
    struct event_config *config = event_config_new();
    if (config) event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    load->base = config ? event_base_new_with_config(config) : NULL;
    if (config) event_config_free(config);
    load->client = calloc((size_t)options->clients, sizeof *load->client);
    load->random = gsl_rng_alloc(gsl_rng_taus2);
    if (!load->base || !load->client || !load->random) return error_set(error, "out of memory");
    gsl_rng_set(load->random, (unsigned long)options->seed);
    load->timer = evtimer_new(load->base, on_timer, load);
    if (!load->timer) return error_set(error, "out of memory");
    return open_clients(load, error);
}

static void load_close(Load *load)
{
    for (int i = 0; load->client && i < load->options->clients; i++)
        if (load->client[i].stream) bufferevent_free(load->client[i].stream);
    if (load->timer) event_free(load->timer);
    if (load->base) event_base_free(load->base);
    if (load->random) gsl_rng_free(load->random);
    free(load->client);
    free(load->pending);
}

int load_run(const LoadOptions *options, Answers *answers, LoadCounts *counts, Latency *latency,
             Error *error)
{
    Load load = {.options = options,
                 .answers = answers,
                 .counts = counts,
                 .latency = latency,
                 .free = -1,
                 .due = options->begin};
    int status = load_open(&load, error);
    if (!status) {
        for (int i = 0; options->rate <= 0 && i < options->clients * options->each; i++)
            request_send(&load, &load.client[i % options->clients], clock_now());
        timer_set(&load, options->rate > 0 ? load.due : options->end);
        event_base_dispatch(load.base);
        counts->unanswered = (uint64_t)load.open;
    }
    load_close(&load);
    return status;
}
