// wide.h - integers of 128 bits: CUDA's multiplications, divisions and remainders, which are
// functions with many carries.
#ifndef CONVLAB_CONFORMANCE_HOPPER_WIDE_H
#define CONVLAB_CONFORMANCE_HOPPER_WIDE_H

#include "share.h"

typedef __int128 Signed;
typedef unsigned __int128 Unsigned;

enum { EDGES = 16, WIDE_LANES = 1024 };

// The first lanes use numbers with boundary values in each word; later ones random numbers of every
// length.
__device__ Unsigned wide_number(uint32_t lane, uint32_t which)
{
    const Unsigned one = 1, all = ~(Unsigned)0;
    const Unsigned edge[EDGES] = {1,
                                  2,
                                  3,
                                  all,
                                  all - 1,
                                  one << 127,
                                  (one << 127) - 1,
                                  (one << 127) + 1,
                                  one << 64,
                                  (one << 64) - 1,
                                  (one << 64) + 1,
                                  one << 63,
                                  (one << 32) - 1,
                                  one << 96,
                                  all << 64,
                                  (all << 33) + 5};
    if (lane < EDGES * EDGES) return edge[which ? lane % EDGES : lane / EDGES];
    Unsigned bits = 0;
    for (uint32_t i = 0; i < 4; i++)
        bits = bits << 32 | hash(lane * 8 + which * 4 + i);
    bits >>= hash(lane * 2 + which + 99999) % 128;
    return bits ? bits : 1;
}

__device__ void wide_keep(uint32_t *y, uint32_t lane, Unsigned value)
{
    for (uint32_t i = 0; i < 4; i++)
        y[lane * 4 + i] = (uint32_t)(value >> 32 * i);
}

// The minimum divided by -1 overflows: it is divided by 1 instead.
__device__ Signed wide_divisor(Unsigned a, Unsigned b)
{
    return a == (Unsigned)1 << 127 && b == ~(Unsigned)0 ? 1 : (Signed)b;
}

#define WIDE(NAME, VALUE)                                                                          \
    __global__ void NAME(uint32_t *y)                                                              \
    {                                                                                              \
        const uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;                               \
        const Unsigned a = wide_number(lane, 0), b = wide_number(lane, 1);                         \
        wide_keep(y, lane, (Unsigned)(VALUE));                                                     \
    }

WIDE(wide_product, a *b)
WIDE(wide_sum_of_square, a *a + b)
WIDE(wide_difference, a - b)
WIDE(wide_quotient, a / b)
WIDE(wide_remainder, a % b)
WIDE(wide_signed_quotient, (Signed)a / wide_divisor(a, b))
WIDE(wide_signed_remainder, (Signed)a % wide_divisor(a, b))
WIDE(wide_by_ten, a / 10 * 7 + a % 10)
WIDE(wide_shifts, (a << (uint32_t)(b % 128)) ^ (Unsigned)((Signed)a >> (uint32_t)(b % 128)))
WIDE(wide_order, (Unsigned)(a < b) | (Unsigned)((Signed)a < (Signed)b) << 1)

static void wide()
{
    static const struct {
        const char *name;
        void (*kernel)(uint32_t *);
    } FORMS[] = {{"wide_product", wide_product},
                 {"wide_sum_of_square", wide_sum_of_square},
                 {"wide_difference", wide_difference},
                 {"wide_quotient", wide_quotient},
                 {"wide_remainder", wide_remainder},
                 {"wide_signed_quotient", wide_signed_quotient},
                 {"wide_signed_remainder", wide_signed_remainder},
                 {"wide_by_ten", wide_by_ten},
                 {"wide_shifts", wide_shifts},
                 {"wide_order", wide_order}};
    for (const auto &form : FORMS) {
        if (!wanted(form.name)) continue;
        form.kernel<<<WIDE_LANES / 128, 128>>>(y);
        tell(form.name, y, WIDE_LANES * 4);
    }
}

#endif
