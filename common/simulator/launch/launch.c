/* launch.c - spreads a launch's blocks over host threads, and settles it, at once or while the next
 * one runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"
#include "common/base/demangle.h"
#include "common/simulator/launch/coresident.h"
#include "common/simulator/checks/definedness.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/core/debug_hook.h"
#include "common/simulator/checks/race_order.h"
#include "common/simulator/launch/clusters.h"
#include "common/simulator/decode/decode.h"
#include "common/simulator/launch/timeout_report.h"
#include "common/simulator/exec/block_dispatch.h"
#include "common/simulator/exec/exec.h"
#include "common/simulator/launch/launch_check.h"
#include "common/simulator/launch/launch_counts.h"
#include "common/simulator/launch/repeat.h"
#include "common/simulator/launch/simt.h"
#include "common/simulator/timing/interblock.h"
#include "common/simulator/timing/replay.h"
#include "common/simulator/timing/kernel_costs.h"
#include "common/simulator/traffic/traffic.h"
#include "common/simulator/timing/access_log.h"

static const uint64_t DEFAULT_LIMIT = 20000000000ull;

static int launch_refuse(SimtResult *result, SimtCheck check, const SimtKernel *kernel,
                         const char *text)
{
    result->report.check = check;
    demangle(kernel->info.name, result->report.kernel, sizeof result->report.kernel);
    snprintf(result->report.text, sizeof result->report.text, "%s", text);
    result->findings = 1;
    return -1;
}

static uint32_t threads_wanted(const Launch *launch)
{
    uint32_t cores = (uint32_t)gpu_threads(launch->gpu);
    uint64_t pieces = launch->blocks / (launch->cluster_blocks ? launch->cluster_blocks : 1);
    if (cores > PARALLEL_MOST) cores = PARALLEL_MOST;
    if (cores > pieces) cores = (uint32_t)pieces;
    int in_order = launch->kernel->traits.is_ordered ||
                   (launch->gpu->racecheck && race_orders(launch->kernel));
    return in_order || launch->launch->cooperative ? 1 : cores;
}

/* The workers of a launch whose blocks wait for none but those of their cluster: on each host
 * thread as many as a cluster has. */
typedef struct Crew {
    Launch *launch;
    Worker *worker;
    LaunchArena *shelf;
    uint32_t each;
    int begun;   /* more threads than the caller's: there is work for them */
    int settles; /* whether a thread settles the previous launch */
    int failed;  /* out of host memory */
    Parallel all;
    BlockDispatch deal; /* dispatch of blocks without a cluster */
} Crew;

/* The caller's thread alone has worked for longer than another takes to begin. */
static void crew_begin(void *context)
{
    Crew *crew = context;
    if (!crew->begun) parallel_begin(&crew->all);
    crew->begun = 1;
}

/* One thread settles the previous launch, once. If there are more blocks than threads, the others
 * take some of its share, so it settles before its first block. Otherwise the first idle thread
 * settles. */
static void crew_settle(Crew *crew)
{
    if (!__atomic_exchange_n(&crew->settles, 1, __ATOMIC_RELAXED))
        simt_settle(crew->launch->gpu, NULL);
}

static int has_more_than_threads(const Crew *crew)
{
    return crew->launch->blocks / crew->each > (uint64_t)crew->all.count;
}

/* The work of one host thread. It opens its own workers, so that their memory is local to it. */
static void crew_share(void *context, int share)
{
    Crew *crew = context;
    Worker *worker = crew->worker + (size_t)share * crew->each;
    int failed = 0, clusters = crew->launch->cluster_blocks != 0;
    if (share && has_more_than_threads(crew)) crew_settle(crew);
    for (uint32_t i = 0; i < crew->each; i++)
        failed |= worker_open(&worker[i], crew->launch,
                              crew->shelf + (size_t)share * crew->each + i) != 0;
    for (uint32_t i = 0; i < crew->each && !share && crew->all.count > 1 && !crew->begun; i++)
        worker_calls(&worker[i], crew_begin, crew);
    if (!failed && clusters)
        clusters_run(crew->launch, worker);
    else if (!failed)
        failed = dispatch_run(&crew->deal, (uint32_t)share) != 0;
    for (uint32_t i = 0; i < crew->each && clusters && !failed; i++)
        worker_tell(&worker[i]);
    if (failed) __atomic_store_n(&crew->failed, 1, __ATOMIC_RELAXED);
    crew_settle(crew);
}

