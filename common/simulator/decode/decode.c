/* decode.c - from a parsed PTX function to pre-decoded instructions.
 *
 * The decoder of an instruction's family must consume every word of it: an unknown modifier refuses
 * the kernel, with the instruction's text and source line. No modifier is ignored silently. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/simulator/decode/decoder.h"

/* A module's kernels share it: 64 MiB. */
enum { CODE_LIMIT = 1 << 20 };

int refuse(Decoder *d, const char *format, ...)
{
    char why[512], opcode[256] = "", where[320], name[256];
    va_list list;
    if (d->failed) return -1;
    d->failed = 1;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    demangle(d->kernel->info.name, name, sizeof name);
    if (!d->in) return error_set(d->error, "kernel %s is not supported: %s", name, why);
    for (uint32_t i = 0, used = 0; i < d->in->words && used < sizeof opcode; i++)
        used += (uint32_t)snprintf(opcode + used, sizeof opcode - used, "%s%s", i ? "." : "",
                                   d->in->word[i]);
    source_name(d->kernel, d->from, where, sizeof where);
    return error_set(d->error,
                     "kernel %s: the simulator cannot execute '%s' at %s (PTX line %u): %s", name,
                     opcode, where, d->in->ptx_line, why);
}

void *grow(Decoder *d, void *array, uint32_t count, uint32_t *room, size_t bytes)
{
    if (count < *room) return array;
    uint32_t more = *room ? *room * 2 : 64;
    void *bigger = realloc(array, more * bytes);
    if (!bigger) {
        refuse(d, "out of host memory");
        return array;
    }
    *room = more;
    return bigger;
}

/* ---- words -------------------------------------------------------------------------------- */
int word_take(Decoder *d, const char *word)
{
    for (uint32_t i = 1; i < d->in->words; i++) {
        if (d->used >> i & 1 || strcmp(d->in->word[i], word) != 0) continue;
        d->used |= 1u << i;
        return 1;
    }
    return 0;
}

int word_choose(Decoder *d, const char *const *choices)
{
    for (int i = 0; choices[i]; i++)
        if (word_take(d, choices[i])) return i;
    return -1;
}

PtxType type_take(Decoder *d)
{
    static const struct {
        const char *name;
        PtxType type;
    } TYPES[] = {{"pred", PTX_PRED}, {"b8", PTX_B8},   {"b16", PTX_B16},       {"b32", PTX_B32},
                 {"b64", PTX_B64},   {"u8", PTX_U8},   {"u16", PTX_U16},       {"u32", PTX_U32},
                 {"u64", PTX_U64},   {"s8", PTX_S8},   {"s16", PTX_S16},       {"s32", PTX_S32},
                 {"s64", PTX_S64},   {"f16", PTX_F16}, {"f16x2", PTX_F16X2},   {"bf16", PTX_BF16},
                 {"f32", PTX_F32},   {"f64", PTX_F64}, {"bf16x2", PTX_BF16X2}, {"tf32", PTX_TF32}};
    for (uint32_t i = 1; i < d->in->words; i++) {
        if (d->used >> i & 1) continue;
        for (size_t k = 0; k < sizeof TYPES / sizeof *TYPES; k++) {
            if (strcmp(TYPES[k].name, d->in->word[i]) != 0) continue;
            d->used |= 1u << i;
            return TYPES[k].type;
        }
    }
    return PTX_NONE;
}

int words_finished(Decoder *d)
{
    if (d->failed) return -1;
    for (uint32_t i = 1; i < d->in->words; i++)
        if (!(d->used >> i & 1)) return refuse(d, "'.%s' is not supported", d->in->word[i]);
    return 0;
}

/* ---- cost of decoding ---------------------------------------------------------------------- */

/* Work of this process, which decodes on one thread. */
static uint64_t work_done, work_most = UINT64_MAX;
static int is_stopped;

uint64_t decode_work(void)
{
    return work_done;
}

void decode_allow(uint64_t more)
{
    work_most = more < UINT64_MAX - work_done ? work_done + more : UINT64_MAX;
    is_stopped = 0;
}

int decode_is_stopped(void)
{
    return is_stopped;
}

static void work_check(Decoder *d)
{
    if (d->failed || work_done + d->count < work_most) return;
    is_stopped = 1;
    refuse(d,
           "decoding the kernels takes more than this call may use: calls expand to more than "
           "%u instructions",
           d->count);
}

