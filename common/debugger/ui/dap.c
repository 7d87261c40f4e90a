/* dap.c - the Debug Adapter Protocol in the program that is debugged.
 *
 * A thread reads messages into a queue; the thread that executes kernels takes them out where it
 * stops.  A message that comes while a kernel executes stops it for the moment of its answer.
 * autograder/debug.c has answered `initialize` and started this program for `launch`.
 *
 * The environment: DEBUG_DAP="IN OUT SEQUENCE", two descriptors and the last number used; and
 * DEBUG_DAP_LAUNCH, the launch request. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/debugger/ui/dap_wire.h"
#include "common/debugger/ui/prompt.h"

enum { QUEUE = 1024, REFERENCES = 4096, TEXT = 8192, PAGE_MOST = 10000, PTX_SOURCE = 1 };

typedef enum ReferenceKind {
    REFERENCE_FRAME,
    REFERENCE_ARGUMENTS,
    REFERENCE_LOCALS,
    REFERENCE_SHARED,
    REFERENCE_BUILT_INS,
    REFERENCE_LANES,
    REFERENCE_REGISTERS,
    REFERENCE_VALUE, /* the elements or members of what `path` names */
    REFERENCE_LANES_OF
} ReferenceKind;

/* Meaning of a number in a message; valid until execution continues. */
typedef struct Reference {
    ReferenceKind kind;
    Focus focus;
    char path[EXPRESSION_TEXT];
} Reference;

typedef struct Dap {
    int in, out, sequence;
    pthread_mutex_t lock; /* protects the queue and `out` */
    pthread_cond_t more;
    json_t *queue[QUEUE];
    int first, count, is_closed;
    Reference reference[REFERENCES];
    int references;
    char *captured; /* output of a console command */
    size_t captured_bytes;
    int is_capturing, is_configured, is_paused, stops_on_entry, is_over;
    char last_finding[STOP_TEXT];
    SimtCheck last_check;
    int pipes[2][2];
    pthread_t pumps[2];
} Dap;

static Dap dap = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

int dap_is_wanted(void)
{
    const char *value = getenv("DEBUG_DAP");
    return value && *value;
}

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

static void respond(const json_t *request, json_t *body)
{
    Outgoing o = {.request = request, .body = body};
    send_locked(outgoing_make, &o);
}

static void refuse(const json_t *request, const char *message)
{
    Outgoing o = {.request = request, .text = message, .is_failure = 1};
    send_locked(outgoing_make, &o);
}

static void event(const char *name, json_t *body)
{
    Outgoing o = {.text = name, .body = body, .is_event = 1};
    send_locked(outgoing_make, &o);
}

static void output(const char *category, const char *text)
{
    event("output", json_pack("{s:s, s:o}", "category", category, "output", json_text(text)));
}

static const json_t *arguments_of(const json_t *request)
{
    return json_object_get(request, "arguments");
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *name, json_int_t otherwise)
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
        output(which ? "stderr" : "stdout", text);
    }
}

static void outputs_capture(void)
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

static int is_end(const char *command)
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
        refuse(message, "too many requests wait for an answer");
        json_decref(message);
        return;
    }
    if (is_executing(s))
        debugger_interrupt(&s->debugger);
    else if (is_end(command) && dap.is_configured && !s->debugger.is_stopped && !dap.is_over) {
        /* Host code runs and cannot be inspected. */
        respond(message, NULL);
        event("terminated", NULL);
        _Exit(0);
    }
}

static void *reader(void *context)
{
    Session *s = context;
    for (;;) {
        json_t *message;
        char why[200];
        FrameStatus status = frame_read(dap.in, &message, why, sizeof why);
        if (status == FRAME_MALFORMED) {
            output("important", why);
            continue;
        }
        if (status != FRAME_OK) {
            if (status == FRAME_BAD) output("important", why);
            queue_close();
            if (is_executing(s) || (dap.is_configured && !s->debugger.is_stopped)) _Exit(0);
            return NULL;
        }
        if (!strcmp(dap_command(message), "cancel")) {
            respond(message, NULL);
            json_decref(message);
            continue;
        }
        queue_add(s, message);
    }
}

/* The next request; NULL: none, or (waits) the client has disconnected. */
static json_t *queue_take(int waits)
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

/* ---- references ---- */

static int reference_new(ReferenceKind kind, const Focus *focus, const char *path)
{
    if (dap.references == REFERENCES) return 0;
    Reference *reference = &dap.reference[dap.references++];
    *reference = (Reference){.kind = kind, .focus = *focus};
    snprintf(reference->path, sizeof reference->path, "%s", path);
    return dap.references; /* from 1 on: 0 means none */
}

static const Reference *reference_of(json_int_t number)
{
    return number >= 1 && number <= dap.references ? &dap.reference[number - 1] : NULL;
}

static json_int_t thread_number(const Session *s, uint64_t block, uint32_t warp)
{
    const Launch *launch = s->debugger.launch;
    return launch ? (json_int_t)(block * launch->warps_per_block + warp + 1) : 1;
}

