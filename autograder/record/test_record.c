#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "autograder/record/record.h"

static Record *sample(void)
{
    Record *record = calloc(1, sizeof *record);
    strcpy(record->lab, "04-tiled");
    strcpy(record->title, "Tiles \"with\" halo");
    strcpy(record->engine, "sim");
    strcpy(record->unit, "cycles");
    record->seed = UINT64_MAX - 4; /* more than a double or a signed integer can represent */
    record->seconds = 1.25;
    record->compiler = strdup("conv.cu(3): error\n");
    record->cases = 2;
    RecordCase *first = &record->item[0], *second = &record->item[1];
    strcpy(first->name, "lenet-c1");
    first->points = first->possible = 10;
    first->cost.cycles = 123456789012345;
    first->cost.grid[2] = 7;
    first->cost.registers = 40;
    first->speed = (RecordSpeed){.verdict = SPEED_SCORED,
                                 .baseline = 3000,
                                 .student = 1000,
                                 .reference = 900,
                                 .s = 3,
                                 .points = 12.5,
                                 .possible = 15};
    strcpy(second->name, "hidden 1");
    second->hidden = 1;
    second->verdict = CASE_WRONG;
    strcpy(second->fault, "tile-edge");
    strcpy(second->text, "wrong at \303\227 16");
    second->worst = NAN;
    second->possible = 10;
    record->predictions = 2;
    record->prediction[0] = (RecordPrediction){.name = "blocks",
                                               .answered = 1,
                                               .answer = 384,
                                               .measured = 1,
                                               .truth = 400,
                                               .points = 1,
                                               .possible = 4};
    record->prediction[1] =
        (RecordPrediction){.name = "bytes", .measured = 1, .truth = 77, .possible = 3};
    return record;
}

static void forget(Record *record)
{
    record_clear(record);
    free(record);
}

static void a_record_survives_the_file(void **state)
{
    (void)state;
    Record *record = sample(), *back = calloc(1, sizeof *back);
    Error error = {""};
    char *text = record_print(record);
    assert_int_equal(record_parse(text, back, &error), 0);
    assert_string_equal(back->title, record->title);
    assert_true(back->seed == record->seed);
    assert_string_equal(back->compiler, record->compiler);
    assert_int_equal(back->cases, 2);
    assert_true(back->item[0].cost.cycles == 123456789012345);
    assert_int_equal(back->item[0].cost.grid[2], 7);
    assert_int_equal(back->item[0].cost.registers, 40);
    assert_int_equal(back->item[0].speed.verdict, SPEED_SCORED);
    assert_float_equal(back->item[0].speed.points, 12.5, 0);
    assert_int_equal(back->item[1].verdict, CASE_WRONG);
    assert_int_equal(back->item[1].hidden, 1);
    assert_string_equal(back->item[1].text, record->item[1].text);
    assert_true(back->item[1].worst == RECORD_NOT_FINITE);
    assert_float_equal(back->prediction[0].truth, 400, 0);
    char *again = record_print(back);
    assert_string_equal(text, again);
    free(text);
    free(again);
    forget(record);
    forget(back);
}

