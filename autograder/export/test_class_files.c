#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/class/gradebook.h"
#include "autograder/export/class_files.h"
#include "autograder/record/record.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

static char folder[] = "/tmp/convlab-class-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[200];
    text_set(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Writes a gradebook with one mark, replacing an existing one. */
static void grade(const char *student, double points, const char *record)
{
    Error error;
    unlink(in_folder("gradebook.sqlite"));
    Gradebook *book = gradebook_open(in_folder("gradebook.sqlite"), &error);
    GradebookResult result = {.student = student,
                              .lab = "02-naive",
                              .submission = student,
                              .submitted_at = "",
                              .digest = "00",
                              .status = "graded",
                              .points = points,
                              .possible = 100,
                              .record = record};
    assert_non_null(book);
    assert_int_equal(gradebook_commit(book, &result, &error), 0);
    assert_int_equal(gradebook_finish(book, &error), 0);
}

static int page_has(const char *text)
{
    Error error;
    char *page = file_text(in_folder("class.html"), &error);
    assert_non_null(page);
    int has = strstr(page, text) != NULL;
    free(page);
    return has;
}

static char *sample(void)
{
    Record *record = calloc(1, sizeof *record);
    text_set(record->lab, sizeof record->lab, "02-naive");
    char *text = record_print(record);
    free(record);
    return text;
}

static void a_page_compares_with_the_run_before(void **state)
{
    (void)state;
    Error error = {""};
    char *record = sample();
    grade("ada", 40, record);
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    assert_true(page_has("This is the first run."));
    grade("ada", 52.5, record);
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    assert_true(page_has(">+12.5<"));
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    assert_true(page_has("No mark has changed."));
    assert_int_not_equal(access(in_folder("last.sqlite.part"), F_OK), 0);
    free(record);
}

/* A page that could not be written changes neither the old page nor the data for the next
 * comparison. */
static void a_failed_export_keeps_the_old_files(void **state)
{
    (void)state;
    Error error = {""};
    char *record = sample();
    grade("ada", 10, record);
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    grade("bob", 90, "{}");
    assert_int_equal(class_files_write(folder, ".", &error), -1);
    assert_non_null(strstr(error.text, "the record of bob in 02-naive"));
    assert_true(page_has("ada") && !page_has("bob"));
    grade("ada", 30, record);
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    assert_true(page_has(">+20<"));
    free(record);
}

/* Every grading failed: the page says that there are no marks. */
static void a_class_without_marks_has_a_page(void **state)
{
    (void)state;
    Error error = {""};
    unlink(in_folder("gradebook.sqlite"));
    Gradebook *book = gradebook_open(in_folder("gradebook.sqlite"), &error);
    assert_int_equal(gradebook_finish(book, &error), 0);
    assert_int_equal(class_files_write(folder, ".", &error), 0);
    assert_true(page_has("A class of 0, 0 results"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[200];
    (void)state;
    text_set(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_compares_with_the_run_before),
        cmocka_unit_test(a_failed_export_keeps_the_old_files),
        cmocka_unit_test(a_class_without_marks_has_a_page),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
