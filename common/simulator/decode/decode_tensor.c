/* decode_tensor.c - mma, wmma, ldmatrix, stmatrix and movmatrix. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/decode/decoder.h"
#include "common/simulator/core/tensor.h"

static const struct {
    const char *name;
    TensorType type;
} TYPES[] = {{"f16", TYPE_F16},  {"bf16", TYPE_BF16}, {"tf32", TYPE_TF32}, {"s8", TYPE_S8},
             {"u8", TYPE_U8},    {"f32", TYPE_F32},   {"s32", TYPE_S32},   {"f64", TYPE_F64},
             {"s4", TYPE_S4},    {"u4", TYPE_U4},     {"b1", TYPE_B1},     {"e4m3", TYPE_E4M3},
             {"e5m2", TYPE_E5M2}};

enum { WORDS_TYPES = 4 };

/* The words of the instruction, all of which must be known. */
typedef struct Words {
    TensorType type[WORDS_TYPES];
    uint32_t types, columns; /* number of layouts that are `col`, from `first_column` on */
    int layout[2], layouts;
    PtxSpace space;
    char matrix; /* a, b, c, d of wmma.load.a */
    int sparse;
} Words;

static int type_find(const char *word)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].name, word)) return (int)TYPES[i].type;
    return -1;
}

static int word_read(Decoder *d, const char *word, Words *words, TensorPlan *plan)
{
    int type = type_find(word);
    unsigned m, n, k;
    char end;
    if (type >= 0 && words->types < WORDS_TYPES)
        words->type[words->types++] = (TensorType)type;
    else if (sscanf(word, "m%un%uk%u%c", &m, &n, &k, &end) == 3)
        plan->m = m, plan->n = n, plan->k = k;
    else if ((!strcmp(word, "row") || !strcmp(word, "col")) && words->layouts < 2)
        words->layout[words->layouts++] = word[0] == 'c';
    else if (!strcmp(word, "shared") || !strcmp(word, "shared::cta"))
        words->space = PTX_SHARED;
    else if (!strcmp(word, "global"))
        words->space = PTX_GLOBAL;
    else if (strlen(word) == 1 && strchr("abcd", word[0]))
        words->matrix = word[0];
    else if (!strcmp(word, "satfinite"))
        plan->saturate = 1;
    else if (!strcmp(word, "trans"))
        plan->transposed = 1;
    else if (!strcmp(word, "xor"))
        plan->differ = 1;
    else if (!strcmp(word, "sp") || !strcmp(word, "sp::ordered_metadata"))
        words->sparse = 1;
    else if (strcmp(word, "sync") && strcmp(word, "aligned") && strcmp(word, "mma") &&
             strcmp(word, "load") && strcmp(word, "store") && strcmp(word, "m8n8") &&
             strcmp(word, "rn") && strcmp(word, "b16") && strcmp(word, "and") &&
             strcmp(word, "popc") && word[0] != 'x')
        return refuse(d, "the tensor instruction's .%s", word);
    return 0;
}

static int words_read(Decoder *d, Words *words, TensorPlan *plan)
{
    *words = (Words){.space = PTX_SPACE_NONE};
    for (uint32_t i = 1; i < d->in->words; i++) {
        if (word_read(d, d->in->word[i], words, plan) != 0) return -1;
        d->used |= 1u << i;
    }
    return 0;
}

/* Registers of one operand; each is 32 bits wide, or holds a double. */
static int fragment_read(Decoder *d, uint32_t operand, int written, TensorType type, Fragment *f)
{
    const PtxOperand *o = operand_at(d, operand);
    uint32_t count = o->kind == PTX_OPERAND_VECTOR ? o->count : 1;
    const PtxOperand *element = o->kind == PTX_OPERAND_VECTOR ? o->element : o;
    if (d->failed) return -1;
    if (count > FRAGMENT) return refuse(d, "a fragment of %u registers", count);
    *f = (Fragment){.count = count, .type = type};
    PtxType as = type == TYPE_F64 ? PTX_F64 : PTX_B32;
    for (uint32_t i = 0; i < count; i++)
        f->slot[i] = written ? destination_of(d, &element[i], as) : source_of(d, &element[i], as);
    return d->failed ? -1 : 0;
}

/* Is there a register for every element of a `rows` x `columns` matrix? Input fragments of wmma may
 * have two or four times that number: eight rows in the registers of 32. Sub-byte types may not. */
