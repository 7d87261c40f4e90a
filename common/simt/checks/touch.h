/* touch.h - which words of device memory a launch touched. */
#ifndef CONVLAB_SIMT_CHECKS_TOUCH_H
#define CONVLAB_SIMT_CHECKS_TOUCH_H

#include "common/simt/core/core.h"

/* `bytes` of each lane of `mask`, all of them in device memory; only where launch->launch->touch is
 * wanted. */
void touch_note(const Launch *launch, const uint64_t *address, uint32_t mask, uint32_t bytes,
                SimtTouchKind kind);

#endif