static int thread_focus(Session *s, json_int_t number, Focus *focus)
{
    const Debugger *d = &s->debugger;
    if (!d->launch || number < 1) return -1;
    uint64_t block = (uint64_t)(number - 1) / d->launch->warps_per_block;
    uint32_t warp = (uint32_t)((uint64_t)(number - 1) % d->launch->warps_per_block);
    const Worker *worker = debugger_worker(d, block);
    if (!worker) return -1;
    if (block == d->focus.block && warp == d->focus.warp) {
        *focus = d->focus;
        focus->frame = 0;
        return 0;
    }
    uint32_t mask = worker->warp[warp].mask & worker->warp[warp].alive;
    *focus =
        (Focus){.block = block, .warp = warp, .lane = mask ? (uint32_t)__builtin_ctz(mask) : 0};
    return 0;
}

/* Evaluates in another focus than the user's. */
static int evaluate_at(Session *s, const Focus *focus, const char *text, uint32_t mask,
                       Value *value, char *why, size_t room)
{
    Debugger *d = &s->debugger;
    Focus before = d->focus;
    Scene scene;
    Error error = {""};
    int status = -1;
    d->focus = *focus;
    Expression *expression = expression_parse(text, NULL, &error);
    if (expression && debugger_scene(d, mask ? mask : 1u << focus->lane, &scene, &error) == 0) {
        expression_evaluate(expression, &scene, value);
        status = value->valid ? 0 : -1;
        if (status) error_set(&error, "%s", value->why);
    }
    expression_free(expression);
    d->focus = before;
    if (status) snprintf(why, room, "%s", error.text);
    return status;
}

/* ---- variables ---- */

static json_t *variable_json(Session *s, const Focus *focus, const char *name, const char *path)
{
    char text[TEXT], type[400] = "", why[VALUE_WHY];
    Value value;
    Focus before = s->debugger.focus;
    int child = 0;
    uint64_t indexed = 0, named = 0;
    if (evaluate_at(s, focus, path, 0, &value, why, sizeof why) != 0) {
        snprintf(text, sizeof text, "<%s>", why);
    } else {
        s->debugger.focus = *focus;
        value_print(debugger_warp(&s->debugger), &value, focus->lane, 0, text, sizeof text);
        s->debugger.focus = before;
        type_name(value.type, type, sizeof type);
        int is_pointer = value.type->kind == TYPE_POINTER &&
                         value.type->target->kind != TYPE_VOID &&
                         value.type->target->kind != TYPE_FUNCTION;
        if (value.type->kind == TYPE_ARRAY && value.type->count) indexed = value.type->count;
        if (value.type->kind == TYPE_STRUCT) named = value.type->members;
        if (value.home == HOME_DIM3) named = 3;
        if (indexed || named || is_pointer) child = reference_new(REFERENCE_VALUE, focus, path);
    }
    json_t *json =
        json_pack("{s:o, s:o, s:i, s:o}", "name", json_text(name), "value", json_text(text),
                  "variablesReference", child, "evaluateName", json_text(path));
    if (*type) json_object_set_new(json, "type", json_text(type));
    if (indexed) json_object_set_new(json, "indexedVariables", json_integer((json_int_t)indexed));
    if (named) json_object_set_new(json, "namedVariables", json_integer((json_int_t)named));
    if (value.valid && value.home == HOME_MEMORY) {
        char address[32];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)value.address[focus->lane]);
        json_object_set_new(json, "memoryReference", json_text(address));
    }
    return json;
}

typedef struct Listing {
    Session *s;
    const Reference *reference;
    json_t *list;
} Listing;

static int is_wanted(const Listing *l, const Variable *variable)
{
    Place place;
    Frame frame;
    if (debugger_frame(&l->s->debugger, &frame) != 0) return 0;
    place_of(l->s->debugger.map, &frame, variable, &place);
    int is_shared = place.kind == PLACE_SYMBOL && place.address - SHARED_WINDOW < WINDOW_BYTES;
    switch (l->reference->kind) {
    case REFERENCE_ARGUMENTS:
        return variable->is_argument;
    case REFERENCE_SHARED:
        return is_shared;
    case REFERENCE_LANES:
        return !is_shared && type_is_scalar(variable->type);
    default:
        return !variable->is_argument && !is_shared;
    }
}

static int listing_visit(void *context, const Variable *variable)
{
    Listing *l = context;
    if (!is_wanted(l, variable)) return 0;
    if (l->reference->kind == REFERENCE_LANES) {
        int child = reference_new(REFERENCE_LANES_OF, &l->reference->focus, variable->name);
        json_array_append_new(
            l->list, json_pack("{s:o, s:s, s:i, s:i}", "name", json_text(variable->name), "value",
                               "32 lanes", "variablesReference", child, "indexedVariables", LANES));
    } else {
        json_array_append_new(
            l->list, variable_json(l->s, &l->reference->focus, variable->name, variable->name));
    }
    return 0;
}

static void registers_list(Listing *l)
{
    const Debugger *d = &l->s->debugger;
    Frame frame;
    if (debugger_frame(&l->s->debugger, &frame) != 0) return;
    const CodeScope *scope = &d->map->kernel->scopes.scope[frame.scope];
    for (uint32_t i = 0; i < scope->function->regs; i++)
        if (scope->slot[i])
            json_array_append_new(l->list, variable_json(l->s, &l->reference->focus,
                                                         scope->function->reg[i].name,
                                                         scope->function->reg[i].name));
}

