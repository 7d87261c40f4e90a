/* common-kernels.cu - launches of kernels that most programs have, written again and at other
 * sizes: matrix products, layers of networks, and kernels of samples, courses and benchmarks.
 *
 * The other sets of programs contain features that no earlier set has. This set measures the
 * error on common programs. Its times were predicted and recorded before any launch was
 * measured (sets.tsv). */
#include <cuda_fp16.h>
#include <mma.h>

#include <algorithm>

#include "common/simulator/validation/sets/entries.cuh"

namespace wmma = nvcuda::wmma;

static float *a, *b, *c;    /* 8 M floats each */
static float *e;            /* 8 M floats, of kernels that work in place */
static unsigned *keys;      /* 4 M, in no order */
static unsigned *runs;      /* 512 K, each 4096 in order */
static __half *halves;      /* 8 M */
static int *rows, *columns; /* a graph of 50000 vertices */

#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

#include "common/simulator/validation/sets/common-kernels/layers.cuh"
#include "common/simulator/validation/sets/common-kernels/gemm.cuh"
#include "common/simulator/validation/sets/common-kernels/samples.cuh"

/* ---- data ------------------------------------------------------------------------------------ */

static unsigned next_of(unsigned *s)
{
    return *s ^= *s << 13, *s ^= *s >> 17, *s ^= *s << 5;
}

static void data_make()
{
    const int n = 50000;
    std::vector<unsigned> key(4 * MB);
    std::vector<__half> half(8 * MB);
    std::vector<int> row(n + 1), column;
    unsigned s = 20241;
    for (unsigned &v : key)
        v = next_of(&s);
    for (__half &v : half)
        v = __float2half((float)(next_of(&s) >> 20) * 4e-4f - 0.8f);
    for (int i = 0; i < n; i++) {
        for (int k = (int)(next_of(&s) >> 8) % 15; k >= 0; k--)
            column.push_back((int)(next_of(&s) >> 4) % n);
        row[i + 1] = (int)column.size();
    }
    keys = copy_of(key);
    key.resize(512 << 10);
    for (size_t k = 0; k < key.size(); k += 4096)
        std::sort(key.begin() + k, key.begin() + k + 4096);
    runs = copy_of(key), halves = copy_of(half), rows = copy_of(row), columns = copy_of(column);
    a = array_make(8 * MB), b = array_make(8 * MB), c = array_make(8 * MB), e = array_make(8 * MB);
    float weight[17];
    for (int i = 0; i < 17; i++)
        weight[i] = 1.0f / (float)(1 + (i - 8) * (i - 8));
    cudaMemcpyToSymbol(kernel_17, weight, sizeof weight);
}

int main(int argc, char **argv)
{
    measure_open(argc, argv);
    data_make();
    products();
    layers();
    samples();
    return measure_close();
}
