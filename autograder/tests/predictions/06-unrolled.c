/* Lab 06: lab 05's blocks and threads, with accumulators in registers. */
#include <stdint.h>

#include "autograder/tests/predictions/derive.h"

enum {
    THREADS_X = 16,
    THREADS_Y = 4,
    WARPS = 2, /* per block, two rows of threads each */
    EACH = 4,  /* images per thread, and filters per thread */
    IMAGES = THREADS_X * EACH,
    FILTERS = THREADS_Y * EACH,
    CACHED_PIXELS = 4,
    CHANNELS = 3,
    BANKS = 32
};

/* Counts of shared-memory accesses and of their wavefronts. */
typedef struct Accesses {
    double count, wavefronts;
} Accesses;

/* One access of a warp to these words: one wavefront per different word of the busiest bank. */
static void access_add(Accesses *accesses, const int word[MACHINE_WARP_SIZE])
{
    int most = 0;
    for (int bank = 0; bank < BANKS; bank++) {
        int wanted = 0;
        for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
            int seen = word[lane] % BANKS != bank;
            for (int before = 0; before < lane; before++)
                seen |= word[before] == word[lane];
            wanted += !seen;
        }
        if (wanted > most) most = wanted;
    }
    accesses->count++;
    accesses->wavefronts += most;
}

typedef int WordOf(int tx, int ty, int number);

static void access_all(Accesses *accesses, int warp, WordOf *word_of, int number)
{
    int word[MACHINE_WARP_SIZE];
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
        int thread = warp * MACHINE_WARP_SIZE + lane;
        word[lane] = word_of(thread % THREADS_X, thread / THREADS_X, number);
    }
    access_add(accesses, word);
}

/* `number` counts rows and, in each, a thread's images or filters. */
static int image_read(int tx, int ty, int number)
{
    (void)ty;
    return number / EACH * IMAGES + number % EACH * THREADS_X + tx;
}

static int filter_read(int tx, int ty, int number)
{
    (void)tx;
    return number / EACH * FILTERS + number % EACH * THREADS_Y + ty;
}

/* Thread row ty writes filter pixel ty; `number` counts channels and, in each, images. */
static int image_written(int tx, int ty, int number)
{
    return (number / EACH * CACHED_PIXELS + ty) * IMAGES + number % EACH * THREADS_X + tx;
}

/* One thread per weight of a channel; `number` counts channels. */
static int filter_written(int tx, int ty, int number)
{
    return number * CACHED_PIXELS * FILTERS + ty * THREADS_X + tx;
}

/* Accesses of a block's warps in one chunk. */
static Accesses chunk_accesses(void)
{
    Accesses sum = {0, 0};
    for (int warp = 0; warp < WARPS; warp++) {
        for (int c = 0; c < CHANNELS; c++)
            access_all(&sum, warp, filter_written, c);
        for (int i = 0; i < CHANNELS * EACH; i++)
            access_all(&sum, warp, image_written, i);
        for (int i = 0; i < CHANNELS * CACHED_PIXELS * EACH; i++) {
            access_all(&sum, warp, image_read, i);
            access_all(&sum, warp, filter_read, i);
        }
    }
    return sum;
}

/* Number of chunks of all blocks. */
static double chunks(const ConvProblem *p)
{
    double count = 0;
    for (int n = 0; n < p->N; n += IMAGES)
        for (int k = 0; k < p->K; k += FILTERS)
            for (int pixel = 0; pixel < p->P * p->Q; pixel++)
                for (int c = 0; c < p->C; c += CHANNELS)
                    for (int first = 0; first < p->R * p->S; first += CACHED_PIXELS)
                        count++;
    return count;
}

static double products(const Given *given)
{
    double of_a_chunk = 0;
    for (int warp = 0; warp < WARPS; warp++)
        for (int row = 0; row < CHANNELS * CACHED_PIXELS; row++)
            for (int sum = 0; sum < EACH * EACH; sum++)
                of_a_chunk++;
    return of_a_chunk * chunks(&given->p);
}

static double accesses(const Given *given)
{
    return chunk_accesses().count * chunks(&given->p);
}

static double wavefronts(const Given *given)
{
    (void)given;
    Accesses sum = chunk_accesses();
    return sum.wavefronts / sum.count;
}

/* ptxas's registers, allocated per warp in the GPU's allocation unit, block after block. */
static double by_registers(const Given *given)
{
    double compiled = registers_compiled(given, "conv_kernel"), warp = 0, used = 0, count = 0;
    while (warp < compiled * MACHINE_WARP_SIZE)
        warp += given->machine.register_unit;
    while ((used += WARPS * warp) <= given->machine.registers_per_sm)
        count++;
    return count;
}

const LabDerivations derive_06 = {"06-unrolled",
                                  {
                                      {"products", products},
                                      {"accesses", accesses},
                                      {"wavefronts", wavefronts},
                                      {"by-registers", by_registers},
                                      {0},
                                  }};
