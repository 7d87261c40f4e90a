/* sass.c - decoder of SASS instructions, as far as spills and costs require it.
 *
 * An instruction has 16 bytes. In the first eight bytes, bits 0 to 11 are the opcode, 12 to 15 the
 * predicate, and 16 to 23 the result. The operands are in bits 24 to 31 and 32 to 39, and in bits 0
 * to 7 of the last eight bytes. This was inferred from the output of nvdisasm for kernels compiled
 * for sm_75 to sm_90. Loops are natural loops: a branch back to an instruction that dominates the
 * branch. They are found as branches to a basic block that a depth-first traversal has not left. */
#include "common/simulator/sass/sass.h"

#include <stdlib.h>
#include <string.h>

enum {
    INS_BYTES = 16,
    COUNTERS = 6,
    STACK_POINTER = 1, /* the register */
    NO_REGISTER = 255,
    ALWAYS = 7, /* the predicate */
    NOWHERE = -1,
    MOST_LOOPS = 4096,
    LAST_USE = 1 << 21 /* bit of the last eight bytes of a local load */
};

/* Opcodes with the only form in which they occur. */
enum {
    LDL = SASS_WITH_FORM(SASS_LDL, SASS_FORM_IMMEDIATE),
    STL = SASS_WITH_FORM(SASS_STL, SASS_FORM_REGISTERS),
    BRA = SASS_WITH_FORM(SASS_BRA, SASS_FORM_IMMEDIATE),
    EXIT = SASS_WITH_FORM(SASS_EXIT, SASS_FORM_IMMEDIATE),
    RET = SASS_WITH_FORM(SASS_RET, SASS_FORM_IMMEDIATE)
};

/* A basic block: only its last instruction branches, only its first is a target. */
typedef struct Piece {
    uint32_t first, last;
    int32_t next[2];
    uint32_t tried;      /* number of `next` that the traversal has tried */
    uint32_t loop, size; /* the smallest loop around it */
    uint8_t seen, open, inside;
} Piece;

typedef struct Flow {
    const SassText *text;
    SassCode *code;
    size_t *work;
    uint32_t *piece_of; /* per instruction */
    Piece *piece;
    uint32_t pieces;
    uint32_t *stack;
    uint32_t *from, *from_begin; /* predecessors of each block, stored as consecutive lists */
} Flow;

int sass_is_known(uint32_t sm)
{
    return sm >= 75 && sm < 100;
}

void sass_free(SassCode *code)
{
    free(code->ins), free(code->loop_line);
    *code = (SassCode){0};
}

/* ---- instructions ---- */

static uint64_t word_at(const SassText *text, uint32_t number, int high)
{
    uint64_t word;
    memcpy(&word, text->bytes + (size_t)number * INS_BYTES + (high ? 8 : 0), sizeof word);
    return word;
}

static uint32_t operation(const SassText *text, uint32_t number)
{
    return (uint32_t)word_at(text, number, 0) & 0xfff;
}

/* Does it only branch away from the usual code if a warp's lanes have diverged although all should
 * be active? */
static int is_predicated_on_true(const SassText *text, uint32_t number)
{
    enum { PARTED = 1 << 27 }; /* bit of the last eight bytes */
    return operation(text, number) == BRA && word_at(text, number, 1) & PARTED;
}

static int is_conditional(const SassText *text, uint32_t number)
{
    return (word_at(text, number, 0) >> 12 & 15) != ALWAYS;
}

/* The instruction that a branch goes to, or NOWHERE. */
static int64_t target_of(const SassText *text, uint32_t number)
{
    uint64_t word = word_at(text, number, 0);
    int64_t bytes = (int32_t)(word >> 32);
    if (operation(text, number) != BRA || is_predicated_on_true(text, number)) return NOWHERE;
    if (text->sm >= 90) bytes = (int64_t)(bytes >> 2) * 1024 + (int64_t)(word >> 16 & 255) * 4;
    int64_t to = (int64_t)number + 1 + bytes / INS_BYTES;
    return bytes % INS_BYTES || to < 0 || to >= text->count ? NOWHERE : to;
}

static int ends_piece(const SassText *text, uint32_t number)
{
    uint32_t op = operation(text, number);
    return (op == BRA && !is_predicated_on_true(text, number)) || op == EXIT || op == RET;
}

