/* Launches on the simulated engine: rejections, faults, and costs. */
#include <stdio.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/cuda/sim/sim_state.h"

static int32_t status_of_check(const SimtReport *report)
{
    switch (report->check) {
    case SIMT_BAD_LAUNCH:
        return DEVICE_INVALID_CONFIGURATION;
    case SIMT_BAD_SHARED:
        return DEVICE_INVALID_VALUE;
    case SIMT_BAD_RESOURCES:
        return DEVICE_OUT_OF_RESOURCES;
    case SIMT_BAD_COOPERATIVE:
        return DEVICE_COOPERATIVE_TOO_LARGE;
    case SIMT_UNSUPPORTED:
        return DEVICE_NOT_SUPPORTED;
    case SIMT_MEMCHECK:
        return strstr(report->text, "isaligned") ? DEVICE_MISALIGNED_ADDRESS
                                                 : DEVICE_ILLEGAL_ADDRESS;
    case SIMT_TIMEOUT:
        return DEVICE_LAUNCH_TIMEOUT;
    case SIMT_TRAP:
        return strstr(report->text, "ssert") ? DEVICE_ASSERT : DEVICE_LAUNCH_FAILURE;
    default:
        return DEVICE_LAUNCH_FAILURE;
    }
}

/* Limit of dynamic shared memory for a launch of this function. */
static uint32_t dynamic_limit(const SimDevice *sim, const SimFunction *function)
{
    uint32_t fixed = function->info.shared_bytes, whole = sim->machine.shared_per_block;
    uint32_t without_asking = whole > fixed ? whole - fixed : 0;
    return function->dynamic_limit > without_asking ? function->dynamic_limit : without_asking;
}

/* Share of the SMs: the blocks' share of the resident blocks, or the share of busy cycles if that
 * is larger, without `launch` cycles. */
static uint32_t launch_share(const SimDevice *sim, const SimtResult *result, uint64_t launch)
{
    uint32_t room = timeline_share(result->counters.blocks,
                                   (uint64_t)result->resident_blocks * sim->machine.sms);
    uint32_t busy = timeline_share(result->busy_cycles, result->cycles - launch);
    return room > busy ? room : busy;
}

/* If the list is full, the smallest entry is dropped. */
static void line_work_add(LineWork *work, uint32_t line, uint64_t amount)
{
    int least = 0;
    for (int i = 0; i < COST_LINES && work->line[least]; i++) {
        if (work->line[i] == line) {
            work->warp_instructions[i] += amount;
            return;
        }
        if (!work->line[i] || work->warp_instructions[i] < work->warp_instructions[least])
            least = i;
    }
    if (amount < work->warp_instructions[least]) return;
    work->line[least] = line;
    work->warp_instructions[least] = amount;
}

/* Adds a launch's cost, and stores it for its place on the timeline. */
static void launch_cost_add(SimDevice *sim, const DeviceCall *call, const SimtResult *result)
{
    const SimFunction *function = sim_function(sim, call->function);
    DeviceCost *cost = &sim->cost;
    counters_add(&cost->counters, &result->counters);
    sim_spend(sim, TIMELINE_SMS, launch_share(sim, result, 0), result->cycles);
    uint64_t launch = sim->machine.launch_cycles;
    sim->work.is_launch = 1, sim->work.overlaps = (call->value & LAUNCH_OVERLAPS) != 0;
    sim->work.tells = result->tells, sim->work.number = result->number;
    sim->work.launch = (TimelineLaunch){.launch = launch,
                                        .pdl_trigger = result->pdl_trigger_cycles,
                                        .pdl_wait = result->pdl_wait_cycles,
                                        .cycles = result->cycles,
                                        .share = launch_share(sim, result, launch),
                                        .is_exclusive = sim->untrusted};
    sim->last_cycles = result->cycles, sim->last_resident = result->resident_blocks;
    if (cost->launches > 1 && result->cycles <= sim->costliest) return;
    sim->costliest = result->cycles;
    cost->registers = function->info.registers;
    cost->shared_bytes = function->info.shared_bytes + call->shared_bytes;
    cost->resident_blocks = result->resident_blocks;
    cost->occupancy_percent = result->occupancy_percent;
    cost->local_line = result->local_line;
    cost->load_line = result->load_line;
    cost->conflict_line = result->conflict_line;
    memcpy(cost->grid, call->grid, sizeof cost->grid);
    memcpy(cost->block, call->block, sizeof cost->block);
}

