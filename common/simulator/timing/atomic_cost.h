/* atomic_cost.h - the cost of an atomic: in the L2, on the way there, in shared memory, and where
 * other blocks poll the word.  All values were measured on an H200. */
#ifndef CONVLAB_SIMT_TIMING_ATOMIC_COST_H
#define CONVLAB_SIMT_TIMING_ATOMIC_COST_H

/* Latency in the L2, in cycles beyond a load's. */
enum {
    ATOMIC_CYCLES = 176,
    /* ... in the L2 half that the SM lies beside, beyond a load from there (looks.tsv, volatile and
     * add); where blocks run in the order of time. */
    NEAR_ATOMIC_CYCLES = 52,
};

/* Throughput of an L2 slice, in hundredths of a cycle. */
enum {
    PASS_PERCENT = 145,  /* a pass over a sector, in which each word is updated once */
    FULL_PERCENT = 120,  /* ... that updates the whole sector */
    FLOAT_PERCENT = 350, /* from one atomic on a word of floats to the next */
    /* more, where other blocks poll the word (changed.tsv, both: add) */
    POLLED_ATOMIC_PERCENT = 290,
    SLICE_RATE = 33 /* bytes of l2_bytes_per_cycle for each slice */
};

/* Cycles of a line on the way to the L2 and back. */
enum { ATOMIC_LINE = 3 };

/* An atomic on shared memory that is a loop of compare-and-swap: passes of an iteration through the
 * load/store unit; cycles from one lane of the block that succeeds to the next; cycles of an
 * iteration of a warp without contention: (shared-float-32 - shared-float) / (31 * 8). */
enum { RETRY_PASSES = 2, RETRY_CYCLES = 86, OWN_RETRY_CYCLES = 95 };

#endif
