#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/cuda/paired_timing/paired.h"

/* ---- noise: splitmix64, uniform in (0, 1) ---- */

typedef struct Noise {
    uint64_t state;
} Noise;

static double noise_next(Noise *noise)
{
    uint64_t z = noise->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 12) + 0.5) / (double)(1ull << 52);
}

/* At least 1, with a long upper tail, like times; its median is 1 + spread * ln 2. */
static double noise_slow(Noise *noise, double spread)
{
    return 1 - spread * log(noise_next(noise));
}

static void assert_close(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.9g is not %.9g within %g", value, wanted, tolerance);
}

/* ---- statistics ---- */

/* k and confidence as printed in tables of the sign test (two-sided 95 %). */
static void ranks_equal_published_tables(void **state)
{
    (void)state;
    const struct {
        int n, rank;
        double confidence;
    } table[] = {{6, 1, .9688},  {7, 1, .9844},  {8, 1, .9922},  {9, 2, .9609},  {10, 2, .9785},
                 {12, 3, .9614}, {15, 4, .9648}, {20, 6, .9586}, {25, 8, .9567}, {50, 18, .9672}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        double confidence;
        assert_int_equal(paired_rank(table[i].n, 0.95, &confidence), table[i].rank);
        assert_close(confidence, table[i].confidence, 0.0001);
    }
    double none;
    for (int n = 0; n < PAIRED_LEAST; n++)
        assert_int_equal(paired_rank(n, 0.95, &none), 0);
    assert_true(paired_rank(PAIRED_MOST, 0.95, &none) > 450);
}

/* Over many runs the interval must contain the true ratio with its confidence, although the noise
 * is skewed. */
static void intervals_have_the_stated_coverage(void **state)
{
    (void)state;
    enum { TRIALS = 4000, PAIRS = 20 };
    const uint64_t seed = 20260101;
    printf("seed %llu\n", (unsigned long long)seed);
    Noise noise = {seed};
    int held = 0;
    for (int t = 0; t < TRIALS; t++) {
        double a[PAIRS], b[PAIRS];
        for (int i = 0; i < PAIRS; i++) { /* same noise on both sides: the median ratio is 1.7 */
            a[i] = 1.7e-3 * noise_slow(&noise, 0.05);
            b[i] = 1.0e-3 * noise_slow(&noise, 0.05);
        }
        PairedResult r;
        Error error;
        assert_int_equal(paired_judge(a, b, PAIRS, NULL, &r, &error), 0);
        held += r.low <= 1.7 && 1.7 <= r.high;
    }
    double coverage = (double)held / TRIALS, deviation = sqrt(.9586 * .0414 / TRIALS);
    assert_close(coverage, .9586, 4 * deviation);
}

static void median_of_even_and_odd(void **state)
{
    (void)state;
    const double a[] = {2, 3, 8, 4, 1, 6, 5}, b[] = {1, 1, 1, 1, 1, 1, 1};
    const PairedOptions wide = {.width_max = 100, .drift_max = 100};
    PairedResult r;
    Error error;
    assert_int_equal(paired_judge(a, b, 7, &wide, &r, &error), 0);
    assert_close(r.ratio, 4, 1e-12); /* 1 2 3 4 5 6 8 */
    assert_close(r.low, 1, 1e-12);
    assert_close(r.high, 8, 1e-12);
    assert_close(r.a_seconds, 4, 1e-12);
    assert_int_equal(paired_judge(a, b, 6, &wide, &r, &error), 0);
    assert_close(r.ratio, sqrt(12.0), 1e-12); /* between 3 and 4, as a factor */
    double up = r.ratio;
    assert_int_equal(paired_judge(b, a, 6, &wide, &r, &error), 0);
    assert_close(r.ratio * up, 1, 1e-12);
}

static void too_few_pairs_give_no_verdict(void **state)
{
    (void)state;
    const double same[] = {1, 1, 1, 1, 1, 1};
    PairedResult r;
    Error error;
    assert_int_equal(paired_judge(same, same, 5, NULL, &r, &error), 0);
    assert_int_equal(r.verdict, PAIRED_AGAIN);
    assert_non_null(strstr(r.why, "5 pairs are too few"));
    assert_int_equal(paired_judge(same, same, 6, NULL, &r, &error), 0);
    assert_int_equal(r.verdict, PAIRED_OK);
    assert_string_equal(r.why, "");
    assert_int_equal(paired_judge(same, same, 0, NULL, &r, &error), -1);
    assert_int_equal(paired_judge(same, same, PAIRED_MOST + 1, NULL, &r, &error), -1);
}

static void impossible_times_are_rejected(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        double a[6] = {1, 1, 1, 1, 1, 1}, b[6] = {1, 1, 1, 1, 1, 1};
        PairedResult r;
        Error error;
        b[3] = bad[i];
        assert_int_equal(paired_judge(a, b, 6, NULL, &r, &error), -1);
        assert_non_null(strstr(error.text, "pair 4 of 6"));
    }
}

