/* test_wavefronts.c - vector accesses to shared memory with inactive lanes: values of the counter
 * in an H200's L1 (l1tex__data_pipe_lsu_wavefronts_mem_shared). The source page of ncu often shows
 * fewer of them, and sometimes more, because it computes as if the active lanes were adjacent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/simulator/core/core.h"
#include "common/simulator/traffic/retries.h"
#include "common/simulator/traffic/wavefronts.h"

/* Which vector a lane wants. */
typedef enum Way { SAME, OWN, PAIRS, TWOS, FOURS, EIGHTHS, THREES } Way;

static uint32_t place(Way way, uint32_t lane)
{
    switch (way) {
    case SAME:
        return 0;
    case OWN:
        return lane;
    case PAIRS:
        return lane / 2;
    case TWOS:
        return lane % 2 + lane / 4 * 2;
    case FOURS:
        return lane % 4;
    case EIGHTHS:
        return lane % 4 * 8;
    default:
        return 61 + lane % 4 % 3;
    }
}

static const struct {
    uint32_t mask, bytes;
    Way way;
    int store;
    uint32_t passes;
} CASE[] = {{0x11111111, 16, THREES, 0, 2},   {0x77777777, 16, THREES, 0, 4},
            {0x99999999, 16, THREES, 0, 2},   {0xaaaaaaaa, 16, THREES, 0, 2},
            {0xffffffff, 16, THREES, 0, 4},   {0x55555555, 16, OWN, 0, 4},
            {0x000003ff, 16, OWN, 0, 2},      {0xa700ad11, 16, OWN, 0, 3},
            {0xffffff80, 16, PAIRS, 0, 2},    {0x80c14076, 16, TWOS, 0, 2},
            {0x52ffa06f, 16, FOURS, 0, 4},    {0x20822537, 16, SAME, 0, 2},
            {0xf0000000, 16, TWOS, 0, 1},     {0x66666666, 16, EIGHTHS, 0, 4},
            {0xb05d42e0, 16, EIGHTHS, 0, 11}, {0x1cffffff, 16, EIGHTHS, 0, 15},
            {0x11111111, 8, OWN, 0, 2},       {0x7c7677af, 8, PAIRS, 0, 1},
            {0xa7944cf2, 8, EIGHTHS, 0, 4},   {0x55555555, 16, OWN, 1, 4}};

static void inactive_lanes_take_no_wavefronts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        uint32_t offset[LANES], needed;
        for (uint32_t lane = 0; lane < LANES; lane++)
            offset[lane] = place(CASE[i].way, lane) * CASE[i].bytes;
        uint32_t passes =
            wavefronts_work_out(offset, CASE[i].mask, CASE[i].bytes, CASE[i].store, &needed);
        if (passes != CASE[i].passes) fail_msg("case %zu: %u, not %u", i, passes, CASE[i].passes);
    }
}

/* Copies past the L1 of rows of `wide` 16-byte chunks. Their places are mixed by an exclusive or
 * with a number, with the row's or with that of each two rows (docs/data/h200/copies.tsv). */
enum { ROW = 16, TWO_ROWS };

static const struct {
    uint32_t wide, by, passes;
} MIXED[] = {{2, 0, 16}, {2, 1, 16}, {2, ROW, 16}, {4, 0, 8},        {4, 1, 8},
             {4, 2, 8},  {4, 3, 8},  {4, ROW, 8},  {4, TWO_ROWS, 8}, {8, 1, 4},
             {8, 4, 4},  {8, 7, 4},  {8, ROW, 4},  {8, TWO_ROWS, 4}};

static void permuted_segments_of_a_row_have_no_conflicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof MIXED / sizeof *MIXED; i++) {
        uint32_t to[LANES], wide = MIXED[i].wide, needed;
        uint64_t from[LANES];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t row = lane / wide, by = MIXED[i].by == ROW        ? row
                                             : MIXED[i].by == TWO_ROWS ? row / 2
                                                                       : MIXED[i].by;
            to[lane] = (row * wide + (lane % wide ^ by % wide)) * 16;
            from[lane] = row * 1024 + lane % wide * 16;
        }
        uint32_t passes = copy_wavefronts(to, from, ~0u, &needed);
        if (passes != MIXED[i].passes) fail_msg("case %zu: %u, not %u", i, passes, MIXED[i].passes);
    }
}

/* Failed iterations of `warps` warps that add to `steps` rows of words one after the other, all to
 * the same, or each to its own; `barriers` times. */
static uint64_t failed_retries(uint32_t warps, uint32_t steps, int own, uint32_t barriers)
{
    Retried retried = {0};
    for (uint32_t b = 0; b < barriers; b++)
        for (uint32_t i = 0; i < warps * steps; i++) {
            uint32_t offset[LANES], warp = i / steps, row = own ? i : i % steps;
            AtomicPasses alone;
            for (uint32_t lane = 0; lane < LANES; lane++)
                offset[lane] = (row * LANES + lane) * 4;
            atomic_loop(offset, ~0u, ~0u, 4, &alone);
            retry_note(&retried, warp, offset, ~0u, ~0u, 4, &alone);
        }
    retries_play(&retried);
    uint64_t rounds = retried.failed.rounds;
    assert_int_equal(retried.failed.loads, rounds);
    assert_int_equal(retried.failed.swaps, 2 * rounds);
    retries_close(&retried);
    return rounds;
}

/* One of the warps that start together succeeds at a time. After that, they are staggered: on an
 * H200, layernorm-slope (eight warps at 16 rows) has 28 to 30 failed iterations per block. */
static void warps_that_contend_for_a_word_retry(void **state)
{
    (void)state;
    assert_int_equal(failed_retries(1, 4, 0, 1), 0);
    assert_int_equal(failed_retries(8, 4, 1, 1), 0);
    assert_int_equal(failed_retries(2, 1, 0, 1), 1);
    assert_int_equal(failed_retries(8, 1, 0, 1), 7 + 6 + 5 + 4 + 3 + 2 + 1);
    assert_int_equal(failed_retries(2, 1, 0, 3), 3);
    assert_in_range(failed_retries(8, 16, 0, 1), 28, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inactive_lanes_take_no_wavefronts),
        cmocka_unit_test(permuted_segments_of_a_row_have_no_conflicts),
        cmocka_unit_test(warps_that_contend_for_a_word_retry)};
    return cmocka_run_group_tests_name("wavefronts", tests, NULL, NULL);
}
