/* lanes.h - eight doubles at once, in the widest vectors that the machine has. */
#ifndef CONVLAB_BASE_LANES_H
#define CONVLAB_BASE_LANES_H

#include <stdint.h>

#include "common/base/sanitized.h"

enum { LANES = 8 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t LaneBits __attribute__((vector_size(LANES * sizeof(double))));

/* Before a function: compiled for each width of vectors, and chosen when the program starts. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !SANITIZED
#define WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST_VECTORS
#endif

#endif
