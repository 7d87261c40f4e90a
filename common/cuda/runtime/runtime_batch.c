/* Several copies by one call, and copies between devices, of which there is one. */
#include "common/cuda/runtime/runtime_graph.h"

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *asked, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpy3DPeer";
    if (!asked || asked->srcDevice || asked->dstDevice)
        return runtime_fail(api, DEVICE_INVALID_DEVICE, "there is device 0 alone");
    struct cudaMemcpy3DParms all = {.srcArray = asked->srcArray,
                                    .srcPos = asked->srcPos,
                                    .srcPtr = asked->srcPtr,
                                    .dstArray = asked->dstArray,
                                    .dstPos = asked->dstPos,
                                    .dstPtr = asked->dstPtr,
                                    .extent = asked->extent,
                                    .kind = cudaMemcpyDeviceToDevice};
    return cudaMemcpy3DAsync(&all, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *asked)
{
    return cudaMemcpy3DPeerAsync(asked, NULL);
}

#if CUDART_VERSION >= 12080
/* The time at which the source may be read and the preferred location have no effect: copies from
 * the host take the bytes immediately. */
static cudaError_t batch_copy(void *const *dst, const void *const *src, const size_t *bytes,
                              size_t count, cudaStream_t stream)
{
    static const char api[] = "cudaMemcpyBatchAsync";
    if (!dst || !src || !bytes || !stream)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "a list is NULL, or the stream the default");
    cudaError_t status = cudaSuccess;
    for (size_t i = 0; i < count && status == cudaSuccess; i++)
        status = cudaMemcpyAsync(dst[i], src[i], bytes[i], cudaMemcpyDefault, stream);
    return status;
}

/* One side of a copy, as in cudaMemcpy3D: rows and slices count in elements, and a pointer's
 * element is one byte, unless the other side is an array. */
static void operand_take(const struct cudaMemcpy3DOperand *from, size_t element, size_t width,
                         size_t height, struct cudaPitchedPtr *pitched, cudaArray_t *array,
                         struct cudaPos *at)
{
    if (from->type == cudaMemcpyOperandTypeArray) {
        *array = from->op.array.array;
        *at = (struct cudaPos){from->op.array.offset.x, from->op.array.offset.y,
                               from->op.array.offset.z};
        return;
    }
    size_t row = from->op.ptr.rowLength ? from->op.ptr.rowLength : width;
    size_t rows = from->op.ptr.layerHeight ? from->op.ptr.layerHeight : height;
    *pitched = (struct cudaPitchedPtr){from->op.ptr.ptr, row * element, row, rows};
}

static size_t operand_element(const struct cudaMemcpy3DBatchOp *op)
{
    if (op->src.type == cudaMemcpyOperandTypeArray && op->src.op.array.array)
        return op->src.op.array.array->texel;
    if (op->dst.type == cudaMemcpyOperandTypeArray && op->dst.op.array.array)
        return op->dst.op.array.array->texel;
    return 1;
}

static cudaError_t batch_boxes(size_t count, const struct cudaMemcpy3DBatchOp *list,
                               cudaStream_t stream)
{
    static const char api[] = "cudaMemcpy3DBatchAsync";
    cudaError_t status = cudaSuccess;
    if (!list || !stream)
        return runtime_fail(api, DEVICE_INVALID_VALUE, "no list, or the stream is the default");
    for (size_t i = 0; i < count && status == cudaSuccess; i++) {
        const struct cudaMemcpy3DBatchOp *op = &list[i];
        struct cudaMemcpy3DParms all = {.extent = op->extent, .kind = cudaMemcpyDefault};
        size_t element = operand_element(op);
        operand_take(&op->src, element, op->extent.width, op->extent.height, &all.srcPtr,
                     &all.srcArray, &all.srcPos);
        operand_take(&op->dst, element, op->extent.width, op->extent.height, &all.dstPtr,
                     &all.dstArray, &all.dstPos);
        status = cudaMemcpy3DAsync(&all, stream);
    }
    return status;
}

#if CUDART_VERSION >= 13000
cudaError_t cudaMemcpyBatchAsync(void *const *dst, const void *const *src, const size_t *bytes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *indices, size_t attribute_count, cudaStream_t stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    return batch_copy(dst, src, bytes, count, stream);
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *list,
                                   unsigned long long flags, cudaStream_t stream)
{
    (void)flags;
    return batch_boxes(count, list, stream);
}
#else
cudaError_t cudaMemcpyBatchAsync(void **dst, void **src, size_t *bytes, size_t count,
                                 struct cudaMemcpyAttributes *attributes, size_t *indices,
                                 size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    cudaError_t status = batch_copy(dst, (const void *const *)(void *)src, bytes, count, stream);
    if (failed && status != cudaSuccess) *failed = SIZE_MAX;
    return status;
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *list, size_t *failed,
                                   unsigned long long flags, cudaStream_t stream)
{
    (void)flags;
    cudaError_t status = batch_boxes(count, list, stream);
    if (failed && status != cudaSuccess) *failed = SIZE_MAX;
    return status;
}
#endif
#endif
