/* debugger.c - requests of the user interface: actions, the focus, and places by name. */
#include "common/debugger/debugger_state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/launch/simt.h"

void debugger_open(Debugger *d, DebugUi *ui)
{
    memset(d, 0, sizeof *d);
    d->ui = ui;
    d->worker = calloc(WORKERS_MOST, sizeof *d->worker);
    if (!d->worker) abort();
    hooks_set(d);
}

int debugger_image(Debugger *d, const void *image, size_t bytes, Error *error)
{
    enum { LEAST = 64 << 20 };
    /* Nothing is executed on this machine, so it has every feature: no kernel is refused. */
    SimtMachine machine = {.name = "debugger",
                           .memory_bytes = LEAST,
                           .has = {
#define FEATURE(key, title) .key = 1,
#include "common/simulator/machine/machine_features.def"
                           }};
    SimtOptions options = {.threads = 1};
    if (!d->scratch && !(d->scratch = simt_open(&machine, &options, error))) return -1;
    d->scratch->debug = &d->hook;
    return simt_module_load(d->scratch, image, bytes, 0, error) ? 0 : -1;
}

void debugger_attach(Debugger *d, SimtGpu *gpu)
{
    d->gpu = gpu;
    d->history.gpu = gpu;
    gpu->debug = &d->hook;
    gpu->options.threads = 1, gpu->options.count = 0, gpu->count = 0;
}

static int gpu_kernels(const SimtGpu *gpu, KernelVisit *visit, void *context)
{
    for (SimtModule *module = gpu ? gpu->modules : NULL; module; module = module->next)
        for (uint32_t i = 0; i < module->kernels; i++) {
            KernelMap *map = kernel_map(&module->kernel[i]);
            int found = map ? visit(context, map) : 0;
            if (found) return found;
        }
    return 0;
}

int debugger_kernels(Debugger *d, KernelVisit *visit, void *context)
{
    return gpu_kernels(d->gpu && d->gpu->modules ? d->gpu : d->scratch, visit, context);
}

/* ---- the focus ---- */

Worker *debugger_worker(const Debugger *d, uint64_t block)
{
    for (uint32_t i = 0; i < d->workers; i++)
        if (d->worker[i]->block.number == block) return d->worker[i];
    return NULL;
}

Warp *debugger_warp(const Debugger *d)
{
    if (!d->warp) return NULL;
    Worker *worker = debugger_worker(d, d->focus.block);
    return worker && d->focus.warp < worker->block.warps ? &worker->warp[d->focus.warp] : d->warp;
}

const Ins *debugger_ins(const Debugger *d, const Warp *warp)
{
    return warp == d->warp ? d->ins : warp->pc ? warp->pc : warp->code;
}

void thread_of(const Warp *warp, uint32_t lane, uint32_t thread[3])
{
    const uint32_t *block = warp->worker->launch->launch->block;
    uint32_t number = warp->index * LANES + lane;
    thread[0] = number % block[0];
    thread[1] = number / block[0] % block[1];
    thread[2] = number / block[0] / block[1];
}

uint32_t lanes_of(const Warp *warp)
{
    uint32_t left = warp->block->threads - warp->index * LANES;
    return left >= LANES ? FULL_MASK : (1u << left) - 1;
}

int debugger_frame(Debugger *d, Frame *frame)
{
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(d);
    if (!warp || !d->map) return -1;
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    if (!count) return -1;
    *frame = all[d->focus.frame < count ? d->focus.frame : count - 1];
    return 0;
}

const char *debugger_why_no_thread(const Debugger *d)
{
    if (d->is_stopped && !d->warp)
        return "The launch has ended, and no thread is in focus: reverse-step goes back to its "
               "last instruction.";
    return "No kernel is stopped: start the program with run, or stop in one.";
}

int debugger_scene(Debugger *d, uint32_t mask, Scene *scene, Error *error)
{
    *scene = (Scene){.warp = debugger_warp(d), .map = d->map, .mask = mask, .history = &d->values};
    if (!scene->warp || debugger_frame(d, &scene->frame) != 0)
        return error_set(error, "%s", debugger_why_no_thread(d));
    return 0;
}

