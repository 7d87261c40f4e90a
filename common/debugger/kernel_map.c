/* kernel_map.c - source lines by the .loc directives, frames by the decoder's scopes and by the
 * inlined functions of the DWARF. */
#include "common/debugger/kernel_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/decode/decode.h"
#include "common/simulator/exec/exec.h"
#include "common/simulator/launch/image.h"

static ModuleMap *modules;
static KernelMap *kernels;

void kernel_demangled_name(const SimtKernel *kernel, char *text, size_t bytes)
{
    demangle(kernel->info.name, text, bytes);
}

const char *file_base(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static int is_of_the_toolkit(const char *path)
{
    return path && (strstr(path, "/include/") || strstr(path, ".hpp")) && !strstr(path, "convlab");
}

ModuleMap *module_map(const SimtModule *module)
{
    for (ModuleMap *map = modules; map; map = map->next)
        if (map->image == module->image && map->ptx == module->ptx) return map;
    ModuleMap *map = calloc(1, sizeof *map);
    if (!map) return NULL;
    map->image = module->image, map->ptx = module->ptx;
    symbols_open(module->fatbin->ptx, module->fatbin->ptx_bytes, &map->symbols);
    map->next = modules;
    modules = map;
    return map;
}

/* Inlined functions around a PTX line, once per line of the module. */
static uint8_t *inline_depths(const KernelMap *map, uint32_t lines)
{
    const SimtKernel *kernel = map->kernel;
    SourceFrame frame[INLINE_DEPTH];
    uint8_t *depth = calloc(lines + 1, 1);
    if (!depth || map->module->symbols.problem[0]) return depth;
    for (uint32_t i = 0; i < kernel->origins; i++) {
        uint32_t line = kernel->origin[i] ? kernel->origin[i]->ptx_line : 0;
        const CodeScope *scope = &kernel->scopes.scope[kernel->scopes.scope_of[i]];
        if (!line || line > lines || depth[line]) continue;
        uint32_t count = symbols_frames(&map->module->symbols, scope->function->name, line, frame);
        depth[line] = (uint8_t)(count ? count : 1);
    }
    return depth;
}

static uint32_t last_line(const SimtKernel *kernel)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < kernel->origins; i++)
        if (kernel->origin[i] && kernel->origin[i]->ptx_line > most)
            most = kernel->origin[i]->ptx_line;
    return most;
}

static int spots_fill(KernelMap *map)
{
    const SimtKernel *kernel = map->kernel;
    const PtxModule *ptx = map->module->ptx;
    uint32_t lines = last_line(kernel);
    uint8_t *inlines = inline_depths(map, lines);
    map->spot = calloc(kernel->origins + 1, sizeof *map->spot);
    if (!inlines || !map->spot) {
        free(inlines);
        return -1;
    }
    for (uint32_t i = 0; i < kernel->origins; i++) {
        const PtxInstruction *in = kernel->origin[i];
        uint32_t scope = kernel->scopes.scope_of[i];
        Spot *spot = &map->spot[i],
             *before = i && kernel->scopes.scope_of[i - 1] == scope ? spot - 1 : NULL;
        if (in && in->source.line && in->source.file < ptx->files)
            spot->file = in->source.file, spot->line = in->source.line;
        else if (before)
            spot->file = before->file, spot->line = before->line;
        /* The calling scope precedes the called one. */
        const CodeScope *own = &kernel->scopes.scope[scope];
        spot->depth = own->call < i ? map->spot[own->call].depth : 0;
        spot->depth =
            (uint16_t)(spot->depth + (in && inlines[in->ptx_line] ? inlines[in->ptx_line] : 1));
        spot->is_toolkit =
            (uint8_t)(spot->line == 0 || is_of_the_toolkit(file_of(map, spot->file)));
    }
    free(inlines);
    return 0;
}

KernelMap *kernel_map(SimtKernel *kernel)
{
    Error error;
    for (KernelMap *map = kernels; map; map = map->next)
        if (map->kernel == kernel) return map;
    if (kernel_decode(kernel, exec_handlers(), &error) != 0) return NULL;
    KernelMap *map = calloc(1, sizeof *map);
    if (!map) return NULL;
    map->kernel = kernel, map->module = module_map(kernel->module);
    if (!map->module || !kernel->scopes.scope || spots_fill(map) != 0 ||
        !(map->writes = writes_find(kernel))) {
        free(map->spot), free(map);
        return NULL;
    }
    map->next = kernels;
    kernels = map;
    return map;
}

const Spot *spot_of(const KernelMap *map, const Ins *ins)
{
    static const Spot NOWHERE = {.is_toolkit = 1, .depth = 1};
    return ins->from < map->kernel->origins ? &map->spot[ins->from] : &NOWHERE;
}

const char *file_of(const KernelMap *map, uint32_t file)
{
    const PtxModule *ptx = map->module->ptx;
    return file < ptx->files && ptx->file[file] ? ptx->file[file] : NULL;
}

/* ---- frames ---- */

