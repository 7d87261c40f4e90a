/* dap_variables.c - threads, frames, scopes and variables in the Debug Adapter Protocol. */
#include <stdio.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"

/* ---- references ---- */

int dap_reference_new(ReferenceKind kind, const Focus *focus, const char *path)
{
    if (dap.references == REFERENCES) return 0;
    Reference *reference = &dap.reference[dap.references++];
    *reference = (Reference){.kind = kind, .focus = *focus};
    snprintf(reference->path, sizeof reference->path, "%s", path);
    return dap.references; /* from 1 on: 0 means none */
}

const Reference *dap_reference(json_int_t number)
{
    return number >= 1 && number <= dap.references ? &dap.reference[number - 1] : NULL;
}

json_int_t dap_thread_number(const Session *s, uint64_t block, uint32_t warp)
{
    const Launch *launch = s->debugger.launch;
    return launch ? (json_int_t)(block * launch->warps_per_block + warp + 1) : 1;
}

int dap_thread_focus(Session *s, json_int_t number, Focus *focus)
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
int dap_evaluate(Session *s, const Focus *focus, const char *text, uint32_t mask, Value *value,
                 char *why, size_t room)
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

json_t *dap_variable(Session *s, const Focus *focus, const char *name, const char *path)
{
    char text[TEXT], type[400] = "", why[VALUE_WHY];
    Value value;
    Focus before = s->debugger.focus;
    int child = 0;
    uint64_t indexed = 0, named = 0;
    if (dap_evaluate(s, focus, path, 0, &value, why, sizeof why) != 0) {
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
        if (indexed || named || is_pointer) child = dap_reference_new(REFERENCE_VALUE, focus, path);
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
        int child = dap_reference_new(REFERENCE_LANES_OF, &l->reference->focus, variable->name);
        json_array_append_new(
            l->list, json_pack("{s:o, s:s, s:i, s:i}", "name", json_text(variable->name), "value",
                               "32 lanes", "variablesReference", child, "indexedVariables", LANES));
    } else {
        json_array_append_new(
            l->list, dap_variable(l->s, &l->reference->focus, variable->name, variable->name));
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
            json_array_append_new(l->list, dap_variable(l->s, &l->reference->focus,
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
    if (!warp || dap_evaluate(s, &r->focus, r->path, lanes_of(warp), &value, why, sizeof why) != 0)
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
    if (dap_evaluate(s, &r->focus, r->path, 0, &value, why, sizeof why) != 0) return;
    if (value.home == HOME_DIM3) {
        static const char *const AXES[] = {"x", "y", "z"};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%.200s.%s", r->path, AXES[k]);
            json_array_append_new(l->list, dap_variable(s, &r->focus, AXES[k], path));
        }
        return;
    }
    if (value.type->kind == TYPE_POINTER) {
        snprintf(path, sizeof path, "*(%.200s)", r->path);
        json_array_append_new(l->list, dap_variable(s, &r->focus, path, path));
        return;
    }
    if (value.type->kind == TYPE_ARRAY) {
        json_int_t all = (json_int_t)value.type->count;
        json_int_t end = count > 0 && start + count < all ? start + count : all;
        if (end > start + PAGE_MOST) end = start + PAGE_MOST;
        for (json_int_t i = start; i < end; i++) {
            snprintf(name, sizeof name, "[%lld]", (long long)i);
            snprintf(path, sizeof path, "%.200s[%lld]", r->path, (long long)i);
            json_array_append_new(l->list, dap_variable(s, &r->focus, name, path));
        }
        return;
    }
    for (uint32_t i = 0; value.type->kind == TYPE_STRUCT && i < value.type->members; i++) {
        const Member *member = &value.type->member[i];
        snprintf(path, sizeof path, "%.120s.%.120s", r->path, member->name);
        json_array_append_new(l->list, dap_variable(s, &r->focus, member->name, path));
    }
}

void request_variables(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    const Reference *found = dap_reference(dap_number(arguments, "variablesReference", 0));
    Debugger *d = &s->debugger;
    Frame frame;
    if (!found || !debugger_warp(d)) {
        dap_refuse(request, "these variables are gone: execution has continued");
        return;
    }
    Reference reference = *found;
    Focus before = d->focus;
    Listing l = {s, &reference, json_array()};
    json_int_t start = dap_number(arguments, "start", 0), count = dap_number(arguments, "count", 0);
    if (start < 0) start = 0;
    d->focus = reference.focus;
    static const char *const BUILT_IN[] = {"threadIdx", "blockIdx", "blockDim", "gridDim",
                                           "warpSize",  "%laneid",  "%warpid",  "%smid"};
    switch (reference.kind) {
    case REFERENCE_BUILT_INS:
        for (size_t i = 0; i < sizeof BUILT_IN / sizeof *BUILT_IN; i++)
            json_array_append_new(l.list,
                                  dap_variable(s, &reference.focus, BUILT_IN[i], BUILT_IN[i]));
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
    dap_respond(request, json_pack("{s:o}", "variables", l.list));
}

void request_scopes(Session *s, const json_t *request)
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
    const Reference *frame = dap_reference(dap_number(dap_arguments(request), "frameId", 0));
    if (!frame || frame->kind != REFERENCE_FRAME || !debugger_warp(&s->debugger)) {
        dap_refuse(request, "this frame is gone: execution has continued");
        return;
    }
    Focus focus = frame->focus;
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof SCOPES / sizeof *SCOPES; i++) {
        json_t *scope = json_pack("{s:s, s:i, s:b}", "name", SCOPES[i].name, "variablesReference",
                                  dap_reference_new(SCOPES[i].kind, &focus, ""), "expensive",
                                  SCOPES[i].is_expensive);
        if (SCOPES[i].hint)
            json_object_set_new(scope, "presentationHint", json_string(SCOPES[i].hint));
        json_array_append_new(list, scope);
    }
    dap_respond(request, json_pack("{s:o}", "scopes", list));
}

/* ---- threads and frames ---- */

void request_threads(Session *s, const json_t *request)
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
            json_array_append_new(list,
                                  json_pack("{s:I, s:s}", "id",
                                            dap_thread_number(s, block->number, w), "name", name));
        }
    if (!json_array_size(list))
        json_array_append_new(list, json_pack("{s:i, s:s}", "id", 1, "name", "host"));
    dap_respond(request, json_pack("{s:o}", "threads", list));
}

