#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array_parts.h"

static const struct {
    const char *name;
    size_t bytes;
} TYPE[ARRAY_TYPES] = {
    [ARRAY_U8] = {"u8", 1},   [ARRAY_I8] = {"i8", 1},   [ARRAY_I16] = {"i16", 2},
    [ARRAY_I32] = {"i32", 4}, [ARRAY_I64] = {"i64", 8}, [ARRAY_F32] = {"f32", 4},
    [ARRAY_F64] = {"f64", 8},
};

size_t array_type_bytes(ArrayType type)
{
    return TYPE[type].bytes;
}

const char *array_type_name(ArrayType type)
{
    return TYPE[type].name;
}

int array_count(const char *name, Array *array, Error *error)
{
    uint64_t most = ARRAY_BYTES / array_type_bytes(array->type);
    array->count = 1;
    for (int i = 0; i < array->dimensions; i++) {
        if (array->size[i] && array->count > most / array->size[i])
            return error_set(error, "%s claims more than %llu GiB of values", name,
                             (unsigned long long)(ARRAY_BYTES >> 30));
        array->count *= array->size[i];
    }
    return 0;
}

static int host_is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* Copies values, with each value's bytes reversed if the byte orders differ. */
static void copy_values(void *to, const void *from, uint64_t count, size_t each, int big_endian)
{
    if (each == 1 || big_endian == host_is_big_endian()) {
        if (count) memcpy(to, from, count * each);
        return;
    }
    unsigned char *out = to;
    const unsigned char *in = from;
    for (uint64_t i = 0; i < count; i++, out += each, in += each)
        for (size_t b = 0; b < each; b++)
            out[b] = in[each - 1 - b];
}

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
    copy_values(head.array.value, (const unsigned char *)data + head.at, head.array.count, each,
                head.big_endian);
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

/* ---- writing ---- */

static int write_values(FILE *file, const Array *array, int big_endian)
{
    enum { AT_ONCE = 8192 };
    size_t each = array_type_bytes(array->type);
    unsigned char buffer[AT_ONCE * sizeof(double)];
    for (uint64_t done = 0; done < array->count;) {
        uint64_t some = array->count - done < AT_ONCE ? array->count - done : AT_ONCE;
        copy_values(buffer, (const unsigned char *)array->value + done * each, some, each,
                    big_endian);
        if (fwrite(buffer, each, some, file) != some) return -1;
        done += some;
    }
    return 0;
}

int array_write(const char *path, const Array *array, const void *head, size_t head_bytes,
                int big_endian, Error *error)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return error_set(error, "the file's name is too long");
    FILE *file = fopen(part, "wb");
    if (!file) return error_set(error, "%s: %s", part, strerror(errno));
    int failed = fwrite(head, 1, head_bytes, file) != head_bytes ||
                 write_values(file, array, big_endian) || fflush(file);
    failed = fclose(file) || failed || rename(part, path);
    if (!failed) return 0;
    error_set(error, "%s cannot be written: %s", path, strerror(errno));
    remove(part);
    return -1;
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
