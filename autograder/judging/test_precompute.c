/* test_precompute.c - precomputed cases equal those computed directly, and each is used by its own
 * case only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/judging/precompute.h"
#include "common/operations/catalog/operations.h"

enum { CASES = 4, NONE = 2 }; /* NONE: index of a case without an operation */

static const char *const shapes[CASES] = {"N=2 C=3 H=9 W=8 K=4 R=3 S=2 pad=1 stride=1",
                                          "N=1 C=2 H=7 W=7 K=3 R=1 S=1 pad=0 stride=1", "",
                                          "N=3 C=1 H=5 W=6 K=2 R=2 S=2 pad=0 stride=2"};

static void fill_list(PrecomputeCase list[CASES])
{
    Error error;
    memset(list, 0, CASES * sizeof *list);
    for (int i = 0; i < CASES; i++) {
        random_seed(&list[i].random, (uint64_t)i + 1);
        if (i == NONE) continue;
        list[i].operation = operation_find("conv_forward");
        assert_int_equal(list[i].operation->parse(shapes[i], &list[i].problem, &error), 0);
    }
}

static void assert_same(const Expected *precomputed, const PrecomputeCase *item)
{
    Error error;
    Expected *now =
        expected_make(item->operation, &item->problem, PRECISION_FP32, &item->random, &error);
    assert_non_null(now);
    const size_t outputs = now->workload.outputs;
    assert_int_equal(precomputed->workload.outputs, outputs);
    for (int t = 0; t < now->workload.tensors; t++)
        if (now->workload.tensor[t])
            assert_memory_equal(precomputed->workload.tensor[t], now->workload.tensor[t],
                                tensor_count(&now->workload.shape[t]) * sizeof(float));
    assert_memory_equal(precomputed->judgement.expected, now->judgement.expected,
                        outputs * sizeof(double));
    assert_memory_equal(precomputed->judgement.terms, now->judgement.terms,
                        outputs * sizeof(double));
    assert_memory_equal(&precomputed->random, &now->random, sizeof now->random);
    /* The judgement refers to these tensors, not to a freed copy. */
    assert_ptr_equal(precomputed->judgement.tensor,
                     (const float *const *)precomputed->workload.tensor);
    expected_free(now);
}

/* The thread starts with the first case of its order.  A caller that is too early takes the case
 * from the thread and computes it. */
static void test_the_same_in_any_order(void **state)
{
    (void)state;
    static const int order[CASES] = {3, NONE, 0, 1};
    PrecomputeCase list[CASES];
    int made = 0;
    for (int try = 0; try < 100 && made < 3; try++) {
        fill_list(list);
        Precompute *precomputed = precompute_begin(list, order, CASES, PRECISION_FP32);
        assert_non_null(precomputed);
        usleep(10000u << (try < 10 ? try : 10));
        made = 0;
        for (int i = 0; i < CASES; i++) {
            Expected *expected = precompute_take(precomputed, i);
            made += expected != NULL;
            if (i == NONE) assert_null(expected);
            if (expected) assert_same(expected, &list[i]);
            expected_free(expected);
            assert_null(precompute_take(precomputed, i)); /* now the caller computes it */
        }
        precompute_end(precomputed);
    }
    assert_int_equal(made, 3);
}

/* An early end leaks nothing (checked by ASan) and waits for at most one case. */
static void test_ended_early(void **state)
{
    (void)state;
    static const int order[CASES] = {0, 1, NONE, 3};
    PrecomputeCase list[CASES];
    fill_list(list);
    for (unsigned wait = 0; wait < 2000; wait += 400) {
        Precompute *precomputed = precompute_begin(list, order, CASES, PRECISION_FP32);
        usleep(wait);
        precompute_end(precomputed);
    }
    assert_null(precompute_take(NULL, 0));
    precompute_end(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_in_any_order),
        cmocka_unit_test(test_ended_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
