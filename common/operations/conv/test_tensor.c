#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/operations/conv/tensor.h"

static const TensorExtent extent = {.n = 2, .c = 3, .h = 4, .w = 5};

/* Index of element (n,c,h,w), derived from the layout's name. */
static size_t index_of(Layout layout, size_t n, size_t c, size_t h, size_t w)
{
    if (layout == LAYOUT_NHWC) return ((n * 4 + h) * 5 + w) * 3 + c;
    if (layout == LAYOUT_CHWN) return ((c * 4 + h) * 5 + w) * 2 + n;
    return ((n * 3 + c) * 4 + h) * 5 + w;
}

static void conversion_moves_every_element(void **state)
{
    (void)state;
    enum { COUNT = 2 * 3 * 4 * 5 };
    float from[COUNT], to[COUNT];
    for (int i = 0; i < COUNT; i++)
        from[i] = (float)i;
    for (Layout a = LAYOUT_NCHW; a <= LAYOUT_CHWN; a++)
        for (Layout b = LAYOUT_NCHW; b <= LAYOUT_CHWN; b++) {
            tensor_convert(&extent, a, from, b, to);
            for (size_t i = 0; i < COUNT; i++) {
                size_t n = i / 60, c = i / 20 % 3, h = i / 5 % 4, w = i % 5;
                assert_true(to[index_of(b, n, c, h, w)] == from[index_of(a, n, c, h, w)]);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conversion_moves_every_element),
    };
    return cmocka_run_group_tests_name("conv/tensor", tests, NULL, NULL);
}
