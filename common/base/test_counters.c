#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/base/counters.h"

/* The struct contains exactly the list, and each counter is added to itself only. */
static void every_counter_is_added_to_its_own(void **state)
{
    enum { COUNT = sizeof(Counters) / sizeof(uint64_t) };
    Counters sum = {0};
    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        Counters one = {0};
        ((uint64_t *)(void *)&one)[i] = i + 1;
        counters_add(&sum, &one);
        counters_add(&sum, &one);
    }
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(((uint64_t *)(void *)&sum)[i], 2 * (i + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_counter_is_added_to_its_own)};
    return cmocka_run_group_tests_name("base/counters", tests, NULL, NULL);
}
