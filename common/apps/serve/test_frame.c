/* test_frame.c - frames byte by byte, the served model, and settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "common/apps/serve/batches/frame.h"
#include "common/apps/serve/model.h"
#include "common/apps/serve/settings.h"
#include "common/apps/serve/status.h"

/* As in frame.h. */
static const unsigned char HEAD[FRAME_BYTES] = {
    'C',  'L',  'S',  '1',  0x04, 0x03, 0x00, 0x00, /* 772 bytes */
    0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* id */
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, /* 2^32 ns */
    0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void a_header_has_these_bytes(void **state)
{
    (void)state;
    Frame frame = {772, 2, 0x0102030405060708u, 1ull << 32}, back;
    unsigned char head[FRAME_BYTES];
    frame_write(&frame, head);
    assert_memory_equal(head, HEAD, FRAME_BYTES);
    assert_int_equal(frame_read(HEAD, &back), 0);
    assert_int_equal(back.bytes, 772);
    assert_int_equal(back.word, 2);
    assert_true(back.id == frame.id && back.time == frame.time);
}

/* The mark and the zeros. */
static void other_bytes_are_no_header(void **state)
{
    (void)state;
    for (int i = 0; i < FRAME_BYTES; i++) {
        unsigned char head[FRAME_BYTES];
        Frame frame;
        memcpy(head, HEAD, sizeof head);
        head[i] ^= 0x40;
        assert_int_equal(frame_read(head, &frame), i < 4 || i >= 28 ? -1 : 0);
    }
}

static void a_frame_is_complete_at_its_last_byte(void **state)
{
    (void)state;
    Frame frame;
    for (size_t count = 0; count < FRAME_BYTES + 772; count++)
        assert_int_equal(frame_next(HEAD, count, 772, &frame), FRAME_MORE);
    assert_int_equal(frame_next(HEAD, FRAME_BYTES + 772, 772, &frame), FRAME_WHOLE);
    assert_int_equal(frame_next(HEAD, FRAME_BYTES, 771, &frame), FRAME_BROKEN);
}

/* ---- served model ------------------------------------------------------------------------- */

static void a_row_an_image_and_weights_for_all(void **state)
{
    (void)state;
    Model model;
    Problem problem;
    Error error;
    assert_int_equal(model_open("fc_forward", "N=9 C=6 K=4", 3, "", &model, &error), 0);
    assert_string_equal(model.shape, "N=1 C=6 K=4");
    assert_int_equal(model.count[model.x], 6);
    assert_int_equal(model.count[model.y], 4);
    assert_int_equal(model.count[1], 24);
    assert_non_null(model.weight[1]);
    assert_null(model.weight[model.x]);
    char text[MODEL_TEXT];
    assert_int_equal(model_batch(&model, 5, &problem, &error), 0);
    model.operation->print(&problem, text, sizeof text);
    assert_string_equal(text, "N=5 C=6 K=4");
    model_close(&model);
}

/* The weights of `make run`, for any N. */
static void weights_are_those_of_a_run(void **state)
{
    (void)state;
    Model model;
    Problem problem;
    Error error;
    Random random;
    float x[18], w[24], *tensor[3] = {x, w, NULL};
    assert_int_equal(model_open("fc_forward", "N=1 C=6 K=4", 3, "", &model, &error), 0);
    assert_int_equal(model_batch(&model, 3, &problem, &error), 0);
    random_seed(&random, 3);
    model.operation->generate(&problem, &random, tensor);
    assert_memory_equal(model.weight[1], w, sizeof w);
    model_close(&model);
}

static void frames_without_rows_are_rejected(void **state)
{
    (void)state;
    Model model;
    Error error;
    const char *const chwn = "N=1 C=3 H=8 W=8 K=4 R=3 S=3 pad=same stride=1 layout=chwn";
    assert_int_equal(model_open("conv_forward", chwn, 1, "", &model, &error), -1);
    assert_non_null(
        strstr(error.text, "cannot be served: one input and the output must have one row"));
    assert_int_equal(model_open("fc_backward", "N=1 C=6 K=4", 1, "", &model, &error), -1);
    assert_non_null(strstr(error.text, "there is no operation 'fc_backward'"));
    assert_int_equal(model_open("fc_forward", "N=1 C=6", 1, "", &model, &error), -1);
    assert_int_equal(model_open("fc_forward", "N=1 C=6 K=4", 1, "/nowhere", &model, &error), -1);
    assert_non_null(strstr(error.text, "/nowhere"));
}

/* ---- settings ----------------------------------------------------------------------------- */

static void vocabulary_words_are_found_by_line(void **state)
{
    (void)state;
    const char *text = "a_b 1\na 22\na{of=\"x\"} 3\nlast word is long";
    char word[40];
    assert_int_equal(status_number(text, "a"), 22);
    assert_int_equal(status_number(text, "a{of=\"x\"}"), 3);
    assert_int_equal(status_number(text, "b"), 0);
    assert_int_equal(status_word(text, "last", word, sizeof word), 0);
    assert_string_equal(word, "word is long");
    assert_int_equal(status_word(text, "b", word, sizeof word), -1);
}

static void settings_describe_their_range(void **state)
{
    (void)state;
    double limit = 7, batch = 0;
    const char *path = "";
    const Setting table[] = {{.name = "SOCKET", .text = &path},
                             {"LIMIT", NULL, &limit, 1, 1000, "milliseconds", 0},
                             {"BATCH", NULL, &batch, 1, 64, "requests", 1},
                             {0}};
    char *good[] = {"load", "LIMIT=2.5", "SOCKET=/a=b", "BATCH="};
    Error error;
    assert_int_equal(settings_read(4, good, table, &error), 0);
    assert_true(limit == 2.5 && batch == 0);
    assert_string_equal(path, "/a=b");
    const char *const bad[] = {"LIMIT=x", "LIMIT=nan", "LIMIT=0", "BATCH=2.5", "BATCH=65"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char word[20], *words[] = {"load", word};
        strcpy(word, bad[i]);
        assert_int_equal(settings_read(2, words, table, &error), -1);
        assert_non_null(strstr(error.text, i < 3 ? "LIMIT is milliseconds from 1 to 1000, not '"
                                                 : "BATCH is requests from 1 to 64, not '"));
    }
    char *unknown[] = {"load", "LIMITS=2"};
    assert_int_equal(settings_read(2, unknown, table, &error), -1);
    assert_string_equal(error.text, "there is no setting 'LIMITS=2'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_has_these_bytes),
        cmocka_unit_test(other_bytes_are_no_header),
        cmocka_unit_test(a_frame_is_complete_at_its_last_byte),
        cmocka_unit_test(a_row_an_image_and_weights_for_all),
        cmocka_unit_test(weights_are_those_of_a_run),
        cmocka_unit_test(frames_without_rows_are_rejected),
        cmocka_unit_test(vocabulary_words_are_found_by_line),
        cmocka_unit_test(settings_describe_their_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
