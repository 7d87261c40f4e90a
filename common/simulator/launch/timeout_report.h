/* timeout_report.h - which loops a launch was in when it came to its limit. */
#ifndef CONVLAB_SIMT_ENDLESS_H
#define CONVLAB_SIMT_ENDLESS_H

#include <stddef.h>
#include <stdint.h>

#include "common/simulator/core/core.h"

/* Notes the position of the first stopped warp of the current block. */
void timeout_note(Worker *worker);

/* " in the loop at conv.cu:87, inside of that at conv.cu:61": those around the place where that
 * block was stopped, by the line that closes each; "" if it was in none. */
void timeout_report(const Worker *worker, uint32_t workers, uint64_t block, char *text,
                    size_t bytes);

#endif
