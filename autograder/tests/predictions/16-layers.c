/* Lab 16: a thread for each pooled output, a warp for each connected output of 8 images. */
#include <string.h>

#include "autograder/tests/predictions/derive.h"
#include "convlab/layers.h"

enum { THREADS = 256, IMAGES = 8, WARP = MACHINE_WARP_SIZE };

static PoolProblem pool_of(const Given *given)
{
    PoolProblem p;
    memcpy(&p, given->problem->data, sizeof p);
    return p;
}

static FcProblem fc_of(const Given *given)
{
    FcProblem p;
    memcpy(&p, given->problem->data, sizeof p);
    return p;
}

/* One block after the other, as long as there are outputs left to cover. */
static double blocks(const Given *given)
{
    PoolProblem p = pool_of(given);
    double count = 0;
    for (int left = p.N * p.C * p.P * p.Q; left > 0; left -= THREADS)
        count++;
    return count;
}

/* Every window's inputs, one after the other. */
static double pool_bytes(const Given *given)
{
    PoolProblem p = pool_of(given);
    double floats = 0;
    for (int map = 0; map < p.N * p.C; map++)
        for (int output = 0; output < p.P * p.Q; output++)
            for (int tap = 0; tap < p.R * p.S; tap++) {
                int h = output / p.Q * p.stride_h + tap / p.S - p.pad_top;
                int w = output % p.Q * p.stride_w + tap % p.S - p.pad_left;
                floats += h >= 0 && h < p.H && w >= 0 && w < p.W;
            }
    return 4 * floats;
}

typedef struct Loads {
    double requests, sectors, bytes;
} Loads;

/* A warp's load of row `row` of a matrix of C columns, from column c on. */
static void load(int C, int row, int c, Loads *loads)
{
    int64_t byte[WARP];
    for (int lane = 0; lane < WARP; lane++) {
        byte[lane] = c + lane < C ? 4 * ((int64_t)row * C + c + lane) : -1;
        loads->bytes += c + lane < C ? 4 : 0;
    }
    loads->requests++;
    loads->sectors += sectors_touched(byte);
}

/* All loads of a fully connected layer, warp after warp. */
static Loads fc_loads(const Given *given)
{
    FcProblem p = fc_of(given);
    Loads loads = {0, 0, 0};
    for (int n0 = 0; n0 < p.N; n0 += IMAGES)
        for (int k = 0; k < p.K; k++)
            for (int c = 0; c < p.C; c += WARP) {
                load(p.C, k, c, &loads);
                for (int n = n0; n < n0 + IMAGES && n < p.N; n++)
                    load(p.C, n, c, &loads);
            }
    return loads;
}

static double fc_bytes(const Given *given)
{
    return fc_loads(given).bytes;
}

static double fc_sectors(const Given *given)
{
    Loads loads = fc_loads(given);
    return loads.sectors / loads.requests;
}

/* Two operations for each multiply-add of each output, output by output. */
static double lenet_flops(const Given *given)
{
    static const int OUTPUTS[] = {6 * 28 * 28, 16 * 10 * 10, 120, 84, 10};
    static const int PRODUCTS[] = {5 * 5, 6 * 5 * 5, 16 * 5 * 5, 120, 84};
    LenetProblem p;
    double count = 0;
    memcpy(&p, given->problem->data, sizeof p);
    for (int n = 0; n < p.N; n++)
        for (int layer = 0; layer < 5; layer++)
            for (int output = 0; output < OUTPUTS[layer]; output++)
                for (int product = 0; product < PRODUCTS[layer]; product++)
                    count += 2;
    return count;
}

/* By where the parts of w begin. */
static double share_c5(const Given *given)
{
    (void)given;
    return 100.0 * (LENET_F6_W - LENET_C5_W) / LENET_WEIGHTS;
}

const LabDerivations derive_16 = {"16-layers",
                                  {
                                      {"blocks", blocks},
                                      {"bytes-overlap", pool_bytes},
                                      {"bytes-c5", fc_bytes},
                                      {"sectors-electrode", fc_sectors},
                                      {"sectors-ragged", fc_sectors},
                                      {"flops", lenet_flops},
                                      {"share-c5", share_c5},
                                      {0},
                                  }};
