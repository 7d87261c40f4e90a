/* decode_texture.c - tex, tld4, suld and sust by texture and surface objects; no references by
 * name. */
#include <string.h>

#include "common/simulator/decode/decoder.h"

typedef struct Geometry {
    const char *name;
    uint32_t dims, layered, cube, count; /* coordinates as PTX writes them, the layer first */
} Geometry;

static const Geometry GEOMETRY[] = {{"1d", 1, 0, 0, 1},   {"2d", 2, 0, 0, 2},  {"3d", 3, 0, 0, 4},
                                    {"a1d", 1, 1, 0, 2},  {"a2d", 2, 1, 0, 4}, {"cube", 3, 0, 1, 4},
                                    {"acube", 3, 1, 1, 4}};

static const Geometry *geometry_take(Decoder *d)
{
    for (size_t i = 0; i < sizeof GEOMETRY / sizeof *GEOMETRY; i++)
        if (word_take(d, GEOMETRY[i].name)) return &GEOMETRY[i];
    refuse(d, "that kind of texture");
    return NULL;
}

/* "[object, {x, y}]" into the slots of `ins`. */
static int place_of(Decoder *d, const PtxOperand *operand, const Geometry *g, PtxType type,
                    Ins *ins)
{
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->reg == PTX_NO_REGISTER)
        return refuse(d, "textures and surfaces by name are not supported, only objects");
    const PtxOperand *at = operand->count == 1 ? &operand->element[0] : NULL;
    if (!at || at->kind != PTX_OPERAND_VECTOR || at->count != g->count)
        return refuse(d, "that number of coordinates");
    uint32_t k = 0, slot[3] = {NO_SLOT, NO_SLOT, NO_SLOT};
    ins->a = register_slot(d, operand->reg);
    uint32_t layer = g->layered ? source_of(d, &at->element[k++], PTX_B32) : NO_SLOT;
    for (uint32_t i = 0; i < g->dims; i++)
        slot[i] = source_of(d, &at->element[k++], type);
    ins->b = slot[0], ins->c = slot[1], ins->target = slot[2], ins->imm = layer;
    return d->failed ? -1 : 0;
}

static Ins *texture_emit(Decoder *d, const Ins *place, OpClass class, uint32_t aux)
{
    Ins *ins = emit(d, OP_TEXTURE, class);
    ins->a = place->a, ins->b = place->b, ins->c = place->c, ins->target = place->target;
    ins->imm = place->imm, ins->aux = aux, ins->mem = d->kernel->mems++;
    return ins;
}

/* A level, or two gradients with the first element of each axis: values in consecutive slots; the
 * upper half of Ins.imm names the first. Their sources are resolved first, because a new constant
 * or register takes a slot, too. */
static int extras_of(Decoder *d, uint32_t first, uint32_t operands, uint32_t elements, Ins *place)
{
    enum { MOST = 2 * 3 };
    uint32_t from[MOST], base = NO_SLOT;
    for (uint32_t i = 0; i < operands; i++) {
        const PtxOperand *operand = operand_at(d, first + i);
        int is_vector = operand->kind == PTX_OPERAND_VECTOR;
        if (d->failed || (is_vector && operand->count < elements) || (!is_vector && elements > 1))
            return refuse(d, "that kind of gradient or level");
        for (uint32_t k = 0; k < elements; k++)
            from[i * elements + k] =
                source_of(d, is_vector ? &operand->element[k] : operand, PTX_F32);
    }
    for (uint32_t i = 0; i < operands * elements; i++) {
        uint32_t slot = slot_new(d, WIDTH_32);
        if (i == 0) base = slot;
        emit_pseudo(d, OP_MOV_32, slot, from[i], from[i]);
    }
    place->imm = (int64_t)((uint64_t)base << 32 | (uint32_t)place->imm);
    return d->failed ? -1 : 0;
}