int debugger_assign(Debugger *d, const char *text, Value *value, Error *error)
{
    Scene scene;
    if (debugger_scene(d, 1u << d->focus.lane, &scene, error) != 0) return -1;
    Expression *expression = expression_parse(text, NULL, error);
    if (!expression) return -1;
    int is_past = d->run + 1 != d->history.launches;
    scene.may_assign = !is_past;
    expression_evaluate(expression, &scene, value);
    expression_free(expression);
    if (is_past && !value->valid && strstr(value->why, "assignments"))
        return error_set(error, "this launch is over in the program: its values cannot be changed");
    if (!value->valid) return error_set(error, "%s", value->why);
    if (!scene.assigned) return 0;
    uint32_t lane = d->focus.lane;
    Change change = {.moment = d->hook.moment, .warp = scene.warp->index, .lane = lane};
    int is_register = value->home == HOME_REGISTER;
    change.slot = is_register ? value->slot + (value->width ? lane * value->width : 0) : NO_SLOT;
    change.bytes = is_register ? value->width ? value->width : 4 : (uint32_t)value->type->bytes;
    change.address = value->address[lane];
    char why[VALUE_WHY];
    const void *at =
        is_register ? (void *)(scene.warp->file + change.slot)
                    : lane_memory(scene.warp, lane, change.address, change.bytes, why, sizeof why);
    if (at) memcpy(&change.value, at, change.bytes);
    LaunchRecord *record = &d->history.launch[d->run];
    history_cut(&d->history, record, d->hook.moment);
    if (history_change(record, &change) != 0) return error_set(error, "out of host memory");
    d->next_change = record->changes;
    return 0;
}

/* ---- places by name ---- */

static const Allocation *array_find(const Debugger *d, const char *name, size_t length)
{
    const Memory *memory = d->gpu ? &d->gpu->memory : NULL;
    for (uint32_t i = 0; memory && i < memory->count; i++) {
        const Allocation *a = memory->table[i];
        if (!a->freed && a->array.rank && strlen(a->array.name) == length &&
            !memcmp(a->array.name, name, length))
            return a;
    }
    return NULL;
}

/* "y[n=0,k=1,p=2,q=3]" or "y[0,1,2,3]". 1: it is not of this form. */
static int tensor_locate(Debugger *d, const char *text, uint64_t *address, Error *error)
{
    const char *at = text, *open = strchr(text, '[');
    int64_t index[ARRAY_RANK];
    int given[ARRAY_RANK] = {0};
    uint32_t next = 0;
    if (!open || (!strchr(open, ',') && !strchr(open, '='))) return 1;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    if (at == text || at != open) return 1;
    const Allocation *a = array_find(d, text, (size_t)(at - text));
    if (!a)
        return error_set(error, "there is no tensor %.*s: labs name their tensors, programs do not",
                         (int)(at - text), text);
    const ArrayName *array = &a->array;
    for (at = open + 1; *at && *at != ']'; next++) {
        uint32_t axis = next;
        char *end;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
        if (isalpha((unsigned char)*at) && at[1] == '=') {
            for (axis = 0; axis < array->rank && array->axis[axis] != *at; axis++)
                continue;
            if (axis == array->rank)
                return error_set(error, "%s has no axis %c: its axes are %.*s", array->name, *at,
                                 (int)array->rank, array->axis);
            at += 2;
        }
        if (axis >= array->rank)
            return error_set(error, "%s has %u axes", array->name, array->rank);
        index[axis] = strtol(at, &end, 10);
        if (end == at) return error_set(error, "an index of %s is a whole number", array->name);
        if (index[axis] < 0 || (uint64_t)index[axis] >= array->dim[axis])
            return error_set(error, "%c=%lld is outside %s: that axis has %llu elements",
                             array->axis[axis], (long long)index[axis], array->name,
                             (unsigned long long)array->dim[axis]);
        given[axis] = 1;
        for (at = end; isspace((unsigned char)*at);)
            at++;
    }
    if (*at != ']') return error_set(error, "a ] is missing");
    uint64_t element = 0;
    for (uint32_t k = 0; k < array->rank; k++) {
        if (!given[k])
            return error_set(error, "the index of axis %c of %s is missing", array->axis[k],
                             array->name);
        element = element * array->dim[k] + (uint64_t)index[k];
    }
    *address = a->address + element * ARRAY_ELEMENT_BYTES;
    return 0;
}

