/* Launches: <<<grid, block, shared, stream>>> in both of its compiled forms, and queries about
 * kernels.
 *
 * Up to CUDA 12 the stub of a kernel pops the launch configuration and calls cudaLaunchKernel; from
 * CUDA 13 on it calls __cudaGetKernel, pops, and calls __cudaLaunchKernel. */
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"

typedef struct LaunchConfiguration {
    dim3 grid, block;
    size_t shared_bytes;
    void *stream;
} LaunchConfiguration;

/* Configurations nest when an argument of a launch launches something itself. */
enum { CONFIGURATIONS = 64 };
static _Thread_local LaunchConfiguration configuration[CONFIGURATIONS];
static _Thread_local unsigned configurations;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaGetKernel(void **kernel, const void *host);
cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream);

/* A result other than 0 makes the caller skip the stub. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream)
{
    if (configurations == CONFIGURATIONS) {
        runtime_fail("kernel launch", DEVICE_INVALID_CONFIGURATION, "launches nested too deep");
        return 1;
    }
    configuration[configurations++] = (LaunchConfiguration){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (configurations == 0)
        return runtime_fail("kernel launch", (DeviceStatus)cudaErrorMissingConfiguration,
                            "a kernel was called without <<<grid, block>>>");
    const LaunchConfiguration *top = &configuration[--configurations];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(void **)stream = top->stream;
    return cudaSuccess;
}

static cudaError_t function_launch(const char *api, const RuntimeFunction *function,
                                   const RuntimeLaunch *launch, uint32_t stream)
{
    const FunctionInfo *info = &function->info;
    const dim3 *grid = &launch->grid, *block = &launch->block;
    size_t shared = launch->shared_bytes;
    DeviceCall call = {
        .kind = CALL_LAUNCH,
        .stream = stream,
        .value = (launch->together ? LAUNCH_TOGETHER : 0) |
                 (launch->overlaps ? LAUNCH_OVERLAPS : 0) | launch->cluster,
        .function = function->handle,
        .grid = {grid->x, grid->y, grid->z},
        .block = {block->x, block->y, block->z},
        /* no GPU has 4 GiB of shared memory: a value beyond 32 bits is rejected as too large */
        .shared_bytes = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared,
        .data_bytes = info->params_bytes};
    if (info->param_count > 0 && !launch->arguments)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%s takes %u arguments, got none",
                            function->name, info->param_count);
    unsigned char *block_of_parameters = calloc(1, info->params_bytes + 1);
    if (!block_of_parameters) return runtime_fail(api, DEVICE_UNKNOWN, "out of host memory");
    for (uint32_t i = 0; i < info->param_count; i++)
        memcpy(block_of_parameters + info->param_offset[i], launch->arguments[i],
               info->param_bytes[i]);
    call.data = block_of_parameters;
    cudaError_t status = runtime_call(api, &call, NULL);
    free(block_of_parameters);
    return status;
}

cudaError_t runtime_launch(const char *api, const RuntimeLaunch *launch, cudaStream_t stream)
{
    RuntimeFunction *function;
    uint32_t handle;
    runtime_lock();
    if (!stream) runtime_note_habit(HABIT_NO_STREAM);
    cudaError_t status = runtime_function(api, launch->host, &function);
    if (status == cudaSuccess) status = runtime_stream(api, stream, &handle);
    if (status == cudaSuccess && runtime_is_capturing(handle))
        status = runtime_capture(
            api, handle, &(RuntimeWork){.type = cudaGraphNodeTypeKernel, .launch = *launch});
    else if (status == cudaSuccess)
        status = function_launch(api, function, launch, handle);
    runtime_unlock();
    return status;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    RuntimeLaunch launch = {function, grid, block, shared_bytes, arguments, 0, 0, 0};
    return runtime_launch("kernel launch", &launch, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    RuntimeLaunch launch = {function, grid, block, shared_bytes, arguments, 1, 0, 0};
    return runtime_launch("cudaLaunchCooperativeKernel", &launch, stream);
}

static cudaError_t cluster_apply(const char *api, const cudaLaunchAttributeValue *value,
                                 RuntimeLaunch *launch)
{
    const unsigned x = value->clusterDim.x, y = value->clusterDim.y, z = value->clusterDim.z;
    const unsigned most = LAUNCH_CLUSTER_MOST;
    if (!x || !y || !z || x > most || y > most || z > most || x * y * z > most)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidClusterSize,
                            "a cluster of %u x %u x %u blocks: it may have 1 to %u", x, y, z, most);
    launch->cluster = (x | y << 8 | z << 16) << LAUNCH_CLUSTER;
    return cudaSuccess;
}

