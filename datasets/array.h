/* array.h - arrays of up to eight dimensions in IDX and NPY files.
 *
 * Module: data for the labs: files of numbers, digits, feature maps, networks' layers.
 * Callers: run (MAPS=), its own tools.
 * May use: conv, operation, base.
 *
 * IDX is the format of the MNIST digits: two zero bytes, a type, the number of dimensions, each
 * size as 32 bits, then the values; all big-endian (Y. LeCun, "The MNIST database of handwritten
 * digits", section "File formats").  NPY is NumPy's: versions 1.0 to 3.0, plain numbers, rows first
 * (numpy.lib.format).
 *
 * A file is read completely or rejected: for missing or additional values, for a type or an order
 * that the other format does not support, or for more than ARRAY_BYTES. */
#ifndef CONVLAB_DATASETS_ARRAY_H
#define CONVLAB_DATASETS_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { ARRAY_DIMENSIONS = 8 };
static const uint64_t ARRAY_BYTES = 1ull << 31;

typedef enum ArrayType {
    ARRAY_U8,
    ARRAY_I8,
    ARRAY_I16,
    ARRAY_I32,
    ARRAY_I64, /* NPY only */
    ARRAY_F32,
    ARRAY_F64,
    ARRAY_TYPES
} ArrayType;

typedef struct Array {
    ArrayType type;
    int dimensions;                  /* 0: one number */
    uint64_t size[ARRAY_DIMENSIONS]; /* the last one varies fastest */
    uint64_t count;                  /* number of values: the product of the sizes */
    void *value;                     /* in this machine's byte order; owned */
} Array;

size_t array_type_bytes(ArrayType type);
const char *array_type_name(ArrayType type); /* "u8", "f32" */

/* Reads an IDX or NPY file, distinguished by the first bytes.  -1 with error, and *array is empty;
 * else it must be closed. */
int array_read(const char *path, Array *array, Error *error);
/* The same for `bytes` bytes in memory, called `name` in messages. */
int array_parse(const char *name, const void *data, size_t bytes, Array *array, Error *error);
void array_close(Array *array);

/* Writes a file atomically; with -1 and error there is no file. */
int array_write_idx(const char *path, const Array *array, Error *error);
int array_write_npy(const char *path, const Array *array, Error *error);

/* The values as floats, to be freed by the caller; NULL with error if memory is exhausted. */
float *array_floats(const Array *array, Error *error);

#endif
