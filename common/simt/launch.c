/* launch.c - spreads a launch's blocks over host threads, and puts their counts
 * together. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/base/plain_name.h"
#include "common/simt/alternate.h"
#include "common/simt/checks/race.h"
#include "common/simt/checks/race_order.h"
#include "common/simt/clusters.h"
#include "common/simt/decode/decode.h"
#include "common/simt/endless.h"
#include "common/simt/exec/exec.h"
#include "common/simt/launch_check.h"
#include "common/simt/simt.h"
#include "common/simt/time/cost.h"
#include "common/simt/time/l2.h"
#include "common/simt/time/replay.h"
#include "common/simt/time/schedule.h"
#include "common/simt/time/traffic.h"
#include "common/simt/time/watch.h"

static const uint64_t DEFAULT_LIMIT = 20000000000ull;

static int launch_refuse(SimtResult *result, SimtCheck check, const SimtKernel *kernel,
                         const char *text)
{
    result->report.check = check;
    plain_name(kernel->info.name, result->report.kernel, sizeof result->report.kernel);
    snprintf(result->report.text, sizeof result->report.text, "%s", text);
    result->findings = 1;
    return -1;
}

/* Blocks, one after the other, until none is left. */
static void worker_run(Worker *worker)
{
    Launch *launch = worker->launch;
    for (;;) {
        uint64_t number = __atomic_fetch_add(&launch->next, 1, __ATOMIC_RELAXED);
        if (number >= launch->blocks ||
            number > __atomic_load_n(&launch->stop_at, __ATOMIC_RELAXED))
            return;
        if (__atomic_load_n(&launch->timeout, __ATOMIC_RELAXED)) return;
        if (block_run(worker, number) != 0 && __atomic_load_n(&launch->timeout, __ATOMIC_RELAXED)) {
            uint64_t least = __atomic_load_n(&launch->timeout_block, __ATOMIC_RELAXED);
            endless_note(worker);
            while (number < least &&
                   !__atomic_compare_exchange_n(&launch->timeout_block, &least, number, 0,
                                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                continue;
        }
    }
}

static uint32_t threads_wanted(const Launch *launch)
{
    uint32_t cores = (uint32_t)gpu_threads(launch->gpu);
    uint64_t pieces = launch->blocks / (launch->cluster_blocks ? launch->cluster_blocks : 1);
    if (cores > PARALLEL_MOST) cores = PARALLEL_MOST;
    if (cores > pieces) cores = (uint32_t)pieces;
    return launch->kernel->in_order || launch->launch->cooperative ? 1 : cores;
}

/* The workers of a launch whose blocks wait for none but those of their cluster: on each host
 * thread as many as a cluster has. */
typedef struct Crew {
    Launch *launch;
    Worker *worker;
    Shelf *shelf;
    uint32_t each;
    int begun;  /* more threads than the caller's: there is work for them */
    int failed; /* out of host memory */
    Parallel all;
} Crew;

/* The caller's thread alone has worked for longer than another takes to begin. */
static void crew_begin(void *context)
{
    Crew *crew = context;
    if (!crew->begun) parallel_begin(&crew->all);
    crew->begun = 1;
}

/* What a host thread does.  It opens its own workers, so that their memory is near. */
static void crew_share(void *context, int share)
{
    Crew *crew = context;
    Worker *worker = crew->worker + (size_t)share * crew->each;
    int failed = 0;
    for (uint32_t i = 0; i < crew->each; i++)
        failed |= worker_open(&worker[i], crew->launch,
                              crew->shelf + (size_t)share * crew->each + i) != 0;
    for (uint32_t i = 0; i < crew->each && !share && crew->all.count > 1; i++)
        worker_calls(&worker[i], crew_begin, crew);
    if (failed)
        __atomic_store_n(&crew->failed, 1, __ATOMIC_RELAXED);
    else if (crew->launch->cluster_blocks)
        clusters_run(crew->launch, worker);
    else
        worker_run(worker);
    for (uint32_t i = 0; i < crew->each; i++)
        worker_tell(&worker[i]);
}

/* Are there blocks that nobody has taken? */
static int crew_more(void *context)
{
    const Crew *crew = context;
    const Launch *launch = crew->launch;
    return __atomic_load_n(&launch->next, __ATOMIC_RELAXED) < launch->blocks / crew->each &&
           !__atomic_load_n(&crew->failed, __ATOMIC_RELAXED);
}

static int crew_run(Crew *crew, uint32_t threads)
{
    crew->all = (Parallel){crew_share, crew_more, crew, .count = (int)threads};
    crew_share(crew, 0);
    if (crew->begun) parallel_end(&crew->all);
    return crew->failed;
}

/* ---- results ------------------------------------------------------------------------------ */
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

/* -1 when the host has no memory for working out the cycles. */
static int counts_merge(Launch *launch, Worker *worker, uint32_t count, SimtResult *result)
{
    Counters *c = &result->counters;
    if (!launch->count) {
        c->warp_instructions = launch->executed; /* for who limits several launches */
        return 0;
    }
    workers_merge(launch, worker, count, c);
    c->launches = 1;
    c->blocks = launch->blocks;
    c->threads = launch->blocks * launch->threads_per_block;
    c->warps = launch->blocks * launch->warps_per_block;
    if (l2_play(launch, worker, count) != 0) return -1;
    c->dram_bytes = (launch->dram_loads + launch->dram_fills + launch->dram_stores) * 32;
    uint64_t misses = 0;
    for (uint32_t i = 0; i < launch->gpu->machine.sms; i++)
        misses += worker[0].sm[i].load_misses;
    profile_hot_lines(launch, worker[0].profile, result);
    profile_line_work(launch, worker[0].profile);
    if (cycles_estimate(launch, worker, count, result) != 0) return -1;
    uint64_t all = c->l1_hit_sectors + misses, missed = (uint64_t)((double)misses * launch->missed);
    if (missed > all) missed = all;
    c->l1_hit_sectors = all - missed;
    c->l2_hit_sectors = missed > launch->dram_loads ? missed - launch->dram_loads : 0;
    if (launch->stall) profile_add_runs(launch, worker[0].profile);
    if (launch->stall && profile_keep(launch, worker[0].profile, result->cycles))
        watch_give(launch, &launch->gpu->profile);
    return 0;
}

static int result_timeout(Launch *launch, const Worker *worker, uint32_t workers,
                          SimtResult *result)
{
    char text[1024], name[128], loops[640];
    uint64_t block = launch->timeout_block == UINT64_MAX ? 0 : launch->timeout_block;
    endless_say(worker, workers, block, loops, sizeof loops);
    plain_name(launch->kernel->info.name, name, sizeof name);
    snprintf(text, sizeof text,
             "the launch went over its limit of %llu warp instructions: does a loop never end?\nin "
             "kernel %.120s%s",
             (unsigned long long)launch->limit, name, loops);
    launch_refuse(result, SIMT_TIMEOUT, launch->kernel, text);
    result->report.block[0] = (uint32_t)(block % launch->launch->grid[0]);
    result->report.block[1] = (uint32_t)(block / launch->launch->grid[0] % launch->launch->grid[1]);
    result->report.block[2] = (uint32_t)(block / launch->launch->grid[0] / launch->launch->grid[1]);
    return -1;
}

/* What is left when all blocks have run: to work out cycles, and meanwhile to look for races
 * between blocks. */
typedef struct Rest {
    Launch *launch;
    Worker *worker;
    uint32_t workers;
    SimtResult *result;
    SimtReport race;
    uint64_t races;
    int failed; /* out of host memory */
} Rest;

static void rest_share(void *context, int share)
{
    Rest *rest = context;
    if (share == 0)
        rest->failed = counts_merge(rest->launch, rest->worker, rest->workers, rest->result);
    else
        rest->races = race_blocks_find(rest->launch, &rest->race);
}

static void rest_run(Rest *rest)
{
    enum { FEW = 1 << 14 }; /* stored sectors, that are sooner looked at than a thread begins */
    const Launch *launch = rest->launch;
    if (launch->writers && launch->dram_stores > FEW && gpu_threads(launch->gpu) > 1) {
        parallel_run(2, rest_share, rest);
    } else {
        rest_share(rest, 0);
        rest_share(rest, 1);
    }
}

static int result_collect(Launch *launch, Worker *worker, uint32_t count, SimtResult *result)
{
    uint64_t fault = UINT64_MAX, finding = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (worker[i].launch && worker[i].fault_block < fault) {
            fault = worker[i].fault_block;
            result->report = worker[i].fault;
        }
        result->findings += worker[i].findings;
    }
    if (fault != UINT64_MAX) {
        result->findings = 1;
        return -1;
    }
    if (launch->timeout) return result_timeout(launch, worker, count, result);
    for (uint32_t i = 0; i < count; i++)
        if (worker[i].launch && worker[i].finding_block < finding) {
            finding = worker[i].finding_block;
            result->report = worker[i].finding;
        }
    Rest rest = {.launch = launch, .worker = worker, .workers = count, .result = result};
    rest_run(&rest);
    if (rest.failed)
        return launch_refuse(result, SIMT_BAD_LAUNCH, launch->kernel,
                             "out of host memory for the cycles of the launch");
    if (rest.races && finding == UINT64_MAX) result->report = rest.race;
    result->findings += rest.races;
    return 0;
}

static int launch_run(Launch *launch, SimtResult *result)
{
    uint32_t each = launch->cluster_blocks ? launch->cluster_blocks : 1;
    int alternates =
        !launch->cluster_blocks && (launch->kernel->spins || launch->launch->cooperative);
    uint32_t threads = threads_wanted(launch),
             most = alternates ? alternate_room(launch) : threads * each,
             open = alternates ? 0 : most;
    Worker *worker = calloc(most, sizeof *worker);
    int timed = alternates && launch->count && launch->kernel->waits;
    if (timed) launch->queue = calloc(HOT_ADDRESSES, sizeof *launch->queue);
    int failed = !worker || (timed && !launch->queue) || shelves_open(launch->gpu, most) ||
                 (launch->gpu->racecheck &&
                  (launch->kernel->fences ? race_order_open(launch) : race_blocks_open(launch))) ||
                 (launch->count && (traffic_open(launch) || trace_open(launch) ||
                                    profile_open(launch) || watch_open(launch) ||
                                    schedule_build(launch->kernel, &launch->gpu->machine,
                                                   launch->gpu->options.machine_code)));
    int status;
    if (!failed && alternates) {
        failed = alternate_run(launch, worker, &open) != 0;
        for (uint32_t i = 0; i < open; i++)
            worker_tell(&worker[i]);
    } else if (!failed) {
        Crew crew = {.launch = launch, .worker = worker, .shelf = launch->gpu->shelf, .each = each};
        failed = crew_run(&crew, threads);
    }
    if (failed) {
        status = launch_refuse(result, SIMT_BAD_LAUNCH, launch->kernel,
                               "out of host memory for the launch");
    } else {
        status = result_collect(launch, worker, open, result);
    }
    for (uint32_t i = 0; worker && i < open; i++)
        worker_close(&worker[i]);
    free(worker);
    shelves_keep(launch->gpu, PARALLEL_MOST);
    free(launch->queue);
    traffic_close(launch);
    trace_close(launch);
    profile_close(launch);
    watch_close(launch);
    race_blocks_close(launch);
    race_order_close(launch);
    return status;
}

/* Runs the launch with a word of memory beside it at which its blocks meet. */
static int launch_run_cooperative(Launch *launch, SimtResult *result)
{
    enum { BARRIER_BYTES = 64 };
    Memory *memory = &launch->gpu->memory;
    Allocation *barrier;
    Error error;
    if (alternate_room(launch) < launch->blocks)
        return launch_refuse(result, SIMT_UNSUPPORTED, launch->kernel,
                             "the host has no room for all blocks of this cooperative grid");
    if (memory_alloc(memory, BARRIER_BYTES, &launch->grid_barrier, &barrier, &error) != 0)
        return launch_refuse(result, SIMT_BAD_LAUNCH, launch->kernel, error.text);
    memset(barrier->host, 0, BARRIER_BYTES);
    memory_mark(memory, barrier->address, BARRIER_BYTES, 1);
    int status = launch_run(launch, result);
    memory_free(memory, launch->grid_barrier, NULL);
    return status;
}

/* Local memory of a thread: the kernel's variables, and as many frames as the stack may have, which
 * are larger here than on a card: parameters lie in them. */
static uint64_t local_wanted(const SimtGpu *gpu, const SimtKernel *kernel)
{
    uint64_t frames = 0;
    for (uint32_t i = 0; i < kernel->routines; i++) {
        const Routine *routine = &kernel->routine[i];
        uint64_t calls = gpu->stack_limit / routine->stack_bytes + 1,
                 bytes = calls * routine->frame_bytes;
        if (bytes > frames) frames = bytes;
    }
    return kernel->local_bytes + frames;
}

int simt_launch(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request, SimtResult *result)
{
    Launch launch = {.gpu = gpu,
                     .kernel = kernel,
                     .launch = request,
                     .count = gpu->count,
                     .notes = request->touch || request->early};
    char why[512];
    Error error;
    memset(result, 0, sizeof *result);
    if (kernel_decode(kernel, exec_handlers(), &error) != 0)
        return launch_refuse(result, SIMT_UNSUPPORTED, kernel, error.text);
    SimtCheck check = launch_check(&launch, why, sizeof why);
    if (check != SIMT_OK) return launch_refuse(result, check, kernel, why);
    if (kernel->allocates && heap_open(gpu, &error) != 0)
        return launch_refuse(result, SIMT_UNSUPPORTED, kernel, error.text);
    uint64_t local = local_wanted(gpu, kernel);
    if (local > UINT32_MAX)
        return launch_refuse(result, SIMT_UNSUPPORTED, kernel,
                             "a stack of so many calls, each with so large parameters, is not "
                             "supported (cudaLimitStackSize)");
    launch.local_bytes = (uint32_t)local;
    launch.stop_at = UINT64_MAX;
    launch.timeout_block = UINT64_MAX;
    launch.limit = request->instruction_limit       ? request->instruction_limit
                   : gpu->options.instruction_limit ? gpu->options.instruction_limit
                                                    : DEFAULT_LIMIT;
    result->resident_blocks = launch.resident;
    uint64_t at_once = (uint64_t)launch.resident * gpu->machine.sms;
    result->waves = (launch.blocks + at_once - 1) / at_once;
    int status = request->cooperative ? launch_run_cooperative(&launch, result)
                                      : launch_run(&launch, result);
    result->tells = launch.tells;
    return status;
}