static void drift_is_seen_and_noise_is_not_called_drift(void **state)
{
    (void)state;
    const uint64_t seed = 7;
    printf("seed %llu\n", (unsigned long long)seed);
    Noise noise = {seed};
    const PairedOptions wide = {.width_max = 10};
    int called = 0;
    for (int t = 0; t < 1000; t++) {
        double a[20], b[20];
        PairedResult r;
        Error error;
        for (int i = 0; i < 20; i++) {
            a[i] = noise_slow(&noise, 0.02) * (1 + 0.3 * i / 19);
            b[i] = noise_slow(&noise, 0.02);
        }
        assert_int_equal(paired_judge(a, b, 20, &wide, &r, &error), 0);
        assert_close(r.drift, 0.3, 0.15);
        called += r.verdict == PAIRED_AGAIN && strstr(r.why, "moved by +");
    }
    assert_true(called > 990);
    called = 0;
    for (int t = 0; t < 1000; t++) {
        double a[20], b[20];
        PairedResult r;
        Error error;
        for (int i = 0; i < 20; i++) { /* both clocks slow down together: no drift of the ratio */
            a[i] = 2 * noise_slow(&noise, 0.05) * (1 + 0.3 * i / 19);
            b[i] = noise_slow(&noise, 0.05) * (1 + 0.3 * i / 19);
        }
        assert_int_equal(paired_judge(a, b, 20, &wide, &r, &error), 0);
        called += r.verdict != PAIRED_OK;
    }
    assert_true(called < 20); /* 3 sigma, both ways: about 3 in a thousand */
}

/* ---- measuring ---- */

typedef struct Clock {
    Noise noise;
    double spread, creep; /* noise of a window; slowdown from each window to the next */
    char order[400];      /* subjects in the order of measurement, by number of repeats */
    int windows, fail_at;
} Clock;

typedef struct FakeSubject {
    Clock *clock;
    double seconds;
    char letter;
    int repeats_seen;
} FakeSubject;

static int fake_measure(void *context, int repeats, double *seconds, Error *error)
{
    FakeSubject *s = context;
    Clock *c = s->clock;
    if (c->fail_at && c->windows + 1 == c->fail_at) return error_set(error, "the machine is gone");
    if (c->windows < (int)sizeof c->order - 1) c->order[c->windows] = s->letter;
    c->windows++;
    s->repeats_seen = repeats;
    *seconds = s->seconds * noise_slow(&c->noise, c->spread) * (1 + c->creep * c->windows);
    return 0;
}

static void windows_are_long_enough(void **state)
{
    (void)state;
    Clock clock = {.noise = {3}};
    FakeSubject a = {&clock, 0.020, 'A', 0}, b = {&clock, 0.004, 'B', 0},
                tiny = {&clock, 1e-6, 'T', 0};
    PairedSubject long_one = {fake_measure, &a, 0}, short_one = {fake_measure, &b, 0},
                  tiny_one = {fake_measure, &tiny, 0};
    Error error;
    assert_int_equal(paired_repeats(&long_one, NULL, &error), 0);
    assert_int_equal(paired_repeats(&short_one, NULL, &error), 0);
    assert_int_equal(paired_repeats(&tiny_one, NULL, &error), 0);
    assert_true(long_one.repeats * 0.020 >= 0.050 && long_one.repeats <= 4);
    assert_true(short_one.repeats * 0.004 >= 0.050 && short_one.repeats <= 16);
    assert_int_equal(tiny_one.repeats, 1000);
}

/* Successive rounds with all pairs so far; each continues after the one before. */
static void interim_analyses_add_alternating_pairs(void **state)
{
    (void)state;
    Clock clock = {.noise = {3}};
    FakeSubject a = {&clock, 0.020, 'A', 0}, b = {&clock, 0.004, 'B', 0};
    PairedSubject first = {fake_measure, &a, 3}, second = {fake_measure, &b, 15};
    PairedSeries series = {0};
    PairedResult r;
    Error error;
    const int pairs[PAIRED_INTERIMS] = {6, 14, PAIRED_PAIRS};
    for (int look = 0; look < PAIRED_INTERIMS; look++) {
        assert_int_equal(paired_interim(&series, &first, &second, NULL, &r, &error), 0);
        assert_int_equal(r.verdict, PAIRED_OK);
        assert_int_equal(r.pairs, pairs[look]);
        assert_int_equal(clock.windows, 2 * pairs[look]);
        assert_close(r.ratio, 5, 1e-9);
    }
    for (int i = 0; i < 2 * PAIRED_PAIRS; i++)
        assert_int_equal(clock.order[i], "ABBA"[i % 4]);
    assert_int_equal(a.repeats_seen, 3);
    assert_int_equal(b.repeats_seen, 15);
    assert_int_equal(paired_interim(&series, &first, &second, NULL, &r, &error), -1);
    assert_string_equal(error.text, "all pairs were measured");
}

