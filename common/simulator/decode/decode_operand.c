/* decode_operand.c - places of operands in the register file: registers, immediates, special
 * registers, addresses. */
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"

enum { LOCAL_LIMIT = 512 << 10 };

Width width_of(PtxType type)
{
    return type == PTX_PRED ? WIDTH_PRED : ptx_type_bytes(type) == 8 ? WIDTH_64 : WIDTH_32;
}

int type_is_signed(PtxType type)
{
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

int type_is_float(PtxType type)
{
    return type >= PTX_F16;
}

static void score_new(Decoder *d, uint32_t slot, Width width)
{
    uint32_t need = slot / 4 + 1;
    while (need > d->score_room) {
        uint32_t room = d->score_room ? d->score_room * 2 : 4096;
        uint16_t *score = realloc(d->score, room * sizeof *score);
        if (!score) {
            refuse(d, "out of host memory");
            return;
        }
        memset(score + d->score_room, 0, (room - d->score_room) * sizeof *score);
        d->score = score;
        d->score_room = room;
    }
    d->score[slot / 4] = d->scores < UINT16_MAX ? (uint16_t)++d->scores : 0;
    d->width[d->score[slot / 4]] = width == WIDTH_64 ? 2 : width == WIDTH_32;
}

uint32_t slot_new(Decoder *d, Width width)
{
    uint32_t slot = d->file_bytes;
    if (d->file_bytes > FILE_LIMIT) {
        if (!d->failed) refuse(d, "it uses more registers than are supported");
        return 0;
    }
    if (width == WIDTH_PRED) {
        if (d->predicate_next == d->predicate_end) {
            d->predicate_next = d->file_bytes;
            d->predicate_end = d->file_bytes += ROW_BYTES;
            d->row_width[slot / ROW_BYTES] = 0;
        }
        slot = d->predicate_next;
        d->predicate_next += 4;
    } else {
        uint8_t *row = &d->row_width[slot / ROW_BYTES];
        row[0] = row[1] = width == WIDTH_64 ? 8 : 4;
        d->file_bytes += width == WIDTH_64 ? LANES * 8 : LANES * 4;
    }
    score_new(d, slot, width);
    return slot;
}

/* Temporaries live for one PTX instruction. */
uint32_t temp_slot(Decoder *d, Width width)
{
    uint32_t *slot = width == WIDTH_PRED ? d->tempp : width == WIDTH_64 ? d->temp64 : d->temp32;
    uint32_t *used = width == WIDTH_PRED ? &d->tempsp
                     : width == WIDTH_64 ? &d->temps64
                                         : &d->temps32;
    if (*used >= TEMPS) {
        if (!d->failed) refuse(d, "it needs too many temporaries");
        return slot[0];
    }
    if (!slot[*used]) slot[*used] = slot_new(d, width);
    return slot[(*used)++];
}

uint32_t constant_slot(Decoder *d, Width width, uint64_t bits, int dynamic)
{
    SimtKernel *kernel = d->kernel;
    uint32_t bytes = width == WIDTH_PRED ? 1 : width == WIDTH_64 ? 8 : 4;
    if (width == WIDTH_32) bits = (uint32_t)bits;
    /* Long functions have many constants: only the latest are searched, because a duplicate is
     * harmless. */
    uint32_t oldest = kernel->constants > 64 ? kernel->constants - 64 : 0;
    for (uint32_t i = kernel->constants; i-- > oldest;) {
        const ConstSlot *c = &kernel->constant[i];
        if (c->bits == bits && c->bytes == bytes && c->dynamic == dynamic) return c->slot;
    }
    kernel->constant =
        grow(d, kernel->constant, kernel->constants, &d->constant_room, sizeof *kernel->constant);
    if (d->failed) return 0;
    uint32_t slot = slot_new(d, width);
    if (!d->failed) d->score[slot / 4] = 0; /* always there */
    kernel->constant[kernel->constants++] =
        (ConstSlot){.bits = bits, .slot = slot, .bytes = bytes, .dynamic = dynamic};
    return slot;
}

uint32_t register_slot(Decoder *d, int32_t reg)
{
    Instance *instance = d->instance;
    if (reg < 0 || (uint32_t)reg >= instance->function->regs) {
        if (!d->failed) refuse(d, "it names a register that is not declared");
        return 0;
    }
    PtxType type = instance->function->reg[reg].type;
    if (!instance->slot[reg]) {
        instance->slot[reg] = slot_new(d, type == PTX_B128 ? WIDTH_64 : width_of(type));
        if (type == PTX_B128) slot_new(d, WIDTH_64); /* the slot that follows (upper_half) */
    }
    return instance->slot[reg];
}

PtxType register_type(Decoder *d, const PtxOperand *operand)
{
    if (operand->kind != PTX_OPERAND_REGISTER || operand->reg < 0) return PTX_NONE;
    if ((uint32_t)operand->reg >= d->instance->function->regs) return PTX_NONE;
    return d->instance->function->reg[operand->reg].type;
}

/* Values that are the same in every launch: unconfigured performance counters (%pm0 ...) and the
 * driver's parameters for CUDA's own functions. An H200 with driver 580.159 has the same values;
 * only %envreg0 differs from run to run. */
static uint32_t special_constant(Decoder *d, const char *name)
{
    static const char DRIVER[] = "%envreg", COUNTER[] = "%pm";
    enum { DRIVERS = 32, COUNTERS = 8, SIX = 1, TEN = 288 };
    int driver = strncmp(name, DRIVER, sizeof DRIVER - 1) == 0,
        counter = strncmp(name, COUNTER, sizeof COUNTER - 1) == 0;
    const char *digits = name + (driver ? sizeof DRIVER : sizeof COUNTER) - 1;
    size_t length = driver || counter ? strspn(digits, "0123456789") : 0;
    long number = length && length < 3 && !digits[length] ? strtol(digits, NULL, 10) : -1;
    if (number < 0 || number >= (driver ? DRIVERS : COUNTERS))
        return (uint32_t)(refuse(d, "the special register %s is not supported", name), 0);
    return constant_slot(d, WIDTH_32,
                         driver && number == 6    ? SIX
                         : driver && number == 10 ? TEN
                                                  : 0,
                         0);
}

static uint32_t special_slot(Decoder *d, const PtxOperand *operand)
{
    static const struct {
        const char *name;
        int base, vector;
    } TABLE[] = {{"%tid", SR_TID_X, 1},
                 {"%ntid", SR_NTID_X, 1},
                 {"%ctaid", SR_CTAID_X, 1},
                 {"%nctaid", SR_NCTAID_X, 1},
                 {"%laneid", SR_LANEID, 0},
                 {"%warpid", SR_WARPID, 0},
                 {"%nwarpid", SR_NWARPID, 0},
                 {"%smid", SR_SMID, 0},
                 {"%nsmid", SR_NSMID, 0},
                 {"%lanemask_eq", SR_MASK_EQ, 0},
                 {"%lanemask_le", SR_MASK_LE, 0},
                 {"%lanemask_lt", SR_MASK_LT, 0},
                 {"%lanemask_ge", SR_MASK_GE, 0},
                 {"%lanemask_gt", SR_MASK_GT, 0},
                 {"%dynamic_smem_size", SR_DYNAMIC_SMEM, 0},
                 {"%total_smem_size", SR_TOTAL_SMEM, 0},
                 {"%aggr_smem_size", SR_AGGR_SMEM, 0},
                 {"%gridid", SR_GRIDID, 0},
                 {"%reserved_smem_offset_cap", SR_RESERVED_CAP, 0},
                 {"%reserved_smem_offset_begin", SR_RESERVED_SMEM, 0},
                 {"%reserved_smem_offset_end", SR_RESERVED_END, 0},
                 {"%reserved_smem_offset_0", SR_RESERVED_SMEM, 0},
                 {"%reserved_smem_offset_1", SR_RESERVED_SMEM, 0},
                 {"%envreg1", SR_ENVREG1, 0},
                 {"%envreg2", SR_ENVREG2, 0},
                 {"%clusterid", SR_CLUSTERID_X, 1},
                 {"%nclusterid", SR_NCLUSTERID_X, 1},
                 {"%cluster_ctaid", SR_CLUSTER_CTAID_X, 1},
                 {"%cluster_nctaid", SR_CLUSTER_NCTAID_X, 1},
                 {"%cluster_ctarank", SR_CLUSTER_CTARANK, 0},
                 {"%cluster_nctarank", SR_CLUSTER_NCTARANK, 0}};
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (strcmp(TABLE[i].name, operand->name) != 0) continue;
        if (TABLE[i].base >= SR_CLUSTERID_X) d->kernel->traits.reads_cluster_rank = 1;
        if (TABLE[i].base == SR_RESERVED_SMEM || TABLE[i].base == SR_RESERVED_END)
            d->kernel->traits.reads_reserved = 1;
        if (TABLE[i].base == SR_ENVREG2) d->kernel->traits.reads_grid_barrier = 1;
        if (!TABLE[i].vector) return (uint32_t)TABLE[i].base * LANES * 4;
        if (operand->component >= 'x' && operand->component <= 'z')
            return (uint32_t)(TABLE[i].base + operand->component - 'x') * LANES * 4;
        if (operand->component == 'w') return constant_slot(d, WIDTH_32, 0, 0);
    }
    return special_constant(d, operand->name);
}

