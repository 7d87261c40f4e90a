#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/lab/predict.h"

static void a_near_answer_earns_a_part(void **state)
{
    (void)state;
    assert_float_equal(predict_part(16, 16, 0), 1, 0);
    assert_float_equal(predict_part(16.001, 16, 0), 0, 0);
    assert_float_equal(predict_part(105, 100, 0.05), 1, 1e-12);
    assert_float_equal(predict_part(150, 100, 0.05), 0, 1e-12);
    /* gap 0.275: half way from 0.05 to 0.5 */
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
    assert_int_equal(predict_read(NULL, "/nowhere/predict.ini", "x", NAMES, &file, &error), 0);
    assert_int_equal(file.answers, 0);
}

static void bad_predictions_are_named_by_line(void **state)
{
    (void)state;
    PredictFile file;
    Error error;
    assert_int_equal(read_text("[predict]\nblocks = many\n", &file, &error), -1);
    assert_string_equal(error.text, "04-tiled/predict.ini:2: 'many' is not a number");
    assert_int_equal(read_text("[predict]\n\nwaves = 2\n", &file, &error), -1);
    assert_string_equal(
        error.text,
        "04-tiled/predict.ini:3: this lab asks for no 'waves'; it asks for: blocks, bytes");
    assert_int_equal(read_text("[guess]\nblocks = 2\n", &file, &error), -1);
    assert_string_equal(error.text, "04-tiled/predict.ini:1: the only section here is [predict]");
    assert_int_equal(read_text("[predict]\nblocks = inf\n", &file, &error), -1);
    assert_int_equal(file.answers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_near_answer_earns_a_part),
        cmocka_unit_test(answers_are_read_and_empty_ones_left_out),
        cmocka_unit_test(bad_predictions_are_named_by_line),
    };
    return cmocka_run_group_tests_name("autograder/predict", tests, NULL, NULL);
}
