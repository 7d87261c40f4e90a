/* wavefronts.h - passes through the 32 banks of shared memory, as ncu counts them on an H200. */
#ifndef CONVLAB_SIMT_WAVEFRONTS_H
#define CONVLAB_SIMT_WAVEFRONTS_H

#include <stdint.h>

/* Of one access of these lanes, `bytes` each; *needed: as many as these bytes need at least. */
uint32_t wavefronts_work_out(const uint32_t *offset, uint32_t mask, uint32_t bytes, int store,
                             uint32_t *needed);

/* Of a load by way of the L1, whose data lie in the same banks: all lanes together, whatever they
 * load, take as many as one of the banks has different words for them. */
uint32_t wavefronts_of_load(const uint32_t *offset, uint32_t mask, uint32_t bytes);

/* Of a copy of 16 bytes a lane that goes past the L1, from global to shared memory. */
uint32_t copy_wavefronts(const uint32_t *to, const uint64_t *from, uint32_t mask, uint32_t *needed);

/* Sectors of such a copy, as an H200's counter and as ncu's source page has them: sectors of shared
 * memory, each once for each line, or for each sector, of which it gets something. */
typedef struct CopySectors {
    uint32_t by_line, by_sector;
} CopySectors;
CopySectors copy_sectors(const uint32_t *to, const uint64_t *from, uint32_t mask);

/* What an atomic takes: turns of its loop (1 where it has none), the wavefronts of the loads in
 * that, its own ones, and as many as both need at least. */
typedef struct AtomicPasses {
    uint32_t rounds, loads, own, needed;
} AtomicPasses;

/* Of an atomic that is one instruction; `swap`: it compares. */
void atomic_pass(const uint32_t *offset, uint32_t mask, uint32_t bytes, int swap,
                 AtomicPasses *passes);
/* Of a turn of one that is a loop, of the lanes that are left in it; adds what it takes, and
 * returns the lanes that are served. */
uint32_t atomic_turn(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                     AtomicPasses *passes);
/* Of one that is a loop; `changing`: the lanes that do not leave it after their first load. */
void atomic_loop(const uint32_t *offset, uint32_t mask, uint32_t changing, uint32_t bytes,
                 AtomicPasses *passes);
/* Of one on 16 bits: a loop that loads the word once and compares as any program does. */
void atomic_loop_16(const uint32_t *offset, uint32_t mask, AtomicPasses *passes);

#endif