/* Special registers of 64 bits and predicates; the clocks are read by their own instruction. */
static uint32_t special_wide(Decoder *d, const PtxOperand *operand, Width width)
{
    int is_number = strcmp(operand->name, "%gridid") == 0, length = (int)strlen(operand->name);
    if (width == WIDTH_PRED && strcmp(operand->name, "%is_explicit_cluster") == 0)
        return (uint32_t)SR_EXPLICIT_CLUSTER * LANES * 4;
    if (width == WIDTH_64 && is_number) {
        uint32_t wide = temp_slot(d, WIDTH_64);
        emit_pseudo(d, OP_ZEXT_64, wide, (uint32_t)SR_GRIDID * LANES * 4, 0);
        return wide;
    }
    int counts = strncmp(operand->name, "%pm", 3) == 0 && length == 7;
    if (width == WIDTH_64 && (counts || strcmp(operand->name, "%current_graph_exec") == 0))
        return constant_slot(d, WIDTH_64, 0,
                             0); /* identifier of a graph launched by a kernel: there is none */
    refuse(d, "%s where %s", operand->name,
           width == WIDTH_64 ? "64 bits are wanted" : "a predicate is wanted");
    return 0;
}

static LocalSymbol *local_symbol(Decoder *d, const PtxVariable *variable)
{
    Instance *instance = d->instance;
    for (uint32_t i = 0; i < instance->symbols; i++)
        if (instance->symbol[i].variable == variable) return &instance->symbol[i];
    return NULL;
}

