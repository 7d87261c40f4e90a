/* Copies, fills and symbols.
 *
 * Copies from host memory read the bytes during the call, also the Async ones and those from pinned
 * memory: the bytes are part of the call.  Copies to host memory are complete when they return.
 * CUDA allows both orders. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cuda/runtime/runtime_graph.h"

/* Large copies are divided, so that no message is as large as the buffer. */
enum { COPY_PIECE = 64 << 20 };

static inline uint64_t device_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

int runtime_host_is_mapped(const void *pointer, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)pointer & ~(page - 1);
    uintptr_t last = (uintptr_t)pointer + bytes;
    if (last < (uintptr_t)pointer) return 0;
    return msync((void *)first, last - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

/* `otherwise`: the message about memory that is not host memory. */
static cudaError_t host_refuse(const char *api, const char *side, const void *pointer, size_t bytes,
                               const char *otherwise)
{
    if (runtime_host_is_mapped(pointer, 1))
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "the %s %p is host memory, but not all of the %zu bytes from there on "
                            "are: it is smaller than the copy",
                            side, pointer, bytes);
    return runtime_fail(api, DEVICE_INVALID_VALUE, "the %s %p (%zu bytes) is not host memory, %s",
                        side, pointer, bytes, otherwise);
}

/* ---- copies --------------------------------------------------------------------------------- */

static void (*async_reporter)(const void *host, size_t bytes, int writes);

void runtime_report_async(void (*report)(const void *host, size_t bytes, int writes))
{
    async_reporter = report;
}

/* COPY_ASYNC for an asynchronous copy from or to pinned memory, if somebody wants to know it. */
static uint32_t async_flag(const char *api, const void *host)
{
    return async_reporter && strstr(api, "Async") && runtime_is_pinned(host) ? COPY_ASYNC : 0;
}

static cudaError_t copy_to_device(const char *api, uint64_t dst, const void *src, size_t bytes,
                                  uint32_t stream)
{
    uint32_t async = async_flag(api, src);
    if (!runtime_host_is_mapped(src, bytes))
        return host_refuse(api, "source", src, bytes,
                           "which this direction copies from (the default of copies to symbols); "
                           "from device memory it is cudaMemcpyDeviceToDevice. Or are destination "
                           "and source swapped?");
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < COPY_PIECE ? bytes - done : COPY_PIECE;
        DeviceCall call = {.kind = CALL_COPY_TO_DEVICE,
                           .dst = dst + done,
                           .bytes = piece,
                           .data = (const char *)src + done,
                           .data_bytes = piece,
                           .value = async,
                           .stream = stream};
        cudaError_t status = runtime_call(api, &call, NULL);
        if (status != cudaSuccess) return status;
        done += piece;
    }
    if (async) async_reporter(src, bytes, 0);
    return cudaSuccess;
}

static cudaError_t copy_to_host(const char *api, void *dst, uint64_t src, size_t bytes,
                                uint32_t stream)
{
    if (!runtime_host_is_mapped(dst, bytes))
        return host_refuse(api, "destination", dst, bytes,
                           "which this direction copies to (the default of copies from symbols); "
                           "to device memory it is cudaMemcpyDeviceToDevice. Or are destination "
                           "and source swapped?");
    cudaError_t status = cudaSuccess;
    uint32_t async = async_flag(api, dst);
    runtime_lock();
    for (size_t done = 0; done < bytes && status == cudaSuccess;) {
        size_t piece = bytes - done < COPY_PIECE ? bytes - done : COPY_PIECE;
        DeviceCall call = {.kind = CALL_COPY_TO_HOST,
                           .src = src + done,
                           .bytes = piece,
                           .value = async,
                           .stream = stream};
        DeviceReply reply;
        status = runtime_call(api, &call, &reply);
        if (status == cudaSuccess && reply.data_bytes != piece)
            status = runtime_fail(api, DEVICE_UNKNOWN, "the device sent the wrong size");
        if (status == cudaSuccess) memcpy((char *)dst + done, reply.data, piece);
        done += piece;
    }
    if (async && status == cudaSuccess) async_reporter(dst, bytes, 1);
    runtime_unlock();
    return status;
}

