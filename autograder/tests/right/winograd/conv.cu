/* Winograd's F(2x2,3x3) for 3x3 filters at stride 1, the definition for all others. */
#include <convlab/conv.h>

/* Term i of an output, in the order c, r, s. */
__device__ static float term(const ConvProblem &p, const float *x, const float *w, int n, int k,
                             int op, int oq, int i)
{
    int s = i % p.S, r = i / p.S % p.R, c = i / p.S / p.R;
    int ih = op * p.stride_h - p.pad_top + r, iw = oq * p.stride_w - p.pad_left + s;
    if (ih < 0 || ih >= p.H || iw < 0 || iw >= p.W) return 0.0f;
    return x[((n * p.C + c) * p.H + ih) * p.W + iw] * w[k * p.C * p.R * p.S + i];
}

__device__ static void line(const float *d, int step, float *v)
{
    float a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    v[0] = a - c, v[step] = b + c, v[2 * step] = c - b, v[3 * step] = b - e;
}

/* Outputs (2*tp, 2*tq) to (2*tp+1, 2*tq+1) of map (n, k). */
__device__ static void patch(const ConvProblem &p, const float *x, const float *w, int n, int k,
                             int tp, int tq, float *y)
{
    float sum[16] = {};
    for (int c = 0; c < p.C; c++) {
        float d[16], u[16], rows[12];
        const float *g = w + (k * p.C + c) * 9;
        for (int i = 0; i < 16; i++) {
            int ih = tp * 2 + i / 4 - p.pad_top, iw = tq * 2 + i % 4 - p.pad_left;
            bool inside = ih >= 0 && ih < p.H && iw >= 0 && iw < p.W;
            d[i] = inside ? x[((n * p.C + c) * p.H + ih) * p.W + iw] : 0.0f;
        }
        for (int i = 0; i < 4; i++)
            line(d + i, 4, d + i);
        for (int i = 0; i < 4; i++)
            line(d + 4 * i, 1, d + 4 * i);
        for (int i = 0; i < 3; i++) {
            rows[i] = g[i], rows[9 + i] = g[6 + i];
            rows[3 + i] = 0.5f * (g[i] + g[3 + i] + g[6 + i]);
            rows[6 + i] = 0.5f * (g[i] - g[3 + i] + g[6 + i]);
        }
        for (int i = 0; i < 4; i++) {
            const float *r = rows + 3 * i;
            u[4 * i] = r[0], u[4 * i + 3] = r[2];
            u[4 * i + 1] = 0.5f * (r[0] + r[1] + r[2]);
            u[4 * i + 2] = 0.5f * (r[0] - r[1] + r[2]);
        }
        for (int i = 0; i < 16; i++)
            sum[i] += u[i] * d[i];
    }
    for (int i = 0; i < 4; i++) {
        int op = tp * 2 + i / 2, oq = tq * 2 + i % 2;
        float column[4];
        for (int j = 0; j < 4; j++)
            column[j] =
                i / 2 ? sum[4 + j] - sum[8 + j] - sum[12 + j] : sum[j] + sum[4 + j] + sum[8 + j];
        if (op < p.P && oq < p.Q)
            y[((n * p.K + k) * p.P + op) * p.Q + oq] =
                i % 2 ? column[1] - column[2] - column[3] : column[0] + column[1] + column[2];
    }
}

__global__ void winograd_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int down = (p.P + 1) / 2, across = (p.Q + 1) / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.N * p.K * down * across) return;
    patch(p, x, w, i / across / down / p.K, i / across / down % p.K, i / across % down, i % across,
          y);
}

__global__ void plain_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.N * p.K * p.P * p.Q) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
    float sum = 0.0f;
    for (int j = 0; j < p.C * p.R * p.S; j++)
        sum += term(p, x, w, n, k, op, oq, j);
    y[i] = sum;
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    int outputs = p->N * p->K * p->P * p->Q;
    int patches = p->N * p->K * ((p->P + 1) / 2) * ((p->Q + 1) / 2);
    if (p->R == 3 && p->S == 3 && p->stride_h == 1 && p->stride_w == 1)
        winograd_kernel<<<(patches + 127) / 128, 128, 0, stream>>>(*p, x, w, y);
    else
        plain_kernel<<<(outputs + 127) / 128, 128, 0, stream>>>(*p, x, w, y);
}
