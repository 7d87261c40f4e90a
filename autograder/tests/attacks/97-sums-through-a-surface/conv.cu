/* Each block adds its channel's part to a surface; nothing orders the blocks, and a GPU loses
 * updates. */
#include <convlab/conv.h>

enum { THREADS = 128 };

__global__ void add_kernel(const ConvProblem p, const float *__restrict__ x,
                           const float *__restrict__ w, cudaSurfaceObject_t sums)
{
    int map = p.P * p.Q, i = blockIdx.x * THREADS + threadIdx.x, c = blockIdx.y;
    if (i >= p.N * p.K * map) return;
    int oq = i % p.Q, op = i / p.Q % p.P, k = i / map % p.K, n = i / map / p.K;
    float sum = 0.0f, before;
    for (int r = 0; r < p.R; r++)
        for (int s = 0; s < p.S; s++) {
            int ih = op * p.stride_h + r - p.pad_top, iw = oq * p.stride_w + s - p.pad_left;
            if (ih >= 0 && ih < p.H && iw >= 0 && iw < p.W)
                sum += x[((n * p.C + c) * p.H + ih) * p.W + iw] *
                       w[((k * p.C + c) * p.R + r) * p.S + s];
        }
    surf2Dread(&before, sums, (i % map) * 4, i / map);
    surf2Dwrite(before + sum, sums, (i % map) * 4, i / map);
}

__global__ void copy_kernel(const ConvProblem p, cudaSurfaceObject_t sums, float *y, int store)
{
    int map = p.P * p.Q, i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0.0f;
    if (i >= p.N * p.K * map) return;
    if (store)
        surf2Dread(&sum, sums, (i % map) * 4, i / map), y[i] = sum;
    else
        surf2Dwrite(0.0f, sums, (i % map) * 4, i / map);
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    cudaArray_t array;
    cudaSurfaceObject_t sums;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, p->P * p->Q, p->N * p->K, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateSurfaceObject(&sums, &resource);
    int blocks = (p->N * p->K * p->P * p->Q + THREADS - 1) / THREADS;
    copy_kernel<<<blocks, THREADS, 0, stream>>>(*p, sums, y, 0);
    add_kernel<<<dim3(blocks, p->C), THREADS, 0, stream>>>(*p, x, w, sums);
    copy_kernel<<<blocks, THREADS, 0, stream>>>(*p, sums, y, 1);
    cudaStreamSynchronize(stream);
    cudaDestroySurfaceObject(sums);
    cudaFreeArray(array);
}
