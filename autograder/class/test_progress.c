#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/class/progress.h"

static char folder[] = "/tmp/progress-XXXXXX";
static char path[64];
static Error error;

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/progress.tsv", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void test_weeks_start_on_monday(void **state)
{
    (void)state;
    char monday[12];
    assert_int_equal(progress_week("2026-10-05", monday), 0); /* a Monday */
    assert_string_equal(monday, "2026-10-05");
    assert_int_equal(progress_week("2026-10-11", monday), 0);
    assert_string_equal(monday, "2026-10-05");
    assert_int_equal(progress_week("2027-01-01", monday), 0); /* a Friday */
    assert_string_equal(monday, "2026-12-28");
    assert_int_equal(progress_week("2026-13-01", monday), -1);
    assert_int_equal(progress_week("2026-10-5", monday), -1);
    assert_int_equal(progress_week("tomorrow", monday), -1);
}

/* Two students with the given marks; a third submitted nothing. */
static void add(const char *date, double low, double high)
{
    static Summary summary;
    double percent[] = {low, high};
    summary = (Summary){.labs = 2, .students = 3};
    summary.lab[0] = (SummaryLab){
        .name = "01-sequential", .percent = percent, .graded = 2, .absent = 1, .full = high >= 100};
    summary.lab[1] = (SummaryLab){.name = "02-naive"}; /* nobody: no row */
    assert_int_equal(progress_add(folder, date, &summary, &error), 0);
}

static void test_last_run_of_a_day_is_used(void **state)
{
    (void)state;
    Progress progress;
    add("2026-10-12", 60, 100);
    add("2026-10-05", 10, 20);
    add("2026-10-05", 30, 60);
    assert_int_equal(progress_read(path, &progress, &error), 0);
    assert_int_equal(progress.rows, 2);
    assert_string_equal(progress.row[0].date, "2026-10-05");
    assert_string_equal(progress.row[0].lab, "01-sequential");
    assert_int_equal(progress.row[0].students, 3);
    assert_true(progress.row[0].mean == 30 && progress.row[0].median == 30);
    assert_string_equal(progress.row[1].date, "2026-10-12");
    assert_true(progress.row[1].median == 60);
    assert_int_equal(progress.row[1].full, 1);
    progress_clear(&progress);
}

static void test_a_malformed_line_is_named(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"soon\t01\t1\t1\t1\t1\t1\n", "2026-10-05\t01\t1\t1\n",
                                        "2026-10-05\t01\t1\t1\t1\t1\t1\tmore\n"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        Progress progress;
        FILE *file = fopen(path, "w");
        fprintf(file, "date\n2026-10-05\t01-sequential\t1\t1\t1\t1\t1\n%s", WRONG[i]);
        fclose(file);
        assert_int_equal(progress_read(path, &progress, &error), -1);
        assert_non_null(strstr(error.text, "progress.tsv:3: not a date"));
        progress_clear(&progress);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weeks_start_on_monday),
        cmocka_unit_test(test_last_run_of_a_day_is_used),
        cmocka_unit_test(test_a_malformed_line_is_named),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