static void lanes_list(Listing *l)
{
    Session *s = l->s;
    const Reference *r = l->reference;
    Warp *warp = debugger_warp(&s->debugger);
    Value value;
    char why[VALUE_WHY], name[64], text[400];
    if (!warp || evaluate_at(s, &r->focus, r->path, lanes_of(warp), &value, why, sizeof why) != 0)
        return;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(lanes_of(warp) >> lane & 1)) continue;
        uint32_t thread[3];
        thread_of(warp, lane, thread);
        snprintf(name, sizeof name, "%u (%u,%u,%u)%s", lane, thread[0], thread[1], thread[2],
                 warp->mask >> lane & 1 ? "" : " inactive");
        value_print(warp, &value, lane, 0, text, sizeof text);
        json_array_append_new(l->list,
                              json_pack("{s:o, s:o, s:i}", "name", json_text(name), "value",
                                        json_text(text), "variablesReference", 0));
    }
}

static void children_list(Listing *l, json_int_t start, json_int_t count)
{
    Session *s = l->s;
    const Reference *r = l->reference;
    Value value;
    char why[VALUE_WHY], path[EXPRESSION_TEXT], name[SYMBOL_NAME + 8];
    if (evaluate_at(s, &r->focus, r->path, 0, &value, why, sizeof why) != 0) return;
    if (value.home == HOME_DIM3) {
        static const char *const AXES[] = {"x", "y", "z"};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%.200s.%s", r->path, AXES[k]);
            json_array_append_new(l->list, variable_json(s, &r->focus, AXES[k], path));
        }
        return;
    }
    if (value.type->kind == TYPE_POINTER) {
        snprintf(path, sizeof path, "*(%.200s)", r->path);
        json_array_append_new(l->list, variable_json(s, &r->focus, path, path));
        return;
    }
    if (value.type->kind == TYPE_ARRAY) {
        json_int_t all = (json_int_t)value.type->count;
        json_int_t end = count > 0 && start + count < all ? start + count : all;
        if (end > start + PAGE_MOST) end = start + PAGE_MOST;
        for (json_int_t i = start; i < end; i++) {
            snprintf(name, sizeof name, "[%lld]", (long long)i);
            snprintf(path, sizeof path, "%.200s[%lld]", r->path, (long long)i);
            json_array_append_new(l->list, variable_json(s, &r->focus, name, path));
        }
        return;
    }
    for (uint32_t i = 0; value.type->kind == TYPE_STRUCT && i < value.type->members; i++) {
        const Member *member = &value.type->member[i];
        snprintf(path, sizeof path, "%.120s.%.120s", r->path, member->name);
        json_array_append_new(l->list, variable_json(s, &r->focus, member->name, path));
    }
}

static void request_variables(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    const Reference *found = reference_of(number_of(arguments, "variablesReference", 0));
    Debugger *d = &s->debugger;
    Frame frame;
    if (!found || !debugger_warp(d)) {
        refuse(request, "these variables are gone: execution has continued");
        return;
    }
    Reference reference = *found;
    Focus before = d->focus;
    Listing l = {s, &reference, json_array()};
    json_int_t start = number_of(arguments, "start", 0), count = number_of(arguments, "count", 0);
    if (start < 0) start = 0;
    d->focus = reference.focus;
    static const char *const BUILT_IN[] = {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                           "warpSize",  "%laneid",  "%warpid",  "%smid"};
    switch (reference.kind) {
    case REFERENCE_BUILT_INS:
        for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++)
            json_array_append_new(l.list,
                                  variable_json(s, &reference.focus, BUILT_IN[i], BUILT_IN[i]));
        break;
    case REFERENCE_REGISTERS:
        registers_list(&l);
        break;
    case REFERENCE_VALUE:
        children_list(&l, start, count);
        break;
    case REFERENCE_LANES_OF:
        lanes_list(&l);
        break;
    default:
        if (debugger_frame(d, &frame) == 0)
            symbols_variables(&d->map->module->symbols, frame.die, frame.pc, 0, listing_visit, &l);
    }
    d->focus = before;
    respond(request, json_pack("{s:o}", "variables", l.list));
}

static void request_scopes(Session *s, const json_t *request)
{
    static const struct {
        const char *name, *hint;
        ReferenceKind kind;
        int is_expensive;
    } SCOPES[] = {{"Locals", "locals", REFERENCE_LOCALS, 0},
                  {"Arguments", "arguments", REFERENCE_ARGUMENTS, 0},
                  {"Shared memory", NULL, REFERENCE_SHARED, 0},
                  {"Built-ins", NULL, REFERENCE_BUILT_INS, 0},
                  {"Lanes of this warp", NULL, REFERENCE_LANES, 1},
                  {"PTX registers", "registers", REFERENCE_REGISTERS, 1}};
    const Reference *frame = reference_of(number_of(arguments_of(request), "frameId", 0));
    if (!frame || frame->kind != REFERENCE_FRAME || !debugger_warp(&s->debugger)) {
        refuse(request, "this frame is gone: execution has continued");
        return;
    }
    Focus focus = frame->focus;
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof SCOPES / sizeof *SCOPES; i++) {
        json_t *scope = json_pack("{s:s, s:i, s:b}", "name", SCOPES[i].name, "variablesReference",
                                  reference_new(SCOPES[i].kind, &focus, ""), "expensive",
                                  SCOPES[i].is_expensive);
        if (SCOPES[i].hint)
            json_object_set_new(scope, "presentationHint", json_string(SCOPES[i].hint));
        json_array_append_new(list, scope);
    }
    respond(request, json_pack("{s:o}", "scopes", list));
}

