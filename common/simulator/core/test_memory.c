/* Copies transfer the initialisation state; the device heap has a limited number of places, and
 * finds a freed one without a search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/simulator/core/gpu.h"

static uint32_t noise = 1;

static uint32_t below(uint32_t most)
{
    noise = noise * 1664525 + 1013904223;
    return (noise >> 8) % most;
}

/* Against one byte after the other, where the ranges overlap and where they begin at odd bits. */
static void definedness_moves_with_a_copy(void **state)
{
    (void)state;
    enum { BYTES = 1000 };
    Memory memory;
    Error error;
    uint64_t at;
    unsigned char written[BYTES], moved[BYTES];
    assert_int_equal(memory_open(&memory, 1 << 20, 1, &error), 0);
    assert_int_equal(memory_alloc(&memory, BYTES, &at, NULL, &error), 0);
    for (int turn = 0; turn < 300; turn++) {
        uint32_t bytes = below(BYTES / 2), from = below(BYTES - bytes), to = below(BYTES - bytes);
        for (uint32_t i = 0; i < BYTES; i++) {
            written[i] = moved[i] = (unsigned char)(below(3) > 0);
            memory_mark(&memory, at + i, 1, written[i]);
        }
        memcpy(moved + to, written + from, bytes);
        memory_marks_copy(&memory, at + to, at + from, bytes);
        for (uint32_t i = 0; i < BYTES; i++)
            assert_int_equal(memory_is_written(&memory, at + i, 1), moved[i]);
    }
    memory_close(&memory);
}

static SimtGpu *gpu_open(uint64_t heap)
{
    Error error;
    SimtGpu *gpu = calloc(1, sizeof *gpu);
    assert_non_null(gpu);
    assert_int_equal(memory_open(&gpu->memory, 1ull << 32, 1, &error), 0);
    gpu->heap.limit = heap;
    assert_int_equal(heap_open(gpu, &error), 0);
    return gpu;
}

static void gpu_close(SimtGpu *gpu)
{
    memory_close(&gpu->memory);
    free(gpu);
}

static void freed_slots_are_reused_in_order(void **state)
{
    (void)state;
    enum { SIZES = 40 };
    int again;
    uint64_t address[SIZES];
    SimtGpu *gpu = gpu_open(1 << 20);
    Allocation *a;
    for (uint32_t i = 0; i < SIZES; i++) {
        a = heap_alloc(gpu, i, &again); /* 0 bytes have an address to free, too */
        assert_true(a && !again);
        address[i] = a->address;
        assert_int_equal(heap_free(gpu, a->address), HEAP_FREE_DONE);
        assert_int_equal(heap_free(gpu, a->address), HEAP_FREE_TWICE);
    }
    for (uint32_t bytes = 20000; bytes; bytes /= 20) { /* until all space was given out */
        while ((a = heap_alloc(gpu, bytes, &again)) && !again)
            heap_free(gpu, a->address);
        assert_true(a && again);
        heap_free(gpu, a->address);
    }
    for (uint32_t i = 0; i < 3; i++) { /* sizes of 17 to 32 bytes: the order is that of their
                                        * frees */
        a = heap_alloc(gpu, 32 - i, &again);
        assert_true(again && a->address == address[17 + i]);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t bytes = 1 + below(20000);
        a = heap_alloc(gpu, bytes, &again);
        assert_true(a && again && a->room >= bytes && a->bytes == bytes);
        assert_int_equal(heap_free(gpu, a->address), HEAP_FREE_DONE);
    }
    assert_null(heap_alloc(gpu, 100000, &again)); /* all space is cut into smaller places */
    gpu_close(gpu);
}

static void a_heap_has_a_fixed_number_of_slots(void **state)
{
    (void)state;
    int again;
    uint32_t places = 0;
    SimtGpu *gpu = gpu_open(1ull << 30);
    Allocation *a, *last = NULL;
    while ((a = heap_alloc(gpu, 1, &again)) && !again)
        last = a, places++;
    assert_null(a);
    assert_int_equal(places, 1 << 20);
    assert_int_equal(heap_free(gpu, last->address), HEAP_FREE_DONE);
    assert_ptr_equal(heap_alloc(gpu, 9, &again), last);
    assert_true(again);
    gpu_close(gpu);
}

static void a_restored_heap_returns_the_same_slots(void **state)
{
    (void)state;
    enum { BLOCKS = 50 };
    int again;
    uint64_t address[BLOCKS];
    SimtGpu *gpu = gpu_open(1 << 20);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            Allocation *a = heap_alloc(gpu, 7 * i, &again);
            assert_true(a && !again && !a->freed);
            if (round) assert_int_equal(a->address, address[i]);
            address[i] = a->address;
            if (i % 3 == 0) assert_int_equal(heap_free(gpu, a->address), HEAP_FREE_DONE);
        }
        heap_restore(gpu);
        assert_int_equal(heap_free(gpu, address[1]), HEAP_FREE_TWICE);
    }
    /* Another size than before: a new place, after all others. */
    assert_true(heap_alloc(gpu, 5000, &again)->address > address[BLOCKS - 1]);
    assert_true(heap_alloc(gpu, 1, &again)->address > address[BLOCKS - 1] + 5000);
    gpu_close(gpu);
}

/* With any number of leaks, the oldest are reported. */
static void many_leaks_are_reported_together(void **state)
{
    enum { MANY = 100000, SECONDS = 3 };
    (void)state;
    Memory memory;
    Error error;
    char text[400], want[400];
    uint64_t at, first[2] = {0};
    assert_int_equal(memory_open(&memory, 1ull << 32, 0, &error), 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(memory_alloc(&memory, 100, &at, NULL, &error), 0);
        if (i < 2) first[i] = at;
    }
    assert_int_equal(memory_free(&memory, first[0], &error), 0);
    clock_t begin = clock();
    assert_int_equal(memory_leaks(&memory, text, sizeof text), MANY - 1);
    assert_true(clock() - begin < SECONDS * CLOCKS_PER_SEC);
    snprintf(want, sizeof want, "100 bytes at 0x%llx (allocation 2), ",
             (unsigned long long)first[1]);
    assert_memory_equal(text, want, strlen(want));
    assert_non_null(strstr(text, "(allocation 5)"));
    assert_null(strstr(text, "(allocation 6)"));
    memory_close(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_leaks_are_reported_together),

        cmocka_unit_test(definedness_moves_with_a_copy),
        cmocka_unit_test(freed_slots_are_reused_in_order),
        cmocka_unit_test(a_heap_has_a_fixed_number_of_slots),
        cmocka_unit_test(a_restored_heap_returns_the_same_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
