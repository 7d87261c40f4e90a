/* tune_15.cu - the constants of lab 15's choice (tune.h): the cost of transferring an element for
 * each tile size, and the start-up time of a block of the matrix product. */
#include "solutions/15-fft/conv.cu"

#include "common/apps/compare/tune.h"

enum { CHANNELS = 64, DEEP = 256, SHALLOW = 32, ROUNDS = 4, NUMBERS = 1 << 24 };

/* Time of a GEMM with the maximum number of resident blocks per SM, ROUNDS times. */
static double gemm_us(int channels, int sms, const Complex *u, const Complex *v, Complex *m)
{
    const dim3 grid(RESIDENT * ROUNDS, 1, sms);
    return microseconds([&](cudaStream_t stream) {
        gemm_kernel<<<grid, GEMM_THREADS, 0, stream>>>(channels, u, v, m);
    });
}

/* Microseconds per number that the input and output transforms store or load, if they store
 * NUMBERS. */
template <class T> static double transfer_us(const float *from, Complex *to, float *y)
{
    const int side = 2, taps = 5; /* tiles of a map in each direction; taps of a filter in each
                                   * direction */
    const int images = NUMBERS / (T::FREQUENCIES * CHANNELS * side * side);
    const int rows = T::ROWS > 1 ? taps : 1, step_h = T::ROWS - rows + 1,
              step_w = T::COLS - taps + 1;
    const ConvProblem p = problem(CONV_NCHW, images, CHANNELS, side * step_h + rows - 1,
                                  side * step_w + taps - 1, CHANNELS, rows, taps, 0);
    const Tiling y_tiling = output_tiling(&p, T::ROWS, T::COLS);
    const Tiling x_tiling = {
        p.N, p.C, p.H, p.W, y_tiling.down, y_tiling.across, y_tiling.step_h, y_tiling.step_w, 0, 0};
    const int tiles = round_up(images * side * side, T::TILES);
    const dim3 grid(tiles / T::TILES, CHANNELS);
    const double us = microseconds([&](cudaStream_t stream) {
        forward_fft_kernel<T><<<grid, T::THREADS, 0, stream>>>(x_tiling, from, to);
        inverse_fft_kernel<T><<<grid, T::THREADS, 0, stream>>>(y_tiling, CHANNELS, to, y);
    });
    return us / ((double)T::FREQUENCIES * tiles * 2 * CHANNELS);
}

int main()
{
    const int sms = multiprocessors();
    const size_t floats = (size_t)1 << 28;
    float *from = noise(floats), *to = noise(floats), *y = noise(floats);
    const double deep = gemm_us(DEEP, sms, (Complex *)from, (Complex *)to, (Complex *)y);
    const double shallow = gemm_us(SHALLOW, sms, (Complex *)from, (Complex *)to, (Complex *)y);
    const double channel = (deep - shallow) / (DEEP - SHALLOW);
    const double rate =
        4.0 * BLOCK_TILE * BLOCK_TILE * RESIDENT * ROUNDS / channel; /* multiply-adds per
                                                                      * microsecond */
    const double move[CHOICES] = {transfer_us<Tile<16, 16>>(from, (Complex *)to, y),
                                  transfer_us<Tile<32, 32>>(from, (Complex *)to, y),
                                  transfer_us<Tile<64, 64>>(from, (Complex *)to, y),
                                  transfer_us<Tile<1, 32>>(from, (Complex *)to, y),
                                  transfer_us<Tile<1, 64>>(from, (Complex *)to, y)};
    for (int i = 0; i < CHOICES; i++)
        printf("tile %d %.1ff\n", i, move[i] * sms * rate);
    printf("START %.0f\n", deep / channel - DEEP);
    return 0;
}
