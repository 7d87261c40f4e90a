/* tool_rounding.c - root mean square error of sums of m products.
 *
 *   tool_rounding        inputs, or sums, of few bits: in parts of u = 2^-11 times that of the sum;
 *                        the grader's limit is 2
 *
 *   tool_rounding fp32   in an fp32 lab: in parts of u*sum|x*w|/m^(1/4), u = 2^-24; the limit is
 *                        48 up to m = 4,096, and 128 from m = 29,000 on */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/operations/operation/random.h"
#include "common/operations/operation/verdict.h"

enum { SUMS = 1500, MMA_DEPTH = 16, WAYS = 4 };
static const char *const WAY[WAYS] = {"rounded to nearest, 11 bits", "cut off after 11 bits",
                                      "bf16: rounded to nearest, 8 bits",
                                      "11 bits, and sums in fp16"};

static double rounded(double value, int bits)
{
    int exponent;
    double mantissa = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(mantissa, bits)), exponent - bits);
}

static double cut_off(double value, int bits)
{
    int exponent;
    double mantissa = frexp(value, &exponent);
    return ldexp(trunc(ldexp(mantissa, bits)), exponent - bits);
}

static double input_of(int way, double value)
{
    if (way == 1) return cut_off(value, 11);
    return rounded(value, way == 2 ? 8 : 11);
}

/* Adds the squared errors of the four variants, and the square of the sum itself. */
static void add_squares(int terms, Random *random, double error[WAYS], double *square)
{
    double exact = 0, half = 0;
    float sum[WAYS] = {0};
    for (int i = 0; i < terms; i++) {
        double x = random_wide(random), w = random_wide(random);
        exact += x * w;
        for (int way = 0; way < WAYS; way++)
            sum[way] += (float)(input_of(way, x) * input_of(way, w));
        /* A tensor core adds 16 terms at a time to an accumulator in fp16. */
        if (i % MMA_DEPTH != MMA_DEPTH - 1 && i != terms - 1) continue;
        half = rounded(half + sum[3], 11);
        sum[3] = 0;
    }
    sum[3] = (float)half;
    for (int way = 0; way < WAYS; way++)
        error[way] += (sum[way] - exact) * (sum[way] - exact);
    *square += exact * exact;
}

/* ---- in an fp32 lab ---------------------------------------------------------------------- */

enum { PLAIN_WAYS = 5, PLAIN_SUMS = 300 };
static const char *const PLAIN_WAY[PLAIN_WAYS] = {"fp32, one accumulator", "fp32, 32 accumulators",
                                                  "inputs of 16 bits", "tf32 or fp16 inputs",
                                                  "bf16 inputs"};

/* Adds the squared errors of one sum, in units of u*sum|x*w|/m^(1/4). */
static void plain_squares(int terms, Random *random, double square[PLAIN_WAYS])
{
    double exact = 0, magnitude = 0, most = 0, few = 0, fewer = 0;
    float sum = 0, side[32] = {0}, together = 0;
    for (int i = 0; i < terms; i++) {
        float x = random_wide(random), w = random_wide(random);
        exact += (double)x * w;
        magnitude += fabs((double)x * w);
        sum += x * w;
        side[i % 32] += x * w;
        most += rounded(x, 16) * rounded(w, 16);
        few += rounded(x, 11) * rounded(w, 11);
        fewer += rounded(x, 8) * rounded(w, 8);
    }
    for (int i = 0; i < 32; i++)
        together += side[i];
    const double got[PLAIN_WAYS] = {sum, together, most, few, fewer};
    for (int way = 0; way < PLAIN_WAYS; way++) {
        double part = (got[way] - exact) / (UNIT_FP32 * magnitude / sqrt(sqrt(terms)));
        square[way] += part * part;
    }
}

static int print_plain(Random *random)
{
    static const int terms[] = {1, 27, 576, 4608, 40000};
    enum { LENGTHS = sizeof terms / sizeof *terms };
    double square[LENGTHS][PLAIN_WAYS] = {{0}};
    printf("sums");
    for (int i = 0; i < LENGTHS; i++) {
        printf("\t%d", terms[i]);
        for (int j = 0; j < PLAIN_SUMS; j++)
            plain_squares(terms[i], random, square[i]);
    }
    for (int way = 0; way < PLAIN_WAYS; way++) {
        printf("\n%s", PLAIN_WAY[way]);
        for (int i = 0; i < LENGTHS; i++)
            printf("\t%.*f", square[i][way] < 100 * PLAIN_SUMS, sqrt(square[i][way] / PLAIN_SUMS));
    }
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    static const int terms[] = {27, 600, 700, 4608};
    enum { LENGTHS = sizeof terms / sizeof *terms };
    double ratio[LENGTHS][WAYS];
    Random random;
    random_seed(&random, 1);
    if (argc == 2 && !strcmp(argv[1], "fp32")) return print_plain(&random);
    for (int i = 0; i < LENGTHS; i++) {
        double error[WAYS] = {0}, square = 0;
        for (int j = 0; j < SUMS; j++)
            add_squares(terms[i], &random, error, &square);
        for (int way = 0; way < WAYS; way++)
            ratio[i][way] = sqrt(error[way] / square) / 0x1p-11;
    }
    printf("inputs");
    for (int i = 0; i < LENGTHS; i++)
        printf("\t%d", terms[i]);
    for (int way = 0; way < WAYS; way++) {
        printf("\n%s", WAY[way]);
        for (int i = 0; i < LENGTHS; i++)
            printf("\t%.2f", ratio[i][way]);
    }
    putchar('\n');
    return 0;
}
