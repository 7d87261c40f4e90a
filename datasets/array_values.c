/* array_values.c - types and values of an array, independent of the file format. */
#include <errno.h>
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
void array_copy_values(void *to, const void *from, uint64_t count, size_t each, int big_endian)
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

static int write_values(FILE *file, const Array *array, int big_endian)
{
    enum { AT_ONCE = 8192 };
    size_t each = array_type_bytes(array->type);
    unsigned char buffer[AT_ONCE * sizeof(double)];
    for (uint64_t done = 0; done < array->count;) {
        uint64_t some = array->count - done < AT_ONCE ? array->count - done : AT_ONCE;
        array_copy_values(buffer, (const unsigned char *)array->value + done * each, some, each,
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