/* ---- threads and frames ---- */

static void request_threads(Session *s, const json_t *request)
{
    enum { MOST = 256 };
    const Debugger *d = &s->debugger;
    json_t *list = json_array();
    char name[120];
    for (uint32_t i = 0; i < d->workers && d->launch; i++)
        for (uint32_t w = 0; w < d->worker[i]->block.warps && json_array_size(list) < MOST; w++) {
            const Block *block = &d->worker[i]->block;
            if (block->warp[w].state == WARP_DONE && &block->warp[w] != d->warp) continue;
            snprintf(name, sizeof name, "block (%u,%u,%u) warp %u", block->id[0], block->id[1],
                     block->id[2], w);
            json_array_append_new(
                list,
                json_pack("{s:I, s:s}", "id", thread_number(s, block->number, w), "name", name));
        }
    if (!json_array_size(list))
        json_array_append_new(list, json_pack("{s:i, s:s}", "id", 1, "name", "host"));
    respond(request, json_pack("{s:o}", "threads", list));
}

static json_t *source_json(const char *path)
{
    return json_pack("{s:o, s:o}", "name", json_text(file_base(path)), "path", json_text(path));
}

static void request_stack(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    Focus focus, before = d->focus;
    char pc[32];
    json_t *list = json_array();
    if (!debugger_warp(d) || thread_focus(s, number_of(arguments, "threadId", 0), &focus) != 0) {
        respond(request, json_pack("{s:o, s:i}", "stackFrames", list, "totalFrames", 0));
        return;
    }
    d->focus = focus;
    const Warp *warp = debugger_warp(d);
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    json_int_t start = number_of(arguments, "startFrame", 0),
               levels = number_of(arguments, "levels", 0);
    for (uint32_t i = start > 0 ? (uint32_t)start : 0; i < count; i++) {
        if (levels > 0 && (json_int_t)i >= start + levels) break;
        focus.frame = i;
        snprintf(pc, sizeof pc, "0x%llx", (unsigned long long)all[i].pc);
        json_t *frame =
            json_pack("{s:i, s:o, s:I, s:i, s:s}", "id", reference_new(REFERENCE_FRAME, &focus, ""),
                      "name", json_text(all[i].name), "line", (json_int_t)all[i].line, "column", 1,
                      "instructionPointerReference", pc);
        if (all[i].file) json_object_set_new(frame, "source", source_json(all[i].file));
        json_array_append_new(list, frame);
    }
    d->focus = before;
    respond(request,
            json_pack("{s:o, s:I}", "stackFrames", list, "totalFrames", (json_int_t)count));
}

/* ---- breakpoints ---- */

static void breakpoint_set_up(Breakpoint *b, const json_t *wanted)
{
    const char *hits = text_of(wanted, "hitCondition"), *log = text_of(wanted, "logMessage");
    while (*hits && strchr(" >=", *hits))
        hits++;
    b->wanted_hits = strtoull(hits, NULL, 10);
    snprintf(b->log, sizeof b->log, "%s", log);
    b->is_quiet = *log != 0;
}

static json_t *breakpoint_json(const Breakpoint *b, const Error *error)
{
    if (!b) return json_pack("{s:b, s:o}", "verified", 0, "message", json_text(error->text));
    json_t *json = json_pack("{s:i, s:b}", "id", b->number, "verified", 1);
    if (b->kind == BREAK_LINE) {
        json_object_set_new(json, "line", json_integer(b->line));
        json_object_set_new(json, "source", source_json(b->file));
    }
    return json;
}

/* Deletes the earlier breakpoints of this kind and this file. */
static void breakpoints_clear(Session *s, BreakKind kind, const char *file)
{
    for (Breakpoint *b = s->debugger.breakpoint, *next; b; b = next) {
        next = b->next;
        if (b->kind == kind && (!file || !strcmp(b->file, file)))
            debugger_delete(&s->debugger, b->number);
    }
}

static void break_one(Session *s, const char *place, const json_t *wanted, json_t *list)
{
    Error error = {""};
    const char *condition = text_of(wanted, "condition");
    Breakpoint *b = debugger_break(&s->debugger, place, *condition ? condition : NULL, 0, &error);
    if (b) breakpoint_set_up(b, wanted);
    json_array_append_new(list, breakpoint_json(b, &error));
}

static void request_breakpoints(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request), *wanted;
    const char *path = text_of(json_object_get(arguments, "source"), "path");
    const json_t *all = json_object_get(arguments, "breakpoints");
    json_t *list = json_array();
    char place[700];
    size_t i;
    breakpoints_clear(s, BREAK_LINE, path);
    json_array_foreach(all, i, wanted)
    {
        snprintf(place, sizeof place, "%.600s:%lld", path, (long long)number_of(wanted, "line", 0));
        break_one(s, place, wanted, list);
    }
    respond(request, json_pack("{s:o}", "breakpoints", list));
}

