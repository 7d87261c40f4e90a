/* test_simt_streams.c - what loads and stores take of the L2, and how long loads wait while DRAM is
 * busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

#define FIRST                                                                                      \
    HEAD ".visible .entry k(.param .u64 data)\n{\n"                                                \
         ".reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .pred %p<4>;\n"              \
         "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"

/* Cycles of one block of `threads` threads on each SM. */
static uint64_t cycles_of(const char *body, uint32_t threads, int l2_bytes)
{
    Error error = {""};
    SimtOptions options = {.threads = 1, .count = 1};
    SimtMachine machine = SMALL;
    SimtResult result;
    machine.l2_bytes_per_cycle = l2_bytes;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    assert_non_null(gpu);
    uint64_t data = device_data(gpu, NULL, 64u << 20);
    char *text = malloc(strlen(FIRST) + strlen(body) + 100);
    assert_non_null(text);
    sprintf(text, "%s%s\nret;\n}\n", FIRST, body);
    if (run(gpu, text, SMALL.sms, threads, 0, &data, sizeof data, &result) != 0)
        fail_msg("%s", result.report.text);
    free(text);
    simt_close(gpu);
    return result.cycles;
}

enum { WARPS = 8, TURNS = 50 };

/* Cycles of one store of each of `warps` warps, or of several words one after the other: the words
 * of neighbouring threads are `apart` bytes apart. Each iteration writes another of eight places,
 * so that no place is written again before its line has left. The L2 takes 2 cycles for a
 * sector. */
static double warps_store_cycles(uint32_t warps, uint32_t threads, uint32_t apart, uint32_t words)
{
    char body[2000], *at = body;
    uint64_t cycles[2];
    for (uint32_t more = 0; more < 2; more++, at = body) {
        at += sprintf(at,
                      "mad.lo.u32 %%r3, %%r2, 256, %%r1;\ndiv.u32 %%r3, %%r3, %u;\n"
                      "mul.wide.u32 %%rd2, %%r3, %u;\n"
                      "add.u64 %%rd2, %%rd1, %%rd2;\nmov.u32 %%r4, 0;\nTURN:\n"
                      "and.b32 %%r5, %%r4, 7;\nmul.wide.u32 %%rd3, %%r5, %u;\n"
                      "add.u64 %%rd3, %%rd2, %%rd3;\n",
                      threads, apart, SMALL.sms * 256 * apart);
        for (uint32_t i = 0; i < words; i++)
            at += sprintf(at, "st.global.f32 [%%rd3+%u], %%f1;\n", 4 * i);
        sprintf(at,
                "add.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, %u;\n"
                "@%%p1 bra TURN;\n",
                TURNS << more);
        cycles[more] = cycles_of(body, 32 * warps, 64);
    }
    return (double)(cycles[1] - cycles[0]) / (TURNS * warps);
}

static double shared_store_cycles(uint32_t threads, uint32_t apart, uint32_t words)
{
    return warps_store_cycles(WARPS, threads, apart, words);
}

static double store_cycles(uint32_t apart, uint32_t words)
{
    return shared_store_cycles(1, apart, words);
}

/* 2 cycles per sector, 2.2 per line, and 1 for each partial sector. */
static void parts_of_sectors_take_longer(void **state)
{
    (void)state;
    double whole = store_cycles(4, 1), parts = store_cycles(32, 1), pairs = store_cycles(64, 1);
    assert_in_range((uint64_t)(whole * 10), 97, 107);
    assert_in_range((uint64_t)(parts), 112, 117);
    assert_in_range((uint64_t)(pairs), 129, 134);
}

/* Eight lanes that store the same word write four bytes, and not all of its sector. */
static void lanes_at_one_word_write_it_once(void **state)
{
    (void)state;
    double own = store_cycles(4, 1), same = shared_store_cycles(8, 32, 1);
    assert_in_range((uint64_t)(10 * (same - own)), 38, 42);
}

/* With records of four or six words of four warps, 16 and 24 lines wait at once, and each is sent
 * once, fully written. With eight words, 32 lines would have to wait, and each is sent separately.
 * An H200 sends 0.25 of the sectors of four words, and 0.94 of those of eight
 * (docs/data/h200/stores.tsv, rec-...-how3-...-132x128). */
static void stores_are_merged_while_the_buffer_has_space(void **state)
{
    (void)state;
    double four = warps_store_cycles(4, 1, 16, 4), six = warps_store_cycles(4, 1, 24, 6),
           eight = warps_store_cycles(4, 1, 32, 8);
    assert_in_range((uint64_t)four, 39, 43);
    assert_in_range((uint64_t)six, 59, 64);
    assert_in_range((uint64_t)eight, 112 * 8, 117 * 8);
}

/* Cycles of one load of a warp that bypasses the L1 and hits in an L2 of `l2_bytes` bytes per
 * cycle; the words are `apart` bytes apart. */