/* Are there blocks that no thread has taken? */
static int crew_more(void *context)
{
    const Crew *crew = context;
    const Launch *launch = crew->launch;
    return __atomic_load_n(&launch->next, __ATOMIC_RELAXED) < launch->blocks / crew->each &&
           !__atomic_load_n(&crew->failed, __ATOMIC_RELAXED);
}

/* A kernel that had much to do mostly has again: then the others begin at once. */
static int has_much(const Crew *crew)
{
    enum { MUCH = 1 << 16 };
    return crew->all.count > 1 && crew->launch->kernel->executed > MUCH;
}

static int crew_run(Crew *crew, uint32_t threads, uint32_t workers)
{
    crew->all = (Parallel){crew_share, crew_more, crew, .count = (int)threads};
    dispatch_open(&crew->deal, crew->launch, crew->worker, crew->shelf, threads,
                  workers / crew->each);
    crew->deal.stopped = timeout_note;
    if (has_much(crew)) crew_begin(crew);
    crew_share(crew, 0);
    if (crew->begun) parallel_end(&crew->all);
    dispatch_close(&crew->deal);
    crew->launch->kernel->executed = crew->launch->executed;
    return crew->failed;
}

/* ---- results ------------------------------------------------------------------------------ */
static void result_timeout(Launch *launch, const Worker *worker, uint32_t workers,
                           SimtResult *result)
{
    char text[1024], name[128], loops[640], why[100];
    uint64_t block = launch->timeout_block == UINT64_MAX ? 0 : launch->timeout_block;
    timeout_report(worker, workers, block, loops, sizeof loops);
    demangle(launch->kernel->info.name, name, sizeof name);
    if (launch->executed > launch->limit)
        snprintf(why, sizeof why, "went over its limit of %llu warp instructions",
                 (unsigned long long)launch->limit);
    else
        snprintf(why, sizeof why, "was interrupted after %llu warp instructions",
                 (unsigned long long)launch->executed);
    snprintf(text, sizeof text,
             "the launch %s: does a loop never end, or has the grid far too many blocks?\nin "
             "kernel %.120s%s",
             why, name, loops);
    launch_refuse(result, SIMT_TIMEOUT, launch->kernel, text);
    result->report.block[0] = (uint32_t)(block % launch->launch->grid[0]);
    result->report.block[1] = (uint32_t)(block / launch->launch->grid[0] % launch->launch->grid[1]);
    result->report.block[2] = (uint32_t)(block / launch->launch->grid[0] / launch->launch->grid[1]);
}

/* A launch: until its blocks have run, or until it is settled. */
typedef struct Run {
    Launch launch;
    SimtLaunch request;
    SimtResult *result;
    Worker *worker;
    uint32_t workers;
    int later;          /* it is to be settled while the next one runs */
    LaunchArena *shelf; /* memory of its workers, until then */
    uint32_t shelves;
    FindingGroup *race; /* between blocks: SIMT_FINDINGS of them, or NULL */
    uint32_t race_groups;
    uint64_t races;
    int failed;           /* out of host memory */
    Repeat *repeat;       /* learns the result of this launch; NULL: none does */
    uint64_t *digest_out; /* gets the digest; NULL: not wanted */
} Run;

/* Work that remains after all blocks: cycles are computed, unless that is deferred, and races
 * between blocks are searched concurrently. */
static void rest_share(void *context, int share)
{
    Run *run = context;
    if (share)
        run->races = race_blocks_find(&run->launch, run->race, &run->race_groups);
    else
        run->failed =
            counts_merge(&run->launch, run->worker, run->workers, run->result) != 0 ||
            (!run->later && counts_price(&run->launch, run->worker, run->workers, run->result));
}

static void rest_run(Run *run)
{
    enum { FEW = 1 << 14 }; /* stored sectors, that are sooner looked at than a thread begins */
    const Launch *launch = &run->launch;
    if (!run->later && launch->race.writers && launch->dram.stores > FEW &&
        gpu_threads(launch->gpu) > 1) {
        parallel_run(2, rest_share, run);
    } else {
        rest_share(run, 0);
        rest_share(run, 1);
    }
}

