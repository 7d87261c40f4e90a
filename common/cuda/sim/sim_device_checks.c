/* Results of the checks, for programs that report them: findings, guards, and warnings. */
#include <stdio.h>

#include "common/cuda/sim/sim_state.h"

/* Memory may be copied as a whole although only a part of it was written and is used. */
void sim_warn_unwritten(const SimDevice *sim, const DeviceCall *call)
{
    char near[256], text[640];
    uint64_t first, missing = simt_unwritten(sim->gpu, call->src, call->bytes, &first);
    if (!missing) return;
    simt_describe(sim->gpu, first, near, sizeof near);
    snprintf(text, sizeof text,
             "Uninitialized __global__ memory is copied to the host: nothing has written %llu of "
             "the %llu bytes, the first of them %s. Possibly a kernel has not reached all "
             "elements, for example because its grid is too small",
             (unsigned long long)missing, (unsigned long long)call->bytes, near);
    simt_warn(sim->gpu, SIMT_INITCHECK, text);
}

void sim_find_unwritten(const SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    char near[256];
    uint64_t first, missing = simt_unwritten(sim->gpu, call->src, call->bytes, &first);
    if (!missing) return;
    simt_describe(sim->gpu, first, near, sizeof near);
    snprintf(reply->message, sizeof reply->message,
             "Uninitialized __global__ memory read by %s: nothing has written %llu of %llu bytes, "
             "the first of them %s",
             call->data ? (const char *)call->data : "a library call", (unsigned long long)missing,
             (unsigned long long)call->bytes, near);
}

const SimtFinding *sim_device_findings(const Device *device, uint32_t *count)
{
    return simt_findings(((const SimDevice *)device)->gpu, count);
}

void sim_device_set_guards(Device *device, int guards)
{
    SimDevice *sim = (SimDevice *)device;
    sim->guards = guards;
    if (!guards) guard_lower(&sim->guard, sim->gpu);
}

void sim_device_guard_copy(Device *device, uint64_t address, uint64_t bytes, int writes)
{
    SimDevice *sim = (SimDevice *)device;
    if (simt_is_managed(sim->gpu, address))
        guard_copy(&sim->guard, sim->gpu, address, bytes, writes);
}

const char *sim_device_printed(const Device *device)
{
    return ((const SimDevice *)device)->printed;
}

int sim_device_guards(Device *device, uint64_t address, char *text, size_t bytes)
{
    SimDevice *sim = (SimDevice *)device;
    return guard_access(&sim->guard, sim->gpu, address, text, bytes);
}
