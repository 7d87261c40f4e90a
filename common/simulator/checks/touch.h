/* touch.h - which words of device memory a launch touched. */
#ifndef CONVLAB_SIMT_CHECKS_TOUCH_H
#define CONVLAB_SIMT_CHECKS_TOUCH_H

#include "common/simulator/core/core.h"

/* `bytes` of each lane of `mask`, all of them in device memory; only where launch->notes is set. */
void touch_note(Warp *warp, const Ins *ins, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind);
/* A read of one lane that no load instruction makes: of an object or a text in device memory. */
void touch_note_read(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, uint32_t bytes);
/* A call of malloc or free: what it returns depends on the earlier calls of all launches. */
void touch_note_heap(Warp *warp);

#endif
