#include "common/operations/int8/fragments.h"

enum { CHUNK = FRAGMENT_CHUNK, TILE_CHUNKS = 8 };

/* The chunk of inputs of pixel j at this depth; NULL: zeros. */
static const int8_t *input_chunk(const FragmentMistake *mistake, size_t j, int depth)
{
    const Int8Problem *p = mistake->p;
    const int chunks = p->C / CHUNK, r = depth / chunks / p->S, s = depth / chunks % p->S;
    const size_t pixels = (size_t)p->P * p->Q, n = j / pixels;
    const int h = (int)(j % pixels / p->Q) * p->stride_h + r - p->pad_top;
    const int w = (int)(j % p->Q) * p->stride_w + s - p->pad_left;
    if (n >= (size_t)p->N || r >= p->R || h < 0 || h >= p->H || w < 0 || w >= p->W) return NULL;
    return mistake->x + (((n * p->H + h) * p->W + w) * chunks + depth % chunks) * CHUNK;
}

/* The chunk of weights of filter k at this depth; NULL: zeros. */
static const int8_t *weight_chunk(const FragmentMistake *mistake, int k, int depth)
{
    const Int8Problem *p = mistake->p;
    const int chunks = p->R * p->S * (p->C / CHUNK);
    return k < p->K && depth < chunks ? mistake->w + ((size_t)k * chunks + depth) * CHUNK : NULL;
}

static int32_t chunk_dot(const int8_t *x, const int8_t *w)
{
    int32_t sum = 0;
    for (int i = 0; x && w && i < CHUNK; i++)
        sum += x[i] * w[i];
    return sum;
}

int32_t fragment_sum(const FragmentMistake *mistake, size_t j, int k)
{
    const Int8Problem *p = mistake->p;
    const Fragments which = mistake->fragments;
    const int chunks = p->R * p->S * (p->C / CHUNK);
    const int x_place = which == INPUTS_NOT_SWIZZLED ? (int)(j % 8) : 0;
    const int w_place = which == WEIGHTS_NOT_SWIZZLED ? k / 16 % 4 * 2 + k % 2 : 0;
    const int exchanged = which == SUMS_EXCHANGED && (j / 8 + (size_t)k) % 2;
    int32_t sum = 0;
    for (int d = 0; d < (chunks + TILE_CHUNKS - 1) / TILE_CHUNKS * TILE_CHUNKS; d++) {
        const int first = d & ~1, odd = d & 1;
        size_t pixel = exchanged ? j ^ 8 : j;
        int filter = exchanged ? k ^ 1 : k, x_depth = d ^ x_place, w_depth = d ^ w_place;
        if (which == WORDS_OF_A_EXCHANGED)
            pixel = (j & ~(size_t)8) + 8 * (size_t)odd, x_depth = first + (int)(j / 8 % 2);
        if (which == WORDS_OF_B_EXCHANGED) filter = (k & ~2) + 2 * odd, w_depth = first + k / 2 % 2;
        if (which == CHUNKS_EXCHANGED) w_depth = d ^ 1;
        if (which == FIRST_32_PIXELS) pixel = j & ~(size_t)32;
        if (which == FIRST_64_PIXELS) pixel = j & ~(size_t)64;
        sum +=
            chunk_dot(input_chunk(mistake, pixel, x_depth), weight_chunk(mistake, filter, w_depth));
    }
    return sum;
}