/* ---- emitting ----------------------------------------------------------------------------- */
Ins *emit(Decoder *d, Op op, OpClass class)
{
    static Ins nowhere; /* written by callers after a failure, never read */
    static const Ins EMPTY = {
        .d = NO_SLOT, .guard = NO_SLOT, .v = {NO_SLOT, NO_SLOT, NO_SLOT, NO_SLOT}};
    if (d->module->decoded + d->count >= CODE_LIMIT && !d->failed)
        refuse(d, "more than %d instructions in a module after expanding calls", CODE_LIMIT);
    work_check(d);
    d->code = grow(d, d->code, d->count, &d->room, sizeof *d->code);
    if (d->failed) return &nowhere;
    Ins *ins = &d->code[d->count++];
    *ins = EMPTY;
    ins->op = (uint16_t)op;
    ins->class = (uint8_t) class;
    ins->from = d->from;
    return ins;
}

Ins *emit_pseudo(Decoder *d, Op op, uint32_t dst, uint32_t a, uint32_t b)
{
    Ins *ins = emit(d, op, CLASS_FREE);
    ins->d = dst, ins->a = a, ins->b = b, ins->pseudo = 1;
    return ins;
}

/* Branches and exits look at their guard themselves. */
static int guards_itself(const Ins *ins)
{
    return ins->op == OP_BRA || ins->op == OP_BRA_P || ins->op == OP_BRX || ins->op == OP_EXIT;
}

static int instruction_decode(Decoder *d)
{
    static int (*const FAMILIES[])(Decoder *) = {
        decode_tensor,  decode_wgmma,   decode_async,   decode_cluster, decode_map_change,
        decode_memory,  decode_texture, decode_control, decode_stack,   decode_integer,
        decode_compare, decode_convert, decode_float};
    uint32_t first = d->count;
    int is_call = strcmp(d->in->word[0], "call") == 0, result = 1;
    d->used = 1;
    d->temps32 = d->temps64 = d->tempsp = 0;
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES && result == 1; i++)
        result = FAMILIES[i](d);
    if (result == 1 && !strcmp(d->in->word[0], "tcgen05"))
        return refuse(d, "Blackwell's tensor cores and their memory (tcgen05) are not simulated");
    if (result == 1) return refuse(d, "the instruction is unknown");
    if (d->failed || result != 0) return -1;
    if (is_call || d->in->guard == PTX_NO_REGISTER) {
        /* A guarded call of the system's functions is an instruction like others. */
        int system = is_call && d->count == first + 1 && d->in->guard != PTX_NO_REGISTER;
        if (!system) return 0;
    }
    uint32_t guard = register_slot(d, d->in->guard);
    if (d->failed) return -1;
    if (d->instance->function->reg[d->in->guard].type != PTX_PRED)
        return refuse(d, "its guard is no predicate");
    for (uint32_t i = first; i < d->count; i++) {
        if (guards_itself(&d->code[i])) continue;
        d->code[i].guard = guard;
        d->code[i].guard_negated = (uint8_t)(d->in->guard_negated != 0);
    }
    return 0;
}

static int origin_add(Decoder *d, const PtxInstruction *in)
{
    SimtKernel *kernel = d->kernel;
    kernel->origin =
        grow(d, kernel->origin, kernel->origins, &d->origin_room, sizeof *kernel->origin);
    if (d->failed) return -1;
    d->from = kernel->origins;
    kernel->origin[kernel->origins++] = in;
    return 0;
}

static int fixes_apply(Decoder *d, const Instance *instance)
{
    for (uint32_t i = instance->first_fix; i < d->fixes; i++) {
        const Fix *fix = &d->fix[i];
        if (fix->target > instance->function->instructions)
            return refuse(d, "a branch out of the function");
        uint32_t position = instance->position[fix->target];
        if (fix->ins == NO_SLOT)
            d->kernel->table[fix->table] = position;
        else
            d->code[fix->ins].target = position;
    }
    d->fixes = instance->first_fix;
    return 0;
}

static void use_count(Instance *instance, int32_t reg)
{
    if (reg >= 0 && (uint32_t)reg < instance->function->regs && instance->uses[reg] < UINT8_MAX)
        instance->uses[reg]++;
}

