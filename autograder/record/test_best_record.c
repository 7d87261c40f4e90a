/* A worse grade loses nothing, and the history contains all grades. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/record/history.h"
#include "autograder/record/ladder.h"
#include "autograder/record/best_record.h"
#include "autograder/record/progress.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

static char build[64];

/* A grade of one timed case; `cycles` 0: it was wrong. */
static Record *grade(const char *at, double cycles, double points)
{
    Record *record = calloc(1, sizeof *record);
    text_set(record->lab, sizeof record->lab, "04-tiled");
    text_set(record->graded_at, sizeof record->graded_at, "%s", at);
    text_set(record->submission_digest, sizeof record->submission_digest, "of %s", at);
    strcpy(record->engine, "sim");
    strcpy(record->machine, "h200");
    strcpy(record->unit, "cycles");
    record->points = points;
    record->possible = 100;
    record->cases = 1;
    strcpy(record->item[0].name, "small");
    record->item[0].verdict = cycles > 0 ? CASE_CORRECT : CASE_WRONG;
    record->item[0].speed = (RecordSpeed){.verdict = cycles > 0 ? SPEED_SCORED : SPEED_NOT_CORRECT,
                                          .student = cycles,
                                          .baseline = 3000,
                                          .reference = 1000,
                                          .roof = 100};
    return record;
}

/* Stores a record as grade.c does. */
static void keep(Record *record)
{
    char results[100];
    Error error = {""};
    text_set(results, sizeof results, "%s/results", build);
    assert_int_equal(best_record_update(build, record, &error), 0);
    assert_int_equal(history_add(build, record, &error), 0);
    assert_int_equal(record_write(results, record, &error), 0);
    free(record);
}

static int begin(void **state)
{
    (void)state;
    strcpy(build, "/tmp/test-kept-XXXXXX");
    return mkdtemp(build) ? 0 : -1;
}

static int end(void **state)
{
    char command[100];
    (void)state;
    text_set(command, sizeof command, "rm -rf %s", build);
    return system(command);
}

static void expect(const char *last, const char *best)
{
    BestRecord records = best_record_read(build, "04-tiled");
    assert_string_equal(records.last->graded_at, last);
    assert_string_equal(records.best->graded_at, best);
    best_record_free(&records);
}

/* A small lab is graded twice within a second. */
static void two_grades_in_one_second_are_both_stored(void **state)
{
    (void)state;
    GradeHistory history;
    Record *broken = grade("a", 0, 0);
    strcpy(broken->submission_digest, "of another");
    keep(grade("a", 2000, 80));
    keep(broken);
    BestRecord records = best_record_read(build, "04-tiled");
    assert_true(records.last->points == 0 && records.best->points == 80);
    best_record_free(&records);
    assert_int_equal(history_read(build, "04-tiled", &history, NULL), 0);
    assert_int_equal(history.grades, 2);
    history_free(&history);
}

static void history_of_earlier_releases_is_kept(void **state)
{
    (void)state;
    char folder[100], earlier[100];
    GradeHistory history;
    keep(grade("a", 2000, 80));
    text_set(folder, sizeof folder, "%s/progress/history", build);
    text_set(earlier, sizeof earlier, "%s/progress/climb", build);
    assert_int_equal(rename(folder, earlier), 0);
    assert_int_equal(history_read(build, "04-tiled", &history, NULL), 0);
    assert_int_equal(history.grades, 1);
    history_free(&history);
}

static void a_worse_grade_keeps_the_best(void **state)
{
    (void)state;
    assert_false(progress_passed(build, "04-tiled"));
    keep(grade("a", 0, 40));
    assert_false(progress_passed(build, "04-tiled"));
    keep(grade("b", 2000, 80));
    expect("b", "b");
    keep(grade("c", 0, 95)); /* more points, but not correct */
    keep(grade("d", 2500, 80));
    expect("d", "b");
    keep(grade("e", 1500, 80));
    keep(grade("f", 1500, 80));
    expect("f", "e"); /* among equals the earlier */
    keep(grade("g", 900, 70));
    expect("g", "e");
    assert_true(progress_passed(build, "04-tiled"));
}

static void earlier_records_count(void **state)
{
    char path[100];
    (void)state;
    keep(grade("a", 2000, 80));
    text_set(path, sizeof path, "%s/progress/best/04-tiled.json", build);
    assert_int_equal(unlink(path), 0);
    keep(grade("b", 0, 0));
    expect("b", "a");
}

static void cycles_of_other_machines_are_not_compared(void **state)
{
    (void)state;
    Record *a = grade("a", 2000, 80), *b = grade("b", 1, 80);
    strcpy(b->machine, "titanv");
    assert_false(record_is_better(b, a));
    assert_false(record_is_better(a, b));
    b->points = 81;
    assert_true(record_is_better(b, a));
    b->status = RECORD_DEFERRED;
    b->possible = b->points = 0;
    assert_false(record_is_better(b, a));
    free(a);
    free(b);
}

