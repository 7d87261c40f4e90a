/* lanes.h - vectors of eight doubles, in the widest registers of the machine. */
#ifndef CONVLAB_BASE_LANES_H
#define CONVLAB_BASE_LANES_H

#include <stdint.h>

#include "common/base/sanitized.h"

enum { LANES = 8 };
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t LaneBits __attribute__((vector_size(LANES * sizeof(double))));

/* Attribute of a function: compiled for each vector width, and selected when the program starts. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !SANITIZED
#define WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST_VECTORS
#endif

#endif
