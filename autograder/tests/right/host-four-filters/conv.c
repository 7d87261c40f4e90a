/* Four filters at once: a loaded input is used for four rows of outputs. */
#include <convlab/conv.h>

enum { ROWS = 4, LONGEST = 1024 };

/* Adds the tap with these weights to four rows of outputs q = first .. end-1. */
static void rows_add(float (*restrict row)[LONGEST], const float *restrict x, const float *weight,
                     int first, int end, int step)
{
    float a = weight[0], b = weight[1], c = weight[2], d = weight[3];
    if (step == 1)
        for (int q = first; q < end; q++) {
            float value = x[q];
            row[0][q] += a * value, row[1][q] += b * value;
            row[2][q] += c * value, row[3][q] += d * value;
        }
    else
        for (int q = first; q < end; q++)
            for (int i = 0; i < ROWS; i++)
                row[i][q] += weight[i] * x[q * step];
}

/* Outputs q of a row whose input q*step + tap is in 0 .. size-1: first .. end-1. */
static int first_of(int tap, int step)
{
    return tap >= 0 ? 0 : (step - 1 - tap) / step;
}

static int end_of(int tap, int step, int size, int outputs)
{
    int end = size <= tap ? 0 : (size - 1 - tap) / step + 1;
    return end < outputs ? end : outputs;
}

/* Outputs q0 .. q0+count-1 of row op of the filters k .. k+rows-1. */
static void rows_make(const ConvProblem *p, const float *x, const float *w, float *y, int n, int k,
                      int rows, int op, int q0, int count)
{
    static float row[ROWS][LONGEST];
    for (int i = 0; i < ROWS; i++)
        for (int q = 0; q < count; q++)
            row[i][q] = 0.0f;
    for (int c = 0; c < p->C; c++)
        for (int r = 0; r < p->R; r++) {
            int ih = op * p->stride_h + r - p->pad_top;
            if (ih < 0 || ih >= p->H) continue;
            const float *in = x + ((n * p->C + c) * p->H + ih) * p->W;
            for (int s = 0; s < p->S; s++) {
                float weight[ROWS] = {0};
                for (int i = 0; i < rows; i++)
                    weight[i] = w[(((k + i) * p->C + c) * p->R + r) * p->S + s];
                int tap = q0 * p->stride_w + s - p->pad_left;
                int first = first_of(tap, p->stride_w);
                rows_add(row, in + tap, weight, first, end_of(tap, p->stride_w, p->W, count),
                         p->stride_w);
            }
        }
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < count; q++)
            y[((n * p->K + k + i) * p->P + op) * p->Q + q0 + q] = row[i][q];
}

void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k += ROWS)
            for (int op = 0; op < p->P; op++)
                for (int q0 = 0; q0 < p->Q; q0 += LONGEST) {
                    int rows = p->K - k < ROWS ? p->K - k : ROWS;
                    int count = p->Q - q0 < LONGEST ? p->Q - q0 : LONGEST;
                    rows_make(p, x, w, y, n, k, rows, op, q0, count);
                }
}
