/* test_conformance.c - every instruction form on the simulator, on each of the host's instruction
 * sets, compared with a GPU's results; and failures of the checker that must occur. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/conformance/form_run.h"
#include "common/simulator/conformance/judge.h"
#include "common/simulator/conformance/vectors.h"
#include "common/cuda/sim/sim_device.h"
#include "common/simulator/exec/exec.h"

enum { BATCH = 64 };

static FormTable table;
static uint32_t digest[8192]; /* digest of each form's results */
static Vectors vectors;

static int tables_open(void **state)
{
    Error error = {""};
    (void)state;
    if (forms_read("common/simulator/conformance/forms", &table, &error) == 0 &&
        vectors_read("common/simulator/conformance/vectors", &table, &vectors, &error) == 0)
        return 0;
    fprintf(stderr, "%s\n", error.text);
    return -1;
}

static int tables_close(void **state)
{
    (void)state;
    vectors_free(&vectors);
    forms_free(&table);
    return 0;
}

static Device *simulator_open(void)
{
    Error error = {""};
    SimDeviceOptions options = {
        .machine = "h200", .gpus_directory = "common/simulator/gpus", .threads = 1};
    Device *device = device_open_sim(&options, &error);
    if (!device) fail_msg("%s", error.text);
    return device;
}

/* 1 when form `i` ran and gave what it should; else prints why not. */
static int form_passes(uint32_t i, const FormRun *run)
{
    const Form *form = &table.form[i];
    Judgement judgement;
    Error error = {""};
    if (!run->value)
        error_set(&error, "%s.forms line %u: '%.300s' did not run: %s", form->group, form->line,
                  form->text, run->why);
    else if (!vectors.value[i])
        error_set(&error, "%s.forms line %u: '%.300s' has no golden vector", form->group,
                  form->line, form->text);
    else if (form_judge(form, vectors.value[i], run->value, &judgement, &error) == 0)
        return 1;
    print_error("%s\n", error.text);
    return 0;
}

/* All instruction sets give the same bits, approximate functions too. */
static void same_as_before(uint32_t i, const FormRun *run)
{
    const Form *form = &table.form[i];
    if (!run->value || i >= sizeof digest / sizeof *digest) return;
    uint32_t now = operands_digest(run->value, (size_t)form->results * form->lanes);
    if (digest[i] && digest[i] != now)
        fail_msg("'%s' gives other bits on another instruction set", form->text);
    digest[i] = now;
}

static void forms_on(int level)
{
    uint32_t failed = 0;
    exec_level = level;
    Device *device = simulator_open();
    for (uint32_t i = 0; i < table.count; i += BATCH) {
        FormRun run[BATCH];
        Error error = {""};
        uint32_t count = table.count - i < BATCH ? table.count - i : BATCH;
        if (forms_run(device, &table, i, count, run, &error) != 0) fail_msg("%s", error.text);
        for (uint32_t k = 0; k < count; k++) {
            failed += !form_passes(i + k, &run[k]);
            same_as_before(i + k, &run[k]);
            form_run_free(&run[k]);
        }
    }
    device->close(device);
    exec_level = 2;
    if (failed) fail_msg("%u of %u forms", failed, table.count);
}

static void forms_base(void **state)
{
    (void)state;
    forms_on(0);
}

static void forms_avx2(void **state)
{
    (void)state;
    forms_on(1);
}

static void forms_avx512(void **state)
{
    (void)state;
    forms_on(2);
}

/* ---- the checker ----------------------------------------------------------------------------- */
static uint32_t form_named(const char *text)
{
    for (uint32_t i = 0; i < table.count; i++)
        if (strcmp(table.form[i].text, text) == 0) return i;
    fail_msg("no form '%s'", text);
    return 0;
}

/* The golden vector of `text`, as if the simulator had given it with one bit of one lane
 * flipped. */
static int judged_with_flip(const char *text, uint32_t lane, int bit)
{
    uint32_t i = form_named(text);
    const Form *form = &table.form[i];
    Judgement judgement;
    Error error = {""};
    assert_non_null(vectors.value[i]);
    size_t bytes = (size_t)form->results * form->lanes * sizeof(uint64_t);
    uint64_t *got = malloc(bytes);
    assert_non_null(got);
    memcpy(got, vectors.value[i], bytes);
    assert_int_equal(form_judge(form, vectors.value[i], got, &judgement, &error), 0);
    got[lane] ^= 1ull << bit;
    int result = form_judge(form, vectors.value[i], got, &judgement, &error);
    if (result != 0) assert_non_null(strstr(error.text, text));
    free(got);
    return result;
}

