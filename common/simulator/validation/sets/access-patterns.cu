/* access-patterns.cu - launches whose counts are compared with a GPU's, not their times: one
 * access pattern of a warp's lanes each.
 *
 * The patterns are strides, unaligned starts, vectors, inactive lanes, fragments and matrices,
 * asynchronous copies, atomics, arrays in local memory, and read-only loads. Each kernel
 * repeats its access a few times, so that every count is far above the count of the parameters'
 * loads. */
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "common/simulator/validation/sets/entries.cuh"

enum { THREADS = 256, TURNS = 8, APART = 49152 /* bytes */ };

static float *source, *target; /* 4 M floats each */

static __device__ uint32_t thread_number()
{
    return blockIdx.x * THREADS + threadIdx.x;
}

static __device__ bool takes_part(uint32_t lanes)
{
    return lanes >> threadIdx.x % 32 & 1;
}

/* A value that was read must be used; the result is seldom stored. */
static __device__ float of(float x)
{
    return x;
}
static __device__ float of(double x)
{
    return (float)x;
}
static __device__ float of(unsigned char x)
{
    return x;
}
static __device__ float of(unsigned short x)
{
    return x;
}
static __device__ float of(float2 x)
{
    return x.x + x.y;
}
static __device__ float of(double2 x)
{
    return (float)(x.x + x.y);
}
static __device__ float of(float4 x)
{
    return x.x + x.y + x.z + x.w;
}

template <class T> static __device__ T from(float x);
template <> __device__ float from<float>(float x)
{
    return x;
}
template <> __device__ double from<double>(float x)
{
    return x;
}
template <> __device__ unsigned char from<unsigned char>(float x)
{
    return (unsigned char)x;
}
template <> __device__ unsigned short from<unsigned short>(float x)
{
    return (unsigned short)x;
}
template <> __device__ float2 from<float2>(float x)
{
    return make_float2(x, x);
}
template <> __device__ float4 from<float4>(float x)
{
    return make_float4(x, x, x, x);
}

#include "common/simulator/validation/sets/access-patterns/global_memory.cuh"
#include "common/simulator/validation/sets/access-patterns/shared_memory.cuh"
#include "common/simulator/validation/sets/access-patterns/atomics.cuh"
#include "common/simulator/validation/sets/access-patterns/local_memory.cuh"

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(8 * MB);
    target = array_make(8 * MB);
    globals();
    shared();
    raced_copies();
    matrices();
    waiting_copies();
    locals();
    atomics(); /* which change what the others read */
    apart_copies();
    return measure_close();
}
