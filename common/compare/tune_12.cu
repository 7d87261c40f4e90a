/* tune_12.cu - the constants of lab 12's choice (tune.h): the microseconds of a chunk and of a
 * tile's store, of each shape that a block can have. */
#include "solutions/12-hopper/conv.cu"

#include "common/compare/tune.h"

enum { SIDE = 16, IMAGE = SIDE * SIDE, TAPS = 9, DEEP = 8 * DEPTH, SHALLOW = DEPTH, ROUNDS = 4 };

/* Of one round: as many tiles as there are clusters, or ROUNDS times as many. */
static double round_us(const Shape *shape, int channels, int sms, float *x, float *w, float *y)
{
    const int clusters = sms / (shape->sharers * shape->pieces);
    const int images = clusters * ROUNDS * shape->pixels / IMAGE;
    const ConvProblem p =
        problem(CONV_NHWC, images, channels, SIDE, SIDE, shape->filters * shape->sharers, 3, 3, 1);
    const Operands o = operands_of(&p, x, w, 0); /* whole chunks: nothing to pack */
    return microseconds([&](cudaStream_t stream) { shape->launch(&o, y, sms, stream); }) / ROUNDS;
}

int main()
{
    const int sms = multiprocessors();
    const size_t pixels = (size_t)sms * ROUNDS * 512;
    float *x = noise(pixels * DEEP), *w = noise(TAPS * DEEP * 256), *y = noise(pixels * 256);
    for (const Shape &shape : shapes) {
        const double deep = round_us(&shape, DEEP, sms, x, w, y);
        const double shallow = round_us(&shape, SHALLOW, sms, x, w, y);
        const double chunk = (deep - shallow) * shape.pieces / (TAPS * (DEEP - SHALLOW) / DEPTH);
        printf("tile %d %.2ff, %.1ff\n", (int)(&shape - shapes), chunk,
               deep - chunk * TAPS * DEEP / DEPTH / shape.pieces);
    }
    return 0;
}
