/* launch_counts.c - what the workers of a launch counted, put together, and what it cost. */
#include "common/simulator/launch/launch_counts.h"

#include <stddef.h>

#include "common/simulator/timing/cost.h"
#include "common/simulator/timing/l2.h"
#include "common/simulator/timing/access_log.h"

static void sums_add(uint64_t *to, const uint64_t *from, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}

/* Adds one instruction's runs to its class. */
static void class_add(Counters *c, const Ins *ins, uint64_t runs)
{
    static const size_t FIELD[CLASS_COUNT] = {
#define AT(field) offsetof(Counters, field##_instructions)
        [CLASS_FREE] = AT(free),           [CLASS_INT] = AT(integer),
        [CLASS_INT_WIDE] = AT(integer),    [CLASS_FP32] = AT(float),
        [CLASS_FP64] = AT(float),          [CLASS_SFU] = AT(special),
        [CLASS_DIV] = AT(special),         [CLASS_LOAD] = AT(memory),
        [CLASS_STORE] = AT(memory),        [CLASS_SHARED_LOAD] = AT(memory),
        [CLASS_SHARED_STORE] = AT(memory), [CLASS_ATOMIC] = AT(memory),
        [CLASS_BRANCH] = AT(control),      [CLASS_BARRIER] = AT(control),
        [CLASS_TENSOR] = AT(tensor)};
#undef AT
    *(uint64_t *)(void *)((char *)c + FIELD[ins->class]) += runs;
}

/* All workers' counts, and in worker[0] those by instruction and by SM. */
static void workers_merge(const Launch *launch, Worker *worker, uint32_t count, Counters *c)
{
    const SimtKernel *kernel = launch->kernel;
    uint32_t sms = launch->gpu->machine.sms;
    for (uint32_t i = 0; i < count; i++) {
        if (!worker[i].launch) continue; /* there was nothing left for it */
        counters_add(c, &worker[i].counters);
        for (uint32_t k = 0; k < kernel->count; k++) {
            const Ins *ins = &kernel->code[k];
            const InsCount *count = &worker[i].profile[k];
            if (ins->pseudo) continue;
            c->warp_instructions += count->runs;
            c->instructions += count->lanes;
            class_add(c, ins, count->runs);
            if (is_branch(ins))
                c->branches += count->runs, c->divergent_branches += count->divergent;
        }
        if (!i) continue;
        sums_add((uint64_t *)worker[0].profile, (const uint64_t *)worker[i].profile,
                 kernel->count * sizeof *worker[i].profile);
        sums_add((uint64_t *)worker[0].sm, (const uint64_t *)worker[i].sm,
                 sms * sizeof *worker[i].sm);
    }
}

int counts_merge(Launch *launch, Worker *worker, uint32_t count, SimtResult *result)
{
    Counters *c = &result->counters;
    if (!launch->count) {
        c->warp_instructions = launch->executed; /* used for limits over several launches */
        return 0;
    }
    workers_merge(launch, worker, count, c);
    c->launches = 1;
    c->blocks = launch->blocks;
    c->threads = launch->blocks * launch->threads_per_block;
    c->warps = launch->blocks * launch->warps_per_block;
    profile_hot_lines(launch, worker[0].profile, result);
    profile_line_work(launch, worker[0].profile);
    return 0;
}

int counts_price(Launch *launch, Worker *worker, uint32_t count, SimtResult *result)
{
    Counters *c = &result->counters;
    if (!launch->count) return 0;
    if (l2_play(launch, worker, count) != 0) return -1;
    c->dram_bytes = (launch->dram.loads + launch->dram.fills + launch->dram.stores) * 32;
    if (cycles_estimate(launch, worker, count, result) != 0) return -1;
    uint64_t misses = 0;
    for (uint32_t i = 0; i < launch->gpu->machine.sms; i++)
        misses += worker[0].sm[i].load_misses;
    uint64_t all = c->l1_hit_sectors + misses,
             missed = (uint64_t)((double)misses * launch->trace.load_sector_ratio);
    if (missed > all) missed = all;
    c->l1_hit_sectors = all - missed;
    c->l2_hit_sectors = missed > launch->dram.loads ? missed - launch->dram.loads : 0;
    if (launch->profile.stall) profile_add_runs(launch, worker[0].profile);
    if (launch->profile.stall && profile_keep(launch, worker[0].profile, result->cycles)) {
        launch->gpu->profile.dram_bytes = c->dram_bytes;
        access_log_give(launch, &launch->gpu->profile);
    }
    return 0;
}
