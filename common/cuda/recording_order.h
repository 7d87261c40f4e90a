/* recording_order.h - dependencies between a recording's calls, computed once for all of them. */
#ifndef CONVLAB_CUDA_RECORDING_ORDER_H
#define CONVLAB_CUDA_RECORDING_ORDER_H

#include "common/cuda/recording.h"

typedef struct RecordingOrder RecordingOrder;

/* NULL if memory is exhausted. */
RecordingOrder *recording_order_build(const Recording *recording);
void recording_order_free(RecordingOrder *order);

/* The calls for which call i waits, ascending; returns their number. */
size_t recording_order_before(const RecordingOrder *order, size_t i, size_t *before);
size_t recording_order_calls(const RecordingOrder *order);

#endif
