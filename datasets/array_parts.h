/* array_parts.h - declarations shared by array*.c. */
#ifndef CONVLAB_DATASETS_ARRAY_PARTS_H
#define CONVLAB_DATASETS_ARRAY_PARTS_H

#include <stdio.h>

#include "datasets/array.h"

/* A file's header: type and shape, offset of the values, and their byte order. */
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

/* Copies values of `each` bytes between this machine's byte order and the other one, if they
 * differ. */
void array_copy_values(void *to, const void *from, uint64_t count, size_t each, int big_endian);

/* Writes the header, then the values, into path.part, which is renamed to `path`. */
int array_write(const char *path, const Array *array, const void *head, size_t head_bytes,
                int big_endian, Error *error);

#endif
