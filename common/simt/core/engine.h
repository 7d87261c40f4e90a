/* engine.h - accelerators that a machine may have: which call is one, and how long it takes. */
#ifndef CONVLAB_SIMT_ENGINE_H
#define CONVLAB_SIMT_ENGINE_H

#include "common/simt/core/core.h"

typedef enum Engine {
    ENGINE_INNER_PRODUCT, /* 2 * N cycles, N pairs of elements (section 3.2) */
    ENGINE_OUTER_PRODUCT, /* 4 + 2 * N - 2 cycles, N elements of the filters (section 3.3) */
    ENGINE_INDEX,         /* one instruction (section 4.3) */
    ENGINES
} Engine;

/* The functions that the engines are, to be executed in place of a submission's.  NULL with
 * error. */
PtxModule *engine_microcode(Error *error);
/* The engine that a function of this name is, or -1. */
int engine_find(const char *function);
/* Instructions that the call costs. */
uint32_t engine_slots(Engine engine);
/* Works out for how long the warp stands still; leaves it in warp->passes. */
void engine_start(Warp *warp, const Ins *ins);

#endif
