#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/class/gradebook.h"
#include "autograder/text/files.h"

static char folder[] = "/tmp/gradebook-XXXXXX";
static char path[100];

static int in_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/deep/class.sqlite", folder);
    return mkdtemp(folder) ? 0 : -1;
}

static int forget(void **state)
{
    static const char *const SUFFIX[] = {"", "-wal", "-shm", ".part"};
    char name[120];
    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, SUFFIX[i]);
        unlink(name);
    }
    return 0;
}

static int leave_folder(void **state)
{
    char deep[100];
    forget(state);
    snprintf(deep, sizeof deep, "%s/deep", folder);
    rmdir(deep);
    return rmdir(folder);
}

static GradebookResult result_of(const char *student, const char *lab, const char *submission,
                                 double points)
{
    return (GradebookResult){.student = student,
                             .lab = lab,
                             .submission = submission,
                             .submitted_at = "2026-10-01T12:00:00Z",
                             .digest = "d1",
                             .seed = UINT64_MAX - 1,
                             .status = "graded",
                             .points = points,
                             .possible = 100,
                             .record = "{}"};
}

static Gradebook *opened(void)
{
    Error error = {""};
    Gradebook *book = gradebook_open(path, &error);
    assert_string_equal(error.text, "");
    assert_non_null(book);
    return book;
}

static void commit(Gradebook *book, GradebookResult result)
{
    Error error = {""};
    assert_int_equal(gradebook_commit(book, &result, &error), 0);
}

/* "student lab submission points;" of each visited. */
static int write_down(const GradebookResult *result, void *context, Error *error)
{
    (void)error;
    char *text = context;
    sprintf(text + strlen(text), "%s %s %s %g;", result->student, result->lab, result->submission,
            result->points);
    return 0;
}

static void test_results_are_read_back_complete_and_in_order(void **state)
{
    (void)state;
    Gradebook *book = opened();
    commit(book, result_of("bob", "02-naive", "bob", 70));
    commit(book, result_of("ada", "10-implicit-gemm", "ada", 60.5));
    commit(book, result_of("ada", "02-naive", "ada", 50));
    gradebook_close(book);
    char text[400] = "";
    Error error;
    book = gradebook_read(path, &error);
    assert_non_null(book);
    assert_int_equal(gradebook_each(book, write_down, text, &error), 0);
    assert_string_equal(text,
                        "ada 02-naive ada 50;ada 10-implicit-gemm ada 60.5;bob 02-naive bob 70;");
    gradebook_close(book);
}

static int check_all_fields(const GradebookResult *result, void *context, Error *error)
{
    (void)error;
    const GradebookResult *given = context;
    assert_string_equal(result->student, given->student);
    assert_string_equal(result->submitted_at, given->submitted_at);
    assert_string_equal(result->digest, given->digest);
    assert_string_equal(result->status, given->status);
    assert_string_equal(result->record, given->record);
    assert_true(result->seed == given->seed);
    assert_int_equal(result->late, given->late);
    assert_true(result->possible == given->possible);
    return 0;
}

static void test_names_are_data(void **state)
{
    (void)state;
    Gradebook *book = opened();
    GradebookResult hostile =
        result_of("x'); DROP TABLE result; --", "02-naive", "$(touch x)\n", 1);
    hostile.record = "{\"text\": \"'quoted'; \xc3\xa9\"}";
    hostile.late = 1;
    commit(book, hostile);
    Error error;
    assert_int_equal(gradebook_each(book, check_all_fields, &hostile, &error), 0);
    gradebook_close(book);
}

static void test_nothing_is_committed_twice(void **state)
{
    (void)state;
    Error error;
    Gradebook *book = opened();
    GradebookResult result = result_of("ada", "02-naive", "ada", 50);
    assert_int_equal(gradebook_has(book, "ada", "02-naive", "ada", "d1", &error), 0);
    commit(book, result);
    assert_int_equal(gradebook_has(book, "ada", "02-naive", "ada", "d1", &error), 1);
    assert_int_equal(gradebook_commit(book, &result, &error), -1);
    assert_non_null(strstr(error.text, "already"));
    result.digest = "d2"; /* submitted again under the same name */
    result.points = 80;
    assert_int_equal(gradebook_has(book, "ada", "02-naive", "ada", "d2", &error), 0);
    commit(book, result);
    char text[400] = "";
    gradebook_each(book, write_down, text, &error);
    assert_string_equal(text, "ada 02-naive ada 80;");
    gradebook_close(book);
}

static void test_deferred_is_graded_again(void **state)
{
    (void)state;
    Error error;
    Gradebook *book = opened();
    GradebookResult result = result_of("ada", "02-naive", "ada", 0);
    result.status = "deferred";
    commit(book, result);
    assert_int_equal(gradebook_has(book, "ada", "02-naive", "ada", "d1", &error), 0);
    result.status = "graded";
    commit(book, result);
    assert_int_equal(gradebook_has(book, "ada", "02-naive", "ada", "d1", &error), 1);
    gradebook_close(book);
}

static void best_of(Gradebook *book, char text[400])
{
    Error error;
    text[0] = '\0';
    assert_int_equal(gradebook_best(book, write_down, text, &error), 0);
}