/* Every counter of the simulator is stored in the record and read back. */
static void every_counter_survives_the_file(void **state)
{
    (void)state;
    Record *record = sample(), *back = calloc(1, sizeof *back);
    Error error = {""};
    DeviceCost *cost = &record->item[0].cost;
    uint64_t value = 1000;
#define NUMBER(field, metric, about) cost->field = value++;
    COUNTERS(NUMBER)
    cost->occupancy_percent = 61;
    char *text = record_print(record);
    assert_int_equal(record_parse(text, back, &error), 0);
    value = 1000;
#define SAME(field, metric, about)                                                                 \
    assert_non_null(strstr(text, "\"" #field "\": "));                                             \
    assert_int_equal(back->item[0].cost.field, value++);
    COUNTERS(SAME)
    assert_int_equal(back->item[0].cost.occupancy_percent, 61);
    free(text);
    forget(record);
    forget(back);
}

/* An older record without a counter: the counter is read as 0. */
static void records_without_newer_counters_are_read(void **state)
{
    (void)state;
    Record *record = sample(), *back = calloc(1, sizeof *back);
    Error error = {""};
    char *text = record_print(record), *key;
    while ((key = strstr(text, "\"atomics\"")))
        memcpy(key, "\"old\"    ", 9);
    assert_int_equal(record_parse(text, back, &error), 0);
    assert_int_equal(back->item[0].cost.atomics, 0);
    assert_int_equal(back->item[0].cost.registers, 40);
    free(text);
    forget(record);
    forget(back);
}

static void true_values_are_stored_only_for_answered_questions(void **state)
{
    (void)state;
    Record *record = sample();
    char *text = record_print(record);
    assert_non_null(strstr(text, "\"truth\": 400"));
    assert_null(strstr(text, "77"));
    free(text);
    forget(record);
}

static void totals_exclude_unscored_cases(void **state)
{
    (void)state;
    Record *record = sample();
    record_total(record);
    assert_float_equal(record->points, 10 + 12.5 + 1, 1e-12);
    assert_float_equal(record->possible, 10 + 15 + 10 + 4 + 3, 1e-12);
    assert_float_equal(record->deferred_points, 0, 0);
    assert_false(record_all_correct(record));
    record->item[0].speed.verdict = SPEED_INCONCLUSIVE;
    record->item[0].speed.points = 0;
    record->item[1].verdict = CASE_BROKEN;
    record_total(record);
    assert_float_equal(record->points, 11, 1e-12);
    assert_float_equal(record->possible, 17, 1e-12);
    assert_float_equal(record->deferred_points, 25, 1e-12);
    forget(record);
}

static void writing_is_atomic(void **state)
{
    (void)state;
    char directory[] = "/tmp/convlab-record-XXXXXX", path[256];
    Record *record = sample(), *back = calloc(1, sizeof *back);
    Error error;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a/b", directory);
    assert_int_equal(record_write(path, record, &error), 0);
    assert_int_equal(record_read(path, "04-tiled", back, &error), 0);
    record_clear(back);
    assert_int_equal(record_read(path, "05-other", back, &error), -1);
    assert_non_null(strstr(error.text, "not graded yet"));
    char left_over[300], command[300];
    snprintf(left_over, sizeof left_over, "%s/04-tiled.json.tmp", path);
    assert_int_not_equal(access(left_over, F_OK), 0);
    snprintf(left_over, sizeof left_over, "%s/04-tiled.json.tmp", directory);
    assert_int_equal(symlink("/dev/null", left_over), 0); /* a link is not followed */
    assert_int_equal(record_write(directory, record, &error), -1);
    /* /dev/full, a device that is always full; only root may make one. */
    unlink(left_over);
    if (!mknod(left_over, S_IFCHR | 0600, makedev(1, 7))) {
        assert_int_equal(record_write(directory, record, &error), -1);
        assert_non_null(strstr(error.text, "No space left on device"));
        assert_null(strchr(error.text, '\n'));
    }
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    forget(record);
    free(back);
}

static void other_files_are_rejected(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"schema\": \"convlab-result-0\"}",
                                      "{\"schema\": \"convlab-result-1\"}",
                                      "{\"schema\": \"convlab-result-1\", \"lab\": 7}",
                                      "null",
                                      "{\"schema\": "};
    Record *record = calloc(1, sizeof *record);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Error error = {""};
        assert_int_equal(record_parse(BAD[i], record, &error), -1);
        assert_true(*error.text);
    }
    forget(record);
}

/* Truncated and changed files give a message, never a crash. */
static void damaged_files_are_rejected(void **state)
{
    (void)state;
    Record *record = sample(), *back = calloc(1, sizeof *back);
    char *text = record_print(record);
    size_t bytes = strlen(text);
    uint32_t random = 12345;
    for (int i = 0; i < 3000; i++) {
        char *copy = strdup(text);
        Error error;
        for (int j = 0; j < 3; j++) {
            random = random * 1664525 + 1013904223;
            copy[(random >> 8) % bytes] = "{}[]\",:019ax"[(random >> 4) % 12];
        }
        if (i % 10 == 0) copy[random % bytes] = 0;
        record_parse(copy, back, &error);
        record_clear(back);
        free(copy);
    }
    free(text);
    forget(record);
    free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_survives_the_file),
        cmocka_unit_test(every_counter_survives_the_file),
        cmocka_unit_test(records_without_newer_counters_are_read),
        cmocka_unit_test(true_values_are_stored_only_for_answered_questions),
        cmocka_unit_test(totals_exclude_unscored_cases),
        cmocka_unit_test(writing_is_atomic),
        cmocka_unit_test(other_files_are_rejected),
        cmocka_unit_test(damaged_files_are_rejected),
    };
    return cmocka_run_group_tests_name("autograder/record", tests, NULL, NULL);
}
