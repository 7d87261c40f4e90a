/* test_trace.c - the kinds of trace steps: values by kind, and the check of a wrong kind. */
#define STEP_CHECKS
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/simulator/core/trace.h"

/* The signal that ends a process that calls the function; 0: the process exits. */
static int signal_of(uint32_t (*function)(const TraceStep *), const TraceStep *step)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        if (!freopen("/dev/null", "w", stderr)) _exit(1);
        function(step);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_step_has_the_values_of_its_kind(void **state)
{
    (void)state;
    TraceStep access = {.kind = STEP_ACCESS,
                        .first_line = 7,
                        .passes = 3,
                        .sectors = 8,
                        .lines = 2},
              ordered = {.kind = STEP_ORDERED, .wait_cycles = 900, .passes = 1, .sectors = 1},
              copy = {.kind = STEP_ASYNC, .phase = 5, .bulk_sectors = {0x34, 0x12}};
    assert_int_equal(step_first_line(&access), 7);
    assert_int_equal(step_wait_cycles(&access), 0);
    assert_int_equal(step_passes(&access), 3);
    assert_int_equal(step_sectors(&access), 8);
    assert_int_equal(step_lines(&access), 2);
    assert_int_equal(step_first_line(&ordered), 0);
    assert_int_equal(step_wait_cycles(&ordered), 900);
    assert_int_equal(step_phase(&copy), 5);
    assert_int_equal(step_bulk_sectors(&copy), 0x1234);
}

static void a_wrong_kind_aborts(void **state)
{
    (void)state;
    TraceStep sleep = {.kind = STEP_SLEEP, .sleeps = 2}, plain = {.kind = STEP_PLAIN};
    assert_int_equal(signal_of(step_sleeps, &sleep), 0);
    assert_int_equal(signal_of(step_passes, &sleep), SIGABRT);
    assert_int_equal(signal_of(step_passes, &plain), 0);
}

static void an_access_keeps_its_kind(void **state)
{
    (void)state;
    WarpStep plain = {.kind = STEP_PLAIN}, texture = {.kind = STEP_TEXTURE};
    step_access(&plain), step_access(&texture);
    assert_int_equal(plain.kind, STEP_ACCESS);
    assert_int_equal(texture.kind, STEP_TEXTURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_has_the_values_of_its_kind),
                                       cmocka_unit_test(a_wrong_kind_aborts),
                                       cmocka_unit_test(an_access_keeps_its_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
