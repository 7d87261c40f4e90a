/* test_sass.c - what is read off single machine instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/sass/sass.h"

enum {
    FFMA = SASS_WITH_FORM(SASS_FFMA, 1),
    FFMA_THIRD_GIVEN = SASS_WITH_FORM(SASS_FFMA, 2),
    FFMA_SECOND_GIVEN = SASS_WITH_FORM(SASS_FFMA, 4),
    FADD = SASS_WITH_FORM(SASS_FADD, 1)
};
enum {
    FADD_GIVEN = SASS_WITH_FORM(SASS_FADD, 2),
    SUM = SASS_WITH_FORM(SASS_IADD3, 1),
    PRODUCT = SASS_WITH_FORM(SASS_IMAD, 1),
    WIDE_PRODUCT = SASS_WITH_FORM(SASS_IMAD_WIDE, 1),
    COMPARISON = SASS_WITH_FORM(SASS_ISETP, 1),
    EXIT = SASS_WITH_FORM(SASS_EXIT, 4),
    NOTHING = 255,
    ALWAYS = 7
};
enum { KEEPS_FIRST = 1, KEEPS_SECOND = 2, KEEPS_THIRD = 4 };

typedef struct Case {
    uint32_t op;
    uint8_t operand[3], keeps;
    uint8_t fetches[2]; /* expected fetches from each bank */
} Case;

static void ins_write(unsigned char *bytes, const Case *c)
{
    uint64_t low = c->op | ALWAYS << 12 | (uint64_t)c->operand[0] << 24 |
                   (uint64_t)c->operand[1] << 32,
             high = c->operand[2] | (uint64_t)c->keeps << 58;
    memcpy(bytes, &low, sizeof low), memcpy(bytes + 8, &high, sizeof high);
}

/* Even and odd registers come from two banks; operands in the reuse cache come from neither. */
static void operands_come_from_two_banks(void **state)
{
    (void)state;
    static const Case CASES[] = {
        {FFMA, {2, 3, 4}, 0, {2, 1}},
        {FFMA, {2, 4, 6}, 0, {3, 0}},
        {FFMA, {2, 2, 3}, 0, {1, 1}},                           /* one register twice */
        {FFMA, {2, 3, NOTHING}, 0, {1, 1}},                     /* zero lies in no bank */
        {FFMA, {9, 11, 10}, KEEPS_FIRST | KEEPS_THIRD, {1, 2}}, /* the first of many ... */
        {FFMA, {9, 13, 10}, KEEPS_FIRST, {0, 1}},               /* ... finds two at hand */
        {FADD, {9, 15, 0}, 0, {0, 1}},                          /* no third operand */
        {FFMA, {9, 15, 11}, 0, {0, 3}},                         /* the first is gone */
        {FFMA, {2, 5, 7}, KEEPS_FIRST, {1, 2}},
        {FFMA, {2, 2, 5}, KEEPS_FIRST, {1, 1}}, /* at hand for one place and not for another */
        {FFMA, {NOTHING, 5, 5}, 0, {0, 1}},     /* has nothing in the first's place */
        {FFMA, {2, 5, 6}, KEEPS_FIRST, {1, 1}},
        {SUM, {2, 4, 6}, 0, {2, 0}},                         /* integers use the same banks */
        {FFMA, {2, 5, 5}, 0, {1, 1}},                        /* gone with any instruction between */
        {FFMA_THIRD_GIVEN, {5, 0, 8}, KEEPS_SECOND, {1, 1}}, /* the third's bits: the second */
        {FFMA_THIRD_GIVEN, {4, 0, 8}, 0, {1, 0}},            /* which was kept */
        {FFMA_THIRD_GIVEN, {4, 0, 8}, 0, {2, 0}},
        {FFMA_SECOND_GIVEN, {4, 8, 8}, 0, {2, 0}},
        {FADD, {4, 8, 0}, 0, {2, 0}},
        {FADD_GIVEN, {4, 8, 0}, 0, {1, 0}},
        {EXIT, {0}, 0, {0, 0}},
        {PRODUCT, {3, 5, 7}, 0, {0, 3}},
        {WIDE_PRODUCT, {2, 4, 6}, 0, {3, 1}}, /* adds two registers */
        {COMPARISON, {3, 5, 7}, 0, {0, 2}},
    };
    enum { COUNT = sizeof CASES / sizeof *CASES };
    unsigned char bytes[COUNT * 16];
    uint32_t line[COUNT] = {0};
    size_t work = 1 << 20;
    SassCode code = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        ins_write(bytes + i * 16, &CASES[i]);
    SassText text = {.bytes = bytes, .count = COUNT, .sm = 90, .line = line};
    sass_decode(&text, &work, &code);
    assert_int_equal(code.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        if (memcmp(code.ins[i].fetches, CASES[i].fetches, 2))
            fail_msg("instruction %u: %u and %u", i, code.ins[i].fetches[0],
                     code.ins[i].fetches[1]);
    sass_free(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_come_from_two_banks),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