/* Control information for the scheduler: bits 41 to 57 of the last eight bytes. */
static void control_read(const SassText *text, uint32_t number, SassIns *ins)
{
    uint64_t control = word_at(text, number, 1) >> 41;
    uint32_t made = control >> 5 & 7, read = control >> 8 & 7;
    ins->op = (uint16_t)operation(text, number);
    ins->guarded = (uint8_t)is_conditional(text, number);
    ins->stall = control & 15;
    ins->waits = control >> 11 & 63;
    ins->made = (uint8_t)(made < COUNTERS ? made + 1 : 0);
    ins->read = (uint8_t)(read < COUNTERS ? read + 1 : 0);
}

/* Number of register operands of a float or integer instruction; 0: other instructions read their
 * registers differently. */
static uint32_t places_of(uint32_t kind)
{
    switch (kind) {
    case SASS_FMUL:
    case SASS_FADD:
    case SASS_SEL:
    case SASS_FMNMX:
    case SASS_ISETP:
        return 2;
    case SASS_FFMA:
    case SASS_HFMA2_MMA:
    case SASS_IMAD:
    case SASS_IMAD_WIDE:
    case SASS_IDP:
    case SASS_IADD3:
    case SASS_LEA:
    case SASS_LOP3:
    case SASS_PRMT:
    case SASS_SHF:
        return 3;
    default:
        return 0;
    }
}

/* The registers of such an instruction, by operand position; NO_REGISTER: none. If the third
 * operand is no register, its bits hold the second one. */
static void operands_find(const SassText *text, uint32_t number, uint32_t places,
                          uint8_t operand[3])
{
    enum { REGISTERS = 1, NOT_SECOND = 4, NOT_SECOND_END = 6 }; /* forms */
    uint64_t low = word_at(text, number, 0), high = word_at(text, number, 1);
    uint32_t form = low >> 9 & 7;
    uint8_t second = low >> 32 & 255, third = high & 255;
    operand[0] = low >> 24 & 255;
    if (form == REGISTERS) operand[1] = second;
    if (form == REGISTERS && places == 3) operand[2] = third;
    if (form == REGISTERS || places < 3) return;
    operand[form >= NOT_SECOND && form <= NOT_SECOND_END ? 2 : 1] = third;
}

/* The register file has two banks, for even and odd numbers, which deliver one register each per
 * cycle: counts the registers that an instruction reads from each bank. A register marked for reuse
 * stays in the operand cache for the next instruction with the same register in the same position.
 * A register that is named twice is read once; a 64-bit addend is read from both banks. */
static void fetches_count(const SassText *text, uint32_t number, uint8_t kept[3],
                          uint8_t fetches[2])
{
    uint64_t high = word_at(text, number, 1);
    uint32_t kind = word_at(text, number, 0) & SASS_OPCODE_MASK, places = places_of(kind);
    uint8_t operand[3] = {NO_REGISTER, NO_REGISTER, NO_REGISTER}, fetched[3];
    if (places) operands_find(text, number, places, operand);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t own = operand[i];
        int is_here =
            own == kept[i] || (i > 0 && own == fetched[0]) || (i > 1 && own == fetched[1]);
        fetched[i] = is_here ? NO_REGISTER : own;
        if (fetched[i] == NO_REGISTER) continue;
        fetches[own % 2]++;
        if (kind == SASS_IMAD_WIDE && i == 2) fetches[own % 2 ^ 1]++;
    }
    for (uint32_t i = 0; i < 3; i++)
        if (!places || operand[i] != NO_REGISTER)
            kept[i] = high >> 58 >> i & 1 ? operand[i] : NO_REGISTER;
}

static void access_read(const SassText *text, uint32_t number, SassIns *ins)
{
    uint64_t word = word_at(text, number, 0);
    static const uint8_t BYTES[] = {1, 1, 2, 2, 4, 8, 16, 0};
    uint32_t op = operation(text, number), size = word_at(text, number, 1) >> 9 & 7;
    if ((op & SASS_OPCODE_MASK) == SASS_LDS) ins->bytes = BYTES[size];
    if ((op != LDL && op != STL) || (word >> 24 & 255) != STACK_POINTER) return;
    ins->kind = op == LDL ? SASS_KIND_LOCAL_LOAD : SASS_KIND_LOCAL_STORE;
    ins->bytes = size == 6 ? 16 : size == 5 ? 8 : 4;
    ins->offset = (int32_t)((int64_t)word >> 40);
    ins->last = op == LDL && word_at(text, number, 1) & LAST_USE;
}

