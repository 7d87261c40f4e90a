/* decode_bulk.c - cp.async.bulk: copies by the tensor memory accelerator, of contiguous bytes or of
 * a box of a tensor; cp.reduce.async.bulk, which combines them with the destination. */
#include <stdio.h>
#include <string.h>

#include "common/simulator/core/async.h"
#include "common/simulator/decode/decoder.h"

static int place_read(Decoder *d, const PtxOperand *operand, PtxSpace space, Place *place)
{
    Ins at = {0};
    PtxOperand plain = *operand; /* without the coordinates that follow a tensor map */
    plain.element = NULL, plain.count = 0;
    if (address_of(d, &plain, space, &at) != 0) return -1;
    *place = (Place){.slot = at.a, .base64 = at.base64, .imm = at.imm};
    if (at.space == PTX_PARAM) place->imm += (int64_t)PARAM_WINDOW; /* by the parameter's name */
    return 0;
}

/* "[map, {x, y}]" */
static int tensor_read(Decoder *d, const PtxOperand *operand, BulkPlan *plan)
{
    const PtxOperand *at = operand->count == 1 ? &operand->element[0] : NULL;
    if (operand->kind != PTX_OPERAND_ADDRESS || !at || at->kind != PTX_OPERAND_VECTOR ||
        at->count != plan->rank)
        return refuse(d, "a tensor without its %u coordinates", plan->rank);
    for (uint32_t i = 0; i < plan->rank; i++)
        plan->coordinate[i] = source_of(d, &at->element[i], PTX_S32);
    return place_read(d, operand, PTX_SPACE_NONE,
                      plan->kind == BULK_STORE ? &plan->to : &plan->from);
}

static int offsets_read(Decoder *d, const PtxOperand *operand, BulkPlan *plan)
{
    if (operand->kind != PTX_OPERAND_VECTOR || operand->count + 2 != plan->rank)
        return refuse(d, "im2col without its offsets");
    for (uint32_t i = 0; i < operand->count; i++) {
        PtxType type = register_type(d, &operand->element[i]);
        plan->offset[i] = source_of(d, &operand->element[i], type == PTX_NONE ? PTX_U16 : type);
    }
    return d->failed ? -1 : 0;
}

static int plan_emit(Decoder *d, const BulkPlan *plan)
{
    SimtKernel *kernel = d->kernel;
    kernel->plans.bulk =
        grow(d, kernel->plans.bulk, kernel->plans.bulks, &d->bulk_room, sizeof *kernel->plans.bulk);
    if (d->failed) return -1;
    kernel->plans.bulk[kernel->plans.bulks] = *plan;
    int stores = plan->kind == BULK_STORE, sends = plan->kind == BULK_VALUES;
    Ins *ins = sends ? emit(d, OP_VALUES_SEND, CLASS_SHARED_STORE)
                     : emit(d, OP_BULK_COPY, stores ? CLASS_STORE : CLASS_LOAD);
    if (d->failed) return -1;
    ins->aux = kernel->plans.bulks++;
    ins->bytes = 16;
    /* Registers that the scoreboard tracks; the instruction has no result. */
    ins->a = plan->to.slot, ins->b = plan->from.slot;
    ins->c = sends ? plan->value[0] : plan->rank ? plan->coordinate[0] : plan->bytes;
    if (sends) ins->b = plan->barrier.slot;
    if (plan->kind == BULK_PREFETCH) ins->a = NO_SLOT;
    ins->mem = d->kernel->mems++;
    return words_finished(d);
}

static int kind_take(Decoder *d, BulkPlan *plan)
{
    if (word_take(d, "prefetch")) {
        plan->kind = BULK_PREFETCH;
        word_take(d, "L2"), word_take(d, "global");
        return 0;
    }
    int counted = word_take(d, "mbarrier::complete_tx::bytes"),
        grouped = word_take(d, "bulk_group");
    int to_block = word_take(d, "shared::cluster"), own = word_take(d, "shared::cta"),
        global = word_take(d, "global");
    if (counted == grouped || (grouped && (to_block || !own || !global)))
        return refuse(d, "that form of a bulk copy");
    plan->kind = grouped ? BULK_STORE : global ? BULK_LOAD : BULK_BETWEEN;
    return plan->kind == BULK_BETWEEN && !(to_block && own) ? refuse(d, "that form of a bulk copy")
                                                            : 0;
}