static void uses_count(Instance *instance, const PtxOperand *operand, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (operand[i].kind == PTX_OPERAND_REGISTER || operand[i].kind == PTX_OPERAND_ADDRESS)
            use_count(instance, operand[i].reg);
        if (operand[i].element) uses_count(instance, operand[i].element, operand[i].count);
    }
}

static void function_uses(Instance *instance)
{
    for (uint32_t i = 0; i < instance->function->instructions; i++) {
        const PtxInstruction *in = &instance->function->instruction[i];
        use_count(instance, in->guard);
        uses_count(instance, in->operand, in->operands);
    }
}

/* Decodes the body into d->instance, which the caller prepared. */
int decode_function(Decoder *d, const PtxFunction *function, Instance *caller)
{
    Instance *instance = d->instance;
    instance->caller = caller;
    instance->slot = calloc(function->regs + 1, sizeof *instance->slot);
    instance->position = calloc(function->instructions + 1, sizeof *instance->position);
    instance->uses = calloc(function->regs + 1, 1);
    int result = instance->slot && instance->position && instance->uses
                     ? 0
                     : refuse(d, "out of host memory");
    if (result == 0) result = scope_begin(d, instance);
    if (result == 0) function_uses(instance);
    for (uint32_t i = 0; i < function->instructions && result == 0; i++) {
        d->in = &function->instruction[i];
        instance->position[i] = d->count;
        result =
            origin_add(d, d->in) == 0 && scope_note(d, instance) == 0 && instruction_decode(d) == 0
                ? 0
                : -1;
    }
    if (result == 0) {
        instance->position[function->instructions] = d->count;
        result = fixes_apply(d, instance);
    }
    if (result == 0) result = scope_keep(d, instance);
    free(instance->slot);
    free(instance->position);
    free(instance->uses);
    free(instance->symbol);
    return result;
}

/* ---- finishing ---------------------------------------------------------------------------- */
/* May lanes diverge here? */
static int ends_straight(const Ins *ins)
{
    return ins->op == OP_BRA_P || ins->op == OP_BRX;
}

void targets_move(Decoder *d, Ins *code, uint32_t count, const uint32_t *moved)
{
    for (uint32_t i = 0; i < count; i++)
        if (code[i].op == OP_BRA || code[i].op == OP_BRA_P) code[i].target = moved[code[i].target];
    for (uint32_t i = 0; i < d->kernel->tables; i++)
        d->kernel->table[i] = moved[d->kernel->table[i]];
    for (uint32_t i = 0; i < d->kernel->calls.routines; i++) {
        Routine *routine = &d->kernel->calls.routine[i];
        routine->entry = moved[routine->entry], routine->leave = moved[routine->leave];
    }
}

/* Inserts a JOIN before every reconvergence point and adjusts branch targets. */
static int joins_insert(Decoder *d)
{
    uint32_t *reconv = malloc((d->count + 1) * sizeof *reconv),
             *moved = calloc(d->count + 2, sizeof *moved);
    unsigned char *meets = calloc(d->count + 1, 1);
    Ins *code = NULL;
    if (!reconv || !moved || !meets) goto memory;
    if (control_flow_resolve(d->code, d->count, d->kernel->table, reconv) != 0) goto memory;
    for (uint32_t i = 0; i < d->count; i++)
        if (reconv[i] == UINT32_MAX && ends_straight(&d->code[i]))
            reconv[i] = routine_return(d->kernel, i);
    uint32_t joins = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (reconv[i] < d->count) joins += !meets[reconv[i]], meets[reconv[i]] = 1;
    code = calloc(d->count + joins + 1, sizeof *code);
    if (!code) goto memory;
    uint32_t at = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        moved[i] = at;
        if (meets[i]) {
            code[at] = (Ins){.op = OP_JOIN,
                             .pseudo = 1,
                             .guard = NO_SLOT,
                             .d = NO_SLOT,
                             .from = d->code[i].from};
            at++;
        }
        code[at++] = d->code[i];
    }
    moved[d->count] = at;
    for (uint32_t i = 0, k = 0; i < at; i++) {
        if (code[i].op == OP_JOIN) continue;
        code[i].reconv = reconv[k] < d->count ? moved[reconv[k]] : NO_SLOT;
        k++;
    }
    targets_move(d, code, at, moved);
    for (uint32_t i = 0; i < d->kernel->calls.routines; i++) {
        Routine *routine = &d->kernel->calls.routine[i];
        routine->leave += code[routine->leave].op == OP_JOIN;
    }
    free(d->code);
    d->code = code;
    d->count = at;
    free(reconv), free(moved), free(meets);
    return 0;
