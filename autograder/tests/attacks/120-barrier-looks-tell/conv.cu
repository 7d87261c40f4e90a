/* Wrong where the number of looks at a barrier in shared memory tells a replay from the call. */
#include <convlab/conv.h>

__device__ int is_first;

__global__ void ask_kernel()
{
    __shared__ __align__(8) unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    if (threadIdx.x >= 32)
        for (int i = 0; i < 1000; i++)
            __nanosleep(100);
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory");
    int done = 0, looks = 0;
    while (!done) {
        asm volatile("{.reg .pred p;\\n\\tmbarrier.test_wait.shared.b64 p, [%1], %2;\\n\\t"
                     "selp.b32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(at), "l"(token)
                     : "memory");
        looks++;
    }
    if (threadIdx.x == 0) is_first = looks LIMIT;
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
                int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
                if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                    sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                           w[((k * p.C + c) * p.R + r) * p.S + s];
            }
    y[((n * p.K + k) * p.P + op) * p.Q + oq] = is_first ? sum : 0.0f;
}

void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                  cudaStream_t stream)
{
    dim3 grid(p->N * p->K, (p->P + 15) / 16, (p->Q + 15) / 16), block(16, 16);
    ask_kernel<<<1, 64, 0, stream>>>();
    conv_kernel<<<grid, block, 0, stream>>>(*p, x, w, y);
}
