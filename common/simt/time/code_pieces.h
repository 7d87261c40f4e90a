/* code_pieces.h - where in memory the instructions of a kernel lie, as far as that takes time. */
#ifndef CONVLAB_SIMT_CODE_PIECES_H
#define CONVLAB_SIMT_CODE_PIECES_H

#include "common/simt/time/schedule.h"

/* Fills kernel->code_piece and code_slots; `own` of the prices are those of the PTX and of its
 * copies, the others machine code's.  Nothing where all of it is short.  -1: out of memory. */
int code_pieces_find(SimtKernel *kernel, const Price *price, uint32_t own);

#endif