static void request_functions(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_FUNCTION, NULL);
    json_array_foreach(json_object_get(arguments_of(request), "breakpoints"), i, wanted)
        break_one(s, text_of(wanted, "name"), wanted, list);
    respond(request, json_pack("{s:o}", "breakpoints", list));
}

static void request_instructions(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    char place[64];
    size_t i;
    breakpoints_clear(s, BREAK_PTX, NULL);
    json_array_foreach(json_object_get(arguments_of(request), "breakpoints"), i, wanted)
    {
        long long line = strtoll(text_of(wanted, "instructionReference"), NULL, 0) +
                         number_of(wanted, "offset", 0);
        snprintf(place, sizeof place, "*%lld", line);
        break_one(s, place, wanted, list);
    }
    respond(request, json_pack("{s:o}", "breakpoints", list));
}

static void request_exceptions(Session *s, const json_t *request)
{
    static const struct {
        const char *name;
        CatchKind kind;
    } KINDS[] = {{"fault", CATCH_FAULT},
                 {"race", CATCH_RACE},
                 {"uninitialized", CATCH_UNINITIALIZED},
                 {"barrier", CATCH_BARRIER},
                 {"end", CATCH_END}};
    const json_t *filter;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_CATCH, NULL);
    json_array_foreach(json_object_get(arguments_of(request), "filters"), i, filter)
    {
        const char *name = json_string_value(filter);
        const Breakpoint *b = NULL;
        Error error = {"there is no such filter"};
        for (size_t k = 0; name && k < sizeof KINDS / sizeof *KINDS; k++)
            if (!strcmp(KINDS[k].name, name)) b = debugger_catch(&s->debugger, KINDS[k].kind);
        json_array_append_new(list, breakpoint_json(b, &error));
    }
    respond(request, json_pack("{s:o}", "breakpoints", list));
}

static void request_data_info(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    const Reference *r = reference_of(number_of(arguments, "variablesReference", 0));
    const char *name = text_of(arguments, "name");
    char path[EXPRESSION_TEXT];
    uint64_t address, bytes;
    const Type *type;
    Error error;
    snprintf(path, sizeof path, "%s", name);
    if (r && r->kind == REFERENCE_VALUE)
        snprintf(path, sizeof path, *name == '[' ? "%.120s%.120s" : "%.120s.%.120s", r->path, name);
    if (debugger_locate(&s->debugger, path, &address, &bytes, &type, &error) != 0) {
        respond(request, json_pack("{s:n, s:o}", "dataId", "description", json_text(error.text)));
        return;
    }
    respond(request, json_pack("{s:o, s:o, s:[s,s,s]}", "dataId", json_text(path), "description",
                               json_text(path), "accessTypes", "read", "write", "readWrite"));
}

static void request_data(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_WATCH, NULL);
    json_array_foreach(json_object_get(arguments_of(request), "breakpoints"), i, wanted)
    {
        Error error = {""};
        const char *access = text_of(wanted, "accessType"),
                   *condition = text_of(wanted, "condition");
        WatchKind kind = !strcmp(access, "read")        ? WATCH_READ
                         : !strcmp(access, "readWrite") ? WATCH_ACCESS
                                                        : WATCH_WRITE;
        Breakpoint *b = debugger_watch(&s->debugger, text_of(wanted, "dataId"), kind,
                                       *condition ? condition : NULL, &error);
        if (b) breakpoint_set_up(b, wanted);
        json_array_append_new(list, breakpoint_json(b, &error));
    }
    respond(request, json_pack("{s:o}", "breakpoints", list));
}

/* ---- evaluation ---- */

static void capture(Session *s, const char *text)
{
    (void)s;
    enum { MOST = 1 << 20 };
    size_t bytes = strlen(text);
    if (!dap.is_capturing) {
        output("console", text);
        return;
    }
    if (dap.captured_bytes + bytes > MOST) return;
    char *more = realloc(dap.captured, dap.captured_bytes + bytes + 1);
    if (!more) return;
    memcpy(more + dap.captured_bytes, text, bytes + 1);
    dap.captured = more, dap.captured_bytes += bytes;
}

/* 1: the command lets execution continue. */
static int command_capture(Session *s, const char *line)
{
    free(dap.captured);
    dap.captured = NULL, dap.captured_bytes = 0;
    dap.is_capturing = 1;
    int goes_on = command_run(s, line);
    dap.is_capturing = 0;
    size_t end = dap.captured_bytes;
    while (end && dap.captured[end - 1] == '\n')
        dap.captured[--end] = 0;
    return goes_on;
}

static int is_in_console(const char *line)
{
    static const char *const KEPT[] = {"quit", "q", "exit", "kill", "run", "r"};
    char word[16];
    if (sscanf(line, "%15s", word) != 1) return 1;
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (!strcmp(word, KEPT[i])) return 0;
    return 1;
}