static void a_source_occurs_once_in_the_history(void **state)
{
    GradeHistory history;
    char path[100];
    Error error;
    (void)state;
    keep(grade("a", 0, 40));
    keep(grade("b", 2000, 80));
    Record *again = grade("c", 1990, 85);
    strcpy(again->submission_digest, "of b");
    keep(again);
    Record *deferred = grade("d", 10, 80);
    deferred->status = RECORD_DEFERRED;
    assert_int_equal(history_add(build, deferred, &error), 0);
    free(deferred);
    text_set(path, sizeof path, "%s/progress/history/04-tiled.tsv", build);
    FILE *file = fopen(path, "ae");
    fputs("2026-01-01\thalf a li", file);
    fclose(file);
    assert_int_equal(history_read(build, "04-tiled", &history, &error), 0);
    assert_int_equal(history.grades, 2);
    assert_int_equal(history.grade[0].cases, 0);
    assert_string_equal(history.grade[1].at, "c");
    assert_string_equal(history.grade[1].machine, "sim h200");
    assert_int_equal(history.grade[1].cases, 1);
    assert_string_equal(history.grade[1].item[0].name, "small");
    assert_float_equal(history.grade[1].item[0].student, 1990, 0);
    assert_float_equal(history.grade[1].item[0].roof, 100, 0);
    history_free(&history);
}

static void history_write(const char *lines)
{
    char path[100];
    Error error;
    text_set(path, sizeof path, "%s/progress", build);
    assert_int_equal(directory_make(path), 0);
    text_set(path, sizeof path, "%s/progress/history", build);
    assert_int_equal(directory_make(path), 0);
    text_set(path, sizeof path, "%s/progress/history/04-tiled.tsv", build);
    assert_int_equal(file_write(path, lines, &error), 0);
}

/* A learner can edit these files.  Lines that no grade can have written are ignored, and the others
 * are drawn within their limits, without terminal control characters. */
static void files_that_no_grade_wrote_are_ignored(void **state)
{
    (void)state;
    static Lab lab = {.name = "04-tiled"};
    char *text = NULL;
    size_t bytes = 0;
    GradeHistory history;
    Error error;
    history_write("a\td\tsim h200\tcycles\t1\t1\tsmall\tnan\t4000\t1000\t1\n"
                  "b\te\tsim h200\tcycles\t1\t1\tsmall\t1\tinf\t1000\t1\n"
                  "c\tf\tsim h200\tcycles\t1\t1\tsmall\t-1\t4000\t1000\t1\n"
                  "d\tg\tsim h200\tcycles\t1\t1\tsmall\t1\t4000\t0\t1\n"
                  "e\th\tsim \033[31mh200\tcycles\t1\t1\tsmall\t2000\t1000\t900000\t700000\n");
    assert_int_equal(history_read(build, "04-tiled", &history, &error), 0);
    assert_int_equal(history.grades, 1);
    assert_string_equal(history.grade[0].machine, "sim ?[31mh200");
    history_free(&history);
    FILE *stream = open_memstream(&text, &bytes);
    assert_int_equal(ladder_print(stream, &lab, build, build, &error), 0);
    fclose(stream);
    assert_non_null(strstr(text, " ##############################\n"));
    assert_null(strstr(text, "###############################"));
    free(text);
}

/* The name in a record determines the path of its best record. */
static void a_record_of_another_lab_is_rejected(void **state)
{
    (void)state;
    char path[100];
    Error error;
    Record *other = grade("a", 2000, 80);
    static Record read;
    strcpy(other->lab, "../../04-tiled");
    char *text = record_print(other);
    text_set(path, sizeof path, "%s/results", build);
    assert_int_equal(directory_make(path), 0);
    text_set(path, sizeof path, "%s/results/04-tiled.json", build);
    assert_int_equal(file_write(path, text, &error), 0);
    text_set(path, sizeof path, "%s/results", build);
    assert_int_equal(record_read(path, "04-tiled", &read, &error), -1);
    assert_non_null(strstr(error.text, "of another lab, '../../04-tiled'"));
    free(text);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worse_grade_keeps_the_best, begin, end),
        cmocka_unit_test_setup_teardown(history_of_earlier_releases_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(two_grades_in_one_second_are_both_stored, begin, end),
        cmocka_unit_test_setup_teardown(earlier_records_count, begin, end),
        cmocka_unit_test(cycles_of_other_machines_are_not_compared),
        cmocka_unit_test_setup_teardown(a_source_occurs_once_in_the_history, begin, end),
        cmocka_unit_test_setup_teardown(files_that_no_grade_wrote_are_ignored, begin, end),
        cmocka_unit_test_setup_teardown(a_record_of_another_lab_is_rejected, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