static uint32_t scope_frames(const KernelMap *map, uint32_t from, Frame *frame, uint32_t room)
{
    const SimtKernel *kernel = map->kernel;
    const PtxInstruction *in = kernel->origin[from];
    SourceFrame source[INLINE_DEPTH];
    uint32_t scope = kernel->scopes.scope_of[from], line = map->spot[from].line,
             count =
                 symbols_frames(&map->module->symbols, kernel->scopes.scope[scope].function->name,
                                in ? in->ptx_line : 0, source);
    const char *file = line ? file_of(map, map->spot[from].file) : NULL;
    for (uint32_t i = 0; i < (count ? count : 1) && i < room; i++) {
        frame[i] = (Frame){
            .from = from, .scope = scope, .pc = in ? in->ptx_line : 0, .line = line, .file = file};
        if (!count) {
            demangle(kernel->scopes.scope[scope].function->name, frame[i].name,
                     sizeof frame[i].name);
            continue;
        }
        frame[i].die = source[i].die, frame[i].is_inlined = source[i].is_inlined;
        memcpy(frame[i].name, source[i].name, sizeof frame[i].name);
        if (source[i].is_inlined) line = source[i].call_line;
    }
    return count ? count : 1;
}

uint32_t frames_at(const KernelMap *map, const Ins *ins, Frame frame[FRAMES_MOST])
{
    const SimtKernel *kernel = map->kernel;
    uint32_t from = ins->from, count = 0;
    if (from >= kernel->origins) from = kernel->origins ? kernel->origins - 1 : 0;
    while (count < FRAMES_MOST && from < kernel->origins) {
        uint32_t more = scope_frames(map, from, frame + count, FRAMES_MOST - count);
        count = count + more < FRAMES_MOST ? count + more : FRAMES_MOST;
        uint32_t scope = kernel->scopes.scope_of[from];
        if (kernel->scopes.scope[scope].caller >= kernel->scopes.scopes) break;
        from = kernel->scopes.scope[scope].call;
    }
    return count;
}

/* ---- variables ---- */

static int symbol_place(const KernelMap *map, const Frame *frame, const char *name, int64_t offset,
                        Place *place)
{
    const SimtKernel *kernel = map->kernel;
    const CodeScope *scope = &kernel->scopes.scope[frame->scope];
    place->kind = PLACE_SYMBOL;
    for (uint32_t i = 0; i < scope->variables; i++) {
        const ScopeVariable *v = &scope->variable[i];
        if (strcmp(v->variable->name, name) != 0) continue;
        place->address = (v->space == PTX_PARAM ? PARAM_WINDOW : LOCAL_WINDOW) + v->offset;
        place->address += (uint64_t)offset;
        place->is_in_frame = v->space != PTX_PARAM && scope->routine != NO_ROUTINE;
        return 0;
    }
    for (uint32_t i = 0; i < kernel->scopes.shared_variables; i++) {
        const ScopeVariable *v = &kernel->scopes.shared_variable[i];
        if (strcmp(v->variable->name, name) != 0) continue;
        place->address = SHARED_WINDOW + v->offset + (uint64_t)offset;
        if (v->variable->is_extern) place->address += kernel->static_shared;
        return 0;
    }
    for (uint32_t i = 0; i < kernel->module->symbols; i++) {
        const Symbol *symbol = &kernel->module->symbol[i];
        if (strcmp(symbol->variable->name, name) != 0) continue;
        place->address = symbol->address + (uint64_t)offset;
        return 0;
    }
    place->kind = PLACE_NONE;
    snprintf(place->why, sizeof place->why, "it is optimised out: this kernel does not use it");
    return -1;
}

int register_find(const KernelMap *map, const Frame *frame, const char *name, Place *place)
{
    const CodeScope *scope = &map->kernel->scopes.scope[frame->scope];
    const PtxFunction *function = scope->function;
    for (uint32_t i = 0; i < function->regs; i++) {
        if (strcmp(function->reg[i].name, name) != 0 || !scope->slot[i]) continue;
        PtxType type = function->reg[i].type;
        place->kind = PLACE_REGISTER;
        place->slot = scope->slot[i];
        place->width = type == PTX_PRED ? 0 : ptx_type_bytes(type) > 4 ? 8 : 4;
        if (!place->type)
            place->type = type == PTX_PRED    ? &TYPE_OF_BOOL
                          : type == PTX_F32   ? &TYPE_OF_FLOAT
                          : type == PTX_F64   ? &TYPE_OF_DOUBLE
                          : place->width == 8 ? &TYPE_OF_UNSIGNED_LONG
                                              : &TYPE_OF_INT;
        return 0;
    }
    place->kind = PLACE_NONE;
    snprintf(place->why, sizeof place->why, "this function has no PTX register %.40s", name);
    return -1;
}

