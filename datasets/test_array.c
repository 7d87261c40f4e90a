/* test_array.c - IDX and NPY files: bytes written by hand, and all single-byte changes of some
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "datasets/array.h"

static char folder[64], path[128];

/* ---- bytes by hand ---- */

static const unsigned char idx_u8[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                       1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255};
static const unsigned char idx_i16[] = {0, 0, 0x0b, 1, 0, 0, 0, 2, 0x01, 0x02, 0xff, 0xfe};
static const unsigned char idx_f32[] = {0, 0, 0x0d, 0, 0xbf, 0xc0, 0, 0}; /* -1.5, no dimension */

static void expect_floats(const void *data, size_t bytes, int dimensions, const uint64_t *size,
                          const float *value)
{
    Array array;
    Error error = {""};
    if (array_parse("f", data, bytes, &array, &error)) fail_msg("%s", error.text);
    assert_int_equal(array.dimensions, dimensions);
    for (int i = 0; i < dimensions; i++)
        assert_int_equal(array.size[i], size[i]);
    float *got = array_floats(&array, &error);
    for (uint64_t i = 0; i < array.count; i++)
        assert_true(got[i] == value[i]);
    free(got);
    array_close(&array);
}

static void idx_is_big_endian(void **state)
{
    (void)state;
    expect_floats(idx_u8, sizeof idx_u8, 3, (uint64_t[]){2, 1, 3}, (float[]){1, 2, 3, 4, 5, 255});
    expect_floats(idx_i16, sizeof idx_i16, 1, (uint64_t[]){2}, (float[]){258, -2});
    expect_floats(idx_f32, sizeof idx_f32, 0, NULL, (float[]){-1.5f});
}

/* An NPY file of version 1.0 in NumPy's layout: dictionary, then values. */
static size_t npy(unsigned char *to, const char *dictionary, const void *value, size_t bytes)
{
    size_t length = strlen(dictionary);
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    to[8] = (unsigned char)(length & 255), to[9] = (unsigned char)(length >> 8);
    memcpy(to + 10, dictionary, length);
    memcpy(to + 10 + length, value, bytes);
    return 10 + length + bytes;
}

static void npy_of_both_orders(void **state)
{
    unsigned char file[256];
    (void)state;
    size_t bytes = npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
                       "\0\0\x80\x3f\0\0\xc0\xbf", 8);
    expect_floats(file, bytes, 1, (uint64_t[]){2}, (float[]){1, -1.5f});
    bytes = npy(file, "{\"shape\":(1,2),\"descr\":\">i2\",\"fortran_order\":False}",
                "\x01\x02\xff\xfe", 4);
    expect_floats(file, bytes, 2, (uint64_t[]){1, 2}, (float[]){258, -2});
    bytes = npy(file, "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "\x07", 1);
    expect_floats(file, bytes, 0, NULL, (float[]){7});
}

static void expect_refused(const void *data, size_t bytes, const char *words)
{
    Array array;
    Error error = {""};
    assert_int_equal(array_parse("f", data, bytes, &array, &error), -1);
    assert_null(array.value);
    if (!strstr(error.text, words)) fail_msg("\"%s\" has no \"%s\"", error.text, words);
}

static void oversized_data_are_rejected(void **state)
{
    unsigned char file[256];
    (void)state;
    expect_refused("\x1f\x8b\x08\x00gz", 6, "gunzip");
    expect_refused("", 0, "neither IDX nor NPY");
    expect_refused(idx_u8, sizeof idx_u8 - 1, "cut off");
    expect_refused(idx_u8, 15, "before their sizes");
    expect_refused("\0\0\x0a\0\0", 5, "no type");
    expect_refused("\0\0\x08\x09", 4, "at most 8");
    expect_refused("\0\0\x08\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, "GiB");
    memcpy(file, idx_u8, sizeof idx_u8);
    expect_refused(file, sizeof idx_u8 + 1, "two files in one");
    static const char *const dictionary[] = {
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,2)}",
    };
    for (size_t i = 0; i < sizeof dictionary / sizeof *dictionary; i++)
        expect_refused(file, npy(file, dictionary[i], "12345678", 8), "plain numbers");
    expect_refused("\x93NUMPY\x04\0\0\0\0\0\0", 13, "above 3");
    expect_refused("\x93NUMPY\x01\0\xff\xff{}", 12, "first line");
}

/* ---- files ---- */

/* A written file is read back, and equals the bytes above. */
static void written_files_are_read(void **state)
{
    float value[] = {0.5f, -0.f, 1e-40f, 3e38f, -7, 1};
    Array array = {.type = ARRAY_F32, .dimensions = 2, .size = {2, 3}, .count = 6, .value = value};
    int (*const write[])(const char *, const Array *, Error *) = {array_write_idx, array_write_npy};
    (void)state;
    for (int i = 0; i < 2; i++) {
        Array again;
        Error error = {""};
        if (write[i](path, &array, &error) || array_read(path, &again, &error))
            fail_msg("%s", error.text);
        assert_int_equal(again.type, ARRAY_F32);
        assert_int_equal(again.dimensions, 2);
        assert_int_equal(again.count, 6);
        assert_memory_equal(again.value, value, sizeof value);
        array_close(&again);
    }
}

static void nothing_half_written(void **state)
{
    int64_t value[1] = {1};
    Array array = {.type = ARRAY_I64, .dimensions = 1, .size = {1}, .count = 1, .value = value};
    Error error = {""};
    (void)state;
    remove(path);
    assert_int_equal(array_write_idx(path, &array, &error), -1);
    assert_non_null(strstr(error.text, "IDX has no i64"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(array_write_npy("/nowhere/file", &array, &error), -1);
    assert_int_equal(array_write_npy("/dev/full/x", &array, &error), -1);
    assert_int_equal(array_read("/nowhere/file", &array, &error), -1);
    assert_non_null(strstr(error.text, "/nowhere/file"));
}

/* Every byte changed to every value: read or rejected, never out of bounds (checked by ASan). */
static void damaged_files_are_rejected_or_read(void **state)
{
    unsigned char file[2][128];
    size_t bytes[2] = {sizeof idx_u8, 0};
    (void)state;
    memcpy(file[0], idx_u8, sizeof idx_u8);
    bytes[1] =
        npy(file[1], "{'descr': '<i2', 'fortran_order': False, 'shape': (2,2,), }", "12345678", 8);
    for (int f = 0; f < 2; f++)
        for (size_t at = 0; at < bytes[f]; at++) {
            unsigned char kept = file[f][at];
            for (int to = 0; to < 256; to++) {
                Array array;
                Error error = {""};
                file[f][at] = (unsigned char)to;
                unsigned char *exact = malloc(bytes[f]);
                memcpy(exact, file[f], bytes[f]);
                if (array_parse("f", exact, bytes[f], &array, &error))
                    assert_true(error.text[0] && !array.value);
                else
                    assert_non_null(array.value);
                array_close(&array);
                free(exact);
            }
            file[f][at] = kept;
        }
}

int main(void)
{
    strcpy(folder, "/tmp/array-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idx_is_big_endian),
        cmocka_unit_test(npy_of_both_orders),
        cmocka_unit_test(oversized_data_are_rejected),
        cmocka_unit_test(written_files_are_read),
        cmocka_unit_test(nothing_half_written),
        cmocka_unit_test(damaged_files_are_rejected_or_read),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    rmdir(folder);
    return failed;
}