/* 1: execution continues. */
static int request_evaluate(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    const char *text = text_of(arguments, "expression"), *context = text_of(arguments, "context");
    const Reference *frame = reference_of(number_of(arguments, "frameId", 0));
    Debugger *d = &s->debugger;
    Focus focus = frame ? frame->focus : d->focus;
    char why[VALUE_WHY];
    Value value;
    int is_repl = !strcmp(context, "repl") && is_command(text); /* else an expression */
    if (!is_repl && debugger_warp(d) &&
        evaluate_at(s, &focus, text, 0, &value, why, sizeof why) == 0) {
        json_t *json = variable_json(s, &focus, text, text);
        json_object_set(json, "result", json_object_get(json, "value"));
        json_object_del(json, "value"), json_object_del(json, "name");
        json_object_del(json, "evaluateName");
        respond(request, json);
        return 0;
    }
    if (!is_repl && strncmp(text, "lanes ", 6) && strncmp(text, "block ", 6) &&
        strncmp(text, "tensor ", 7)) {
        refuse(request, debugger_warp(d) ? why : "no kernel is stopped");
        return 0;
    }
    if (!is_in_console(text)) {
        refuse(request, "the client ends and starts programs: use its buttons");
        return 0;
    }
    if (frame && debugger_warp(d)) d->focus = frame->focus;
    int goes_on = command_capture(s, text);
    respond(request, json_pack("{s:o, s:i}", "result", json_text(dap.captured ? dap.captured : ""),
                               "variablesReference", 0));
    if (goes_on)
        event("continued",
              json_pack("{s:I, s:b}", "threadId", thread_number(s, d->focus.block, d->focus.warp),
                        "allThreadsContinued", 1));
    return goes_on;
}

static void request_set_variable(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    const Reference *found = reference_of(number_of(arguments, "variablesReference", 0));
    const char *name = text_of(arguments, "name"), *wanted = text_of(arguments, "value");
    Debugger *d = &s->debugger;
    char path[EXPRESSION_TEXT], assignment[2 * EXPRESSION_TEXT + 8], text[TEXT];
    Value value;
    Error error;
    if (!found || !debugger_warp(d)) {
        refuse(request, "this variable is gone: execution has continued");
        return;
    }
    Reference r = *found;
    snprintf(path, sizeof path, "%s", name);
    if (r.kind == REFERENCE_VALUE && *name == '*')
        snprintf(path, sizeof path, "%s", name);
    else if (r.kind == REFERENCE_VALUE)
        snprintf(path, sizeof path, *name == '[' ? "%.120s%.120s" : "%.120s.%.120s", r.path, name);
    snprintf(assignment, sizeof assignment, "%s = %.250s", path, wanted);
    d->focus = r.focus;
    if (debugger_assign(d, assignment, &value, &error) != 0) {
        refuse(request, error.text);
        return;
    }
    value_print(debugger_warp(d), &value, r.focus.lane, 0, text, sizeof text);
    respond(request, json_pack("{s:o}", "value", json_text(text)));
}

/* ---- memory and code ---- */

static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64(const unsigned char *bytes, size_t count, char *text)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i += 3) {
        uint32_t all = (uint32_t)bytes[i] << 16 |
                       (i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0) |
                       (i + 2 < count ? bytes[i + 2] : 0u);
        text[at++] = BASE64[all >> 18 & 63], text[at++] = BASE64[all >> 12 & 63];
        text[at++] = i + 1 < count ? BASE64[all >> 6 & 63] : '=';
        text[at++] = i + 2 < count ? BASE64[all & 63] : '=';
    }
    text[at] = 0;
}

static void request_memory(Session *s, const json_t *request)
{
    enum { MOST = 1 << 16 };
    const json_t *arguments = arguments_of(request);
    const Debugger *d = &s->debugger;
    uint64_t address = strtoull(text_of(arguments, "memoryReference"), NULL, 0) +
                       (uint64_t)number_of(arguments, "offset", 0);
    json_int_t count = number_of(arguments, "count", 0), read = 0;
    char reference[32], why[VALUE_WHY];
    const Warp *warp = debugger_warp(d);
    if (!warp || count < 0) {
        refuse(request, warp ? "count is negative" : "no kernel is stopped");
        return;
    }
    if (count > MOST) count = MOST;
    unsigned char *bytes = malloc((size_t)count + 1);
    char *text = malloc((size_t)count * 2 + 8);
    for (; bytes && read < count; read++) {
        const unsigned char *at =
            lane_memory(warp, d->focus.lane, address + (uint64_t)read, 1, why, sizeof why);
        if (!at) break;
        bytes[read] = *at;
    }
    if (bytes && text) base64(bytes, (size_t)read, text);
    snprintf(reference, sizeof reference, "0x%llx", (unsigned long long)address);
    json_t *body = json_pack("{s:s, s:I}", "address", reference, "unreadableBytes", count - read);
    if (read && text) json_object_set_new(body, "data", json_string(text));
    free(bytes), free(text);
    respond(request, body);
}

static void request_disassemble(Session *s, const json_t *request)
{
    enum { MOST = 2000 };
    const json_t *arguments = arguments_of(request);
    const Debugger *d = &s->debugger;
    long long first = strtoll(text_of(arguments, "memoryReference"), NULL, 0) +
                      number_of(arguments, "offset", 0) +
                      number_of(arguments, "instructionOffset", 0);
    json_int_t count = number_of(arguments, "instructionCount", 0);
    if (!debugger_warp(d)) {
        refuse(request, "no kernel is stopped");
        return;
    }
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    const char *at = fatbin->ptx, *end = at + fatbin->ptx_bytes;
    json_t *list = json_array();
    char address[32], line[300];
    long long number = 1;
    if (count > MOST) count = MOST;
    while (at < end && number < first) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
        number++;
    }
    /* The requested number of lines, also before the text and after it. */
    for (json_int_t i = 0; i < count; i++) {
        long long mine = first + i;
        const char *stop = mine >= 1 && at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (mine >= 1 && at < end) {
            size_t length = (size_t)((stop ? stop : end) - at);
            snprintf(line, sizeof line, "%.*s", (int)(length < 280 ? length : 280), at);
            at = stop ? stop + 1 : end;
        } else {
            snprintf(line, sizeof line, "(not in the PTX)");
        }
        for (char *c = line; *c; c++)
            if (*c == '\t') *c = ' ';
        snprintf(address, sizeof address, mine >= 0 ? "0x%llx" : "0x0", (unsigned long long)mine);
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "address", address, "instruction", json_text(line)));
    }
    respond(request, json_pack("{s:o}", "instructions", list));
}