static int fragment_fits(Decoder *d, const Fragment *f, uint32_t rows, uint32_t columns, int more)
{
    uint32_t room = f->count * 32 * type_elements(f->type), size = rows * columns;
    if (room == size || (more && (room == 2 * size || room == 4 * size))) return 0;
    return refuse(d, "a fragment of %u registers for a %u x %u matrix", f->count, rows, columns);
}

static Ins *plan_emit(Decoder *d, Op op, OpClass class, const TensorPlan *plan)
{
    SimtKernel *kernel = d->kernel;
    kernel->plans.tensor = grow(d, kernel->plans.tensor, kernel->plans.tensors, &d->tensor_room,
                                sizeof *kernel->plans.tensor);
    Ins *ins = emit(d, op, class);
    if (d->failed) return ins;
    kernel->plans.tensor[kernel->plans.tensors] = *plan;
    ins->aux = kernel->plans.tensors++;
    /* Registers that the scoreboard tracks, up to its limit. */
    const Fragment *to = &plan->d, *from = plan->kind == TENSOR_STORE ? &plan->c : &plan->a;
    for (uint32_t i = 0; i < 4; i++)
        ins->v[i] = i < to->count ? to->slot[i] : NO_SLOT;
    ins->d = to->count ? to->slot[0] : NO_SLOT;
    ins->a = from->count ? from->slot[0] : NO_SLOT;
    ins->b = plan->b.count ? plan->b.slot[0] : NO_SLOT;
    ins->c = plan->c.count ? plan->c.slot[0] : NO_SLOT;
    return ins;
}

static int is_whole(TensorType type)
{
    return type == TYPE_S8 || type == TYPE_U8 || type == TYPE_S4 || type == TYPE_U4 ||
           type == TYPE_B1;
}

static int is_sum(TensorType type)
{
    return type == TYPE_F32 || type == TYPE_F16;
}

/* d, a, b, c: doubles; integers alike wide, summed in s32; eighths, in floats; floats. */
static int types_go_together(const TensorType type[4], int mma)
{
    int same = type_elements(type[1]) == type_elements(type[2]);
    if (type[1] == TYPE_F64)
        return type[0] == TYPE_F64 && type[2] == TYPE_F64 && type[3] == TYPE_F64;
    if (is_whole(type[1]))
        return is_whole(type[2]) && same && type[0] == TYPE_S32 && type[3] == TYPE_S32;
    if (is_eighth(type[1]))
        return mma && is_eighth(type[2]) && type[0] == TYPE_F32 && type[3] == TYPE_F32;
    return type[1] <= TYPE_TF32 && type[1] == type[2] && is_sum(type[0]) && is_sum(type[3]);
}

static int types_of_product(Decoder *d, const Words *words, TensorPlan *plan, TensorType type[4])
{
    /* wmma with halves names only d and c. */
    int halves = plan->kind == TENSOR_WMMA && words->types == 2;
    if (!halves && words->types != 4) return refuse(d, "that list of types");
    type[0] = words->type[0], type[3] = words->type[words->types - 1];
    type[1] = halves ? TYPE_F16 : words->type[1], type[2] = halves ? TYPE_F16 : words->type[2];
    return types_go_together(type, plan->kind == TENSOR_MMA)
               ? 0
               : refuse(d, "that combination of types");
}

/* The least k is a register of each of a quad's lanes. */
static int mma_has_shape(const TensorPlan *plan, TensorType factor)
{
    uint32_t least = 4 * type_elements(factor), deep = plan->k / least;
    if (plan->n != 8 || plan->k % least) return 0;
    if (plan->m == 8) return deep == 1 && (is_whole(factor) || factor == TYPE_F64);
    if (plan->m != 16) return 0;
    return deep == 2 || deep == 1 || (deep == 4 && factor == TYPE_F64);
}

/* Half of a is stored: one or two registers of each row of a quad's lanes. */
static int sparse_has_shape(const TensorPlan *plan, TensorType factor)
{
    uint32_t least = 4 * type_elements(factor), deep = plan->k / least;
    if (plan->m != 16 || plan->n != 8 || plan->k % least) return 0;
    return factor <= TYPE_U8 || factor == TYPE_S4 || factor == TYPE_U4
               ? deep == 2 || deep == 4
               : is_eighth(factor) && deep == 4;
}

/* Halves of bytes, and bits. */
static int is_part(TensorType type)
{
    return type == TYPE_S4 || type == TYPE_U4 || type == TYPE_B1;
}

