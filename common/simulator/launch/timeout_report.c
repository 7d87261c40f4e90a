#include "common/simulator/launch/timeout_report.h"

#include <stdio.h>
#include <string.h>

#include "common/simulator/core/code_map.h"

void timeout_note(Worker *worker)
{
    const Block *block = &worker->block;
    worker->findings.stopped = NULL;
    worker->findings.stopped_block = block->number;
    for (uint32_t w = 0; w < block->warps && !worker->findings.stopped; w++)
        if (block->warp[w].state == WARP_FAULT) worker->findings.stopped = block->warp[w].pc;
}

/* The line of instruction `at`, where it has one and it is another than the last that was said. */
static int says_loop(const SimtKernel *kernel, uint32_t at, uint32_t *last, char *text,
                     size_t bytes)
{
    uint32_t line = 0;
    const char *file = source_line(kernel, kernel->code[at].from, &line);
    size_t used = strlen(text);
    if (!*file || !line || line == *last) return 0;
    snprintf(text + used, bytes - used, "%s at %.200s:%u",
             used ? ", inside of that" : " in the loop", file, line);
    *last = line;
    return 1;
}

void timeout_report(const Worker *worker, uint32_t workers, uint64_t block, char *text,
                    size_t bytes)
{
    enum { SAID = 3 };
    *text = 0;
    for (uint32_t i = 0; i < workers; i++) {
        const SimtKernel *kernel = worker[i].kernel;
        if (!worker[i].launch || !worker[i].findings.stopped ||
            worker[i].findings.stopped_block != block)
            continue;
        const uint32_t pc = (uint32_t)(worker[i].findings.stopped - kernel->code);
        uint32_t last = 0;
        for (uint32_t at = pc, said = 0; at < kernel->count && said < SAID; at++)
            if (is_backward_branch(kernel->code, at) && kernel->code[at].target <= pc)
                said += (uint32_t)says_loop(kernel, at, &last, text, bytes);
        return;
    }
}
