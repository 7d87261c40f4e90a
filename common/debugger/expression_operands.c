/* expression_operands.c - the values of an expression's operands: variables, built-in variables,
 * registers, and values printed before. */
#include <stdlib.h>
#include <string.h>

#include "common/debugger/expression_tree.h"

void value_of_type(Value *value, const Type *type, uint32_t mask)
{
    value->type = type, value->home = HOME_NONE, value->valid = mask, value->why[0] = 0;
}

static const struct {
    const char *name;
    Special first;
} DIM3[] = {{"threadIdx", SR_TID_X},
            {"blockIdx", SR_CTAID_X},
            {"blockDim", SR_NTID_X},
            {"gridDim", SR_NCTAID_X}};

static const struct {
    const char *name;
    Special number;
} SPECIALS[] = {{"%laneid", SR_LANEID},
                {"%warpid", SR_WARPID},
                {"%smid", SR_SMID},
                {"%nsmid", SR_NSMID},
                {"%gridid", SR_GRIDID}};

void special_load(const Warp *warp, Special number, Value *value, uint32_t mask)
{
    const uint32_t *slot = (const uint32_t *)(const void *)(warp->file + number * LANES * 4);
    value_of_type(value, &TYPE_OF_UNSIGNED, mask);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = slot[lane];
}

static int built_in(const Node *node, const Scene *scene, Value *value)
{
    for (size_t i = 0; i < sizeof DIM3 / sizeof *DIM3; i++)
        if (!strcmp(node->name, DIM3[i].name)) {
            value_of_type(value, &TYPE_OF_DIM3, scene->mask);
            value->home = HOME_DIM3, value->address[0] = DIM3[i].first;
            return 1;
        }
    if (!strcmp(node->name, "warpSize")) {
        value_of_type(value, &TYPE_OF_INT, scene->mask);
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->i[lane] = LANES;
        return 1;
    }
    return 0;
}

/* The frame of the current routine has a different address in each lane. */
static uint64_t frame_begin(const Scene *scene, uint32_t lane)
{
    const SimtKernel *kernel = scene->map->kernel;
    uint64_t at;
    if (!kernel->calls.frame_slot) return 0;
    memcpy(&at, scene->warp->file + kernel->calls.frame_slot + lane * 8, 8);
    return at < UINT32_MAX ? at : 0;
}

static void place_load(const Place *place, const char *name, const Scene *scene, Value *value)
{
    value_of_type(value, place->type, scene->mask);
    switch (place->kind) {
    case PLACE_SYMBOL:
        value->home = HOME_MEMORY;
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->address[lane] =
                place->address + (place->is_in_frame ? frame_begin(scene, lane) : 0);
        break;
    case PLACE_REGISTER:
        value->home = HOME_REGISTER, value->slot = place->slot, value->width = place->width;
        if (!type_is_scalar(place->type)) {
            value_no(value,
                     "'%.60s' lies in a register, and has a type that this debugger does not "
                     "read from one",
                     name);
            return;
        }
        break;
    case PLACE_CONSTANT:
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (type_is_floating(place->type))
                value->f[lane] = (double)place->constant;
            else
                value->i[lane] = place->constant;
        }
        return;
    default:
        value_no(value, "'%.60s' cannot be read: %.150s", name, place->why);
        return;
    }
    value_load(scene->warp, value, scene->mask);
    if (value->type->kind != TYPE_REFERENCE) return;
    /* A reference is what it refers to. */
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] = (uint64_t)value->i[lane];
    value->type = value->type->target, value->home = HOME_MEMORY;
    value_load(scene->warp, value, scene->mask);
}

void name_load(Node *node, Scene *scene, Value *value)
{
    const Frame *frame = &scene->frame;
    if (node->known_map != scene->map || node->known_pc != frame->pc ||
        node->known_scope != frame->scope || node->known_die != frame->die) {
        node->known_map = scene->map, node->known_pc = frame->pc;
        node->known_scope = frame->scope, node->known_die = frame->die;
        node->known_found = place_find(scene->map, frame, node->name, &node->known) == 0;
    }
    if (node->known_found) {
        place_load(&node->known, node->name, scene, value);
        return;
    }
    if (built_in(node, scene, value)) return;
    const char *problem = scene->map->module->symbols.problem;
    if (*problem)
        value_no(value, "No symbol \"%.60s\" in current context: %.120s", node->name, problem);
    else
        value_no(value, "No symbol \"%.60s\" in current context.", node->name);
}

void register_load(Node *node, const Scene *scene, Value *value)
{
    Place place = {0};
    for (size_t i = 0; i < sizeof SPECIALS / sizeof *SPECIALS; i++)
        if (!strcmp(node->name, SPECIALS[i].name)) {
            special_load(scene->warp, SPECIALS[i].number, value, scene->mask);
            return;
        }
    register_find(scene->map, &scene->frame, node->name, &place);
    place_load(&place, node->name, scene, value);
}

void history_load(const Node *node, const Scene *scene, Value *value)
{
    const ValueHistory *history = scene->history;
    uint32_t number = node->i ? (uint32_t)node->i : history ? history->count : 0;
    if (!history || !number || number > history->count) {
        value_no(value, "History has not yet reached $%u.", number ? number : 1);
        return;
    }
    value_of_type(value, history->value[number - 1].type, scene->mask);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(value->type))
            value->f[lane] = history->value[number - 1].f;
        else
            value->i[lane] = history->value[number - 1].i;
    }
}

int value_history_add(ValueHistory *history, const Type *type, int64_t i, double f)
{
    if (history->count == history->room) {
        uint32_t room = history->room ? history->room * 2 : 64;
        void *more = realloc(history->value, room * sizeof *history->value);
        if (!more) return -1;
        history->value = more, history->room = room;
    }
    history->value[history->count].type = type;
    history->value[history->count].i = i, history->value[history->count].f = f;
    return (int)++history->count;
}