static int refuse_for_memory(Run *run, const char *text)
{
    return launch_refuse(run->result, SIMT_BAD_LAUNCH, run->launch.kernel, text);
}

static const char NO_ROOM_FOR_CYCLES[] = "out of host memory for the cycles of the launch";

/* The blocks synchronise more than racecheck can track, so their races are unknown. */
static void order_report(Run *run)
{
    char name[128];
    SimtReport *report = &run->race->found.report;
    demangle(run->launch.kernel->info.name, name, sizeof name);
    memset(run->race, 0, sizeof *run->race);
    run->race->block = UINT64_MAX, run->race->found.count = 1;
    report->check = SIMT_RACECHECK;
    snprintf(report->kernel, sizeof report->kernel, "%s", run->launch.kernel->info.name);
    snprintf(
        report->text, sizeof report->text,
        "Race check given up: the blocks of kernel %.120s exchange data through more flags and "
        "atomics than racecheck follows (%u entries)",
        name, RACE_ORDER_ENTRIES);
    run->races++, run->race_groups = 1;
}

/* Stores the launch's findings for simt_findings, without one that is in the result's report.  Only
 * blocks up to `last` have run to their end on any number of host threads. */
static void findings_keep(Run *run, const SimtReport *first, uint64_t last)
{
    static const FindingGroup NONE;
    SimtGpu *gpu = run->launch.gpu;
    uint32_t count = 0, any = run->race_groups;
    for (uint32_t i = 0; i < run->workers; i++)
        any |= run->worker[i].findings.groups;
    if (!any && first->check == SIMT_OK) return;
    FindingGroup all[SIMT_FINDINGS] = {NONE};
    for (uint32_t i = 0; i < run->workers; i++) {
        const WorkerFindings *findings = &run->worker[i].findings;
        for (uint32_t k = 0; run->worker[i].launch && k < findings->groups; k++)
            if (findings->group[k].block <= last)
                count = finding_merge(all, count, &findings->group[k]);
    }
    for (uint32_t k = 0; last == UINT64_MAX && k < run->race_groups; k++)
        count = finding_merge(all, count, &run->race[k]);
    findings_sort(all, count);
    gpu->found_count = first->check != SIMT_OK;
    if (gpu->found_count) gpu->found[0] = (SimtFinding){*first, 1};
    for (uint32_t i = 0; i < count; i++) {
        if (last != UINT64_MAX) all[i].found.count = 1; /* later blocks have others or not */
        if (gpu->found_count && !strcmp(all[i].found.report.text, first->text))
            gpu->found[0].count = all[i].found.count;
        else if (gpu->found_count < SIMT_FINDINGS)
            gpu->found[gpu->found_count++] = all[i].found;
    }
}

void simt_warn(SimtGpu *gpu, SimtCheck check, const char *text)
{
    if (gpu->found_count == SIMT_FINDINGS) return;
    SimtFinding *found = &gpu->found[gpu->found_count++];
    *found = (SimtFinding){.report = {.check = check, .is_warning = 1}, .count = 1};
    snprintf(found->report.text, sizeof found->report.text, "%s", text);
}

void simt_findings_clear(SimtGpu *gpu)
{
    gpu->found_count = 0;
}

const SimtFinding *simt_findings(const SimtGpu *gpu, uint32_t *count)
{
    *count = gpu->found_count;
    return gpu->found;
}

