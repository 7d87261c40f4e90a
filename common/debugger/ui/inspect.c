/* inspect.c - commands that show many threads, memory, and the writers of memory. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

/* ---- lanes and blocks ---- */

static void cell_print(const Warp *warp, const Value *value, uint32_t lane, char *text,
                       size_t bytes)
{
    if (value->valid >> lane & 1)
        value_print(warp, value, lane, 0, text, bytes);
    else
        snprintf(text, bytes, "?");
}

int command_lanes(Session *s, const char *arguments)
{
    enum { COLUMNS = 8 };
    char cell[LANES][64];
    Scene scene;
    Value value;
    Error error;
    Debugger *d = &s->debugger;
    Warp *warp = debugger_warp(d);
    uint32_t all = lanes_of(warp), width = 1;
    Expression *expression = *arguments ? expression_parse(arguments, NULL, &error) : NULL;
    if (!*arguments) error_set(&error, "The expression is missing: lanes EXPRESSION.");
    if (!expression || debugger_scene(d, all, &scene, &error) != 0) {
        say(s, "%s\n", error.text);
        expression_free(expression);
        return 0;
    }
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid) {
        say(s, "%s\n", value.why);
        return 0;
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        cell_print(warp, &value, lane, cell[lane], sizeof cell[lane]);
        if (!(all >> lane & 1)) snprintf(cell[lane], sizeof cell[lane], "-");
        if (strlen(cell[lane]) > width) width = (uint32_t)strlen(cell[lane]);
    }
    const uint32_t *block = warp->block->id;
    say(s, "%s in warp %u of block (%u,%u,%u): %d of %d lanes are active%s\n", arguments,
        warp->index, block[0], block[1], block[2], __builtin_popcount(warp->mask),
        __builtin_popcount(all), warp->mask == all ? "" : "; (inactive) in brackets");
    for (uint32_t row = 0; row < LANES; row += COLUMNS) {
        say(s, "%5u-%-2u", row, row + COLUMNS - 1);
        for (uint32_t lane = row; lane < row + COLUMNS; lane++) {
            int off = all >> lane & 1 && !(warp->mask >> lane & 1);
            say(s, " %s%*s%s", off ? "(" : " ", (int)width, cell[lane], off ? ")" : " ");
        }
        say(s, "\n");
    }
    if (value.valid != all) say(s, "?: %s\n", value.why);
    return 0;
}

int command_block(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Error error;
    Warp *focus = debugger_warp(d);
    Expression *expression = *arguments ? expression_parse(arguments, NULL, &error) : NULL;
    if (!expression) {
        say(s, "%s\n", *arguments ? error.text : "The expression is missing: block EXPRESSION.");
        return 0;
    }
    const uint32_t *dim = focus->worker->launch->launch->block;
    uint32_t threads = focus->block->threads, width = 1;
    char(*cell)[32] = calloc(threads, sizeof *cell);
    char why[VALUE_WHY] = "";
    for (uint32_t w = 0; cell && w < focus->block->warps; w++) {
        Warp *warp = &focus->worker->warp[w];
        Frame frame[FRAMES_MOST];
        Value value;
        frames_at(d->map, debugger_ins(d, warp), frame);
        Scene scene = {.warp = warp, .map = d->map, .frame = frame[0], .mask = lanes_of(warp)};
        expression_evaluate(expression, &scene, &value);
        if (value.valid != scene.mask) snprintf(why, sizeof why, "%.200s", value.why);
        for (uint32_t lane = 0; lane < LANES && w * LANES + lane < threads; lane++) {
            char *text = cell[w * LANES + lane];
            cell_print(warp, &value, lane, text, sizeof *cell);
            if (strlen(text) > width) width = (uint32_t)strlen(text);
        }
    }
    expression_free(expression);
    const uint32_t *id = focus->block->id;
    say(s, "%s in block (%u,%u,%u): a row for each threadIdx.y, a column for each threadIdx.x\n",
        arguments, id[0], id[1], id[2]);
    for (uint32_t t = 0; cell && t < threads; t++) {
        if (dim[2] > 1 && t % (dim[0] * dim[1]) == 0)
            say(s, "threadIdx.z = %u\n", t / dim[0] / dim[1]);
        say(s, "%*s%s", (int)width + 1, cell[t], (t + 1) % dim[0] ? "" : "\n");
    }
    if (*why) say(s, "?: %s\n", why);
    free(cell);
    return 0;
}

