/* line_list.c - the lists of lines in a warp's trace. */
#include "common/simulator/timing/line_list.h"

#include "common/simulator/timing/l2.h"
#include "common/simulator/traffic/store_buffer.h"
#include "common/simulator/traffic/traffic.h"

void lines_list(Warp *warp, const uint64_t *sector, uint32_t n, const uint32_t *written)
{
    WarpTrace *trace = warp->trace;
    uint32_t begin = warp->step.first_line ? warp->step.first_line - 1 : trace->lines,
             end = trace->lines;
    if (!n || trace->count == trace->room || (warp->step.passes && !warp->step.first_line)) return;
    if (end > begin) trace->line[end - 1].last = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t line = l2_line(sector[i]), k = end;
        while (k > begin && trace->line[k - 1].line != line)
            k--;
        if (k == begin) {
            if (end == trace->room) {
                warp->step.first_line = 0, trace->lines = begin;
                return;
            }
            trace->line[end] = (TraceLine){.line = line};
            k = ++end;
        }
        trace->line[k - 1].sectors |= (uint8_t)(1u << sector[i] % LINE_SECTORS);
        if (written)
            line_write(&trace->line[k - 1], sector[i] % LINE_SECTORS,
                       (uint32_t)__builtin_popcount(written[i]));
    }
    trace->line[end - 1].last = 1;
    trace->lines = end;
    step_access(&warp->step);
    warp->step.first_line = begin + 1;
}