static int sources_visit(void *context, KernelMap *map)
{
    json_t *list = context, *known;
    for (uint32_t i = 0; i < map->kernel->origins; i++) {
        const char *file = map->spot[i].is_toolkit ? NULL : file_of(map, map->spot[i].file);
        size_t k;
        int is_known = !file;
        json_array_foreach(list, k, known) is_known |=
            file && !strcmp(text_of(known, "path"), file);
        if (!is_known) json_array_append_new(list, source_json(file));
    }
    return 0;
}

static void request_sources(Session *s, const json_t *request)
{
    json_t *list = json_array();
    debugger_kernels(&s->debugger, sources_visit, list);
    json_array_append_new(
        list, json_pack("{s:s, s:i}", "name", "PTX of the kernel", "sourceReference", PTX_SOURCE));
    respond(request, json_pack("{s:o}", "sources", list));
}

static void request_source(Session *s, const json_t *request)
{
    const Debugger *d = &s->debugger;
    if (!debugger_warp(d) || number_of(arguments_of(request), "sourceReference", 0) != PTX_SOURCE) {
        refuse(request, "the source is a file; PTX can be read where a kernel is stopped");
        return;
    }
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    char *text = strndup(fatbin->ptx, fatbin->ptx_bytes);
    respond(request, json_pack("{s:o, s:s}", "content", json_text(text), "mimeType", "text/plain"));
    free(text);
}

static void request_exception_info(Session *s, const json_t *request)
{
    (void)s;
    respond(request, json_pack("{s:s, s:o, s:s}", "exceptionId",
                               dap.last_check == SIMT_RACECHECK   ? "race"
                               : dap.last_check == SIMT_INITCHECK ? "uninitialized"
                               : dap.last_check == SIMT_SYNCCHECK ? "barrier"
                                                                  : "fault",
                               "description", json_text(dap.last_finding), "breakMode", "always"));
}

/* ---- actions ---- */

/* 1: execution continues. */
static int request_action(Session *s, const json_t *request)
{
    const json_t *arguments = arguments_of(request);
    const char *command = dap_command(request);
    Debugger *d = &s->debugger;
    int by_instruction = !strcmp(text_of(arguments, "granularity"), "instruction");
    Error error = {""};
    Focus focus;
    int status = 0;
    if (!debugger_warp(d) && !d->is_stopped) {
        refuse(request, "no kernel is stopped");
        return 0;
    }
    if (debugger_warp(d) && thread_focus(s, number_of(arguments, "threadId", 0), &focus) == 0)
        d->focus = focus;
    d->focus.frame = 0;
    if (!strcmp(command, "continue"))
        debugger_continue(d);
    else if (!strcmp(command, "next"))
        debugger_step(d, by_instruction ? STEP_INSTRUCTION_OVER : STEP_OVER, 1);
    else if (!strcmp(command, "stepIn"))
        debugger_step(d, by_instruction ? STEP_INSTRUCTION : STEP_LINE, 1);
    else if (!strcmp(command, "stepOut"))
        debugger_step(d, STEP_FINISH, 1);
    else if (!strcmp(command, "stepBack"))
        status = debugger_reverse(d, by_instruction ? SEARCH_INSTRUCTION : SEARCH_OVER, &error);
    else
        status = debugger_reverse(d, SEARCH_BREAKPOINT, &error);
    if (status) {
        refuse(request, error.text);
        return 0;
    }
    respond(request,
            !strcmp(command, "continue") ? json_pack("{s:b}", "allThreadsContinued", 1) : NULL);
    return 1;
}

static void end_session(const json_t *request)
{
    respond(request, NULL);
    if (!strcmp(dap_command(request), "terminate")) event("terminated", NULL);
    fflush(NULL);
    _Exit(0);
}