static void a_flipped_bit_is_found(void **state)
{
    (void)state;
    assert_int_equal(judged_with_flip("add.u32 %d, %a, %b", 0, 0), -1);
    assert_int_equal(judged_with_flip("add.f32 %d, %a, %b", 31, 31), -1);
    assert_int_equal(judged_with_flip("setp.lt.s32 %d|%d1, %a, %b", 5, 0), -1);
    /* Lane 6 of sin is that of 1: its last bit may differ, the 12th may not; nor may a zero's. */
    assert_int_equal(judged_with_flip("sin.approx.f32 %d, %a", 6, 0), 0);
    assert_int_equal(judged_with_flip("sin.approx.f32 %d, %a", 6, 12), -1);
    assert_int_equal(judged_with_flip("rcp.approx.f32 %d, %a", 0, 31), -1);
}

static void tables_are_read_strictly(void **state)
{
    static const char *const BAD[][2] = {{"b32 <- b32 add.u32 %d, %a, 1", "want RESULTS"},
                                         {"b32 <- b33 : add.u32 %d, %a, 1", "b33"},
                                         {"b99 <- b32 : add.u32 %d, %a, 1", "b99"},
                                         {"b32 b32 : add.u32 %d, %a, 1", "want RESULTS"},
                                         {"b32 <- b32, about 3 : add.u32 %d, %a, 1", "tolerance"},
                                         {"b32 <- b32 : add.{u32 %d, %a, 1", "braces"},
                                         {"b32 <- b32 : {add,add}.u32 %d, %a, 1", "twice"}};
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        FormTable bad = {.count = 0};
        Error error = {""};
        assert_int_equal(values_parse(&bad.values, "b32 b32 bits = 0 1\n", &error), 0);
        assert_int_equal(forms_parse(&bad, "bad", BAD[i][0], &error), -1);
        assert_non_null(strstr(error.text, "bad.forms line 1"));
        if (!strstr(error.text, BAD[i][1])) fail_msg("%s: %s", BAD[i][0], error.text);
        forms_free(&bad);
    }
}

static void braces_are_expanded(void **state)
{
    FormTable own = {.count = 0};
    Error error = {""};
    (void)state;
    assert_int_equal(
        values_parse(&own.values, "u32 b32 bits = 0 1\nu64 b64 bits = 0 1 2\n", &error), 0);
    assert_int_equal(forms_parse(&own, "own",
                                 "# a comment\n$2 <- $2 $2 : {add,sub}.{u32,u64} %d, %a, %b\n"
                                 "u64 <- u32 u32 : mov.b64 %d, {%a, %b}\n",
                                 &error),
                     0);
    assert_int_equal(own.count, 5);
    assert_string_equal(own.form[2].text, "sub.u32 %d, %a, %b");
    assert_int_equal(own.form[3].result[0], VALUE_64);
    assert_string_equal(own.form[4].text, "mov.b64 %d, {%a, %b}");
    assert_int_equal(own.form[3].lanes, 32);
    forms_free(&own);
}

/* A vector without its form, or of other operands, is refused. */
static void outdated_vectors_are_rejected(void **state)
{
    FormTable other = {.count = 0};
    Vectors none;
    Error error = {""};
    (void)state;
    assert_int_equal(values_parse(&other.values, "u32 b32 bits = 0 1\n", &error), 0);
    assert_int_equal(
        forms_parse(&other, "integer", "u32 <- u32 u32 : add.u32 %d, %a, %b\n", &error), 0);
    assert_int_equal(vectors_read("common/simulator/conformance/vectors", &other, &none, &error),
                     -1);
    assert_non_null(strstr(error.text, "no table has this form"));
    vectors_free(&none);
    forms_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_base),
        cmocka_unit_test(forms_avx2),
        cmocka_unit_test(forms_avx512),
        cmocka_unit_test(a_flipped_bit_is_found),
        cmocka_unit_test(tables_are_read_strictly),
        cmocka_unit_test(braces_are_expanded),
        cmocka_unit_test(outdated_vectors_are_rejected),
    };
    return cmocka_run_group_tests_name("conformance", tests, tables_open, tables_close);
}
