/* line_list.h - the list of lines that an access has in the trace of its warp. */
#ifndef CONVLAB_SIMT_TIME_LINE_LIST_H
#define CONVLAB_SIMT_TIME_LINE_LIST_H

#include "common/simulator/core/core.h"

/* Lists in the warp's trace the lines of these sectors, and of a store what it writes of each, a
 * bit a byte; a load in two parts has one list. */
void lines_list(Warp *warp, const uint64_t *sector, uint32_t n, const uint32_t *written);

#endif