/* Portable cluster size: every kernel may use it, and more only if its program allows it. */
enum { PORTABLE_CLUSTER = 8 };

static uint32_t cluster_blocks(const RuntimeLaunch *launch)
{
    uint32_t dims = launch->cluster >> LAUNCH_CLUSTER;
    return dims ? (dims & 255) * (dims >> 8 & 255) * (dims >> 16) : 1;
}

static cudaError_t cluster_check(const char *api, const RuntimeLaunch *launch)
{
    RuntimeFunction *function;
    if (cluster_blocks(launch) <= PORTABLE_CLUSTER) return cudaSuccess;
    cudaError_t status = runtime_function(api, launch->host, &function);
    if (status != cudaSuccess || function->has_large_clusters) return status;
    return runtime_fail(api, (DeviceStatus)cudaErrorInvalidClusterSize,
                        "a cluster of %u blocks: more than %d need "
                        "cudaFuncAttributeNonPortableClusterSizeAllowed",
                        cluster_blocks(launch), PORTABLE_CLUSTER);
}

/* Attributes about the time or place of execution have no effect, except for one. */
static cudaError_t attribute_apply(const char *api, const cudaLaunchAttribute *attribute,
                                   RuntimeLaunch *launch)
{
    const cudaLaunchAttributeValue *value = &attribute->val;
    switch ((int)attribute->id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        launch->overlaps = value->programmaticStreamSerializationAllowed;
        return cudaSuccess;
    case cudaLaunchAttributeCooperative:
        launch->together = value->cooperative;
        return cudaSuccess;
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        return cluster_apply(api, value, launch);
    default:
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "launch attribute %d is not supported",
                            (int)attribute->id);
    }
}

static cudaError_t config_check(const char *api, const cudaLaunchConfig_t *config)
{
    if (!config) return runtime_fail(api, DEVICE_INVALID_VALUE, "the configuration is NULL");
    if (config->numAttrs && !config->attrs)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%u attributes at NULL", config->numAttrs);
    return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                void **arguments)
{
    static const char api[] = "cudaLaunchKernelEx";
    cudaError_t status = config_check(api, config);
    if (status != cudaSuccess) return status;
    RuntimeLaunch launch = {
        function, config->gridDim, config->blockDim, config->dynamicSmemBytes, arguments, 0, 0, 0};
    for (unsigned i = 0; i < config->numAttrs && status == cudaSuccess; i++)
        status = attribute_apply(api, &config->attrs[i], &launch);
    if (status == cudaSuccess) status = cluster_check(api, &launch);
    return status == cudaSuccess ? runtime_launch(api, &launch, config->stream) : status;
}

/* The stub stores the result for the life of the process and ignores the status, so this call never
 * fails.  If a kernel cannot be found, it returns the stub's own address, and the launch reports
 * the error. */
cudaError_t __cudaGetKernel(void **kernel, const void *host)
{
    *kernel = (void *)(uintptr_t)host;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

/* ---- queries about a kernel ----------------------------------------------------------------- */

cudaError_t cudaFuncGetName(const char **name, const void *host)
{
    static const char api[] = "cudaFuncGetName";
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, host, &function);
    if (status == cudaSuccess && !name)
        status = runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    if (status == cudaSuccess) *name = function->name;
    return status;
}

