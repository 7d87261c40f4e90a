/* Baseline: the plain loop nest in the order of the formula.  Do not edit. */
#include <convlab/conv.h>

void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)
{
    for (int n = 0; n < p->N; n++)
        for (int k = 0; k < p->K; k++)
            for (int op = 0; op < p->P; op++)
                for (int oq = 0; oq < p->Q; oq++) {
                    float sum = 0.0f;
                    for (int c = 0; c < p->C; c++)
                        for (int r = 0; r < p->R; r++)
                            for (int s = 0; s < p->S; s++) {
                                int ih = op * p->stride_h + r - p->pad_top;
                                int iw = oq * p->stride_w + s - p->pad_left;
                                if (ih < 0 || ih >= p->H || iw < 0 || iw >= p->W) continue;
                                sum += x[((n * p->C + c) * p->H + ih) * p->W + iw] *
                                       w[((k * p->C + c) * p->R + r) * p->S + s];
                            }
                    y[((n * p->K + k) * p->P + op) * p->Q + oq] = sum;
                }
}
