/* tune_14.cu - the constants of lab 14's choice (tune.h): how fast each tile of the product is, and
 * the kernel that does all in one beside the fastest of them; what the transforms cost. */
#include "solutions/14-winograd/conv.cu"

#include "common/apps/compare/tune.h"

enum { POINTS = Square<4>::POINTS, SIDE = 32, MANY = 256, FEW = 32, ROUNDS = 4, IMAGES = 32 };

/* Products a microsecond of one of the multiprocessors, and how many channels a block takes to get
 * going. */
struct Pace {
    double rate, start;
};

/* From the time of `products` for each of MANY channels on each multiprocessor, and of FEW. */
static Pace pace(double products, double many_us, double few_us)
{
    const double channel_us = (many_us - few_us) / (MANY - FEW);
    return {products / channel_us, many_us / channel_us - MANY};
}

/* Every multiprocessor has its `resident` blocks of this tile, ROUNDS times over. */
static Pace product_pace(const Tile *tile, int sms, const float *u, const float *v, float *m)
{
    const int across = ceiling(sms * tile->resident * ROUNDS, POINTS);
    auto us = [&](int channels) {
        return microseconds([&](cudaStream_t stream) {
            tile->kernel<<<dim3(across, 1, POINTS), tile->threads, 0, stream>>>(channels, u, v, m);
        });
    };
    const double tiles = (double)across * POINTS / sms;
    return pace(tiles * tile->filters * tile->squares, us(MANY), us(FEW));
}

static Pace fused_pace(int sms, const float *w, const float *x, float *y)
{
    auto us = [&](int channels) {
        const ConvProblem p = problem(CONV_NCHW, IMAGES, channels, SIDE, SIDE, 256, 3, 3, 1);
        return microseconds([&](cudaStream_t stream) { in_one(&p, x, w, y, stream); });
    };
    const double squares = IMAGES * (SIDE / fused::M) * (SIDE / fused::M);
    return pace(squares * 256 * fused::POINTS / sms, us(MANY), us(FEW));
}

/* All three transforms of a problem with as many filters as channels. */
static double transforms_us(int images, int side, int channels, const float *from, float *to)
{
    const ConvProblem p = problem(CONV_NCHW, images, channels, side, side, channels, 3, 3, 1);
    const int squares = images * (side / 4) * (side / 4);
    const dim3 block(ACROSS, DEEP), of_filters(channels / ACROSS, channels / DEEP),
        of_squares(ceiling(squares, ACROSS), channels / DEEP);
    return microseconds([&](cudaStream_t stream) {
        filters_kernel<4><<<of_filters, block, 0, stream>>>(p, from, to);
        inputs_kernel<4><<<of_squares, block, 0, stream>>>(p, from, to);
        outputs_kernel<4><<<of_squares, block, 0, stream>>>(p, from, to);
    });
}

int main()
{
    const int sms = multiprocessors();
    const size_t most = (size_t)sms * 4 * 128 * MANY * 10;
    float *from = noise(most), *to = noise(most), *out = noise(most);
    Pace of[TILES], one = fused_pace(sms, from, to, out);
    double fastest = 0;
    for (int i = 0; i < TILES; i++) {
        of[i] = product_pace(&tiles[i], sms, from, to, out);
        fastest = std::max(fastest, of[i].rate);
    }
    for (int i = 0; i < TILES; i++)
        printf("tile %d %.2ff\n", i, of[i].rate / fastest);
    printf("SPEED %.2ff\n", one.rate / fastest);
    printf("START %.0f\n", of[0].start);
    const int images = 64, channels = 128, squares = images * (SIDE / 4) * (SIDE / 4);
    const double least = transforms_us(1, 4, ACROSS, from, to);
    const double moved = (double)POINTS * (2.0 * squares * channels + channels * channels);
    printf("LAUNCHES %.1ef\n", least * fastest);
    printf("MOVE %.1ff\n",
           (transforms_us(images, SIDE, channels, from, to) - least) * fastest / (moved / sms));
    return 0;
}
