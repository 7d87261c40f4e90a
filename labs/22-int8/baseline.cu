/* The baseline of lab 22: quantisation with one thread per filter, and one thread per output that
 * multiplies one byte at a time. */
#include <convlab/int8.h>

enum { THREADS = 128 };

__global__ void quantize_kernel(const QuantizeProblem p, const float *w, int *y)
{
    const int k = blockIdx.x * THREADS + threadIdx.x, count = p.R * p.S * p.C;
    const int words = INT8_WORDS(p.C), filter_words = p.R * p.S * words;
    if (k >= p.K) return;
    const int first = p.per == INT8_PER_CHANNEL ? k : 0;
    const int last = p.per == INT8_PER_CHANNEL ? k + 1 : p.K;
    float largest = 0.0f;
    for (int i = first * count; i < last * count; i++)
        largest = fmaxf(largest, fabsf(w[i]));
    const float scale = largest > 0.0f ? largest / 127.0f : 1.0f;
    signed char *byte = (signed char *)&y[k * filter_words];
    for (int i = 0; i < 4 * filter_words; i++) {
        const int tap = i / (4 * words), c = i % (4 * words);
        byte[i] = c < p.C ? __float2int_rn(w[k * count + tap * p.C + c] / scale) : 0;
    }
    ((float *)&y[p.K * filter_words])[k] = scale;
}

__global__ void conv_kernel(const Int8Problem p, const signed char *x, const signed char *w,
                            const int *bias, const float *scale, void *y)
{
    const int maps = p.output == INT8_TO_INT8 ? 4 * INT8_WORDS(p.K) : p.K;
    const int i = blockIdx.x * THREADS + threadIdx.x, k = i % maps, pixel = i / maps;
    const int n = pixel / (p.P * p.Q), op = pixel / p.Q % p.P, oq = pixel % p.Q;
    const int bytes = 4 * INT8_WORDS(p.C);
    if (n >= p.N) return;
    int sum = k < p.K ? bias[k] : 0;
    for (int r = 0; r < p.R && k < p.K; r++)
        for (int s = 0; s < p.S; s++) {
            const int h = op * p.stride_h + r - p.pad_top, v = oq * p.stride_w + s - p.pad_left;
            if (h < 0 || h >= p.H || v < 0 || v >= p.W) continue;
            for (int c = 0; c < p.C; c++)
                sum += x[((n * p.H + h) * p.W + v) * bytes + c] *
                       w[((k * p.R + r) * p.S + s) * bytes + c];
        }
    float scaled = k < p.K ? (float)sum * scale[k] : 0.0f;
    if (p.relu) scaled = fmaxf(scaled, 0.0f);
    if (p.output == INT8_TO_INT8)
        ((signed char *)y)[i] = min(max(__float2int_rn(scaled), -128), 127);
    else
        ((float *)y)[i] = scaled;
}

extern "C" void quantize(const QuantizeProblem *p, const float *w, int *y, cudaStream_t stream)
{
    quantize_kernel<<<(p->K + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*p, w, y);
}

extern "C" void conv_int8(const Int8Problem *p, const int *x, const int *w, const int *bias,
                          const float *scale, void *y, cudaStream_t stream)
{
    const int maps = p->output == INT8_TO_INT8 ? 4 * INT8_WORDS(p->K) : p->K;
    const int outputs = p->N * p->P * p->Q * maps;
    conv_kernel<<<(outputs + THREADS - 1) / THREADS, THREADS, 0, stream>>>(
        *p, (const signed char *)x, (const signed char *)w, bias, scale, y);
}
