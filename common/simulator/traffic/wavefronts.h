/* wavefronts.h - passes through the 32 banks of shared memory, as ncu counts them on an H200. */
#ifndef CONVLAB_SIMT_WAVEFRONTS_H
#define CONVLAB_SIMT_WAVEFRONTS_H

#include <stdint.h>

/* Wavefronts of one access of these lanes, `bytes` each; *needed: the minimum for this number of
 * bytes. */
uint32_t wavefronts_work_out(const uint32_t *offset, uint32_t mask, uint32_t bytes, int store,
                             uint32_t *needed);

/* Wavefronts of a load through the L1, whose data use the same banks: the maximum over the banks of
 * the number of different words, over all lanes. */
uint32_t wavefronts_of_load(const uint32_t *offset, uint32_t mask, uint32_t bytes);

/* Wavefronts of a copy of 16 bytes per lane that bypasses the L1, from global to shared memory. */
uint32_t copy_wavefronts(const uint32_t *to, const uint64_t *from, uint32_t mask, uint32_t *needed);

/* Sectors of such a copy, as an H200's counter and as ncu's source page has them: sectors of shared
 * memory, each once for each line, or for each sector, of which it gets something. */
typedef struct CopySectors {
    uint32_t by_line, by_sector;
} CopySectors;
CopySectors copy_sectors(const uint32_t *to, const uint64_t *from, uint32_t mask);

/* Cost of an atomic: iterations of its loop (1 without a loop), the wavefronts of the loads in the
 * loop, its own wavefronts, and the minimum for both. */
typedef struct AtomicPasses {
    uint32_t rounds, loads, own, needed;
} AtomicPasses;

/* Cost of an atomic that is one instruction; `swap`: it compares. */
void atomic_pass(const uint32_t *offset, uint32_t mask, uint32_t bytes, int swap,
                 AtomicPasses *passes);
/* Adds the cost of one iteration of an atomic loop for the remaining lanes, and returns the lanes
 * that succeed. */
uint32_t atomic_round(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                      AtomicPasses *passes);
/* Cost of an atomic loop; `changing`: the lanes that continue after their first load. */
void atomic_loop(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                 AtomicPasses *passes);
/* Cost of a 16-bit atomic: a loop that loads the word once and compares, as in a user program. */
void atomic_loop_16(const uint32_t *offset, uint32_t mask, AtomicPasses *passes);

#endif