static cudaError_t copy_on_host(const char *api, void *dst, const void *src, size_t bytes,
                                uint32_t stream)
{
    DeviceCall wait = {.kind = CALL_STREAM_SYNC, .stream = stream};
    DeviceReply reply;
    int lacks_source = !runtime_host_is_mapped(src, bytes);
    if (lacks_source || !runtime_host_is_mapped(dst, bytes))
        return host_refuse(api, lacks_source ? "source" : "destination", lacks_source ? src : dst,
                           bytes, "and this direction copies within that");
    /* Earlier kernels on the stream may write there, so they must end first. */
    if (runtime_pinned_is_mapped()) runtime_try(&wait, &reply);
    memmove(dst, src, bytes);
    return cudaSuccess;
}

/* Whether cudaMemcpyDefault treats the address as device memory. */
static int address_is_device(const void *pointer)
{
    DeviceCall call = {.kind = CALL_POINTER, .dst = device_address(pointer)};
    DeviceReply reply;
    if (runtime_is_pinned(pointer)) return 0;
    if (runtime_try(&call, &reply) == DEVICE_SUCCESS) return reply.value[0] != 0;
    return !runtime_host_is_mapped(pointer, 1);
}

static cudaError_t copy_row(const char *api, const RuntimeCopy *copy, size_t dst_offset,
                            size_t src_offset, size_t bytes, uint32_t stream)
{
    char *dst = (char *)copy->dst + dst_offset;
    const char *src = (const char *)copy->src + src_offset;
    DeviceCall call = {.kind = CALL_COPY_ON_DEVICE,
                       .dst = device_address(dst),
                       .src = device_address(src),
                       .bytes = bytes,
                       .stream = stream};
    switch (copy->kind) {
    case cudaMemcpyHostToDevice:
        return copy_to_device(api, call.dst, src, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return copy_to_host(api, dst, call.src, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return runtime_call(api, &call, NULL);
    case cudaMemcpyHostToHost:
        return copy_on_host(api, dst, src, bytes, stream);
    default:
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "direction %d", (int)copy->kind);
    }
}

/* Copies row by row; rows and slices that are contiguous on both sides are merged. */
static cudaError_t copy_execute(const char *api, RuntimeCopy copy, uint32_t stream)
{
    if (copy.width == copy.dst_pitch && copy.width == copy.src_pitch) {
        copy.width *= copy.height, copy.height = 1;
        if (copy.width == copy.dst_slice && copy.width == copy.src_slice)
            copy.width *= copy.depth, copy.depth = 1;
    }
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < copy.depth; z++)
        for (size_t row = 0; row < copy.height && status == cudaSuccess; row++)
            status = copy_row(api, &copy, z * copy.dst_slice + row * copy.dst_pitch,
                              z * copy.src_slice + row * copy.src_pitch, copy.width, stream);
    return status;
}

static enum cudaMemcpyKind kind_by_address(const void *dst, const void *src)
{
    int to_device = address_is_device(dst), from_device = address_is_device(src);
    if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

cudaError_t runtime_copy(const char *api, const RuntimeCopy *asked, cudaStream_t stream)
{
    RuntimeCopy copy = *asked;
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess || !copy.width || !copy.height || !copy.depth) return status;
    if (!copy.dst || !copy.src)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "the %s is NULL",
                            copy.dst ? "source" : "destination");
    if (copy.width > copy.dst_pitch || copy.width > copy.src_pitch)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidPitchValue,
                            "a row of %zu bytes is wider than a pitch (%zu, %zu)", copy.width,
                            copy.dst_pitch, copy.src_pitch);
    if (copy.kind == cudaMemcpyDefault) copy.kind = kind_by_address(copy.dst, copy.src);
    if (runtime_is_capturing(handle))
        return runtime_capture(api, handle,
                               &(RuntimeWork){.type = cudaGraphNodeTypeMemcpy, .copy = copy});
    return copy_execute(api, copy, handle);
}

static cudaError_t copy(const char *api, void *dst, const void *src, size_t bytes,
                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return runtime_copy(
        api, &(RuntimeCopy){dst, src, bytes, bytes, bytes, bytes, bytes, 1, 1, kind}, stream);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", dst, src, bytes, kind, NULL);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy("cudaMemcpyAsync", dst, src, bytes, kind, stream);
}

