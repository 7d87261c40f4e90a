/* l2-streams.cu - traffic through the L2 to DRAM and back.
 *
 * The streams read, write or do both; they differ in size and in bytes in flight. Other
 * launches store parts of sectors, in order and scattered, store records of several words, or
 * access memory segments at random places. */
#include "common/simulator/validation/sets/entries.cuh"

static float *source, *target; /* 16 and 64 M floats */

__device__ static uint32_t mix(uint32_t i)
{
    i ^= i >> 16, i *= 0x7feb352du;
    i ^= i >> 15, i *= 0x846ca68bu;
    return i ^ i >> 16;
}

/* A random index below `many`. */
__device__ static uint32_t any_of(uint32_t many, uint32_t i)
{
    return (uint32_t)((uint64_t)mix(i) * many >> 32);
}

__device__ static float sum_of(float4 v)
{
    return v.x + v.y + v.z + v.w;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* Each thread has a place in R arrays that it reads and one in W that it writes, of `n` float4. */
template <int R, int W> __global__ void stream_kernel(const float4 *x, float4 *y, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = make_float4(1.0f, 2.0f, 3.0f, (float)i);
#pragma unroll
    for (int k = 0; k < R; k++) {
        float4 u = x[k * n + i];
        v.x += u.x, v.y += u.y, v.z += u.z, v.w += u.w;
    }
#pragma unroll
    for (int k = 0; k < W; k++)
        y[k * n + i] = v;
}

/* An iteration ends before the next starts, so the number of threads is the number of loads in
 * flight. */
enum Way { READ, WRITE, COPY, CHANGE };
template <int WAY, class T> __global__ void loop_kernel(const T *x, T *y, int turns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < turns; k++, i += all) {
        T v = T();
        float *first = (float *)&v;
        if (WAY == READ || WAY == COPY) v = x[i];
        if (WAY == CHANGE) {
            v = y[i];
            first[0] += *(const float *)&x[i];
        }
        for (uint32_t f = 0; WAY == READ && f < sizeof(T) / sizeof(float); f++)
            sum += first[f];
        if (WAY == WRITE) first[0] = (float)k;
        if (WAY != READ) y[i] = v;
    }
    if (sum == 12345.678f) *(float *)y = sum;
}

/* ---- parts of sectors ------------------------------------------------------------------------ */

/* A T to the start of a sector, in order or at random; read first if it CHANGES. */
template <class T, bool ORDER, bool CHANGES>
__global__ void spread_kernel(float *y, uint32_t sectors)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    T *to = (T *)(y + 8 * (size_t)(ORDER ? i % sectors : any_of(sectors, i)));
    T v = T();
    if (CHANGES) v = *to;
    *(float *)&v += (float)i;
    *to = v;
}

/* Two lanes write a sector. */
__global__ void whole_kernel(float4 *y, uint32_t sectors)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    y[2 * (size_t)any_of(sectors, i / 2) + i % 2] = make_float4((float)i, 1.0f, 2.0f, 3.0f);
}

/* WORDS words one after the other, of records that are EACH words long. */
template <int WORDS, int EACH> __global__ void words_kernel(float *y)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        y[(size_t)i * EACH + k] = (float)i;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* `lanes` lanes each read or write a float4 of a segment at a random address. */
template <int LANES, bool WRITES>
__global__ void piece_kernel(float4 *x, float4 *y, uint32_t pieces)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 *at = x + (size_t)any_of(pieces, i / LANES) * LANES + i % LANES;
    if (WRITES)
        *at = make_float4((float)i, 1.0f, 2.0f, 3.0f);
    else if (sum_of(*at) == 12345.678f)
        y[i] = *at;
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    source = array_make(16 * MB);
    target = array_make(64 * MB);
