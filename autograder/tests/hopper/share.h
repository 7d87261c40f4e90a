// share.h - functions shared by the kernels of units.cu: random numbers, and a digest of the
// results.
#ifndef CONVLAB_CONFORMANCE_HOPPER_SHARE_H
#define CONVLAB_CONFORMANCE_HOPPER_SHARE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>

__host__ __device__ inline uint32_t hash(uint32_t x)
{
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
    return x ^ x >> 16;
}

enum Numbers { HALVES, BRAINS, SINGLES, EIGHTHS, FIFTHS, BYTES, TINY_HALVES };

// Word `i` of a matrix: numbers whose exponents differ by some powers of two.
__host__ __device__ inline uint32_t drawn(Numbers kind, uint32_t i)
{
    uint32_t bits = hash(i), e = hash(i + 77777);
    switch (kind) {
    case HALVES:
        return (bits & 0x83ff83ff) | (10 + e % 10) << 10 | (10 + e / 16 % 10) << 26;
    case TINY_HALVES: // with subnormals and zeros
        return (bits & 0x83ff83ff) | (e % 3) << 10 | (e / 16 % 12) << 26;
    case BRAINS:
        return (bits & 0x807f807f) | (122 + e % 10) << 7 | (122 + e / 16 % 10) << 23;
    case SINGLES:
        return (bits & 0x807fffff) | (120 + e % 14) << 23;
    case EIGHTHS:
        return (bits & 0x87878787) | (e % 15) << 3 | (e / 16 % 15) << 11 | (e / 256 % 15) << 19 |
               (e / 4096 % 15) << 27;
    case FIFTHS:
        return (bits & 0x83838383) | (8 + e % 12) << 2 | (8 + e / 16 % 12) << 10 |
               (8 + e / 256 % 12) << 18 | (8 + e / 4096 % 12) << 26;
    default:
        return bits;
    }
}

static __device__ __forceinline__ uint32_t shared_of(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ uint64_t descriptor(const unsigned char *memory, uint32_t start,
                                                      uint32_t leading, uint32_t stride,
                                                      uint64_t swizzle, uint64_t base)
{
    return (uint64_t)((shared_of(memory) + start & 0x3ffff) >> 4) | (uint64_t)(leading >> 4) << 16 |
           (uint64_t)(stride >> 4) << 32 | base << 49 | swizzle << 62;
}

#define FENCE  asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT   asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")

static int failures;
static const char *only = ""; // the only form to run

static int wanted(const char *name)
{
    return !*only || !strcmp(only, name);
}

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess) return;
    printf("%s: %s\n", what, cudaGetErrorString(status));
    failures = 1;
    exit(1);
}

// Prints the digest of `y`; with WORDS=1 its first words, too.
static void tell(const char *name, const uint32_t *y, size_t words)
{
    check(cudaDeviceSynchronize(), name);
    uint64_t digest = 14695981039346656037ull;
    for (size_t i = 0; i < words; i++)
        digest = (digest ^ y[i]) * 1099511628211ull;
    printf("%s %016llx\n", name, (unsigned long long)digest);
    for (size_t i = 0; getenv("WORDS") && i < words && i < 1024; i++)
        printf("%08x%s", y[i], i % 16 == 15 ? "\n" : " ");
}

static uint32_t *y; // output of kernels, read by the host

#endif
