#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parallel.h"

/* One byte, of one share, of nine megabytes, at either end and in the middle. */
static void large_arrays_are_copied_and_compared(void **state)
{
    (void)state;
    enum { BYTES = 9000001 };
    char *from = malloc(BYTES), *to = malloc(BYTES);
    assert_true(from && to);
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (char)(i * 2654435761u >> 13);
    memset(to, 0, BYTES);
    parallel_copy(to, from, BYTES);
    assert_memory_equal(to, from, BYTES);
    const size_t places[] = {0, 1, BYTES / 3, BYTES / 2, BYTES - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_true(parallel_equal(to, from, BYTES));
        to[places[i]] ^= 64;
        assert_false(parallel_equal(to, from, BYTES));
        to[places[i]] ^= 64;
    }
    parallel_copy(to, from, 0);
    assert_true(parallel_equal(to, "", 0));
    free(from);
    free(to);
}

static void add_share(void *context, int share)
{
    int *done = context;
    done[share]++;
}

static void every_share_is_processed_once(void **state)
{
    (void)state;
    for (int shares = 1; shares <= PARALLEL_MOST; shares += 21) {
        int done[PARALLEL_MOST] = {0};
        parallel_run(shares, add_share, done);
        for (int i = 0; i < PARALLEL_MOST; i++)
            assert_int_equal(done[i], i < shares);
    }
    assert_int_equal(parallel_shares(0.5, 1), 1);
}

/* A queue of work, and the shares that used it. */
typedef struct Heap {
    int left, came[PARALLEL_MOST];
} Heap;

static int heap_more(void *context)
{
    const Heap *heap = context;
    return __atomic_load_n(&heap->left, __ATOMIC_RELAXED) > 0;
}

static void heap_share(void *context, int share)
{
    Heap *heap = context;
    heap->came[share]++;
    while (__atomic_fetch_sub(&heap->left, 1, __ATOMIC_RELAXED) > 0)
        continue;
}

static void no_thread_starts_without_a_task(void **state)
{
    (void)state;
    for (int left = 0; left <= 1000000; left += 500000) {
        Heap heap = {.left = left};
        Parallel all = {heap_share, heap_more, &heap, .count = PARALLEL_MOST};
        parallel_begin(&all);
        heap_share(&heap, 0);
        parallel_end(&all);
        assert_true(heap.left <= 0);
        for (int i = 0; i < PARALLEL_MOST; i++)
            assert_in_range(heap.came[i], i == 0, left || i == 0);
    }
}

/* With a restriction as by taskset. */
static void cores_are_those_that_are_allowed(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_int_equal(parallel_cores(), CPU_COUNT(&all));
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(parallel_cores(), 1);
    assert_int_equal(parallel_shares(1e9, 1), 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_arrays_are_copied_and_compared),
        cmocka_unit_test(every_share_is_processed_once),
        cmocka_unit_test(no_thread_starts_without_a_task),
        cmocka_unit_test(cores_are_those_that_are_allowed),
    };
    return cmocka_run_group_tests_name("base/parallel", tests, NULL, NULL);
}
