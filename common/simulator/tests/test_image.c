#include "common/simulator/launch/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char ONE[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry one()\n{\nret;\n}\n";
static const char TWO[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry two()\n{\nret;\n}\n";

static const Image *take(const char *text)
{
    Error error;
    const Image *image = image_take(text, strlen(text), &error);
    assert_non_null(image);
    return image;
}

static void same_bytes_are_read_once(void **state)
{
    (void)state;
    char copy[sizeof ONE];
    memcpy(copy, ONE, sizeof ONE);
    const Image *image = take(ONE), *again = take(copy), *other = take(TWO);
    assert_ptr_equal(image, again);
    assert_ptr_not_equal(image, other); /* as long, and another kernel */
    assert_string_equal(image->ptx->function[0].name, "one");
    assert_string_equal(other->ptx->function[0].name, "two");
    memset(copy, 'x', sizeof copy); /* the caller may change its own copy */
    assert_ptr_equal(take(ONE), image);
    for (int i = 0; i < 3; i++)
        image_leave(image);
    image_leave(other);
}

static void the_last_image_and_those_in_use_stay_cached(void **state)
{
    (void)state;
    const Image *image = take(ONE);
    image_leave(image);
    assert_ptr_equal(take(ONE), image);
    const Image *other = take(TWO);
    image_leave(other);
    assert_string_equal(image->ptx->function[0].name, "one");
    image_leave(image);
}

static void unreadable_images_report_an_error_each_time(void **state)
{
    (void)state;
    static const char BROKEN[] = ".version 8.0\n.target sm_75\n.address_size 64\n.entry x( {";
    for (int i = 0; i < 2; i++) {
        Error error = {""};
        assert_null(image_take(BROKEN, strlen(BROKEN), &error));
        assert_non_null(strstr(error.text, "PTX line"));
    }
    image_leave(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_are_read_once),
        cmocka_unit_test(the_last_image_and_those_in_use_stay_cached),
        cmocka_unit_test(unreadable_images_report_an_error_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