int local_bind(Decoder *d, Instance *instance, const PtxVariable *variable, uint64_t offset,
               PtxSpace space)
{
    instance->symbol = grow(d, instance->symbol, instance->symbols, &instance->symbol_room,
                            sizeof *instance->symbol);
    if (d->failed) return -1;
    instance->symbol[instance->symbols++] =
        (LocalSymbol){.variable = variable, .offset = offset, .space = space};
    return 0;
}

static uint64_t aligned(uint64_t at, uint64_t to)
{
    return to > 1 ? (at + to - 1) / to * to : at;
}

/* Local variables, and parameters of calls, are bytes of the thread's local memory; in a routine of
 * its frame. */
static int local_place(Decoder *d, const PtxVariable *v, uint64_t *offset)
{
    if (v->bytes > LOCAL_LIMIT || d->local_bytes > LOCAL_LIMIT)
        return refuse(d, "more than %d bytes of local memory a thread", LOCAL_LIMIT);
    *offset = d->local_bytes = aligned(d->local_bytes, v->align > 8 ? v->align : 8);
    d->local_bytes += v->bytes;
    return local_bind(d, d->instance, v, *offset, PTX_LOCAL);
}

/* In a routine a local address counts from where its frame is. */
static uint32_t framed_slot(Decoder *d, uint32_t offset)
{
    uint32_t slot = temp_slot(d, WIDTH_64);
    emit_pseudo(d, OP_ADD_64, slot, d->kernel->calls.frame_slot, offset);
    return slot;
}

