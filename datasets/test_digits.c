/* test_digits.c - generated digits: reproducible, all ten classes, difficult for a linear
 * classifier and easy for nearest neighbours; and the real ones, compared with UCI's
 * description. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "datasets/array.h"
#include "datasets/digits.h"

enum { TRAIN = 3000, TEST = 500, EPOCHS = 12 };

static uint8_t *image, *label; /* TRAIN + TEST of them */

static int generate(void **state)
{
    Random random;
    (void)state;
    image = malloc((TRAIN + TEST) * DIGIT_PIXELS);
    label = malloc(TRAIN + TEST);
    random_seed(&random, 1);
    digits_generate(TRAIN + TEST, &random, image, label);
    return 0;
}

static int release(void **state)
{
    (void)state;
    free(image);
    free(label);
    return 0;
}

static void a_seed_gives_its_images(void **state)
{
    uint8_t again[20 * DIGIT_PIXELS], same[20];
    Random random;
    (void)state;
    random_seed(&random, 1);
    digits_generate(20, &random, again, same);
    assert_memory_equal(again, image, sizeof again);
    assert_memory_equal(same, label, sizeof same);
    random_seed(&random, 2);
    digits_generate(20, &random, again, same);
    assert_memory_not_equal(again, image, sizeof again);
}

static void all_ten_about_equally_often(void **state)
{
    int count[DIGIT_CLASSES] = {0};
    (void)state;
    for (int i = 0; i < TRAIN + TEST; i++)
        count[label[i]]++;
    for (int digit = 0; digit < DIGIT_CLASSES; digit++) /* 350, five standard deviations */
        assert_in_range(count[digit], 350 - 89, 350 + 89);
}

/* The scores of ten linear functions of the pixels. */
static int linear_digit(float weight[DIGIT_CLASSES][DIGIT_PIXELS + 1], const uint8_t *pixel,
                        float score[DIGIT_CLASSES])
{
    int best = 0;
    for (int k = 0; k < DIGIT_CLASSES; k++) {
        score[k] = weight[k][DIGIT_PIXELS];
        for (int i = 0; i < DIGIT_PIXELS; i++)
            score[k] += weight[k][i] * pixel[i];
        if (score[k] > score[best]) best = k;
    }
    return best;
}

/* Least squares by single-image updates (Widrow and Hoff, 1960); accuracy on TEST. */
static double linear_accuracy(void)
{
    static float weight[DIGIT_CLASSES][DIGIT_PIXELS + 1];
    float score[DIGIT_CLASSES];
    int right = 0;
    for (int step = 0; step < EPOCHS * TRAIN; step++) {
        const uint8_t *pixel = image + (size_t)(step % TRAIN) * DIGIT_PIXELS;
        linear_digit(weight, pixel, score);
        for (int k = 0; k < DIGIT_CLASSES; k++) {
            float wrong = (label[step % TRAIN] == k) - score[k];
            float rate = 2e-8f * wrong;
            for (int i = 0; i < DIGIT_PIXELS; i++)
                weight[k][i] += rate * pixel[i];
            weight[k][DIGIT_PIXELS] += 1e-3f * wrong;
        }
    }
    for (int i = TRAIN; i < TRAIN + TEST; i++)
        right += linear_digit(weight, image + (size_t)i * DIGIT_PIXELS, score) == label[i];
    return (double)right / TEST;
}

/* The label of the most similar training image. */
static int nearest_digit(const uint8_t *pixel)
{
    long least = -1;
    int digit = 0;
    for (int i = 0; i < TRAIN; i++) {
        long distance = 0;
        for (int j = 0; j < DIGIT_PIXELS; j++) {
            int d = pixel[j] - image[i * DIGIT_PIXELS + j];
            distance += d * d;
        }
        if (least < 0 || distance < least) least = distance, digit = label[i];
    }
    return digit;
}

static void hard_for_linear_functions_only(void **state)
{
    int right = 0;
    (void)state;
    double linear = linear_accuracy();
    for (int i = TRAIN; i < TRAIN + 200; i++)
        right += nearest_digit(image + (size_t)i * DIGIT_PIXELS) == label[i];
    print_message("linear %.1f %%, nearest of %d images %.1f %%\n", 100 * linear, TRAIN,
                  right / 2.);
    assert_true(linear > 0.5 && linear < 0.93);
    assert_true(right >= 160);
}

/* The class distribution that UCI's page gives for the test part. */
static void the_real_digits_are_those_of_uci(void **state)
{
    static const int published[DIGIT_CLASSES] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
    int count[DIGIT_CLASSES] = {0}, most = 0;
    Array images, labels;
    Error error;
    (void)state;
    if (array_read("datasets/digits-8x8/images-idx3-ubyte", &images, &error) ||
        array_read("datasets/digits-8x8/labels-idx1-ubyte", &labels, &error))
        fail_msg("%s", error.text);
    assert_int_equal(images.dimensions, 3);
    assert_int_equal(images.size[0], 1797);
    assert_int_equal(images.size[1], 8);
    assert_int_equal(images.size[2], 8);
    assert_int_equal(labels.count, 1797);
    for (int i = 0; i < 1797; i++) {
        assert_in_range(((uint8_t *)labels.value)[i], 0, 9);
        count[((uint8_t *)labels.value)[i]]++;
    }
    for (uint64_t i = 0; i < images.count; i++)
        if (((uint8_t *)images.value)[i] > most) most = ((uint8_t *)images.value)[i];
    assert_int_equal(most, 16);
    assert_memory_equal(count, published, sizeof count);
    array_close(&images);
    array_close(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_its_images),
        cmocka_unit_test(all_ten_about_equally_often),
        cmocka_unit_test(hard_for_linear_functions_only),
        cmocka_unit_test(the_real_digits_are_those_of_uci),
    };
    return cmocka_run_group_tests(tests, generate, release);
}
