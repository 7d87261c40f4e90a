/* Lab 01: convolution on one core.  Edit only the TODO regions. */
#include <convlab/conv.h>

#include <stddef.h>

/* Along a row, output q reads input q*stride + tap - pad.  The outputs for which that lies inside
 * 0..size-1 are neighbours: from row_first up to, and without, row_end.  Known before the loop,
 * they replace a test inside it. */
static int row_first(int tap, int pad, int stride)
{
    // TODO(1): Return the smallest q >= 0 with q*stride + tap - pad >= 0.
    (void)tap, (void)pad, (void)stride;
    return 0;
    // END TODO(1)
}

static int row_end(int tap, int pad, int stride, int size, int outputs)
{
    // TODO(2): Return one more than the largest q < outputs with q*stride + tap - pad <= size - 1.
    (void)tap, (void)pad, (void)stride, (void)size, (void)outputs;
    return 0;
    // END TODO(2)
}

/* One tap of a row: y[q] += weight * x[q*stride + shift] for first <= q < end.  No test, and no sum
 * that waits for the one before it: at stride 1 the compiler makes it four outputs at a time. */
static void row_add(float *restrict y, const float *restrict x, float weight, int first, int end,
                    int stride, int shift)
{
    // TODO(3): Add the products of this tap; give stride 1 a loop of its own.
    (void)y, (void)x, (void)weight, (void)first, (void)end, (void)stride, (void)shift;
    // END TODO(3)
}

/* One row of outputs (n, k, op) at a time, to which every tap (c, r, s) adds its products. */
void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    // TODO(4): Set each row of outputs to zero, then add every tap that lies inside the input.
    (void)p, (void)x, (void)w, (void)y;
    (void)row_first, (void)row_end, (void)row_add; /* until you call them */
    // END TODO(4)
}