/* Decodes the additional operands of "level", "grad" or a component of tld4. */
static int way_of(Decoder *d, uint32_t way, const Geometry *g, Ins *place)
{
    static const uint32_t MORE[] = {[TEXTURE_LEVEL] = 1, [TEXTURE_GRADIENT] = 2};
    uint32_t more = way == TEXTURE_LEVEL || way == TEXTURE_GRADIENT ? MORE[way] : 0;
    if (d->in->operands > 2u + more)
        return refuse(d, "an offset of the coordinates, or a value to compare with: add the offset "
                         "to the coordinates");
    if (d->in->operands != 2u + more) return refuse(d, "that number of operands");
    return more ? extras_of(d, 2, more, way == TEXTURE_LEVEL ? 1 : g->dims, place) : 0;
}

/* "{a, b, c, d}|p": p says whether the texels are in memory, which they always are here. */
static const PtxOperand *results_of(Decoder *d)
{
    const PtxOperand *to = operand_at(d, 0);
    if (to->kind != PTX_OPERAND_PAIR) return to;
    uint32_t there = destination_of(d, &to->element[1], PTX_PRED),
             yes = constant_slot(d, WIDTH_PRED, 1, 0);
    if (!d->failed) emit_pseudo(d, OP_MOV_P, there, yes, yes);
    return &to->element[0];
}

static int decode_tex(Decoder *d, int gather)
{
    static const char *const WAYS[] = {"level", "grad", NULL};
    static const char *const COMPONENTS[] = {"r", "g", "b", "a", NULL};
    Ins place = {0};
    int component = gather ? word_choose(d, COMPONENTS) : 0;
    int named = gather ? -1 : word_choose(d, WAYS);
    uint32_t way = gather      ? TEXTURE_GATHER
                   : named < 0 ? TEXTURE_PLAIN
                               : TEXTURE_LEVEL + (uint32_t)named;
    const Geometry *g = geometry_take(d);
    if (!g) return -1;
    if (component < 0 || (gather && (g->dims != 2 || g->cube)))
        return refuse(d, "a gather (tld4) of other than a 2D texture or its layers");
    if (!word_take(d, "v4")) return refuse(d, "a texture read that is no .v4");
    PtxType type = type_take(d), by = type_take(d);
    const PtxOperand *to = results_of(d);
    if (ptx_type_bytes(type) != 4 || (by != PTX_F32 && (by != PTX_S32 || g->cube || gather)))
        return refuse(d, "that type of a texture read");
    if (d->failed || to->count != 4) return refuse(d, "that number of results");
    if (place_of(d, operand_at(d, 1), g, by, &place) != 0 || way_of(d, way, g, &place) != 0)
        return -1;
    uint32_t v[4];
    for (uint32_t i = 0; i < 4; i++)
        v[i] = to->element[i].kind == PTX_OPERAND_SINK ? NO_SLOT
                                                       : destination_of(d, &to->element[i], type);
    if (d->failed) return -1;
    uint32_t how = TEXTURE_READ | g->dims << TEXTURE_DIMS | g->layered << TEXTURE_LAYERED;
    how |= (uint32_t)(by == PTX_F32) << TEXTURE_BY_FLOAT;
    how |= g->cube << TEXTURE_CUBE | way << TEXTURE_WAY | (uint32_t)component << TEXTURE_COMPONENT;
    Ins *ins = texture_emit(d, &place, CLASS_LOAD, how);
    memcpy(ins->v, v, sizeof v);
    ins->vector = 4, ins->bytes = 4;
    return words_finished(d);
}

