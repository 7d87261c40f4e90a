/* stores.h - what a warp's stores to global memory are in the L2.
 *
 * Each is lines, and sectors of which some are written only in part.  Where a warp's next store
 * goes to the same lines, up to four, as that of a record's next word does, the L1 joins it to the
 * last: an H200's L2 gets 0.42 of the sectors of three words side by side, 0.33 of those of four,
 * where few warps store at once a quarter, and 0.9 of those of five. */
#ifndef CONVLAB_SIMT_TIME_STORES_H
#define CONVLAB_SIMT_TIME_STORES_H

#include "common/simt/core/core.h"

/* Adds a store of `bytes` of each lane to these different sectors to what its block costs; returns
 * how many of them go on to the L2. */
uint32_t stores_count(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address,
                      uint32_t mask, uint32_t bytes);

#endif