/* ---- the focus ---- */

static void thread_text(const Warp *warp, uint32_t lane, char text[48])
{
    uint32_t thread[3];
    thread_of(warp, lane, thread);
    snprintf(text, 48, "(%u,%u,%u)", thread[0], thread[1], thread[2]);
}

static const char *state_text(const Debugger *d, const Warp *warp)
{
    if (warp == d->warp) return "stopped";
    switch (warp->state) {
    case WARP_BARRIER:
        return "at a barrier";
    case WARP_PHASE:
        return "waits for an mbarrier";
    case WARP_CLUSTER:
        return "waits for its cluster";
    case WARP_DONE:
        return "has ended";
    default:
        return warp->pc == warp->code ? "not begun" : "ready";
    }
}

static void place_text(const Debugger *d, const Warp *warp, char *text, size_t bytes)
{
    const Spot *spot = spot_of(d->map, debugger_ins(d, warp));
    const char *file = file_of(d->map, spot->file);
    if (warp->state == WARP_DONE || !file)
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, "%s:%u", file_base(file), spot->line);
}

static int info_warps(Session *s)
{
    const Debugger *d = &s->debugger;
    char place[300], thread[48];
    const Warp *focus = debugger_warp(d);
    const Block *block = focus->block;
    say(s, "Block (%u,%u,%u)\n  Warp  Active lanes  First thread  State                  Line\n",
        block->id[0], block->id[1], block->id[2]);
    for (uint32_t w = 0; w < block->warps; w++) {
        const Warp *warp = &focus->worker->warp[w];
        place_text(d, warp, place, sizeof place), thread_text(warp, 0, thread);
        say(s, "%c %4u    0x%08x  %-13s %-22s %s\n", w == d->focus.warp ? '*' : ' ', w,
            warp->state == WARP_DONE ? 0 : warp->mask & warp->alive, thread, state_text(d, warp),
            place);
    }
    return 0;
}

static int info_lanes(Session *s)
{
    const Debugger *d = &s->debugger;
    const Warp *warp = debugger_warp(d);
    char place[300], thread[48];
    place_text(d, warp, place, sizeof place);
    say(s, "Warp %u of block (%u,%u,%u)\n  Lane  State     Thread         Line\n", warp->index,
        warp->block->id[0], warp->block->id[1], warp->block->id[2]);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        int is_there = lanes_of(warp) >> lane & 1, active = warp->mask >> lane & 1;
        if (!is_there) continue;
        thread_text(warp, lane, thread);
        say(s, "%c %4u  %-8s  %-14s %s\n", lane == d->focus.lane ? '*' : ' ', lane,
            active                    ? "active"
            : warp->alive >> lane & 1 ? "inactive"
                                      : "ended",
            thread, active ? place : "-");
    }
    return 0;
}

static int info_threads(Session *s)
{
    const Debugger *d = &s->debugger;
    char place[300], first[48], last[48];
    say(s, "  Block          Threads                   Count  State                  Line\n");
    for (uint32_t i = 0; i < d->workers; i++) {
        const Worker *worker = d->worker[i];
        const uint32_t *id = worker->block.id;
        for (uint32_t w = 0; w < worker->block.warps; w++) {
            const Warp *warp = &worker->warp[w];
            uint32_t all = lanes_of(warp);
            place_text(d, warp, place, sizeof place);
            thread_text(warp, 0, first);
            thread_text(warp, 31 - (uint32_t)__builtin_clz(all), last);
            char block[48], range[100];
            snprintf(block, sizeof block, "(%u,%u,%u)", id[0], id[1], id[2]);
            snprintf(range, sizeof range, "%s to %s", first, last);
            say(s, "%c %-14s %-25s %5d  %-22s %s\n",
                worker->block.number == d->focus.block && w == d->focus.warp ? '*' : ' ', block,
                range, __builtin_popcount(all), state_text(d, warp), place);
        }
    }
    return 0;
}