memory:
    free(reconv), free(moved), free(meets);
    return refuse(d, "out of host memory");
}

static uint16_t score_of(const Decoder *d, uint32_t slot)
{
    return slot == NO_SLOT || slot / 4 >= d->score_room ? 0 : d->score[slot / 4];
}

/* Fills in the registers that the scoreboard tracks: those read and those written. */
static void timing_fill(const Decoder *d, Ins *ins)
{
    int store =
        (ins->class == CLASS_STORE || ins->class == CLASS_SHARED_STORE) && ins->op != OP_ATOM;
    int vector_load = ins->vector > 1 && !store;
    uint32_t k = 0;
    ins->t_s[k++] = score_of(d, ins->a);
    ins->t_s[k++] = score_of(d, ins->b);
    ins->t_s[k++] = score_of(d, ins->c);
    ins->t_s[k++] = score_of(d, ins->guard);
    if (ins->op == OP_PRINTF || ins->op == OP_ASSERTFAIL) return;
    if (store) {
        ins->t_s[k++] = score_of(d, ins->d);
        if (ins->vector > 1) ins->t_s[k++] = score_of(d, ins->v[ins->vector - 1]);
        return;
    }
    ins->t_d[0] = score_of(d, ins->d);
    if (vector_load)
        for (uint32_t i = 0; i < ins->vector; i++)
            ins->t_d[i] = score_of(d, ins->v[i]);
    else if (ins->op == OP_SHFL || ins->op == OP_MATCH)
        ins->t_d[1] = score_of(d, ins->v[1]);
    else if (ins->op == OP_BFI_32 || ins->op == OP_BFI_64)
        ins->t_s[k++] = score_of(d, ins->v[0]);
    else
        ins->t_d[1] = score_of(d, ins->v[0]); /* the second predicate of a setp */
}

static void handlers_bind(Decoder *d)
{
    const Handler *table = d->handlers;
    wgmma_registers_find(d);
    for (uint32_t i = 0; i < d->count; i++) {
        Ins *ins = &d->code[i];
        timing_fill(d, ins);
        ins->inner = table[ins->op];
        ins->fn = ins->guard != NO_SLOT && !guards_itself(ins) ? table[OP_GUARDED]
                  : ins->yields                                ? table[OP_YIELD]
                                                               : ins->inner;
        if (wgmma_touches(d, ins)) ins->fn = table[OP_WGMMA_TOUCH];
    }
}

static int kernel_finish(Decoder *d)
{
    SimtKernel *kernel = d->kernel;
    spins_find(d);
    guesses_find(d);
    if (d->failed || spills_place(d) != 0 || joins_insert(d) != 0) return -1;
    uint64_t align = d->dynamic_align > 16 ? d->dynamic_align : 16,
             dynamic_start = (d->shared_bytes + align - 1) / align * align;
    kernel->static_shared = (uint32_t)d->shared_bytes;
    for (uint32_t i = 0; i < kernel->constants; i++)
        if (kernel->constant[i].dynamic) {
            kernel->constant[i].bits += dynamic_start;
            kernel->static_shared = (uint32_t)dynamic_start;
        }
    handlers_bind(d);
    if (d->failed) return -1;
    spills_link(d);
    registers_find(d);
    if (scopes_keep_shared(d) != 0) return -1;
    kernel->code = d->code;
    kernel->count = d->count;
    d->code = NULL;
    /* Not a multiple of 4096, so that the same register of several warps does not fall into one
     * cache set. */
    kernel->file_bytes = (d->file_bytes + 127) / 128 * 128 + 128;
    kernel->scoreboard = d->scores + 1;
    kernel->local_bytes = (uint32_t)((d->local_bytes + 15) / 16 * 16);
    kernel->info.shared_bytes = kernel->static_shared;
    kernel->info.local_bytes = kernel->local_bytes;
    repeats_find(kernel);
    accesses_merge(kernel);
    uniform_atomics_find(kernel);
    return 0;
}

