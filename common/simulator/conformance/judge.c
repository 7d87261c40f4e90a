#include "common/simulator/conformance/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats --------------------------------------------------------------------------------- */
typedef struct Format {
    int fraction, bias, bits;
} Format;

static const Format FORMATS[] = {
    [VALUE_F16] = {10, 15, 16},    [VALUE_BF16] = {7, 127, 16}, [VALUE_F16X2] = {10, 15, 16},
    [VALUE_BF16X2] = {7, 127, 16}, [VALUE_F32] = {23, 127, 32}, [VALUE_F64] = {52, 1023, 64}};

static long double value_of(uint64_t bits, const Format *f)
{
    uint64_t fraction = bits & ((1ull << f->fraction) - 1);
    int exponent = (int)(bits >> f->fraction & ((1ull << (f->bits - 1 - f->fraction)) - 1));
    long double sign = bits >> (f->bits - 1) & 1 ? -1 : 1;
    if (exponent == 2 * f->bias + 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexpl((long double)fraction, 1 - f->bias - f->fraction);
    return sign *
           ldexpl((long double)(fraction | 1ull << f->fraction), exponent - f->bias - f->fraction);
}

static long double ulp_at(long double x, const Format *f)
{
    int exponent;
    frexpl(x, &exponent);
    exponent = x == 0 || exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
    return ldexpl(1, exponent - f->fraction);
}

/* ---- exact results --------------------------------------------------------------------------- */
static long double exact_of(const char *text, const long double *x)
{
    static const char *const NAMES[] = {"div", "rcp", "sqrt", "rsqrt", "ex2",
                                        "lg2", "sin", "cos",  "tanh",  NULL};
    int which = 0;
    while (NAMES[which] && strncmp(text, NAMES[which], strlen(NAMES[which])) != 0)
        which++;
    switch (which) {
    case 0:
        return x[0] / x[1];
    case 1:
        return 1 / x[0];
    case 2:
        return sqrtl(x[0]);
    case 3:
        return 1 / sqrtl(x[0]);
    case 4:
        return exp2l(x[0]);
    case 5:
        return log2l(x[0]);
    case 6:
        return sinl(x[0]);
    case 7:
        return cosl(x[0]);
    case 8:
        return tanhl(x[0]);
    default:
        return NAN;
    }
}

/* Error of `bits` against the exact result, in the tolerance's unit; infinite if that is
 * meaningless. */
static double error_of(const Form *form, const Format *f, uint64_t bits, long double exact)
{
    long double x = value_of(bits, f),
                most = value_of(((2ull * (unsigned)f->bias + 1) << f->fraction) - 1, f);
    if (isnan(x) || isnan(exact) || isinf(x) || isinf(exact) || fabsl(exact) > most)
        return INFINITY;
    long double distance = fabsl(x - exact);
    if (form->tolerance == TOLERANCE_ULP) return (double)(distance / ulp_at(exact, f));
    if (form->tolerance == TOLERANCE_ABS) return (double)distance;
    return distance == 0 ? 0 : (double)(distance / fabsl(exact));
}

static double bound_of(const Form *form)
{
    return form->tolerance == TOLERANCE_ULP ? form->bound : exp2(form->bound);
}

/* ---- judging --------------------------------------------------------------------------------- */
typedef struct Lane {
    const Form *form;
    const uint64_t *operand;
    uint32_t lane;
} Lane;

static int near_enough(const Lane *at, ValueType type, int half, uint64_t golden, uint64_t got,
                       Judgement *judgement)
{
    const Format *f = &FORMATS[type];
    const Form *form = at->form;
    long double x[FORM_OPERANDS] = {0};
    int ftz = strstr(form->text, ".ftz") != NULL;
    for (uint32_t k = 0; k < form->operands; k++) {
        const Format *of = &FORMATS[form->operand[k]->type];
        uint64_t bits = at->operand[(size_t)k * form->lanes + at->lane];
        x[k] = value_of(of->bits < 32 ? bits >> 16 * half & 0xffff : bits, of);
        if (ftz && fabsl(x[k]) < ldexpl(1, 1 - of->bias)) x[k] = copysignl(0, x[k]);
    }
    long double exact = exact_of(form->text, x);
    if (ftz && fabsl(exact) < ldexpl(1, 1 - f->bias)) exact = 0;
    double card = error_of(form, f, golden, exact), ours = error_of(form, f, got, exact);
    if (card > bound_of(form)) {
        judgement->beyond++;
        return golden == got;
    }
    if (card > judgement->card) judgement->card = card;
    if (ours > judgement->simulator && isfinite(ours)) judgement->simulator = ours;
    return golden == got || ours <= bound_of(form);
}

static int lane_agrees(const Lane *at, uint32_t k, uint64_t golden, uint64_t got,
                       Judgement *judgement)
{
    ValueType type = at->form->result[k];
    judgement->compared++;
    if (golden != got) judgement->differing++;
    if (at->form->tolerance == TOLERANCE_EXACT) return golden == got;
    if (type != VALUE_F16X2 && type != VALUE_BF16X2)
        return near_enough(at, type, 0, golden, got, judgement);
    return near_enough(at, type, 0, golden & 0xffff, got & 0xffff, judgement) &
           near_enough(at, type, 1, golden >> 16, got >> 16, judgement);
}

static int disagree(const Lane *at, uint32_t k, uint64_t golden, uint64_t got, Error *error)
{
    char operands[400] = "";
    for (uint32_t i = 0, n = 0; i < at->form->operands && n < 360; i++)
        n += (uint32_t)snprintf(
            operands + n, sizeof operands - n, "%s0x%llx", i ? ", " : "",
            (unsigned long long)at->operand[(size_t)i * at->form->lanes + at->lane]);
    return error_set(error,
                     "%s.forms line %u: '%.300s' of %s in lane %u: result %u is 0x%llx, not 0x%llx",
                     at->form->group, at->form->line, at->form->text, operands, at->lane, k,
                     (unsigned long long)got, (unsigned long long)golden);
}

int form_judge(const Form *form, const uint64_t *golden, const uint64_t *got, Judgement *judgement,
               Error *error)
{
    uint64_t *operand = malloc(((size_t)form->operands * form->lanes + 1) * sizeof *operand);
    int result = operand ? 0 : error_set(error, "out of memory");
    *judgement = (Judgement){.compared = 0};
    if (operand) form_operands(form, operand);
    for (uint32_t k = 0; k < form->results && operand; k++)
        for (uint32_t i = 0; i < form->lanes; i++) {
            Lane at = {.form = form, .operand = operand, .lane = i};
            uint64_t want = golden[(size_t)k * form->lanes + i],
                     have = got[(size_t)k * form->lanes + i];
            if (lane_agrees(&at, k, want, have, judgement) || result != 0) continue;
            result = disagree(&at, k, want, have, error);
        }
    free(operand);
    return result;
}
