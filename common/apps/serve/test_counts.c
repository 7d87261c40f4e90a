/* test_counts.c - metrics in Prometheus' format, and quantiles compared with those of sorted
 * times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/operations/operation/random.h"
#include "common/apps/serve/status.h"
#include "common/apps/serve/counts.h"
#include "common/apps/serve/latency.h"

/* ---- the text format 0.0.4 ---------------------------------------------------------------- */

typedef struct Sample {
    char family[80], type[20]; /* from the last # TYPE */
    char name[80], labels[120];
    double value;
} Sample;

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalpha((unsigned char)text[length]) || text[length] == '_' || text[length] == ':' ||
           (length && isdigit((unsigned char)text[length])))
        length++;
    return length;
}

/* Parses {name="value",...}: returns the rest; NULL: invalid. */
static const char *labels_end(const char *text)
{
    if (*text != '{') return text;
    do {
        size_t name = name_length(++text);
        text += name;
        if (!name || strncmp(text, "=\"", 2)) return NULL;
        for (text += 2; *text != '"'; text++)
            if (!*text || *text == '\\' || *text == '\n') return NULL;
        text++;
    } while (*text == ',');
    return *text == '}' ? text + 1 : NULL;
}

static int is_type(const char *word)
{
    static const char *const type[] = {"counter", "gauge", "histogram", "summary", "untyped"};
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        if (!strcmp(word, type[i])) return 1;
    return 0;
}

/* One line of the format.  1: a sample, 0: a comment, -1: neither. */
static int read_line(const char *line, Sample *sample)
{
    char *end;
    if (!strncmp(line, "# HELP ", 7)) return name_length(line + 7) ? 0 : -1;
    if (sscanf(line, "# TYPE %79s %19s", sample->family, sample->type) == 2)
        return is_type(sample->type) ? 0 : -1;
    size_t name = name_length(line);
    const char *labels = line + name, *value = labels_end(labels);
    if (!name || !value || *value != ' ') return -1;
    snprintf(sample->name, sizeof sample->name, "%.*s", (int)name, line);
    snprintf(sample->labels, sizeof sample->labels, "%.*s", (int)(value - labels), labels);
    sample->value = strtod(value + 1, &end);
    return end == value + 1 || *end ? -1 : 1;
}

/* A sample's name is its family's, in a histogram with a suffix. */
static int is_of_family(const Sample *sample)
{
    size_t length = strlen(sample->family);
    const char *ending = sample->name + length;
    if (strncmp(sample->name, sample->family, length)) return 0;
    if (strcmp(sample->type, "histogram")) return !*ending;
    return !strcmp(ending, "_bucket") || !strcmp(ending, "_sum") || !strcmp(ending, "_count");
}

static char *text;

static void write_text(const Counts *counts, const Batcher *batcher)
{
    size_t bytes;
    free(text);
    FILE *stream = open_memstream(&text, &bytes);
    counts_write(stream, counts, batcher, 0);
    fclose(stream);
}

static Batcher batcher;

static Counts some(void)
{
    Error error;
    Counts counts = {.requests = 12, .connections = 3, .connected = 2};
    queue_close(&batcher.queue);
    batcher = (Batcher){.largest = 6};
    assert_int_equal(queue_open(&batcher.queue, 4, 6, &error), 0);
    for (int size = 1; size <= 8; size *= 2)
        cost_begin(&batcher.cost, size, 1000000);
    counts.outcome[FRAME_ANSWERED] = 5;
    counts.outcome[FRAME_FULL] = 4;
    counts.outcome[OUTCOME_DROPPED] = 1;
    for (int i = 0; i < 2; i++) {
        Ticket ticket = {.client = &batcher, .deadline = UINT64_MAX};
        assert_true(queue_put(&batcher.queue, &ticket) >= 0);
    }
    counts_batch(&counts, 1), counts_batch(&counts, 3), counts_batch(&counts, 5);
    counts_answer(&counts, 90000), counts_answer(&counts, 150000), counts_answer(&counts, 1 << 30);
    write_text(&counts, &batcher);
    return counts;
}

static void every_line_is_of_the_format(void **state)
{
    (void)state;
    Sample sample = {0};
    int samples = 0;
    some();
    assert_int_equal(text[strlen(text) - 1], '\n');
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        int kind = read_line(line, &sample);
        if (kind < 0 || (kind && !is_of_family(&sample))) fail_msg("%s", line);
        samples += kind;
    }
    assert_true(samples > 30);
}