static int result_collect(Run *run)
{
    uint64_t fault = UINT64_MAX, finding = UINT64_MAX;
    SimtResult *result = run->result;
    const Worker *worker = run->worker;
    const FindingGroup *first;
    for (uint32_t i = 0; i < run->workers; i++) {
        if (worker[i].launch && worker[i].findings.fault_block < fault) {
            fault = worker[i].findings.fault_block;
            result->report = worker[i].findings.fault;
        }
        result->findings += worker[i].findings.count;
    }
    if (fault != UINT64_MAX) {
        findings_keep(run, &result->report, fault);
        result->findings = 1;
        return -1;
    }
    if (run->launch.timeout) {
        result_timeout(&run->launch, worker, run->workers, result);
        findings_keep(run, &result->report, run->launch.timeout_block);
        return -1;
    }
    for (uint32_t i = 0; i < run->workers; i++)
        if (worker[i].launch && (first = finding_first(&worker[i].findings, UINT64_MAX)) &&
            first->block < finding) {
            finding = first->block;
            result->report = first->found.report;
        }
    rest_run(run);
    if (run->failed) return refuse_for_memory(run, NO_ROOM_FOR_CYCLES);
    if (race_order_lost(&run->launch)) order_report(run);
    if (run->races && finding == UINT64_MAX) result->report = run->race->found.report;
    result->findings += run->races;
    findings_keep(run, &result->report, UINT64_MAX);
    return 0;
}

/* ---- a launch ----------------------------------------------------------------------------- */

static void run_close(Run *run)
{
    Launch *launch = &run->launch;
    for (uint32_t i = 0; run->worker && i < run->workers; i++)
        worker_close(&run->worker[i]);
    free(run->worker);
    free(run->race);
    interblock_close(launch);
    traffic_close(launch);
    trace_close(launch);
    profile_close(launch);
    access_log_close(launch);
    free(run);
}

/* Keeps its workers' memory; the next launch uses that of the launch before this one. */
static void run_keep(Run *run)
{
    SimtGpu *gpu = run->launch.gpu;
    run->shelf = gpu->arenas, run->shelves = gpu->arena_count;
    gpu->arenas = gpu->spare_arenas, gpu->arena_count = gpu->spare_count;
    gpu->spare_arenas = NULL, gpu->spare_count = 0;
    gpu->unsettled = run;
}

static void run_settle(SimtGpu *gpu, Run *run)
{
    gpu->unsettled = NULL;
    if (counts_price(&run->launch, run->worker, run->workers, run->result) != 0)
        refuse_for_memory(run, NO_ROOM_FOR_CYCLES);
    if (run->repeat) repeat_learn_result(run->repeat, run->result);
    gpu->spare_arenas = run->shelf, gpu->spare_count = run->shelves;
    run_close(run);
}

int simt_settle(SimtGpu *gpu, const SimtResult *result)
{
    Run *run = gpu->unsettled;
    if (run && (!result || result == run->result)) run_settle(gpu, run);
    return result && result->report.check == SIMT_BAD_LAUNCH ? -1 : 0;
}

static int run_refuse(Run *run, SimtCheck check, const char *text)
{
    launch_refuse(run->result, check, run->launch.kernel, text);
    run_close(run);
    return -1;
}

static int run_open(Run *run, uint32_t most)
{
    Launch *launch = &run->launch;
    SimtGpu *gpu = launch->gpu;
    run->worker = calloc(most, sizeof *run->worker);
    if (!run->worker || arenas_open(gpu, most)) return -1;
    if (gpu->racecheck && !(run->race = calloc(SIMT_FINDINGS, sizeof *run->race))) return -1;
    if (gpu->racecheck &&
        (race_orders(launch->kernel) ? race_order_open(launch) : race_blocks_open(launch)))
        return -1;
    if (!launch->count) return 0;
    return traffic_open(launch) || trace_open(launch) || profile_open(launch) ||
                   access_log_open(launch) ||
                   kernel_costs_build(launch->kernel, &gpu->machine, gpu->options.machine_code)
               ? -1
               : 0;
}

/* Runs the blocks one after the other, or round-robin, on this thread. */
static int run_alternate(Run *run)
{
    Launch *launch = &run->launch;
    uint32_t most = coresident_blocks(launch);
    simt_settle(launch->gpu, NULL);
    run->later = 0;
    int failed = run_open(run, most) != 0;
    if (!failed && launch->count && launch->kernel->traits.only_polls_blocks)
        failed = interblock_open(launch) != 0;
    failed = failed || coresident_run(launch, run->worker, &run->workers) != 0;
    for (uint32_t i = 0; i < run->workers && !failed; i++)
        worker_tell(&run->worker[i]);
    return failed ? -1 : 0;
}

