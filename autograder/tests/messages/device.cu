/* device.cu - the same for errors of a call outside of its kernels (faults of kernels are in
 * common/simulator/tests/faults).  Each exceeded limit lowers the next one, so the most expensive
 * case is last. */
#include <convlab/conv.h>

#include <signal.h>

/* Thread k computes y[k], `rounds` times with the same result. */
__global__ void multiply_kernel(const ConvProblem p, const float *x, const float *w, float *y,
                                int rounds)
{
    for (volatile int round = 0; round < rounds; round++)
        y[threadIdx.x] = x[0] * w[threadIdx.x];
}

__global__ void triple_kernel(const float *x, const float *w, float *y)
{
    y[threadIdx.x] = 3 * x[0] * w[threadIdx.x];
}

/* Copies 320 MiB to the device: more than a recording holds. */
static void copy_much(cudaStream_t stream)
{
    static char block[64 << 20];
    float *room;
    cudaMalloc(&room, sizeof block);
    for (int i = 0; i < 5; i++)
        cudaMemcpyAsync(room, block, sizeof block, cudaMemcpyHostToDevice, stream);
    cudaFree(room);
}

static char *volatile kept;

extern "C" void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y,
                             cudaStream_t stream)
{
    float *room = NULL;
    int rounds = 1;
    switch (p->K) {
    case 1: // SAYS A launch names no stream
        stream = 0;
        cudaDeviceSynchronize(); // SAYS Your code waits for the device
        break;
    case 2: // SAYS cannot be repeated on fresh inputs
        copy_much(stream);
        break;
    case 3: // SAYS killed by SIGSEGV
        y[0] = x[0];
        break;
    case 4: // SAYS of host memory
        kept = new char[(size_t)1 << 40];
        break;
    case 5: // SAYS for using too much time or memory
        raise(SIGKILL);
        break;
    case 7: // SAYS Each wrong output is 3 times the expected value.
        triple_kernel<<<1, p->K, 0, stream>>>(x, w, y);
        return;
    case 8: // SAYS or the size lacks sizeof(float): 8 elements would need 32 bytes.
        cudaMallocAsync(&room, p->K, stream);
        triple_kernel<<<1, p->K, 0, stream>>>(x, w, room);
        cudaFreeAsync(room, stream);
        break;
    case 6: // SAYS million warp instructions; no reference solution
        rounds = 1 << 30;
        // SAYS in kernel multiply_kernel in the loop at
        break;
    }
    multiply_kernel<<<1, p->K, 0, stream>>>(*p, x, w, y, rounds);
}
