/* test_pool.c - cached device memory, with a fake device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "common/apps/serve/pool.h"

/* ---- fake device with limited memory ------------------------------------------------------ */

enum { ROOM = 1000 };

static size_t used;
static int allocations;

cudaError_t __real_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __real_cudaFree(void *pointer);
cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __wrap_cudaFree(void *pointer);

cudaError_t __real_cudaMalloc(void **pointer, size_t bytes)
{
    if (used + bytes > ROOM) return cudaErrorMemoryAllocation;
    size_t *block = malloc(sizeof *block);
    *block = bytes;
    used += bytes;
    allocations++;
    *pointer = block;
    return cudaSuccess;
}

cudaError_t __real_cudaFree(void *pointer)
{
    if (pointer) used -= *(size_t *)pointer;
    free(pointer);
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

/* ---- properties --------------------------------------------------------------------------- */

static void *take(size_t bytes)
{
    void *pointer = NULL;
    assert_int_equal(__wrap_cudaMalloc(&pointer, bytes), cudaSuccess);
    return pointer;
}

static void give(void *pointer)
{
    assert_int_equal(__wrap_cudaFree(pointer), cudaSuccess);
}

/* Another stream may still use memory that was freed in this call. */
static void freed_memory_is_reused_when_the_device_is_idle(void **state)
{
    (void)state;
    void *one = take(100);
    give(one);
    void *two = take(100);
    assert_ptr_not_equal(one, two);
    give(two);
    pool_settle();
    allocations = 0;
    void *three = take(100), *four = take(80);
    assert_true((three == one && four == two) || (three == two && four == one));
    assert_int_equal(allocations, 0);
    give(three), give(four);
    pool_settle();
}

static void the_smallest_sufficient_buffer_is_returned(void **state)
{
    (void)state;
    void *large = take(300), *small = take(150), *between = take(200);
    give(large), give(small), give(between);
    pool_settle();
    assert_ptr_equal(take(120), small);
    assert_ptr_equal(take(201), large);
    give(small), give(large);
    pool_settle();
}

/* 850 bytes are cached; freeing them makes 900 available. */
static void cached_buffers_are_released_when_memory_is_short(void **state)
{
    (void)state;
    assert_int_equal(used, 850);
    void *all = take(900);
    assert_int_equal(used, 900);
    void *more = NULL;
    assert_int_equal(__wrap_cudaMalloc(&more, 900), cudaErrorMemoryAllocation);
    give(all);
    pool_settle();
    assert_int_equal(used, 900);
}

static void freeing_null_does_nothing(void **state)
{
    (void)state;
    give(NULL);
    assert_int_equal(used, 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_memory_is_reused_when_the_device_is_idle),
        cmocka_unit_test(the_smallest_sufficient_buffer_is_returned),
        cmocka_unit_test(cached_buffers_are_released_when_memory_is_short),
        cmocka_unit_test(freeing_null_does_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