json_t *dap_source(const char *path)
{
    return json_pack("{s:o, s:o}", "name", json_text(file_base(path)), "path", json_text(path));
}

void request_stack(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    Focus focus, before = d->focus;
    char pc[32];
    json_t *list = json_array();
    if (!debugger_warp(d) ||
        dap_thread_focus(s, dap_number(arguments, "threadId", 0), &focus) != 0) {
        dap_respond(request, json_pack("{s:o, s:i}", "stackFrames", list, "totalFrames", 0));
        return;
    }
    d->focus = focus;
    const Warp *warp = debugger_warp(d);
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    json_int_t start = dap_number(arguments, "startFrame", 0),
               levels = dap_number(arguments, "levels", 0);
    for (uint32_t i = start > 0 ? (uint32_t)start : 0; i < count; i++) {
        if (levels > 0 && (json_int_t)i >= start + levels) break;
        focus.frame = i;
        snprintf(pc, sizeof pc, "0x%llx", (unsigned long long)all[i].pc);
        json_t *frame = json_pack("{s:i, s:o, s:I, s:i, s:s}", "id",
                                  dap_reference_new(REFERENCE_FRAME, &focus, ""), "name",
                                  json_text(all[i].name), "line", (json_int_t)all[i].line, "column",
                                  1, "instructionPointerReference", pc);
        if (all[i].file) json_object_set_new(frame, "source", dap_source(all[i].file));
        json_array_append_new(list, frame);
    }
    d->focus = before;
    dap_respond(request,
                json_pack("{s:o, s:I}", "stackFrames", list, "totalFrames", (json_int_t)count));
}