static int info_kernels(Session *s)
{
    const Debugger *d = &s->debugger;
    for (uint32_t i = 0; i < d->history.launches; i++) {
        char name[256];
        const LaunchRecord *record = &d->history.launch[i];
        const SimtLaunch *launch = &record->request;
        kernel_demangled_name(record->kernel, name, sizeof name);
        if (!i) say(s, "  Kernel  Grid Dim        Block Dim       Instructions  Name\n");
        say(s, "%c %6u  (%u,%u,%u)%*s (%u,%u,%u)%*s %12llu  %s\n", i == d->run ? '*' : ' ', i,
            launch->grid[0], launch->grid[1], launch->grid[2], 4, "", launch->block[0],
            launch->block[1], launch->block[2], 4, "", (unsigned long long)record->furthest, name);
    }
    if (!d->history.launches) say(s, "No kernel has been launched.\n");
    return 0;
}

static int info_blocks(Session *s)
{
    const Debugger *d = &s->debugger;
    uint64_t all = d->launch ? d->launch->blocks : 0;
    say(s, "  Block          State\n");
    for (uint32_t i = 0; i < d->workers; i++) {
        const uint32_t *id = d->worker[i]->block.id;
        say(s, "%c (%u,%u,%u)%*s  executes\n",
            d->worker[i]->block.number == d->focus.block ? '*' : ' ', id[0], id[1], id[2], 4, "");
    }
    say(s, "of %llu in the grid; %llu have begun: the debugger executes blocks in order.\n",
        (unsigned long long)all,
        (unsigned long long)(d->launch && d->launch->next < all ? d->launch->next : all));
    return 0;
}

static int info_sms(Session *s)
{
    const Debugger *d = &s->debugger;
    const Warp *warp = debugger_warp(d);
    say(s, "  SM  Warps\n* %2u  %u of %u\n",
        *(const uint32_t *)(const void *)(warp->file + SR_SMID * LANES * 4), warp->block->warps,
        d->gpu->machine.max_warps_per_sm);
    return 0;
}

int command_info_cuda(Session *s, const char *arguments)
{
    static const struct {
        const char *name;
        int (*run)(Session *s);
        int needs_warp;
    } TABLES[] = {{"kernels", info_kernels, 0}, {"blocks", info_blocks, 1},
                  {"warps", info_warps, 1},     {"lanes", info_lanes, 1},
                  {"threads", info_threads, 1}, {"sms", info_sms, 1}};
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        if (strncmp(arguments, TABLES[i].name, strlen(TABLES[i].name)) != 0) continue;
        if (TABLES[i].needs_warp && !debugger_warp(&s->debugger)) {
            say(s, "No CUDA kernels.\n");
            return 0;
        }
        return TABLES[i].run(s);
    }
    say(s, "info cuda what? kernels, blocks, warps, lanes, threads or sms.\n");
    return 0;
}

/* "(1,0,2)", "(1,0)" or "7"; the number of coordinates. */
static int coordinates(const char **at, uint32_t value[3])
{
    int count = 0;
    const char *c = *at;
    while (isspace((unsigned char)*c))
        c++;
    int open = *c == '(';
    c += open;
    value[0] = value[1] = value[2] = 0;
    for (;;) {
        char *end;
        while (isspace((unsigned char)*c))
            c++;
        if (!isdigit((unsigned char)*c)) return 0;
        value[count++] = (uint32_t)strtoul(c, &end, 10);
        c = end;
        while (isspace((unsigned char)*c))
            c++;
        if (!open || *c != ',' || count == 3) break;
        c++;
    }
    if (open && *c++ != ')') return 0;
    *at = c;
    return count;
}