int sim_settle(SimDevice *sim, DeviceReply *reply)
{
    SimUnsettled *unsettled = &sim->unsettled;
    if (!unsettled->waits) return 0;
    unsettled->waits = 0;
    if (simt_settle(sim->gpu, unsettled->result) != 0) {
        const SimtReport *report = &unsettled->result->report;
        device_fail(reply ? reply : &sim->lost, DEVICE_OUT_OF_MEMORY, "%s: %s", report->kernel,
                    report->text);
        return -1;
    }
    launch_cost_add(sim, &unsettled->call, unsettled->result);
    sim_call_time(sim, &unsettled->call);
    sim->work = (SimWork){0};
    return 0;
}

int sim_lost_report(SimDevice *sim, DeviceReply *reply)
{
    if (sim->lost.status == DEVICE_SUCCESS) return 0;
    *reply = sim->lost;
    sim->lost = (DeviceReply){0};
    return -1;
}

/* Fixed cost of a launch for the host, in executed instructions: tables for all of device memory.
 * */
static uint64_t launch_cost(const SimDevice *sim)
{
    enum { FIXED = 200, BYTES = 8192 }; /* instructions; bytes of device memory for one more */
    return FIXED + simt_memory_span(sim->gpu) / BYTES;
}

/* Each launch ends, but they do not: the last one, which the limit stops, is not to blame. */
static void report_endless_launches(const SimDevice *sim, uint64_t left, DeviceReply *reply)
{
    uint64_t used = sim->instruction_limit - left;
    if (!sim->instruction_limit || used < left) return;
    snprintf(reply->message, sizeof reply->message,
             "the launches before this one took %.0f million warp instructions: possibly a loop "
             "around the launch never ends",
             1e-6 * (double)used);
}

/* Whether it may run at the same time as the previous launch. */
static int overlaps_early(const SimDevice *sim, const DeviceCall *call)
{
    return call->value & LAUNCH_OVERLAPS && sim->early.is_there &&
           sim->early.stream == call->stream;
}

/* Runs it, and places the previous launch on the timeline.  -1: as simt_launch. */
static int launch_run(SimDevice *sim, const SimFunction *function, const SimtLaunch *launch,
                      SimtResult *result, DeviceReply *reply)
{
    int status = sim->settles_later ? simt_launch_begin(sim->gpu, function->kernel, launch, result)
                                    : simt_launch(sim->gpu, function->kernel, launch, result);
    sim_settle(sim, reply);
    return status;
}

/* A read of unwritten memory or a race in the faulting block may have caused its fault. */
static void cause_add(const SimDevice *sim, DeviceReply *reply)
{
    uint32_t count;
    const SimtFinding *found = simt_findings(sim->gpu, &count);
    for (uint32_t i = count; i-- > 1;) {
        if (memcmp(found[i].report.block, found->report.block, sizeof found->report.block))
            continue;
        size_t used = strlen(reply->message);
        snprintf(reply->message + used, sizeof reply->message - used, "\nPossible cause: %s",
                 found[i].report.text);
        return;
    }
}

