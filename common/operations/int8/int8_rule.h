/* int8_rule.h - the definition of conv_int8, with or without a mistake: the oracle of conv_int8.c,
 * and the mistakes of int8_mistakes.c. */
#ifndef CONVLAB_COMMON_OPERATIONS_INT8_INT8_RULE_H
#define CONVLAB_COMMON_OPERATIONS_INT8_INT8_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "common/operations/int8/fragments.h"
#include "common/operations/int8/int8_words.h"
#include "common/operations/int8/quantize.h"
#include "common/operations/operation/diagnose.h"

enum { TENSOR_X, TENSOR_W, TENSOR_BIAS, TENSOR_SCALE, TENSOR_Y, TENSORS };
enum { LOWEST = -128, LARGEST = 127 };

typedef enum Overflow {
    OVERFLOW_SATURATE,
    OVERFLOW_WRAP,
    OVERFLOW_SYMMETRIC,
    OVERFLOW_UNSIGNED /* clamped to 0 .. 255 */
} Overflow;

/* The definition, with or without a mistake. */
typedef struct Rule {
    Int8Problem p;
    const int8_t *x, *w;
    const float *bias, *scale; /* bias: the bits of ints */
    Rounding rounding;
    Overflow overflow;
    int unsigned_x, unsigned_w; /* Booleans: bytes are 0 .. 255 */
    int channels;               /* bytes of a pixel that take part */
    int is_slow;                /* Boolean: the multiplications of bytes have a mistake */
    int step, part;             /* the first `part` of each `step` channels take part */
    int rows, columns;          /* taps of a filter that take part */
    int flipped, transposed;    /* Booleans: of the filter's taps */
    int no_sum, zeros;          /* Booleans: sums, or outputs, are 0 */
    int first_image, one_scale, one_bias, no_bias, bias_late; /* Booleans */
    int bias_subtracted, short_sums;                          /* Booleans */
    int filters_apart, pixels_apart; /* output k or pixel j has the value of k ^ or j ^ this */
    int sums_apart;                  /* filter k has the sum of k ^ this, with its own bias */
    int in_order;                    /* Boolean: sums of a tile are stored in the tile's order */
    int x_mask, w_mask; /* channel c is multiplied by those of c & mask; -1: by its own */
    int first_of_four;  /* Boolean: filters 4*i .. 4*i+3 have the sum of filter 4*i */
    int one_tap_apart;  /* Boolean: filter 4*i + j starts j taps after filter 4*i */
    Fragments fragments;
} Rule;

Int8Problem int8_unpack(const Problem *problem);

/* Multiply-adds of one output, and of all. */
double int8_terms(const Int8Problem *p);
double int8_macs(const Int8Problem *p);

/* Maps of the unpacked output, and its number of values. */
int int8_maps(const Int8Problem *p);
size_t int8_outputs(const Int8Problem *p);

/* The rule without a mistake.  It refers to the tensors x, w, bias and scale. */
Rule int8_rule(const Problem *problem, const float *const *tensor);

/* Output `index` of the default layout; all of them. */
double int8_rule_value(const Rule *rule, size_t index);
void int8_rule_fill(const Rule *rule, double *value);

/* Operation.explain of conv_int8. */
void int8_explain(const Judgement *judged, ProbeRun run, void *context, Finding *finding);

#endif
