/* Lab 05: blocks of 16 x 4 threads; each thread computes 4 images by 4 filters of one output pixel,
 * with accumulators in local memory. */
#include "autograder/tests/predictions/derive.h"

enum {
    THREADS = 64,
    WARPS = 2,
    IMAGES = 64, /* per block */
    FILTERS = 16,
    ACCUMULATORS = 16, /* per thread */
    CACHED_PIXELS = 4,
    CHANNELS = 3
};

/* Number of items of size `each` that fit into `room`, added one by one. */
static double pieces(double room, double each)
{
    double count = 0;
    for (double used = each; used <= room; used += each)
        count++;
    return count;
}

static double equation_6(const Given *given)
{
    (void)given;
    double registers = 0;
    for (int thread = 0; thread < THREADS; thread++)
        registers += 28;
    return pieces(32768, registers);
}

static double equation_7(const Given *given)
{
    (void)given;
    return pieces(48 << 10, 3900);
}

/* Adds blocks until every output is covered. */
static double blocks(const Given *given)
{
    const ConvProblem *p = &given->p;
    double count = 0;
    for (int n = 0; n < p->N; n += IMAGES)
        for (int k = 0; k < p->K; k += FILTERS)
            for (int pixel = 0; pixel < p->P * p->Q; pixel++)
                count++;
    return count;
}

/* ptxas's registers, allocated per warp in the GPU's allocation unit. */
static double by_registers(const Given *given)
{
    double compiled = registers_compiled(given, "conv_kernel"), warp = 0, block = 0;
    while (warp < compiled * MACHINE_WARP_SIZE)
        warp += given->machine.register_unit;
    for (int i = 0; i < WARPS; i++)
        block += warp;
    return pieces(given->machine.registers_per_sm, block);
}

/* Both arrays, float by float, with chunks of `cached` filter pixels. */
static double shared_bytes(int cached)
{
    double bytes = 0;
    for (int row = 0; row < CHANNELS * cached; row++)
        for (int column = 0; column < IMAGES + FILTERS; column++)
            bytes += sizeof(float);
    return bytes;
}

static double by_shared(const Given *given)
{
    return pieces(given->machine.shared_per_sm, shared_bytes(2 * CACHED_PIXELS));
}

/* Distributes blocks to the SMs until none is left. */
static double waves(const Given *given)
{
    double on_an_sm = by_shared(given), left = blocks(given), count = 0;
    if (on_an_sm > given->machine.max_blocks_per_sm) on_an_sm = given->machine.max_blocks_per_sm;
    for (; left > 0; count++)
        for (uint32_t sm = 0; sm < given->machine.sms; sm++)
            left -= on_an_sm;
    return count;
}

/* Empty block slots if there is one block more than the GPU holds, with 8 per SM. */
static double tail(const Given *given)
{
    int full = 8 * (int)given->machine.sms, left = full + 1, places = 0, empty = 0;
    while (left > 0)
        for (int place = 0; place < full; place++, places++)
            empty += left-- <= 0;
    return (double)empty / places;
}

/* Sectors of an access of all lanes to element `index` of their arrays. */
static double local_access(int index)
{
    int64_t byte[MACHINE_WARP_SIZE];
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++)
        byte[lane] = 4 * ((int64_t)index * MACHINE_WARP_SIZE + lane);
    return sectors_touched(byte);
}

/* An accumulator is set to zero, loaded and stored per multiply-add, and loaded for the result. */
static double local_sectors(const Given *given)
{
    const ConvProblem *p = &given->p;
    double warp = 0, all = 0;
    for (int i = 0; i < ACCUMULATORS; i++) {
        warp += local_access(i);
        for (int c0 = 0; c0 < p->C; c0 += CHANNELS)
            for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS)
                for (int row = 0; row < CHANNELS * CACHED_PIXELS; row++)
                    warp += 2 * local_access(i);
        warp += local_access(i);
    }
    for (int i = 0; i < (int)blocks(given) * WARPS; i++)
        all += warp;
    return all;
}

const LabDerivations derive_05 = {"05-register-tiled",
                                  {
                                      {"eq-6", equation_6},
                                      {"eq-7", equation_7},
                                      {"blocks", blocks},
                                      {"by-registers", by_registers},
                                      {"by-shared", by_shared},
                                      {"waves", waves},
                                      {"tail", tail},
                                      {"local", local_sectors},
                                      {0},
                                  }};
