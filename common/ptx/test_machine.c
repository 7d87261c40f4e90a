/* test_machine.c - what is read off single machine instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/ptx/machine.h"

enum { FFMA = 0x223, FFMA_THIRD_GIVEN = 0x423, FFMA_SECOND_GIVEN = 0x823, FADD = 0x221 };
enum { FADD_GIVEN = 0x421, SUM = 0x210, EXIT = 0x94d, NOTHING = 255, ALWAYS = 7 };
enum { KEEPS_FIRST = 1, KEEPS_SECOND = 2, KEEPS_THIRD = 4 };

typedef struct Case {
    uint32_t op;
    uint8_t operand[3], keeps;
    uint8_t fetches; /* that are expected */
} Case;

static void ins_write(unsigned char *bytes, const Case *c)
{
    uint64_t low = c->op | ALWAYS << 12 | (uint64_t)c->operand[0] << 24 |
                   (uint64_t)c->operand[1] << 32,
             high = c->operand[2] | (uint64_t)c->keeps << 58;
    memcpy(bytes, &low, sizeof low), memcpy(bytes + 8, &high, sizeof high);
}

/* A bank of registers, the even or the odd ones, gives one a cycle; what is kept at hand comes from
 * neither. */
static void operands_of_one_bank_come_one_after_another(void **state)
{
    (void)state;
    static const Case CASES[] = {
        {FFMA, {2, 3, 4}, 0, 1},
        {FFMA, {2, 4, 6}, 0, 2},
        {FFMA, {2, 2, 3}, 0, 0},                           /* one register twice */
        {FFMA, {2, 3, NOTHING}, 0, 0},                     /* zero lies in no bank */
        {FFMA, {9, 11, 10}, KEEPS_FIRST | KEEPS_THIRD, 1}, /* the first of many ... */
        {FFMA, {9, 13, 10}, KEEPS_FIRST, 0},               /* ... finds two at hand */
        {FADD, {9, 15, 0}, 0, 0},                          /* no third operand */
        {FFMA, {9, 15, 11}, 0, 1},                         /* the first is still there */
        {FFMA, {9, 15, 10}, 0, 1},                         /* no more */
        {FFMA_THIRD_GIVEN, {5, 0, 8}, KEEPS_SECOND, 0},    /* the third's bits: the second */
        {FFMA_THIRD_GIVEN, {4, 0, 8}, 0, 0},               /* which was kept */
        {FFMA_THIRD_GIVEN, {4, 0, 8}, 0, 1},
        {FFMA_SECOND_GIVEN, {4, 8, 8}, 0, 1},
        {FADD, {4, 8, 0}, 0, 1},
        {FADD_GIVEN, {4, 8, 0}, 0, 0},
        {SUM, {2, 4, 6}, 0, 0}, /* integers have a pipe that is no faster */
        {EXIT, {0}, 0, 0},
    };
    enum { COUNT = sizeof CASES / sizeof *CASES };
    unsigned char bytes[COUNT * 16];
    uint32_t line[COUNT] = {0};
    size_t work = 1 << 20;
    MachineCode code = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        ins_write(bytes + i * 16, &CASES[i]);
    MachineText text = {.bytes = bytes, .count = COUNT, .sm = 90, .line = line};
    machine_read(&text, &work, &code);
    assert_int_equal(code.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        if (code.ins[i].fetches != CASES[i].fetches)
            fail_msg("instruction %u: %u", i, code.ins[i].fetches);
    machine_free(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_of_one_bank_come_one_after_another),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
