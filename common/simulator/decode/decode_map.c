/* decode_map.c - tensormap.replace, which changes a tensor map in shared or global memory, and
 * tensormap.cp_fenceproxy, which hands one on from shared to global memory. */
#include <string.h>

#include "common/simulator/core/tensor_map.h"
#include "common/simulator/decode/decoder.h"

typedef struct Field {
    const char *name;
    TensorMapField field;
    int several, wide, constant; /* an ordinal precedes the value; 64 bits; no register */
} Field;

static const Field FIELDS[] = {{"global_address", MAP_ADDRESS, 0, 1, 0},
                               {"rank", MAP_RANK, 0, 0, 0},
                               {"box_dim", MAP_BOX, 1, 0, 0},
                               {"global_dim", MAP_DIM, 1, 0, 0},
                               {"global_stride", MAP_STRIDE, 1, 1, 0},
                               {"element_stride", MAP_ELEMENT_STRIDE, 1, 0, 0},
                               {"elemtype", MAP_TYPE, 0, 0, 1},
                               {"interleave_layout", MAP_INTERLEAVE, 0, 0, 1},
                               {"swizzle_mode", MAP_SWIZZLE, 0, 0, 1},
                               {"fill_mode", MAP_FILL, 0, 0, 1}};

static const Field *field_take(Decoder *d)
{
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
        if (word_take(d, FIELDS[i].name)) return &FIELDS[i];
    refuse(d, "that field of a tensor map");
    return NULL;
}

/* Modes that the simulated accelerator does not support are refused here, where the value is
 * known. */
static int value_check(Decoder *d, const Field *field, uint32_t operand)
{
    const PtxOperand *value = operand_at(d, operand);
    if (!field->constant || d->failed) return d->failed ? -1 : 0;
    if (value->kind != PTX_OPERAND_INTEGER) return refuse(d, "a mode that is no constant");
    if (field->field == MAP_INTERLEAVE && value->integer)
        return refuse(d, "an interleaved layout: use 0 (no interleave)");
    if (value->integer < 0 || value->integer > (field->field == MAP_TYPE ? 12 : 3))
        return refuse(d, "that value of a tensor map's field");
    return 0;
}

/* tensormap.replace.tile.FIELD{.global|.shared::cta}.b1024.TYPE [map], {ordinal,} value */
static int decode_replace(Decoder *d)
{
    word_take(d, "replace");
    if (!word_take(d, "tile")) return refuse(d, "a change of an im2col map: encode it on the host");
    const Field *field = field_take(d);
    if (!field) return -1;
    PtxSpace space = word_take(d, "shared::cta") || word_take(d, "shared") ? PTX_SHARED
                     : word_take(d, "global")                              ? PTX_GLOBAL
                                                                           : PTX_SPACE_NONE;
    word_take(d, "b1024");
    PtxType type = type_take(d);
    uint32_t last = field->several ? 2 : 1;
    int64_t ordinal = 0;
    if (FEATURE_NEED(d, tma) != 0) return -1;
    if (d->in->operands != last + 1 || type != (field->wide ? PTX_B64 : PTX_B32))
        return refuse(d, "that form of tensormap.replace");
    if (field->several) ordinal = operand_at(d, 1)->integer;
    if (field->several && (operand_at(d, 1)->kind != PTX_OPERAND_INTEGER || ordinal < 0 ||
                           ordinal >= TENSOR_MAP_RANK - (field->field == MAP_STRIDE)))
        return refuse(d, "that dimension of a tensor map");
    if (value_check(d, field, last) != 0) return -1;
    uint32_t value = source(d, last, type);
    if (d->failed) return -1;
    Ins *ins = emit(d, OP_MAP_REPLACE, CLASS_BARRIER);
    if (address_of(d, &d->in->operand[0], space, ins) != 0) return -1;
    ins->b = value, ins->bytes = (uint8_t)ptx_type_bytes(type);
    ins->aux = (uint32_t)field->field | (uint32_t)ordinal << 8;
    return words_finished(d);
}

/* tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned
 * [to], [from], 128 */
static int decode_publish(Decoder *d)
{
    Ins from = {0};
    for (uint32_t i = 1; i < d->in->words; i++)
        d->used |= 1u << i;
    if (FEATURE_NEED(d, tma) != 0) return -1;
    if (d->in->operands != 3 || d->in->operand[2].kind != PTX_OPERAND_INTEGER ||
        d->in->operand[2].integer != TENSOR_MAP_BYTES)
        return refuse(d, "that form of tensormap.cp_fenceproxy");
    if (address_of(d, &d->in->operand[1], PTX_SHARED, &from) != 0) return -1;
    Ins *ins = emit(d, OP_MAP_PUBLISH, CLASS_BARRIER);
    if (address_of(d, &d->in->operand[0], PTX_GLOBAL, ins) != 0) return -1;
    ins->b = from.a, ins->c = from.base64, ins->target = (uint32_t)from.imm;
    d->kernel->traits.has_fences = d->kernel->traits.is_ordered = 1;
    return words_finished(d);
}

int decode_map_change(Decoder *d)
{
    if (strcmp(d->in->word[0], "tensormap") != 0) return 1;
    if (d->in->words > 1 && strcmp(d->in->word[1], "replace") == 0) return decode_replace(d);
    if (d->in->words > 1 && strcmp(d->in->word[1], "cp_fenceproxy") == 0) return decode_publish(d);
    return refuse(d, "that tensormap instruction");
}
