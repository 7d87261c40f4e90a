#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/base/error.h"

static void message_is_formatted_and_cut(void **state)
{
    (void)state;
    Error error;
    assert_int_equal(error_set(&error, "line %d: %s", 7, "bad"), -1);
    assert_string_equal(error.text, "line 7: bad");
    error_set(&error, "%5000d", 1);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(error_set(NULL, "nobody listens"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(message_is_formatted_and_cut)};
    return cmocka_run_group_tests_name("base/error", tests, NULL, NULL);
}
