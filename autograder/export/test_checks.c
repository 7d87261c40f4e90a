#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/checks.h"

static const Check *find(const Checks *checks, const char *name)
{
    for (int i = 0; i < checks->count; i++)
        if (!strcmp(checks->item[i].name, name)) return &checks->item[i];
    fail_msg("no check '%s'", name);
    return NULL;
}

static void expect(const Checks *checks, const char *name, CheckOutcome outcome, double points,
                   double possible, const char *text)
{
    const Check *check = find(checks, name);
    assert_int_equal(check->outcome, outcome);
    assert_float_equal(check->points, points, 1e-9);
    assert_float_equal(check->possible, possible, 1e-9);
    assert_non_null(strstr(check->text, text));
}

/* The sums equal the record's own, which other code adds up. */
static void expect_sums(const Checks *checks, Record *record)
{
    double points = 0, possible = 0;
    int count = 0;
    record_total(record);
    for (int i = 0; i < checks->count; i++) {
        points += checks->item[i].points;
        possible += checks->item[i].possible;
    }
    for (int i = 0; i <= CHECK_BROKEN; i++)
        count += checks->of[i];
    assert_float_equal(points, record->points, 1e-9);
    assert_float_equal(possible, record->possible, 1e-9);
    assert_int_equal(count, checks->count);
}

static void a_graded_lab(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    strcpy(record->lab, "02-naive");
    record->item[0] = (RecordCase){.name = "fast", .points = 5, .possible = 5};
    record->item[0].speed =
        (RecordSpeed){.verdict = SPEED_SCORED, .s = 1.5, .needed = 2, .points = 4, .possible = 10};
    record->item[1] = (RecordCase){.name = "near", .points = 5, .possible = 5};
    record->item[1].speed = (RecordSpeed){.verdict = SPEED_TOO_CLOSE, .possible = 10};
    record->item[2] = (RecordCase){
        .name = "bad", .verdict = CASE_WRONG, .possible = 5, .text = "3 outputs", .hint = "Look."};
    record->item[3] = (RecordCase){.name = "busy", .verdict = CASE_DEFERRED, .possible = 5};
    record->item[4] = (RecordCase){.name = "odd", .verdict = CASE_BROKEN, .possible = 5};
    record->item[5] = (RecordCase){.name = "hidden 1", .hidden = 1, .shape = "N=1"};
    record->item[6] =
        (RecordCase){.name = "hidden 2", .hidden = 1, .verdict = CASE_CRASHED, .possible = 5};
    record->cases = 7;
    record->prediction[0] = (RecordPrediction){.name = "blocks", .points = 1, .possible = 4};
    record->predictions = 1;
    Checks *checks = checks_of(record);
    assert_int_equal(checks->count, 9);
    expect(checks, "fast", CHECK_PASSED, 5, 5, "correct");
    expect(checks, "fast, speed", CHECK_FAILED, 4, 10, "1.50 times as fast");
    expect(checks, "near, speed", CHECK_SKIPPED, 0, 0, "too-close");
    expect(checks, "bad", CHECK_FAILED, 0, 5, "wrong: 3 outputs\nmake hint LAB=02 explains it.");
    expect(checks, "busy", CHECK_SKIPPED, 0, 0, "deferred");
    expect(checks, "odd", CHECK_BROKEN, 0, 0, "broken");
    expect(checks, "hidden", CHECK_FAILED, 0, 5, "hidden 2");
    expect(checks, "prediction blocks", CHECK_FAILED, 1, 4, "");
    expect_sums(checks, record);
    free(checks);
    free(record);
}

static void correct_hidden_shapes_pass(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    record->item[0] = (RecordCase){.name = "hidden 1", .hidden = 1};
    record->item[1] = (RecordCase){.name = "hidden 2", .hidden = 1, .points = 5, .possible = 5};
    record->cases = 2;
    Checks *checks = checks_of(record);
    assert_int_equal(checks->count, 1);
    expect(checks, "hidden", CHECK_PASSED, 5, 5, "2 shapes");
    /* A case that could not be judged does not hide one that is wrong. */
    record->item[0].verdict = CASE_WRONG;
    record->item[1].verdict = CASE_DEFERRED;
    free(checks);
    checks = checks_of(record);
    expect(checks, "hidden", CHECK_FAILED, 0, 0, "wrong");
    free(checks);
    free(record);
}

/* As the grader leaves such records. */
static void a_lab_that_was_not_graded(void **state)
{
    (void)state;
    static const struct {
        RecordStatus status;
        CaseVerdict verdict;
        SpeedVerdict speed;
        CheckOutcome outcome;
        double possible;
    } EACH[] = {
        {RECORD_MISSING, CASE_NOT_RUN, SPEED_NOT_CORRECT, CHECK_FAILED, 5},
        {RECORD_NO_BUILD, CASE_NOT_RUN, SPEED_NOT_CORRECT, CHECK_FAILED, 5},
        {RECORD_DEFERRED, CASE_BROKEN, SPEED_DEFERRED, CHECK_SKIPPED, 0},
        {RECORD_BROKEN, CASE_BROKEN, SPEED_DEFERRED, CHECK_BROKEN, 0},
    };
    for (size_t i = 0; i < sizeof EACH / sizeof *EACH; i++) {
        Record *record = calloc(1, sizeof *record);
        record->status = EACH[i].status;
        strcpy(record->message, "The reason.");
        record->item[0] = (RecordCase){.name = "one", .verdict = EACH[i].verdict, .possible = 5};
        record->item[0].speed = (RecordSpeed){.verdict = EACH[i].speed, .possible = 5};
        record->cases = 1;
        Checks *checks = checks_of(record);
        expect(checks, "one", EACH[i].outcome, 0, EACH[i].possible, "The reason.");
        expect(checks, "one, speed", EACH[i].outcome, 0, EACH[i].possible, "");
        expect_sums(checks, record);
        free(checks);
        free(record);
    }
}

/* The highest number of cases that a lab can have. */
static void many_cases_fit_in_the_export(void **state)
{
    (void)state;
    Record *record = calloc(1, sizeof *record);
    for (int i = 0; i < RECORD_CASES; i++) {
        record->item[i].hidden = i >= LAB_CASES;
        record->item[i].verdict = CASE_WRONG;
        record->item[i].possible = 1;
        record->item[i].speed.possible = 1;
        record->item[i].speed.verdict = SPEED_NOT_CORRECT;
        memset(record->item[i].text, 'x', sizeof record->item[i].text - 1);
        if (record->item[i].hidden) record->item[i].speed = (RecordSpeed){.points = 0};
    }
    record->cases = RECORD_CASES;
    record->predictions = LAB_PREDICTIONS;
    Checks *checks = checks_of(record);
    assert_int_equal(checks->count, CHECKS);
    expect_sums(checks, record);
    free(checks);
    free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graded_lab),
        cmocka_unit_test(correct_hidden_shapes_pass),
        cmocka_unit_test(a_lab_that_was_not_graded),
        cmocka_unit_test(many_cases_fit_in_the_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
