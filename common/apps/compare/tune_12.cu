/* tune_12.cu - constants of lab 12's time model (tune.h): for each block shape, the microseconds
 * of a chunk and of a tile's start and store. */
#include "solutions/12-hopper/conv.cu"

#include "common/apps/compare/tune.h"

/* Problems with one chunk per tap: x is loaded into the L2 once and read there for every tap. */
enum { SIDE = 16, IMAGE = SIDE * SIDE, FEW_TAPS = 3 * 3, MANY_TAPS = 5 * 5, ROUNDS = 4 };

struct Tensors {
    Stored *x, *w, *y;
};

/* Time of `rounds` tiles per cluster.  With clusters of four or more blocks, only about three
 * quarters of the SMs can be used at the same time. */
static double tiles_us(const Shape *shape, int taps, int rounds, int sms, const Tensors &of)
{
    const int cluster = shape->multicast * shape->slices, side = taps == FEW_TAPS ? 3 : 5;
    const int clusters = cluster < 4 ? sms / cluster : sms / cluster * 3 / 4;
    const int images = clusters * rounds * shape->pixels / IMAGE;
    const int filters = shape->filters * shape->multicast;
    const ConvProblem p =
        problem(CONV_NHWC, images, DEPTH, SIDE, SIDE, filters, side, side, side / 2);
    const Operands o = operands_plan(&p, of.x, of.w, PLAIN); /* full chunks: nothing to pack */
    return microseconds([&](cudaStream_t stream) { shape->launch(&o, of.y, sms, stream); });
}

int main()
{
    const int sms = multiprocessors();
    const size_t pixels = (size_t)sms * ROUNDS * 512;
    const Tensors of = {noise(pixels * DEPTH), noise(MANY_TAPS * DEPTH * 256), noise(pixels * 256)};
    const double once = tiles_us(shapes, FEW_TAPS, 1, sms, of);
    const double launch =
        once - (tiles_us(shapes, FEW_TAPS, ROUNDS, sms, of) - once) / (ROUNDS - 1);
    for (const Shape &shape : shapes) {
        /* Several slices are used only for layers of one round. */
        const int rounds = shape.slices > 1 ? 1 : ROUNDS;
        const double few = (tiles_us(&shape, FEW_TAPS, rounds, sms, of) - launch) / rounds;
        const double many = (tiles_us(&shape, MANY_TAPS, rounds, sms, of) - launch) / rounds;
        const double tap = (many - few) / (MANY_TAPS - FEW_TAPS); /* a chunk of all slices */
        printf("tile %d %.2ff, %.1ff\n", (int)(&shape - shapes), tap * shape.slices,
               few - tap * FEW_TAPS);
    }
    return 0;
}