static int names(const SassText *text, uint32_t number, uint32_t first, uint32_t registers)
{
    uint64_t low = word_at(text, number, 0), high = word_at(text, number, 1);
    uint32_t operand[] = {low >> 24 & 255, low >> 32 & 255, high & 255};
    for (int i = 0; i < 3; i++)
        if (operand[i] - first < registers) return 1;
    return 0;
}

/* The first reader of a loaded value, or the last writer of a stored value. */
static void other_find(Flow *flow, uint32_t number)
{
    const SassText *text = flow->text;
    SassIns *ins = &flow->code->ins[number];
    const Piece *piece = &flow->piece[flow->piece_of[number]];
    uint64_t word = word_at(text, number, 0);
    uint32_t registers = ins->bytes / 4u, k = number;
    ins->other = number;
    if (ins->kind == SASS_KIND_LOCAL_LOAD) {
        while (k < piece->last && *flow->work) {
            --*flow->work;
            if (!names(text, ++k, word >> 16 & 255, registers)) continue;
            ins->other = k;
            return;
        }
        return;
    }
    while (k > piece->first && *flow->work) {
        --*flow->work;
        if ((word_at(text, --k, 0) >> 16 & 255) != (word >> 32 & 255) ||
            flow->code->ins[k].kind == SASS_KIND_LOCAL_STORE)
            continue;
        ins->other = k;
        return;
    }
}

/* ---- basic blocks ---- */

static int pieces_find(Flow *flow)
{
    const SassText *text = flow->text;
    unsigned char *begins = calloc((size_t)text->count + 1, 1);
    flow->piece_of = calloc(text->count, sizeof *flow->piece_of);
    if (!begins || !flow->piece_of) {
        free(begins);
        return -1;
    }
    begins[0] = 1;
    for (uint32_t i = 0; i < text->count; i++) {
        int64_t to = target_of(text, i);
        if (ends_piece(text, i)) begins[i + 1] = 1;
        if (to != NOWHERE) begins[to] = 1;
    }
    for (uint32_t i = 0; i < text->count; i++) {
        flow->pieces += begins[i];
        flow->piece_of[i] = flow->pieces - 1;
    }
    free(begins);
    flow->piece = calloc(flow->pieces, sizeof *flow->piece);
    if (!flow->piece) return -1;
    for (uint32_t i = text->count; i-- > 0;)
        flow->piece[flow->piece_of[i]].first = i;
    for (uint32_t p = 0; p < flow->pieces; p++)
        flow->piece[p].last = p + 1 < flow->pieces ? flow->piece[p + 1].first - 1 : text->count - 1;
    return 0;
}

/* Successors of each basic block, and its predecessors. */
static int paths_find(Flow *flow)
{
    const SassText *text = flow->text;
    flow->from = calloc(2 * (size_t)flow->pieces + 1, sizeof *flow->from);
    flow->from_begin = calloc((size_t)flow->pieces + 2, sizeof *flow->from_begin);
    flow->stack = calloc((size_t)flow->pieces + 1, sizeof *flow->stack);
    if (!flow->from || !flow->from_begin || !flow->stack) return -1;
    for (uint32_t p = 0; p < flow->pieces; p++) {
        Piece *piece = &flow->piece[p];
        int64_t to = target_of(text, piece->last);
        int goes_on = !ends_piece(text, piece->last) || is_conditional(text, piece->last);
        piece->next[0] = to == NOWHERE ? NOWHERE : (int32_t)flow->piece_of[to];
        piece->next[1] = goes_on && p + 1 < flow->pieces ? (int32_t)p + 1 : NOWHERE;
        for (int k = 0; k < 2; k++)
            if (piece->next[k] != NOWHERE) flow->from_begin[piece->next[k] + 2]++;
    }
    for (uint32_t p = 0; p < flow->pieces; p++)
        flow->from_begin[p + 2] += flow->from_begin[p + 1];
    for (uint32_t p = 0; p < flow->pieces; p++)
        for (int k = 0; k < 2; k++) {
            int32_t next = flow->piece[p].next[k];
            if (next != NOWHERE) flow->from[flow->from_begin[next + 1]++] = p;
        }
    return 0;
}

/* ---- loops ---- */

