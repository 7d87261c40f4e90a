/* fragments.h - sums of a kernel with mma.sync that loads or stores its fragments wrongly (lab 22).
 *
 * The GEMM has a row per output pixel j, a column per filter and a depth of chunks, 16 channels of
 * one tap.  A tile has eight chunks.  Chunk c of its row r is stored at place c ^ r % 8. */
#ifndef CONVLAB_OPERATIONS_INT8_FRAGMENTS_H
#define CONVLAB_OPERATIONS_INT8_FRAGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "convlab/int8.h"

enum { FRAGMENT_CHUNK = 16 };

typedef enum Fragments {
    FRAGMENTS_RIGHT,
    WORDS_OF_A_EXCHANGED, /* words 1 and 2 */
    WORDS_OF_B_EXCHANGED, /* word 1 of a fragment and word 0 of the next */
    INPUTS_NOT_SWIZZLED,
    WEIGHTS_NOT_SWIZZLED,
    SUMS_EXCHANGED,   /* accumulators 1 and 2 */
    CHUNKS_EXCHANGED, /* the two chunks of w in each pair */
    FIRST_32_PIXELS,  /* the second warp of 64 pixels uses the first 32 */
    FIRST_64_PIXELS   /* the second warp of 128 pixels uses the first 64 */
} Fragments;

typedef struct FragmentMistake {
    const Int8Problem *p; /* C is a multiple of 16 */
    const int8_t *x, *w;
    Fragments fragments;
} FragmentMistake;

/* The sum that pixel j of all images gets for filter k, without the bias. */
int32_t fragment_sum(const FragmentMistake *mistake, size_t j, int k);

#endif
