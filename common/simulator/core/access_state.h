/* access_state.h - a worker's state of the memory model: wavefronts, L1, sectors, L2 notes, and
 * retries of atomics in shared memory.
 *
 * The owners are the modules traffic (wavefronts.c, l1.c, retries.c, traffic.c) and timing (l2.c).
 * The types are here because Worker contains them. */
#ifndef CONVLAB_SIMT_CORE_ACCESS_STATE_H
#define CONVLAB_SIMT_CORE_ACCESS_STATE_H

#include <stdint.h>

#include "common/simulator/core/layout.h"

typedef struct Warp Warp;

/* ---- wavefronts ------------------------------------------------------------------------------ */
/* The last access of an instruction to the banks of one memory, and its cost. */
typedef struct Banked {
    uint32_t distance[LANES], rest; /* offsets of lanes from lane 0; offset of that in its unit */
    uint32_t unit;                  /* bytes; 0: no access yet */
    uint32_t mask, passes, needed;
} Banked;

/* A load that ptxas reuses in later iterations of a loop: the last warp here, and the address of
 * its next iteration. */
typedef struct ReuseState {
    const Warp *warp;
    uint64_t block, next;
    uint32_t mask, number;
} ReuseState;

/* The last accesses of an instruction; a copy accesses both memories. */
typedef struct Wavefronts {
    Banked shared, global;
    ReuseState reuse;
} Wavefronts;

/* ---- L1 -------------------------------------------------------------------------------------- */
typedef struct L1Line {
    uint64_t tag;
    uint32_t sectors, used;
    uint32_t warp, filled; /* the last user, and the number of lines it had filled by then */
} L1Line;

typedef struct WorkerL1 {
    L1Line *line;
    uint32_t sets, clock;
    uint32_t *local_line; /* lines of local memory of each warp (count.c) */
    uint32_t local_lines; /* places per warp */
} WorkerL1;

/* ---- sectors --------------------------------------------------------------------------------- */
/* Sectors of device memory, one bit each; only words of pages in use are valid. */
typedef struct Touched {
    uint64_t *word, words;
    unsigned char *taken; /* per page of words: in use */
} Touched;

typedef struct WorkerTraffic {
    uint32_t wave;          /* wave of the current block (dram_fetch.h) */
    Touched loaded, stored; /* loads by pairs of sectors */
    uint32_t *first;        /* moment of the first request for each pair (dram_fetch.h) */
} WorkerTraffic;

/* ---- L2 -------------------------------------------------------------------------------------- */
/* An access to a sampled line (l2.h). */
typedef struct L2Note {
    uint64_t at; /* moment */
    uint32_t line, words;
    uint8_t store, half; /* half: the L2 partition next to the SM */
} L2Note;

/* A worker's accesses. */
typedef struct L2Log {
    L2Note *note;
    uint32_t count, room;
    uint32_t most; /* highest rank of a line that is sampled; 0: none is */
    int failed;    /* out of memory */
} L2Log;

/* ---- retries of atomics in shared memory ----------------------------------------------------- */
enum { RETRIED_WORDS = 4096 };

/* Compare-and-swap loops of the current block. */
typedef struct Retries {
    struct {
        uint32_t word, successes; /* since another word had this entry */
    } place[RETRIED_WORDS];
    uint32_t most;                 /* most successes of any word */
    uint64_t rounds, loads, swaps; /* iterations; wavefronts of loads and of swaps */
} Retries;

/* One atomic instruction of a warp that is such a loop. */
typedef struct Retry {
    uint32_t warp, mask, changing, bytes, offset[LANES];
} Retry;

typedef struct RetrySums {
    uint64_t rounds, loads, swaps, needed;
} RetrySums;

/* Atomics of a block's warps since the last barrier, and their extra cost over a single warp. */
typedef struct Retried {
    Retry *one;
    uint32_t count, room, chance;
    RetrySums alone, failed;
    uint64_t clock, *changed; /* changed: clock of the last change of each word */
} Retried;

#endif