static int kernel_build(Decoder *d)
{
    SimtKernel *kernel = d->kernel;
    Instance top = {.function = kernel->function};
    int result = 0;
    d->instance = &top;
    d->file_bytes = SR_COUNT * LANES * 4;
    for (uint32_t i = 0; i < kernel->function->params && result == 0; i++)
        result = local_bind(d, &top, &kernel->function->param[i],
                            i < 64 ? kernel->info.param_offset[i] : 0, PTX_PARAM);
    if (result == 0) result = shared_layout(d, kernel->function);
    if (result == 0) result = routines_open(d);
    if (result != 0) {
        free(top.symbol);
        return -1;
    }
    if (decode_function(d, kernel->function, NULL) != 0) return -1;
    d->from = kernel->origins ? kernel->origins - 1 : UINT32_MAX;
    emit(d, OP_EXIT, CLASS_FREE)->pseudo = 1; /* for code that runs off its end */
    uint64_t own_local = d->local_bytes;
    if (d->failed || routines_decode(d) != 0) return -1;
    d->local_bytes = own_local;
    return kernel_finish(d);
}

/* Frees the results of one attempt at decoding and the memory for the next. */
static void decoder_close(Decoder *d)
{
    free(d->code), free(d->shared), free(d->fix), free(d->score);
}

static Decoder *decoder_open(SimtKernel *kernel, const Handler *handlers, const Decoder *before)
{
    Decoder *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->kernel = kernel, d->module = kernel->module, d->error = &kernel->refusal;
    d->handlers = handlers;
    d->from = UINT32_MAX, d->routine = NO_ROUTINE;
    if (!before) return d;
    memcpy(d->recursive, before->recursive, sizeof d->recursive);
    d->recursives = before->recursives;
    return d;
}

int kernel_decode(SimtKernel *kernel, const Handler *handlers, Error *error)
{
    if (kernel->decoded) {
        if (kernel->decoded < 0) return error_set(error, "%s", kernel->refusal.text);
        return 0;
    }
    if (!handlers)
        return error_set(error, "this build has no handlers for this machine's processor: run the "
                                "command in the workbook's folder on this machine again, or build "
                                "for every processor with VECTORS=all");
    Decoder *d = decoder_open(kernel, handlers, NULL);
    if (!d) return error_set(error, "out of host memory for decoding a kernel");
    const SimtKernelInfo info = kernel->info;
    int result = kernel_build(d);
    work_done += d->count;
    while (result != 0 && d->again) {
        Decoder *next = decoder_open(kernel, handlers, d);
        if (!next) break;
        kernel_release(kernel);
        kernel->info = info;
        decoder_close(d), free(d);
        d = next;
        result = kernel_build(d);
        work_done += d->count;
    }
    if (result == 0) kernel->module->decoded += kernel->count;
    decoder_close(d), free(d);
    kernel->decoded = result == 0 ? 1 : -1;
    if (result != 0) return error_set(error, "%s", kernel->refusal.text);
    return 0;
}

void kernel_release(SimtKernel *kernel)
{
    SimtKernel kept = {.module = kernel->module,
                       .function = kernel->function,
                       .info = kernel->info,
                       .decoded = kernel->decoded,
                       .refusal = kernel->refusal,
                       .cubin.has_registers = kernel->cubin.has_registers,
                       .cubin.sass = kernel->cubin.sass,
                       .cubin.local_bytes = kernel->cubin.local_bytes};
    free(kernel->code), free(kernel->width);
    free(kernel->costs.price), free(kernel->costs.code), free(kernel->costs.unrolled),
        free(kernel->costs.sass), free(kernel->costs.code_piece);
    free(kernel->costs.reused);
    free((void *)kernel->origin);
    free(kernel->runs);
    free(kernel->digest_rule);
    free(kernel->cubin.order);
    free(kernel->constant);
    free(kernel->table);
    free(kernel->plans.tensor);
    free(kernel->plans.bulk), free(kernel->plans.wgmma), free(kernel->plans.wgmma_register);
    for (uint32_t i = 0; i < kernel->calls.routines; i++)
        free(kernel->calls.routine[i].width);
    scopes_free(kernel);
    free(kernel->calls.routine), free(kernel->calls.call), free(kernel->calls.copy);
    free(kernel->unassigned.slot);
    *kernel = kept;
}