static int mode_take(Decoder *d, BulkPlan *plan)
{
    char name[4];
    for (uint32_t rank = 1; rank <= TENSOR_MAP_RANK && !plan->rank; rank++) {
        snprintf(name, sizeof name, "%ud", rank);
        if (word_take(d, name)) plan->rank = rank;
    }
    if (!plan->rank) return refuse(d, "a tensor of no rank from 1 to 5");
    if (word_take(d, "im2col") || word_take(d, "im2col_no_offs"))
        plan->im2col = 1;
    else
        word_take(d, "tile");
    if (plan->im2col && plan->rank < 3) return refuse(d, "im2col of a rank below 3");
    return 0;
}

/* Reads the optional operands: a mask of blocks, then a cache policy for the L2. */
static int rest_read(Decoder *d, uint32_t next, BulkPlan *plan)
{
    plan->mask = NO_SLOT;
    if (word_take(d, "multicast::cluster")) plan->mask = source(d, next++, PTX_U16);
    next += (uint32_t)word_take(d, "L2::cache_hint");
    if (d->failed) return -1;
    return next == d->in->operands ? 0 : refuse(d, "that number of operands");
}

static int decode_tensor_copy(Decoder *d, BulkPlan *plan)
{
    uint32_t next = 0;
    if (mode_take(d, plan) != 0) return -1;
    if (plan->kind == BULK_LOAD && place_read(d, operand_at(d, next++), PTX_SHARED, &plan->to) != 0)
        return -1;
    if (tensor_read(d, operand_at(d, next++), plan) != 0) return -1;
    if (plan->kind == BULK_LOAD &&
        place_read(d, operand_at(d, next++), PTX_SHARED, &plan->barrier) != 0)
        return -1;
    if (plan->kind == BULK_STORE &&
        place_read(d, operand_at(d, next++), PTX_SHARED, &plan->from) != 0)
        return -1;
    if (plan->im2col && plan->kind != BULK_STORE &&
        offsets_read(d, operand_at(d, next++), plan) != 0)
        return -1;
    return rest_read(d, next, plan) == 0 ? plan_emit(d, plan) : -1;
}

static int decode_row_copy(Decoder *d, BulkPlan *plan)
{
    uint32_t next = 0;
    PtxSpace to = plan->kind == BULK_STORE ? PTX_GLOBAL : PTX_SHARED,
             from =
                 plan->kind == BULK_LOAD || plan->kind == BULK_PREFETCH ? PTX_GLOBAL : PTX_SHARED;
    if (plan->kind != BULK_PREFETCH && place_read(d, operand_at(d, next++), to, &plan->to) != 0)
        return -1;
    if (place_read(d, operand_at(d, next++), from, &plan->from) != 0) return -1;
    plan->bytes = source(d, next++, PTX_U32);
    if ((plan->kind == BULK_LOAD || plan->kind == BULK_BETWEEN) &&
        place_read(d, operand_at(d, next++), PTX_SHARED, &plan->barrier) != 0)
        return -1;
    return rest_read(d, next, plan) == 0 ? plan_emit(d, plan) : -1;
}

/* cp.async.bulk.commit_group, and .wait_group{.read} n: aux is 1 + n of a wait, and imm whether it
 * is only until the sources are read. */
static int decode_group(Decoder *d)
{
    int waits = word_take(d, "wait_group");
    word_take(d, "commit_group");
    int read = word_take(d, "read");
    if (waits && (d->in->operands != 1 || d->in->operand[0].kind != PTX_OPERAND_INTEGER))
        return refuse(d, "that form of cp.async.bulk.wait_group");
    Ins *ins = emit(d, OP_BULK_GROUP, waits ? CLASS_BARRIER : CLASS_INT);
    ins->aux = waits ? 1 + (uint32_t)d->in->operand[0].integer : 0;
    ins->imm = read;
    return words_finished(d);
}

/* Format of a reduction. Shared memory supports integers only; global memory also supports addition
 * of floats, and for halves minima and maxima, too. */
static int reduction_format(Decoder *d, int op, PtxType type, int global)
{
    uint32_t bytes = ptx_type_bytes(type);
    int halves = type == PTX_F16 || type == PTX_BF16, adds = op == ATOM_ADD,
        orders = adds || op == ATOM_MIN || op == ATOM_MAX;
    if (halves && global && orders) return type == PTX_F16 ? FORMAT_F16 : FORMAT_BF16;
    if (type == PTX_F32 && global && adds) return FORMAT_F32;
    if (type == PTX_F64 && global && adds) return FORMAT_F64;
    if (type_is_float(type) || (bytes != 4 && bytes != 8)) return refuse(d, "a sum of that type");
    if (type_is_signed(type)) return bytes == 8 ? FORMAT_S64 : FORMAT_S32;
    return bytes == 8 ? FORMAT_U64 : FORMAT_U32;
}