cudaError_t cudaFuncGetParamInfo(const void *host, size_t parameter, size_t *offset, size_t *bytes)
{
    static const char api[] = "cudaFuncGetParamInfo";
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, host, &function);
    if (status != cudaSuccess) return status;
    if (!offset || parameter >= function->info.param_count)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%s takes %u arguments", function->name,
                            function->info.param_count);
    *offset = function->info.param_offset[parameter];
    if (bytes) *bytes = function->info.param_bytes[parameter];
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
    static const char api[] = "cudaFuncGetAttributes";
    if (!attributes) return runtime_fail(api, DEVICE_INVALID_VALUE, "attributes is NULL");
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, host, &function);
    if (status != cudaSuccess) return status;
    const DeviceProperties *properties = runtime_properties(api, &status);
    if (!properties) return status;
    const FunctionInfo *info = &function->info;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = info->shared_bytes;
    attributes->constSizeBytes = info->const_bytes;
    attributes->localSizeBytes = info->local_bytes;
    attributes->maxThreadsPerBlock = (int)info->max_threads;
    attributes->numRegs = (int)info->registers;
    attributes->ptxVersion = (int)info->ptx_version;
    attributes->binaryVersion = (int)info->binary_version;
    attributes->preferredShmemCarveout = -1;
    uint32_t free_shared = properties->shared_per_block > info->shared_bytes
                               ? properties->shared_per_block - info->shared_bytes
                               : 0;
    attributes->maxDynamicSharedSizeBytes =
        (int)(function->dynamic_limit > free_shared ? function->dynamic_limit : free_shared);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    static const char api[] = "cudaFuncSetAttribute";
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, host, &function);
    if (status != cudaSuccess) return status;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize &&
        attribute != cudaFuncAttributePreferredSharedMemoryCarveout &&
        attribute != cudaFuncAttributeNonPortableClusterSizeAllowed)
        return runtime_fail(api, DEVICE_NOT_SUPPORTED, "attribute %d is not supported", attribute);
    int is_size = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (value < (is_size ? 0 : -1))
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%d is below the least value", value);
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
        function->has_large_clusters = value != 0;
        return cudaSuccess;
    }
    DeviceCall call = {.kind = CALL_FUNCTION_ATTRIBUTE,
                       .function = function->handle,
                       .value = (uint32_t)attribute,
                       .bytes = (uint32_t)value};
    status = runtime_call(api, &call, NULL);
    if (status == cudaSuccess && is_size) function->dynamic_limit = (uint32_t)value;
    return status;
}

/* A hint about the split of L1 and shared memory, which GPUs since Volta take only as a hint. */
cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache configuration_wanted)
{
    (void)configuration_wanted;
    RuntimeFunction *function;
    return runtime_function("cudaFuncSetCacheConfig", host, &function);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                                   int threads, size_t shared_bytes,
                                                                   unsigned int flags)
{
    static const char api[] = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
    (void)flags;
    if (!blocks || threads <= 0 || shared_bytes > UINT32_MAX)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "%d threads, %zu bytes of shared memory",
                            threads, shared_bytes);
    RuntimeFunction *function;
    cudaError_t status = runtime_function(api, host, &function);
    if (status != cudaSuccess) return status;
    DeviceCall call = {.kind = CALL_OCCUPANCY,
                       .function = function->handle,
                       .block = {(uint32_t)threads, 1, 1},
                       .shared_bytes = (uint32_t)shared_bytes};
    DeviceReply reply;
    status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess) *blocks = (int)reply.value[0];
    return status;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host,
                                                          int threads, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads,
                                                                  shared_bytes, 0);
}

/* The blocks of a cluster are resident on one group of SMs (GPC).  A GPU does not report the sizes
 * of its groups: 16 SMs are assumed, and an H200 has up to an eighth fewer clusters than that
 * gives. */
enum { GROUP_SMS = 16 };

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *host,
                                           const cudaLaunchConfig_t *config)
{
    static const char api[] = "cudaOccupancyMaxActiveClusters";
    cudaError_t wrong = config_check(api, config);
    if (wrong != cudaSuccess) return wrong;
    if (!clusters) return runtime_fail(api, DEVICE_INVALID_VALUE, "the result is NULL");
    RuntimeLaunch launch = {0};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
        cudaError_t refused = cluster_apply(api, &config->attrs[i].val, &launch);
        if (refused != cudaSuccess) return refused;
    }
    uint32_t size = cluster_blocks(&launch);
    const dim3 block = config->blockDim;
    int blocks = 0;
    cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, host, (int)(block.x * block.y * block.z), config->dynamicSmemBytes);
    const DeviceProperties *properties =
        status == cudaSuccess ? runtime_properties(api, &status) : NULL;
    if (status != cudaSuccess) return status;
    uint32_t there = (uint32_t)blocks, sms = properties->sms;
    *clusters =
        (int)(sms / GROUP_SMS * (GROUP_SMS * there / size) + sms % GROUP_SMS * there / size);
    return cudaSuccess;
}

/* The portable size, which every kernel can use. */
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *host,
                                                 const cudaLaunchConfig_t *config)
{
    static const char api[] = "cudaOccupancyMaxPotentialClusterSize";
    RuntimeFunction *function;
    if (!size || !config)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "the configuration or the result is NULL");
    cudaError_t status = runtime_function(api, host, &function);
    if (status == cudaSuccess) *size = PORTABLE_CLUSTER;
    return status;
}
