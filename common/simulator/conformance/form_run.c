#include "common/simulator/conformance/form_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int call_device(Device *device, const DeviceCall *call, DeviceReply *reply, Error *error)
{
    if (device->execute(device, call, reply) != 0) return error_set(error, "the device is gone");
    if (reply->status != DEVICE_SUCCESS)
        return error_set(error, "%s: %s", device_status_name(reply->status), reply->message);
    return 0;
}

/* Operands, results and the lanes' global memory, one after the other in one allocation. */
typedef struct FormMemory {
    uint64_t base, in_bytes, out_bytes, global_bytes;
} FormMemory;

static int memory_fill(Device *device, const Form *form, const FormMemory *memory, Error *error)
{
    DeviceReply reply;
    uint64_t *in = malloc(memory->in_bytes);
    if (!in) return error_set(error, "out of memory");
    form_operands(form, in);
    DeviceCall clear = {.kind = CALL_FILL,
                        .dst = memory->base,
                        .bytes = memory->in_bytes + memory->out_bytes + memory->global_bytes};
    DeviceCall copy = {.kind = CALL_COPY_TO_DEVICE,
                       .dst = memory->base,
                       .data = in,
                       .data_bytes = memory->in_bytes,
                       .bytes = memory->in_bytes};
    int result = call_device(device, &clear, &reply, error);
    if (result == 0 && form->operands) result = call_device(device, &copy, &reply, error);
    free(in);
    return result;
}

static int kernel_run(Device *device, const Form *form, uint32_t function, const FormMemory *memory,
                      uint64_t *value, Error *error)
{
    /* The last two words are the parameter `block`, aligned to 16 bytes. */
    uint64_t params[6] = {memory->base,
                          memory->base + memory->in_bytes,
                          memory->base + memory->in_bytes + memory->out_bytes,
                          0,
                          0x0706050483828180,
                          0x12345678ff7fc0c1};
    DeviceReply reply;
    DeviceCall launch = {.kind = CALL_LAUNCH,
                         .function = function,
                         .grid = {form->lanes / 32, 1, 1},
                         .block = {32, 1, 1},
                         .data = params,
                         .data_bytes = sizeof params};
    DeviceCall copy = {.kind = CALL_COPY_TO_HOST, .src = params[1], .bytes = memory->out_bytes};
    if (memory_fill(device, form, memory, error) != 0 ||
        call_device(device, &launch, &reply, error) != 0 ||
        call_device(device, &copy, &reply, error) != 0)
        return -1;
    if (reply.data_bytes != memory->out_bytes) return error_set(error, "a short copy");
    memcpy(value, reply.data, memory->out_bytes);
    return 0;
}

static int form_run(Device *device, const Form *form, uint32_t module, uint32_t number,
                    FormRun *run, Error *error)
{
    char name[16];
    DeviceReply reply;
    uint64_t lane_bytes = (uint64_t)form->lanes * 8;
    FormMemory memory = {.in_bytes = lane_bytes * (form->operands ? form->operands : 1),
                         .out_bytes = lane_bytes * form->results,
                         .global_bytes = lane_bytes * 8};
    snprintf(name, sizeof name, "f%u", number);
    DeviceCall find = {.kind = CALL_MODULE_FUNCTION,
                       .module = module,
                       .data = name,
                       .data_bytes = strlen(name) + 1};
    DeviceCall get = {.kind = CALL_ALLOC,
                      .bytes = memory.in_bytes + memory.out_bytes + memory.global_bytes};
    if (call_device(device, &find, &reply, error) != 0) return -1;
    uint32_t function = (uint32_t)reply.value[0];
    if (call_device(device, &get, &reply, error) != 0) return -1;
    memory.base = reply.value[0];
    uint64_t *value = malloc(memory.out_bytes);
    int result = value ? kernel_run(device, form, function, &memory, value, error)
                       : error_set(error, "out of memory");
    DeviceCall back = {.kind = CALL_FREE, .dst = memory.base};
    device->execute(device, &back, &reply);
    if (result == 0)
        run->value = value;
    else
        free(value);
    return result;
}

int forms_run(Device *device, const FormTable *table, uint32_t first, uint32_t count, FormRun *run,
              Error *error)
{
    Error why = {""};
    DeviceReply reply;
    char *text = forms_ptx(table, first, count);
    if (!text) return error_set(error, "out of memory");
    DeviceCall load = {.kind = CALL_MODULE_LOAD, .data = text, .data_bytes = strlen(text) + 1};
    memset(run, 0, count * sizeof *run);
    int result = call_device(device, &load, &reply, &why);
    uint32_t module = (uint32_t)reply.value[0];
    free(text);
    for (uint32_t i = 0; i < count; i++) {
        if (result == 0 &&
            form_run(device, &table->form[first + i], module, first + i, &run[i], &why) == 0)
            continue;
        snprintf(run[i].why, sizeof run[i].why, "%.500s", why.text);
    }
    DeviceCall unload = {.kind = CALL_MODULE_UNLOAD, .module = module};
    if (result == 0) device->execute(device, &unload, &reply);
    return 0;
}

void form_run_free(FormRun *run)
{
    free(run->value);
    run->value = NULL;
}
