#include "datasets/weights_input.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array.h"

static int wrong_count(const char *path, const char *found, size_t count, Error *error)
{
    return error_set(error, "%s has %s numbers; w has %zu", path, found, count);
}

/* Numbers of a text, up to its end. */
static int read_text(FILE *file, const char *path, float *w, size_t count, Error *error)
{
    char word[64], found[32];
    size_t read = 0;
    for (int got; (got = fscanf(file, "%63s", word)) == 1; read++) {
        char *end;
        float value = strtof(word, &end);
        if (*end || !isfinite(value))
            return error_set(error, "%s: '%s', number %zu, is no number", path, word, read + 1);
        if (read == count) return wrong_count(path, "more", count, error);
        w[read] = value;
    }
    snprintf(found, sizeof found, "%zu", read);
    return read == count ? 0 : wrong_count(path, found, count, error);
}

static int read_array(const char *path, float *w, size_t count, Error *error)
{
    Array array;
    char found[32];
    if (array_read(path, &array, error)) return -1;
    snprintf(found, sizeof found, "%llu", (unsigned long long)array.count);
    float *value = NULL;
    int status = array.count == count ? 0 : wrong_count(path, found, count, error);
    if (!status && !(value = array_floats(&array, error))) status = -1;
    if (value) memcpy(w, value, count * sizeof *w);
    free(value);
    array_close(&array);
    return status;
}

static int read_file(const char *path, float *w, size_t count, Error *error)
{
    FILE *file = fopen(path, "r");
    if (!file) return error_set(error, "%s: %s", path, strerror(errno));
    /* IDX begins with a zero, NPY with 0x93: neither begins a text. */
    int first = getc(file);
    rewind(file);
    int text = first != EOF && (isprint(first) || isspace(first));
    int status = text ? read_text(file, path, w, count, error) : 0;
    fclose(file);
    return text ? status : read_array(path, w, count, error);
}

int weights_read(const char *path, const Operation *operation, const Problem *problem,
                 float *const *tensor, Error *error)
{
    TensorShape shape[OPERATION_TENSORS];
    int tensors = operation->tensors(problem, shape);
    for (int i = 0; i < tensors; i++)
        if (!strcmp(shape[i].name, "w") && shape[i].role == TENSOR_INPUT)
            return read_file(path, tensor[i], tensor_count(&shape[i]), error);
    return error_set(error, "%s has no weights to read from a file", operation->name);
}
