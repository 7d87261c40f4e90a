#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/gpu/gpu_engine.h"

/* Runtime and driver share their numbers, except for those of the driver's own state; an unknown
 * number is cudaErrorUnknown. */
int32_t gpu_status(DriverResult result)
{
    static const short only_driver[] = {202, 203, 204, 221};
    for (size_t i = 0; i < sizeof only_driver / sizeof *only_driver; i++)
        if (result == only_driver[i]) return STATUS_UNKNOWN;
    return result;
}

/* Errors after which the driver returns the same error for every later call. */
int gpu_is_sticky(int32_t status)
{
    switch (status) {
    case 214: /* uncorrectable ECC error */
    case 220: /* NVLink */
    case 700: /* illegal address */
    case 702: /* time-out of a display driver */
    case 709: /* context destroyed */
    case 710: /* device-side assert */
    case 714: /* stack error */
    case 715: /* illegal instruction, trap */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid program counter */
    case 719: /* launch failure */
        return 1;
    default:
        return 0;
    }
}

static void note_words(const GpuDevice *device, char *text, size_t bytes)
{
    size_t used = 0;
    snprintf(text, bytes, "a kernel");
    for (uint32_t i = 0; i < device->notes && used < bytes; i++) {
        const GpuLaunchNote *n = &device->note[i];
        const GpuFunction *f = gpu_handle_get(device, n->function, HANDLE_FUNCTION);
        used += (size_t)snprintf(text + used, bytes - used, "%s %s<<<(%u,%u,%u),(%u,%u,%u)>>>",
                                 i ? " or" : "kernel", f ? f->plain : "(unloaded)", n->grid[0],
                                 n->grid[1], n->grid[2], n->block[0], n->block[1], n->block[2]);
    }
}

static void context_lose(GpuDevice *device, DriverResult result)
{
    char words[256], kernels[400];
    if (device->lost) return;
    device->lost = gpu_status(result);
    gpu_driver_words(device->driver, result, words, sizeof words);
    note_words(device, kernels, sizeof kernels);
    snprintf(device->lost_words, sizeof device->lost_words, "%s: %s", kernels, words);
}

static const char *const lost_advice =
    "the CUDA context is lost, every later call of this process fails too. ENGINE=sim or "
    "compute-sanitizer names the thread and the line";

int32_t gpu_answer(GpuDevice *device, DriverResult result, DeviceReply *reply, const char *what,
                   ...)
{
    if (!result) return STATUS_OK;
    int32_t status = gpu_status(result);
    if (gpu_is_sticky(status)) {
        context_lose(device, result);
        snprintf(reply->message, sizeof reply->message, "%s; %s", device->lost_words, lost_advice);
        return status;
    }
    char words[256], subject[512];
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(subject, sizeof subject, what, arguments);
    va_end(arguments);
    gpu_driver_words(device->driver, result, words, sizeof words);
    snprintf(reply->message, sizeof reply->message, "%s: %s", subject, words);
    return status;
}

int32_t gpu_refuse(DeviceReply *reply, int32_t status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reply->message, sizeof reply->message, format, arguments);
    va_end(arguments);
    return status;
}

int gpu_error(GpuDevice *device, DriverResult result, const char *what, Error *error)
{
    if (gpu_is_sticky(gpu_status(result))) {
        context_lose(device, result);
        return error_set(error, "%s: %s; %s", what, device->lost_words, lost_advice);
    }
    char words[256];
    gpu_driver_words(device->driver, result, words, sizeof words);
    return error_set(error, "%s: %s", what, words);
}

/* Stores the newest launches, each kernel and shape once. */
void gpu_note_launch(GpuDevice *device, const DeviceCall *call)
{
    GpuLaunchNote note = {.function = call->function, .stream = call->stream};
    memcpy(note.grid, call->grid, sizeof note.grid);
    memcpy(note.block, call->block, sizeof note.block);
    for (uint32_t i = 0; i < device->notes; i++)
        if (!memcmp(&device->note[i], &note, sizeof note)) return;
    if (device->notes == GPU_NOTES) {
        memmove(device->note, device->note + 1, (GPU_NOTES - 1) * sizeof note);
        device->notes--;
    }
    device->note[device->notes++] = note;
}

/* Called when the launches of `stream` have ended without error (UINT32_MAX: of all streams). */
void gpu_note_done(GpuDevice *device, uint32_t stream)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < device->notes; i++)
        if (stream != UINT32_MAX && device->note[i].stream != stream)
            device->note[kept++] = device->note[i];
    device->notes = kept;
}