/* The loop that the branch at the end of `tail` closes: all from which it is reached without
 * passing `head`. */
static void loop_add(Flow *flow, uint32_t head, uint32_t tail)
{
    SassCode *code = flow->code;
    uint32_t depth = 0, size = 1, number = code->loops + 1;
    if (head == tail && flow->piece[head].first == flow->piece[head].last) return; /* a trap */
    if (code->loops == MOST_LOOPS || *flow->work < flow->pieces) return;
    *flow->work -= flow->pieces;
    for (uint32_t p = 0; p < flow->pieces; p++)
        flow->piece[p].inside = 0;
    flow->piece[head].inside = 1;
    if (!flow->piece[tail].inside) flow->stack[depth++] = tail, flow->piece[tail].inside = 1;
    while (depth) {
        uint32_t p = flow->stack[--depth];
        size++;
        for (uint32_t k = flow->from_begin[p]; k < flow->from_begin[p + 1]; k++) {
            Piece *before = &flow->piece[flow->from[k]];
            if (before->inside) continue;
            before->inside = 1;
            flow->stack[depth++] = flow->from[k];
        }
    }
    code->loop_line[code->loops++] = flow->text->line[flow->piece[tail].last];
    for (uint32_t p = 0; p < flow->pieces; p++) {
        Piece *piece = &flow->piece[p];
        if (!piece->inside || (piece->loop && piece->size <= size)) continue;
        piece->loop = number, piece->size = size;
    }
}

/* Traverses depth first from the first instruction; an edge to a block that is still open is a back
 * edge. */
static void loops_find(Flow *flow, uint32_t (*back)[2], uint32_t *backs)
{
    uint32_t depth = 0;
    flow->stack[depth++] = 0;
    flow->piece[0].seen = flow->piece[0].open = 1;
    while (depth) {
        uint32_t p = flow->stack[depth - 1];
        Piece *piece = &flow->piece[p];
        if (piece->tried == 2) {
            piece->open = 0, depth--;
            continue;
        }
        int32_t next = piece->next[piece->tried++];
        if (next == NOWHERE) continue;
        if (flow->piece[next].open && *backs < MOST_LOOPS) {
            back[*backs][0] = (uint32_t)next, back[(*backs)++][1] = p;
        } else if (!flow->piece[next].seen) {
            flow->piece[next].seen = flow->piece[next].open = 1;
            flow->stack[depth++] = (uint32_t)next;
        }
    }
}

static int flow_read(Flow *flow)
{
    const SassText *text = flow->text;
    SassCode *code = flow->code;
    uint32_t(*back)[2] = calloc(MOST_LOOPS, sizeof *back), backs = 0;
    code->ins = calloc(text->count, sizeof *code->ins);
    code->loop_line = calloc(MOST_LOOPS, sizeof *code->loop_line);
    code->count = text->count, code->sm = text->sm;
    int good =
        back && code->ins && code->loop_line && pieces_find(flow) == 0 && paths_find(flow) == 0;
    if (good) loops_find(flow, back, &backs);
    for (uint32_t i = 0; good && i < backs; i++)
        loop_add(flow, back[i][0], back[i][1]);
    uint8_t kept[3] = {NO_REGISTER, NO_REGISTER, NO_REGISTER};
    for (uint32_t i = 0; good && i < text->count; i++) {
        SassIns *ins = &code->ins[i];
        ins->line = text->line[i], ins->loop = flow->piece[flow->piece_of[i]].loop;
        ins->piece = flow->piece_of[i], ins->reached = flow->piece[ins->piece].seen;
        control_read(text, i, ins);
        fetches_count(text, i, kept, ins->fetches);
        access_read(text, i, ins);
    }
    for (uint32_t i = 0; good && i < text->count; i++)
        if (code->ins[i].kind) other_find(flow, i);
    free(back);
    return good && *flow->work ? 0 : -1;
}

void sass_decode(const SassText *text, size_t *work, SassCode *code)
{
    Flow flow = {.text = text, .code = code, .work = work};
    *code = (SassCode){0};
    if (!text->count || *work < 8 * (size_t)text->count) return;
    *work -= 8 * (size_t)text->count;
    if (flow_read(&flow) != 0) sass_free(code);
    free(flow.piece_of), free(flow.piece), free(flow.stack), free(flow.from), free(flow.from_begin);
}