static int block_select(Session *s, const uint32_t value[3], int count, Focus *focus)
{
    Debugger *d = &s->debugger;
    const uint32_t *grid = d->launch->launch->grid;
    uint64_t number = count == 1 && value[0] >= grid[0]
                          ? value[0]
                          : value[0] + grid[0] * (value[1] + (uint64_t)grid[1] * value[2]);
    if (count > 1 && (value[0] >= grid[0] || value[1] >= grid[1] || value[2] >= grid[2]))
        number = UINT64_MAX;
    if (number >= d->launch->blocks) {
        say(s, "The grid is (%u,%u,%u): it has no such block.\n", grid[0], grid[1], grid[2]);
        return -1;
    }
    if (!debugger_worker(d, number)) {
        say(s,
            "Block (%u,%u,%u) does not execute now: the debugger executes blocks in order.  Stop "
            "in "
            "it with: break PLACE if blockIdx.x == %u && blockIdx.y == %u\n",
            value[0], value[1], value[2], value[0], value[1]);
        return -1;
    }
    if (number != focus->block) *focus = (Focus){.block = number};
    return 0;
}

static int thread_select(Session *s, const uint32_t value[3], int count, Focus *focus)
{
    Debugger *d = &s->debugger;
    const uint32_t *dim = d->launch->launch->block;
    uint64_t number = value[0] + dim[0] * (value[1] + (uint64_t)dim[1] * value[2]);
    if ((count > 1 && (value[0] >= dim[0] || value[1] >= dim[1] || value[2] >= dim[2])) ||
        number >= d->launch->threads_per_block) {
        say(s, "The block is (%u,%u,%u): it has no such thread.\n", dim[0], dim[1], dim[2]);
        return -1;
    }
    focus->warp = (uint32_t)(number / LANES), focus->lane = (uint32_t)(number % LANES);
    return 0;
}

int command_focus(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Focus focus = d->focus;
    const char *at = arguments;
    uint32_t value[3], warps = debugger_warp(d)->block->warps;
    focus.frame = 0;
    if (!*at) {
        focus_print(s);
        return 0;
    }
    if (*at == '(' || isdigit((unsigned char)*at)) { /* thread (1,0) */
        int count = coordinates(&at, value);
        if (!count || thread_select(s, value, count, &focus) != 0) return 0;
    }
    while (*at) {
        char word[16] = "";
        size_t length = 0;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
        while (isalpha((unsigned char)at[length]) && length + 1 < sizeof word)
            length++;
        memcpy(word, at, length);
        at += length;
        int count = coordinates(&at, value), status = 0;
        if (!count) {
            if (*word && !*at) { /* "cuda thread": which one? */
                focus_print(s);
                return 0;
            }
            say(s, "Say block, thread, warp, lane, sm, grid or kernel with a number or (x,y,z).\n");
            return 0;
        }
        if (!strcmp(word, "block"))
            status = block_select(s, value, count, &focus);
        else if (!strcmp(word, "thread"))
            status = thread_select(s, value, count, &focus);
        else if (!strcmp(word, "warp") && value[0] < warps)
            focus.warp = value[0], focus.lane = 0;
        else if (!strcmp(word, "lane") && value[0] < LANES)
            focus.lane = value[0];
        else if (!strcmp(word, "kernel") && value[0] != d->run)
            status = (say(s, "Kernel %u does not execute now: reverse-continue goes back to it.\n",
                          value[0]),
                      -1);
        else if (!strcmp(word, "warp") || !strcmp(word, "lane"))
            status = (say(s, "There is no %s %u: the block has %u warps of 32 lanes.\n", word,
                          value[0], warps),
                      -1);
        else if (strcmp(word, "kernel") && strcmp(word, "grid") && strcmp(word, "device") &&
                 strcmp(word, "sm"))
            status = (say(s, "Say block, thread, warp, lane, sm, grid or kernel with a number or "
                             "(x,y,z).\n"),
                      -1);
        if (status) return 0;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
    }
    const Worker *worker = debugger_worker(d, focus.block);
    if (!worker || focus.warp >= worker->block.warps ||
        !(lanes_of(&worker->warp[focus.warp]) >> focus.lane & 1)) {
        say(s, "The block has no thread in that lane.\n");
        return 0;
    }
    d->focus = focus;
    focus_print(s);
    s->shown = d->focus, s->has_shown = 1, s->list_line = 0;
    const Warp *warp = debugger_warp(d);
    if (warp->state == WARP_DONE)
        say(s, "The warp has ended.\n");
    else
        frame_print(s, 0, 1);
    return 0;
}

