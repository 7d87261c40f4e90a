/* report.c - findings: what happened, where in the grid, and on which line. */
#include "common/base/demangle.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/debug_hook.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_OTHER = UINT32_MAX }; /* the finding is about one instruction */

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
    uint32_t line;
    const char *caller = source_caller(kernel, kernel->code[before].from, &line);
    size_t used = strlen(ends.where);
    if (*caller)
        snprintf(ends.where + used, sizeof ends.where - used, " (called at %.40s:%u)", caller,
                 line);
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

/* ---- groups of findings --------------------------------------------------------------------- */

static int is_same_place(const SimtReport *a, const SimtReport *b)
{
    return a->check == b->check && a->is_warning == b->is_warning && a->line == b->line &&
           a->other_line == b->other_line && !strcmp(a->source, b->source) &&
           !strcmp(a->other_source, b->other_source);
}

/* Sets the check and the lines of a finding. */
static void places_fill(SimtReport *report, const Warp *warp, const Ins *ins, uint32_t other,
                        SimtCheck check)
{
    const SimtKernel *kernel = warp->worker->kernel;
    report->check = check;
    snprintf(report->source, sizeof report->source, "%s",
             source_line(kernel, ins->from, &report->line));
    *report->other_source = '\0', report->other_line = 0;
    if (other != NO_OTHER)
        snprintf(report->other_source, sizeof report->other_source, "%s",
                 source_line(kernel, kernel->code[other].from, &report->other_line));
}

/* The group to which a finding belongs; NULL: there is none yet. */
static FindingGroup *group_find(const Warp *warp, const Ins *ins, uint32_t other, SimtCheck check,
                                int is_warning)
{
    const WorkerFindings *findings = &warp->worker->findings;
    uint32_t number = (uint32_t)(ins - warp->code);
    SimtReport place;
    for (uint32_t i = 0; i < findings->groups; i++) {
        FindingGroup *group = &findings->group[i];
        if (group->ins == number && group->other == other && group->found.report.check == check &&
            group->found.report.is_warning == is_warning)
            return group;
    }
    if (!findings->groups) return NULL;
    places_fill(&place, warp, ins, other, check);
    place.is_warning = is_warning;
    for (uint32_t i = 0; i < findings->groups && place.line; i++)
        if (is_same_place(&findings->group[i].found.report, &place)) return &findings->group[i];
    return NULL;
}

int finding_is_described(const Warp *warp, const Ins *ins, SimtCheck check)
{
    return warp->worker->findings.groups < SIMT_FINDINGS &&
           !group_find(warp, ins, NO_OTHER, check, 0);
}

/* A new group for this block, or NULL if the table is full. */
static FindingGroup *group_new(Warp *warp)
{
    WorkerFindings *findings = &warp->worker->findings;
    if (findings->groups == SIMT_FINDINGS) return NULL;
    if (!findings->group) findings->group = calloc(SIMT_FINDINGS, sizeof *findings->group);
    return findings->group ? &findings->group[findings->groups++] : NULL;
}

static void finding_note(Warp *warp, const Ins *ins, uint32_t other, SimtCheck check,
                         int is_warning, uint32_t lane, uint64_t address, uint32_t bytes,
                         const char *format, va_list list)
{
    Worker *worker = warp->worker;
    worker->findings.count += !is_warning;
    if (worker->gpu->debug && !is_warning) {
        va_list again;
        va_copy(again, list);
        finding_debug(warp, ins, check, lane, address, bytes, format, again);
        va_end(again);
    }
    FindingGroup *group = group_find(warp, ins, other, check, is_warning);
    if (!group && (group = group_new(warp))) {
        report_fill(&group->found.report, warp, ins, check, lane, address, bytes, format, list);
        places_fill(&group->found.report, warp, ins, other, check);
        group->block = warp->block->number;
        group->found.report.is_warning = is_warning;
    }
    if (!group) return;
    group->ins = (uint32_t)(ins - warp->code), group->other = other;
    group->found.count++;
}

void finding_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    finding_note(warp, ins, NO_OTHER, check, 0, lane, address, bytes, format, list);
    va_end(list);
}

void race_add(Warp *warp, const Ins *ins, uint32_t before, uint32_t lane, uint64_t address,
              uint32_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    finding_note(warp, ins, before, SIMT_RACECHECK, 0, lane, address, bytes, format, list);
    va_end(list);
}

void warning_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    finding_note(warp, ins, NO_OTHER, check, 1, lane, address, bytes, format, list);
    va_end(list);
}

void race_warning_add(Warp *warp, const Ins *ins, uint32_t before, uint32_t lane, uint64_t address,
                      uint32_t bytes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    finding_note(warp, ins, before, SIMT_RACECHECK, 1, lane, address, bytes, format, list);
    va_end(list);
}

void findings_close(WorkerFindings *findings)
{
    free(findings->group);
    findings->group = NULL, findings->groups = 0;
}

/* A race explains an access to uninitialised memory by one of its threads, so it is preferred to
 * one that the same block reported first. */
const FindingGroup *finding_first(const WorkerFindings *findings, uint64_t last)
{
    const FindingGroup *first = NULL;
    for (uint32_t i = 0; i < findings->groups; i++) {
        const FindingGroup *group = &findings->group[i];
        if (group->found.report.is_warning || group->block > last) continue;
        if (!first || (first->found.report.check == SIMT_INITCHECK &&
                       group->found.report.check == SIMT_RACECHECK && group->block == first->block))
            first = group;
    }
    return first;
}

uint32_t finding_merge(FindingGroup *all, uint32_t count, const FindingGroup *group)
{
    uint32_t i = 0;
    while (i < count && !is_same_place(&all[i].found.report, &group->found.report))
        i++;
    if (i == count) {
        if (count == SIMT_FINDINGS) return count;
        all[count] = *group;
        return count + 1;
    }
    uint64_t sum = all[i].found.count + group->found.count;
    if (group->block < all[i].block) all[i] = *group;
    all[i].found.count = sum;
    return count;
}

void findings_sort(FindingGroup *all, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && all[k].block < all[k - 1].block; k--) {
            FindingGroup one = all[k];
            all[k] = all[k - 1], all[k - 1] = one;
        }
}
