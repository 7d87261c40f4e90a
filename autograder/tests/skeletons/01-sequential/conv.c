/* Lab 01: convolution on one core.  Edit only the TODO regions. */
#include <convlab/conv.h>

/* Helpers for a fast TODO(1), defined below. */
static int row_first(int tap, int pad, int stride);
static int row_end(int tap, int pad, int stride, int size, int outputs);
static void row_add(float *restrict y, const float *restrict x, float weight, int first, int end,
                    int stride, int shift);

/* y[n][k][op][oq] = the sum over c, r, s of x[n][c][ih][iw] * w[k][c][r][s], with
 * ih = op*stride_h + r - pad_top and iw = oq*stride_w + s - pad_left. */
void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    // TODO(1): Write the seven loops of the formula, first correct, then fast.
    // Fast: set each row of outputs to zero, then add every tap that is inside the input.
    (void)p, (void)x, (void)w, (void)y;
    (void)row_first, (void)row_end, (void)row_add; /* delete this line when you call them */
    // END TODO(1)
}

/* Along a row, output q reads input q*stride + tap - pad.  The outputs whose input is inside
 * 0..size-1 are contiguous: row_first <= q < row_end.  These bounds replace a test in the loop. */
static int row_first(int tap, int pad, int stride)
{
    // TODO(2): Return the smallest q >= 0 with q*stride + tap - pad >= 0.
    (void)tap, (void)pad, (void)stride;
    return 0;
    // END TODO(2)
}

static int row_end(int tap, int pad, int stride, int size, int outputs)
{
    // TODO(3): Return one more than the largest q < outputs with q*stride + tap - pad <= size - 1.
    (void)tap, (void)pad, (void)stride, (void)size, (void)outputs;
    return 0;
    // END TODO(3)
}

/* Adds one tap to a row: y[q] += weight * x[q*stride + shift] for first <= q < end.  The iterations
 * are independent and have no test.  At stride 1 the compiler vectorises them by four. */
static void row_add(float *restrict y, const float *restrict x, float weight, int first, int end,
                    int stride, int shift)
{
    // TODO(4): Add this tap to the row; give stride 1 its own loop.
    (void)y, (void)x, (void)weight, (void)first, (void)end, (void)stride, (void)shift;
    // END TODO(4)
}
