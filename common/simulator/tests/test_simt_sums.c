/* test_simt_sums.c - sums of matrix products of a warp that are not exact: as an H200's, which cuts
 * bits off (docs/simulator/conformance.md), whatever the numbers and whatever the host's
 * instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "common/simulator/exec/exec.h"
#include "common/simulator/tests/simt_fixture.h"

enum { ROUNDS = 40, MOST = 32 * 32 };

typedef enum Format { F16, BF16, TF32, F32 } Format;

/* A form: its words after mma.sync.aligned or wmma.mma.sync.aligned.row.row. */
typedef struct Form {
    const char *words;
    int wmma;
    uint32_t m, n, k, step; /* step: values of k that are summed at once */
    Format factors, from, to;
} Form;

static const Form FORMS[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 0, 16, 8, 16, 16, F16, F32, F32},
    {"m16n8k8.row.col.f32.f16.f16.f32", 0, 16, 8, 8, 8, F16, F32, F32},
    {"m16n8k16.row.col.f16.f16.f16.f16", 0, 16, 8, 16, 16, F16, F16, F16},
    {"m16n8k8.row.col.f16.f16.f16.f16", 0, 16, 8, 8, 8, F16, F16, F16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 0, 16, 8, 16, 16, BF16, F32, F32},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 0, 16, 8, 8, 8, BF16, F32, F32},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 0, 16, 8, 8, 8, TF32, F32, F32},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 0, 16, 8, 4, 4, TF32, F32, F32},
    {"m16n16k16.f32.f32", 1, 16, 16, 16, 16, F16, F32, F32},
    {"m32n8k16.f32.f32", 1, 32, 8, 16, 16, F16, F32, F32},
    {"m8n32k16.f16.f16", 1, 8, 32, 16, 16, F16, F16, F16},
    {"m16n16k16.f16.f32", 1, 16, 16, 16, 16, F16, F32, F16},
    {"m16n16k16.f32.f16", 1, 16, 16, 16, 16, F16, F16, F32},
    {"m32n8k16.f32.bf16.bf16.f32", 1, 32, 8, 16, 16, BF16, F32, F32},
    {"m16n16k8.f32.tf32.tf32.f32", 1, 16, 16, 8, 4, TF32, F32, F32},
};

/* ---- numbers --------------------------------------------------------------------------------- */
static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Exponents -6 to 6; the whole range, with infinities, NaNs and zeros; or the largest values with
 * an exponent of 0, so that a sum has more bits than others. */
typedef enum Spread { NEAR, WIDE, FULL, SPREADS } Spread;

static float number_draw(Format format, Spread spread)
{
    static uint64_t state = 1;
    uint32_t r = (uint32_t)((state = state * 6364136223846793005u + 1442695040888963407u) >> 32);
    int wide = spread == WIDE;
    uint32_t exponent = wide ? r >> 23 & 255 : 121 + (r >> 23 & 15) % 13;
    uint32_t bits = (r & 0x807fffff) | exponent << 23;
    if (wide && format == F16 && exponent > 100 && exponent < 160)
        bits = (r & 0x807fffff) | (103 + exponent % 40) << 23;
    if (wide && r % 7 == 0) bits &= 0x80000000;
    if (spread == FULL) bits = format == F16 ? 0x3fffe000 : 0x3fffffff;
    if (format == F16) return (float)(_Float16)float_of(bits);
    return float_of(format == BF16 ? bits & 0xffff0000 : bits);
}

static float factor_of(float value, Format format)
{
    return format == TF32 ? float_of(bits_of(value) & 0xffffe000) : value;
}

/* A subnormal number has that of the least normal one. */
static int exponent_of(float value, Format format)
{
    int least = format == F16 ? -14 : -126, own = ilogbf(value);
    return own > least ? own : least;
}

/* Values that round to no half do not become -0. */
static float half_rounded(double value)
{
    return fabs(value) <= 0x1p-25 ? 0 : (float)(_Float16)value;
}

/* The rule as docs/simulator/conformance.md has it; `value` has pairs of factors. */
static float sum_cut(const Form *form, float (*value)[2], float addend, int rounded)
{
    double plain = addend, cut;
    uint32_t count = form->step;
    for (uint32_t k = 0; k < count; k++)
        plain += (double)value[k][0] * value[k][1];
    if (!isfinite(plain)) return (float)plain; /* infinity has no exponent */
    int height = addend != 0 ? exponent_of(addend, form->from) : -400;
    for (uint32_t k = 0; k < count; k++) {
        if (value[k][0] == 0 || value[k][1] == 0) continue;
        int term =
            exponent_of(value[k][0], form->factors) + exponent_of(value[k][1], form->factors);
        if (term > height) height = term;
    }
    cut = trunc(ldexp(addend, 25 - height));
    for (uint32_t k = 0; k < count; k++)
        cut += trunc(ldexp((double)value[k][0] * value[k][1], 25 - height));
    cut = ldexp(cut, height - 25);
    if (rounded) return half_rounded(cut);
    float f = (float)cut;
    return isfinite(f) && fabs((double)f) > fabs(cut) ? nextafterf(f, 0) : f;
}