/* ---- memory ---- */

int command_examine(Session *s, const char *format, const char *arguments)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value;
    Error error;
    static char kind = 'x';
    static uint64_t size = 4;
    unsigned long count = 1;
    char *end = NULL, text[200], why[VALUE_WHY];
    if (isdigit((unsigned char)*format)) {
        count = strtoul(format, &end, 10);
        format = end;
    }
    for (; *format; format++) {
        if (strchr("xduotcfa", *format))
            kind = *format;
        else if (strchr("bhwg", *format))
            size = *format == 'b' ? 1 : *format == 'h' ? 2 : *format == 'w' ? 4 : 8;
        else {
            say(s, "Undefined format or size letter '%c': x d u o t c f a, b h w g.\n", *format);
            return 0;
        }
    }
    if (count < 1 || count > 4096) count = count ? 4096 : 1;
    if (kind == 'f' && size < 4) size = 4;
    uint64_t address = s->examine_next;
    if (*arguments) {
        Expression *expression = expression_parse(arguments, NULL, &error);
        if (!expression || debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) {
            say(s, "%s\n", error.text);
            expression_free(expression);
            return 0;
        }
        expression_evaluate(expression, &scene, &value);
        expression_free(expression);
        if (!value.valid) {
            say(s, "%s\n", value.why);
            return 0;
        }
        int scalar = type_is_scalar(value.type) && value.type->kind != TYPE_FLOAT;
        address = scalar ? (uint64_t)value.i[d->focus.lane] : value.address[d->focus.lane];
    }
    const Type type = {.kind = kind == 'f'                  ? TYPE_FLOAT
                               : kind == 'u' || kind == 'x' ? TYPE_UNSIGNED
                                                            : TYPE_INTEGER,
                       .bytes = size};
    const Warp *warp = debugger_warp(d);
    unsigned long row = size == 8 ? 2 : size == 1 ? 8 : 4;
    for (unsigned long i = 0; i < count; i++, address += size) {
        const unsigned char *at = lane_memory(warp, d->focus.lane, address, size, why, sizeof why);
        if (!at) {
            say(s, "%s%s\n", i % row ? "\n" : "", why);
            return 0;
        }
        if (i % row == 0) say(s, "0x%llx:", (unsigned long long)address);
        int64_t bits = 0;
        double f = 0;
        memcpy(&bits, at, size);
        if (kind == 'd')
            bits = size == 1   ? (int8_t)bits
                   : size == 2 ? (int16_t)bits
                   : size == 4 ? (int32_t)bits
                               : bits;
        float single;
        memcpy(&single, at, 4 < size ? 4 : size == 4 ? 4 : 0);
        if (kind == 'f' && size == 4) f = single;
        if (kind == 'f' && size == 8) memcpy(&f, at, 8);
        scalar_print(&type, bits, f, kind == 'f' ? 0 : kind, text, sizeof text);
        say(s, "\t%s%s", text, (i + 1) % row == 0 || i + 1 == count ? "\n" : "");
    }
    s->examine_next = address;
    return 0;
}

static const char *ptx_line(const char *at, const char *end, uint64_t *line, uint64_t wanted)
{
    while (at < end && *line < wanted) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) return NULL;
        at = next + 1, ++*line;
    }
    return at < end ? at : NULL;
}

