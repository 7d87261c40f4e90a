/* breakpoint.c - breakpoints, watchpoints and catchpoints. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/debugger_state.h"
#include "common/simulator/core/ops.h"

enum { PLACES = 256 };

/* ---- the list ---- */

static Breakpoint *breakpoint_add(Debugger *d, BreakKind kind)
{
    Breakpoint *b = calloc(1, sizeof *b), **link = &d->breakpoint;
    if (!b) return NULL;
    b->kind = kind, b->number = ++d->last_number, b->is_enabled = 1;
    while (*link)
        link = &(*link)->next;
    *link = b;
    return b;
}

void breakpoint_remove(Debugger *d, Breakpoint *b)
{
    for (Breakpoint **link = &d->breakpoint; *link; link = &(*link)->next)
        if (*link == b) {
            *link = b->next;
            expression_free(b->condition);
            free(b);
            break;
        }
    d->catches = 0;
    for (Breakpoint *at = d->breakpoint; at; at = at->next)
        d->catches |= at->kind == BREAK_CATCH && at->is_enabled ? (int)at->catches : 0;
    if (d->launch) marks_set(d);
}

Breakpoint *debugger_breakpoint(Debugger *d, int number)
{
    for (Breakpoint *b = d->breakpoint; b; b = b->next)
        if (b->number == number) return b;
    return NULL;
}

int debugger_delete(Debugger *d, int number)
{
    Breakpoint *b = debugger_breakpoint(d, number);
    if (!b) return -1;
    breakpoint_remove(d, b);
    return 0;
}

int debugger_condition(Debugger *d, Breakpoint *b, const char *text, Error *error)
{
    Expression *condition = NULL;
    (void)d;
    if (text && *text && !(condition = expression_parse(text, NULL, error))) return -1;
    expression_free(b->condition);
    b->condition = condition;
    snprintf(b->condition_text, sizeof b->condition_text, "%s", text ? text : "");
    return 0;
}

/* ---- places of a breakpoint ---- */

static uint32_t places_of(const Breakpoint *b, const KernelMap *map, uint32_t *line,
                          uint32_t ins[PLACES])
{
    uint32_t count = 0;
    *line = b->line;
    if (b->kind == BREAK_LINE) {
        count = line_instructions(map, b->file, line, ins, PLACES);
        return b->number && *line != b->line ? 0 : count; /* another kernel's line is nearest */
    }
    if (b->kind == BREAK_FUNCTION) return function_instructions(map, b->function, ins, PLACES);
    if (b->kind != BREAK_PTX) return 0;
    for (uint32_t i = 0; i < map->kernel->count && count < PLACES; i++) {
        uint32_t from = map->kernel->code[i].from;
        if (from < map->kernel->origins && map->kernel->origin[from] &&
            map->kernel->origin[from]->ptx_line == b->ptx && map->kernel->code[i].op != OP_JOIN &&
            (!i || map->kernel->code[i - 1].from != from))
            ins[count++] = i;
    }
    return count;
}