int sim_launch(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimFunction *function = sim_function(sim, call->function);
    if (!function)
        return device_fail(reply, DEVICE_INVALID_FUNCTION, "no function %u", call->function);
    if (call->data_bytes != function->info.params_bytes)
        return device_fail(reply, DEVICE_INVALID_VALUE, "%s takes %u bytes of parameters, got %llu",
                           function->info.name, function->info.params_bytes,
                           (unsigned long long)call->data_bytes);
    uint32_t limit = dynamic_limit(sim, function);
    SimtLaunch launch = {.grid = {call->grid[0], call->grid[1], call->grid[2]},
                         .block = {call->block[0], call->block[1], call->block[2]},
                         .dynamic_shared = call->shared_bytes,
                         .dynamic_limit = &limit,
                         .cooperative = (call->value & LAUNCH_TOGETHER) != 0,
                         .cluster = {call->value >> LAUNCH_CLUSTER & 0xff,
                                     call->value >> (LAUNCH_CLUSTER + 8) & 0xff,
                                     call->value >> (LAUNCH_CLUSTER + 16) & 0xff},
                         .params = call->data,
                         .params_bytes = function->info.params_bytes};
    sim->checked += launch_cost(sim) * BYTES_AN_INSTRUCTION;
    uint64_t left = sim_instructions_left(sim, 0);
    if (sim->instruction_limit && !left)
        return device_fail(reply, DEVICE_LAUNCH_TIMEOUT,
                           "the launches, copies and fills of this call took more than it may use: "
                           "does a loop around them never end?");
    if (sim->instruction_limit) launch.instruction_limit = left ? left : 1;
    if (sim->has_touch) launch.touch = &sim->touch;
    if (overlaps_early(sim, call))
        launch.early = &sim->early.touch, launch.early_name = sim->early.kernel;
    launch.line_work = sim->line_work;
    memset(sim->line_work, 0, sizeof sim->line_work);
    SimtResult *result = &sim->result[sim->unsettled.result == sim->result];
    int failed = launch_run(sim, function, &launch, result, reply);
    if (result->report.check != SIMT_OK)
        snprintf(reply->message, sizeof reply->message, "%s", result->report.text);
    if (failed) {
        cause_add(sim, reply);
        if (result->report.check == SIMT_TIMEOUT) report_endless_launches(sim, left, reply);
        reply->status = status_of_check(&result->report);
        return 0;
    }
    if (result->prints) demangle(function->info.name, sim->printed, sizeof sim->printed);
    for (uint32_t line = 1; line < SIMT_LINES; line++)
        if (sim->line_work[line]) line_work_add(&sim->cost.work, line, sim->line_work[line]);
    if (sim->settles_later)
        sim->unsettled = (SimUnsettled){.waits = 1, .call = *call, .result = result};
    else
        launch_cost_add(sim, call, result);
    return 0;
}

int sim_occupancy(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimFunction *function = sim_function(sim, call->function);
    if (!function)
        return device_fail(reply, DEVICE_INVALID_FUNCTION, "no function %u", call->function);
    uint32_t threads = call->block[0];
    if (threads == 0 || threads > sim->machine.max_threads_per_block) return 0;
    if (call->shared_bytes <= dynamic_limit(sim, function))
        reply->value[0] =
            simt_resident_blocks(sim->gpu, function->kernel, threads, call->shared_bytes, NULL);
    return 0;
}

int sim_function_attribute(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    enum { MAX_DYNAMIC_SHARED = 8, SHARED_CARVEOUT = 9 };
    SimFunction *function = sim_function(sim, call->function);
    if (!function)
        return device_fail(reply, DEVICE_INVALID_FUNCTION, "no function %u", call->function);
    if (call->value == SHARED_CARVEOUT) return 0;
    if (call->value != MAX_DYNAMIC_SHARED)
        return device_fail(reply, DEVICE_NOT_SUPPORTED, "function attribute %u", call->value);
    uint32_t fixed = function->info.shared_bytes, whole = sim->machine.shared_per_block_optin;
    uint32_t most = whole > fixed ? whole - fixed : 0;
    char name[128];
    demangle(function->info.name, name, sizeof name);
    if (call->bytes > most)
        return device_fail(
            reply, DEVICE_INVALID_VALUE,
            "%llu bytes of dynamic shared memory: %s can have at most %u on this GPU",
            (unsigned long long)call->bytes, name, most);
    function->dynamic_limit = (uint32_t)call->bytes;
    return 0;
}