static int wmma_has_shape(const TensorPlan *plan, TensorType type)
{
    uint32_t m = plan->m, n = plan->n, k = plan->k;
    if (type == TYPE_F64) return m == 8 && n == 8 && k == 4;
    if (is_part(type)) return m == 8 && n == 8 && k == 4 * type_elements(type);
    if (type > TYPE_F64) return 0;
    if (type == TYPE_S32 && m == 8 && n == 8) return k == 32 || k == 128;
    if (m == 16 && n == 16 && k == 8) return type == TYPE_TF32 || type == TYPE_F32;
    if (type == TYPE_TF32 || k != 16) return 0;
    return (m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32);
}

/* Volta's MMA of halves, which each group of eight lanes computes separately. */
static int is_octets(const TensorPlan *plan, TensorType factor)
{
    return plan->kind == TENSOR_MMA && factor == TYPE_F16 && plan->m == 8 && plan->n == 8 &&
           plan->k == 4;
}

static int product_has_shape(Decoder *d, const Words *words, const TensorPlan *plan,
                             TensorType factor)
{
    int octets = is_octets(plan, factor) && !words->sparse;
    int other = words->layout[0] || !words->layout[1];
    if (other && is_part(factor)) return refuse(d, "parts of bytes in a layout other than row.col");
    if (plan->kind == TENSOR_WMMA)
        return wmma_has_shape(plan, factor) && !words->sparse ? 0 : refuse(d, "that shape");
    if (other && !octets) return refuse(d, "mma in a layout other than row.col");
    if (octets || (words->sparse ? sparse_has_shape : mma_has_shape)(plan, factor)) return 0;
    return refuse(d, "that shape");
}

/* The metadata of a sparse MMA, and which lanes of each group of four have them. */
static int metadata_read(Decoder *d, TensorPlan *plan)
{
    const PtxOperand *selector = operand_at(d, 5);
    plan->metadata = source(d, 4, PTX_B32);
    if (d->failed) return -1;
    if (selector->kind != PTX_OPERAND_INTEGER || selector->integer < 0 ||
        selector->integer >= QUAD / metadata_lanes(plan))
        return refuse(d, "that choice of lanes for the metadata");
    plan->selector = (uint32_t)selector->integer;
    return 0;
}

static int fragments_read(Decoder *d, const TensorType type[4], int sparse, TensorPlan *plan)
{
    int more = plan->kind == TENSOR_WMMA && !is_part(type[1]), octets = is_octets(plan, type[1]);
    uint32_t m = octets ? OCTETS * plan->m : plan->m, n = octets ? OCTETS * plan->n : plan->n;
    if (fragment_read(d, 0, 1, type[0], &plan->d) != 0 ||
        fragment_read(d, 1, 0, type[1], &plan->a) != 0 ||
        fragment_read(d, 2, 0, type[2], &plan->b) != 0 ||
        fragment_read(d, 3, 0, type[3], &plan->c) != 0)
        return -1;
    if (fragment_fits(d, &plan->a, m, sparse ? plan->k / 2 : plan->k, more) != 0 ||
        fragment_fits(d, &plan->b, plan->k, n, more) != 0 ||
        fragment_fits(d, &plan->c, m, plan->n, 0) != 0 ||
        fragment_fits(d, &plan->d, m, plan->n, 0) != 0)
        return -1;
    return sparse ? metadata_read(d, plan) : 0;
}

/* Rejects an MMA that the machine does not have. */
static int product_needs(Decoder *d, const TensorPlan *plan, TensorType type, int sparse)
{
    if (sparse && FEATURE_NEED(d, mma_sparse) != 0) return -1;
    if (plan->kind == TENSOR_MMA && plan->m == 16 && plan->k >= 16 &&
        FEATURE_NEED(d, mma_m16n8k16) != 0)
        return -1;
    switch (type) {
    case TYPE_E4M3:
    case TYPE_E5M2:
        return FEATURE_NEED(d, mma_fp8);
    case TYPE_F64:
        return FEATURE_NEED(d, mma_f64);
    case TYPE_BF16:
    case TYPE_TF32:
        return FEATURE_NEED(d, mma_bf16);
    case TYPE_S8:
    case TYPE_U8:
    case TYPE_S4:
    case TYPE_U4:
    case TYPE_B1:
        return FEATURE_NEED(d, mma_integer);
    default:
        return plan->kind == TENSOR_WMMA || plan->m == 8 ? FEATURE_NEED(d, wmma)
                                                         : FEATURE_NEED(d, mma_m16n8);
    }
}

