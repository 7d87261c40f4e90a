/* quantize.h - quantisation, and convolution of 8-bit integers (convlab/int8.h).
 *
 * Module: the operations quantize and conv_int8: exact results, and the mistakes that are
 * recognised in wrong ones.
 * Callers: the list of operations.
 * May use: conv, operation, base. */
#ifndef CONVLAB_OPERATIONS_INT8_QUANTIZE_H
#define CONVLAB_OPERATIONS_INT8_QUANTIZE_H

#include "common/operations/operation/operation.h"

extern const Operation quantize_operation;
extern const Operation conv_int8_operation;

#endif