/* One request. 1: execution continues. */
static int request_carry_out(Session *s, const json_t *request)
{
    static const struct {
        const char *command;
        void (*run)(Session *s, const json_t *request);
    } REQUESTS[] = {{"threads", request_threads},
                    {"stackTrace", request_stack},
                    {"scopes", request_scopes},
                    {"variables", request_variables},
                    {"setVariable", request_set_variable},
                    {"setBreakpoints", request_breakpoints},
                    {"setFunctionBreakpoints", request_functions},
                    {"setInstructionBreakpoints", request_instructions},
                    {"setExceptionBreakpoints", request_exceptions},
                    {"dataBreakpointInfo", request_data_info},
                    {"setDataBreakpoints", request_data},
                    {"readMemory", request_memory},
                    {"disassemble", request_disassemble},
                    {"loadedSources", request_sources},
                    {"source", request_source},
                    {"exceptionInfo", request_exception_info}};
    static const char *const ACTIONS[] = {"continue", "next",     "stepIn",
                                          "stepOut",  "stepBack", "reverseContinue"};
    const char *command = dap_command(request);
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++)
        if (!strcmp(command, REQUESTS[i].command)) {
            REQUESTS[i].run(s, request);
            return 0;
        }
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
        if (!strcmp(command, ACTIONS[i])) return request_action(s, request);
    if (!strcmp(command, "evaluate")) return request_evaluate(s, request);
    if (is_end(command)) end_session(request);
    if (!strcmp(command, "configurationDone")) {
        dap.is_configured = 1;
        respond(request, NULL);
        return s->progress == BEFORE_RUN;
    }
    if (!strcmp(command, "pause")) {
        dap.is_paused = 1;
        respond(request, NULL);
        return 0;
    }
    char text[200];
    snprintf(text, sizeof text, "the request '%.100s' is not supported", command);
    refuse(request, text);
    return 0;
}

/* ---- a stop ---- */

static void stopped_event(Session *s, const Stop *stop)
{
    static const char *const REASONS[] = {
        "breakpoint", "step", "data breakpoint", "exception", "pause", "step", "step", "pause"};
    const Debugger *d = &s->debugger;
    const char *reason =
        stop->kind == STOP_INTERRUPT && dap.stops_on_entry ? "entry" : REASONS[stop->kind];
    if (stop->kind == STOP_ARRIVED && *stop->text) reason = "goto";
    json_t *body =
        json_pack("{s:s, s:I, s:b}", "reason", reason, "threadId",
                  thread_number(s, d->focus.block, d->focus.warp), "allThreadsStopped", 1);
    if (*stop->text) {
        json_object_set_new(body, "text", json_text(stop->text));
        json_object_set_new(body, "description", json_text(stop->text));
    }
    if (stop->number) json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", stop->number));
    if (stop->kind == STOP_FINDING) {
        snprintf(dap.last_finding, sizeof dap.last_finding, "%s", stop->text);
        dap.last_check = stop->check;
    }
    event("stopped", body);
}

static void serve(Session *s)
{
    for (;;) {
        json_t *request = queue_take(1);
        if (!request) _Exit(0); /* the client is gone */
        int goes_on = request_carry_out(s, request);
        json_decref(request);
        if (goes_on) return;
    }
}

static void dap_stopped(Session *s, const Stop *stop)
{
    Debugger *d = &s->debugger;
    PlanKind before = d->plan.interrupted;
    if (s->after_survey && stop->kind == STOP_ARRIVED) {
        void (*after)(Session * session) = s->after_survey;
        s->after_survey = NULL;
        after(s);
    }
    if (stop->kind == STOP_INTERRUPT && !dap.stops_on_entry) {
        /* A request arrives while the kernel executes. */
        json_t *request;
        dap.is_paused = 0;
        Focus focus = d->focus;
        while (!dap.is_paused && (request = queue_take(0))) {
            int goes_on = request_carry_out(s, request);
            json_decref(request);
            if (goes_on) return;
        }
        d->focus = focus;
        if (!dap.is_paused) {
            d->plan.kind = before == PLAN_STEP ? PLAN_STEP : PLAN_CONTINUE;
            return;
        }
    }
    dap.references = 0;
    stopped_event(s, stop);
    dap.stops_on_entry = 0;
    serve(s);
    dap.references = 0;
}

/* ---- the beginning and the end ---- */

void dap_open(Session *s)
{
    json_error_t error;
    pthread_t thread;
    const char *launch = getenv("DEBUG_DAP_LAUNCH");
    json_t *request = json_loads(launch ? launch : "{}", 0, &error);
    if (sscanf(getenv("DEBUG_DAP"), "%d %d %d", &dap.in, &dap.out, &dap.sequence) != 3) {
        fprintf(stderr, "debug: DEBUG_DAP is two descriptors and a number\n");
        exit(2);
    }
    s->write = capture, s->stopped = dap_stopped;
    dap.stops_on_entry = json_is_true(json_object_get(arguments_of(request), "stopOnEntry"));
    outputs_capture();
    respond(request, NULL);
    json_decref(request);
    event("initialized", NULL);
    output("console",
           "Kernels are debugged on the simulated GPU; the program runs with your rights, "
           "outside of any sandbox.\n");
    pthread_create(&thread, NULL, reader, s);
    pthread_detach(thread);
}

void dap_before_run(Session *s)
{
    serve(s);
    if (dap.stops_on_entry) debugger_interrupt(&s->debugger);
}

void dap_ended(Session *s, int status)
{
    (void)s;
    dap.is_over = 1;
    /* Earlier output is printed first. */
    close(1), close(2);
    pthread_join(dap.pumps[0], NULL), pthread_join(dap.pumps[1], NULL);
    event("exited", json_pack("{s:i}", "exitCode", status));
    event("terminated", NULL);
    for (json_t *request; (request = queue_take(1)); json_decref(request)) {
        if (is_end(dap_command(request))) end_session(request);
        refuse(request, "the program has ended");
    }
    _Exit(0);
}