static cudaError_t copy_2d(const char *api, void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
                           cudaStream_t stream)
{
    RuntimeCopy copy = {dst,   src,    dst_pitch, src_pitch, dst_pitch * height, src_pitch * height,
                        width, height, 1,         kind};
    return runtime_copy(api, &copy, stream);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return copy_2d("cudaMemcpy2D", dst, dst_pitch, src, src_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    return copy_2d("cudaMemcpy2DAsync", dst, dst_pitch, src, src_pitch, width, height, kind,
                   stream);
}

/* One side of a copy: an array is replaced by its memory, and counts in elements.  Returns the
 * bytes of an element of x and width. */
static size_t side_of(cudaArray_const_t array, struct cudaPitchedPtr *side)
{
    if (!array) return 1;
    *side = (struct cudaPitchedPtr){array->memory, array->pitch, array->extent.width, array->rows};
    return array->texel;
}

/* Whether an array contains the box, in elements; the engine checks memory without an array. */
static cudaError_t box_check(const char *api, cudaArray_const_t array, const struct cudaPos *at,
                             const struct cudaExtent *box)
{
    if (!array) return cudaSuccess;
    size_t width = array->extent.width;
    if (at->x <= width && box->width <= width - at->x && at->y <= array->rows &&
        box->height <= array->rows - at->y && at->z <= array->slices &&
        box->depth <= array->slices - at->z)
        return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE,
                        "%zu x %zu x %zu elements at (%zu, %zu, %zu) of an array of %zu x %zu x "
                        "%zu",
                        box->width, box->height, box->depth, at->x, at->y, at->z, width,
                        array->rows, array->slices);
}

cudaError_t runtime_copy_of(const char *api, const struct cudaMemcpy3DParms *asked,
                            RuntimeCopy *copy)
{
    if (!asked) return runtime_fail(api, DEVICE_INVALID_VALUE, "the parameters are NULL");
    struct cudaPitchedPtr to = asked->dstPtr, from = asked->srcPtr;
    size_t to_texel = side_of(asked->dstArray, &to), from_texel = side_of(asked->srcArray, &from);
    const struct cudaPos *at = &asked->dstPos, *of = &asked->srcPos;
    cudaError_t status = box_check(api, asked->dstArray, at, &asked->extent);
    if (status == cudaSuccess) status = box_check(api, asked->srcArray, of, &asked->extent);
    if (status != cudaSuccess) return status;
    size_t to_slice = to.pitch * to.ysize, from_slice = from.pitch * from.ysize;
    *copy = (RuntimeCopy){
        .dst = (char *)to.ptr + at->z * to_slice + at->y * to.pitch + at->x * to_texel,
        .src =
            (const char *)from.ptr + of->z * from_slice + of->y * from.pitch + of->x * from_texel,
        .dst_pitch = to.pitch,
        .src_pitch = from.pitch,
        .dst_slice = to_slice,
        .src_slice = from_slice,
        .width = asked->extent.width * (to_texel > from_texel ? to_texel : from_texel),
        .height = asked->extent.height,
        .depth = asked->extent.depth,
        .kind = asked->kind};
    if (copy->depth <= 1 || (copy->height <= to.ysize && copy->height <= from.ysize))
        return cudaSuccess;
    return runtime_fail(api, DEVICE_INVALID_VALUE,
                        "%zu rows are more than a slice has (ysize %zu, %zu)", copy->height,
                        to.ysize, from.ysize);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *asked, cudaStream_t stream)
{
    RuntimeCopy copy;
    cudaError_t status = runtime_copy_of("cudaMemcpy3D", asked, &copy);
    return status == cudaSuccess ? runtime_copy("cudaMemcpy3D", &copy, stream) : status;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *asked)
{
    return cudaMemcpy3DAsync(asked, NULL);
}

/* ---- fills ---------------------------------------------------------------------------------- */

/* Fills with elements of several different bytes (only from a graph's node) are copies. */
static cudaError_t fill_pattern(const char *api, const RuntimeFill *fill, uint32_t stream)
{
    size_t bytes = fill->width * fill->element;
    unsigned char *row = malloc(bytes);
    cudaError_t status = cudaSuccess;
    if (!row) return runtime_fail(api, DEVICE_OUT_OF_MEMORY, "no %zu bytes of host memory", bytes);
    for (size_t i = 0; i < bytes; i++)
        row[i] = (unsigned char)(fill->value >> (8 * (i % fill->element)));
    for (size_t y = 0; y < fill->height && status == cudaSuccess; y++)
        status =
            copy_to_device(api, device_address(fill->dst) + y * fill->pitch, row, bytes, stream);
    free(row);
    return status;
}

static int is_one_byte(const RuntimeFill *fill)
{
    unsigned byte = fill->value & 255;
    if (fill->element == 1) return 1;
    return fill->element == 2 ? fill->value == byte * 0x101u : fill->value == byte * 0x1010101u;
}

