#include "common/base/array_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add(char *text, size_t bytes, const char *format, int64_t number)
{
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, format, number);
}

/* "w[6][4][5][5]" */
static void say_sizes(const ArrayName *array, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", array->name);
    for (uint32_t i = 0; i < array->rank; i++)
        add(text, bytes, "[%" PRId64 "]", (int64_t)array->dim[i]);
}

/* "(k,c,r,s) = (6,0,2,2)": the outermost index takes any excess. */
static void say_index(const ArrayName *array, uint64_t element, char *text, size_t bytes)
{
    uint64_t inner = 1;
    *text = 0;
    for (uint32_t i = 0; i < array->rank; i++)
        add(text, bytes, i ? ",%c" : "(%c", array->axis[i]);
    for (uint32_t i = 1; i < array->rank; i++)
        inner *= array->dim[i];
    for (uint32_t i = 0; i < array->rank; i++) {
        add(text, bytes, i ? ",%" PRId64 : ") = (%" PRId64, (int64_t)(element / inner));
        element %= inner;
        if (i + 1 < array->rank) inner /= array->dim[i + 1];
    }
    add(text, bytes, ")", 0);
}

void array_place(const ArrayName *array, int64_t offset, char *text, size_t bytes)
{
    uint64_t count = 1;
    char sizes[128], index[128];
    for (uint32_t i = 0; i < array->rank; i++)
        count *= array->dim[i];
    say_sizes(array, sizes, sizeof sizes);
    if (offset < 0) {
        const int64_t before = (ARRAY_ELEMENT_BYTES - 1 - offset) / ARRAY_ELEMENT_BYTES;
        snprintf(text, bytes, "%" PRId64 " float%s before the start of %s", before,
                 before == 1 ? "" : "s", sizes);
        return;
    }
    uint64_t element = (uint64_t)offset / ARRAY_ELEMENT_BYTES;
    say_index(array, element, index, sizeof index);
    if (element < count)
        snprintf(text, bytes, "%s at %s", array->name, index);
    else if (element == count)
        snprintf(text, bytes, "right past the end of %s, at %s", sizes, index);
    else if (element <= UINT32_MAX && element > INT32_MAX) /* blockIdx.y is unsigned */
        snprintf(text, bytes,
                 "%" PRIu64 " floats past the end of %s: the index is %" PRId64
                 ", which became unsigned",
                 element - count, sizes, (int64_t)element - (INT64_C(1) << 32));
    else
        snprintf(text, bytes, "%" PRIu64 " float%s past the end of %s, at %s", element - count,
                 element - count == 1 ? "" : "s", sizes, index);
}
