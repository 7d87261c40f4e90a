/* Device memory for CUDA's libraries, which compute on the host. */
#include "common/cuda/runtime/runtime_library.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/runtime/runtime_graph.h"

enum { COUNTED_CALLS = 64, PIECE = 64 << 20 };

static struct {
    const char *api;
    uint64_t count;
} counted[COUNTED_CALLS];

static void call_count(const char *api)
{
    int i = 0;
    runtime_lock();
    while (i < COUNTED_CALLS - 1 && counted[i].api && strcmp(counted[i].api, api))
        i++;
    counted[i].api = i < COUNTED_CALLS - 1 ? api : "other functions";
    counted[i].count++;
    runtime_unlock();
}

void runtime_library_calls(void (*visit)(void *context, const char *api, uint64_t count),
                           void *context)
{
    for (int i = 0; i < COUNTED_CALLS && counted[i].api; i++)
        visit(context, counted[i].api, counted[i].count);
}

cudaError_t runtime_library_begin(const char *api, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess) return status;
    if (runtime_is_capturing(handle))
        return runtime_fail(api, DEVICE_NOT_SUPPORTED,
                            "a library call on a stream that is captured; the simulated GPU "
                            "supports library calls outside of graphs only");
    call_count(api);
    return cudaSuccess;
}

void runtime_library_fail(const char *api, const char *format, ...)
{
    char text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    runtime_fail(api, DEVICE_NOT_SUPPORTED, "%s", text);
}

/* At most PIECE bytes of one row. */
static cudaError_t piece_move(const char *api, uint32_t stream, uint64_t device, char *to,
                              const char *from, size_t bytes)
{
    DeviceReply reply;
    DeviceCall call = {.kind = to ? CALL_COPY_TO_HOST : CALL_COPY_TO_DEVICE,
                       .value = COPY_BY_LIBRARY,
                       .stream = stream,
                       .src = to ? device : 0,
                       .dst = to ? 0 : device,
                       .bytes = bytes,
                       .data = to ? api : from, /* a read has a name in messages */
                       .data_bytes = to ? 0 : bytes};
    cudaError_t status = runtime_call(api, &call, &reply);
    if (status == cudaSuccess && to) memcpy(to, reply.data, bytes);
    return status;
}

static cudaError_t rows_move(const char *api, cudaStream_t stream, LibraryRows rows, char *to,
                             const char *from)
{
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (rows.width == rows.pitch) rows.width *= rows.rows, rows.rows = rows.width != 0;
    runtime_lock();
    for (size_t row = 0, host = 0; row < rows.rows && status == cudaSuccess; row++)
        for (size_t done = 0; done < rows.width && status == cudaSuccess;) {
            size_t bytes = rows.width - done < PIECE ? rows.width - done : PIECE;
            uint64_t device = (uint64_t)(uintptr_t)rows.device + row * rows.pitch + done;
            status = piece_move(api, handle, device, to ? to + host : NULL,
                                from ? from + host : NULL, bytes);
            done += bytes, host += bytes;
        }
    runtime_unlock();
    return status;
}

cudaError_t runtime_library_read(const char *api, cudaStream_t stream, LibraryRows rows, void *host)
{
    return rows_move(api, stream, rows, host, NULL);
}

cudaError_t runtime_library_write(const char *api, cudaStream_t stream, LibraryRows rows,
                                  const void *host)
{
    return rows_move(api, stream, rows, NULL, host);
}