int command_disassemble(Session *s, const char *arguments)
{
    enum { BEFORE = 6, AFTER = 12 };
    const Debugger *d = &s->debugger;
    Frame frame;
    (void)arguments;
    if (debugger_frame(&s->debugger, &frame) != 0) return 0;
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    const char *at = fatbin->ptx, *end = at + fatbin->ptx_bytes;
    uint64_t line = 1, from = frame.pc > BEFORE ? frame.pc - BEFORE : 1;
    at = ptx_line(at, end, &line, from);
    say(s, "PTX of %s, by lines of its text:\n", frame.name);
    while (at && line <= frame.pc + AFTER) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        int length = (int)((stop ? stop : end) - at);
        say(s, "%s %6llu  %.*s\n", line == frame.pc ? "=>" : "  ", (unsigned long long)line,
            length < 200 ? length : 200, at);
        if (!stop) break;
        at = stop + 1, line++;
    }
    return 0;
}

/* ---- tensors and their writers ---- */

static double float_at(Session *s, uint64_t address, int *is_there)
{
    const Allocation *a = memory_find(&s->debugger.gpu->memory, address);
    float value = 0;
    *is_there = a && !a->freed && address + 4 <= a->address + a->bytes;
    if (*is_there) memcpy(&value, a->host + (address - a->address), 4);
    return value;
}

/* Describes a pointer's target. 0: the expression is none. */
static int pointer_describe(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value = {.type = &TYPE_OF_VOID};
    Error error;
    char text[500];
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) return 0;
    Expression *expression = expression_parse(arguments, NULL, &error);
    if (!expression) return 0;
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid || value.type->kind != TYPE_POINTER) return 0;
    uint64_t address = (uint64_t)value.i[d->focus.lane];
    debugger_describe(d, address, text, sizeof text);
    say(s, "%s points to 0x%llx: %s\n", arguments, (unsigned long long)address, text);
    return 1;
}

