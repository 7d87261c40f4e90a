/* experts-and-hashes.cu - launches of kernels in the style of public programs: layers of
 * networks, science, and data.
 *
 * They are unlike the launches of samples-and-layers, sorting-and-graphs,
 * transformer-and-images, gemm-ladder-and-science and attention-and-convolutions. Its times
 * were predicted and recorded before any launch was measured (sets.tsv). */
#include <cuda_fp16.h>
#include <float.h>
#include <mma.h>

#include <algorithm>

#include "common/simulator/validation/sets/entries.cuh"
#include "common/simulator/validation/sets/block_reduce.cuh"

namespace wmma = nvcuda::wmma;

static float *a, *b, *c;    /* 8 M floats each */
static float *e;            /* 4 M floats, of kernels that work in place */
static uint32_t *keys;      /* 2 M, in no order */
static uint32_t *rising;    /* 1 M, in order */
static uint32_t *pieces;    /* 1 M, each thousand in order */
static uint32_t *zeros;     /* 1 M */
static __half *halves;      /* 8 M */
static unsigned char *text; /* 4 M letters of four */
static int *rows, *columns; /* a graph: 30001 and `elements`, each row in order */
static int elements;
static int *degrees, *ends;               /* 30000 vertex degrees; ends of eight experts' tokens */
static int2 *edges;                       /* 30000 of its edges */
static int *ell;                          /* 8 x 60000 columns, or -1 */
static int *triple_rows, *triple_columns; /* 60000, rows in order */
static int *corners;                      /* 8 x 64000 of elements of a volume */
static float4 *fluid;                     /* `fluids` particles in the order of their cells */
static int *cells;                        /* first of each of 24 x 24 x 24 cells */
enum { fluids = 8 * 24 * 24 * 24 };
static float4 *boxes;                     /* 8192: a tree of boxes, the root is 1 */
static uint16_t *code;                    /* 1024: length and word of a prefix code */
static uint32_t *slots;                   /* 4096: share, place and word of numeral systems */
static uint32_t *run_ends;                /* 40000 */
static unsigned char *jumps, *machine;    /* 256; 256 states of four letters */
static uint32_t *chained, *heads, *links; /* 250000 rows in chains of 65536 */
static uint32_t *tree;                    /* nodes of sixteen, four levels */
static uint32_t *flags;                   /* 48000 words in which few bits are set */
static int *seeds;                        /* 1024 x 1024, most of them -1 */
static uint32_t *roots;                   /* 512 powers of a root of one */
struct BlockOf32;
static BlockOf32 *quantised; /* 220000 blocks of bytes */

#define E(family, name, ...) ENTER(REGRESSION, family, name, __VA_ARGS__)

#include "common/simulator/validation/sets/experts-and-hashes/attention_and_experts.cuh"
#include "common/simulator/validation/sets/experts-and-hashes/narrow_weights_and_losses.cuh"

#include "common/simulator/validation/sets/experts-and-hashes/gemm_and_systems.cuh"
#include "common/simulator/validation/sets/experts-and-hashes/grids_and_rays.cuh"

#include "common/simulator/validation/sets/experts-and-hashes/hashes_and_text.cuh"
#include "common/simulator/validation/sets/experts-and-hashes/joins_and_graphs.cuh"
#include "common/simulator/validation/sets/experts-and-hashes/images_and_signals.cuh"

/* ---- data ------------------------------------------------------------------------------------ */

static uint32_t next_of(uint32_t *s)
{
    return *s ^= *s << 13, *s ^= *s >> 17, *s ^= *s << 5;
}

static void integers_make()
{
    std::vector<uint32_t> value(2 * MB), end(40000), flag(48000), power(512);
    uint32_t s = 271828;
    for (uint32_t &v : value)
        v = next_of(&s);
    keys = copy_of(value);
    value.resize(1024000);
    for (size_t k = 0; k < value.size(); k += 1000)
        std::sort(value.begin() + k, value.begin() + k + 1000);
    pieces = copy_of(value);
    value.resize(MB);
    std::sort(value.begin(), value.end());
    rising = copy_of(value);
    cudaMalloc(&zeros, MB * sizeof *zeros);
    cudaMemset(zeros, 0, MB * sizeof *zeros);
    for (size_t k = 0; k < end.size(); k++)
        end[k] = (k ? end[k - 1] : 0) + 1 + (next_of(&s) >> 8) % (k % 8 ? 30 : 120);
    run_ends = copy_of(end);
    for (uint32_t &f : flag)
        f = next_of(&s) & next_of(&s) & next_of(&s) & next_of(&s);
    flags = copy_of(flag);
    uint64_t root = 1, w = 3;
    for (uint32_t n = (998244353u - 1) / 1024; n; n >>= 1, w = w * w % 998244353u)
        if (n & 1) root = root * w % 998244353u;
    power[0] = 1;
    for (size_t k = 1; k < power.size(); k++)
        power[k] = (uint32_t)(power[k - 1] * root % 998244353u);
    roots = copy_of(power);
}

