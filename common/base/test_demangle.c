#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/demangle.h"

static void names_are_read_off_their_mangling(void **state)
{
    static const char *const NAMES[][2] = {
        {"add", "add"},
        {"_Z4wildPf", "wild"},
        {"_ZL4wildPf", "wild"},
        {"_ZN4deep6kernelEPf", "kernel"},
        {"_ZN12_GLOBAL__N_16kernelEv", "kernel"},
        {"_Z10conv_tiledILi16EEvPKf", "conv_tiled"},
        {"_Z99short", "_Z99short"},
        {"_Z0x", "_Z0x"},
        {"_Z", "_Z"},
        {"_ZN", "_ZN"},
        {"_Z99999999999999999999999a", "_Z99999999999999999999999a"},
        {"", ""},
        {"a\033[31m", "a?[31m"}};
    char text[64], small[4];
    (void)state;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        demangle(NAMES[i][0], text, sizeof text);
        assert_string_equal(text, NAMES[i][1]);
    }
    demangle("_Z10conv_tiledv", small, sizeof small);
    assert_string_equal(small, "con");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_read_off_their_mangling)};
    return cmocka_run_group_tests_name("base/demangle", tests, NULL, NULL);
}
