/* test_simt_ways.c - reconvergence points of divergent lanes: each lane records the lanes that
 * execute with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/tests/simt_fixture.h"

/* A body has its lane in %r0, its place to write at in %rd1, and must write once or not at all. */
typedef struct Case {
    const char *name, *body;
    uint32_t lane, together; /* in this lane, who is with it */
} Case;

#define WRITE "activemask.b32 %r9; st.global.u32 [%rd1], %r9;\n"

static const Case ENDS[] = {
    {"an end in one way",
     "setp.lt.u32 %p1, %r0, 16; @!%p1 bra J;\n"
     "setp.lt.u32 %p2, %r0, 4; @!%p2 bra Z; st.global.u32 [%rd1], %r0; bra E;\n"
     "Z: add.u32 %r1, %r1, 1;\n"
     "J: " WRITE "E: ret;",
     20, 0xfffffff0},
    {"a guarded end in one way",
     "setp.lt.u32 %p1, %r0, 16; @!%p1 bra J;\n"
     "setp.lt.u32 %p2, %r0, 4; @%p2 bra E; add.u32 %r1, %r1, 1;\n"
     "J: " WRITE "E: ret;",
     20, 0xfffffff0},
    {"a loop that is left for one place in any turn",
     "L: setp.eq.u32 %p1, %r1, %r0; @%p1 bra F; add.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p2, %r1, 8; @%p2 bra L; bra E;\n"
     "F: " WRITE "E: ret;",
     3, 0xff},
    {"... whose end stands in front of it",
     "L: setp.eq.u32 %p1, %r1, %r0; @%p1 bra F; add.u32 %r1, %r1, 1;\n"
     "setp.lt.u32 %p2, %r1, 8; @%p2 bra L; ret;\n"
     "F: " WRITE "ret;",
     3, 0xff},
    {"an end in a way of each turn",
     "L: setp.lt.u32 %p1, %r0, 16; @!%p1 bra J;\n"
     "shr.u32 %r2, %r0, 1; setp.eq.u32 %p2, %r1, %r2; @%p2 bra E; add.u32 %r3, %r3, 1;\n"
     "J: setp.ne.u32 %p3, %r1, 4; @%p3 bra N; " WRITE "\n"
     "N: add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, 6; @%p4 bra L;\n"
     "E: ret;",
     20, 0xfffffc00},
    {"an end of each way, and two ways to one end",
     "setp.lt.u32 %p1, %r0, 8; @%p1 bra A;\n"
     "setp.lt.u32 %p2, %r0, 16; @%p2 bra W; " WRITE "bra E;\n"
     "A: setp.lt.u32 %p3, %r0, 4; @%p3 bra W; bra E;\n"
     "W: " WRITE "E: ret;",
     2, 0xff0f},
    {"no end",
     "setp.lt.u32 %p1, %r0, 16; @!%p1 bra J; add.u32 %r1, %r1, 1;\n"
     "J: " WRITE "ret;",
     20, 0xffffffff},
};

#define TRY  "atom.global.cas.b32 %r2, [%rd0+128], 0, 1;\n"
#define FREE "atom.global.exch.b32 %r4, [%rd0+128], 0;\n"

/* Numbers of stores after such loops on an H200: locked-lanes-2, locked-asleep-8. */
static const Case TRIES[] = {
    {"a lock that each lane wants",
     "L: " TRY "setp.eq.u32 %p1, %r2, 0; @!%p1 bra S; " FREE "bra J;\n"
     "S: nanosleep.u32 50;\n"
     "J: @!%p1 bra L; " WRITE "ret;",
     3, 0x8},
    {"a lock that one lane tries with pauses that grow",
     "setp.ne.u32 %p1, %r0, 0; @%p1 bra E;\n"
     "L: nanosleep.u32 %r1; add.u32 %r1, %r1, 8; " TRY "setp.ne.u32 %p2, %r2, 0; @%p2 bra L;\n" FREE
     "E: " WRITE "ret;",
     5, 0xfffffffe},
    {"... and gets at once",
     "setp.ne.u32 %p1, %r0, 0; @%p1 bra E;\n"
     "L: " TRY "setp.eq.u32 %p2, %r2, 0; @%p2 bra F;\n"
     "M: nanosleep.u32 %r1; add.u32 %r1, %r1, 8; " TRY "setp.ne.u32 %p3, %r2, 0; @%p3 bra M;\n"
     "F: " FREE "add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 1; @%p4 bra L;\n"
     "E: " WRITE "ret;",
     5, 0xffffffff},
};

static void case_check(SimtGpu *gpu, const Case *c)
{
    char text[2048];
    uint32_t got[33] = {0}; /* the last is a lock */
    uint64_t out = device_data(gpu, got, sizeof got);
    SimtResult result;
    snprintf(text, sizeof text,
             HEAD ".visible .entry k(.param .u64 out)\n{\n"
                  ".reg .b32 %%r<10>; .reg .b64 %%rd<3>; .reg .pred %%p<6>;\n"
                  "ld.param.u64 %%rd0, [out]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%rd2, %%r0, 4;\n"
                  "add.s64 %%rd1, %%rd0, %%rd2; mov.u32 %%r1, 0; mov.u32 %%r3, 0;\n%s\n}\n",
             c->body);
    if (run(gpu, text, 1, 32, 0, &out, sizeof out, &result) != 0)
        fail_msg("%s: %s", c->name, result.report.text);
    device_fetch(gpu, out, got, sizeof got);
    if (got[c->lane] != c->together)
        fail_msg("%s: lane %u is with 0x%08x, not 0x%08x", c->name, c->lane, got[c->lane],
                 c->together);
    simt_free(gpu, out, &(Error){""});
}

/* On a GPU, exited lanes are no longer waited for (BSYNC), and the others reconverge where they
 * would without those. */
static void lanes_that_end_are_not_waited_for(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
        case_check(gpu, &ENDS[i]);
    simt_close(gpu);
}

/* A lane that waits after a retry loop continues when the loop repeats. */
static void lanes_that_retry_are_not_waited_for(void **state)
{
    (void)state;
    SimtGpu *gpu = gpu_open(1, 0, 1);
    for (size_t i = 0; i < sizeof TRIES / sizeof *TRIES; i++)
        case_check(gpu, &TRIES[i]);
    simt_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_that_end_are_not_waited_for),
                                       cmocka_unit_test(lanes_that_retry_are_not_waited_for)};
    return cmocka_run_group_tests_name("simt ways", tests, NULL, NULL);
}
