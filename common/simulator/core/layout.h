/* layout.h - sizes of a warp, and the windows of the generic address space. */
#ifndef CONVLAB_SIMT_CORE_LAYOUT_H
#define CONVLAB_SIMT_CORE_LAYOUT_H

#include <stdint.h>

enum { LANES = 32, ROW_BYTES = LANES * 4, STACK_DEPTH = 160, MAX_WARPS = 32, MAX_BARRIERS = 16 };
#define FULL_MASK 0xffffffffu

/* Device memory starts at DEVICE_BASE.  An address in a window is the window's base plus an
 * offset. */
#define DEVICE_BASE   0x0000700000000000ull
#define SHARED_WINDOW 0x0000600000000000ull
#define LOCAL_WINDOW  0x0000610000000000ull
#define PARAM_WINDOW  0x0000620000000000ull
#define CODE_WINDOW   0x0000630000000000ull
#define WINDOW_BYTES  0x0000010000000000ull

/* The bits of a shared-memory address from this one on are the rank of a block of the cluster,
 * plus 1.  0: the thread's own block. */
enum { RANK_SHIFT = 24 };

/* Bytes of one DRAM access, and its sectors. */
enum { FETCH_BYTES = 64, FETCH_SECTORS = 2 };

/* Bytes of a request of an SM for constant memory, and of a line of its L1 constant cache. */
enum { CONSTANT_BYTES = 256, CONST_L1_LINE_BYTES = 64 };

/* Distance in bytes between data that different host threads write: some processors transfer two
 * cache lines at a time. */
enum { SHARED_LINE = 128 };

/* A hash in the upper bits of the result: hashes of consecutive numbers are far apart. */
static inline uint64_t mixed(uint64_t number)
{
    return number * 0x9e3779b97f4a7c15u;
}

#endif