static int shared_place(Decoder *d, const PtxVariable *v, uint64_t *offset, int *dynamic)
{
    *dynamic = v->bytes == 0;
    *offset = 0;
    if (*dynamic && v->align > d->dynamic_align) d->dynamic_align = v->align;
    if (*dynamic) return 0;
    for (uint32_t i = 0; i < d->shareds; i++)
        if (d->shared[i].variable == v) {
            *offset = d->shared[i].offset;
            return 0;
        }
    d->shared = grow(d, d->shared, d->shareds, &d->shared_room, sizeof *d->shared);
    if (d->failed) return -1;
    *offset = aligned(d->shared_bytes, v->align ? v->align : 1);
    if (v->bytes > (1u << 20) || *offset > (1u << 20))
        return refuse(d, "more than a MiB of shared memory");
    d->shared_bytes = *offset + v->bytes;
    d->shared[d->shareds++] = (LocalSymbol){.variable = v, .offset = *offset, .space = PTX_SHARED};
    return 0;
}

/* The variables of shared memory that operands name, each as often. */
typedef struct Named {
    const PtxVariable **variable;
    uint32_t count, room;
} Named;

static void named_find(Decoder *d, const PtxOperand *operand, Named *named)
{
    int elements = operand->kind == PTX_OPERAND_VECTOR ? (int)operand->count
                   : operand->kind == PTX_OPERAND_PAIR ? 2
                                                       : 0;
    for (int i = 0; i < elements && !d->failed; i++)
        named_find(d, &operand->element[i], named);
    const PtxVariable *v = operand->variable;
    if (elements || !v || v->space != PTX_SHARED) return;
    named->variable = grow(d, named->variable, named->count, &named->room, sizeof *named->variable);
    if (!d->failed) named->variable[named->count++] = v;
}

static int declared_before(const void *a, const void *b)
{
    uintptr_t first = (uintptr_t) * (const PtxVariable *const *)a,
              second = (uintptr_t) * (const PtxVariable *const *)b;
    return first < second ? -1 : first > second;
}

int shared_layout(Decoder *d, const PtxFunction *function)
{
    Named named = {0};
    uint64_t offset;
    int dynamic;
    for (uint32_t i = 0; i < function->instructions && !d->failed; i++)
        for (uint32_t k = 0; k < function->instruction[i].operands && !d->failed; k++)
            named_find(d, &function->instruction[i].operand[k], &named);
    if (named.count) qsort(named.variable, named.count, sizeof *named.variable, declared_before);
    for (int own = 1; own >= 0; own--)
        for (uint32_t i = 0; i < named.count && !d->failed; i++) {
            const PtxVariable *v = named.variable[i];
            int is_own = v >= function->variable && v < function->variable + function->variables;
            if (is_own == own && (!i || v != named.variable[i - 1]))
                shared_place(d, v, &offset, &dynamic);
        }
    free(named.variable);
    return d->failed ? -1 : 0;
}

/* The address of a variable in its own space. */
int symbol_address(Decoder *d, const PtxOperand *operand, PtxSpace *space, uint64_t *address,
                   int *dynamic)
{
    const PtxVariable *v = operand->variable;
    *dynamic = 0;
    if (!v) return refuse(d, "%s is no variable", operand->name ? operand->name : "the operand");
    *space = v->space;
    if (v->space == PTX_SHARED) return shared_place(d, v, address, dynamic);
    LocalSymbol *known = local_symbol(d, v);
    if (known) {
        *address = known->offset;
        *space = known->space;
        return 0;
    }
    if (v->space == PTX_LOCAL || v->space == PTX_PARAM) {
        *space = PTX_LOCAL;
        return local_place(d, v, address);
    }
    const Symbol *placed = symbol_of(d->module, v);
    if (!placed) return refuse(d, "the variable %s was not placed (is it extern?)", v->name);
    *address = placed->address;
    return 0;
}

