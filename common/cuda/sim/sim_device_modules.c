/* Module calls of the simulated engine: modules, their kernels and their variables. */
#include "common/cuda/sim/sim_state.h"

#include <string.h>

static int module_load(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    sim->checked += call->data_bytes * BYTES_AN_INSTRUCTION; /* reading a byte: an instruction */
    SimtModule *module =
        simt_module_load(sim->gpu, call->data, call->data_bytes, call->bytes, &error);
    if (!module) return device_fail(reply, DEVICE_INVALID_IMAGE, "%s", error.text);
    SimtModule **slot = sim_table_append(&sim->modules, sizeof *slot);
    if (!slot) {
        simt_module_unload(sim->gpu, module);
        return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many modules");
    }
    *slot = module;
    reply->value[0] = sim->modules.count;
    reply->value[1] = simt_module_bytes(module);
    return 0;
}

static int module_unload(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    SimtModule **slot = sim_table_at(&sim->modules, call->module, sizeof *slot);
    if (!slot || !*slot)
        return device_fail(reply, DEVICE_INVALID_HANDLE, "no module %u", call->module);
    for (uint32_t i = 1; i <= sim->functions.count; i++) {
        SimFunction *function = sim_function(sim, i);
        if (function && function->module == call->module) function->kernel = NULL;
    }
    simt_module_unload(sim->gpu, *slot);
    *slot = NULL;
    return 0;
}

static void function_info(const SimDevice *sim, const SimtKernelInfo *from, FunctionInfo *to)
{
    memset(to, 0, sizeof *to);
    to->param_count = from->params;
    for (uint32_t i = 0; i < from->params && i < FUNCTION_PARAMS; i++) {
        to->param_offset[i] = from->param_offset[i];
        to->param_bytes[i] = from->param_bytes[i];
    }
    to->params_bytes = from->params_bytes;
    to->registers = from->registers;
    to->shared_bytes = from->shared_bytes;
    to->local_bytes = from->local_bytes;
    to->spilled_bytes = from->spilled_bytes;
    to->spills = from->spills, to->spill_line = from->spill_line;
    to->max_threads = from->max_threads ? from->max_threads : sim->machine.max_threads_per_block;
    to->ptx_version = from->ptx_target;
    to->binary_version = sim->machine.cc_major * 10 + sim->machine.cc_minor;
}

/* Host time to decode one instruction, in executed instructions. */
enum { DECODE_COST = 250 };

/* Finds the kernel, which decodes it: at the expense of whoever asks. */
static SimtKernel *kernel_find(SimDevice *sim, const DeviceCall *call, Error *error)
{
    uint64_t before = simt_decode_work();
    simt_decode_allow(sim->instruction_limit ? sim_instructions_left(sim, 0) / DECODE_COST
                                             : UINT64_MAX);
    SimtKernel *kernel = simt_kernel_find(sim_module(sim, call->module), call->data, error);
    int is_stopped = simt_decode_is_stopped();
    simt_decode_allow(UINT64_MAX);
    sim->checked += (simt_decode_work() - before) * DECODE_COST * BYTES_AN_INSTRUCTION;
    sim->is_stopped = !kernel && is_stopped;
    return kernel;
}

static int module_function(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    SimtKernel *kernel = kernel_find(sim, call, &error);
    if (sim->is_stopped)
        return device_fail(reply, DEVICE_LAUNCH_TIMEOUT,
                           "decoding the kernels takes more than this call may use: the calls in "
                           "them expand to too many instructions");
    if (!kernel) return device_fail(reply, DEVICE_INVALID_FUNCTION, "%s", error.text);
    SimFunction *function = sim_table_append(&sim->functions, sizeof *function);
    void *room = sim_reply_room(sim, reply, sizeof(FunctionInfo));
    if (!function || !room) return device_fail(reply, DEVICE_OUT_OF_MEMORY, "too many functions");
    function->kernel = kernel;
    function->module = call->module;
    simt_kernel_info(kernel, &function->info);
    function_info(sim, &function->info, room);
    reply->value[0] = sim->functions.count;
    return 0;
}

int sim_module_call(SimDevice *sim, const DeviceCall *call, DeviceReply *reply)
{
    Error error = {""};
    if (call->kind == CALL_MODULE_LOAD) return module_load(sim, call, reply);
    SimtModule *module = sim_module(sim, call->module);
    if (!module) return device_fail(reply, DEVICE_INVALID_HANDLE, "no module %u", call->module);
    if (call->kind == CALL_MODULE_UNLOAD) return module_unload(sim, call, reply);
    if (!call->data || call->data_bytes == 0 || !memchr(call->data, '\0', call->data_bytes))
        return device_fail(reply, DEVICE_INVALID_VALUE, "a name without an end");
    if (call->kind == CALL_MODULE_FUNCTION) return module_function(sim, call, reply);
    if (simt_variable_find(module, call->data, &reply->value[0], &reply->value[1], &error) != 0)
        return device_fail(reply, DEVICE_INVALID_SYMBOL, "%s", error.text);
    return 0;
}