static int decode_product(Decoder *d, TensorKind kind)
{
    TensorPlan plan = {.kind = kind, .stride = NO_SLOT, .metadata = NO_SLOT};
    Words words;
    TensorType type[4] = {TYPE_F16, TYPE_F16, TYPE_F16, TYPE_F16};
    if (words_read(d, &words, &plan) != 0 || types_of_product(d, &words, &plan, type) != 0 ||
        product_has_shape(d, &words, &plan, type[1]) != 0 ||
        product_needs(d, &plan, type[1], words.sparse) != 0 ||
        fragments_read(d, type, words.sparse, &plan) != 0)
        return -1;
    plan.by_column = words.layout[0], plan.transposed = !words.layout[1];
    plan_emit(d,
              words.sparse                ? OP_TENSOR_SPARSE
              : is_octets(&plan, type[1]) ? OP_TENSOR_OCTETS
                                          : OP_TENSOR_PRODUCT,
              CLASS_TENSOR, &plan);
    return words_finished(d);
}

static int matrix_address(Decoder *d, uint32_t operand, PtxSpace space, Ins *address)
{
    *address = (Ins){0};
    return address_of(d, operand_at(d, operand), space, address);
}

static void address_use(Decoder *d, Ins *ins, const Ins *address)
{
    ins->a = address->a, ins->imm = address->imm, ins->base64 = address->base64,
    ins->space = address->space;
    ins->mem = d->kernel->mems++;
}

static uint32_t bytes_of(TensorType type)
{
    return type == TYPE_F64 ? 8 : 4 / type_elements(type);
}

/* Do neighbours in memory belong to one lane, as an MMA requires? In the input matrices, these are
 * elements that are multiplied with the same row or column. In accumulators, they are elements of a
 * row, except for 8 x 32, whose MMA ptxas transposes. */
static int runs_along(const TensorPlan *plan, char matrix)
{
    if (matrix == 'a') return !plan->by_column;
    if (matrix == 'b') return plan->by_column;
    return plan->by_column == (plan->n == 32);
}

/* The access that ptxas generates for a load or store, observed in SASS for sm_75, sm_80 and sm_90.
 * Returns the bytes per access and lane. Halves in the other layout are transposed in registers;
 * bytes are loaded one by one. */
static uint32_t way_find(TensorPlan *plan, char matrix, TensorType type, PtxSpace space)
{
    enum { TILE_LINES = 8, ROW_BYTES = 16 };
    uint32_t bytes = bytes_of(type), is_factor = matrix < 'c', line_bytes, width;
    int along = bytes == 2 || runs_along(plan, matrix);
    plan->lines = plan->by_column ? plan->columns : plan->rows;
    line_bytes = (plan->by_column ? plan->rows : plan->columns) * bytes;
    plan->way = !along                                           ? WAY_ACROSS
                : is_factor && bytes <= 2 && space == PTX_SHARED ? WAY_ROWS
                                                                 : WAY_ALONG;
    plan->run = is_factor ? (bytes == 1 ? 4 : 1) : 2;
    if (plan->way == WAY_ROWS) {
        plan->tiles = plan->lines / TILE_LINES * (line_bytes / ROW_BYTES);
        if (plan->tiles > 2 * bytes) plan->tiles = 2 * bytes;
        plan->accesses = plan->lines * line_bytes / (TILE_LINES * ROW_BYTES * plan->tiles);
        return ROW_BYTES;
    }
    width = along ? (bytes <= 2 ? 4 : is_factor ? bytes : 2 * bytes) : bytes;
    plan->accesses = plan->lines * line_bytes / (LANES * width);
    return width;
}

/* A line of an input matrix, all of k, as an equal number of bytes of halves: sub-byte types are
 * moved like these. */
static int lines_of_halves(Decoder *d, Words *words, TensorPlan *plan)
{
    uint32_t each = type_elements(words->type[0]) / type_elements(TYPE_F16);
    if (words->matrix > 'b' || words->layout[0] != (words->matrix == 'b'))
        return refuse(d, "parts of bytes in a layout other than row.col");
    plan->by_column = 0, plan->packed = each;
    plan->rows = plan->m, plan->columns = plan->k / each;
    words->type[0] = TYPE_F16;
    return 0;
}

/* wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {...}, [p], stride and its store. */
static int decode_matrix(Decoder *d, int store)
{
    TensorPlan plan = {.kind = store ? TENSOR_STORE : TENSOR_LOAD,
                       .stride = NO_SLOT,
                       .metadata = NO_SLOT,
                       .packed = 1};
    Words words;
    Ins address;
    if (words_read(d, &words, &plan) != 0) return -1;
    if (!plan.m || words.types != 1 || words.layouts != 1 || !words.matrix)
        return refuse(d, "that form of wmma");
    if (!wmma_has_shape(&plan, words.type[0])) return refuse(d, "that shape");
    plan.by_column = words.layout[0];
    plan.rows = words.matrix == 'b' ? plan.k : plan.m;
    plan.columns = words.matrix == 'a' ? plan.k : plan.n;
    int more = words.matrix < 'c' && !is_part(words.type[0]);
    if (is_part(words.type[0]) && lines_of_halves(d, &words, &plan) != 0) return -1;
    Fragment *f = store ? &plan.c : &plan.d;
    if (fragment_read(d, store ? 1 : 0, !store, words.type[0], f) != 0 ||
        fragment_fits(d, f, plan.rows, plan.columns, more) != 0 ||
        matrix_address(d, store ? 0 : 1, words.space, &address) != 0)
        return -1;
    if (d->in->operands > 2) plan.stride = source(d, 2, PTX_U32);
    if (d->failed) return -1;
    uint32_t width = way_find(&plan, words.matrix, words.type[0], words.space);
    OpClass class = words.space == PTX_SHARED ? store ? CLASS_SHARED_STORE : CLASS_SHARED_LOAD
                    : store                   ? CLASS_STORE
                                              : CLASS_LOAD;
    Ins *ins = plan_emit(d, OP_TENSOR_MATRIX, class, &plan);
    ins->bytes = (uint8_t)width;
    address_use(d, ins, &address);
    return words_finished(d);
}

/* ldmatrix, stmatrix: up to four matrices of 8 x 8 halves, with one row address per lane. */
static int decode_rows(Decoder *d, int store)
{
    TensorPlan plan = {
        .kind = store ? TENSOR_STORE : TENSOR_LDMATRIX, .stride = NO_SLOT, .metadata = NO_SLOT};
    Fragment *f = store ? &plan.c : &plan.d;
    Words words;
    Ins address;
    if (FEATURE_NEED(d, ldmatrix) != 0 || (store && FEATURE_NEED(d, stmatrix) != 0) ||
        words_read(d, &words, &plan) != 0 ||
        fragment_read(d, (uint32_t)store, !store, TYPE_F16, f) != 0 ||
        matrix_address(d, (uint32_t)!store, words.space, &address) != 0)
        return -1;
    if (f->count != 1 && f->count != 2 && f->count != 4)
        return refuse(d, "%s of %u matrices", store ? "stmatrix" : "ldmatrix", f->count);
    Ins *ins = plan_emit(d, store ? OP_STMATRIX : OP_LDMATRIX,
                         store ? CLASS_SHARED_STORE : CLASS_SHARED_LOAD, &plan);
    ins->bytes = 16;
    address_use(d, ins, &address);
    return words_finished(d);
}

static int decode_movmatrix(Decoder *d)
{
    TensorPlan plan = {0};
    Words words;
    uint32_t dst = destination(d, 0, PTX_B32), from = source(d, 1, PTX_B32);
    if (d->failed || FEATURE_NEED(d, ldmatrix) != 0 || words_read(d, &words, &plan) != 0) return -1;
    if (!plan.transposed) return refuse(d, "movmatrix without .trans");
    Ins *ins = emit(d, OP_MOVMATRIX, CLASS_SHARED_LOAD);
    ins->d = dst, ins->a = from;
    return words_finished(d);
}

int decode_tensor(Decoder *d)
{
    const char *name = d->in->word[0], *what = d->in->words > 1 ? d->in->word[1] : "";
    if (!strcmp(name, "mma")) return decode_product(d, TENSOR_MMA);
    if (!strcmp(name, "ldmatrix")) return decode_rows(d, 0);
    if (!strcmp(name, "stmatrix")) return decode_rows(d, 1);
    if (!strcmp(name, "movmatrix")) return decode_movmatrix(d);
    if (strcmp(name, "wmma")) return 1;
    if (FEATURE_NEED(d, wmma) != 0) return -1;
    if (!strcmp(what, "mma")) return decode_product(d, TENSOR_WMMA);
    return decode_matrix(d, !strcmp(what, "store"));
}
