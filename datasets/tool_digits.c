/* tool_digits.c - writes digits as IDX files with MNIST's names, so that they can replace
 * MNIST's. */
#include <stdio.h>
#include <stdlib.h>

#include "datasets/array.h"
#include "datasets/digits.h"
#include "datasets/set_options.h"

/* Writes `name`-images-idx3-ubyte and `name`-labels-idx1-ubyte, from a generator of their own. */
static int write_set(const char *directory, const char *name, uint64_t count, Random *parent,
                     Error *error)
{
    char path[1024];
    Random random;
    Array image = {.type = ARRAY_U8,
                   .dimensions = 3,
                   .size = {count, DIGIT_SIDE, DIGIT_SIDE},
                   .count = count * DIGIT_PIXELS,
                   .value = malloc(count * DIGIT_PIXELS + 1)};
    Array label = {.type = ARRAY_U8,
                   .dimensions = 1,
                   .size = {count},
                   .count = count,
                   .value = malloc(count + 1)};
    int rc = -1;
    random_child(parent, name, &random);
    if (image.value && label.value) {
        digits_generate(count, &random, image.value, label.value);
        snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte", directory, name);
        rc = array_write_idx(path, &image, error);
        snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte", directory, name);
        rc = rc ? rc : array_write_idx(path, &label, error);
    } else {
        error_set(error, "no memory for %llu images", (unsigned long long)count);
    }
    array_close(&image);
    array_close(&label);
    return rc;
}

int main(int argc, char **argv)
{
    SetOptions asked;
    Error error;
    Random random;
    if (set_options_read(argc, argv, 0, 1000000, &asked, &error)) {
        fprintf(stderr, "digits: %s\n", error.text);
        return 2;
    }
    random_seed(&random, asked.seed);
    if (write_set(asked.directory, "train", (uint64_t)asked.train, &random, &error) ||
        write_set(asked.directory, "t10k", (uint64_t)asked.test, &random, &error)) {
        fprintf(stderr, "digits: %s\n", error.text);
        return 1;
    }
    return 0;
}
