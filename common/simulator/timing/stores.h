/* stores.h - L2 traffic of a warp's stores to global memory: lines, and sectors that are written
 * only in part.  The replay finds which of them the store buffer combines (store_buffer.h). */
#ifndef CONVLAB_SIMT_TIME_STORES_H
#define CONVLAB_SIMT_TIME_STORES_H

#include "common/simulator/core/core.h"

/* Adds a store of `bytes` of each lane to these different sectors to what its block costs, and
 * lists its lines. */
void stores_count(Warp *warp, const uint64_t *sector, uint32_t n, const uint64_t *address,
                  uint32_t mask, uint32_t bytes);

#endif