int debugger_locate(Debugger *d, const char *text, uint64_t *address, uint64_t *bytes,
                    const Type **type, Error *error)
{
    Scene scene;
    Value value;
    while (isspace((unsigned char)*text))
        text++;
    int status = tensor_locate(d, text, address, error);
    if (status <= 0) {
        *bytes = ARRAY_ELEMENT_BYTES, *type = &TYPE_OF_FLOAT;
        return status;
    }
    if (debugger_scene(d, 1u << d->focus.lane, &scene, error) != 0) return -1;
    Expression *expression = expression_parse(text, NULL, error);
    if (!expression) return -1;
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid) return error_set(error, "%s", value.why);
    if (value.home == HOME_REGISTER)
        return error_set(error,
                         "%.60s is in a PTX register at this line, not in memory: follow it with "
                         "reverse-next and print",
                         text);
    if (value.home != HOME_MEMORY || !value.type->bytes)
        return error_set(error, "%.60s is no place in memory", text);
    *address = value.address[d->focus.lane], *bytes = value.type->bytes, *type = value.type;
    return 0;
}

void debugger_describe(Debugger *d, uint64_t address, char *text, size_t bytes)
{
    const char *where = NULL;
    uint64_t offset = 0;
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        offset = address - SHARED_WINDOW;
        const SimtKernel *kernel = d->map ? d->map->kernel : NULL;
        for (uint32_t i = 0; kernel && i < kernel->scopes.shared_variables; i++) {
            const ScopeVariable *v = &kernel->scopes.shared_variable[i];
            if (offset < v->offset ||
                (v->variable->bytes && offset >= v->offset + v->variable->bytes))
                continue;
            where = v->variable->name;
            snprintf(text, bytes, "byte %llu of shared memory, %llu bytes into %s",
                     (unsigned long long)offset, (unsigned long long)(offset - v->offset), where);
        }
        if (!where) snprintf(text, bytes, "byte %llu of shared memory", (unsigned long long)offset);
        return;
    }
    if (address - LOCAL_WINDOW < WINDOW_BYTES) {
        snprintf(text, bytes, "byte %llu of the thread's local memory",
                 (unsigned long long)(address - LOCAL_WINDOW));
        return;
    }
    if (address - PARAM_WINDOW < WINDOW_BYTES) {
        snprintf(text, bytes, "byte %llu of the kernel's parameters",
                 (unsigned long long)(address - PARAM_WINDOW));
        return;
    }
    if (d->gpu && address >= DEVICE_BASE && address < DEVICE_BASE + d->gpu->memory.reserved)
        memory_describe(&d->gpu->memory, address, text, bytes);
    else
        snprintf(text, bytes, "no address of the GPU");
}

/* ---- actions ---- */

void debugger_continue(Debugger *d)
{
    d->plan.kind = PLAN_CONTINUE;
}

static void step_from(Debugger *d)
{
    const Warp *warp = debugger_warp(d);
    d->plan.step_focus = d->focus;
    if (!warp || !d->map) return;
    const Ins *ins = debugger_ins(d, warp);
    const Spot *spot = spot_of(d->map, ins);
    d->plan.step_line = spot->line, d->plan.step_file = spot->file;
    d->plan.step_depth = spot->depth + warp->calls.count;
}

void debugger_step(Debugger *d, StepKind kind, uint32_t count)
{
    step_from(d);
    d->plan.kind = PLAN_STEP, d->plan.step = kind, d->plan.step_count = count ? count : 1;
    if (kind == STEP_FINISH)
        d->plan.step_depth -= d->focus.frame < d->plan.step_depth ? d->focus.frame : 0;
}

int debugger_advance(Debugger *d, const char *place, int until, Error *error)
{
    Breakpoint *b = debugger_break(d, place, NULL, 1, error);
    if (!b) return -1;
    uint32_t line = b->line;
    char file[256];
    memcpy(file, b->file, sizeof file);
    int is_line = b->kind == BREAK_LINE;
    if (is_line) {
        breakpoint_remove(d, b);
        d->last_number--;
    }
    debugger_step(d, STEP_FINISH, 1);
    if (!until || !is_line) d->plan.kind = PLAN_CONTINUE;
    if (!is_line) return 0;
    d->plan.advance_line = line;
    memcpy(d->plan.advance_file, file, sizeof file);
    return 0;
}

