/* dap_queue.c - messages of the Debug Adapter Protocol: the thread that reads them into a queue,
 * the queue, answers and events, and the output of the program. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"

Dap dap = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

/* ---- messages ---- */

static void send_locked(json_t *(*make)(int sequence, void *context), void *context)
{
    pthread_mutex_lock(&dap.lock);
    frame_write(dap.out, make(++dap.sequence, context));
    pthread_mutex_unlock(&dap.lock);
}

typedef struct Outgoing {
    const json_t *request;
    json_t *body;
    const char *text;
    int is_event, is_failure;
} Outgoing;

static json_t *outgoing_make(int sequence, void *context)
{
    const Outgoing *o = context;
    return o->is_event     ? dap_event(sequence, o->text, o->body)
           : o->is_failure ? dap_failure(sequence, o->request, o->text)
                           : dap_response(sequence, o->request, o->body);
}

void dap_respond(const json_t *request, json_t *body)
{
    Outgoing o = {.request = request, .body = body};
    send_locked(outgoing_make, &o);
}

void dap_refuse(const json_t *request, const char *message)
{
    Outgoing o = {.request = request, .text = message, .is_failure = 1};
    send_locked(outgoing_make, &o);
}

void dap_event_send(const char *name, json_t *body)
{
    Outgoing o = {.text = name, .body = body, .is_event = 1};
    send_locked(outgoing_make, &o);
}

void dap_output(const char *category, const char *text)
{
    dap_event_send("output",
                   json_pack("{s:s, s:o}", "category", category, "output", json_text(text)));
}

const json_t *dap_arguments(const json_t *request)
{
    return json_object_get(request, "arguments");
}

const char *dap_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

json_int_t dap_number(const json_t *object, const char *name, json_int_t otherwise)
{
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

/* ---- output of the program ---- */

static void *pump(void *context)
{
    int which = (int)(intptr_t)context;
    char text[4096];
    for (;;) {
        ssize_t got = read(dap.pipes[which][0], text, sizeof text - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return NULL;
        text[got] = 0;
        for (ssize_t i = 0; i < got; i++)
            if (!text[i]) text[i] = '?';
        dap_output(which ? "stderr" : "stdout", text);
    }
}

void dap_outputs_capture(void)
{
    for (int i = 0; i < 2; i++) {
        if (pipe(dap.pipes[i]) != 0) return;
        dup2(dap.pipes[i][1], i + 1);
        close(dap.pipes[i][1]);
        pthread_create(&dap.pumps[i], NULL, pump, (void *)(intptr_t)i);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
}

/* ---- the queue ---- */

static void queue_close(void)
{
    pthread_mutex_lock(&dap.lock);
    dap.is_closed = 1;
    pthread_cond_broadcast(&dap.more);
    pthread_mutex_unlock(&dap.lock);
}

/* Has a kernel stopped, or does none execute so that it is not even looked for? */
static int is_executing(const Session *s)
{
    return s->debugger.launch && !s->debugger.is_stopped;
}

int dap_is_end(const char *command)
{
    return !strcmp(command, "disconnect") || !strcmp(command, "terminate");
}

static void queue_add(Session *s, json_t *message)
{
    const char *command = dap_command(message);
    pthread_mutex_lock(&dap.lock);
    int is_full = dap.count == QUEUE;
    if (!is_full) dap.queue[(dap.first + dap.count++) % QUEUE] = message;
    pthread_cond_broadcast(&dap.more);
    pthread_mutex_unlock(&dap.lock);
    if (is_full) {
        dap_refuse(message, "too many requests wait for an answer");
        json_decref(message);
        return;
    }
    if (is_executing(s))
        debugger_interrupt(&s->debugger);
    else if (dap_is_end(command) && dap.is_configured && !s->debugger.is_stopped && !dap.is_over) {
        /* Host code runs and cannot be inspected. */
        dap_respond(message, NULL);
        dap_event_send("terminated", NULL);
        session_exit(0);
    }
}

void *dap_reader(void *context)
{
    Session *s = context;
    for (;;) {
        json_t *message;
        char why[200];
        FrameStatus status = frame_read(dap.in, &message, why, sizeof why);
        if (status == FRAME_MALFORMED) {
            dap_output("important", why);
            continue;
        }
        if (status != FRAME_OK) {
            if (status == FRAME_BAD) dap_output("important", why);
            queue_close();
            if (is_executing(s) || (dap.is_configured && !s->debugger.is_stopped)) session_exit(0);
            return NULL;
        }
        if (!strcmp(dap_command(message), "cancel")) {
            dap_respond(message, NULL);
            json_decref(message);
            continue;
        }
        queue_add(s, message);
    }
}

/* The next request; NULL: none, or (waits) the client has disconnected. */
json_t *dap_message_take(int waits)
{
    json_t *message = NULL;
    pthread_mutex_lock(&dap.lock);
    while (!dap.count && waits && !dap.is_closed)
        pthread_cond_wait(&dap.more, &dap.lock);
    if (dap.count) {
        message = dap.queue[dap.first];
        dap.first = (dap.first + 1) % QUEUE, dap.count--;
    }
    pthread_mutex_unlock(&dap.lock);
    return message;
}
