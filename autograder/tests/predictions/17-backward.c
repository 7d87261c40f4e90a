/* Lab 17: the two gradients, counted multiplication by multiplication. */
#include <math.h>
#include <stdlib.h>

#include "autograder/tests/predictions/derive.h"

/* Calls `seen` for every multiplication of the forward pass whose input lies inside of x. */
typedef void Seen(const ConvProblem *p, int n, int c, int h, int w, int r, int s, void *context);

static void each_product(const ConvProblem *p, Seen *seen, void *context)
{
    for (int n = 0; n < p->N; n++)
        for (int op = 0; op < p->P; op++)
            for (int oq = 0; oq < p->Q; oq++)
                for (int c = 0; c < p->C; c++)
                    for (int tap = 0; tap < p->R * p->S; tap++) {
                        int r = tap / p->S, s = tap % p->S;
                        int h = op * p->stride_h + r - p->pad_top;
                        int w = oq * p->stride_w + s - p->pad_left;
                        if (h >= 0 && h < p->H && w >= 0 && w < p->W)
                            seen(p, n, c, h, w, r, s, context);
                    }
}

static void count_first_tap(const ConvProblem *p, int n, int c, int h, int w, int r, int s,
                            void *count)
{
    (void)p, (void)n, (void)h, (void)w;
    if (c == 0 && r == 0 && s == 0) ++*(double *)count;
}

/* The scatter's additions to weight (k, 0, 0, 0), one by one. */
static double additions(const Given *given)
{
    double count = 0;
    each_product(&given->p, count_first_tap, &count);
    return count;
}

static void mark_pixel(const ConvProblem *p, int n, int c, int h, int w, int r, int s, void *marks)
{
    (void)r, (void)s;
    ((char *)marks)[((n * p->C + c) * p->H + h) * p->W + w] = 1;
}

/* Marks what any window reaches, and counts what has no mark. */
static double untouched(const Given *given)
{
    const ConvProblem *p = &given->p;
    int pixels = p->N * p->C * p->H * p->W, left = 0;
    char *marks = calloc((size_t)pixels, 1);
    if (!marks) return NAN;
    each_product(p, mark_pixel, marks);
    for (int i = 0; i < pixels; i++)
        left += !marks[i];
    free(marks);
    return left;
}

/* Asks for every pixel and tap whether there is a gradient. */
static double outside(const Given *given)
{
    const ConvProblem *p = &given->p;
    int asked = 0, out = 0;
    for (int h = 0; h < p->H; h++)
        for (int w = 0; w < p->W; w++)
            for (int tap = 0; tap < p->R * p->S; tap++) {
                int op = h + p->pad_top - tap / p->S, oq = w + p->pad_left - tap % p->S;
                asked++;
                out += op < 0 || op >= p->P || oq < 0 || oq >= p->Q;
            }
    return 100.0 * out / asked;
}

/* Phases whose pixels use any tap. */
static double phases(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int y = 0; y < p->stride_h; y++)
        for (int x = 0; x < p->stride_w; x++) {
            int meets = 0;
            for (int tap = 0; tap < p->R * p->S; tap++)
                meets |= (y + p->pad_top - tap / p->S) % p->stride_h == 0 &&
                         (x + p->pad_left - tap % p->S) % p->stride_w == 0;
            count += meets;
        }
    return count;
}

static void count_product(const ConvProblem *p, int n, int c, int h, int w, int r, int s,
                          void *count)
{
    (void)p, (void)n, (void)c, (void)h, (void)w, (void)r, (void)s;
    ++*(double *)count;
}

/* Without padding every element of the matrix is the input of one multiplication. */
static double expansion(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    each_product(p, count_product, &count);
    return count / p->N / p->C / p->H / p->W;
}

/* Takes 8 filters, 32 taps and 64 rows away until none are left. */
static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int k = p->K; k > 0; k -= 8)
        for (int taps = p->C * p->R * p->S; taps > 0; taps -= 32)
            for (int rows = p->N * p->P * p->Q; rows > 0; rows -= 64)
                count++;
    return count;
}

/* Size of the kernel's declared arrays, with its tile's constants. */
static double shared(const Given *given)
{
    struct {
        float left[2][32][8 + 4], right[2][32][32 + 4];
        struct {
            int input, at, slope, unused;
        } table[256];
    } memory;
    (void)given;
    return sizeof memory;
}

const LabDerivations derive_17 = {"17-backward",
                                  {
                                      {"additions", additions},
                                      {"untouched", untouched},
                                      {"outside", outside},
                                      {"phases", phases},
                                      {"expansion", expansion},
                                      {"blocks", blocks},
                                      {"shared", shared},
                                      {0},
                                  }};