/* cp.reduce.async.bulk{.tensor}: out of shared memory, into global memory or another block's. */
int decode_bulk_reduction(Decoder *d)
{
    static const char *const NAMES[] = {"add", "min", "max", "inc", "dec",
                                        "and", "or",  "xor", NULL};
    BulkPlan plan = {.mask = NO_SLOT};
    word_take(d, "reduce"), word_take(d, "async"), word_take(d, "bulk");
    if (FEATURE_NEED(d, tma) != 0) return -1;
    int tensor = word_take(d, "tensor");
    if (kind_take(d, &plan) != 0) return -1;
    if (plan.kind != BULK_STORE && (tensor || plan.kind != BULK_BETWEEN))
        return refuse(d, "that form of a bulk copy");
    int op = word_choose(d, NAMES);
    if (op < 0) return refuse(d, "a reduction without its operation");
    plan.reduction = (Reduction){.present = 1, .op = (uint8_t)op};
    if (plan.kind == BULK_STORE) d->kernel->traits.is_ordered = 1;
    if (tensor) return decode_tensor_copy(d, &plan);
    word_take(d, "noftz");
    int format = reduction_format(d, op, type_take(d), plan.kind == BULK_STORE);
    if (format < 0 || d->failed) return -1;
    plan.reduction.format = (uint8_t)format;
    return decode_row_copy(d, &plan);
}

/* The value, or the values in braces, that are sent. */
static int values_read(Decoder *d, const PtxOperand *operand, PtxType type, BulkPlan *plan)
{
    int vector = operand->kind == PTX_OPERAND_VECTOR;
    if (plan->values != (vector ? (uint32_t)operand->count : 1))
        return refuse(d, "that number of values");
    for (uint32_t i = 0; i < plan->values; i++)
        plan->value[i] = source_of(d, vector ? &operand->element[i] : operand, type);
    return d->failed ? -1 : 0;
}

/* st.async and red.async: values to the shared memory of a block of the cluster, counted there. */
int decode_values_send(Decoder *d)
{
    static const char *const OPS[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", NULL},
                             *const VECTORS[] = {"v2", "v4", NULL},
                             *const HINTS[] = {"weak", "relaxed", "cluster"};
    BulkPlan plan = {.kind = BULK_VALUES, .mask = NO_SLOT};
    int joins = !strcmp(d->in->word[0], "red");
    word_take(d, "async");
    if (FEATURE_NEED(d, async_stores) != 0) return -1;
    for (size_t i = 0; i < sizeof HINTS / sizeof *HINTS; i++)
        word_take(d, HINTS[i]);
    word_take(d, "shared::cluster");
    if (!word_take(d, "mbarrier::complete_tx::bytes"))
        return refuse(d, "an asynchronous store that no mbarrier counts");
    int op = joins ? word_choose(d, OPS) : 0, vector = joins ? -1 : word_choose(d, VECTORS);
    PtxType type = type_take(d);
    int format = joins && op >= 0 ? reduction_format(d, op, type, 0) : 0;
    plan.values = vector < 0 ? 1 : vector ? 4 : 2, plan.width = ptx_type_bytes(type);
    if (d->failed || op < 0 || format < 0 || plan.width < 4 || plan.width * plan.values > 16 ||
        d->in->operands != 3)
        return d->failed ? -1 : refuse(d, "that form of an asynchronous store");
    plan.reduction =
        (Reduction){.present = (uint8_t)joins, .op = (uint8_t)op, .format = (uint8_t)format};
    if (place_read(d, operand_at(d, 0), PTX_SHARED, &plan.to) != 0 ||
        values_read(d, operand_at(d, 1), type, &plan) != 0 ||
        place_read(d, operand_at(d, 2), PTX_SHARED, &plan.barrier) != 0)
        return -1;
    return plan_emit(d, &plan);
}

int decode_bulk(Decoder *d)
{
    BulkPlan plan = {.mask = NO_SLOT};
    const char *what = d->in->words > 3 ? d->in->word[3] : "";
    word_take(d, "async"), word_take(d, "bulk");
    if (FEATURE_NEED(d, tma) != 0) return -1;
    if (!strcmp(what, "commit_group") || !strcmp(what, "wait_group")) return decode_group(d);
    int tensor = word_take(d, "tensor");
    if (kind_take(d, &plan) != 0) return -1;
    if (tensor && plan.kind == BULK_BETWEEN) return refuse(d, "that form of a bulk copy");
    return tensor ? decode_tensor_copy(d, &plan) : decode_row_copy(d, &plan);
}