/* Even with up to three rounds and any stopping rule the result is correct: all three intervals
 * contain the ratio in 95 of 100 series, although the noise is skewed.  Here the adversary wins if
 * any of the three is wrong. */
static void three_interim_analyses_share_the_error_rate(void **state)
{
    (void)state;
    enum { TRIALS = 4000 };
    const uint64_t seed = 20260102;
    printf("seed %llu\n", (unsigned long long)seed);
    Clock clock = {.noise = {seed}, .spread = 0.05};
    FakeSubject a = {&clock, 1.7e-3, 'A', 0}, b = {&clock, 1e-3, 'B', 0};
    PairedSubject first = {fake_measure, &a, 1}, second = {fake_measure, &b, 1};
    int missed = 0;
    for (int t = 0; t < TRIALS; t++) {
        PairedSeries series = {0};
        PairedResult r;
        Error error;
        int miss = 0;
        for (int look = 0; look < PAIRED_INTERIMS; look++) {
            assert_int_equal(paired_interim(&series, &first, &second, NULL, &r, &error), 0);
            miss |= !(r.low <= 1.7 && 1.7 <= r.high);
        }
        missed += miss;
    }
    double part = (double)missed / TRIALS, deviation = sqrt(.05 * .95 / TRIALS);
    assert_true(part < .05 + 3 * deviation);
    assert_true(part > .02); /* the rounds do use their allowance */
}

/* Everything slows down by 1 % per window: pairs alternate their order, so the ratio is
 * constant. */
static void common_drift_cancels(void **state)
{
    (void)state;
    Clock clock = {.noise = {3}, .creep = 0.01};
    FakeSubject a = {&clock, 0.2, 'A', 0}, b = {&clock, 0.1, 'B', 0};
    PairedSubject first = {fake_measure, &a, 1}, second = {fake_measure, &b, 1};
    PairedSeries series = {0};
    PairedResult r;
    Error error;
    assert_int_equal(paired_interim(&series, &first, &second, NULL, &r, &error), 0);
    assert_int_equal(r.verdict, PAIRED_OK);
    assert_close(r.ratio, 2, 0.005);
}

static void large_noise_gives_no_verdict(void **state)
{
    (void)state;
    const uint64_t seed = 11;
    printf("seed %llu\n", (unsigned long long)seed);
    Clock clock = {.noise = {seed}, .spread = 1.0};
    FakeSubject a = {&clock, 0.1, 'A', 0}, b = {&clock, 0.1, 'B', 0};
    PairedSubject first = {fake_measure, &a, 1}, second = {fake_measure, &b, 1};
    PairedSeries series = {0}, later = {0};
    PairedResult r;
    Error error;
    for (int look = 0; look < PAIRED_INTERIMS; look++) {
        assert_int_equal(paired_interim(&series, &first, &second, NULL, &r, &error), 0);
        assert_int_equal(r.verdict, PAIRED_AGAIN);
        assert_non_null(strstr(r.why, "wide where 5.0 % is allowed"));
    }
    clock.spread = 0.01; /* the load has ended: the same subjects can be judged now */
    assert_int_equal(paired_interim(&later, &first, &second, NULL, &r, &error), 0);
    assert_int_equal(r.verdict, PAIRED_OK);
    assert_close(r.ratio, 1, 0.02);
}

static void a_failing_measurement_ends_it(void **state)
{
    (void)state;
    for (int at = 1; at <= 20; at += 3) {
        Clock clock = {.noise = {5}, .fail_at = at};
        FakeSubject a = {&clock, 0.1, 'A', 0}, b = {&clock, 0.1, 'B', 0};
        PairedSubject first = {fake_measure, &a, 1}, second = {fake_measure, &b, 1};
        PairedSeries series = {0};
        PairedResult r;
        Error error;
        int status = 0;
        while (!status)
            status = paired_interim(&series, &first, &second, NULL, &r, &error);
        assert_string_equal(error.text, "the machine is gone");
        assert_int_equal(clock.windows, at - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_equal_published_tables),
        cmocka_unit_test(intervals_have_the_stated_coverage),
        cmocka_unit_test(median_of_even_and_odd),
        cmocka_unit_test(too_few_pairs_give_no_verdict),
        cmocka_unit_test(impossible_times_are_rejected),
        cmocka_unit_test(drift_is_seen_and_noise_is_not_called_drift),
        cmocka_unit_test(windows_are_long_enough),
        cmocka_unit_test(interim_analyses_add_alternating_pairs),
        cmocka_unit_test(three_interim_analyses_share_the_error_rate),
        cmocka_unit_test(common_drift_cancels),
        cmocka_unit_test(large_noise_gives_no_verdict),
        cmocka_unit_test(a_failing_measurement_ends_it),
    };
    return cmocka_run_group_tests_name("timing/paired", tests, NULL, NULL);
}
