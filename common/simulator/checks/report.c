/* report.c - findings: what happened, where in the grid, and on which line. */
#include "common/base/demangle.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/debug_hook.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void report_fill(SimtReport *report, const Warp *warp, const Ins *ins, SimtCheck check,
                        uint32_t lane, uint64_t address, uint32_t bytes, const char *format,
                        va_list list)
{
    const SimtKernel *kernel = warp->worker->kernel;
    const SimtLaunch *launch = warp->worker->launch->launch;
    uint32_t thread = warp->index * LANES + lane;
    char what[640], where[320], called[160] = "";
    uint32_t line;
    memset(report, 0, sizeof *report);
    report->check = check;
    demangle(kernel->info.name, report->kernel, sizeof report->kernel);
    memcpy(report->block, warp->block->id, sizeof report->block);
    report->thread[0] = thread % launch->block[0];
    report->thread[1] = thread / launch->block[0] % launch->block[1];
    report->thread[2] = thread / launch->block[0] / launch->block[1];
    report->address = address;
    report->bytes = bytes;
    snprintf(report->source, sizeof report->source, "%s",
             source_line(kernel, ins->from, &report->line));
    vsnprintf(what, sizeof what, format, list);
    source_name(kernel, ins->from, where, sizeof where);
    const char *caller = source_caller(kernel, ins->from, &line);
    if (*caller) snprintf(called, sizeof called, ", called at %.120s:%u", caller, line);
    char at[48] = "";
    if (address) snprintf(at, sizeof at, " address 0x%llx,", (unsigned long long)address);
    snprintf(report->text, sizeof report->text,
             "%s\nin kernel %.120s,%s block (%u,%u,%u), thread (%u,%u,%u), at %.200s%s", what,
             report->kernel, at, report->block[0], report->block[1], report->block[2],
             report->thread[0], report->thread[1], report->thread[2], where, called);
}

RaceEnds race_ends(const Warp *warp, const Ins *ins, uint32_t before, uint32_t thread)
{
    const SimtKernel *kernel = warp->worker->kernel;
    const uint32_t *block = warp->worker->launch->launch->block;
    RaceEnds ends;
    snprintf(ends.who, sizeof ends.who, "(%u,%u,%u)", thread % block[0],
             thread / block[0] % block[1], thread / block[0] / block[1]);
    source_name(kernel, kernel->code[before].from, ends.where, sizeof ends.where);
    source_name(kernel, ins->from, ends.here, sizeof ends.here);
    return ends;
}

const Ins *fault_at(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                    uint32_t bytes, const char *format, ...)
{
    Worker *worker = warp->worker;
    Launch *launch = worker->launch;
    uint64_t number = warp->block->number;
    warp->state = WARP_FAULT;
    warp->pc = ins;
    if (worker->findings.fault_block == UINT64_MAX) {
        va_list list;
        va_start(list, format);
        report_fill(&worker->findings.fault, warp, ins, check, lane, address, bytes, format, list);
        va_end(list);
        worker->findings.fault_block = number;
    }
    /* Later blocks need not run, because the fault of the earliest block is reported. */
    uint64_t stop = __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED);
    while (number < stop && !__atomic_compare_exchange_n(&launch->stop_at, &stop, number, 0,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    DebugHook *debug = worker->gpu->debug;
    if (debug && worker->findings.fault_block == number)
        debug->found(debug, warp, ins, &worker->findings.fault);
    return NULL;
}

/* A debugger stops at each finding, not only at the first that is reported. */
static void finding_debug(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane,
                          uint64_t address, uint32_t bytes, const char *format, va_list list)
{
    SimtReport report;
    DebugHook *debug = warp->worker->gpu->debug;
    report_fill(&report, warp, ins, check, lane, address, bytes, format, list);
    debug->found(debug, warp, ins, &report);
}

int finding_is_told(const Warp *warp, SimtCheck check)
{
    const Worker *worker = warp->worker;
    /* A race explains an access to uninitialised memory by one of its threads. */
    int explains = check == SIMT_RACECHECK && worker->findings.finding.check == SIMT_INITCHECK &&
                   worker->findings.finding_block == warp->block->number;
    return worker->findings.finding_block == UINT64_MAX || explains;
}

void finding_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...)
{
    Worker *worker = warp->worker;
    worker->findings.count++;
    va_list list;
    if (worker->gpu->debug) {
        va_start(list, format);
        finding_debug(warp, ins, check, lane, address, bytes, format, list);
        va_end(list);
    }
    if (!finding_is_told(warp, check)) return;
    va_start(list, format);
    report_fill(&worker->findings.finding, warp, ins, check, lane, address, bytes, format, list);
    va_end(list);
    worker->findings.finding_block = warp->block->number;
}
