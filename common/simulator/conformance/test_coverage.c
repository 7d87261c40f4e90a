/* test_coverage.c - every operation that the decoder generates is covered by a form of the tables,
 * in all its variants, or is listed here with its test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/conformance/form.h"
#include "common/simulator/core/core.h"
#include "common/simulator/core/kinds.h"
#include "common/simulator/core/ops.h"
#include "common/simulator/core/tensor.h"
#include "common/simulator/launch/simt.h"

enum { BATCH = 64, VARIANTS = 1024 };

static const char *const OP_NAMES[] = {
#define UN(name, R, T, e)    #name,
#define BIN(name, R, T, e)   #name,
#define TRI(name, R, T, e)   #name,
#define WIDE(name, T, e)     #name,
#define SHIFT(name, R, T, e) #name,
#define UNF(name, e)         #name, #name "_FTZ",
#define BINF(name, e)        #name, #name "_FTZ",
#define TRIF(name, e)        #name, #name "_FTZ",
#define CMP(name, T, e)      #name,
#define PRED(name, e)        #name,
#define OP(name)             #name,
#include "common/simulator/core/ops.def"
};

/* `met[op][variant]`: a form covers it. */
static unsigned char met[OP_COUNT][VARIANTS];

/* Operations without a form. Their tests: */
#define UNITS   "autograder/tests/hopper, which ran on a GPU as a whole"
#define PROGRAM "a program's output: it is no function of a lane's operands"
#define NOTHING "nothing: no PTX makes it"
#define SLEEP   "validation/sets/sleeps-and-backoff.cu: no result, but takes time"
#define INSIDE  "every form: it replaces or accompanies another instruction"

static const struct {
    Op op;
    const char *where;
} ELSEWHERE[] = {
    {OP_WGMMA, UNITS},           {OP_WGMMA_FENCE, UNITS},    {OP_WGMMA_COMMIT, UNITS},
    {OP_WGMMA_WAIT, UNITS},      {OP_WGMMA_TOUCH, UNITS},    {OP_SETMAXNREG, UNITS},
    {OP_TEXTURE, PROGRAM},       {OP_CALL, PROGRAM},         {OP_RETURN, PROGRAM},
    {OP_TRAP, PROGRAM},          {OP_CLOCK, PROGRAM},        {OP_PRINTF, PROGRAM},
    {OP_ASSERTFAIL, PROGRAM},    {OP_MALLOC, PROGRAM},       {OP_FREE, PROGRAM},
    {OP_ACCELERATOR, PROGRAM},   {OP_TANH_F32_FTZ, NOTHING}, {OP_SAT_F32_FTZ, NOTHING},
    {OP_SPILL, INSIDE},          {OP_YIELD, INSIDE},         {OP_GUARDED, INSIDE},
    {OP_PHASE_LOOK, INSIDE},     {OP_PHASE_STUCK, INSIDE},   {OP_NANOSLEEP, SLEEP},
    {OP_TEXTURE_QUERY, PROGRAM}, {OP_MAP_REPLACE, PROGRAM},  {OP_MAP_PUBLISH, PROGRAM},
};

static const char *elsewhere(uint32_t op)
{
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++)
        if (ELSEWHERE[i].op == op) return ELSEWHERE[i].where;
    return NULL;
}

/* wide: of 128 bits. */
static uint32_t atomic_variant(uint32_t op, uint32_t format, int shared, int wide)
{
    return op | format << 4 | (uint32_t)shared << 8 | (uint32_t)wide << 9;
}

/* The variant of an operation that has many. */
static uint32_t variant_of(const Ins *ins)
{
    switch (ins->op) {
    case OP_RARE:
    case OP_ROUNDED:
        return ins->aux & 15;
    case OP_ATOM:
        return atomic_variant(ins->aux & 15, ins->aux >> 8 & 15, ins->space == PTX_SHARED,
                              ins->bytes == 16);
    case OP_HALF: /* with bf16 */
    case OP_CARRY:
    case OP_MBARRIER:
    case OP_SHFL:
    case OP_VOTE:
    case OP_BAR:
    case OP_REDUX:
        return ins->aux & 31;
    default:
        return 0;
    }
}

/* ---- MMAs ------------------------------------------------------------------------------------ */
typedef struct Product {
    TensorKind kind;
    uint32_t m, n, k;
    TensorType factor, sum;
    int sparse, met;
} Product;

#define OBLONG(factor, sum)                                                                        \
    {TENSOR_WMMA, 16, 16, 16, factor, sum, 0, 0}, {TENSOR_WMMA, 32, 8, 16, factor, sum, 0, 0},     \
    {                                                                                              \
        TENSOR_WMMA, 8, 32, 16, factor, sum, 0, 0                                                  \
    }

