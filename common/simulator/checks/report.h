/* report.h - checks: what is wrong with what a kernel did, where in the grid, and on which line.
 *
 * Module: findings about what a kernel did (report.c), the array that an address was meant for
 * (origin.h) and hazards between threads (race.h).
 * Callers: exec, with every access; a launch, at its end.
 * May use: core. */
#ifndef CONVLAB_SIMT_CHECKS_REPORT_H
#define CONVLAB_SIMT_CHECKS_REPORT_H

#include "common/simulator/core/core.h"

/* Stops the warp with a finding for the lowest lane of `mask`; returns NULL so that a handler can
 * return it. */
const Ins *fault_at(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                    uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A finding after which execution continues. */
void finding_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A race with the earlier instruction number `before`. */
void race_add(Warp *warp, const Ins *ins, uint32_t before, uint32_t lane, uint64_t address,
              uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A warning (SimtReport.is_warning); only with SimtOptions.warns. */
void warning_add(Warp *warp, const Ins *ins, SimtCheck check, uint32_t lane, uint64_t address,
                 uint32_t bytes, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A warning about a race with the earlier instruction number `before`. */
void race_warning_add(Warp *warp, const Ins *ins, uint32_t before, uint32_t lane, uint64_t address,
                      uint32_t bytes, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/* The first finding of a check and a line is described, and its repeats are only counted: would a
 * finding now be described? Callers ask first if the description is expensive. */
int finding_is_described(const Warp *warp, const Ins *ins, SimtCheck check);
/* Frees what a worker's findings take. */
void findings_close(WorkerFindings *findings);
/* The first finding that is no warning, of the blocks up to `last`; NULL: there is none. */
const FindingGroup *finding_first(const WorkerFindings *findings, uint64_t last);
/* Adds the findings of `group` to the `count` groups of `all`, which has room for SIMT_FINDINGS;
 * returns the new number. */
uint32_t finding_merge(FindingGroup *all, uint32_t count, const FindingGroup *group);
/* The groups in the order of their blocks. */
void findings_sort(FindingGroup *all, uint32_t count);

/* The two accesses of a race in words: an earlier one's thread and line, and the line of this. */
typedef struct RaceEnds {
    char who[48], where[300], here[300];
} RaceEnds;
/* `before` is the number of the earlier instruction, `thread` that of its thread in the block. */
RaceEnds race_ends(const Warp *warp, const Ins *ins, uint32_t before, uint32_t thread);

#endif
