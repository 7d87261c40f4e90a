/* attention-and-convolutions.cu - launches of kernels in the style of public repositories:
 * layers and narrow matrix products, classic benchmark suites, and samples.
 *
 * Few of them resemble launches of samples-and-layers, sorting-and-graphs,
 * transformer-and-images or gemm-ladder-and-science. Its times were predicted and recorded
 * before any launch was measured (sets.tsv). */
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <float.h>
#include <mma.h>

#include <algorithm>

#include "common/simulator/validation/sets/entries.cuh"
#include "common/simulator/validation/sets/block_reduce.cuh"

namespace cg = cooperative_groups;
namespace wmma = nvcuda::wmma;

static float *a, *b, *c;     /* 8 M floats each */
static float *e;             /* 4 M floats, of kernels that work in place */
static uint32_t *keys;       /* 2 M, in no order */
static uint32_t *rising;     /* 1 M, in order */
static uint32_t *zeros;      /* 1 M */
static int *rows, *columns;  /* a graph: 20001 and up to 16 * 20000 */
static int *levels;          /* 20000, each 0, 1 or 2 */
static int *before, *after;  /* 720 neighbours each */
static int *pages;           /* 0 to 511 in any order */
static __half *halves;       /* 8 M */
static __nv_bfloat16 *brain; /* 8 M */

#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

#include "common/simulator/validation/sets/attention-and-convolutions/benchmark_suites.cuh"
#include "common/simulator/validation/sets/attention-and-convolutions/norms_and_attention.cuh"
#include "common/simulator/validation/sets/attention-and-convolutions/narrow_gemm_and_conv.cuh"
#include "common/simulator/validation/sets/attention-and-convolutions/samples.cuh"

/* ---- data ------------------------------------------------------------------------------------ */

static uint32_t next_of(uint32_t *s)
{
    return *s ^= *s << 13, *s ^= *s >> 17, *s ^= *s << 5;
}

static void integers_make()
{
    std::vector<uint32_t> value(2 * MB);
    std::vector<int> page(512), one(720), two(720), level(20000);
    uint32_t s = 314159;
    for (uint32_t &v : value)
        v = next_of(&s);
    keys = copy_of(value);
    value.resize(MB);
    std::sort(value.begin(), value.end());
    rising = copy_of(value);
    cudaMalloc(&zeros, MB * sizeof *zeros);
    cudaMemset(zeros, 0, MB * sizeof *zeros);
    for (int k = 0; k < 512; k++)
        page[k] = k * 197 % 512;
    for (int k = 0; k < 720; k++)
        one[k] = std::max(k - 1, 0), two[k] = std::min(k + 1, 719);
    for (int &l : level)
        l = (int)(next_of(&s) >> 8) % 3;
    pages = copy_of(page), before = copy_of(one), after = copy_of(two), levels = copy_of(level);
}

/* 20000 vertices: most have 2 to 9 neighbours, each 16th up to 60, some of them near. */
static void graph_make()
{
    const int n = 20000;
    std::vector<int> row(n + 1), column(16 * n);
    uint32_t s = 141421;
    for (int i = 0; i < n; i++) {
        int count = i % 16 ? 2 + (int)(next_of(&s) >> 8) % 8 : (int)(next_of(&s) >> 8) % 61;
        row[i + 1] = row[i] + count;
        for (int k = row[i]; k < row[i + 1]; k++) {
            int far = (int)(next_of(&s) >> 4) % n, near = (i + (int)(next_of(&s) >> 8) % 200) % n;
            column[k] = k % 2 ? far : near;
        }
    }
    rows = copy_of(row), columns = copy_of(column);
}

static void narrow_make()
{
    std::vector<__half> half(8 * MB);
    std::vector<__nv_bfloat16> narrow(8 * MB + MB / 4);
    for (size_t k = 0; k < half.size(); k++)
        half[k] = __float2half((float)(int)(k * 2654435761u % 2001) * 1e-3f - 1.0f);
    for (size_t k = 0; k < narrow.size(); k++)
        narrow[k] = __float2bfloat16((float)(int)(k * 2246822519u % 2001) * 1e-3f - 1.0f);
    halves = copy_of(half), brain = copy_of(narrow);
}

static void constants_make()
{
    std::vector<float> weight(16 * 147), centre(240);
    std::vector<float4> sample(1024);
    for (size_t k = 0; k < weight.size(); k++)
        weight[k] = 0.02f * (float)((int)(k * 37 % 101) - 50);
    for (size_t k = 0; k < centre.size(); k++)
        centre[k] = 0.01f * (float)((int)(k * 53 % 161) - 80);
    for (size_t k = 0; k < sample.size(); k++)
        sample[k] = make_float4(0.001f * (k * 7 % 997), 0.001f * (k * 11 % 991),
                                0.001f * (k * 13 % 983), 0.001f * (k * 17 % 977));
    cudaMemcpyToSymbol(stem, weight.data(), weight.size() * sizeof weight[0]);
    cudaMemcpyToSymbol(centres_of, centre.data(), centre.size() * sizeof centre[0]);
    cudaMemcpyToSymbol(samples_of, sample.data(), sample.size() * sizeof sample[0]);
}

__global__ void empty_kernel()
{
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    ENTER(REGRESSION, "empty", "empty", empty_kernel<<<1, 32>>>());
    a = array_make(8 * MB), b = array_make(8 * MB), c = array_make(8 * MB);
    e = array_make(4 * MB);
    integers_make();
    graph_make();
    narrow_make();
    constants_make();
    layers();
    classics();
    samples();
    return measure_close();
}
