/* load_vectorize.h - loads from shared memory that ptxas vectorises. */
#ifndef CONVLAB_SIMT_PTXAS_LOAD_VECTORIZE_H
#define CONVLAB_SIMT_PTXAS_LOAD_VECTORIZE_H

#include "common/simulator/core/code_map.h"
#include "common/simulator/core/core.h"

/* Merges loads that are one in the SASS, in addition to those that the PTX proves mergeable. */
void loads_vectorize(SimtKernel *kernel, const CodeMap *map, const SassCode *code);

#endif
