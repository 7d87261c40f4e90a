/* Lab 04: a block computes 16 x 16 outputs of one image for 8 filters, from a tile of the input and
 * the weights of one channel in shared memory. */
#include "autograder/tests/predictions/derive.h"

enum { TILE = 16, FILTERS = 8, BANKS = 32 };

typedef struct Block {
    int k0, op, oq; /* first filter, first output */
} Block;

/* Calls `visit` for every block of an image. */
static void blocks_visit(const ConvProblem *p, void (*visit)(const ConvProblem *, Block, double *),
                         double *sum)
{
    for (int k0 = 0; k0 < p->K; k0 += FILTERS)
        for (int op = 0; op < p->P; op += TILE)
            for (int oq = 0; oq < p->Q; oq += TILE)
                visit(p, (Block){k0, op, oq}, sum);
}

static void block_count(const ConvProblem *p, Block block, double *sum)
{
    (void)p, (void)block;
    ++*sum;
}

static double blocks(const Given *given)
{
    double count = 0;
    blocks_visit(&given->p, block_count, &count);
    return given->p.N * count;
}

/* Do a warp's 32 lanes, two rows of 16 outputs, read 32 different banks? */
static int banks_differ(const ConvProblem *p, int pitch)
{
    unsigned seen = 0;
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
        int at = lane / TILE * p->stride_h * pitch + lane % TILE * p->stride_w;
        seen |= 1u << at % BANKS;
    }
    return seen == ~0u;
}

/* The last output's last tap reads the last pixel of the tile.  The pitch is the smallest one that
 * holds a row and puts the warp's two rows into different banks. */
static double shared_bytes(const Given *given)
{
    const ConvProblem *p = &given->p;
    int rows = (TILE - 1) * p->stride_h + p->R;
    int pitch = (TILE - 1) * p->stride_w + p->S;
    while (!banks_differ(p, pitch))
        if (++pitch > 1024) return 0;
    return 4.0 * (FILTERS * p->R * p->S + rows * pitch);
}

/* Each input pixel under the block's windows once, and each weight of its filters. */
static void block_load(const ConvProblem *p, Block block, double *sum)
{
    for (int c = 0; c < p->C; c++) {
        for (int ih = 0; ih < p->H; ih++)
            for (int iw = 0; iw < p->W; iw++) {
                int i = ih - (block.op * p->stride_h - p->pad_top);
                int j = iw - (block.oq * p->stride_w - p->pad_left);
                *sum += i >= 0 && i < (TILE - 1) * p->stride_h + p->R && j >= 0 &&
                        j < (TILE - 1) * p->stride_w + p->S;
            }
        for (int k = block.k0; k < block.k0 + FILTERS && k < p->K; k++)
            *sum += p->R * p->S;
    }
}

static double bytes(const Given *given)
{
    double floats = 0;
    blocks_visit(&given->p, block_load, &floats);
    return 4.0 * given->p.N * floats;
}

/* The naive kernel loads two floats per multiply-add. */
static double reduction(const Given *given)
{
    const ConvProblem *p = &given->p;
    double naive = 0;
    for (int output = 0; output < p->N * p->K * p->P * p->Q; output++)
        naive += 8.0 * p->C * p->R * p->S;
    return naive / bytes(given);
}

typedef struct Stores {
    double requests, sectors;
} Stores;

/* The stores of a block's warps into one map, whose first byte is `map`. */
static void block_store(const ConvProblem *p, int op, int oq, int64_t map, Stores *stores)
{
    for (int first = 0; first < TILE; first += MACHINE_WARP_SIZE / TILE) {
        int64_t byte[MACHINE_WARP_SIZE];
        for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
            int row = op + first + lane / TILE, column = oq + lane % TILE;
            byte[lane] = row < p->P && column < p->Q ? map + 4 * (row * p->Q + column) : -1;
        }
        int sectors = sectors_touched(byte);
        stores->requests += sectors > 0;
        stores->sectors += sectors;
    }
}

static double store_sectors(const Given *given)
{
    const ConvProblem *p = &given->p;
    Stores stores = {0, 0};
    for (int64_t map = 0; map < p->N * p->K; map++)
        for (int op = 0; op < p->P; op += TILE)
            for (int oq = 0; oq < p->Q; oq += TILE)
                block_store(p, op, oq, 4 * map * p->P * p->Q, &stores);
    return stores.sectors / stores.requests;
}

const LabDerivations derive_04 = {"04-tiled",
                                  {
                                      {"blocks", blocks},
                                      {"shared", shared_bytes},
                                      {"bytes", bytes},
                                      {"reduction", reduction},
                                      {"store-sectors", store_sectors},
                                      {0},
                                  }};