int command_tensor(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    uint64_t address, bytes;
    const Type *type;
    char text[500];
    Error error;
    int is_there;
    if (!*arguments) {
        int count = 0;
        for (uint32_t i = 0; d->gpu && i < d->gpu->memory.count; i++) {
            const Allocation *a = d->gpu->memory.table[i];
            if (a->freed || !a->array.rank) continue;
            say(s, "%s", a->array.name);
            for (uint32_t k = 0; k < a->array.rank; k++)
                say(s, "[%c=%llu]", a->array.axis[k], (unsigned long long)a->array.dim[k]);
            say(s, " at 0x%llx\n", (unsigned long long)a->address);
            count++;
        }
        if (!count) say(s, "There are no tensors: labs name theirs when they call your code.\n");
        return 0;
    }
    if (isdigit((unsigned char)*arguments)) {
        address = strtoull(arguments, NULL, 0);
        debugger_describe(d, address, text, sizeof text);
        say(s, "0x%llx is %s\n", (unsigned long long)address, text);
        return 0;
    }
    if (pointer_describe(s, arguments)) return 0;
    if (debugger_locate(d, arguments, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    debugger_describe(d, address, text, sizeof text);
    double value = float_at(s, address, &is_there);
    if (is_there && type == &TYPE_OF_FLOAT)
        say(s, "%s = %.9g, at 0x%llx: %s\n", arguments, value, (unsigned long long)address, text);
    else
        say(s, "%s is at 0x%llx: %s\n", arguments, (unsigned long long)address, text);
    return 0;
}

int command_writer(Session *s, const char *arguments)
{
    uint64_t address, bytes;
    const Type *type;
    Error error;
    if (!*arguments) {
        say(s, "Say what: writer y[0,1,2,3], writer tile[3][4] or another place in memory.\n");
        return 0;
    }
    if (debugger_locate(&s->debugger, arguments, &address, &bytes, &type, &error) != 0 ||
        debugger_writer(&s->debugger, arguments, address, bytes, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    return 1;
}

static void readers_print(Session *s)
{
    const Debugger *d = &s->debugger;
    const Survey *survey = &s->survey;
    uint32_t line;
    say(s, "%s was read %llu times in this launch up to here%s\n", s->survey_name,
        (unsigned long long)survey->all, survey->parties ? ":" : ".");
    for (uint32_t i = 0; i < survey->parties; i++) {
        const Party *party = &survey->party[i];
        const uint32_t *grid = d->launch->launch->grid;
        const char *file = source_line(d->map->kernel, party->from, &line);
        say(s, "  block (%llu,%llu,%llu) thread (%u,%u,%u) at %s:%u, %llu time%s\n",
            (unsigned long long)(party->block % grid[0]),
            (unsigned long long)(party->block / grid[0] % grid[1]),
            (unsigned long long)(party->block / grid[0] / grid[1]), party->thread[0],
            party->thread[1], party->thread[2], file, line, (unsigned long long)party->count,
            party->count > 1 ? "s" : "");
    }
    if (survey->parties == PARTIES) say(s, "  ... and others\n");
}

static int survey_start(Session *s, void (*after)(Session *s))
{
    Error error;
    if (debugger_survey(&s->debugger, &s->survey, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    s->after_survey = after;
    return 1;
}

int command_readers(Session *s, const char *arguments)
{
    uint64_t address, bytes;
    const Type *type;
    Error error;
    if (!*arguments ||
        debugger_locate(&s->debugger, arguments, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n",
            *arguments ? error.text : "Say what: readers x[0,0,1,1] or another place in memory.");
        return 0;
    }
    s->survey = (Survey){.address = address, .bytes = bytes, .reads = 1};
    s->survey.is_block = address < DEVICE_BASE, s->survey.block = s->debugger.focus.block;
    snprintf(s->survey_name, sizeof s->survey_name, "%s", arguments);
    return survey_start(s, readers_print);
}

static void tile_print(Session *s)
{
    Debugger *d = &s->debugger;
    Survey *survey = &s->survey;
    uint32_t rows = s->tile_rows, columns = s->tile_columns, width = 1, wide = 1, stale = 0;
    uint64_t latest = 0, step = s->tile_type->bytes;
    const Warp *warp = debugger_warp(d);
    char why[VALUE_WHY], text[64];
    for (uint64_t i = 0; i < survey->bytes / 4; i++)
        if (survey->word[i].count && survey->word[i].epoch > latest) latest = survey->word[i].epoch;
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1)
            say(s,
                "%s, %u rows of %u; * was written before the latest barrier that a write follows, "
                ". by no thread of this block:\n",
                s->survey_name, rows, columns);
        if (pass == 2) say(s, "written by thread (x,y,z):\n");
        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t c = 0; c < columns; c++) {
                uint64_t at = ((uint64_t)r * columns + c) * step;
                const Party *party = &survey->word[at / 4];
                const unsigned char *bytes =
                    lane_memory(warp, d->focus.lane, survey->address + at, step, why, sizeof why);
                Value value = {.type = s->tile_type, .home = HOME_MEMORY, .valid = FULL_MASK};
                value.address[d->focus.lane] = survey->address + at;
                value_load(warp, &value, 1u << d->focus.lane);
                int old = party->count && party->epoch < latest;
                if (!bytes)
                    snprintf(text, sizeof text, "?");
                else if (!party->count)
                    snprintf(text, sizeof text, ".");
                else if (pass < 2)
                    value_print(warp, &value, d->focus.lane, 0, text, sizeof text - 2);
                else
                    snprintf(text, sizeof text, "%u,%u,%u", party->thread[0], party->thread[1],
                             party->thread[2]);
                if (old && pass < 2) strcat(text, "*"), stale += pass == 1;
                uint32_t length = (uint32_t)strlen(text);
                if (!pass) {
                    if (length > width) width = length;
                    snprintf(text, sizeof text, "%u,%u,%u", party->thread[0], party->thread[1],
                             party->thread[2]);
                    if (strlen(text) > wide) wide = (uint32_t)strlen(text);
                    continue;
                }
                say(s, "%*s%s", (int)(pass == 1 ? width : wide) + 1, text,
                    c + 1 == columns ? "\n" : "");
            }
        }
    }
    if (stale)
        say(s, "%u words are stale: no thread has written them since the latest barrier.\n", stale);
    free(survey->word);
    survey->word = NULL;
}

/* Finds a pointer's target. -1: the expression is none. */
static int pointer_locate(Session *s, const char *name, uint64_t *address, const Type **type)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value = {.type = &TYPE_OF_VOID};
    Error error;
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) return -1;
    Expression *expression = expression_parse(name, NULL, &error);
    if (!expression) return -1;
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid || value.type->kind != TYPE_POINTER) return -1;
    *address = (uint64_t)value.i[d->focus.lane], *type = value.type->target;
    return 0;
}