/* ---- matrices, row by row ------------------------------------------------------------------- */
static float a[MOST], b[MOST], c[MOST], d[MOST], want[MOST];

static void matrices_draw(const Form *form, Spread spread)
{
    for (uint32_t i = 0; i < form->m * form->k; i++)
        a[i] = number_draw(form->factors, spread);
    for (uint32_t i = 0; i < form->k * form->n; i++)
        b[i] = number_draw(form->factors, spread);
    for (uint32_t i = 0; i < form->m * form->n; i++)
        c[i] = number_draw(form->from, spread);
}

static void product_expect(const Form *form)
{
    int halves = form->from == F16 && form->to == F16;
    for (uint32_t i = 0; i < form->m * form->n; i++) {
        float sum = c[i], value[32][2];
        for (uint32_t first = 0; first < form->k; first += form->step) {
            for (uint32_t k = 0; k < form->step; k++) {
                value[k][0] = factor_of(a[i / form->n * form->k + first + k], form->factors);
                value[k][1] = factor_of(b[(first + k) * form->n + i % form->n], form->factors);
            }
            sum = sum_cut(form, value, sum, halves);
        }
        want[i] = form->to == F16 ? (float)(_Float16)sum : sum;
    }
}

/* Element i of memory in a format. */
static void put(void *to, uint32_t i, float value, Format format)
{
    _Float16 half = (_Float16)value;
    uint32_t bits = bits_of(value);
    if (format == F16)
        memcpy((char *)to + i * 2, &half, 2);
    else if (format == BF16)
        memcpy((char *)to + i * 2, (char *)&bits + 2, 2);
    else
        memcpy((char *)to + i * 4, &value, 4);
}

static float get(const void *from, uint32_t i, Format format)
{
    _Float16 half;
    float value;
    memcpy(&half, (const char *)from + i * 2, 2);
    if (format == F16) return (float)half;
    memcpy(&value, (const char *)from + i * 4, 4);
    return value;
}

/* Position of element e of register r of a lane, with `each` elements per register (PTX ISA,
 * "Matrix Fragments for mma"): in a, b, or c and d. */
static uint32_t place(const Form *form, char matrix, uint32_t lane, uint32_t r, uint32_t e,
                      uint32_t each)
{
    uint32_t line = lane / 4, beside = lane % 4;
    if (matrix == 'a') return (line + r % 2 * 8) * form->k + r / 2 * 4 * each + beside * each + e;
    if (matrix == 'b') return (r * 4 * each + beside * each + e) * form->n + line;
    return each == 2 ? (line + r * 8) * form->n + beside * 2 + e
                     : (line + r / 2 * 8) * form->n + beside * 2 + r % 2;
}

