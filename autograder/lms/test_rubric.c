#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/lms/rubric.h"

static char path[] = "/tmp/rubric-XXXXXX";
static LmsRoster roster;
static Rubric rubric;
static Error error;

static void write_rubric(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int read_both(const char *questions, const char *people)
{
    error.text[0] = '\0';
    write_rubric(questions);
    assert_int_equal(lms_roster_parse("people.csv", people, strlen(people), &roster, &error), 0);
    return rubric_read(path, &roster, "people.csv", &rubric, &error);
}

static int setup(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int clear(void **state)
{
    (void)state;
    rubric_clear(&rubric);
    lms_roster_clear(&roster);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return unlink(path);
}

static const char HALO[] = "[04 halo]\nquestion = Why a halo?\npoints = 5\n";

static void test_marks_are_columns_of_the_roster(void **state)
{
    (void)state;
    double points = -1;
    int status =
        read_both(HALO, "Username;04  Halo;04 halo comment\nada;4.5;one side only\nbob;;\n");
    assert_string_equal(error.text, "");
    assert_int_equal(status, 0);
    assert_int_equal(rubric.questions, 1);
    assert_string_equal(rubric.question[0].lab, "04");
    assert_string_equal(rubric.question[0].text, "Why a halo?");
    assert_true(rubric.question[0].points == 5);
    assert_int_equal(rubric_mark(&roster, &roster.person[0], &rubric.question[0], &points), 1);
    assert_true(points == 4.5);
    assert_string_equal(lms_roster_cell(&roster, &roster.person[0], rubric.question[0].comment),
                        "one side only");
    assert_int_equal(rubric_mark(&roster, &roster.person[1], &rubric.question[0], &points), 0);
}

static void assert_refused(const char *questions, const char *people, const char *place,
                           const char *said)
{
    assert_int_equal(read_both(questions, people), -1);
    if (!strstr(error.text, said) || !strstr(error.text, place))
        assert_string_equal(error.text, said);
    clear(NULL);
}

static void test_wrong_marks_and_files_are_refused(void **state)
{
    (void)state;
    static const char PEOPLE[] = "Username,04 halo\nada,3\n";
    assert_refused(HALO, "Username,04 halo\nada,5.5\n", "people.csv:2:2: ", "from 0 to 5");
    assert_refused(HALO, "Username,04 halo\nada,-1\n", "people.csv:2:2: ", "'-1' is no mark");
    assert_refused(HALO, "Username,04 halo\nada,good\n", "people.csv:2:2: ", "'good' is no mark");
    assert_refused(HALO, "Username,04 tile\nada,3\n", ":1: ", "no column '04 halo'");
    assert_refused("[halo]\nquestion = a\npoints = 1\n", PEOPLE, ":1: ", "names no lab");
    assert_refused("[04 halo]\npoints = 1\n", PEOPLE, ":1: ", "has no question");
    assert_refused("[04 halo]\nquestion = a\n", PEOPLE, ":1: ", "has no points");
    assert_refused("[04 halo]\nquestion = a\npoints = 0\n", PEOPLE, ":3: ", "a number above 0");
    assert_refused("[04 halo]\nquestion = a\npoints = 1\nbest = 2\n", PEOPLE,
                   ":4: ", "unknown key 'best'");
    assert_refused("[04 halo]\nquestion = a\npoints = 3\n[04 Halo]\nquestion = b\npoints = 3\n",
                   PEOPLE, ":4: ", "the same column as [04 halo] on line 1");
    assert_refused("", PEOPLE, ":1: ", "no question");
    assert_refused("halo\n", PEOPLE, ":1: ", "neither [section]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_marks_are_columns_of_the_roster, clear),
        cmocka_unit_test_teardown(test_wrong_marks_and_files_are_refused, clear),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