static void test_best_of_repeated_submissions(void **state)
{
    (void)state;
    Error error;
    char text[400];
    Gradebook *book = opened();
    GradebookResult result = result_of("ada", "02-naive", "deferred", 0);
    result.status = "deferred";
    result.possible = 0;
    commit(book, result);
    best_of(book, text);
    assert_string_equal(text, "ada 02-naive deferred 0;");
    commit(book, result_of("ada", "02-naive", "nothing", 0));
    best_of(book, text);
    assert_string_equal(text, "ada 02-naive nothing 0;");
    result = result_of("ada", "02-naive", "late", 60);
    result.late = 1;
    result.submitted_at = "2026-09-01T12:00:00Z";
    commit(book, result);
    commit(book, result_of("ada", "02-naive", "in time", 60));
    best_of(book, text);
    assert_string_equal(text, "ada 02-naive in time 60;");
    result = result_of("ada", "02-naive", "half of it left out", 40);
    result.possible = 50;
    commit(book, result);
    commit(book, result_of("bob", "02-naive", "bob", 7));
    best_of(book, text);
    assert_string_equal(text, "ada 02-naive half of it left out 40;bob 02-naive bob 7;");
    gradebook_mark_late(book, "ada", "late", "", "", 0, &error);
    gradebook_mark_late(book, "ada", "half of it left out", "", "", 1, &error);
    best_of(book, text);
    assert_string_equal(text, "ada 02-naive half of it left out 40;bob 02-naive bob 7;");
    gradebook_close(book);
}

/* The bytes are the same for any order of commits and for an interrupted run. */
static char *finished_bytes(int order, size_t *bytes)
{
    Error error = {""};
    char student[20];
    Gradebook *book = opened();
    assert_int_equal(gradebook_settle(book, "seed", "7", &error), 0);
    for (int i = 0; i < 40; i++) {
        int place = order == 0 ? i : order == 1 ? 39 - i : (i * 7) % 40;
        snprintf(student, sizeof student, "student %02d", place);
        GradebookResult result = result_of(student, "02-naive", student, place);
        char record[5000];
        memset(record, 'a' + place % 26, sizeof record - 1);
        record[100 * place] = '\0';
        result.record = record;
        commit(book, result);
        if (order == 2 && i % 13 == 0) {
            assert_int_equal(gradebook_finish(book, &error), 0);
            book = opened();
        }
    }
    assert_int_equal(gradebook_finish(book, &error), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *data = malloc(1 << 20);
    *bytes = fread(data, 1, 1 << 20, file);
    fclose(file);
    forget(NULL);
    return data;
}

static void test_gradebook_is_independent_of_the_grading_order(void **state)
{
    (void)state;
    size_t bytes, other_bytes;
    char *data = finished_bytes(0, &bytes);
    for (int order = 1; order < 3; order++) {
        char *other = finished_bytes(order, &other_bytes);
        assert_int_equal(bytes, other_bytes);
        assert_memory_equal(data, other, bytes);
        free(other);
    }
    free(data);
}

static void test_an_unfinished_run_is_known(void **state)
{
    (void)state;
    Error error = {""};
    Gradebook *book = opened();
    assert_int_equal(gradebook_is_unfinished(book, &error), 0);
    assert_int_equal(gradebook_begin(book, &error), 0);
    gradebook_close(book);
    book = gradebook_read(path, &error);
    assert_int_equal(gradebook_is_unfinished(book, &error), 1);
    gradebook_close(book);
    assert_int_equal(gradebook_finish(opened(), &error), 0);
    book = gradebook_read(path, &error);
    assert_int_equal(gradebook_is_unfinished(book, &error), 0);
    gradebook_close(book);
}

static void test_settings_are_stored_and_enforced(void **state)
{
    (void)state;
    Error error;
    char value[20];
    Gradebook *book = opened();
    assert_int_equal(gradebook_setting(book, "seed", value, sizeof value, &error), 0);
    assert_int_equal(gradebook_settle(book, "seed", "7", &error), 0);
    assert_int_equal(gradebook_settle(book, "seed", "7", &error), 0);
    assert_int_equal(gradebook_settle(book, "seed", "8", &error), -1);
    assert_non_null(strstr(error.text, "started with seed '7', not '8'"));
    assert_int_equal(gradebook_setting(book, "seed", value, sizeof value, &error), 1);
    assert_string_equal(value, "7");
    gradebook_close(book);
}

static void test_other_files_are_not_overwritten(void **state)
{
    (void)state;
    Error error;
    assert_null(gradebook_read(path, &error));
    assert_non_null(strstr(error.text, "no gradebook yet"));
    assert_int_equal(file_write(path,
                                "a file of somebody else, longer than SQLite's header of "
                                "one hundred bytes, so that it is read as far as it has to "
                                "be read to know\n",
                                &error),
                     0);
    assert_null(gradebook_open(path, &error));
    assert_non_null(strstr(error.text, "is not a gradebook"));
    char *text = file_text(path, &error);
    assert_non_null(strstr(text, "somebody else"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_results_are_read_back_complete_and_in_order, forget),
        cmocka_unit_test_teardown(test_names_are_data, forget),
        cmocka_unit_test_teardown(test_nothing_is_committed_twice, forget),
        cmocka_unit_test_teardown(test_deferred_is_graded_again, forget),
        cmocka_unit_test_teardown(test_best_of_repeated_submissions, forget),
        cmocka_unit_test_teardown(test_gradebook_is_independent_of_the_grading_order, forget),
        cmocka_unit_test_teardown(test_an_unfinished_run_is_known, forget),
        cmocka_unit_test_teardown(test_settings_are_stored_and_enforced, forget),
        cmocka_unit_test_teardown(test_other_files_are_not_overwritten, forget),
    };
    return cmocka_run_group_tests(tests, in_folder, leave_folder);
}
