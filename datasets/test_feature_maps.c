/* test_feature_maps.c - written files are read back; inconsistent ones are rejected with file and
 * line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/operations/conv/maps.h"
#include "datasets/feature_maps.h"

static char directory[] = "/tmp/feature-maps-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void refused(const char *list, const char *shape, const char *words)
{
    FeatureMaps maps;
    Error error = {""};
    put("file_list", list);
    put("conv_shape", shape);
    assert_int_equal(feature_maps_open(directory, &maps, &error), -1);
    if (!strstr(error.text, words)) fail_msg("\"%s\" is not in: %s", words, error.text);
}

static void unreadable(const char *text, const char *words)
{
    FeatureMaps maps;
    Error error = {""};
    put("file_list", "a\n");
    put("conv_shape", "1 2 2\n");
    put("a", text);
    assert_int_equal(feature_maps_open(directory, &maps, &error), 0);
    assert_null(feature_maps_read(&maps, 0, &error));
    if (!strstr(error.text, words)) fail_msg("\"%s\" is not in: %s", words, error.text);
}

static void generated_maps_are_read_back_to_the_bit(void **state)
{
    (void)state;
    enum { LAYERS = 3 };
    static const int size[LAYERS][3] = {{3, 9, 7}, {5, 4, 4}, {16, 2, 3}};
    FeatureMaps maps = {.layers = LAYERS}, again;
    Error error = {""};
    Random random;
    float *value[LAYERS];
    snprintf(maps.directory, sizeof maps.directory, "%s", directory);
    random_seed(&random, 1);
    for (int i = 0; i < LAYERS; i++) {
        struct FeatureLayer *layer = &maps.layer[i];
        layer->C = size[i][0], layer->H = size[i][1], layer->W = size[i][2];
        snprintf(layer->file, sizeof layer->file, "conv%d_1.txt", i + 1);
        int count = layer->C * layer->H * layer->W;
        value[i] = malloc(count * sizeof(float));
        for (int j = 0; j < count; j++)
            value[i][j] = random_wide(&random);
        maps_rectify(value[i], layer->C, layer->H, layer->W, 30 * i, &random);
    }
    assert_int_equal(feature_maps_write(&maps, (const float *const *)value, &error), 0);
    assert_int_equal(feature_maps_open(directory, &again, &error), 0);
    assert_int_equal(again.layers, LAYERS);
    for (int i = 0; i < LAYERS; i++) {
        float *back = feature_maps_read(&again, i, &error);
        assert_non_null(back);
        assert_string_equal(again.layer[i].file, maps.layer[i].file);
        assert_memory_equal(back, value[i], sizeof(float) * size[i][0] * size[i][1] * size[i][2]);
        free(back);
        free(value[i]);
    }
}

static void a_layer_is_found_by_its_path(void **state)
{
    (void)state;
    FeatureMaps maps;
    Error error = {""};
    char path[256];
    put("file_list", "a\nb\n");
    put("conv_shape", "1 2 2\n3 1 1\n");
    snprintf(path, sizeof path, "%s/b", directory);
    assert_int_equal(feature_maps_find(path, &maps, &error), 1);
    assert_int_equal(maps.layer[1].C, 3);
    snprintf(path, sizeof path, "%s/c", directory);
    assert_int_equal(feature_maps_find(path, &maps, &error), -1);
    assert_non_null(strstr(error.text, "file_list does not name 'c'"));
    assert_int_equal(feature_maps_find("/nonexistent/c", &maps, &error), -1);
    assert_non_null(strstr(error.text, "/nonexistent/file_list"));
    assert_int_equal(feature_maps_find("nowhere-to-be-found", &maps, &error), -1);
    assert_non_null(strstr(error.text, "./file_list"));
}

static void sizes_and_numbers_may_be_written_several_ways(void **state)
{
    (void)state;
    FeatureMaps maps;
    Error error = {""};
    put("file_list", "\na\r\n  b\nc\n\n");
    put("conv_shape", "(1, 2, 1, 3)\n[2 1 3]\n2x3\n");
    put("a", "1,2,3,-4e-3, 0 0\n");
    put("b", "1\n2\n3\n4\n5\n6");
    put("c", "0 0 0 0 0 1");
    assert_int_equal(feature_maps_open(directory, &maps, &error), 0);
    assert_int_equal(maps.layer[0].C, 2);
    assert_int_equal(maps.layer[2].C, 1);
    assert_int_equal(maps.layer[2].H, 2);
    float *a = feature_maps_read(&maps, 0, &error);
    assert_non_null(a);
    assert_true(a[3] == -4e-3f);
    assert_float_equal(feature_maps_sparsity(a, 6), 2. / 6, 1e-12);
    assert_float_equal(feature_maps_theta(0.5, 5, 4), 0.025, 1e-12);
    free(a);
}

static void oversized_data_are_rejected(void **state)
{
    (void)state;
    FeatureMaps maps;
    Error error = {""};
    assert_int_equal(feature_maps_open("/nonexistent", &maps, &error), -1);
    assert_non_null(strstr(error.text, "/nonexistent/file_list"));
    refused("", "1 2 2\n", "names no file");
    refused("../a\n", "1 2 2\n", "no plain file name");
    refused("a\nb\n", "1 2 2\n", "1 sizes for the 2 files");
    refused("a\n", "64\n", "conv_shape:1");
    refused("a\n", "1 2 -2\n", "conv_shape:1");
    refused("a\n", "8 1 2 2\n", "conv_shape:1");
    refused("a\n", "1 99999999999999999999 2\n", "conv_shape:1");
    refused("a\n", "9999 9999 9999\n", "at most 2^30");
    unreadable("1 2 3", "fewer than the 4 values");
    unreadable("1 2 3 4 5", "more than the 4 values");
    unreadable("1 2 three 4", "value 3 is no finite number");
    unreadable("1 nan 3 4", "value 2");
    unreadable("1 2 3 1e99", "value 4");
}

/* Bytes changed at random: a file is opened or rejected, and an opened one is read or rejected. */
static void damaged_files_are_rejected(void **state)
{
    (void)state;
    static const char *const good[][2] = {{"file_list", "a\nb\n"},
                                          {"conv_shape", "(1, 2, 2, 2)\n1 4 2\n"},
                                          {"a", "1 2 3 4 5 6 7 8\n"},
                                          {"b", "0 0 0 1e3 0 0 -2 .5\n"}};
    static const char letters[] = "0123456789 .,-+eExX()[]/\nabn\t%";
    Random random;
    Error error;
    random_seed(&random, 20261121);
    for (int round = 0; round < 2000; round++) {
        FeatureMaps maps;
        for (int i = 0; i < 4; i++) {
            char text[64];
            strcpy(text, good[i][1]);
            for (int changes = random_range(&random, 0, 2); changes > 0; changes--)
                text[random_range(&random, 0, (int)strlen(text) - 1)] =
                    letters[random_range(&random, 0, sizeof letters - 2)];
            put(good[i][0], text);
        }
        error.text[0] = '\0';
        if (feature_maps_open(directory, &maps, &error)) {
            assert_true(error.text[0]);
            continue;
        }
        for (int i = 0; i < maps.layers; i++) {
            float *value = feature_maps_read(&maps, i, &error);
            assert_true(value || error.text[0]);
            free(value);
        }
    }
}

static int directory_make(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_maps_are_read_back_to_the_bit),
        cmocka_unit_test(a_layer_is_found_by_its_path),
        cmocka_unit_test(sizes_and_numbers_may_be_written_several_ways),
        cmocka_unit_test(oversized_data_are_rejected),
        cmocka_unit_test(damaged_files_are_rejected),
    };
    return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
