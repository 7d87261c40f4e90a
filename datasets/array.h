/* array.h - numbers of one type in up to eight dimensions, as IDX and NPY files hold them.
 *
 * Module: what labs learn from and run on: files of numbers, digits, feature maps, networks' layers.
 * Callers: run (MAPS=), its own tools.
 * May use: conv, operation, base.
 *
 * IDX is the format of the MNIST digits: two zero bytes, a type, the number of dimensions, each
 * size as 32 bits, then the values; all big-endian (Y. LeCun, "The MNIST database of handwritten
 * digits", section "File formats").  NPY is NumPy's: versions 1.0 to 3.0, plain numbers, rows first
 * (numpy.lib.format).
 *
 * A file is taken whole or refused: a value too few or too many, a type or an order of which the
 * other format has no word, more than ARRAY_BYTES. */
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
    uint64_t count;                  /* of values: the product of the sizes */
    void *value;                     /* of this machine's byte order; the array's own */
} Array;

size_t array_type_bytes(ArrayType type);
const char *array_type_name(ArrayType type); /* "u8", "f32" */

/* Reads an IDX or NPY file, told apart by their first bytes.  -1 with error, and *array is empty;
 * else to be closed. */
int array_read(const char *path, Array *array, Error *error);
/* The same of `bytes` bytes in memory, which `name` is to be called in messages. */
int array_parse(const char *name, const void *data, size_t bytes, Array *array, Error *error);
void array_close(Array *array);

/* Write a file that is complete or, when -1 comes back with error, not there. */
int array_write_idx(const char *path, const Array *array, Error *error);
int array_write_npy(const char *path, const Array *array, Error *error);

/* The values as floats, to be freed by the caller; NULL with error when memory is short. */
float *array_floats(const Array *array, Error *error);

#endif
