// fp8.cu - numbers of 8 bits as sm_89 and later convert them, held against what CUDA's header
// makes of them on the host.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_fp8.h>

enum { HALVES = 1 << 16, FLOATS = 1 << 17 };

/* Floats around every number of 8 bits, and some of any bits. */
static __host__ __device__ float float_number(uint32_t i)
{
    uint32_t bits = i < HALVES ? i << 16 | (i * 40503u & 0xffff) : (i * 2654435761u ^ i << 11);
    if (i % 4 == 0) bits = bits >> 20 << 20;
    if (i % 4 == 1) bits = (bits >> 20 << 20) + 1;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

__global__ void from_halves(uint16_t *e4m3, uint16_t *e5m2)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2_raw two;
    two.x = (uint16_t)i, two.y = (uint16_t)(i * 31 + 7);
    e4m3[i] = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
    e5m2[i] = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E5M2);
}

__global__ void from_floats(uint16_t *e4m3, uint16_t *e5m2)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 two = make_float2(float_number(i), float_number(i ^ 1));
    e4m3[i] = __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3);
    e5m2[i] = __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E5M2);
}

__global__ void to_halves(__half2_raw *e4m3, __half2_raw *e5m2)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    e4m3[i] = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)i, __NV_E4M3);
    e5m2[i] = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)i, __NV_E5M2);
}

/* relu has no function in the header. */
__global__ void positive(uint16_t *e4m3, uint16_t *e5m2)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, two = i | (i * 31 + 7) << 16;
#if __CUDA_ARCH__ >= 890
    asm("cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;" : "=h"(e4m3[i]) : "r"(two));
    asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;" : "=h"(e5m2[i]) : "r"(two));
#endif
}

static uint16_t without_sign(uint16_t x)
{
    for (int k = 0; k < 16; k += 8)
        if (x >> k & 0x80) x &= ~(0xff << k);
    return x;
}

template <typename T> static std::vector<T> back(const T *from, int count)
{
    std::vector<T> all(count);
    cudaMemcpy(all.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
    return all;
}

int main()
{
    uint32_t *x, *y;
    int wrong[4] = {0};
    cudaMalloc(&x, FLOATS * sizeof *x), cudaMalloc(&y, FLOATS * sizeof *y);
    uint16_t *u = (uint16_t *)x, *v = (uint16_t *)y;
    from_halves<<<HALVES / 256, 256>>>(u, v);
    auto e4m3 = back(u, HALVES), e5m2 = back(v, HALVES);
    positive<<<HALVES / 256, 256>>>(u, v);
    auto relu4 = back(u, HALVES), relu5 = back(v, HALVES);
    for (uint32_t i = 0; i < HALVES; i++) {
        __half2_raw two;
        two.x = (uint16_t)i, two.y = (uint16_t)(i * 31 + 7);
        uint16_t four = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3),
                 five = __nv_cvt_halfraw2_to_fp8x2(two, __NV_SATFINITE, __NV_E5M2);
        wrong[0] += e4m3[i] != four || e5m2[i] != five;
        wrong[1] += relu4[i] != without_sign(four) || relu5[i] != without_sign(five);
    }
    from_floats<<<FLOATS / 256, 256>>>(u, v);
    e4m3 = back(u, FLOATS), e5m2 = back(v, FLOATS);
    for (uint32_t i = 0; i < FLOATS; i++) {
        float2 two = make_float2(float_number(i), float_number(i ^ 1));
        wrong[2] += e4m3[i] != __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E4M3) ||
                    e5m2[i] != __nv_cvt_float2_to_fp8x2(two, __NV_SATFINITE, __NV_E5M2);
    }
    auto a = (__half2_raw *)x, b = (__half2_raw *)y;
    to_halves<<<HALVES / 256, 256>>>(a, b);
    auto four = back(a, HALVES), five = back(b, HALVES);
    for (uint32_t i = 0; i < HALVES; i++) {
        __half2_raw f = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)i, __NV_E4M3),
                    g = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)i, __NV_E5M2);
        wrong[3] += memcmp(&f, &four[i], sizeof f) || memcmp(&g, &five[i], sizeof g);
    }
    cudaFree(x), cudaFree(y);
    printf("halves %d, above zero %d, floats %d, back %d wrong\n", wrong[0], wrong[1], wrong[2],
           wrong[3]);
    return 0;
}
