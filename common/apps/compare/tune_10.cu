/* tune_10.cu - constants of lab 10's cost model (tune.h): the speed of each tile, the start time of
 * a block, and the cost of adding slices. */
#include "solutions/10-implicit-gemm/conv.cu"

#include "common/apps/compare/tune.h"

enum { SIDE = 16, IMAGE = SIDE * SIDE, TAPS = 9, DEEP = 128, SHALLOW = 16, ROUNDS = 4 };

/* A problem that fills every SM with its `resident` blocks of this tile, ROUNDS times. */
static ConvProblem full(const Tile *tile, int channels, int sms)
{
    const int images = sms * tile->resident * tile->columns / IMAGE;
    return problem(CONV_NCHW, images, channels, SIDE, SIDE, ROUNDS * tile->filters, 3, 3, 1);
}

static double product_us(const Tile *tile, const ConvProblem *p, const float *w, const float *x,
                         float *y)
{
    const dim3 grid(ceil_div(p->N * IMAGE, tile->columns), ceil_div(p->K, tile->filters));
    return microseconds([&](cudaStream_t stream) {
        tile->kernel<<<grid, tile->threads, 0, stream>>>(*p, p->C * TAPS, w, x, y);
    });
}

static double add_us(int outputs, int pieces, const float *sums, float *y)
{
    return microseconds([&](cudaStream_t stream) {
        reduce_kernel<<<ceil_div(outputs, 256), 256, 0, stream>>>(outputs, pieces, sums, y);
    });
}

int main()
{
    const int sms = multiprocessors();
    const size_t most = (size_t)sms * 2048 * 128; /* larger than any x, w or y here */
    float *w = noise(most), *x = noise(most), *y = noise(most);
    double rate[TILES], start[TILES], fastest = 0; /* multiply-adds per microsecond; rows */
    for (int i = 0; i < TILES; i++) {
        const ConvProblem deep = full(&tiles[i], DEEP, sms),
                          shallow = full(&tiles[i], SHALLOW, sms);
        const double long_us = product_us(&tiles[i], &deep, w, x, y);
        const double row_us =
            (long_us - product_us(&tiles[i], &shallow, w, x, y)) / ((DEEP - SHALLOW) * TAPS);
        start[i] = long_us / row_us - DEEP * TAPS;
        rate[i] = (double)deep.N * IMAGE * deep.K / row_us / sms;
        fastest = std::max(fastest, rate[i]);
    }
    for (int i = 0; i < TILES; i++)
        printf("tile %d %.2ff\n", i, rate[i] / fastest);
    std::sort(start, start + TILES);
    printf("START %.0f\n", start[TILES / 2]);
    const int few = sms * 256, many = 32 * few, pieces = 8;
    const double few_us = add_us(few, 1, x, y), many_us = add_us(many, pieces, x, y);
    printf("ADD %.1ef\n", few_us * fastest);
    printf("SUM %.1ff\n", (many_us - few_us) * fastest / ((double)many * pieces / sms));
    return 0;
}
