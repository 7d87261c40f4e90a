#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array_parts.h"

int array_parse(const char *name, const void *data, size_t bytes, Array *array, Error *error)
{
    ArrayHead head = {.at = 0};
    *array = (Array){.type = ARRAY_U8};
    int npy = bytes >= 6 && !memcmp(data, "\x93NUMPY", 6);
    if ((npy ? npy_parse : idx_parse)(name, data, bytes, &head, error)) return -1;
    size_t each = array_type_bytes(head.array.type);
    uint64_t wanted = head.array.count * each, there = bytes - head.at;
    if (there != wanted)
        return error_set(error, "%s has %llu bytes of values where its sizes need %llu: is it %s?",
                         name, (unsigned long long)there, (unsigned long long)wanted,
                         there < wanted ? "cut off" : "two files in one");
    head.array.value = malloc(wanted + 1); /* + 1: an empty array is not NULL */
    if (!head.array.value)
        return error_set(error, "no memory for the %llu bytes of %s", (unsigned long long)wanted,
                         name);
    array_copy_values(head.array.value, (const unsigned char *)data + head.at, head.array.count,
                      each, head.big_endian);
    *array = head.array;
    return 0;
}

/* Contents of a regular file, to be freed; NULL with error. */
static void *file_read(const char *path, size_t *bytes, Error *error)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    long size = -1;
    if (!file) {
        error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    if (!fseek(file, 0, SEEK_END)) size = ftell(file);
    if (size < 0 || (uint64_t)size > ARRAY_BYTES + 65536)
        error_set(error, "%s is no file of at most %llu GiB", path,
                  (unsigned long long)(ARRAY_BYTES >> 30));
    else if (!(data = malloc((size_t)size + 1)))
        error_set(error, "no memory for the %ld bytes of %s", size, path);
    else if (fseek(file, 0, SEEK_SET) || fread(data, 1, (size_t)size, file) != (size_t)size) {
        error_set(error, "%s cannot be read", path);
        free(data);
        data = NULL;
    }
    fclose(file);
    *bytes = data ? (size_t)size : 0;
    return data;
}

int array_read(const char *path, Array *array, Error *error)
{
    size_t bytes;
    *array = (Array){.type = ARRAY_U8};
    void *data = file_read(path, &bytes, error);
    if (!data) return -1;
    int rc = array_parse(path, data, bytes, array, error);
    free(data);
    return rc;
}

void array_close(Array *array)
{
    free(array->value);
    *array = (Array){.type = ARRAY_U8};
}

float *array_floats(const Array *array, Error *error)
{
    float *out = malloc((array->count + 1) * sizeof *out);
    if (!out) {
        error_set(error, "no memory for %llu floats", (unsigned long long)array->count);
        return NULL;
    }
#define FLOATS(type)                                                                               \
    for (uint64_t i = 0; i < array->count; i++)                                                    \
        out[i] = (float)((const type *)array->value)[i];                                           \
    break
    switch (array->type) {
    case ARRAY_U8:
        FLOATS(uint8_t);
    case ARRAY_I8:
        FLOATS(int8_t);
    case ARRAY_I16:
        FLOATS(int16_t);
    case ARRAY_I32:
        FLOATS(int32_t);
    case ARRAY_I64:
        FLOATS(int64_t);
    case ARRAY_F32:
        FLOATS(float);
    case ARRAY_F64:
        FLOATS(double);
    case ARRAY_TYPES:
        break;
    }
    return out;
}