void place_of(const KernelMap *map, const Frame *frame, const Variable *variable, Place *place)
{
    *place = (Place){.type = variable->type};
    switch (variable->place) {
    case PLACE_SYMBOL:
        symbol_place(map, frame, variable->symbol, variable->offset, place);
        break;
    case PLACE_REGISTER:
        register_find(map, frame, variable->symbol, place);
        break;
    case PLACE_CONSTANT:
        place->kind = PLACE_CONSTANT, place->constant = variable->offset;
        break;
    default:
        snprintf(place->why, sizeof place->why, "%s", variable->why);
    }
}

typedef struct Wanted {
    const char *name;
    Variable found;
} Wanted;

static int name_visit(void *context, const Variable *variable)
{
    Wanted *wanted = context;
    if (strcmp(variable->name, wanted->name) != 0) return 0;
    wanted->found = *variable;
    return 1;
}

int place_find(const KernelMap *map, const Frame *frame, const char *name, Place *place)
{
    Wanted wanted = {.name = name};
    if (!symbols_variables(&map->module->symbols, frame->die, frame->pc, 1, name_visit, &wanted))
        return -1;
    place_of(map, frame, &wanted.found, place);
    return 0;
}

/* ---- from the source to instructions ---- */

static int names_file(const char *path, const char *file)
{
    size_t length, all;
    if (!path) return 0;
    length = strlen(file), all = strlen(path);
    return all >= length && !strcmp(path + all - length, file) &&
           (all == length || path[all - length - 1] == '/' || file[0] == '/');
}

/* The instruction itself, or the one after the place where lanes reconverge. */
static uint32_t after_join(const SimtKernel *kernel, uint32_t ins)
{
    return kernel->code[ins].op == OP_JOIN && ins + 1 < kernel->count ? ins + 1 : ins;
}

static int is_line(const KernelMap *map, uint32_t ins, const char *file, uint32_t line)
{
    const Ins *at = &map->kernel->code[ins];
    if (at->from >= map->kernel->origins) return 0;
    const Spot *spot = &map->spot[at->from];
    return spot->line == line && names_file(file_of(map, spot->file), file);
}

static uint32_t nearest_line(const KernelMap *map, const char *file, uint32_t line)
{
    uint32_t nearest = 0;
    for (uint32_t i = 0; i < map->kernel->origins; i++) {
        const Spot *spot = &map->spot[i];
        if (spot->line >= line && (!nearest || spot->line < nearest) &&
            names_file(file_of(map, spot->file), file))
            nearest = spot->line;
    }
    return nearest;
}

static int is_known(const KernelMap *map, const uint32_t *ins, uint32_t count, uint32_t at)
{
    const SimtKernel *kernel = map->kernel;
    for (uint32_t i = 0; i < count; i++) {
        const Ins *known = &kernel->code[ins[i]], *mine = &kernel->code[at];
        if (kernel->scopes.scope_of[known->from] == kernel->scopes.scope_of[mine->from] &&
            map->spot[known->from].depth == map->spot[mine->from].depth &&
            map->spot[mine->from].depth == 1)
            return 1;
    }
    return 0;
}

uint32_t line_instructions(const KernelMap *map, const char *file, uint32_t *line, uint32_t *ins,
                           uint32_t most)
{
    uint32_t count = 0, nearest = nearest_line(map, file, *line);
    if (!nearest) return 0;
    *line = nearest;
    for (uint32_t i = 0; i < map->kernel->count && count < most; i++) {
        if (!is_line(map, i, file, nearest) || (i && is_line(map, i - 1, file, nearest))) continue;
        uint32_t at = after_join(map->kernel, i);
        if (!is_known(map, ins, count, at)) ins[count++] = at;
    }
    return count;
}

uint32_t function_instructions(const KernelMap *map, const char *function, uint32_t *ins,
                               uint32_t most)
{
    const SimtKernel *kernel = map->kernel;
    uint32_t count = 0, before = UINT32_MAX;
    Frame frame[FRAMES_MOST];
    for (uint32_t i = 0; i < kernel->count && count < most; i++) {
        uint32_t from = kernel->code[i].from;
        if (from >= kernel->origins || kernel->scopes.scope_of[from] == before) continue;
        uint32_t scope = kernel->scopes.scope_of[from], end = i;
        before = scope;
        if (from && kernel->scopes.scope_of[from - 1] == scope && i) continue;
        frames_at(map, &kernel->code[i], frame);
        char plain[SYMBOL_NAME];
        demangle(kernel->scopes.scope[scope].function->name, plain, sizeof plain);
        if (strcmp(plain, function) != 0 && strcmp(frame[0].name, function) != 0 &&
            strcmp(kernel->scopes.scope[scope].function->name, function) != 0)
            continue;
        while (end + 1 < kernel->count && kernel->code[end].from < kernel->origins &&
               kernel->scopes.scope_of[kernel->code[end].from] == scope &&
               map->spot[kernel->code[end].from].line == map->spot[from].line)
            end++;
        int is_same = kernel->code[end].from < kernel->origins &&
                      kernel->scopes.scope_of[kernel->code[end].from] == scope;
        ins[count++] = after_join(kernel, is_same ? end : i);
    }
    return count;
}