/* Those that ptxas takes for sm_90 and the decoder lets pass. */
static Product product[] = {
    {TENSOR_MMA, 8, 8, 4, TYPE_F16, TYPE_F32, 0, 0},
    {TENSOR_MMA, 8, 8, 4, TYPE_F16, TYPE_F16, 0, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_F16, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_F16, TYPE_F16, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_F16, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_F16, TYPE_F16, 0, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_BF16, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_BF16, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 4, TYPE_TF32, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_TF32, TYPE_F32, 0, 0},
    {TENSOR_MMA, 8, 8, 16, TYPE_S8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 8, 8, 16, TYPE_U8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_S8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_U8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_S8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_U8, TYPE_S32, 0, 0},
    {TENSOR_MMA, 8, 8, 32, TYPE_S4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 8, 8, 32, TYPE_U4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_S4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_U4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_S4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_U4, TYPE_S32, 0, 0},
    {TENSOR_MMA, 8, 8, 128, TYPE_B1, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 128, TYPE_B1, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 256, TYPE_B1, TYPE_S32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_E4M3, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_E5M2, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_E4M3, TYPE_F32, 0, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_E5M2, TYPE_F32, 0, 0},
    {TENSOR_MMA, 8, 8, 4, TYPE_F64, TYPE_F64, 0, 0},
    {TENSOR_MMA, 16, 8, 4, TYPE_F64, TYPE_F64, 0, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_F64, TYPE_F64, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_F64, TYPE_F64, 0, 0},
    OBLONG(TYPE_F16, TYPE_F32),
    OBLONG(TYPE_F16, TYPE_F16),
    OBLONG(TYPE_BF16, TYPE_F32),
    OBLONG(TYPE_S8, TYPE_S32),
    OBLONG(TYPE_U8, TYPE_S32),
    {TENSOR_WMMA, 16, 16, 8, TYPE_TF32, TYPE_F32, 0, 0},
    {TENSOR_WMMA, 8, 8, 4, TYPE_F64, TYPE_F64, 0, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_F16, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_F16, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_F16, TYPE_F16, 1, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_F16, TYPE_F16, 1, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_BF16, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_BF16, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 8, TYPE_TF32, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 16, TYPE_TF32, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_S8, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 32, TYPE_U8, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_S8, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_U8, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_S4, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_U4, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 128, TYPE_S4, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 128, TYPE_U4, TYPE_S32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_E4M3, TYPE_F32, 1, 0},
    {TENSOR_MMA, 16, 8, 64, TYPE_E5M2, TYPE_F32, 1, 0},
    {TENSOR_WMMA, 8, 8, 32, TYPE_S4, TYPE_S32, 0, 0},
    {TENSOR_WMMA, 8, 8, 32, TYPE_U4, TYPE_S32, 0, 0},
    {TENSOR_WMMA, 8, 8, 128, TYPE_B1, TYPE_S32, 0, 0},
};
enum { PRODUCTS = sizeof product / sizeof *product };

static void product_note(const TensorPlan *plan)
{
    for (size_t i = 0; i < PRODUCTS; i++) {
        Product *p = &product[i];
        if (p->sparse != (plan->metadata != NO_SLOT)) continue;
        p->met |= p->kind == plan->kind && p->m == plan->m && p->n == plan->n && p->k == plan->k &&
                  p->factor == plan->a.type && p->sum == plan->d.type;
    }
}

static void kernel_note(SimtModule *module, uint32_t form)
{
    char name[16];
    Error error = {""};
    snprintf(name, sizeof name, "f%u", form);
    const SimtKernel *kernel = simt_kernel_find(module, name, &error);
    if (!kernel) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < kernel->count; i++)
        met[kernel->code[i].op][variant_of(&kernel->code[i])] = 1;
    for (uint32_t i = 0; i < kernel->plans.tensors; i++)
        product_note(&kernel->plans.tensor[i]);
}

static int forms_note(void **state)
{
    FormTable table;
    Error error = {""};
    SimtMachine machine;
    SimtOptions options = {.threads = 1};
    SimtGpu *gpu = NULL;
    (void)state;
    if (forms_read("common/simulator/conformance/forms", &table, &error) == 0 &&
        machine_load("common/simulator/gpus", "h200", &machine, &error) == 0)
        gpu = simt_open(&machine, &options, &error);
    if (!gpu) fprintf(stderr, "%s\n", error.text);
    for (uint32_t i = 0; i < table.count && gpu; i += BATCH) {
        char *text = forms_ptx(&table, i, BATCH);
        assert_non_null(text);
        SimtModule *module = simt_module_load(gpu, text, strlen(text), 0, &error);
        if (!module) fail_msg("%s", error.text);
        for (uint32_t k = i; k < i + BATCH && k < table.count; k++)
            kernel_note(module, k);
        simt_module_unload(gpu, module);
        free(text);
    }
    forms_free(&table);
    if (gpu) simt_close(gpu);
    return gpu ? 0 : -1;
}

