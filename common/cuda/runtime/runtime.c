/* The drop-in runtime's state: the device of this process, and CUDA's rules for errors.
 *
 * A launch behaves as under CUDA_LAUNCH_BLOCKING=1: a fault in the kernel is the launch's own
 * return value.  After a fault every call fails with the same error (CUDA calls that sticky) until
 * cudaDeviceReset. */
#include "common/cuda/runtime/runtime.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/runtime/runtime_graph.h"
#include "common/cuda/runtime/runtime_state.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static Device *current_device;
static int32_t sticky_status;
static _Thread_local cudaError_t last_error;

static void (*refusal_tell)(int32_t status, const char *text);
static int failure_status;
static char failure_text[1536];
static DeviceProperties properties;
static int properties_known;

void runtime_lock(void)
{
    pthread_mutex_lock(&lock);
}

void runtime_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void runtime_set_device(Device *device)
{
    runtime_lock();
    current_device = device;
    sticky_status = 0;
    failure_status = 0;
    failure_text[0] = '\0';
    properties_known = 0;
    runtime_forget_loaded();
    runtime_unlock();
    last_error = cudaSuccess;
}

int runtime_take_failure(char *message, size_t bytes)
{
    runtime_lock();
    int status = failure_status;
    if (message && bytes) snprintf(message, bytes, "%s", failure_text);
    failure_status = 0;
    failure_text[0] = '\0';
    runtime_unlock();
    return status;
}

void runtime_report_refusals(void (*tell)(int32_t status, const char *text))
{
    refusal_tell = tell;
}

static uint32_t habits;

void *runtime_given_stream(void)
{
    return cudaStreamLegacy;
}

void runtime_note_habit(uint32_t habit)
{
    runtime_lock();
    habits |= habit;
    runtime_unlock();
}

/* Allocations that are not freed, how many there were at the last take, and how many takes found
 * more than the one before.  One such call may set up memory that all later ones use. */
static int allocations, allocations_before, growing_calls;
enum { LEAKING_CALLS = 2 };

void runtime_note_allocations(int change)
{
    runtime_lock();
    allocations += change;
    runtime_unlock();
}

uint32_t runtime_take_habits(void)
{
    runtime_lock();
    if (allocations > allocations_before && ++growing_calls >= LEAKING_CALLS) habits |= HABIT_LEAKS;
    allocations_before = allocations;
    uint32_t taken = habits;
    habits = 0;
    runtime_unlock();
    return taken;
}

/* Stores the first failure; a finding that did not stop a kernel (status 0) is replaced by the
 * first failure. */
static void failure_keep(const char *api, int32_t status, const char *message)
{
    if (failure_status != 0 || (status == 0 && failure_text[0] != '\0')) return;
    failure_status = status;
    if (status == 0)
        snprintf(failure_text, sizeof failure_text, "%s", message);
    else
        snprintf(failure_text, sizeof failure_text, "%s: %s", api,
                 message[0] ? message : device_status_text(status));
}

static cudaError_t error_keep(const char *api, int32_t status, const char *message)
{
    if (status == DEVICE_SUCCESS || status == DEVICE_NOT_READY) return (cudaError_t)status;
    failure_keep(api, status, message);
    last_error = (cudaError_t)status;
    return last_error;
}

cudaError_t runtime_fail(const char *api, DeviceStatus status, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    runtime_lock();
    cudaError_t error = error_keep(api, status, message);
    if (refusal_tell && error != cudaSuccess && error != cudaErrorNotReady) {
        char text[sizeof failure_text];
        snprintf(text, sizeof text, "%s: %s", api, message);
        refusal_tell(status, text);
    }
    runtime_unlock();
    return error;
}

static void call_locked(const DeviceCall *call, DeviceReply *reply)
{
    if (sticky_status) {
        device_fail(reply, sticky_status, "a kernel failed earlier; every call fails after that");
    } else if (!current_device) {
        device_fail(reply, DEVICE_NOT_INITIALISED,
                    "CUDA was called before main; move the call out of the static initialiser");
    } else if (current_device->execute(current_device, call, reply) != 0) {
        if (reply->status == DEVICE_SUCCESS) reply->status = DEVICE_UNAVAILABLE;
        if (reply->message[0] == '\0') device_fail(reply, reply->status, "the device is gone");
    }
    if (device_status_sticky(reply->status)) sticky_status = reply->status;
}

int32_t runtime_try(const DeviceCall *call, DeviceReply *reply)
{
    memset(reply, 0, offsetof(DeviceReply, message));
    reply->message[0] = '\0';
    runtime_lock();
    call_locked(call, reply);
    runtime_unlock();
    return reply->status;
}

cudaError_t runtime_call(const char *api, const DeviceCall *call, DeviceReply *reply)
{
    DeviceReply own;
    if (!reply) reply = &own;
    runtime_lock();
    cudaError_t refused = runtime_capture_check(api, call);
    if (refused != cudaSuccess) {
        runtime_unlock();
        return refused;
    }
    runtime_try(call, reply);
    if (reply->status == 0 && reply->message[0]) failure_keep(api, 0, reply->message);
    cudaError_t error = error_keep(api, reply->status, reply->message);
    runtime_unlock();
    return error;
}

const DeviceProperties *runtime_properties(const char *api, cudaError_t *status)
{
    *status = cudaSuccess;
    runtime_lock();
    if (!properties_known) {
        DeviceCall call = {.kind = CALL_PROPERTIES};
        DeviceReply reply;
        *status = runtime_call(api, &call, &reply);
        if (*status == cudaSuccess && reply.data_bytes == sizeof properties) {
            memcpy(&properties, reply.data, sizeof properties);
            properties.name[sizeof properties.name - 1] = '\0';
            properties_known = 1;
        } else if (*status == cudaSuccess) {
            *status = runtime_fail(api, DEVICE_UNKNOWN, "the device described itself wrongly");
        }
    }
    runtime_unlock();
    return *status == cudaSuccess ? &properties : NULL;
}

int runtime_handle(const void *opaque, uint32_t *handle)
{
    uintptr_t value = (uintptr_t)opaque;
    if (value < RUNTIME_HANDLE_BASE || value - RUNTIME_HANDLE_BASE > UINT32_MAX) return -1;
    *handle = (uint32_t)(value - RUNTIME_HANDLE_BASE);
    return 0;
}

void *runtime_opaque(uint32_t handle)
{
    return (void *)((uintptr_t)handle + RUNTIME_HANDLE_BASE);
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return device_status_name(error);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return device_status_text(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    DeviceCall call = {.kind = CALL_SYNC};
    runtime_note_habit(HABIT_WAITS);
    return runtime_call("cudaDeviceSynchronize", &call, NULL);
}

/* Clears the sticky error.  Memory, streams and loaded code remain, because a process here has one
 * device all the time. */
cudaError_t cudaDeviceReset(void)
{
    runtime_lock();
    sticky_status = 0;
    runtime_unlock();
    return cudaDeviceSynchronize();
}

/* Functions that CUDA 12 removed.  cuda_removed.h defines them for CUDA sources; C files of older
 * programs call them without a declaration. */
cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

/* No effect: the simulator always counts, and ncu decides by itself. */
cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}
