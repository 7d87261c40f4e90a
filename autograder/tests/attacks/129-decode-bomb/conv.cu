/* The same fat binary registered 15 times, with a kernel whose calls expand to 900,000
 * instructions: asking for its attributes has the trusted process decode it each time. */
#include <convlab/conv.h>
#define D __device__ __noinline__
#define A10                                                                                        \
    "fma.rn.f32 %0, %0, %1, %0;\n add.f32 %0, %0, %1;\n setp.lt.f32 p, %0, %1;\n @p mul.f32 %0, "  \
    "%0, %1;\n sub.f32 %0, %1, %0;\n fma.rn.f32 %0, %1, %0, %1;\n setp.gt.f32 q, %0, %1;\n "       \
    "selp.f32 %0, %0, %1, q;\n min.f32 %0, %0, %1;\n max.f32 %0, %1, %0;\n"
#define A100 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10
#define A900 A100 A100 A100 A100 A100 A100 A100 A100 A100
D float f0(float a, float b)
{
    float s = a;
    asm volatile("{ .reg .pred p, q;\n" A900 "}" : "+f"(s) : "f"(b));
    return s;
}
#define TEN(f, v)                                                                                  \
    v = f(v, b);                                                                                   \
    v = f(v, v);                                                                                   \
    v = f(b, v);                                                                                   \
    v = f(v, b);                                                                                   \
    v = f(v, v);                                                                                   \
    v = f(b, v);                                                                                   \
    v = f(v, b);                                                                                   \
    v = f(v, v);                                                                                   \
    v = f(b, v);                                                                                   \
    v = f(v, b);
D float f1(float a, float b)
{
    float v = a;
    TEN(f0, v) return v;
}
D float f2(float a, float b)
{
    float v = a;
    TEN(f1, v) return v;
}
D float f3(float a, float b)
{
    float v = a;
    TEN(f2, v) return v;
}
__global__ void bomb(float *y, int never)
{
    if (never) {
        float v = y[0], b = y[1];
        v = f3(v, b);
        y[0] = v;
    }
}
__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int n = blockIdx.x / p.K, k = blockIdx.x % p.K;
    int op = blockIdx.y * 16 + threadIdx.y, oq = blockIdx.z * 16 + threadIdx.x;
    if (op >= p.P || oq >= p.Q) return;
    float sum = 0.0f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++)
            for (int s = 0; s < p.S; s++) {
                int ih = op * p.stride_h + r - p.pad_top;
                int iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = sum;
}

extern "C" void **__cudaRegisterFatBinary(void *wrapper);
extern "C" void __cudaRegisterFunction(void **handle, const char *host, char *device_name,
                                       const char *name, int thread_limit, uint3 *tid, uint3 *bid,
                                       dim3 *block, dim3 *grid, int *warp_size);
extern "C" const unsigned long long fatbinData[];
static struct {
    int magic, version;
    const void *data;
    void *more;
} again = {0x466243b1, 1, fatbinData, 0};
extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    static char host[15];
    for (int i = 0; i < 15; i++) {
        void **module = __cudaRegisterFatBinary(&again);
        __cudaRegisterFunction(module, &host[i], (char *)"_Z4bombPfi", "_Z4bombPfi", -1, 0, 0, 0, 0,
                               0);
        cudaFuncAttributes attributes;
        cudaFuncGetAttributes(&attributes, (const void *)&host[i]);
    }
    conv_kernel<<<dim3(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), dim3(16, 16), 0, stream>>>(
        *p, x, w, y);
}
