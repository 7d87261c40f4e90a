#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/conv/tensor.h"

static const TensorExtent extent = {.n = 2, .c = 3, .h = 4, .w = 5};

static void index_is_the_nested_formula(void **state)
{
    (void)state;
    assert_int_equal(tensor_index(LAYOUT_NCHW, &extent, 1, 2, 3, 4), ((1 * 3 + 2) * 4 + 3) * 5 + 4);
    assert_int_equal(tensor_index(LAYOUT_NHWC, &extent, 1, 2, 3, 4), ((1 * 4 + 3) * 5 + 4) * 3 + 2);
    assert_int_equal(tensor_index(LAYOUT_CHWN, &extent, 1, 2, 3, 4), ((2 * 4 + 3) * 5 + 4) * 2 + 1);
}

static void conversion_keeps_every_element(void **state)
{
    (void)state;
    enum { COUNT = 2 * 3 * 4 * 5 };
    float from[COUNT], to[COUNT], back[COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = (float)i;
    for (Layout a = LAYOUT_NCHW; a <= LAYOUT_CHWN; a++)
        for (Layout b = LAYOUT_NCHW; b <= LAYOUT_CHWN; b++) {
            tensor_convert(&extent, a, from, b, to);
            assert_true(to[tensor_index(b, &extent, 1, 0, 2, 3)] ==
                        from[tensor_index(a, &extent, 1, 0, 2, 3)]);
            tensor_convert(&extent, b, to, a, back);
            assert_memory_equal(from, back, sizeof from);
        }
}

static void names_are_found_and_strangers_refused(void **state)
{
    (void)state;
    Error error;
    Layout layout;
    assert_int_equal(layout_find("nhwc", &layout, &error), 0);
    assert_int_equal(layout, LAYOUT_NHWC);
    assert_string_equal(layout_name(LAYOUT_CHWN), "CHWN");
    assert_int_equal(layout_find("HWCN", &layout, &error), -1);
    assert_non_null(strstr(error.text, "\"HWCN\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_is_the_nested_formula),
        cmocka_unit_test(conversion_keeps_every_element),
        cmocka_unit_test(names_are_found_and_strangers_refused),
    };
    return cmocka_run_group_tests_name("conv/tensor", tests, NULL, NULL);
}