static uint64_t immediate_bits(Decoder *d, const PtxOperand *operand, PtxType type)
{
    double value;
    float narrow;
    uint32_t bits;
    uint64_t wide;
    if (operand->kind == PTX_OPERAND_INTEGER) {
        if (type == PTX_F32 || type == PTX_F64) refuse(d, "an integer where a float is wanted");
        return (uint64_t)operand->integer;
    }
    if (type == PTX_F32 && operand->is_double) {
        memcpy(&value, &operand->float_bits, 8);
        narrow = (float)value;
        memcpy(&bits, &narrow, 4);
        return bits;
    }
    if (type == PTX_F64 && !operand->is_double) {
        bits = (uint32_t)operand->float_bits;
        memcpy(&narrow, &bits, 4);
        value = narrow;
        memcpy(&wide, &value, 8);
        return wide;
    }
    return operand->float_bits;
}

static int width_check(Decoder *d, PtxType reg, PtxType type)
{
    if (width_of(reg) == width_of(type) && reg != PTX_B128) return 0;
    if (!d->failed) refuse(d, "a register of another width than the instruction's type");
    return -1;
}

/* Only the video instructions take those (decode_video.c), which have looked at them before. */
static int is_whole(Decoder *d, const PtxOperand *operand)
{
    if (!operand->part && !operand->minus) return 1;
    refuse(d, operand->part ? "a part of a register" : "a register with a minus");
    return 0;
}

uint32_t source_of(Decoder *d, const PtxOperand *operand, PtxType type)
{
    Width width = width_of(type);
    PtxSpace space;
    uint64_t address = 0;
    int dynamic = 0;
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: {
        uint32_t slot = register_slot(d, operand->reg);
        if (!is_whole(d, operand) || d->failed ||
            width_check(d, register_type(d, operand), type) != 0)
            return 0;
        if (!operand->negated) return slot;
        if (width != WIDTH_PRED)
            return (uint32_t)(refuse(d, "a negated register that is no predicate"), 0);
        uint32_t negated = temp_slot(d, WIDTH_PRED);
        emit_pseudo(d, OP_NOT_P, negated, slot, slot);
        return negated;
    }
    case PTX_OPERAND_INTEGER:
        if (width == WIDTH_PRED) return constant_slot(d, width, operand->integer ? 1 : 0, 0);
        if (type == PTX_U16 || type == PTX_B16)
            return constant_slot(d, width, (uint16_t)operand->integer, 0);
        if (type == PTX_S16)
            return constant_slot(d, width, (uint64_t)(int64_t)(int16_t)operand->integer, 0);
        return constant_slot(d, width, immediate_bits(d, operand, type), 0);
    case PTX_OPERAND_FLOAT:
        return constant_slot(d, width, immediate_bits(d, operand, type), 0);
    case PTX_OPERAND_SPECIAL:
        return width == WIDTH_32 ? special_slot(d, operand) : special_wide(d, operand, width);
    case PTX_OPERAND_SYMBOL:
        address = operand->variable ? 0 : function_address(d->module, operand->name);
        if (address && width == WIDTH_64) return constant_slot(d, width, address, 0);
        if (symbol_address(d, operand, &space, &address, &dynamic) != 0) return 0;
        if (width == WIDTH_32 && address + (uint64_t)operand->integer > UINT32_MAX)
            return (uint32_t)(refuse(d, "a 64-bit address in a 32-bit register"), 0);
        if (width == WIDTH_32 && space == PTX_LOCAL && d->routine != NO_ROUTINE)
            return (uint32_t)(refuse(d, "a local address of 32 bits in a recursive function"), 0);
        uint32_t slot = constant_slot(d, width, address + (uint64_t)operand->integer, dynamic);
        return space == PTX_LOCAL && d->routine != NO_ROUTINE ? framed_slot(d, slot) : slot;
    default:
        refuse(d, "an operand of a kind that is not supported here");
        return 0;
    }
}

uint32_t predicate_of(Decoder *d, const PtxOperand *operand, uint32_t *negated)
{
    PtxOperand plain = *operand;
    *negated = (uint32_t)plain.negated;
    plain.negated = 0;
    return source_of(d, &plain, PTX_PRED);
}