static int has_history(const Debugger *d, Error *error)
{
    if (!d->history.launches || (!d->warp && !d->is_stopped))
        return error_set(error, "No kernel has been launched: there is no history.");
    const LaunchRecord *record = &d->history.launch[d->run];
    if (record->has_history) return 0;
    return error_set(error, "There is no history of this launch: %s.", record->why);
}

static void search_begin(Debugger *d, SearchKind kind)
{
    const LaunchRecord *record = &d->history.launch[d->run];
    uint64_t now = d->hook.moment;
    d->repeated = 0;
    d->travel.origin = (Moment){d->run, now - (uint64_t)(d->is_inside != 0)};
    d->search.kind = kind;
    d->travel.mode = MODE_SEARCH;
    d->plan.kind = PLAN_TRAVEL;
    d->search.hit.found = 0, d->search.hit.text[0] = 0, d->search.hit.number = 0;
    d->search.earliest = kind == SEARCH_BREAKPOINT ? 0 : d->block_moment, d->search.has_old = 0;
    memset(&d->search.lines, 0, sizeof d->search.lines);
    d->search.segment_end = now;
    const Checkpoint *start = history_before(record, now ? now - 1 : 0);
    d->search.segment_begin = start ? start->moment : 0;
}

/* From the end of the launch to its last instruction, in the thread that executed it. */
static int launch_reenter(Debugger *d, Error *error)
{
    uint64_t total = d->history.launch[d->run].total;
    if (!total) return error_set(error, "No thread of the launch has executed an instruction.");
    memset(&d->travel.arrival, 0, sizeof d->travel.arrival);
    d->travel.arrival.kind = STOP_ARRIVED;
    d->repeated = 0;
    d->travel.mode = MODE_GOTO;
    d->travel.target = (Moment){d->run, total - 1};
    d->travel.follows_warp = 1;
    d->plan.kind = PLAN_TRAVEL;
    return 0;
}

int debugger_reverse(Debugger *d, SearchKind kind, Error *error)
{
    if (has_history(d, error) != 0) return -1;
    if (kind != SEARCH_BREAKPOINT && !d->warp) return launch_reenter(d, error);
    step_from(d);
    if (kind == SEARCH_CALLER && d->plan.step_depth < 2)
        return error_set(error, "\"reverse-finish\" not meaningful in the outermost frame.");
    if (kind == SEARCH_CALLER) d->plan.step_depth -= d->focus.frame;
    search_begin(d, kind);
    return 0;
}

int debugger_writer(Debugger *d, const char *name, uint64_t address, uint64_t bytes, Error *error)
{
    if (has_history(d, error) != 0) return -1;
    step_from(d);
    d->search.address = address, d->search.bytes = bytes, d->search.block = d->focus.block;
    d->search.warp = d->focus.warp, d->search.lane = d->focus.lane;
    snprintf(d->search.name, sizeof d->search.name, "%s", name);
    search_begin(d, SEARCH_WRITER);
    if (writes_space(address) == WRITES_GLOBAL) d->search.earliest = 0;
    return 0;
}

int debugger_survey(Debugger *d, Survey *survey, Error *error)
{
    if (has_history(d, error) != 0) return -1;
    if (!d->warp) return error_set(error, "The launch has ended: stop in a kernel first.");
    memset(&d->travel.arrival, 0, sizeof d->travel.arrival);
    d->travel.arrival.kind = STOP_ARRIVED;
    d->survey = survey, d->repeated = 0;
    d->travel.mode = MODE_GOTO;
    d->travel.target = (Moment){d->run, d->hook.moment - (uint64_t)(d->is_inside != 0)};
    d->travel.target_focus = d->focus, d->travel.follows_warp = 0;
    d->plan.kind = PLAN_TRAVEL;
    return 0;
}

void debugger_kill(Debugger *d)
{
    d->plan.kind = PLAN_KILL;
    d->is_killed = 1;
}

void debugger_interrupt(Debugger *d)
{
    d->interrupted = 1;
    d->hook.until = 0;
}