/* 30000 vertices: most have 2 to 9 neighbours, each 16th up to 60, half of them near. */
static void graph_make()
{
    const int n = 30000;
    std::vector<int> row(n + 1), column, degree(n), end(8), wide(8 * 60000), r, q,
        corner(8 * 64000);
    std::vector<int2> edge(n);
    uint32_t s = 161803;
    for (int i = 0; i < n; i++) {
        int count = i % 16 ? 2 + (int)(next_of(&s) >> 8) % 8 : (int)(next_of(&s) >> 8) % 61;
        for (int k = 0; k < count; k++) {
            int far = (int)(next_of(&s) >> 4) % n, near = (i + (int)(next_of(&s) >> 8) % 200) % n;
            column.push_back(k % 2 ? far : near);
        }
        row[i + 1] = (int)column.size(), degree[i] = count;
        std::sort(column.begin() + row[i], column.end());
        edge[i] = make_int2(i, count ? column[row[i] + count / 2] : i);
    }
    elements = (int)column.size();
    rows = copy_of(row), columns = copy_of(column), degrees = copy_of(degree);
    edges = copy_of(edge);
    for (int k = 0; k < 8; k++)
        end[k] = k == 7 ? 1024 : 32 * (4 * k + 3 + k % 3);
    ends = copy_of(end);
    for (int i = 0; i < 60000; i++)
        for (int k = 0; k < 8; k++)
            wide[k * 60000 + i] =
                k < 3 + i % 6 ? (i + (int)(next_of(&s) >> 8) % (k < 4 ? 64 : 60000)) % 60000 : -1;
    ell = copy_of(wide);
    for (int i = 0; (int)r.size() < 60000; i = (i + 1 + (int)(next_of(&s) >> 8) % 5) % 30000)
        for (int k = (int)(next_of(&s) >> 8) % 12; k >= 0 && (int)r.size() < 60000; k--)
            r.push_back(i), q.push_back((int)(next_of(&s) >> 8) % 30000);
    triple_rows = copy_of(r), triple_columns = copy_of(q);
    for (int i = 0; i < 64000; i++)
        for (int k = 0; k < 8; k++)
            corner[k * 64000 + i] =
                ((i / 1600 + k / 4) * 41 + i / 40 % 40 + k / 2 % 2) * 41 + i % 40 + k % 2;
    corners = copy_of(corner);
}

/* Particles in cells, boxes in a tree over points of a curve, seeds of an image. */
static void places_make()
{
    std::vector<float4> particle(fluids), box(8192);
    std::vector<int> first(24 * 24 * 24 + 1), seed(1024 * 1024, -1);
    uint32_t s = 141421;
    int at = 0;
    for (int cell = 0; cell < 24 * 24 * 24; cell++) {
        first[cell] = at;
        int count = cell % 2 ? 5 : 11;
        for (int k = 0; k < count; k++) {
            float u = (next_of(&s) >> 8) * 5.9e-8f, v = (next_of(&s) >> 8) * 5.9e-8f,
                  w = (next_of(&s) >> 8) * 5.9e-8f;
            particle[at++] = make_float4((cell % 24 + u) / 24, (cell / 24 % 24 + v) / 24,
                                         (cell / 576 + w) / 24, 1);
        }
    }
    first[24 * 24 * 24] = at;
    fluid = copy_of(particle), cells = copy_of(first);
    for (int k = 0; k < 4096; k++) {
        int u = 0, v = 0;
        for (int j = 0; j < 6; j++)
            u |= (k >> 2 * j & 1) << j, v |= (k >> (2 * j + 1) & 1) << j;
        box[4096 + k] = make_float4(u / 64.0f, v / 64.0f, u / 64.0f + 0.02f, v / 64.0f + 0.01f);
    }
    for (int k = 4095; k > 0; k--) {
        float4 p = box[2 * k], q = box[2 * k + 1];
        box[k] = make_float4(std::min(p.x, q.x), std::min(p.y, q.y), std::max(p.z, q.z),
                             std::max(p.w, q.w));
    }
    boxes = copy_of(box);
    for (int k = 0; k < 60000; k++) {
        int place = (int)(next_of(&s) >> 8) % (1024 * 1024);
        seed[place] = place;
    }
    seeds = copy_of(seed);
}

