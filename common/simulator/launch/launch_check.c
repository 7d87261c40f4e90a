#include "common/simulator/launch/launch_check.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/demangle.h"
#include "common/simulator/timing/cost.h"

/* The request of a launch, and the place for the reason of a refusal. */
typedef struct Request {
    const SimtMachine *machine;
    const SimtKernelInfo *kernel;
    const SimtLaunch *launch;
    uint64_t threads; /* threads per block */
    char *why;
    size_t bytes;
} Request;

static SimtCheck refuse(const Request *request, SimtCheck check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static SimtCheck refuse(const Request *request, SimtCheck check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(request->why, request->bytes, format, arguments);
    va_end(arguments);
    return check;
}

static SimtCheck grid_check(const Request *r)
{
    const uint32_t *grid = r->launch->grid, *block = r->launch->block;
    uint32_t widest = !r->machine->has.large_grids ? 65535 : 0x7fffffff;
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2]) {
        char name[128];
        demangle(r->kernel->name, name, sizeof name);
        return refuse(r, SIMT_BAD_LAUNCH,
                      "%s with a grid of %u x %u x %u blocks of %u x %u x %u threads: no dimension "
                      "may be 0 (is a division rounded down that should be rounded up?)",
                      name, grid[0], grid[1], grid[2], block[0], block[1], block[2]);
    }
    if (grid[0] > widest || grid[1] > 65535 || grid[2] > 65535)
        return refuse(r, SIMT_BAD_LAUNCH,
                      "grid %u x %u x %u: %s takes at most %u x 65535 x 65535 blocks", grid[0],
                      grid[1], grid[2], r->machine->title, widest);
    return SIMT_OK;
}

static SimtCheck block_check(const Request *r)
{
    const uint32_t *block = r->launch->block;
    if (r->threads > r->machine->max_threads_per_block || block[2] > 64)
        return refuse(r, SIMT_BAD_LAUNCH,
                      "a block of %u x %u x %u = %llu threads: %s takes at most %u (z: 64)",
                      block[0], block[1], block[2], (unsigned long long)r->threads,
                      r->machine->title, r->machine->max_threads_per_block);
    if (r->kernel->max_threads && r->threads > r->kernel->max_threads) {
        char name[128];
        demangle(r->kernel->name, name, sizeof name);
        return refuse(r, SIMT_BAD_RESOURCES,
                      "a block of %llu threads: %s is compiled for at most %u (__launch_bounds__)",
                      (unsigned long long)r->threads, name, r->kernel->max_threads);
    }
    return SIMT_OK;
}

static SimtCheck shared_check(const Request *r)
{
    uint32_t fixed = r->kernel->shared_bytes, whole = r->machine->shared_per_block_optin;
    uint32_t most = whole > fixed ? whole - fixed : 0;
    uint32_t limit = r->launch->dynamic_limit ? *r->launch->dynamic_limit : most;
    char name[128];
    demangle(r->kernel->name, name, sizeof name);
    if (fixed > whole)
        return refuse(r, SIMT_BAD_RESOURCES,
                      "%s has %u static bytes of shared memory: %s allows %u a block", name, fixed,
                      r->machine->title, whole);
    if (r->launch->dynamic_shared > limit)
        return refuse(
            r, SIMT_BAD_SHARED,
            "%u bytes of dynamic shared memory: %s may use at most %u in addition to its %u "
            "static bytes; up to %u after cudaFuncSetAttribute(..., "
            "cudaFuncAttributeMaxDynamicSharedMemorySize, ...)",
            r->launch->dynamic_shared, name, limit, fixed, most);
    return SIMT_OK;
}

static SimtCheck kernel_check(const Request *r, const SimtKernel *kernel)
{
    if ((kernel->plans.tensors || kernel->plans.wgmmas) && !r->machine->tensor_fma)
        return refuse(
            r, SIMT_UNSUPPORTED,
            "the kernel uses tensor cores (mma, wmma or ldmatrix), which %s does not have",
            r->machine->title);
    if (r->launch->params_bytes < r->kernel->params_bytes ||
        (r->kernel->params_bytes && !r->launch->params))
        return refuse(r, SIMT_BAD_LAUNCH,
                      "the kernel takes %u bytes of parameters, the launch gives %u",
                      r->kernel->params_bytes, r->launch->params_bytes);
    return SIMT_OK;
}

/* Blocks that fit an SM at once. */
static SimtCheck residence_check(const Request *r, uint32_t *resident)
{
    const char *limit = "";
    *resident = resident_blocks(r->machine, r->kernel, (uint32_t)r->threads,
                                r->launch->dynamic_shared, &limit);
    if (*resident) return SIMT_OK;
    return refuse(r, SIMT_BAD_RESOURCES,
                  "a block of %llu threads with %u registers each does not fit an SM of %s (%s)",
                  (unsigned long long)r->threads, r->kernel->registers, r->machine->title, limit);
}

static SimtCheck cooperative_check(const Request *r, const Launch *launch)
{
    if (!r->machine->has.cooperative_launches)
        return refuse(r, SIMT_UNSUPPORTED,
                      "the machine %s, of compute capability %u.%u, has no %s "
                      "(cooperative_launches = 0)",
                      r->machine->name, r->machine->cc_major, r->machine->cc_minor,
                      machine_feature("cooperative_launches"));
    uint64_t at_once = (uint64_t)launch->resident * r->machine->sms;
    if (launch->blocks <= at_once) return SIMT_OK;
    return refuse(r, SIMT_BAD_COOPERATIVE,
                  "a cooperative grid of %llu blocks: %s holds %llu of them at once, %u on each of "
                  "its %u SMs",
                  (unsigned long long)launch->blocks, r->machine->title,
                  (unsigned long long)at_once, launch->resident, r->machine->sms);
}