void marks_set(Debugger *d)
{
    const SimtKernel *kernel = d->map->kernel;
    uint32_t ins[PLACES], line;
    Access access;
    memset(d->mark, 0, kernel->count + 1);
    d->is_tracked = 0;
    for (const Breakpoint *b = d->breakpoint; b; b = b->next) {
        if (!b->is_enabled) continue;
        d->is_tracked |= b->kind == BREAK_WATCH;
        if (b->kind == BREAK_WATCH || b->kind == BREAK_CATCH) continue;
        uint32_t count = places_of(b, d->map, &line, ins);
        for (uint32_t i = 0; i < count; i++)
            d->mark[ins[i]] |= MARK_BREAK;
    }
    if (d->plan.advance_line) {
        Breakpoint there = {
            .kind = BREAK_LINE, .number = 1, .line = (uint32_t)d->plan.advance_line};
        memcpy(there.file, d->plan.advance_file, sizeof there.file);
        uint32_t count = places_of(&there, d->map, &line, ins);
        for (uint32_t i = 0; i < count; i++)
            d->mark[ins[i]] |= MARK_BREAK;
    }
    d->is_tracked |= d->survey != NULL;
    for (uint32_t i = 0; d->is_tracked && i < kernel->count; i++)
        if (access_of(NULL, &kernel->code[i], &access)) d->mark[i] |= MARK_ACCESS;
    uint8_t space = d->travel.mode == MODE_SEARCH && d->search.kind == SEARCH_WRITER
                        ? writes_space(d->search.address)
                        : 0;
    for (uint32_t i = 0; i < kernel->count; i++) {
        if (d->map->writes[i] & space) d->mark[i] |= MARK_ACCESS;
        if (d->travel.mode == MODE_LIVE && d->map->writes[i] & WRITES_GLOBAL)
            d->mark[i] |= MARK_WRITE;
    }
    d->hook.calls_after = d->is_tracked || space;
}

typedef struct Nearest {
    const Breakpoint *wanted;
    uint32_t line;
    int found;
} Nearest;

/* The nearest line of all kernels. */
static int kernel_nearest(void *context, KernelMap *map)
{
    Nearest *nearest = context;
    uint32_t ins[PLACES], line;
    if (!places_of(nearest->wanted, map, &line, ins)) return 0;
    if (!nearest->found || line < nearest->line) nearest->line = line;
    nearest->found = 1;
    return 0;
}

typedef struct AnyKernel {
    int kernels;
    char file[256];
} AnyKernel;

/* The file of the first kernel that has lines. */
static int kernel_any(void *context, KernelMap *map)
{
    AnyKernel *any = context;
    any->kernels++;
    for (uint32_t i = 0; i < map->kernel->origins && !*any->file; i++)
        if (!map->spot[i].is_toolkit) {
            const char *file = file_of(map, map->spot[i].file);
            if (file) snprintf(any->file, sizeof any->file, "%s", file);
        }
    return 0;
}