/* A prefix code of words of two to ten bits, slots of words as often as they come, a text, a
 * machine, chains, a tree. */
static void codes_make()
{
    std::vector<uint16_t> table;
    std::vector<uint32_t> slot(4096), chain(250000), head(65536, ~0u), link(250000), node;
    std::vector<unsigned char> letter(4 * MB), jump(256, 8), next(1024);
    uint32_t s = 577215;
    for (int length = 2, word = 0; (int)table.size() < 1024; length++) {
        int words = length < 10 ? (1 << length) / 4 * 3 / (length < 4 ? 2 : 3) : 4096;
        for (int k = 0; k < std::max(words, 1); k++, word++)
            for (int j = 0; j < 1 << (10 - std::min(length, 10)) && (int)table.size() < 1024; j++)
                table.push_back((uint16_t)(std::min(length, 10) << 8 | (word & 255)));
    }
    code = copy_of(table);
    for (int word = 0, at = 0; at < 4096; word++) {
        int share = std::min(word < 8 ? 256 : word < 40 ? 32 : 8, 4096 - at);
        for (int k = 0; k < share; k++)
            slot[at + k] = (uint32_t)(share << 20 | k << 8 | (word & 255));
        at += share;
    }
    slots = copy_of(slot);
    for (unsigned char &l : letter)
        l = "abacabdc"[next_of(&s) >> 13 & 7];
    text = copy_of(letter);
    for (int k = 0; k < 7; k++)
        jump["abacaba"[k]] = (unsigned char)(7 - k);
    jumps = copy_of(jump);
    for (unsigned char &n : next)
        n = (unsigned char)(next_of(&s) >> 9);
    machine = copy_of(next);
    for (uint32_t k = 0; k < chain.size(); k++) {
        chain[k] = next_of(&s) >> 14;
        uint32_t at = chain[k] * 2654435761u >> 16;
        link[k] = head[at], head[at] = k;
    }
    chained = copy_of(chain), heads = copy_of(head), links = copy_of(link);
    for (uint64_t level = 0, size = 1; level < 4; level++, size *= 16)
        for (uint64_t k = 0; k < 16 * size; k++)
            node.push_back((uint32_t)((k << 32) / (16 * size)));
    tree = copy_of(node);
}

static void narrow_make()
{
    std::vector<__half> half(8 * MB);
    std::vector<BlockOf32> block(220000);
    for (size_t k = 0; k < half.size(); k++)
        half[k] = __float2half((float)(int)(k * 2654435761u % 2001) * 1e-3f - 1.0f);
    halves = copy_of(half);
    for (size_t k = 0; k < block.size(); k++) {
        block[k].scale = half[k];
        for (int j = 0; j < 32; j++)
            block[k].q[j] = (signed char)((k * 32 + j) * 2246822519u >> 11);
    }
    quantised = copy_of(block);
}

static void constants_make()
{
    std::vector<float> weight(125);
    std::vector<double> stiff(64);
    std::vector<float4> sphere(128);
    std::vector<uint64_t> round(24);
    uint32_t s = 662607, bits = 1;
    for (size_t k = 0; k < weight.size(); k++)
        weight[k] = 0.01f * (float)((int)(k * 37 % 101) - 50);
    for (size_t k = 0; k < stiff.size(); k++)
        stiff[k] = k % 9 ? -0.1 : 1.5;
    for (float4 &v : sphere) {
        v.x = (next_of(&s) >> 8) * 1.8e-7f - 1.5f, v.y = (next_of(&s) >> 8) * 1.8e-7f - 1.5f;
        v.z = (next_of(&s) >> 8) * 1.8e-7f, v.w = 0.08f + (next_of(&s) >> 8) * 1e-8f;
    }
    for (uint64_t &v : round) { /* Keccak's register of eight bits */
        v = 0;
        for (int j = 0; j < 7; j++) {
            if (bits & 1) v ^= 1ull << ((1 << j) - 1);
            bits = bits << 1 ^ (bits >> 7) * 0x171;
        }
    }
    cudaMemcpyToSymbol(cube, weight.data(), weight.size() * sizeof weight[0]);
    cudaMemcpyToSymbol(stiffness, stiff.data(), stiff.size() * sizeof stiff[0]);
    cudaMemcpyToSymbol(spheres, sphere.data(), sphere.size() * sizeof sphere[0]);
    cudaMemcpyToSymbol(keccak_round, round.data(), round.size() * sizeof round[0]);
    cudaMemcpyToSymbol(alphabet64,
                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 64);
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
    places_make();
    codes_make();
    narrow_make();
    constants_make();
    layers();
    science();
    data();
    return measure_close();
}