static int decode_surface(Decoder *d, int store)
{
    static const char *const BOUNDARIES[] = {"trap", "clamp", "zero", NULL};
    Ins place = {0};
    if (!word_take(d, "b"))
        return refuse(d, "a formatted surface access: use suld.b or sust.b, which take bytes");
    const Geometry *g = geometry_take(d);
    if (!g) return -1;
    if (g->cube) return refuse(d, "a surface of a cube map");
    uint32_t vector = word_take(d, "v2") ? 2 : word_take(d, "v4") ? 4 : 1;
    PtxType type = type_take(d);
    int boundary = word_choose(d, BOUNDARIES);
    if (boundary < 0 || type == PTX_NONE) return refuse(d, "that surface access");
    const PtxOperand *data = operand_at(d, (uint32_t)store);
    if (d->failed || d->in->operands != 2 || data->kind != PTX_OPERAND_VECTOR ||
        data->count != vector)
        return refuse(d, "that number of operands");
    if (place_of(d, operand_at(d, (uint32_t)!store), g, PTX_B32, &place) != 0) return -1;
    uint32_t v[4] = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT};
    for (uint32_t i = 0; i < vector; i++)
        v[i] = store ? source_of(d, &data->element[i], type)
                     : destination_of(d, &data->element[i], type);
    if (d->failed) return -1;
    uint32_t how = (store ? SURFACE_WRITE : SURFACE_READ) | g->dims << TEXTURE_DIMS |
                   g->layered << TEXTURE_LAYERED | (uint32_t)boundary << SURFACE_BOUNDARY;
    Ins *ins = texture_emit(d, &place, store ? CLASS_STORE : CLASS_LOAD, how);
    memcpy(ins->v, v, sizeof v);
    if (vector == 1) ins->d = v[0];
    ins->vector = (uint8_t)vector, ins->bytes = (uint8_t)ptx_type_bytes(type);
    return words_finished(d);
}

/* txq{.level}.SIZE.b32 d, [object]{, level} and suq.SIZE.b32 d, [object]: CUDA's driver loads no
 * module with the other queries. */
static int decode_query(Decoder *d)
{
    static const char *const SIZES[] = {"width", "height", "depth", NULL};
    int level = word_take(d, "level"), size = word_choose(d, SIZES);
    if (size < 0)
        return refuse(d, "a question other than for width, height and depth, with which CUDA's "
                         "driver loads no module");
    if (ptx_type_bytes(type_take(d)) != 4 || d->in->operands != 2u + (uint32_t)level)
        return refuse(d, "that form of a question for a texture's size");
    const PtxOperand *object = operand_at(d, 1);
    if (object->kind != PTX_OPERAND_ADDRESS || object->reg == PTX_NO_REGISTER)
        return refuse(d, "textures and surfaces by name are not supported, only objects");
    uint32_t of = level ? source(d, 2, PTX_U32) : constant_slot(d, WIDTH_32, 0, 0),
             to = destination(d, 0, PTX_B32), from = register_slot(d, object->reg);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_TEXTURE_QUERY, CLASS_SFU);
    ins->d = to, ins->a = from, ins->b = of, ins->aux = (uint32_t)size;
    return words_finished(d);
}

/* istypep.KIND p, object: of CUDA's objects an H200 says that none is of any kind. */
static int decode_kind(Decoder *d)
{
    static const char *const KINDS[] = {"texref", "samplerref", "surfref", NULL};
    if (word_choose(d, KINDS) < 0) return refuse(d, "that kind of an object");
    uint32_t no = constant_slot(d, WIDTH_PRED, 0, 0), to = destination(d, 0, PTX_PRED);
    source(d, 1, PTX_B64);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_MOV_P, CLASS_FREE);
    ins->d = to, ins->a = no, ins->b = no;
    return words_finished(d);
}

int decode_texture(Decoder *d)
{
    const char *name = d->in->word[0];
    if (strcmp(name, "txq") == 0 || strcmp(name, "suq") == 0) return decode_query(d);
    if (strcmp(name, "istypep") == 0) return decode_kind(d);
    if (strcmp(name, "sured") == 0)
        return refuse(d, "a reduction on a surface: keep what is added to in global memory, and "
                         "use atomics there");
    if (strcmp(name, "tex") == 0) return decode_tex(d, 0);
    if (strcmp(name, "tld4") == 0) return decode_tex(d, 1);
    if (strcmp(name, "suld") == 0) return decode_surface(d, 0);
    if (strcmp(name, "sust") == 0) return decode_surface(d, 1);
    return 1;
}