static int run_crew(Run *run)
{
    Launch *launch = &run->launch;
    uint32_t each = launch->cluster_blocks ? launch->cluster_blocks : 1,
             threads = threads_wanted(launch);
    run->workers =
        launch->cluster_blocks ? threads * each : dispatch_workers(launch->blocks, threads);
    if (run_open(run, run->workers) != 0) return -1;
    Crew crew = {
        .launch = launch, .worker = run->worker, .shelf = launch->gpu->arenas, .each = each};
    return crew_run(&crew, threads, run->workers);
}

static int launch_run(Run *run)
{
    Launch *launch = &run->launch;
    SimtGpu *gpu = launch->gpu;
    int alternates = !launch->cluster_blocks &&
                     (launch->kernel->traits.has_polling || launch->launch->cooperative);
    int failed = alternates ? run_alternate(run) : run_crew(run);
    int status =
        failed ? refuse_for_memory(run, "out of host memory for the launch") : result_collect(run);
    run->result->tells = launch->tells;
    run->result->prints = launch->prints != 0;
    race_blocks_close(launch);
    race_order_close(launch);
    if (run->repeat && status == 0) repeat_learn(run->repeat, launch);
    if (run->later && status == 0) {
        run_keep(run);
        return 0;
    }
    if (run->repeat && status == 0) repeat_learn_result(run->repeat, run->result);
    if (run->digest_out) *run->digest_out = launch->digest;
    run_close(run);
    arenas_keep(gpu, 2 * PARALLEL_MOST);
    return status;
}

/* Runs the launch with an additional word of memory for the grid barrier. */
static int launch_run_cooperative(Run *run)
{
    enum { BARRIER_BYTES = 64 };
    Launch *launch = &run->launch;
    Memory *memory = &launch->gpu->memory;
    uint64_t address;
    Allocation *barrier;
    Error error;
    if (coresident_blocks(launch) < launch->blocks)
        return run_refuse(run, SIMT_UNSUPPORTED,
                          "the host has no room for all blocks of this cooperative grid");
    if (memory_alloc(memory, BARRIER_BYTES, &address, &barrier, &error) != 0)
        return run_refuse(run, SIMT_BAD_LAUNCH, error.text);
    memset(barrier->host, 0, BARRIER_BYTES);
    memory_mark(memory, barrier->address, BARRIER_BYTES, 1);
    launch->grid_barrier = address;
    int status = launch_run(run);
    memory_free(memory, address, NULL);
    return status;
}

/* Adds the space of alloca, up to where the stack pointer has the alignment of an H200's: 64 of
 * 128, less the kernel's own variables. */
static uint64_t stack_room(const SimtGpu *gpu, const SimtKernel *kernel, uint64_t bytes)
{
    enum { ALIGN = 128, BEGIN = 64 };
    uint64_t begin = (BEGIN + ALIGN - kernel->local_bytes % ALIGN) % ALIGN;
    return (bytes + gpu->stack_limit + ALIGN - 1) / ALIGN * ALIGN + begin;
}

/* Local memory of a thread: the kernel's variables, and the frames that the stack limit allows,
 * which are larger here than on a GPU because they contain parameters. */
static uint64_t local_wanted(const SimtGpu *gpu, const SimtKernel *kernel)
{
    uint64_t frames = 0;
    for (uint32_t i = 0; i < kernel->calls.routines; i++) {
        const Routine *routine = &kernel->calls.routine[i];
        uint64_t calls = gpu->stack_limit / routine->stack_bytes + 1,
                 bytes = calls * routine->frame_bytes;
        if (bytes > frames) frames = bytes;
    }
    uint64_t bytes = kernel->local_bytes + frames;
    return kernel->calls.stack_slot ? stack_room(gpu, kernel, bytes) : bytes;
}

/* NULL: out of host memory. */
static Run *run_begin(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                      SimtResult *result, int later)
{
    void *memory;
    if (posix_memalign(&memory, SHARED_LINE, sizeof(Run)) != 0) return NULL;
    Run *run = memset(memory, 0, sizeof *run);
    run->request = *request, run->result = result;
    run->later = later && gpu->count && gpu_threads(gpu) > 1;
    Launch *launch = &run->launch;
    launch->gpu = gpu, launch->kernel = kernel, launch->launch = &run->request;
    launch->count = gpu->count;
    launch->notes = request->touch || request->early;
    launch->stop_at = launch->timeout_block = UINT64_MAX;
    launch->digests = 0;
    launch->limit = request->instruction_limit       ? request->instruction_limit
                    : gpu->options.instruction_limit ? gpu->options.instruction_limit
                                                     : DEFAULT_LIMIT;
    return run;
}

