/* array_parts.h - what array.c, array_idx.c and array_npy.c share. */
#ifndef CONVLAB_DATASETS_ARRAY_PARTS_H
#define CONVLAB_DATASETS_ARRAY_PARTS_H

#include <stdio.h>

#include "datasets/array.h"

/* A file's beginning: what the values are, where they begin, and in which order their bytes lie. */
typedef struct ArrayHead {
    Array array; /* without values */
    size_t at;
    int big_endian;
} ArrayHead;

int idx_parse(const char *name, const unsigned char *data, size_t bytes, ArrayHead *head,
              Error *error);
int npy_parse(const char *name, const unsigned char *data, size_t bytes, ArrayHead *head,
              Error *error);

/* Multiplies the sizes into array->count; -1 with error beyond ARRAY_BYTES. */
int array_count(const char *name, Array *array, Error *error);

/* The beginning of the file, then the values, into path.part, which becomes `path`. */
int array_write(const char *path, const Array *array, const void *head, size_t head_bytes,
                int big_endian, Error *error);

#endif