/* The launch's cluster, or the one that the kernel was compiled for. */
static SimtCheck cluster_check(const Request *r, Launch *launch)
{
    enum { MOST = 16 };
    const uint32_t *asked = r->launch->cluster,
                   *needed = launch->kernel->function->required_cluster, *grid = r->launch->grid;
    const uint32_t *c = asked[0] ? asked : needed;
    if (!c[0]) return SIMT_OK;
    for (int i = 0; i < 3; i++)
        launch->cluster[i] = c[i] ? c[i] : 1;
    c = launch->cluster;
    if (!r->machine->has.clusters)
        return refuse(r, SIMT_UNSUPPORTED,
                      "the machine %s, of compute capability %u.%u, has no %s (clusters = 0)",
                      r->machine->name, r->machine->cc_major, r->machine->cc_minor,
                      machine_feature("clusters"));
    for (int i = 0; i < 3; i++)
        if (asked[0] && needed[0] && c[i] != (needed[i] ? needed[i] : 1))
            return refuse(r, SIMT_BAD_LAUNCH,
                          "a cluster of %u x %u x %u blocks: the kernel is compiled for %u x %u x "
                          "%u (__cluster_dims__)",
                          c[0], c[1], c[2], needed[0], needed[1], needed[2]);
    uint64_t blocks = (uint64_t)c[0] * c[1] * c[2];
    if (c[0] > MOST || c[1] > MOST || c[2] > MOST || blocks > MOST)
        return refuse(r, SIMT_BAD_LAUNCH, "a cluster of %llu blocks: at most %d are possible",
                      (unsigned long long)blocks, MOST);
    if (grid[0] % c[0] || grid[1] % c[1] || grid[2] % c[2])
        return refuse(r, SIMT_BAD_LAUNCH,
                      "a grid of %u x %u x %u blocks is no whole number of clusters of %u x %u x "
                      "%u",
                      grid[0], grid[1], grid[2], c[0], c[1], c[2]);
    if (r->launch->cooperative)
        return refuse(r, SIMT_UNSUPPORTED, "a cooperative grid of clusters is not supported");
    launch->cluster_blocks = (uint32_t)blocks;
    return SIMT_OK;
}

/* Values of a block that exceed its registers are kept in memory, as if fewer blocks fitted. */
static uint32_t needed_blocks(const Launch *launch, const Request *r)
{
    SimtKernelInfo info = *r->kernel;
    info.registers = launch->kernel->registers_needed;
    uint32_t blocks =
        resident_blocks(r->machine, &info, (uint32_t)r->threads, r->launch->dynamic_shared, NULL);
    if (!blocks) return 1;
    return blocks < launch->resident ? blocks : launch->resident;
}

/* Cooperative groups of more than a warp work in the KiB of each block that CUDA keeps for itself.
 * It reduces no limit, because limits per SM always include it. */
static void reserved_place(Launch *launch)
{
    launch->reserved_at = (launch->shared_bytes + 15) / 16 * 16;
    launch->shared_bytes = launch->reserved_at + 1024;
}

/* An SM's places for warps, which have registers of their own, and for blocks, which have shared
 * memory. */
static void places_find(Launch *launch, const Request *r)
{
    const SimtMachine *m = r->machine;
    uint64_t shared = (uint64_t)r->kernel->shared_bytes + r->launch->dynamic_shared;
    uint32_t warps = machine_blocks_by_registers(m, launch->kernel->registers_needed, LANES),
             blocks = machine_blocks_by_shared(m, shared),
             resident = launch->resident * launch->warps_per_block;
    if (warps > m->max_warps_per_sm) warps = m->max_warps_per_sm;
    launch->warp_places = warps > resident ? warps : resident;
    launch->block_places = blocks < m->max_blocks_per_sm ? blocks : m->max_blocks_per_sm;
}

SimtCheck launch_check(Launch *launch, char *why, size_t bytes)
{
    const SimtLaunch *l = launch->launch;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1];
    if (threads <= UINT32_MAX) threads *= l->block[2]; /* more is too many whatever z is */
    const Request r = {.machine = &launch->gpu->machine,
                       .kernel = &launch->kernel->info,
                       .launch = l,
                       .threads = threads,
                       .why = why,
                       .bytes = bytes};
    SimtCheck check = grid_check(&r);
    if (check == SIMT_OK) check = block_check(&r);
    if (check == SIMT_OK) check = shared_check(&r);
    if (check == SIMT_OK) check = kernel_check(&r, launch->kernel);
    if (check == SIMT_OK) check = residence_check(&r, &launch->resident);
    launch->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (check == SIMT_OK) check = cluster_check(&r, launch);
    if (check == SIMT_OK && l->cooperative) check = cooperative_check(&r, launch);
    if (check == SIMT_OK) launch->resident = needed_blocks(launch, &r);
    if (check != SIMT_OK) return check;
    launch->threads_per_block = (uint32_t)threads;
    launch->warps_per_block = ((uint32_t)threads + LANES - 1) / LANES;
    launch->shared_bytes = launch->kernel->static_shared + l->dynamic_shared;
    if (launch->kernel->traits.reads_reserved) reserved_place(launch);
    places_find(launch, &r);
    return SIMT_OK;
}
