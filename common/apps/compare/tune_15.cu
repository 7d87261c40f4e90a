/* tune_15.cu - the constants of lab 15's choice (tune.h): what it costs to move a number with each
 * kind of tile, and how long a block of the product takes to get going. */
#include "solutions/15-fft/conv.cu"

#include "common/apps/compare/tune.h"

enum { CHANNELS = 64, DEEP = 256, SHALLOW = 32, ROUNDS = 4, NUMBERS = 1 << 24 };

/* Of a product with as many blocks for each multiprocessor as it holds, ROUNDS times over. */
static double product_us(int channels, int sms, const Complex *u, const Complex *v, Complex *m)
{
    const dim3 grid(RESIDENT * ROUNDS, 1, sms);
    return microseconds([&](cudaStream_t stream) {
        product_kernel<<<grid, PRODUCERS, 0, stream>>>(channels, u, v, m);
    });
}

/* Microseconds for each number that the transforms of inputs and outputs store or load, where they
 * store NUMBERS. */
template <class T> static double move_us(const float *from, Complex *to, float *y)
{
    const int side = 2, taps = 5; /* tiles of a map, down or across; of a filter */
    const int images = NUMBERS / (T::POINTS * CHANNELS * side * side);
    const int rows = T::ROWS > 1 ? taps : 1, step_h = T::ROWS - rows + 1,
              step_w = T::COLS - taps + 1;
    const ConvProblem p = problem(CONV_NCHW, images, CHANNELS, side * step_h + rows - 1,
                                  side * step_w + taps - 1, CHANNELS, rows, taps, 0);
    const Cut of_y = outputs_cut(&p, T::ROWS, T::COLS);
    const Cut of_x = {p.N, p.C, p.H, p.W, of_y.down, of_y.across, of_y.step_h, of_y.step_w, 0, 0};
    const int tiles = whole(images * side * side, T::TILES);
    const dim3 grid(tiles / T::TILES, CHANNELS);
    const double us = microseconds([&](cudaStream_t stream) {
        points_kernel<T><<<grid, T::THREADS, 0, stream>>>(of_x, from, to);
        outputs_kernel<T><<<grid, T::THREADS, 0, stream>>>(of_y, CHANNELS, to, y);
    });
    return us / ((double)T::POINTS * tiles * 2 * CHANNELS);
}

int main()
{
    const int sms = multiprocessors();
    const size_t floats = (size_t)1 << 28;
    float *from = noise(floats), *to = noise(floats), *y = noise(floats);
    const double deep = product_us(DEEP, sms, (Complex *)from, (Complex *)to, (Complex *)y);
    const double shallow = product_us(SHALLOW, sms, (Complex *)from, (Complex *)to, (Complex *)y);
    const double channel = (deep - shallow) / (DEEP - SHALLOW);
    const double rate =
        4.0 * WIDE * WIDE * RESIDENT * ROUNDS / channel; /* products a microsecond */
    const double move[CHOICES] = {move_us<Tile<16, 16>>(from, (Complex *)to, y),
                                  move_us<Tile<32, 32>>(from, (Complex *)to, y),
                                  move_us<Tile<64, 64>>(from, (Complex *)to, y),
                                  move_us<Tile<1, 32>>(from, (Complex *)to, y),
                                  move_us<Tile<1, 64>>(from, (Complex *)to, y)};
    for (int i = 0; i < CHOICES; i++)
        printf("tile %d %.1ff\n", i, move[i] * sms * rate);
    printf("START %.0f\n", deep / channel - DEEP);
    return 0;
}