static cudaError_t fill_execute(const char *api, const RuntimeFill *fill, uint32_t stream)
{
    if (!is_one_byte(fill)) return fill_pattern(api, fill, stream);
    size_t bytes = fill->width * fill->element, rows = fill->height;
    if (bytes == fill->pitch) bytes *= rows, rows = 1;
    cudaError_t status = cudaSuccess;
    for (size_t y = 0; y < rows && status == cudaSuccess; y++) {
        DeviceCall call = {.kind = CALL_FILL,
                           .dst = device_address(fill->dst) + y * fill->pitch,
                           .value = fill->value & 255,
                           .bytes = bytes,
                           .stream = stream};
        status = runtime_call(api, &call, NULL);
    }
    return status;
}

cudaError_t runtime_fill(const char *api, const RuntimeFill *fill, cudaStream_t stream)
{
    uint32_t handle;
    cudaError_t status = runtime_stream(api, stream, &handle);
    if (status != cudaSuccess || !fill->width || !fill->height) return status;
    if (fill->height > 1 && fill->width * fill->element > fill->pitch)
        return runtime_fail(api, (DeviceStatus)cudaErrorInvalidPitchValue,
                            "a row of %zu bytes is wider than the pitch, %zu",
                            fill->width * fill->element, fill->pitch);
    if (runtime_is_capturing(handle))
        return runtime_capture(api, handle,
                               &(RuntimeWork){.type = cudaGraphNodeTypeMemset, .fill = *fill});
    return fill_execute(api, fill, handle);
}

cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    RuntimeFill fill = {dst, pitch, (unsigned char)value, 1, width, height};
    return runtime_fill("cudaMemset2D", &fill, stream);
}

cudaError_t cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return cudaMemset2DAsync(dst, pitch, value, width, height, NULL);
}

cudaError_t cudaMemsetAsync(void *dst, int value, size_t bytes, cudaStream_t stream)
{
    RuntimeFill fill = {dst, bytes, (unsigned char)value, 1, bytes, 1};
    return runtime_fill("cudaMemset", &fill, stream);
}

cudaError_t cudaMemset(void *dst, int value, size_t bytes)
{
    return cudaMemsetAsync(dst, value, bytes, NULL);
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    cudaError_t status = cudaSuccess;
    for (size_t z = 0; z < extent.depth && status == cudaSuccess; z++)
        status = cudaMemset2DAsync((char *)to.ptr + z * to.pitch * to.ysize, to.pitch, value,
                                   extent.width, extent.height, stream);
    return status;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return cudaMemset3DAsync(to, value, extent, NULL);
}

/* ---- symbols -------------------------------------------------------------------------------- */

cudaError_t runtime_symbol_range(const char *api, const void *symbol, size_t bytes, size_t offset,
                                 void **address)
{
    RuntimeVariable *variable;
    cudaError_t status = runtime_variable(api, symbol, &variable);
    if (status != cudaSuccess) return status;
    if (offset > variable->bytes || bytes > variable->bytes - offset)
        return runtime_fail(api, DEVICE_INVALID_VALUE,
                            "%zu bytes at offset %zu do not fit the %llu bytes of %s", bytes,
                            offset, (unsigned long long)variable->bytes, variable->name);
    *address = (void *)(uintptr_t)(variable->address + offset);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyToSymbol";
    void *dst;
    cudaError_t status = runtime_symbol_range(api, symbol, bytes, offset, &dst);
    if (status != cudaSuccess) return status;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "a symbol is on the device");
    return copy(api, dst, src, bytes, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return cudaMemcpyToSymbolAsync(symbol, src, bytes, offset, kind, NULL);
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyFromSymbol";
    void *src;
    cudaError_t status = runtime_symbol_range(api, symbol, bytes, offset, &src);
    if (status != cudaSuccess) return status;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return runtime_fail(api, DEVICE_INVALID_COPY_DIRECTION, "a symbol is on the device");
    return copy(api, dst, src, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return cudaMemcpyFromSymbolAsync(dst, symbol, bytes, offset, kind, NULL);
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    if (!address)
        return runtime_fail("cudaGetSymbolAddress", DEVICE_INVALID_VALUE, "the result is NULL");
    return runtime_symbol_range("cudaGetSymbolAddress", symbol, 0, 0, address);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    RuntimeVariable *variable;
    if (!bytes)
        return runtime_fail("cudaGetSymbolSize", DEVICE_INVALID_VALUE, "the result is NULL");
    cudaError_t status = runtime_variable("cudaGetSymbolSize", symbol, &variable);
    if (status == cudaSuccess) *bytes = variable->bytes;
    return status;
}
