/* gemm-ladder-and-science.cu - the GEMM ladder of tutorials, layers forward and backward,
 * samples, suites of science and of linear algebra, graphs and sparse matrices.
 *
 * They are unlike the launches of samples-and-layers, sorting-and-graphs and
 * transformer-and-images. Its times were predicted and recorded before any launch was measured
 * (sets.tsv). */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "common/simulator/validation/sets/entries.cuh"
#include "common/simulator/validation/sets/block_reduce.cuh"

namespace cg = cooperative_groups;

static float *a, *b, *c;     /* 8 M floats each */
static float *d;             /* 2 M zeros */
static uint32_t *keys;       /* 2 M, in no order */
static uint32_t *rising;     /* 1 M, in order */
static uint32_t *zeros;      /* 1 M */
static int *rows, *columns;  /* a graph: 20001 and up to 16 * 20000; each row's columns rise */
static uint32_t *tree_nodes; /* a tree with 255 keys per node */
static float *e;             /* 4 M floats, of kernels that work in place */
static int *jagged_begin, *jagged_length, *jagged_order; /* rows by falling length */
static int2 *cells;                                      /* 13824 ranges of four */
static int2 *bins;                                       /* 2304 ranges of 30 to 89 */
static int *pages;                                       /* 0 to 511 in any order */
static __half *halves;                                   /* 6.5 M */
static __nv_bfloat16 *brain;                             /* 8.25 M */

#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

#include "common/simulator/validation/sets/gemm-ladder-and-science/gemm_ladder.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/transformer.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/samples.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/science.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/linear_algebra.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/graphs.cuh"
#include "common/simulator/validation/sets/gemm-ladder-and-science/boxes_and_text.cuh"

/* ---- data ------------------------------------------------------------------------------------ */

static uint32_t next_of(uint32_t *s)
{
    return *s ^= *s << 13, *s ^= *s >> 17, *s ^= *s << 5;
}

static void integers_make()
{
    std::vector<uint32_t> value(2 * MB);
    uint32_t s = 271828;
    for (uint32_t &v : value)
        v = next_of(&s);
    keys = copy_of(value);
    value.resize(MB);
    std::sort(value.begin(), value.end());
    rising = copy_of(value);
    cudaMalloc(&zeros, MB * sizeof *zeros);
    cudaMemset(zeros, 0, MB * sizeof *zeros);
    cudaMalloc(&d, 2 * MB * sizeof *d);
    cudaMemset(d, 0, 2 * MB * sizeof *d);
}

/* Two levels: of 256 words each, the first has every 65536th of the second's. */
static void tree_make()
{
    std::vector<uint32_t> node(257 * 256);
    for (uint32_t k = 0; k < 256; k++) {
        node[k] = k << 24;
        for (uint32_t j = 0; j < 256; j++)
            node[(k + 1) * 256 + j] = k << 24 | j << 16;
    }
    tree_nodes = copy_of(node);
}

/* 20000 vertices with 4 to 12 neighbours each, some of them near, in order. */
static void graph_make()
{
    const int n = 20000;
    std::vector<int> row(n + 1), column(16 * n);
    uint32_t s = 161803;
    for (int i = 0; i < n; i++) {
        row[i + 1] = row[i] + 4 + (int)(next_of(&s) >> 8) % 9;
        for (int k = row[i]; k < row[i + 1]; k++) {
            int far = (int)(next_of(&s) >> 4) % n, near = (i + (int)(next_of(&s) >> 8) % 64) % n;
            column[k] = k % 3 ? far : near;
        }
        std::sort(column.begin() + row[i], column.begin() + row[i + 1]);
    }
    for (int k = row[n]; k < 16 * n; k++)
        column[k] = (int)(next_of(&s) >> 4) % n;
    rows = copy_of(row), columns = copy_of(column);
}

/* 18432 rows of falling length, 12 at most: where each of the twelve columns of them begins. */
static void jagged_make()
{
    const int n = 18432;
    std::vector<int> length(n), begin(13), order(n);
    for (int i = 0; i < n; i++)
        length[i] = 12 - i * 10 / n, order[i] = (int)((unsigned)i * 7919u % n);
    for (int k = 0; k < 12; k++) {
        int count = 0;
        while (count < n && length[count] > k)
            count++;
        begin[k + 1] = begin[k] + count;
    }
    jagged_begin = copy_of(begin), jagged_length = copy_of(length), jagged_order = copy_of(order);
}

static void cells_make()
{
    std::vector<int2> range(13824), bin(2304);
    std::vector<int> page(512);
    for (int k = 0; k < 13824; k++)
        range[k] = make_int2(4 * k, 4 * k + 4);
    for (int k = 0; k < 512; k++)
        page[k] = k * 197 % 512;
    for (int k = 0; k < 2304; k++)
        bin[k] = make_int2(60 * k, 60 * k + 30 + k * 37 % 60);
    cells = copy_of(range), bins = copy_of(bin), pages = copy_of(page);
}

static void narrow_make()
{
    std::vector<__half> half(6 * MB + MB / 2);
    std::vector<__nv_bfloat16> narrow(8 * MB + MB / 4);
    for (size_t k = 0; k < half.size(); k++)
        half[k] = __float2half((float)(int)(k * 2654435761u % 2001) * 1e-3f - 1.0f);
    for (size_t k = 0; k < narrow.size(); k++)
        narrow[k] = __float2bfloat16((float)(int)(k * 2246822519u % 2001) * 1e-3f - 1.0f);
    halves = copy_of(half), brain = copy_of(narrow);
}

static void constants_make()
{
    float tap[17], sine[150], cosine[150];
    uint32_t direction_of[3][31], sha[64], s = 577215;
    int x[7 * 150], y[7 * 150];
    for (int k = 0; k < 17; k++)
        tap[k] = 1.0f / (3 + abs(k - 8));
    for (int k = 0; k < 150; k++)
        sine[k] = sinf(k * 0.10471976f), cosine[k] = cosf(k * 0.10471976f);
    for (int k = 0; k < 7 * 150; k++)
        x[k] = (int)((8 + 2 * (k / 150)) * cosine[k % 150]),
        y[k] = (int)((8 + 2 * (k / 150)) * sine[k % 150]);
    for (auto &dimension : direction_of)
        for (uint32_t &v : dimension)
            v = next_of(&s) >> 1;
    for (uint32_t &v : sha)
        v = next_of(&s);
    cudaMemcpyToSymbol(taps, tap, sizeof tap);
    cudaMemcpyToSymbol(circle_sin, sine, sizeof sine);
    cudaMemcpyToSymbol(circle_cos, cosine, sizeof cosine);
    cudaMemcpyToSymbol(circle_x, x, sizeof x);
    cudaMemcpyToSymbol(circle_y, y, sizeof y);
    cudaMemcpyToSymbol(directions, direction_of, sizeof direction_of);
    cudaMemcpyToSymbol(sha_table, sha, sizeof sha);
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
    tree_make();
    graph_make();
    jagged_make();
    cells_make();
    narrow_make();
    constants_make();
    ladder();
    transformer();
    samples();
    science();
    algebra();
    graphs();
    rest();
    return measure_close();
}
