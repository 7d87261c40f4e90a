#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/handout.h"

static const char LAB[] =
    "[lab]\ntitle = T\npart = P\norder = 1\nsource = conv.cu\noperation = conv_forward\n"
    "precision = fp32\nbaseline = baseline.cu\n"
    "[points]\ncorrect = 50\nspeed = 30\npredict = 20\n"
    "[speed]\nslack = 1.2\n"
    "[case first]\nshape = N=2 C=1 H=9 W=8 K=6 R=5 S=3 pad=valid stride=1\n"
    "shape_gpu = N=64 C=1 H=9 W=8 K=6 R=5 S=3 pad=valid stride=1\ntimed = yes\nabout = A|B\n"
    "[case second]\nshape = N=1 C=3 H=4 W=4 K=2 R=1 S=1 pad=valid stride=2 layout=nhwc\n"
    "about = x<y\n"
    "[hidden]\ncount = 6\nmax_macs = 2e6\n"
    "[predict bytes]\ncase = first\nmetric = blocks\nquestion = How many of N*K?\ntolerance = 0\n"
    "points = 20\n"
    "[hint 1]\ntext = Begin.\n";

static LabIni lab;

static char *printed(void (*print)(FILE *, const LabIni *))
{
    char *text = NULL;
    size_t bytes;
    Error error = {""};
    lab_ini_parse("lab.ini", LAB, strlen(LAB), &lab, &error);
    assert_string_equal(error.text, "");
    FILE *stream = open_memstream(&text, &bytes);
    print(stream, &lab);
    fclose(stream);
    return text;
}

static void case_rows_show_the_gpu_size_in_brackets(void **state)
{
    (void)state;
    char *text = printed(handout_print_shapes);
    assert_string_equal(
        text,
        "| case | N | C | H | W | K | R | S | pad | stride | layout | P | Q | timed | purpose |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
        "|\n"
        "| `first` | 2 (64) | 1 | 9 | 8 | 6 | 5 | 3 | valid | 1 |  | 5 | 6 | yes | A\\|B |\n"
        "| `second` | 1 | 3 | 4 | 4 | 2 | 1 | 1 | valid | 2 | nhwc | 2 | 2 |  | x&lt;y |\n"
        "\n"
        "Sizes in brackets are those on a GPU.\n"
        "Each grading run also tests 6 hidden shapes of at most 2,000,000 multiply-adds each.\n"
        "Correct results earn 50 points, predictions 20 and speed 30. A timed case earns its full "
        "speed\npoints within 1.2 times the solution's time.\n");
    free(text);
}

static void prediction_rows_show_points(void **state)
{
    (void)state;
    char *text = printed(handout_print_questions);
    assert_string_equal(text, "| prediction | question to answer | points |\n| --- | --- | --- |\n"
                              "| `bytes` | How many of N\\*K? | 20 |\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_rows_show_the_gpu_size_in_brackets),
        cmocka_unit_test(prediction_rows_show_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