static int line_number(const char *text, uint32_t *line)
{
    char *end;
    if (!isdigit((unsigned char)*text)) return 0;
    unsigned long value = strtoul(text, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    if (*end || value > 100000000) return 0;
    *line = (uint32_t)value;
    return 1;
}

static int place_parse(Debugger *d, Breakpoint *b, const char *place, Error *error)
{
    const char *colon = strrchr(place, ':');
    AnyKernel any = {0};
    Frame frame;
    debugger_kernels(d, kernel_any, &any);
    if (*place == '*' && line_number(place + 1, &b->ptx)) {
        b->kind = BREAK_PTX;
        return 0;
    }
    if (colon && colon != place && line_number(colon + 1, &b->line)) {
        b->kind = BREAK_LINE;
        snprintf(b->file, sizeof b->file, "%.*s", (int)(colon - place), place);
        return 0;
    }
    if (line_number(place, &b->line)) {
        b->kind = BREAK_LINE;
        if (debugger_frame(d, &frame) == 0 && frame.file)
            snprintf(b->file, sizeof b->file, "%s", frame.file);
        else if (*any.file)
            snprintf(b->file, sizeof b->file, "%s", any.file);
        else
            return error_set(error, "No kernel's source is known yet: write file.cu:%u", b->line);
        return 0;
    }
    if (!*place) {
        if (debugger_frame(d, &frame) != 0 || !frame.file)
            return error_set(error, "Say where: break file.cu:12, break 12 or break kernel");
        b->kind = BREAK_LINE, b->line = frame.line;
        snprintf(b->file, sizeof b->file, "%s", frame.file);
        return 0;
    }
    b->kind = BREAK_FUNCTION;
    snprintf(b->function, sizeof b->function, "%s", place);
    return 0;
}

static int count_kernels(void *context, KernelMap *map)
{
    (void)map;
    ++*(int *)context;
    return 0;
}

Breakpoint *debugger_break(Debugger *d, const char *place, const char *condition, int is_temporary,
                           Error *error)
{
    Breakpoint wanted = {0};
    int kernels = 0;
    if (place_parse(d, &wanted, place, error) != 0) return NULL;
    if (condition && debugger_condition(d, &wanted, condition, error) != 0) return NULL;
    wanted.asked_line = wanted.line;
    debugger_kernels(d, count_kernels, &kernels);
    Nearest nearest = {.wanted = &wanted};
    debugger_kernels(d, kernel_nearest, &nearest);
    if (nearest.found) wanted.line = nearest.line;
    if (kernels && !nearest.found) {
        expression_free(wanted.condition);
        if (wanted.kind == BREAK_LINE)
            error_set(error,
                      "No line %u in file \"%s\" has code of a kernel, nor has one after it.",
                      wanted.line, file_base(wanted.file));
        else if (wanted.kind == BREAK_PTX)
            error_set(error, "No instruction is at line %u of the PTX.", wanted.ptx);
        else
            error_set(error, "Function \"%s\" not defined in device code.", wanted.function);
        return NULL;
    }
    Breakpoint *b = breakpoint_add(d, wanted.kind);
    if (!b) {
        error_set(error, "out of host memory");
        return NULL;
    }
    wanted.number = b->number, wanted.is_enabled = 1, wanted.next = b->next;
    wanted.is_temporary = is_temporary;
    *b = wanted;
    if (d->launch) marks_set(d);
    return b;
}

void breakpoint_describe(const Debugger *d, const Breakpoint *b, char *text, size_t bytes)
{
    (void)d;
    static const struct {
        CatchKind kind;
        const char *name;
    } NAMES[] = {{CATCH_FAULT, "fault"},
                 {CATCH_RACE, "race"},
                 {CATCH_UNINITIALIZED, "uninitialized"},
                 {CATCH_BARRIER, "barrier"},
                 {CATCH_LAUNCH, "launch"},
                 {CATCH_END, "end"}};
    switch (b->kind) {
    case BREAK_LINE:
        snprintf(text, bytes, "file %s, line %u", file_base(b->file), b->line);
        return;
    case BREAK_FUNCTION:
        snprintf(text, bytes, "function %s", b->function);
        return;
    case BREAK_PTX:
        snprintf(text, bytes, "PTX line %u", b->ptx);
        return;
    case BREAK_WATCH:
        snprintf(text, bytes, "%s", b->expression);
        return;
    default:
        snprintf(text, bytes, "catch");
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
            if (b->catches & NAMES[i].kind) snprintf(text, bytes, "catch %s", NAMES[i].name);
    }
}

Breakpoint *debugger_catch(Debugger *d, CatchKind kind)
{
    Breakpoint *b = breakpoint_add(d, BREAK_CATCH);
    if (!b) return NULL;
    b->catches = kind;
    d->catches |= (int)kind;
    return b;
}

/* ---- a breakpoint is reached ---- */

static int is_here(const Debugger *d, const Breakpoint *b, const Ins *ins)
{
    uint32_t at[PLACES], line, count = places_of(b, d->map, &line, at);
    for (uint32_t i = 0; i < count; i++)
        if (at[i] == (uint32_t)(ins - d->map->kernel->code)) return 1;
    return 0;
}

/* The result is needed at each of a million passes, so it is cached for one place. */
static int is_here_again(const Debugger *d, Breakpoint *b, const Ins *ins)
{
    static struct {
        const Breakpoint *breakpoint;
        int number;
        const Ins *ins;
        int is_here;
    } known[64];
    size_t slot = ((uintptr_t)ins / sizeof *ins * 7 + (size_t)b->number) % 64;
    if (known[slot].breakpoint != b || known[slot].ins != ins || known[slot].number != b->number) {
        known[slot].breakpoint = b, known[slot].ins = ins, known[slot].number = b->number;
        known[slot].is_here = is_here(d, b, ins);
    }
    return known[slot].is_here;
}

static void scene_here(const Debugger *d, Warp *warp, const Ins *ins, Scene *scene)
{
    static const Ins *known;
    static const KernelMap *known_map;
    static Frame frame[FRAMES_MOST];
    if (known != ins || known_map != d->map) frames_at(d->map, ins, frame);
    known = ins, known_map = d->map;
    *scene = (Scene){.warp = warp, .map = d->map, .frame = frame[0], .mask = warp->mask};
    scene->history = &d->values;
}

Breakpoint *breakpoint_hit(Debugger *d, Warp *warp, const Ins *ins, int counts, uint32_t *lane,
                           char *text, size_t room)
{
    char why[VALUE_WHY];
    *text = 0;
    for (Breakpoint *b = d->breakpoint; b; b = b->next) {
        uint32_t lanes = warp->mask;
        if (!b->is_enabled || b->kind == BREAK_WATCH || b->kind == BREAK_CATCH ||
            !is_here_again(d, b, ins))
            continue;
        if (b->condition) {
            Scene scene;
            scene_here(d, warp, ins, &scene);
            if (expression_true(b->condition, &scene, &lanes, why, sizeof why) != 0) {
                snprintf(text, room, "Error in testing condition for breakpoint %d:\n%s", b->number,
                         why);
                lanes = warp->mask;
            }
        }
        if (!lanes) continue;
        b->hits += counts != 0;
        if (counts && b->ignore > 0) {
            b->ignore--;
            continue;
        }
        if (counts && b->wanted_hits && b->hits < b->wanted_hits) continue;
        *lane = (uint32_t)__builtin_ctz(lanes);
        return b;
    }
    return NULL;
}

/* ---- watchpoints ---- */

int is_watching(const Debugger *d)
{
    for (const Breakpoint *b = d->breakpoint; b; b = b->next)
        if (b->kind == BREAK_WATCH && b->is_enabled) return 1;
    return 0;
}

static int is_of_a_thread(uint64_t address)
{
    return address - LOCAL_WINDOW < WINDOW_BYTES;
}

static int is_of_a_block(uint64_t address)
{
    return address - SHARED_WINDOW < WINDOW_BYTES || is_of_a_thread(address);
}

/* The bytes that are watched, as this warp sees them; NULL: it does not see them. */
static unsigned char *watched(const Breakpoint *b, const Warp *warp)
{
    char why[VALUE_WHY];
    if (is_of_a_block(b->address) && warp->block->number != b->block) return NULL;
    if (is_of_a_thread(b->address) && warp->index != b->warp) return NULL;
    return lane_memory(warp, b->lane, b->address, b->bytes, why, sizeof why);
}

Breakpoint *debugger_watch(Debugger *d, const char *expression, WatchKind kind,
                           const char *condition, Error *error)
{
    uint64_t address, bytes;
    const Type *type;
    if (debugger_locate(d, expression, &address, &bytes, &type, error) != 0) return NULL;
    if (bytes > WATCH_BYTES) {
        error_set(error, "%s has %llu bytes: at most %d can be watched", expression,
                  (unsigned long long)bytes, WATCH_BYTES);
        return NULL;
    }
    if (address - PARAM_WINDOW < WINDOW_BYTES) {
        error_set(error, "%s is a parameter of the kernel, which never changes", expression);
        return NULL;
    }
    const Warp *warp = debugger_warp(d);
    if (!warp) {
        error_set(error, "a watchpoint is set while a kernel executes: stop in one first");
        return NULL;
    }
    Breakpoint *b = breakpoint_add(d, BREAK_WATCH);
    if (!b) {
        error_set(error, "out of host memory");
        return NULL;
    }
    b->watches = kind, b->address = address, b->bytes = bytes, b->type = type;
    b->block = d->focus.block, b->warp = d->focus.warp, b->lane = d->focus.lane;
    snprintf(b->expression, sizeof b->expression, "%s", expression);
    const unsigned char *now = watched(b, warp);
    if (now) memcpy(b->old, now, bytes);
    if (condition && debugger_condition(d, b, condition, error) != 0) {
        breakpoint_remove(d, b);
        return NULL;
    }
    marks_set(d);
    return b;
}

/* A launch is executed from a checkpoint: loads the watched values of that moment. */
void watches_load(Debugger *d)
{
    for (Breakpoint *b = d->breakpoint; b; b = b->next) {
        const Allocation *a =
            b->kind == BREAK_WATCH ? memory_find(&d->gpu->memory, b->address) : NULL;
        if (a && !a->freed && b->address + b->bytes <= a->address + a->bytes)
            memcpy(b->old, a->host + (b->address - a->address), b->bytes);
    }
}

static int concerns(const Breakpoint *b, const Warp *warp, const Access *access, uint32_t *lane)
{
    if (!watched(b, warp)) return 0;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(m);
        if (is_of_a_thread(b->address) && i != b->lane) continue;
        if (access->address[i] >= b->address + b->bytes ||
            access->address[i] + access->bytes <= b->address)
            continue;
        *lane = i;
        return 1;
    }
    return 0;
}