int command_tile(Session *s, const char *arguments)
{
    enum { WORDS_MOST = 1 << 16 };
    char name[EXPRESSION_TEXT];
    unsigned rows = 0, columns = 0;
    uint64_t address, bytes;
    const Type *type, *element;
    Error error;
    if (sscanf(arguments, "%255s %ux%u", name, &rows, &columns) < 1) {
        say(s, "Say which: tile NAME ROWSxCOLUMNS.\n");
        return 0;
    }
    if (pointer_locate(s, name, &address, &type) != 0 &&
        debugger_locate(&s->debugger, name, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    bytes = type->bytes;
    for (element = type; element->kind == TYPE_ARRAY; element = element->target)
        continue;
    if (!columns) {
        if (type->kind != TYPE_ARRAY) {
            say(s, "The size is missing: tile %s ROWSxCOLUMNS.\n", name);
            return 0;
        }
        columns = (unsigned)(type->target->kind == TYPE_ARRAY ? type->target->bytes / element->bytes
                                                              : type->count);
        rows = columns ? (unsigned)(bytes / element->bytes / columns) : 0;
    }
    if (!rows || !columns || (uint64_t)rows * columns > WORDS_MOST || !type_is_scalar(element)) {
        say(s, "A tile has up to %d numbers.\n", WORDS_MOST);
        return 0;
    }
    if (address - SHARED_WINDOW >= WINDOW_BYTES) {
        say(s, "%s is not in shared memory.\n", name);
        return 0;
    }
    s->survey = (Survey){.address = address & ~3ull,
                         .bytes = ((uint64_t)rows * columns * element->bytes + 3) / 4 * 4,
                         .writes = 1,
                         .is_block = 1,
                         .block = s->debugger.focus.block};
    s->survey.word = calloc(s->survey.bytes / 4 + 1, sizeof *s->survey.word);
    if (!s->survey.word) return 0;
    s->tile_rows = rows, s->tile_columns = columns, s->tile_type = element;
    snprintf(s->survey_name, sizeof s->survey_name, "%s", name);
    int status = survey_start(s, tile_print);
    if (!status) free(s->survey.word), s->survey.word = NULL;
    return status;
}

/* Finds the first output that differs from the lab's oracle, and goes back to its writer. */
int command_diff(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    char text[300];
    Error error;
    int is_there;
    (void)arguments;
    if (!s->expecteds) {
        say(s,
            "diff needs a lab's expected output, and this program has none: make debug LAB=NN.\n");
        return 0;
    }
    if (debugger_warp(d)) {
        say(s, "diff compares when a launch has ended: catch end, then continue.\n");
        return 0;
    }
    for (size_t i = 0; i < s->expecteds; i++) {
        uint64_t address = s->expected_address + i * 4;
        double value = float_at(s, address, &is_there), difference = value - s->expected[i];
        if (!is_there || (difference <= s->tolerance[i] && -difference <= s->tolerance[i]))
            continue;
        debugger_describe(d, address, text, sizeof text);
        say(s, "%s: it is %.9g, and should be %.9g.\n", text, value, s->expected[i]);
        if (debugger_writer(d, text, address, 4, &error) == 0) return 1;
        say(s, "%s\n", error.text);
        return 0;
    }
    say(s, "All %zu outputs are what they should be.\n", s->expecteds);
    return 0;
}
