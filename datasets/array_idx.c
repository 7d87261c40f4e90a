/* array_idx.c - header of an IDX file. */
#include "datasets/array_parts.h"

/* The third byte of a file. */
static const unsigned char CODE[ARRAY_TYPES] = {
    [ARRAY_U8] = 0x08,  [ARRAY_I8] = 0x09,  [ARRAY_I16] = 0x0b,
    [ARRAY_I32] = 0x0c, [ARRAY_F32] = 0x0d, [ARRAY_F64] = 0x0e,
};

int idx_parse(const char *name, const unsigned char *data, size_t bytes, ArrayHead *head,
              Error *error)
{
    Array *array = &head->array;
    int type = 0;
    if (bytes < 4 || data[0] || data[1])
        return error_set(error,
                         "%s is neither IDX nor NPY: it starts with neither two zero bytes nor "
                         "\\x93NUMPY (is it still packed? gunzip)",
                         name);
    while (type < ARRAY_TYPES && (!CODE[type] || CODE[type] != data[2]))
        type++;
    if (type == ARRAY_TYPES)
        return error_set(error, "%s: 0x%02x is no type of an IDX file (08 09 0b 0c 0d 0e)", name,
                         data[2]);
    array->type = (ArrayType)type;
    array->dimensions = data[3];
    if (array->dimensions > ARRAY_DIMENSIONS || bytes < 4 + 4 * (size_t)array->dimensions)
        return error_set(error, "%s claims %d dimensions: %s", name, array->dimensions,
                         array->dimensions > ARRAY_DIMENSIONS ? "at most 8 are read"
                                                              : "it ends before their sizes");
    head->at = 4 + 4 * (size_t)array->dimensions;
    head->big_endian = 1;
    for (int i = 0; i < array->dimensions; i++) {
        const unsigned char *b = data + 4 + 4 * i;
        array->size[i] = (uint64_t)b[0] << 24 | (uint64_t)b[1] << 16 | (uint64_t)b[2] << 8 | b[3];
    }
    return array_count(name, array, error);
}

int array_write_idx(const char *path, const Array *array, Error *error)
{
    unsigned char head[4 + 4 * ARRAY_DIMENSIONS] = {0, 0, CODE[array->type],
                                                    (unsigned char)array->dimensions};
    if (!head[2]) return error_set(error, "%s: IDX has no %s", path, array_type_name(array->type));
    for (int i = 0; i < array->dimensions; i++) {
        if (array->size[i] > UINT32_MAX)
            return error_set(error, "%s: a size beyond 32 bits, which IDX does not have", path);
        for (int b = 0; b < 4; b++)
            head[4 + 4 * i + b] = (unsigned char)(array->size[i] >> (24 - 8 * b));
    }
    return array_write(path, array, head, 4 + 4 * (size_t)array->dimensions, 1, error);
}
