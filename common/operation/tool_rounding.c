/* tool_rounding.c - how far sums of m products are off, as a root mean square.  The grader's limit
 * is 2 in both tables (verify.c).
 *
 *   tool_rounding        inputs, or sums, of few bits: in parts of u = 2^-11 times that of the sum
 *   tool_rounding fp32   everything in fp32, added one by one: in parts of u*sqrt(m)*sum|x*w| */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/operation/random.h"
#include "common/operation/verdict.h"

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

/* Adds the squares of the four ways' errors, and of the sum itself. */
static void add_squares(int products, Random *random, double error[WAYS], double *square)
{
    double exact = 0, half = 0;
    float sum[WAYS] = {0};
    for (int i = 0; i < products; i++) {
        double x = random_wide(random), w = random_wide(random);
        exact += x * w;
        for (int way = 0; way < WAYS; way++)
            sum[way] += (float)(input_of(way, x) * input_of(way, w));
        /* A tensor core adds 16 products at a time to a sum in fp16. */
        if (i % MMA_DEPTH != MMA_DEPTH - 1 && i != products - 1) continue;
        half = rounded(half + sum[3], 11);
        sum[3] = 0;
    }
    sum[3] = (float)half;
    for (int way = 0; way < WAYS; way++)
        error[way] += (sum[way] - exact) * (sum[way] - exact);
    *square += exact * exact;
}

/* The error of one plain sum, squared, in parts of u*sqrt(m)*sum|x*w|. */
static double plain_square(int products, Random *random)
{
    double exact = 0, magnitude = 0;
    float sum = 0;
    for (int i = 0; i < products; i++) {
        float x = random_wide(random), w = random_wide(random);
        exact += (double)x * w;
        magnitude += fabs((double)x * w);
        sum += x * w;
    }
    double part = (sum - exact) / (UNIT_FP32 * sqrt(products) * magnitude);
    return part * part;
}

static int print_plain(Random *random)
{
    static const int products[] = {1, 27, 4608};
    printf("products\terror\n");
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        double squares = 0;
        for (int j = 0; j < SUMS; j++)
            squares += plain_square(products[i], random);
        printf("%d\t%.2f\n", products[i], sqrt(squares / SUMS));
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const int products[] = {27, 600, 700, 4608};
    enum { LENGTHS = sizeof products / sizeof *products };
    double ratio[LENGTHS][WAYS];
    Random random;
    random_seed(&random, 1);
    if (argc == 2 && !strcmp(argv[1], "fp32")) return print_plain(&random);
    for (int i = 0; i < LENGTHS; i++) {
        double error[WAYS] = {0}, square = 0;
        for (int j = 0; j < SUMS; j++)
            add_squares(products[i], &random, error, &square);
        for (int way = 0; way < WAYS; way++)
            ratio[i][way] = sqrt(error[way] / square) / 0x1p-11;
    }
    printf("inputs");
    for (int i = 0; i < LENGTHS; i++)
        printf("\t%d", products[i]);
    for (int way = 0; way < WAYS; way++) {
        printf("\n%s", WAY[way]);
        for (int i = 0; i < LENGTHS; i++)
            printf("\t%.2f", ratio[i][way]);
    }
    putchar('\n');
    return 0;
}
