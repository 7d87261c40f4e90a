/* report.c - findings: what happened, where in the grid, and on which line. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/simt/core.h"

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static const PtxInstruction *origin_of(const SimtKernel *kernel, uint32_t from)
{
    return from < kernel->origins ? kernel->origin[from] : NULL;
}

/* The line that the student wrote: of code that a header of the toolkit put there, the line that
 * called it. */
static const char *source_file(const SimtKernel *kernel, const PtxInstruction *in, uint32_t *line)
{
    const PtxModule *ptx = kernel->module->ptx;
    if (!in || in->source.file >= ptx->files || in->source.line == 0) return NULL;
    const char *path = ptx->file[in->source.file];
    *line = in->source.line;
    if (!path || !in->source.inlined_line || in->source.inlined_file >= ptx->files ||
        !(strstr(path, "/include/") || strstr(path, ".hpp")))
        return file_name(path);
    *line = in->source.inlined_line;
    return file_name(ptx->file[in->source.inlined_file]);
}

const char *source_line(const SimtKernel *kernel, uint32_t from, uint32_t *line)
{
    *line = 0;
    const char *file = source_file(kernel, origin_of(kernel, from), line);
    return file ? file : "";
}

void source_name(const SimtKernel *kernel, uint32_t from, char *text, size_t bytes)
{
    const PtxInstruction *in = origin_of(kernel, from), *before = in;
    uint32_t line;
    const char *file = source_file(kernel, in, &line);
    /* Code that nvcc made of several lines names none: the last line before it is near. */
    for (uint32_t k = from; !file && before && k-- > 0 && from - k < 100;) {
        before = origin_of(kernel, k);
        file = source_file(kernel, before, &line);
    }
    if (file)
        snprintf(text, bytes, "%s:%u%s", file, line, before == in ? "" : " or near");
    else if (in)
        snprintf(text, bytes, "PTX line %u", in->ptx_line);
    else
        snprintf(text, bytes, "an unknown line");
}

/* "_Z5naive1PPKfS1_Pf" is naive; nested names give their last part; anything else stays as it
 * is. */
void plain_name(const char *mangled, char *text, size_t bytes)
{
    const char *at = mangled, *name = NULL;
    size_t length = 0, left = strlen(mangled);
    if (strncmp(at, "_Z", 2) == 0) {
        at += 2, left -= 2;
        int nested = *at == 'N';
        if (nested) at++, left--;
        if (left && *at == 'L') at++, left--;
        while (left && *at >= '0' && *at <= '9') {
            size_t n = 0;
            while (left && *at >= '0' && *at <= '9' && n < 100000)
                n = n * 10 + (size_t)(*at++ - '0'), left--;
            if (n == 0 || n > left) break;
            name = at, length = n;
            at += n, left -= n;
            if (!nested) break;
        }
    }
    snprintf(text, bytes, "%.*s", name ? (int)length : (int)strlen(mangled), name ? name : mangled);
}

static void report_fill(SimtReport *report, const Warp *warp, const Ins *ins, SimtCheck check,
                        uint32_t lane, uint64_t address, uint32_t bytes, const char *format,
                        va_list list)
{
    const SimtKernel *kernel = warp->worker->kernel;
    const SimtLaunch *launch = warp->worker->launch->launch;
    uint32_t thread = warp->index * LANES + lane;
    char what[640], where[320];
    const PtxInstruction *in = origin_of(kernel, ins->from);
    uint32_t line = 0;
    const char *file = source_file(kernel, in, &line);
    memset(report, 0, sizeof *report);
    report->check = check;
    plain_name(kernel->info.name, report->kernel, sizeof report->kernel);
    memcpy(report->block, warp->block->id, sizeof report->block);
    report->thread[0] = thread % launch->block[0];
    report->thread[1] = thread / launch->block[0] % launch->block[1];
    report->thread[2] = thread / launch->block[0] / launch->block[1];
    report->address = address;
    report->bytes = bytes;
    if (file) {
        snprintf(report->source, sizeof report->source, "%s", file);
        report->line = line;
    }
    vsnprintf(what, sizeof what, format, list);
    source_name(kernel, ins->from, where, sizeof where);
    char at[48] = "";
    if (address) snprintf(at, sizeof at, " address 0x%llx,", (unsigned long long)address);
    snprintf(report->text, sizeof report->text,
             "%s\nin kernel %.120s,%s block (%u,%u,%u), thread (%u,%u,%u), at %.200s", what,
             report->kernel, at, report->block[0], report->block[1], report->block[2],
             report->thread[0], report->thread[1], report->thread[2], where);
}

const Ins *fault_at(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                    uint32_t bytes, const char *format, ...)
{
    Worker *worker = warp->worker;
    Launch *launch = worker->launch;
    uint64_t number = warp->block->number;
    warp->state = WARP_FAULT;
    warp->pc = ins;
    if (worker->fault_block == UINT64_MAX) {
        va_list list;
        va_start(list, format);
        report_fill(&worker->fault, warp, ins, check, lane, address, bytes, format, list);
        va_end(list);
        worker->fault_block = number;
    }
    /* Later blocks need not run: of several faults the earliest block's is told. */
    uint64_t stop = __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED);
    while (number < stop && !__atomic_compare_exchange_n(&launch->stop_at, &stop, number, 0,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    return NULL;
}

void finding_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...)
{
    Worker *worker = warp->worker;
    worker->findings++;
    /* A race explains the unwritten memory that one of its threads met. */
    int explains = check == SIMT_RACECHECK && worker->finding.check == SIMT_INITCHECK &&
                   worker->finding_block == warp->block->number;
    if (worker->finding_block != UINT64_MAX && !explains) return;
    va_list list;
    va_start(list, format);
    report_fill(&worker->finding, warp, ins, check, lane, address, bytes, format, list);
    va_end(list);
    worker->finding_block = warp->block->number;
}