Breakpoint *watch_before(Debugger *d, const Warp *warp, uint32_t *lane)
{
    for (Breakpoint *b = d->breakpoint; b && d->has_access; b = b->next)
        if (b->kind == BREAK_WATCH && b->is_enabled && b->watches & WATCH_READ && d->access.reads &&
            concerns(b, warp, &d->access, lane))
            return b;
    return NULL;
}

static void bytes_print(const Breakpoint *b, const unsigned char *bytes, char *text, size_t room)
{
    Value value = {.type = b->type};
    if (!type_is_scalar(b->type)) {
        size_t used = 0;
        for (uint64_t i = 0; i < b->bytes && used + 4 < room; i++)
            used += (size_t)snprintf(text + used, room - used, "%02x ", bytes[i]);
        return;
    }
    int64_t i = 0;
    memcpy(&i, bytes, b->bytes);
    if (b->type->kind == TYPE_FLOAT && b->bytes == 4) {
        float f;
        memcpy(&f, bytes, 4);
        value.f[0] = f;
    } else if (b->type->kind == TYPE_FLOAT) {
        memcpy(&value.f[0], bytes, 8);
    } else if (b->type->kind == TYPE_HALF) {
        value.f[0] = half_value((uint32_t)i);
    } else {
        value.i[0] = b->type->kind == TYPE_INTEGER && b->bytes == 4 ? (int32_t)i : i;
    }
    scalar_print(b->type, value.i[0], value.f[0], 0, text, room);
}

Breakpoint *watch_after(Debugger *d, const Warp *warp, uint32_t *lane, char *text, size_t room)
{
    Breakpoint *found = NULL;
    char before[200], now[200];
    for (Breakpoint *b = d->breakpoint; b; b = b->next) {
        uint32_t writer = d->focus.lane;
        if (b->kind != BREAK_WATCH || !b->is_enabled) continue;
        const unsigned char *bytes = watched(b, warp);
        if (!bytes || !memcmp(bytes, b->old, b->bytes)) continue;
        int is_known = d->has_access && d->access.writes && concerns(b, warp, &d->access, &writer);
        if (b->watches & WATCH_WRITE && !found) {
            bytes_print(b, b->old, before, sizeof before), bytes_print(b, bytes, now, sizeof now);
            snprintf(text, room, "Hardware watchpoint %d: %s\n\nOld value = %s\nNew value = %s",
                     b->number, b->expression, before, now);
            *lane = is_known ? writer : (uint32_t)__builtin_ctz(warp->mask ? warp->mask : 1);
            found = b;
        }
        memcpy(b->old, bytes, b->bytes);
    }
    return found;
}
