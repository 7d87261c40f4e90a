#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "common/operation/random.h"

/* splitmix64 from seed 0 and the first xoshiro256** step, worked out by hand from the published
 * definitions: the state words are splitmix64's well-known first outputs, the result is rotl(s1 *
 * 5, 7) * 9. */
static void generator_follows_its_definition(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 0);
    assert_true(random.state[0] == 0xe220a8397b1dcdafu);
    assert_true(random.state[1] == 0x6e789e6aa1b965f4u);
    assert_true(random.state[2] == 0x06c45d188009454fu);
    assert_true(random.state[3] == 0xf88bb8a8724c81ecu);
    assert_true(random_next(&random) == 0x99ec5f36cb75f2b4u);
}

static void same_seed_same_numbers_other_seed_others(void **state)
{
    (void)state;
    Random a, b, c;
    random_seed(&a, 42);
    random_seed(&b, 42);
    random_seed(&c, 43);
    int differ = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t number = random_next(&a);
        assert_true(number == random_next(&b));
        differ += number != random_next(&c);
    }
    assert_int_equal(differ, 100);
    assert_true(random_os_seed() != random_os_seed());
}

static void range_is_inclusive_and_even(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 1);
    int seen[7] = {0};
    for (int i = 0; i < 70000; i++) {
        int number = random_range(&random, -3, 3);
        assert_in_range(number + 3, 0, 6);
        seen[number + 3]++;
    }
    /* Each count is binomial with mean 10000 and deviation 93: 500 is beyond five of them. */
    for (int i = 0; i < 7; i++)
        assert_true(abs(seen[i] - 10000) < 500);
    assert_int_equal(random_range(&random, 5, 5), 5);
    random_range(&random, INT_MIN, INT_MAX);
}

static void wide_floats_are_normal_signed_and_wide(void **state)
{
    (void)state;
    Random random;
    random_seed(&random, 2);
    int negative = 0, octave[12] = {0};
    for (int i = 0; i < 12000; i++) {
        float value = random_wide(&random);
        assert_true(isnormal(value));
        negative += value < 0;
        int exponent = ilogbf(value);
        assert_in_range(exponent + 6, 0, 11);
        octave[exponent + 6]++;
    }
    assert_true(negative > 5700 && negative < 6300);
    for (int i = 0; i < 12; i++)
        assert_true(octave[i] > 800);
    for (int i = 0; i < 1000; i++) {
        double unit = random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generator_follows_its_definition),
        cmocka_unit_test(same_seed_same_numbers_other_seed_others),
        cmocka_unit_test(range_is_inclusive_and_even),
        cmocka_unit_test(wide_floats_are_normal_signed_and_wide),
    };
    return cmocka_run_group_tests_name("conv/random", tests, NULL, NULL);
}
