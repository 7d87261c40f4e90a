/* The launch and the fill before it are captured once, and done as a graph. */
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

__global__ void conv_kernel(const ConvProblem p, const float *x, const float *w, float *y)
{
    int outputs = p.N * p.K * p.P * p.Q, products = p.C * p.R * p.S;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += gridDim.x * blockDim.x) {
        int oq = i % p.Q, op = i / p.Q % p.P, k = i / p.Q / p.P % p.K, n = i / p.Q / p.P / p.K;
        float sum = 0.0f;
        for (int j = products - 1; j >= 0; j--)
            sum += term(p, x, w, n, k, op, oq, j);
        y[i] = sum;
    }
}

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    cudaStream_t captured;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking);
    cudaStreamBeginCapture(captured, cudaStreamCaptureModeThreadLocal);
    cudaMemsetAsync(y, 0, sizeof *y * p->N * p->K * p->P * p->Q, captured);
    conv_kernel<<<12, 128, 0, captured>>>(*p, x, w, y);
    cudaStreamEndCapture(captured, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(captured);
}