/* The parser rejects invalid text. */
static void lines_outside_the_format_are_found(void **state)
{
    (void)state;
    const char *const bad[] = {"a",           "a b",          "1a 2",  "a{b=c} 1",  "a{b=\"c\" 1",
                               "a{b=\"c\"}1", "# TYPE a sum", "a 1 x", "a{\"c\"} 1"};
    Sample sample = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(read_line(bad[i], &sample), -1);
}

static void requests_are_outcomes_waiting_and_running(void **state)
{
    (void)state;
    Counts counts = some();
    assert_int_equal(status_number(text, "serve_requests_total"), 12);
    assert_int_equal(status_number(text, "serve_outcomes_total{outcome=\"answered\"}"), 5);
    assert_int_equal(status_number(text, "serve_outcomes_total{outcome=\"full\"}"), 4);
    assert_int_equal(status_number(text, "serve_outcomes_total{outcome=\"dropped\"}"), 1);
    assert_int_equal(status_number(text, "serve_waiting"), 2);
    queue_take(&batcher.queue, 1);
    write_text(&counts, &batcher);
    assert_int_equal(status_number(text, "serve_waiting"), 1);
    assert_int_equal(status_number(text, "serve_running"), 1);
    assert_int_equal(counts_pending(&batcher.queue), 2);
}

/* Buckets are cumulative; batches of 1, 3 and 5; 90 us, 150 us and 1.07 s. */
static void buckets_add_up(void **state)
{
    (void)state;
    some();
    assert_int_equal(status_number(text, "serve_batch_requests_bucket{le=\"1\"}"), 1);
    assert_int_equal(status_number(text, "serve_batch_requests_bucket{le=\"2\"}"), 1);
    assert_int_equal(status_number(text, "serve_batch_requests_bucket{le=\"4\"}"), 2);
    assert_int_equal(status_number(text, "serve_batch_requests_bucket{le=\"8\"}"), 3);
    assert_int_equal(status_number(text, "serve_batch_requests_bucket{le=\"+Inf\"}"), 3);
    assert_int_equal(status_number(text, "serve_batch_requests_sum"), 9);
    assert_int_equal(status_number(text, "serve_seconds_bucket{le=\"0.0001\"}"), 1);
    assert_int_equal(status_number(text, "serve_seconds_bucket{le=\"0.0002\"}"), 2);
    assert_int_equal(status_number(text, "serve_seconds_bucket{le=\"0.8192\"}"), 2);
    assert_int_equal(status_number(text, "serve_seconds_bucket{le=\"1.6384\"}"), 3);
    assert_int_equal(status_number(text, "serve_seconds_count"), 3);
}

/* ---- quantiles ---------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Times from 2 us to 20 s, compared with the sorted ones. */
static void quantiles_are_right_to_a_hundredth(void **state)
{
    (void)state;
    enum { TIMES = 20000 };
    static double sorted[TIMES];
    Latency latency, half;
    Error error;
    Random random;
    random_seed(&random, 1);
    assert_int_equal(latency_open(&latency, &error), 0);
    assert_int_equal(latency_open(&half, &error), 0);
    for (int i = 0; i < TIMES; i++) {
        sorted[i] = 2e-3 * pow(1e7, random_unit(&random));
        latency_note(i % 2 ? &half : &latency, (uint64_t)(sorted[i] * 1e6));
    }
    latency_add(&latency, &half);
    qsort(sorted, TIMES, sizeof *sorted, by_size);
    const double quantile[] = {0.01, 0.5, 0.9, 0.99, 0.999};
    for (int i = 0; i < 5; i++) {
        double expected = sorted[(int)(quantile[i] * TIMES)];
        assert_true(fabs(latency_quantile(&latency, quantile[i]) / expected - 1) < 0.02);
    }
    assert_int_equal(latency.longest, (uint64_t)(sorted[TIMES - 1] * 1e6));
    latency_close(&half);
    latency_close(&latency);
}

static void times_above_the_last_bin_count(void **state)
{
    (void)state;
    Latency latency;
    Error error;
    assert_int_equal(latency_open(&latency, &error), 0);
    assert_true(latency_quantile(&latency, 0.5) == 0);
    latency_note(&latency, 0);
    latency_note(&latency, 500000000000ull);
    assert_int_equal(latency.count, 2);
    assert_true(latency_quantile(&latency, 0.25) < 0.0011);
    assert_true(latency_quantile(&latency, 0.75) > 90000);
    latency_close(&latency);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_of_the_format),
        cmocka_unit_test(lines_outside_the_format_are_found),
        cmocka_unit_test(requests_are_outcomes_waiting_and_running),
        cmocka_unit_test(buckets_add_up),
        cmocka_unit_test(quantiles_are_right_to_a_hundredth),
        cmocka_unit_test(times_above_the_last_bin_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
