/* code_pieces.c - the code block of each instruction, for the instruction cache. SASS has its own
 * addresses; PTX instructions are placed in ptxas's order with their number of SASS
 * instructions. */
#include <stdlib.h>

#include "common/simulator/ptxas/latency.h"
#include "common/simulator/sass_map/sass_map.h"
#include "common/simulator/timing/kernel_costs.h"
#include "common/simulator/traffic/code_cache.h"

typedef struct Place {
    uint32_t rank, at;
} Place;

static int by_rank(const void *left, const void *right)
{
    const Place *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The end of the basic block that starts at `from`. */
static uint32_t piece_end(const InsCost *price, uint32_t from, uint32_t own)
{
    uint32_t to = from + 1;
    while (to < own && to - from < PIECE && price[to].part == price[from].part)
        to++;
    return to;
}

/* SASS instructions at its place; a routine is elsewhere, once for all calls. */
static uint32_t own_slots(const SimtKernel *kernel, const InsCost *price, uint32_t i)
{
    return price[i].slots && divides_wide(&kernel->costs.code[i]) ? 1 : price[i].slots;
}

static void own_pieces(SimtKernel *kernel, const InsCost *price, uint32_t own)
{
    Place place[PIECE];
    uint32_t slots = 0;
    for (uint32_t from = 0, to; from < own; from = to) {
        to = piece_end(price, from, own);
        for (uint32_t i = from; i < to; i++)
            place[i - from] = (Place){price[i].rank, i};
        qsort(place, to - from, sizeof *place, by_rank);
        for (uint32_t k = 0; k < to - from; k++) {
            kernel->costs.code_piece[place[k].at] = slots / CODE_PIECE;
            slots += own_slots(kernel, price, place[k].at);
        }
    }
}

int code_pieces_find(SimtKernel *kernel, const InsCost *price, uint32_t own, const SimtMachine *gpu)
{
    const SassMap *f = kernel->costs.sass;
    uint32_t machine = f ? kernel->cubin.sass->count : 0;
    kernel->costs.code_slots = 0;
    for (uint32_t i = 0; i < own; i++)
        kernel->costs.code_slots += own_slots(kernel, price, i);
    if (!code_is_long(kernel->costs.code_slots, gpu) && !code_is_long(machine, gpu)) return 0;
    kernel->costs.code_piece = calloc((size_t)own + machine + 1, sizeof *kernel->costs.code_piece);
    if (!kernel->costs.code_piece) return -1;
    own_pieces(kernel, price, own);
    for (uint32_t i = 0; i < machine; i++)
        kernel->costs.code_piece[f->base + i] = i / CODE_PIECE;
    if (f) kernel->costs.code_piece[f->way] = CODE_ANY;
    return 0;
}