static double load_cycles(uint32_t apart, int l2_bytes)
{
    char body[1000];
    uint64_t cycles[2];
    for (uint32_t more = 0; more < 2; more++) {
        snprintf(body, sizeof body,
                 "mad.lo.u32 %%r3, %%r2, 256, %%r1;\nmul.wide.u32 %%rd2, %%r3, %u;\n"
                 "add.u64 %%rd2, %%rd1, %%rd2;\nmov.u32 %%r4, 0;\n"
                 "TURN: ld.volatile.global.f32 %%f1, [%%rd2];\nadd.u32 %%r4, %%r4, 1;\n"
                 "setp.lt.u32 %%p1, %%r4, %u;\n@%%p1 bra TURN;\n",
                 apart, TURNS << more);
        cycles[more] = cycles_of(body, 32 * WARPS, l2_bytes);
    }
    return (double)(cycles[1] - cycles[0]) / (TURNS * WARPS);
}

/* A line with one requested sector takes 1.1 cycles on the path to one SM. If all SMs request
 * lines, it takes the time of 1.5 sectors of a fully requested line. */
static void lines_take_longer_than_their_sectors(void **state)
{
    (void)state;
    double whole = load_cycles(16, 64), single = load_cycles(128, 64),
           wide = load_cycles(128, 8192);
    assert_in_range((uint64_t)(whole * 10), 32 / 2 * 20 - 2, 32 / 2 * 20 + 4);
    assert_in_range((uint64_t)(single * 10), 32 * 30 - 2, 32 * 30 + 10);
    assert_in_range((uint64_t)(wide * 10), 32 * 11 - 2, 32 * 11 + 15);
}

/* 131,072 words, each to one of `sectors` sectors, in random order. */
static uint64_t spread_cycles(uint32_t sectors)
{
    char body[1000];
    snprintf(body, sizeof body,
             "mad.lo.u32 %%r3, %%r2, 512, %%r1;\nmov.u32 %%r4, 0;\n"
             "TURN: mul.lo.u32 %%r5, %%r3, 2654435761;\nshr.u32 %%r5, %%r5, 7;\n"
             "and.b32 %%r5, %%r5, %u;\nmul.wide.u32 %%rd2, %%r5, 32;\n"
             "add.u64 %%rd2, %%rd1, %%rd2;\nst.global.f32 [%%rd2], %%f1;\n"
             "add.u32 %%r3, %%r3, 2048;\nadd.u32 %%r4, %%r4, 1;\n"
             "setp.lt.u32 %%p1, %%r4, 64;\n@%%p1 bra TURN;\n",
             sectors - 1);
    return cycles_of(body, 512, 256);
}

/* The L2 of 1 MB cannot hold many partially written sectors. Each such sector opens a row of DRAM
 * twice, which takes 2 cycles in this case; four SMs send a line each in 3.5. */
static void evicted_sectors_open_dram_rows(void **state)
{
    (void)state;
    uint64_t stays = spread_cycles(1 << 11), goes = spread_cycles(1 << 18);
    assert_in_range(stays / 1000, 131 * 35 / 40, 131 * 40 / 40);
    assert_in_range(goes / 1000, 131 * 19 / 10, 131 * 24 / 10);
}

/* One warp executes dependent loads from DRAM, while another one writes 16 sectors every 50 cycles,
 * which occupy DRAM for 20. A load finds at most the sectors of one earlier store in the queue, but
 * all parts of DRAM are busy to that degree. */
static void loads_wait_while_dram_is_busy(void **state)
{
    enum { LOADED = 40, STORED = 20 };
    const char *both = "mov.u32 %r4, 0;\nmov.u32 %r5, %r2;\nsetp.ge.u32 %p2, %r1, 32;\n"
                       "@%p2 bra WRITE;\nLOAD: mul.wide.u32 %rd2, %r5, 32768;\n"
                       "add.u64 %rd2, %rd1, %rd2;\nld.global.u32 %r6, [%rd2];\n"
                       "add.u32 %r5, %r5, %r6;\nadd.u32 %r5, %r5, 4;\nadd.u32 %r4, %r4, 1;\n"
                       "setp.lt.u32 %p1, %r4, 40;\n@%p1 bra LOAD;\nret;\n"
                       "WRITE: mad.lo.u32 %r3, %r2, 32, %r1;\nmul.wide.u32 %rd3, %r3, 16;\n"
                       "add.u64 %rd3, %rd1, %rd3;\nNEXT: add.u64 %rd3, %rd3, 4096;\n"
                       "st.global.v4.f32 [%rd3+16777216], {%f1, %f1, %f1, %f1};\n"
                       "add.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f2;\n"
                       "add.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f2;\n"
                       "add.f32 %f1, %f1, %f2;\nadd.f32 %f1, %f1, %f2;\n"
                       "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 400;\n@%p1 bra NEXT;\n";
    (void)state;
    uint64_t alone = cycles_of(both, 32, 256), busy = cycles_of(both, 64, 256);
    assert_in_range((busy - alone) / LOADED, 3 * STORED, 8 * STORED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_sectors_take_longer),
        cmocka_unit_test(lanes_at_one_word_write_it_once),
        cmocka_unit_test(stores_are_merged_while_the_buffer_has_space),
        cmocka_unit_test(lines_take_longer_than_their_sectors),
        cmocka_unit_test(evicted_sectors_open_dram_rows),
        cmocka_unit_test(loads_wait_while_dram_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
