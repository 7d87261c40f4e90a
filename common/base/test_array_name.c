/* test_array_name.c - addresses as elements, inside of an array and near it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/array_name.h"

static const ArrayName w = {"w", 4, {6, 4, 5, 5}, {'k', 'c', 'r', 's'}};

static void expect(const ArrayName *array, int64_t offset, const char *wanted)
{
    char text[256];
    array_place(array, offset, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void elements_have_their_index(void **state)
{
    (void)state;
    expect(&w, 0, "w at (k,c,r,s) = (0,0,0,0)");
    expect(&w, 4 * 599, "w at (k,c,r,s) = (5,3,4,4)");
    expect(&w, 4 * (2 * 100 + 3 * 25 + 1 * 5 + 4) + 3, "w at (k,c,r,s) = (2,3,1,4)");
}

static void the_distance_outside_an_array_is_reported(void **state)
{
    (void)state;
    expect(&w, 4 * 600, "right past the end of w[6][4][5][5], at (k,c,r,s) = (6,0,0,0)");
    expect(&w, 4 * 612, "12 floats past the end of w[6][4][5][5], at (k,c,r,s) = (6,0,2,2)");
    expect(&w, -4, "1 float before the start of w[6][4][5][5]");
    expect(&w, -1, "1 float before the start of w[6][4][5][5]");
    expect(&w, -12, "3 floats before the start of w[6][4][5][5]");
}

static void one_axis_is_enough(void **state)
{
    (void)state;
    const ArrayName line = {"a", 1, {7}, {'i'}};
    expect(&line, 4 * 6, "a at (i) = (6)");
    expect(&line, 4 * 9, "2 floats past the end of a[7], at (i) = (9)");
    expect(&line, 4 * (INT64_C(4294967296) - 3),
           "4294967286 floats past the end of a[7]: the index is -3, which became unsigned");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_their_index),
        cmocka_unit_test(the_distance_outside_an_array_is_reported),
        cmocka_unit_test(one_axis_is_enough),
    };
    return cmocka_run_group_tests_name("base/array_name", tests, NULL, NULL);
}