static int run_launch(Run *run)
{
    Launch *launch = &run->launch;
    SimtGpu *gpu = launch->gpu;
    SimtKernel *kernel = launch->kernel;
    char why[512];
    Error error;
    if (kernel_decode(kernel, exec_handlers(), &error) != 0)
        return run_refuse(run, SIMT_UNSUPPORTED, error.text);
    if (gpu->options.initcheck) unassigned_find(kernel);
    SimtCheck check = launch_check(launch, why, sizeof why);
    if (check != SIMT_OK) return run_refuse(run, check, why);
    if (kernel->traits.allocates && heap_open(gpu, &error) != 0)
        return run_refuse(run, SIMT_UNSUPPORTED, error.text);
    /* If counted, blocks that wait for each other run in time order, else round-robin. Therefore an
     * untrusted program is always counted: from its number of polls it could otherwise detect
     * whether it is priced or checked for races. */
    if (gpu->options.untrusted && (kernel->traits.has_polling || kernel->traits.polls_clock))
        launch->count = gpu->options.count;
    uint64_t local = local_wanted(gpu, kernel);
    if (local > UINT32_MAX)
        return run_refuse(run, SIMT_UNSUPPORTED,
                          "a stack for this number of calls with parameters of this size is not "
                          "supported (cudaLimitStackSize)");
    launch->local_bytes = (uint32_t)local;
    launch->number = run->result->number = ++gpu->launches;
    run->result->resident_blocks = launch->resident;
    if (gpu->debug) gpu->debug->begin(gpu->debug, launch);
    uint64_t at_once = (uint64_t)launch->resident * gpu->machine.sms;
    run->result->waves = (launch->blocks + at_once - 1) / at_once;
    return launch->launch->cooperative ? launch_run_cooperative(run) : launch_run(run);
}

/* Executes a repeat (RepeatRun). */
static int launch_uncounted(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                            SimtResult *result, uint64_t *digest)
{
    const int racecheck = gpu->racecheck;
    memset(result, 0, sizeof *result);
    gpu->found_count = 0;
    Run *run = run_begin(gpu, kernel, request, result, 0);
    if (!run) return -1;
    run->launch.count = 0, run->launch.digests = 1, run->digest_out = digest;
    gpu->racecheck = 0;
    const int status = run_launch(run);
    gpu->racecheck = racecheck;
    return status;
}

static int launch_now(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                      SimtResult *result, int later)
{
    Repeat *repeat = repeat_find(gpu, kernel, request);
    if (repeat) simt_settle(gpu, NULL); /* the launch before it may be the one that it repeats */
    if (repeat && repeat_launch(gpu, repeat, kernel, request, result, launch_uncounted)) return 0;
    memset(result, 0, sizeof *result);
    gpu->found_count = 0;
    Run *run = run_begin(gpu, kernel, request, result, later);
    if (!run)
        return launch_refuse(result, SIMT_BAD_LAUNCH, kernel, "out of host memory for the launch");
    if (repeat && repeat_learns(repeat, kernel)) run->repeat = repeat, run->launch.digests = 1;
    return run_launch(run);
}

static int launch_at_once(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                          SimtResult *result)
{
    return launch_now(gpu, kernel, request, result, 0);
}

static int launch_all(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                      SimtResult *result, int later)
{
    DebugHook *debug = gpu->debug;
    return debug ? debug->launch(debug, gpu, kernel, request, result, launch_at_once)
                 : launch_now(gpu, kernel, request, result, later);
}

int simt_launch(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request, SimtResult *result)
{
    return launch_all(gpu, kernel, request, result, 0);
}

int simt_launch_begin(SimtGpu *gpu, SimtKernel *kernel, const SimtLaunch *request,
                      SimtResult *result)
{
    return launch_all(gpu, kernel, request, result, 1);
}
