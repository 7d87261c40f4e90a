/* test_maps.c - maps like the outputs of a ReLU: number and positions of zeros, reproducibility. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/operations/conv/maps.h"

enum { PLANES = 24, HEIGHT = 28, WIDTH = 31, COUNT = PLANES * HEIGHT * WIDTH };

static void make(float *x, int zeros, uint64_t seed)
{
    Random random;
    random_seed(&random, seed);
    for (int i = 0; i < COUNT; i++)
        x[i] = random_wide(&random);
    maps_rectify(x, PLANES, HEIGHT, WIDTH, zeros, &random);
}

static int zeros_of(const float *x, int count)
{
    int zeros = 0;
    for (int i = 0; i < count; i++) {
        assert_true(x[i] >= 0);
        zeros += x[i] == 0;
    }
    return zeros;
}

static void maps_have_the_requested_number_of_zeros(void **state)
{
    float *x = *state;
    for (int zeros = 0; zeros <= 100; zeros += 5) {
        make(x, zeros, 11);
        assert_int_equal(COUNT - zeros_of(x, COUNT), (COUNT * (100 - zeros) + 50) / 100);
    }
}

static void at_least_one_value_is_nonzero_except_at_100_percent(void **state)
{
    (void)state;
    Random random;
    float x[12];
    for (int zeros = 99; zeros <= 100; zeros++) {
        random_seed(&random, 3);
        for (int i = 0; i < 12; i++)
            x[i] = random_wide(&random);
        maps_rectify(x, 1, 3, 4, zeros, &random);
        assert_int_equal(zeros_of(x, 12), zeros == 99 ? 11 : 12);
    }
}

/* With 70 percent zeros at random positions, a neighbour of a zero is zero in 70 of 100 cases. */
static void zeros_are_clustered(void **state)
{
    float *x = *state;
    int pairs = 0, both = 0;
    make(x, 70, 5);
    for (int i = 0; i + 1 < COUNT; i++) {
        if (i % WIDTH == WIDTH - 1 || x[i] != 0) continue;
        pairs++;
        both += x[i + 1] == 0;
    }
    assert_true(both > 0.82 * pairs);
}

static void density_varies_between_maps(void **state)
{
    float *x = *state;
    int least = HEIGHT * WIDTH, most = 0;
    make(x, 70, 5);
    for (int plane = 0; plane < PLANES; plane++) {
        int zeros = zeros_of(x + plane * HEIGHT * WIDTH, HEIGHT * WIDTH);
        least = zeros < least ? zeros : least;
        most = zeros > most ? zeros : most;
    }
    assert_true(least < 0.55 * HEIGHT * WIDTH && most > 0.85 * HEIGHT * WIDTH);
}

static void a_seed_gives_the_same_maps(void **state)
{
    float *x = *state, *again = malloc(COUNT * sizeof *again);
    make(x, 60, 9);
    make(again, 60, 9);
    assert_memory_equal(x, again, COUNT * sizeof *x);
    make(again, 60, 10);
    assert_memory_not_equal(x, again, COUNT * sizeof *x);
    free(again);
}

static int memory_make(void **state)
{
    *state = malloc(COUNT * sizeof(float));
    return *state ? 0 : -1;
}

static int memory_free(void **state)
{
    free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_have_the_requested_number_of_zeros),
        cmocka_unit_test(at_least_one_value_is_nonzero_except_at_100_percent),
        cmocka_unit_test(zeros_are_clustered),
        cmocka_unit_test(density_varies_between_maps),
        cmocka_unit_test(a_seed_gives_the_same_maps),
    };
    return cmocka_run_group_tests(tests, memory_make, memory_free);
}
