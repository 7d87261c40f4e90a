/* tune_14.cu - the constants of lab 14's choice (tune.h).  They are the speed of each block tile of
 * the matrix product and of the fused kernel, relative to the fastest, and the cost of the
 * transforms. */
#include "solutions/14-winograd/conv.cu"

#include "common/apps/compare/tune.h"

enum { POINTS = OutputTile<4>::POINTS, SIDE = 32, MANY = 256, SOME = 32, ROUNDS = 4, IMAGES = 32 };

/* Multiply-adds per microsecond of one SM, and the start-up time of a block in channels. */
struct Pace {
    double rate, start;
};

/* Computed from the time of `products` for each of MANY channels on each SM, and of SOME. */
static Pace pace(double products, double many_us, double few_us)
{
    const double channel_us = (many_us - few_us) / (MANY - SOME);
    return {products / channel_us, many_us / channel_us - MANY};
}

/* Every SM has its `resident` blocks of this tile, ROUNDS times. */
static Pace product_pace(const BlockTile *tile, int sms, const float *u, const float *v, float *m)
{
    const int across = ceiling(sms * tile->resident * ROUNDS, POINTS);
    auto us = [&](int channels) {
        return microseconds([&](cudaStream_t stream) {
            tile->kernel<<<dim3(across, 1, POINTS), tile->threads, 0, stream>>>(channels, u, v, m);
        });
    };
    const double tiles = (double)across * POINTS / sms;
    return pace(tiles * tile->filters * tile->tiles, us(MANY), us(SOME));
}

static Pace fused_pace(int sms, const float *w, const float *x, float *y)
{
    auto us = [&](int channels) {
        const ConvProblem p = problem(CONV_NCHW, IMAGES, channels, SIDE, SIDE, 256, 3, 3, 1);
        return microseconds([&](cudaStream_t stream) { launch_fused(&p, x, w, y, stream); });
    };
    const double winograd_tiles = IMAGES * (SIDE / fused::M) * (SIDE / fused::M);
    return pace(winograd_tiles * 256 * fused::POINTS / sms, us(MANY), us(SOME));
}

/* Time of all three transforms of a problem with as many filters as channels. */
static double transforms_us(int images, int side, int channels, const float *from, float *to)
{
    const ConvProblem p = problem(CONV_NCHW, images, channels, side, side, channels, 3, 3, 1);
    const int winograd_tiles = images * (side / 4) * (side / 4);
    const dim3 block(BLOCK_X, BLOCK_Y), of_filters(channels / BLOCK_X, channels / BLOCK_Y),
        of_tiles(ceiling(winograd_tiles, BLOCK_X), channels / BLOCK_Y);
    return microseconds([&](cudaStream_t stream) {
        filter_transform_kernel<4><<<of_filters, block, 0, stream>>>(p, from, to);
        input_transform_kernel<4><<<of_tiles, block, 0, stream>>>(p, from, to);
        output_transform_kernel<4><<<of_tiles, block, 0, stream>>>(p, from, to);
    });
}

int main()
{
    const int sms = multiprocessors();
    const size_t most = (size_t)sms * 4 * 128 * MANY * 10;
    float *from = noise(most), *to = noise(most), *out = noise(most);
    Pace of[BLOCK_TILES], one = fused_pace(sms, from, to, out);
    double fastest = 0;
    for (int i = 0; i < BLOCK_TILES; i++) {
        of[i] = product_pace(&block_tiles[i], sms, from, to, out);
        fastest = std::max(fastest, of[i].rate);
    }
    for (int i = 0; i < BLOCK_TILES; i++)
        printf("tile %d %.2ff\n", i, of[i].rate / fastest);
    printf("SPEED %.2ff\n", one.rate / fastest);
    printf("START %.0f\n", of[0].start);
    const int images = 64, channels = 128, winograd_tiles = images * (SIDE / 4) * (SIDE / 4);
    const double least = transforms_us(1, 4, BLOCK_X, from, to);
    const double moved = (double)POINTS * (2.0 * winograd_tiles * channels + channels * channels);
    printf("LAUNCHES %.1ef\n", least * fastest);
    printf("MOVE %.1ff\n",
           (transforms_us(images, SIDE, channels, from, to) - least) * fastest / (moved / sms));
    return 0;
}
