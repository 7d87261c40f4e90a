/* fuzz_array.c - libFuzzer target for IDX and NPY files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error error = {""};
    Array array;
    if (array_parse("file", data, size, &array, &error)) {
        if (!error.text[0] || strchr(error.text, '\n') || array.value) abort();
        return 0;
    }
    uint64_t count = 1;
    for (int i = 0; i < array.dimensions; i++)
        count *= array.size[i];
    if (count != array.count || count * array_type_bytes(array.type) > size) abort();
    float *value = array_floats(&array, &error);
    if (!value) abort();
    free(value);
    array_close(&array);
    return 0;
}