/* Copies a matrix from or to a kernel's memory: unchanged, or for mma register by register. */
static void matrix_move(const Form *form, char matrix, Format format, float *value, void *memory,
                        int gets)
{
    uint32_t each = format == F16 || format == BF16 ? 2 : 1,
             size = matrix == 'a'   ? form->m * form->k
                    : matrix == 'b' ? form->k * form->n
                                    : form->m * form->n;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t r = i / (32 * each), lane = i / each % 32,
                 at = form->wmma ? i : place(form, matrix, lane, r, i % each, each);
        if (gets)
            value[at] = get(memory, i, format);
        else
            put(memory, i, value[at], format);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */
static uint32_t registers(const Form *form, char matrix)
{
    Format format = matrix == 'c' ? form->from : matrix == 'd' ? form->to : form->factors;
    uint32_t size = matrix == 'a'   ? form->m * form->k
                    : matrix == 'b' ? form->k * form->n
                                    : form->m * form->n,
             count = size / 32 / (format == F16 || format == BF16 ? 2 : 1);
    if (!form->wmma || matrix > 'b' || format == TF32) return count;
    return format == F16 ? 8 : form->m == 16 ? 4 : matrix == 'a' ? form->m / 4 : form->n / 4;
}

/* "{%a0, %a1}" */
static void list_write(FILE *out, const Form *form, char matrix)
{
    for (uint32_t i = 0; i < registers(form, matrix); i++)
        fprintf(out, "%s%%%c%u", i ? ", " : "{", matrix, i);
    fprintf(out, "}");
}

/* wmma's loads and its store, or registers one after the other, one word per lane. */
static void access_write(FILE *out, const Form *form, char matrix)
{
    static const char *const NAME[] = {"f16", "bf16", "tf32", "f32"};
    Format format = matrix == 'c' ? form->from : matrix == 'd' ? form->to : form->factors;
    const char *what = matrix == 'd' ? "store" : "load";
    if (form->wmma) {
        fprintf(out, "wmma.%s.%c.sync.aligned.row.m%un%uk%u.global.%s ", what, matrix, form->m,
                form->n, form->k, NAME[format]);
        if (matrix == 'd') fprintf(out, "[%%p%c], ", matrix);
        list_write(out, form, matrix);
        fprintf(out, matrix == 'd' ? ";\n" : ", [%%p%c];\n", matrix);
    }
    for (uint32_t i = 0; i < registers(form, matrix) && !form->wmma; i++)
        if (matrix == 'd')
            fprintf(out, "st.global.b32 [%%q%c+%u], %%%c%u;\n", matrix, i * 128, matrix, i);
        else
            fprintf(out, "ld.global.b32 %%%c%u, [%%q%c+%u];\n", matrix, i, matrix, i * 128);
}

static void text_write(char *text, size_t bytes, const Form *form)
{
    FILE *out = fmemopen(text, bytes, "w");
    assert_non_null(out);
    fprintf(out, HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 "
                      "d)\n{\n.reg .b32 %%a<8>, %%b<8>, %%c<8>, %%d<8>, %%t;\n"
                      ".reg .b64 %%pa, %%pb, %%pc, %%pd, %%qa, %%qb, %%qc, %%qd, %%t8;\n"
                      "mov.u32 %%t, %%tid.x;\nmul.wide.u32 %%t8, %%t, 4;\n");
    for (char matrix = 'a'; matrix <= 'd'; matrix++)
        fprintf(out, "ld.param.u64 %%p%c, [%c];\nadd.u64 %%q%c, %%p%c, %%t8;\n", matrix, matrix,
                matrix, matrix);
    for (char matrix = 'a'; matrix <= 'c'; matrix++)
        access_write(out, form, matrix);
    fprintf(out, "%s%s ", form->wmma ? "wmma.mma.sync.aligned.row.row." : "mma.sync.aligned.",
            form->words);
    for (char matrix = 0; matrix < 4; matrix++) {
        if (matrix) fprintf(out, ", ");
        list_write(out, form, "dabc"[(int)matrix]);
    }
    fprintf(out, ";\n");
    access_write(out, form, 'd');
    fprintf(out, "ret;\n}\n");
    assert_int_equal(fclose(out), 0);
}

static int same(float x, float y)
{
    return x != x ? y != y : bits_of(x) == bits_of(y) || (x == 0 && y == 0);
}

static void form_check(SimtGpu *gpu, const Form *form, Spread spread)
{
    static float memory[4][MOST];
    char text[8192];
    uint64_t params[4];
    SimtResult result;
    matrices_draw(form, spread);
    product_expect(form);
    matrix_move(form, 'a', form->factors, a, memory[0], 0);
    matrix_move(form, 'b', form->factors, b, memory[1], 0);
    matrix_move(form, 'c', form->from, c, memory[2], 0);
    for (int i = 0; i < 4; i++)
        params[i] = device_data(gpu, memory[i], sizeof memory[i]);
    text_write(text, sizeof text, form);
    if (run(gpu, text, 1, 32, 0, params, sizeof params, &result) != 0)
        fail_msg("%s: %s", form->words, result.report.text);
    device_fetch(gpu, params[3], memory[3], sizeof memory[3]);
    matrix_move(form, 'd', form->to, d, memory[3], 1);
    for (uint32_t i = 0; i < form->m * form->n; i++)
        if (!same(want[i], d[i]))
            fail_msg("%s, level %d, numbers %d, element %u: %a, not %a", form->words, exec_level,
                     (int)spread, i, d[i], want[i]);
}

static void sums_are_truncated(void **state)
{
    (void)state;
    for (exec_level = 0; exec_level <= 2; exec_level++)
        for (Spread spread = NEAR; spread < SPREADS; spread++) {
            SimtGpu *gpu = gpu_open(1, 0, 0);
            for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
                for (int round = 0; round < (spread == FULL ? 1 : ROUNDS); round++)
                    form_check(gpu, &FORMS[i], spread);
            simt_close(gpu);
        }
    exec_level = 2;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_truncated)};
    return cmocka_run_group_tests_name("sums of products", tests, NULL, NULL);
}
