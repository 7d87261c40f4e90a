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
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (int op = 0; op < p->P; op++) {
                float *out = y + ((n * p->K + k) * p->P + op) * p->Q;
                for (int oq = 0; oq < p->Q; oq++)
                    out[oq] = 0.0f;

                for (int c = 0; c < p->C; c++)
                    for (int r = 0; r < p->R; r++) {
                        int ih = op * p->stride_h + r - p->pad_top;
                        if (ih < 0 || ih >= p->H) continue;
                        const float *in = x + ((n * p->C + c) * p->H + ih) * p->W;
                        const float *taps = w + ((k * p->C + c) * p->R + r) * p->S;
                        for (int s = 0; s < p->S; s++) {
                            int first = row_first(s, p->pad_left, p->stride_w);
                            int end = row_end(s, p->pad_left, p->stride_w, p->W, p->Q);
                            row_add(out, in, taps[s], first, end, p->stride_w, s - p->pad_left);
                        }
                    }
            }
    // END TODO(1)
}

/* Along a row, output q reads input q*stride + tap - pad.  The outputs whose input is inside
 * 0..size-1 are contiguous: row_first <= q < row_end.  These bounds replace a test in the loop. */
static int row_first(int tap, int pad, int stride)
{
    // TODO(2): Return the smallest q >= 0 with q*stride + tap - pad >= 0.
    return tap >= pad ? 0 : (pad - tap + stride - 1) / stride;
    // END TODO(2)
}

static int row_end(int tap, int pad, int stride, int size, int outputs)
{
    // TODO(3): Return one more than the largest q < outputs with q*stride + tap - pad <= size - 1.
    int span = size - 1 + pad - tap; /* from output 0's input to the row's last input */
    int end = span < 0 ? 0 : span / stride + 1;
    return end < outputs ? end : outputs;
    // END TODO(3)
}

/* Adds one tap to a row: y[q] += weight * x[q*stride + shift] for first <= q < end.  The iterations
 * are independent and have no test.  At stride 1 the compiler vectorises them by four. */
static void row_add(float *restrict y, const float *restrict x, float weight, int first, int end,
                    int stride, int shift)
{
    // TODO(4): Add this tap to the row; give stride 1 its own loop.
    if (stride == 1)
        for (int q = first; q < end; q++)
            y[q] += weight * x[q + shift];
    else
        for (int q = first; q < end; q++)
            y[q] += weight * x[q * stride + shift];
    // END TODO(4)
}
