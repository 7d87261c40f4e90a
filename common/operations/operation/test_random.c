#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "common/operations/operation/random.h"

/* The keystream of an all-zero key, from RFC 7539's first test vectors (appendix A.1, blocks 0 and
 * 1), in words of eight bytes, little-endian. */
static void generator_is_chacha20(void **state)
{
    (void)state;
    Random random = {.words = 0};
    assert_true(random_next(&random) == 0x903df1a0ade0b876u);
    assert_true(random_next(&random) == 0x28bd8653e56a5d40u);
    while (random.words < 8)
        random_next(&random);
    assert_true(random_next(&random) == 0x7a385155bee7079fu);
    /* Across the boundary of a part: the same as one keystream. */
    while (random.words < RANDOM_WORDS)
        random_next(&random);
    Random later = {.words = RANDOM_WORDS};
    assert_true(random_next(&random) == random_next(&later));
    assert_true(random_next(&random) == random_next(&later));
}

/* A key depends on parent, name and count, not on numbers drawn from the parent. */
static void every_child_generator_differs(void **state)
{
    (void)state;
    Random a, b, child[4], same;
    random_seed(&a, 42);
    random_seed(&b, 42);
    random_child(&a, "x", &child[0]);
    random_next(&a);
    random_child(&a, "x", &child[1]);
    random_child(&b, "w", &child[2]);
    child[3] = a;
    random_child(&b, "x", &same);
    uint64_t first[4];
    for (int i = 0; i < 4; i++)
        first[i] = random_next(&child[i]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
    assert_true(random_next(&same) == first[1]); /* the second child, with the same name */
}

static void numbers_depend_on_the_seed_alone(void **state)
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

/* Starts in the middle of a part, crosses many, and draws afterwards. */
static void drawing_many_equals_drawing_one_by_one(void **state)
{
    enum { BEFORE = 5, MANY = 3 * (1 << 16) + 777 };
    float *value = malloc(MANY * sizeof *value);
    (void)state;
    assert_non_null(value);
    for (int before = 0; before <= BEFORE; before += BEFORE) {
        Random one, many;
        random_seed(&one, 7);
        random_seed(&many, 7);
        for (int i = 0; i < before; i++)
            assert_true(random_next(&one) == random_next(&many));
        random_wide_fill(&many, value, MANY);
        for (int i = 0; i < MANY; i++)
            assert_true(value[i] == random_wide(&one));
        for (int i = 0; i < RANDOM_WORDS; i++)
            assert_true(random_next(&one) == random_next(&many));
    }
    free(value);
}

/* Within a part, to its end, and across several. */
static void skipping_equals_drawing(void **state)
{
    static const int DRAWN[] = {0, 5, RANDOM_WORDS}, SKIPPED[] = {0, 3, 59, 64, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof DRAWN / sizeof *DRAWN; i++)
        for (size_t j = 0; j < sizeof SKIPPED / sizeof *SKIPPED; j++) {
            Random one, skips;
            random_seed(&one, 7);
            for (int k = 0; k < DRAWN[i]; k++)
                random_next(&one);
            skips = one;
            for (int k = 0; k < SKIPPED[j]; k++)
                random_next(&one);
            random_skip(&skips, (uint64_t)SKIPPED[j]);
            for (int k = 0; k < 2 * RANDOM_WORDS; k++)
                assert_true(random_next(&skips) == random_next(&one));
        }
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
        cmocka_unit_test(generator_is_chacha20),
        cmocka_unit_test(every_child_generator_differs),
        cmocka_unit_test(numbers_depend_on_the_seed_alone),
        cmocka_unit_test(drawing_many_equals_drawing_one_by_one),
        cmocka_unit_test(skipping_equals_drawing),
        cmocka_unit_test(range_is_inclusive_and_even),
        cmocka_unit_test(wide_floats_are_normal_signed_and_wide),
    };
    return cmocka_run_group_tests_name("conv/random", tests, NULL, NULL);
}
