#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/lab/answer.h"
#include "autograder/lab/predict.h"

static void close_answers_earn_partial_credit(void **state)
{
    (void)state;
    assert_float_equal(predict_part(16, 16, 0), 1, 0);
    assert_float_equal(predict_part(16.001, 16, 0), 0, 0);
    assert_float_equal(predict_part(105, 100, 0.05), 1, 1e-12);
    assert_float_equal(predict_part(150, 100, 0.05), 0, 1e-12);
    /* difference 0.275: half way from 0.05 to 0.5 */
    assert_float_equal(predict_part(127.5, 100, 0.05), 0.5, 1e-12);
    assert_float_equal(predict_part(72.5, 100, 0.05), 0.5, 1e-12);
    assert_float_equal(predict_part(0, 0, 0.1), 1, 0);
    assert_float_equal(predict_part(1, 0, 0.1), 0, 0);
    assert_float_equal(predict_part(-100, 100, 0.1), 0, 0);
}

static const char *const NAMES[] = {"blocks", "bytes", NULL};

static int read_text(const char *text, PredictFile *file, Error *error)
{
    char path[] = "/tmp/convlab-predict-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    int status = predict_read(NULL, path, "04-tiled/predict.ini", NAMES, file, error);
    unlink(path);
    return status;
}

static void answers_are_read_and_empty_ones_left_out(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(read_text("[predict]\nblocks = 384\nbytes =\n", &file, &error), 0);
    assert_int_equal(file.answers, 1);
    assert_float_equal(*predict_find(&file, "blocks"), 384, 0);
    assert_null(predict_find(&file, "bytes"));
    /* Editors of Windows begin a file with a byte order mark. */
    assert_int_equal(read_text("\xEF\xBB\xBF"
                               "blocks = 12\n",
                               &file, &error),
                     0);
    assert_int_equal(file.troubles, 0);
    assert_float_equal(*predict_find(&file, "blocks"), 12, 0);
    assert_int_equal(predict_read(NULL, "/nowhere/predict.ini", "x", NAMES, &file, &error), 0);
    assert_int_equal(file.answers, 0);
}

static void expect_trouble(const char *text, const char *name, const char *trouble)
{
    PredictFile file;
    Error error;
    assert_int_equal(read_text(text, &file, &error), 0);
    assert_int_equal(file.troubles, 1);
    assert_string_equal(file.trouble[0].text, trouble);
    assert_string_equal(file.trouble[0].name, name);
    if (*name) assert_string_equal(predict_trouble(&file, name), trouble);
}

static void malformed_lines_are_named_and_others_are_read(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(
        read_text("[predict]\r\nblocks = many\r\nbytes = 12 ; sure\r\n", &file, &error), 0);
    assert_int_equal(file.answers, 1);
    assert_float_equal(*predict_find(&file, "bytes"), 12, 0);
    assert_int_equal(file.troubles, 1);
    assert_string_equal(predict_trouble(&file, "blocks"),
                        "04-tiled/predict.ini:2: 'many' is not a number");
    assert_null(predict_trouble(&file, "bytes"));
    expect_trouble(
        "[predict]\n\nbloks = 2\n", "blocks",
        "04-tiled/predict.ini:3: this lab has no prediction 'bloks'; did you mean 'blocks'?");
    expect_trouble("[predict]\n\nwaves = 2\n", "",
                   "04-tiled/predict.ini:3: this lab has no prediction 'waves'; its predictions "
                   "are: blocks, bytes");
    expect_trouble("[guess]\nblocks = 2\n", "",
                   "04-tiled/predict.ini:1: predict.ini has only the section [predict]");
    expect_trouble("blocks 384\n", "",
                   "04-tiled/predict.ini:1: 'blocks 384' is not an answer; write: name = number");
    expect_trouble(
        "blocks = 3\nblocks = 4\n", "blocks",
        "04-tiled/predict.ini:2: 'blocks' has an answer above already; the first one counts");
}

static void percent_signs_are_fractions_unless_the_unit_is_percent(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(read_text("blocks = 6.06 %\nbytes = 6.06\n", &file, &error), 0);
    assert_int_equal(file.troubles, 0);
    assert_float_equal(predict_meant(&file, "blocks", "what fraction is empty?"), 0.0606, 1e-9);
    assert_float_equal(predict_meant(&file, "blocks", "how many percent?"), 6.06, 1e-9);
    assert_float_equal(predict_meant(&file, "blocks", "what percentage?"), 6.06, 1e-9);
    assert_float_equal(predict_meant(&file, "bytes", "what fraction is empty?"), 6.06, 1e-9);
}

static void numbers_in_common_notations_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"384", 384},           {"1,466", 1466},   {"12,345,678.5", 12345678.5},
        {"2*192", 384},         {"2 * 192 ", 384}, {"(28+4)/2 - 1", 15},
        {"384 blocks", 384},    {"50 %", 50},      {"1.5e3", 1500},
        {"2e3 bytes", 2000},    {"-3", -3},        {"1,466*2", 2932},
        {"6*28*28*25", 117600}, {".5", 0.5},       {"2*-3", -6},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double number = -1;
        char why[200] = "";
        assert_int_equal(answer_read(good[i].text, &number, why, sizeof why), 0);
        assert_float_equal(number, good[i].value, 1e-9);
    }
    static const char *const bad[][2] = {
        {"many", "'many' is not a number"},
        {"1,46", "'1,46' has a comma: commas may only separate thousands (1,466), decimals need a "
                 "point (2.5)"},
        {"4 KB", "'4 KB' is abbreviated: write the number in full, 4096 instead of 4 KB"},
        {"2 million", "'2 million' is abbreviated: write the number in full, 4096 instead of 4 KB"},
        {"12 34", "'12 34' is not a number"},
        {"3 blocks more", "'3 blocks more' is not a number"},
        {"(3", "'(3' has a parenthesis that is not closed"},
        {"1/0", "'1/0' is not a finite number"},
        {"inf", "'inf' is not a number"},
        {"1.2.3", "'1.2.3' is not a number"},
        {"2**3", "'2**3' is not a number"},
        {"system(1)", "'system(1)' is not a number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double number;
        char why[200] = "";
        assert_int_equal(answer_read(bad[i][0], &number, why, sizeof why), -1);
        assert_string_equal(why, bad[i][1]);
    }
    char deep[200], why[200];
    double number;
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = 0;
    assert_int_equal(answer_read(deep, &number, why, sizeof why), -1);
    assert_non_null(strstr(why, "has too many parentheses"));
    memset(deep, '-', sizeof deep - 1);
    assert_int_equal(answer_read(deep, &number, why, sizeof why), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_answers_earn_partial_credit),
        cmocka_unit_test(answers_are_read_and_empty_ones_left_out),
        cmocka_unit_test(malformed_lines_are_named_and_others_are_read),
        cmocka_unit_test(percent_signs_are_fractions_unless_the_unit_is_percent),
        cmocka_unit_test(numbers_in_common_notations_are_read),
    };
    return cmocka_run_group_tests_name("autograder/predict", tests, NULL, NULL);
}