const PtxOperand *operand_at(Decoder *d, uint32_t operand)
{
    static const PtxOperand NOTHING = {.kind = PTX_OPERAND_SINK, .reg = PTX_NO_REGISTER};
    if (operand < d->in->operands) return &d->in->operand[operand];
    refuse(d, "too few operands");
    return &NOTHING;
}

uint32_t source(Decoder *d, uint32_t operand, PtxType type)
{
    if (operand >= d->in->operands) return (uint32_t)(refuse(d, "too few operands"), 0);
    return source_of(d, &d->in->operand[operand], type);
}

int result_is_used(const Decoder *d, const PtxOperand *operand)
{
    if (operand->kind != PTX_OPERAND_REGISTER || operand->reg < 0) return 0;
    return (uint32_t)operand->reg >= d->instance->function->regs ||
           d->instance->uses[operand->reg] > 1;
}

uint32_t destination_of(Decoder *d, const PtxOperand *operand, PtxType type)
{
    if (operand->kind == PTX_OPERAND_SINK) return temp_slot(d, width_of(type));
    if (operand->kind != PTX_OPERAND_REGISTER)
        return (uint32_t)(refuse(d, "the result is no register"), 0);
    uint32_t slot = register_slot(d, operand->reg);
    if (!is_whole(d, operand)) return 0;
    return d->failed || width_check(d, register_type(d, operand), type) != 0 ? 0 : slot;
}

uint32_t wide_slot(Decoder *d, const PtxOperand *operand)
{
    int plain = operand->kind == PTX_OPERAND_REGISTER && !operand->negated && is_whole(d, operand);
    if (d->failed) return 0;
    if (!plain || register_type(d, operand) != PTX_B128)
        return (uint32_t)(refuse(d, "what is no register of 128 bits"), 0);
    return register_slot(d, operand->reg);
}

uint32_t destination(Decoder *d, uint32_t operand, PtxType type)
{
    if (operand >= d->in->operands) return (uint32_t)(refuse(d, "too few operands"), 0);
    return destination_of(d, &d->in->operand[operand], type);
}

int address_of(Decoder *d, const PtxOperand *operand, PtxSpace space, Ins *ins)
{
    uint64_t address = 0;
    int dynamic = 0;
    PtxSpace own;
    if (d->failed) return -1;
    if (operand->kind != PTX_OPERAND_ADDRESS) return refuse(d, "the operand is no address");
    ins->imm = operand->integer;
    ins->base64 = 1;
    ins->space = (uint8_t)space;
    if (operand->reg != PTX_NO_REGISTER) {
        ins->a = register_slot(d, operand->reg);
        if (d->failed) return -1;
        PtxType type = d->instance->function->reg[operand->reg].type;
        ins->base64 = ptx_type_bytes(type) == 8;
        if (!ins->base64 && (ptx_type_bytes(type) != 4 || space == PTX_GLOBAL ||
                             space == PTX_CONST || space == PTX_SPACE_NONE))
            return refuse(d, "an address in a register that is not 64 bits wide");
        return 0;
    }
    if (!operand->variable && !operand->name) {
        ins->a = constant_slot(d, WIDTH_64, 0, 0);
        return 0;
    }
    if (symbol_address(d, operand, &own, &address, &dynamic) != 0) return -1;
    if ((own == PTX_SHARED) != (space == PTX_SHARED) && space != PTX_SPACE_NONE)
        return refuse(d, "the variable %s lies in another state space", operand->name);
    if (own == PTX_LOCAL || own == PTX_PARAM) ins->space = (uint8_t)own;
    if (space == PTX_SPACE_NONE && own == PTX_SHARED) ins->space = PTX_SHARED;
    ins->base64 = own != PTX_SHARED;
    if (own == PTX_LOCAL && d->routine != NO_ROUTINE) {
        ins->a = d->kernel->calls.frame_slot;
        ins->imm += (int64_t)address;
        return 0;
    }
    ins->a = constant_slot(d, own == PTX_SHARED ? WIDTH_32 : WIDTH_64, address, dynamic);
    return 0;
}
