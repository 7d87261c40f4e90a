/* test_validate.c - statistics and tables of the comparison, against values computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/simulator/validation/agreement.h"
#include "common/simulator/validation/runs.h"
#include "common/simulator/validation/tsv.h"

static void ranks_correlate(void **state)
{
    const double rising[] = {1, 2, 3, 4, 5}, steep[] = {1, 10, 100, 1000, 1e4},
                 falling[] = {9, 7, 5, 3, 1}, one_off[] = {1, 2, 4, 3, 5}, flat[] = {2, 2, 2, 2, 2},
                 tied[] = {1, 2, 2, 4, 5};
    (void)state;
    assert_true(rank_correlation(rising, steep, 5) == 1);
    assert_true(rank_correlation(rising, falling, 5) == -1);
    /* 1 - 6*(1 + 1)/(5*24) */
    assert_true(rank_correlation(rising, one_off, 5) == 0.9);
    assert_true(rank_correlation(rising, flat, 5) == 0);
    /* ranks 1, 2.5, 2.5, 4, 5: 9.5 / sqrt(10 * 9.5) */
    assert_true(rank_correlation(rising, tied, 5) - 0.974679 < 1e-6 &&
                rank_correlation(rising, tied, 5) - 0.974679 > -1e-6);
    assert_true(rank_correlation(rising, steep, 1) == 0);
}

static void errors_are_relative(void **state)
{
    const double measured[] = {10, 20, 40}, simulated[] = {11, 10, 40};
    (void)state;
    double mean = mean_absolute_error(measured, simulated, 3);
    assert_true(mean > 0.19999 && mean < 0.20001);
    assert_true(mean_absolute_error(measured, simulated, 0) == 0);
}

static const char *file_write(const char *text)
{
    static char path[] = "/tmp/convlab-tsv-XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (int)strlen(text));
    close(file);
    return path;
}

static void table_expect_error(const char *text, const char *words)
{
    Tsv tsv;
    Error error = {""};
    const char *path = file_write(text);
    assert_int_equal(tsv_read(path, &tsv, &error), -1);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    unlink(path);
}

static void tables_are_read(void **state)
{
    Tsv tsv;
    Error error = {""};
    double number;
    (void)state;
    const char *path = file_write("; a comment\nname\tus\n; another\na\t1.5\nb\tx\n");
    assert_int_equal(tsv_read(path, &tsv, &error), 0);
    unlink(path);
    assert_int_equal(tsv.rows, 2);
    assert_int_equal(tsv_column(&tsv, "us", &error), 1);
    assert_int_equal(tsv_number(&tsv, 0, 1, &number, &error), 0);
    assert_true(number == 1.5);
    assert_int_equal(tsv_number(&tsv, 1, 1, &number, &error), -1);
    assert_non_null(strstr(error.text, "us of row 2 is no number: 'x'"));
    assert_int_equal(tsv_column(&tsv, "ms", &error), -1);
    tsv_close(&tsv);
    table_expect_error("name\tus\na\n", ":2: 1 fields, but the first line names 2");
    table_expect_error("; nothing\n", "no line in it");
    assert_int_equal(tsv_read("/nowhere/x.tsv", &tsv, &error), -1);
    assert_non_null(strstr(error.text, "/nowhere/x.tsv: No such file"));
}

/* A record of two kernels. */
static Tsv record_make(void)
{
    Tsv record;
    Error error = {""};
    const char *path = file_write("kernel\tloads\tstores\nfirst\t10\t3\nsecond\t20\t4\n");
    assert_int_equal(tsv_read(path, &record, &error), 0);
    unlink(path);
    return record;
}

static void runs_are_read(void **state)
{
    Tsv record = record_make(), runs;
    Error error = {""};
    double count[RUNS];
    (void)state;
    const char *path =
        file_write("; x\nrow\tkernel\tcounter\tcounts\n2\tsecond\tloads\t20 25 19\n");
    if (runs_read(path, &record, &runs, &error)) fail_msg("%s", error.text);
    unlink(path);
    assert_int_equal(runs_find(&runs, 1, "loads", count), 3);
    assert_true(count[0] == 20 && count[1] == 25 && count[2] == 19);
    assert_int_equal(runs_find(&runs, 1, "stores", count), 0);
    assert_int_equal(runs_find(&runs, 0, "loads", count), 0);
    tsv_close(&runs), tsv_close(&record);
}

static void runs_expect_error(const char *text, const char *words)
{
    Tsv record = record_make(), runs;
    Error error = {""};
    const char *path = file_write(text);
    assert_int_equal(runs_read(path, &record, &runs, &error), -1);
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
    unlink(path);
    tsv_close(&record);
}

static void runs_of_other_records_are_rejected(void **state)
{
    char many[1000] = "row\tkernel\tcounter\tcounts\n2\tsecond\tloads\t20";
    (void)state;
#define HEAD "row\tkernel\tcounter\tcounts\n"
    runs_expect_error("row\tkernel\tcounter\n2\tsecond\tloads\n", "there is no column counts");
    runs_expect_error("kernel\tcounter\tcounts\nsecond\tloads\t20 21\n", "there is no column row");
    runs_expect_error("row\tcounter\tcounts\n2\tloads\t20 21\n", "there is no column kernel");
    runs_expect_error("row\tkernel\tcounts\n2\tsecond\t20 21\n", "there is no column counter");
    runs_expect_error(HEAD "2\tsecond\thits\t20 21\n", "there is no column hits");
    runs_expect_error(HEAD "x\tsecond\tloads\t20 21\n", "row of row 1 is no number: 'x'");
    runs_expect_error(HEAD "0\tfirst\tloads\t10 21\n", "is no first");
    runs_expect_error(HEAD "3\tthird\tloads\t20 21\n", "is no third");
    runs_expect_error(HEAD "2\tfirst\tloads\t20 21\n", "is no first; record again");
    runs_expect_error(HEAD "2\tsecond\tloads\t21 20\n", "starts with 21, but row 2");
    runs_expect_error(HEAD "2\tsecond\tloads\t20\n", "'20' is not 2 to 64 numbers");
    runs_expect_error(HEAD "2\tsecond\tloads\t20 x\n", "'20 x' is not 2 to 64 numbers");
    runs_expect_error(HEAD "2\tsecond\tloads\t\n", "is not 2 to 64 numbers");
    for (int i = 0; i < RUNS; i++)
        strcat(many, " 20");
    runs_expect_error(strcat(many, "\n"), "is not 2 to 64 numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_correlate), cmocka_unit_test(errors_are_relative),
        cmocka_unit_test(tables_are_read), cmocka_unit_test(runs_are_read),
        cmocka_unit_test(runs_of_other_records_are_rejected)};
    return cmocka_run_group_tests_name("validation", tests, NULL, NULL);
}
