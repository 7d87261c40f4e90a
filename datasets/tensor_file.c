#include "datasets/tensor_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array.h"

/* Destination and number of a file's floats. */
typedef struct Wanted {
    const char *path, *name;
    float *value;
    size_t count;
} Wanted;

static int wrong_count(const Wanted *wanted, const char *found, Error *error)
{
    return error_set(error, "%s has %s numbers; %s has %zu", wanted->path, found, wanted->name,
                     wanted->count);
}

/* Reads the numbers of a text, up to its end. */
static int read_text(FILE *file, const Wanted *wanted, Error *error)
{
    char word[64], found[32];
    size_t read = 0;
    for (int got; (got = fscanf(file, "%63s", word)) == 1; read++) {
        char *end;
        float value = strtof(word, &end);
        if (*end || !isfinite(value))
            return error_set(error, "%s: '%s', number %zu, is no number", wanted->path, word,
                             read + 1);
        if (read == wanted->count) return wrong_count(wanted, "more", error);
        wanted->value[read] = value;
    }
    snprintf(found, sizeof found, "%zu", read);
    return read == wanted->count ? 0 : wrong_count(wanted, found, error);
}

static int read_array(const Wanted *wanted, Error *error)
{
    Array array;
    char found[32];
    if (array_read(wanted->path, &array, error)) return -1;
    snprintf(found, sizeof found, "%llu", (unsigned long long)array.count);
    float *value = NULL;
    int status = array.count == wanted->count ? 0 : wrong_count(wanted, found, error);
    if (!status && !(value = array_floats(&array, error))) status = -1;
    if (value) memcpy(wanted->value, value, wanted->count * sizeof *value);
    free(value);
    array_close(&array);
    return status;
}

static int read_file(const Wanted *wanted, Error *error)
{
    FILE *file = fopen(wanted->path, "r");
    if (!file) return error_set(error, "%s: %s", wanted->path, strerror(errno));
    /* IDX starts with a zero byte, NPY with 0x93; no text does. */
    int first = getc(file);
    rewind(file);
    int text = first != EOF && (isprint(first) || isspace(first));
    int status = text ? read_text(file, wanted, error) : 0;
    fclose(file);
    return text ? status : read_array(wanted, error);
}

int tensor_read(const char *path, const char *name, const Operation *operation,
                const Problem *problem, float *const *tensor, Error *error)
{
    TensorShape shape[OPERATION_TENSORS];
    int tensors = operation->tensors(problem, shape);
    for (int i = 0; i < tensors; i++)
        if (!strcmp(shape[i].name, name) && shape[i].role == TENSOR_INPUT)
            return read_file(&(Wanted){path, name, tensor[i], tensor_count(&shape[i])}, error);
    return error_set(error, "%s has no %s to read from a file", operation->name,
                     strcmp(name, "w") ? name : "weights");
}

int tensor_write(const char *path, const Operation *operation, const Problem *problem,
                 const float *output, Error *error)
{
    TensorShape shape[OPERATION_TENSORS];
    int tensors = operation->tensors(problem, shape);
    for (int i = 0; i < tensors; i++) {
        if (shape[i].role != TENSOR_OUTPUT) continue;
        /* Not changed: array_write_npy only reads. */
        Array array = {.type = ARRAY_F32,
                       .dimensions = shape[i].rank,
                       .count = tensor_count(&shape[i]),
                       .value = (void *)(uintptr_t)output};
        for (int k = 0; k < shape[i].rank; k++)
            array.size[k] = shape[i].dim[k];
        return array_write_npy(path, &array, error);
    }
    return error_set(error, "%s has no output to write", operation->name);
}