static int is_met(uint32_t op)
{
    return memchr(met[op], 1, VARIANTS) != NULL;
}

static void every_operation_has_a_form(void **state)
{
    uint32_t missing = 0;
    (void)state;
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        if (!is_met(op) == (elsewhere(op) != NULL)) continue;
        print_error(is_met(op) ? "%s has a form, and stands among those without: %s\n"
                               : "%s has no form%s\n",
                    OP_NAMES[op], is_met(op) ? elsewhere(op) : "");
        missing++;
    }
    if (missing) fail_msg("%u operations", missing);
}

/* ---- variants -------------------------------------------------------------------------------- */
static uint32_t missed(uint32_t op, uint32_t variant)
{
    if (met[op][variant]) return 0;
    print_error("variant 0x%x of %s has no form\n", variant, OP_NAMES[op]);
    return 1;
}

static uint32_t missed_of(uint32_t op, uint32_t first, uint32_t last)
{
    uint32_t missing = 0;
    for (uint32_t v = first; v <= last; v++)
        missing += missed(op, v);
    return missing;
}

static void every_variant_has_a_form(void **state)
{
    (void)state;
    enum { BF16 = 16, CARRIES_IN = 8 };
    uint32_t missing = missed_of(OP_RARE, 0, RARE_FP8X2_TO_F16X2) +
                       missed_of(OP_ROUNDED, 0, ROUNDED_RCP) + missed_of(OP_HALF, 0, HALF_TANH) +
                       missed_of(OP_HALF, BF16, BF16 + HALF_TANH) +
                       missed_of(OP_CARRY, CARRIES_IN, 31) + missed_of(OP_SHFL, 0, SHFL_IDX) +
                       missed_of(OP_VOTE, 0, VOTE_BALLOT) + missed(OP_BAR, BAR_SYNC) +
                       missed_of(OP_BAR, BAR_POPC, BAR_OR) + missed_of(OP_REDUX, 0, REDUX_XOR) +
                       missed_of(OP_MBARRIER, 0, MBARRIER_COMPLETE) +
                       missed(OP_MBARRIER, MBARRIER_ARRIVE | MBARRIER_EXPECTS);
    if (missing) fail_msg("%u variants", missing);
}

/* Which atomics there are: those that atom_format of decode_memory.c lets pass and ptxas takes. */
static int atomic_exists(AtomOp op, Format format, int shared)
{
    switch (format) {
    case FORMAT_F16: /* the least and the greatest of vectors, which global memory alone has */
    case FORMAT_BF16:
        return op <= (shared ? ATOM_ADD : ATOM_MAX);
    case FORMAT_F32:
    case FORMAT_F64:
        return op == ATOM_ADD;
    case FORMAT_U16:
        return op == ATOM_CAS;
    case FORMAT_U32:
        return 1;
    case FORMAT_U64:
        return op != ATOM_INC && op != ATOM_DEC;
    case FORMAT_S32:
        return op <= ATOM_MAX;
    case FORMAT_S64:
        return op == ATOM_MIN || op == ATOM_MAX;
    default:
        return 0;
    }
}

static uint32_t atomics_missed(uint32_t op, uint32_t format, int shared)
{
    int wide = format == FORMAT_U64 && (op == ATOM_EXCH || op == ATOM_CAS);
    uint32_t missing = wide ? missed(OP_ATOM, atomic_variant(op, format, shared, 1)) : 0;
    if (!atomic_exists(op, format, shared)) return 0;
    return missing + missed(OP_ATOM, atomic_variant(op, format, shared, 0));
}

static void every_atomic_has_a_form(void **state)
{
    uint32_t missing = 0;
    (void)state;
    for (uint32_t op = 0; op <= ATOM_CAS; op++)
        for (uint32_t format = 0; format <= FORMAT_F64; format++)
            for (int shared = 0; shared < 2; shared++)
                missing += atomics_missed(op, format, shared);
    if (missing) fail_msg("%u atomics", missing);
}

static void every_mma_has_a_form(void **state)
{
    uint32_t missing = 0;
    (void)state;
    for (size_t i = 0; i < PRODUCTS; i++) {
        const Product *p = &product[i];
        if (p->met) continue;
        print_error("%s%s of m%un%uk%u, types %d and %d, has no form\n",
                    p->kind == TENSOR_MMA ? "mma" : "wmma", p->sparse ? ".sp" : "", p->m, p->n,
                    p->k, (int)p->factor, (int)p->sum);
        missing++;
    }
    if (missing) fail_msg("%u products", missing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_form),
        cmocka_unit_test(every_variant_has_a_form),
        cmocka_unit_test(every_atomic_has_a_form),
        cmocka_unit_test(every_mma_has_a_form),
    };
    return cmocka_run_group_tests_name("coverage", tests, forms_note, NULL);
}