#define X               ((float4 *)source)
#define Y               ((float4 *)target)
#define F(f, name, ...) ENTER(FIT, f, name, __VA_ARGS__)
#define H(f, name, ...) ENTER(REGRESSION, f, name, __VA_ARGS__)
    F("empty", "empty", empty_kernel<<<1, 32>>>());
    F("stream", "write-16MB", stream_kernel<0, 1><<<4096, 256>>>(X, Y, MB));
    F("stream", "write-64MB", stream_kernel<0, 1><<<16384, 256>>>(X, Y, 4 * MB));
    F("stream", "both-16MB", stream_kernel<1, 1><<<4096, 256>>>(X, Y, MB));
    F("stream", "both-48MB", stream_kernel<1, 1><<<12288, 256>>>(X, Y, 3 * MB));
    F("stream", "two-32MB", stream_kernel<2, 1><<<8192, 256>>>(X, Y, 2 * MB));
    F("stream", "four-16MB", stream_kernel<4, 1><<<4096, 256>>>(X, Y, MB));
    F("grid-loop", "loop-read", loop_kernel<READ><<<SMS * 2, 512>>>(source, target, 64));
    H("grid-loop", "loop-read-few", loop_kernel<READ><<<SMS * 3, 256>>>(source, target, 64));
    F("grid-loop", "loop-copy", loop_kernel<COPY><<<SMS * 2, 512>>>(source, target, 48));
    H("grid-loop", "loop-copy-many", loop_kernel<COPY><<<SMS * 7, 256>>>(source, target, 24));
    H("grid-loop", "loop-change", loop_kernel<CHANGE><<<SMS * 5, 256>>>(source, target, 32));
    F("grid-loop", "loop-change-many", loop_kernel<CHANGE><<<SMS * 4, 512>>>(source, target, 24));
    F("grid-loop", "loop-read-float4", loop_kernel<READ><<<SMS, 512>>>(X, Y, 48));
    H("grid-loop", "loop-copy-float4", loop_kernel<COPY><<<SMS * 3, 256>>>(X, Y, 24));
    F("partial-sectors", "spread-16MB",
      spread_kernel<float, false, false><<<4096, 256>>>(target, MB / 2));
    F("partial-sectors", "spread-64MB",
      spread_kernel<float, false, false><<<4096, 256>>>(target, 2 * MB));
    F("partial-sectors", "spread-256MB",
      spread_kernel<float, false, false><<<4096, 256>>>(target, 8 * MB));
    H("partial-sectors", "spread-32MB-half",
      spread_kernel<float2, false, false><<<2048, 256>>>(target, MB));
    F("partial-sectors", "order-32MB",
      spread_kernel<float, true, false><<<4096, 256>>>(target, MB));
    F("partial-sectors", "order-64MB",
      spread_kernel<float, true, false><<<8192, 256>>>(target, 2 * MB));
    F("partial-sectors", "change-16MB",
      spread_kernel<float, false, true><<<4096, 256>>>(target, MB / 2));
    F("partial-sectors", "change-64MB",
      spread_kernel<float, false, true><<<4096, 256>>>(target, 2 * MB));
    F("full-copy", "whole-16MB", whole_kernel<<<8192, 256>>>(Y, MB / 2));
    F("full-copy", "whole-64MB", whole_kernel<<<8192, 256>>>(Y, 2 * MB));
    F("full-copy", "whole-256MB", whole_kernel<<<8192, 256>>>(Y, 8 * MB));
    F("records", "words-2", words_kernel<2, 8><<<1024, 256>>>(target));
    F("records", "words-5", words_kernel<5, 8><<<2048, 256>>>(target));
    F("records", "words-8", words_kernel<8, 8><<<1024, 256>>>(target));
    F("records", "record-5", words_kernel<5, 5><<<2048, 256>>>(target));
    F("records", "record-6", words_kernel<6, 6><<<2048, 256>>>(target));
    F("records", "record-16", words_kernel<16, 16><<<1024, 256>>>(target));
    F("random-segment", "read-64", piece_kernel<4, false><<<16384, 256>>>(Y, X, 4 * MB));
    H("random-segment", "read-128", piece_kernel<8, false><<<16384, 256>>>(Y, X, 2 * MB));
    F("random-segment", "write-64", piece_kernel<4, true><<<16384, 256>>>(Y, X, 4 * MB));
    F("random-segment", "write-128", piece_kernel<8, true><<<16384, 256>>>(Y, X, 2 * MB));
    return measure_close();
}
