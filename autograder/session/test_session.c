/* test_session.c - small submissions to host labs, valid and malicious, through all three
 * processes. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "autograder/sandbox/test_hogs.h"
#include "common/operations/catalog/operations.h"

#include "autograder/session/test_runs.h"

/* gcc 14 rejects calls of undeclared functions, and -std=c11 alone declares no usleep. */
#define HOST_HEAD                                                                                  \
    "#define _GNU_SOURCE\n#include <convlab/conv.h>\n#include <fcntl.h>\n#include <stdio.h>\n"     \
    "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <signal.h>\n"

/* The definition, unoptimised. */
#define NAIVE_HOST                                                                                 \
    "static void naive(const ConvProblem *p, const float *x, const float *w, float *y) {\n"        \
    " for (int n = 0; n < p->N; n++) for (int k = 0; k < p->K; k++)\n"                             \
    "  for (int i = 0; i < p->P; i++) for (int j = 0; j < p->Q; j++) { float sum = 0;\n"           \
    "   for (int c = 0; c < p->C; c++) for (int r = 0; r < p->R; r++) for (int s = 0; s < p->S; "  \
    "s++) {\n"                                                                                     \
    "    int h = i * p->stride_h + r - p->pad_top, v = j * p->stride_w + s - p->pad_left;\n"       \
    "    if (h >= 0 && h < p->H && v >= 0 && v < p->W)\n"                                          \
    "     sum += x[((n * p->C + c) * p->H + h) * p->W + v] * w[((k * p->C + c) * p->R + r) * "     \
    "p->S + s]; }\n"                                                                               \
    "   y[((n * p->K + k) * p->P + i) * p->Q + j] = sum; } }\n"

#define HOST_ENTRY                                                                                 \
    "void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y) {\n"   \
    " (void)p; (void)x; (void)w; (void)y;\n"

static const char honest_host[] = HOST_HEAD NAIVE_HOST HOST_ENTRY " naive(p, x, w, y); }\n";

static void expect_host(const char *body, RunStatus status, const char *words)
{
    char source[8192];
    snprintf(source, sizeof source, "%s%s%s%s }\n", HOST_HEAD, NAIVE_HOST, HOST_ENTRY, body);
    expect("conv_forward_host", source, honest_host, status, words);
}

static void test_host_correct(void **state)
{
    Run run;
    (void)state;
    run_open(&run, "conv_forward_host", 10);
    run_load(&run, 0, honest_host);
    run_call(&run, 0);
    expect_correct(&run);
    assert_true(run.outcome.cost.seconds > 0);
    run_load(&run, 1, honest_host);
    run_call(&run, 1);
    expect_correct(&run);
    run_call(&run, 0); /* slot 1's call has ended it: it starts again */
    expect_correct(&run);
    run_close(&run);
}

static void test_host_ends_early(void **state)
{
    (void)state;
    expect_host("naive(p, x, w, y); exit(0);", RUN_EXITED, "exit(0)");
    expect_host("_exit(3);", RUN_EXITED, "exit(3)");
    expect_host("fputs(\"last words\\n\", stderr); _exit(1);", RUN_EXITED, "last words");
    expect_host("close(3); for (;;) { }", RUN_EXITED, "continued to run");
}

static void test_host_crashes(void **state)
{
    (void)state;
    expect_host("*(volatile int *)8 = 1;", RUN_CRASHED, "SIGSEGV");
    expect_host("abort();", RUN_CRASHED, "SIGABRT");
    expect_host("kill(getpid(), SIGFPE); pause();", RUN_CRASHED, "SIGFPE");
}

/* On a GPU the waiting limit depends on the problem, elsewhere on the CPU limit. */
static void test_waiting_for_a_gpu(void **state)
{
    Session session = {.engine = ENGINE_GPU, .operation = operation_find("conv_forward")};
    Error error;
    (void)state;
    assert_int_equal(
        session.operation->parse("N=100 C=64 H=100 W=100 K=100 R=5 S=5 pad=same stride=1",
                                 &session.call.problem, &error),
        0);
    double seconds = 100 * 64. * 100 * 100 * 100 * 25 / 5e9;
    assert_float_equal(limit_waiting(&session, 1000), 5 + seconds, 1e-9);
    session.limits = 1;
    assert_float_equal(limit_waiting(&session, 1000), 2 + seconds, 1e-9);
    for (session.limits = 2; session.limits < 9; session.limits++)
        assert_float_equal(limit_waiting(&session, 1000), 0.5 + seconds, 1e-9);
    assert_float_equal(limit_waiting(&session, 3), 3, 0);
    session.call.host = 1;
    assert_float_equal(limit_waiting(&session, 1000), 1000, 0);
    session = (Session){.engine = ENGINE_SIM, .operation = session.operation};
    assert_float_equal(limit_waiting(&session, 1000), 1000, 0);
}

/* Endless code is reported after at most 20 s of its CPU time: in a lab of two operations, six
 * cases of each are tried (judging/grade_cases.c). */
static void test_endless_everywhere(void **state)
{
    Session session = {.engine = ENGINE_SIM, .call_seconds = CALL_SECONDS};
    double all = 0;
    (void)state;
    for (session.limits = 0; session.limits < 2 * 6; session.limits++) {
        const double seconds = limit_seconds(&session, 0);
        assert_true(seconds >= 0.5); /* twice what correct code needs on a slow machine */
        all += seconds;
    }
    assert_true(all <= 20);
    assert_float_equal(limit_seconds(&session, 1), CALL_SECONDS, 0); /* the course's own program */
}

static void test_host_limits(void **state)
{
    (void)state;
    expect_host("for (volatile int i = 0;; i = 1) { }", RUN_LIMIT, "s of CPU time");
    expect_host("pause();", RUN_LIMIT, "without computing anything");
    expect_host("raise(SIGSTOP);", RUN_LIMIT, "without computing anything");
    expect_host("for (;;) if (write(1, y, 4096) < 0) usleep(1000);", RUN_LIMIT, "waited");
    expect_host("for (;;) { char *m = malloc(1 << 20); if (!m) abort(); memset(m, 1, 1 << 20); }",
                RUN_CRASHED, "SIGABRT");
}

static void test_host_has_no_children(void **state)
{
    Run run;
    (void)state;
    run_open(&run, "conv_forward_host", 10);
    run_load(&run, 0,
             HOST_HEAD NAIVE_HOST HOST_ENTRY
             " for (int i = 0; i < 100; i++) if (fork() >= 0) abort();\n"
             " naive(p, x, w, y); }\n");
    run_call(&run, 0);
    expect_correct(&run);
    run_close(&run);
}

static void test_host_nonsense(void **state)
{
    (void)state;
    expect_host("if (write(3, \"nonsense and more nonsense\", 26) < 0) abort(); pause();",
                RUN_PROTOCOL, "invalid message");
    /* the header of an answer, and too few bytes after it */
    expect_host(
        "unsigned long long h[3] = {0x4574c4331ull, 8, 0}; h[0] = 0x400000000ull | 0x574c4331;\n"
        "if (write(3, h, 24) < 0) abort(); pause();",
        RUN_PROTOCOL, "8 bytes");
}

static void test_host_guard_bands(void **state)
{
    Run run;
    (void)state;
    run_open(&run, "conv_forward_host", 10);
    run_load(&run, 0,
             HOST_HEAD NAIVE_HOST HOST_ENTRY
             " naive(p, x, w, y); y[p->N * p->K * p->P * p->Q + 5] = 1; }\n");
    run_call(&run, 0);
    assert_int_equal(run.outcome.status, RUN_OK);
    assert_string_equal(run.observed.band_broken, "y");
    assert_int_equal(run.observed.band_offset, 5);
    assert_int_equal(run.verdict.correct, 0);
    assert_string_equal(run.observed.band_broken, "y");
    run_load(&run, 0,
             HOST_HEAD NAIVE_HOST HOST_ENTRY " naive(p, x, w, y); ((float *)w)[-2] = 1; }\n");
    run_call(&run, 0);
    assert_string_equal(run.observed.band_broken, "w");
    assert_int_equal(run.observed.band_offset, -2);
    run_load(&run, 0,
             HOST_HEAD NAIVE_HOST HOST_ENTRY " naive(p, x, w, y); ((float *)x)[3] = 0; }\n");
    run_call(&run, 0);
    assert_string_equal(run.observed.input_changed, "x");
    assert_int_equal(run.verdict.correct, 0);
    run_close(&run);
}

/* With four other processes on its processor a call takes longer, and no limit changes.  The
 * slowdown depends on the kernel: if it divides a processor among processes, not sessions, the
 * runner may get a fifth of it. */
static void test_host_is_not_late_under_load(void **state)
{
    Hogs hogs;
    Run run;
    (void)state;
    /* Pinned first, because a runner that waits for its call keeps the cores that it had at its
     * start. */
    hogs_pin(&hogs);
    run_open(&run, "conv_forward_host", 1);
    run_load(&run, 0,
             HOST_HEAD "#include <time.h>\n" NAIVE_HOST HOST_ENTRY
                       " clock_t end = clock() + CLOCKS_PER_SEC * 8 / 10;\n"
                       " while (clock() < end) { }\n naive(p, x, w, y); }\n");
    hogs_start(&hogs, 4);
    double start = sandbox_clock();
    run_call(&run, 0);
    double seconds = sandbox_clock() - start;
    hogs_stop(&hogs);
    expect_correct(&run);
    assert_true(seconds > 1.05); /* longer than a wall-clock limit of one second would allow */
    run_close(&run);
}

/* With forty processes the runner never reaches its limit: the machine is at fault, and the message
 * says so. */
static void test_host_is_starved(void **state)
{
    Hogs hogs;
    Run run;
    (void)state;
    hogs_pin(&hogs);
    run_open(&run, "conv_forward_host", 0.1);
    run_load(&run, 0, HOST_HEAD HOST_ENTRY " for (;;) y[0] = 1; }\n");
    hogs_start(&hogs, 40);
    setenv("CONVLAB_PATIENCE", "30", 1);
    run_call(&run, 0);
    setenv("CONVLAB_PATIENCE", "1000", 1);
    hogs_stop(&hogs);
    assert_int_equal(run.outcome.status, RUN_STARVED);
    assert_non_null(strstr(run.outcome.message, "this machine is too busy to grade"));
    run_close(&run);
}

static RunCount run_count(Run *run, const char *source)
{
    RunCount count = {0};
    run_load(run, 0, source);
    inputs_fresh(run);
    session_count(run->session, 0, (const float *const *)run->tensor, run->output, &run->observed,
                  &run->outcome, &count);
    run_judge(run);
    return count;
}

static void test_counts_of_valgrind(void **state)
{
    (void)state;
    static const char rest[] = "==6== I1  misses:      1,128\n==6== D1  misses:      1,797\n"
                               "==6== LL misses:       2,607\n";
    static const char *const good[] = {"==6== I   refs:      149,796\n", /* valgrind 3.19, 3.24 */
                                       "==6== I refs:        149,796\n"};
    char log[400];
    RunCount count;
    for (int i = 0; i < 2; i++) {
        snprintf(log, sizeof log, "%s%s", good[i], rest);
        assert_int_equal(count_parse(log, &count), 0);
        assert_int_equal(count.instructions, 149796);
        assert_int_equal(count.l1_misses, 1128 + 1797);
        assert_int_equal(count.ll_misses, 2607);
        for (int k = 0; k < 2; k++) { /* the other one was written by the program */
            snprintf(log, sizeof log, "%s%s%s", good[i], good[k], rest);
            assert_int_equal(count_parse(log, &count), -1);
        }
    }
    assert_int_equal(count_parse(rest, &count), -1);
}

/* Counts are reproducible: the same again, on other inputs, and of the call alone. */
static void test_host_is_counted(void **state)
{
    static const char twice[] =
        HOST_HEAD NAIVE_HOST HOST_ENTRY " naive(p, x, w, y); naive(p, x, w, y); }\n";
    static const char busy_start[] = HOST_HEAD NAIVE_HOST
        "__attribute__((constructor)) static void start(void) {\n"
        " for (volatile int i = 0; i < 3000000; i++) { } }\n" HOST_ENTRY " naive(p, x, w, y); }\n";
    Run run;
    (void)state;
    if (session_cannot_count()) skip();
    run_open(&run, "conv_forward_host", 30);
    RunCount once = run_count(&run, honest_host);
    expect_correct(&run);
    RunCount again = run_count(&run, honest_host);
    assert_true(once.instructions > 100000);
    assert_int_equal(again.instructions, once.instructions);
    assert_int_equal(again.l1_misses, once.l1_misses);
    assert_int_equal(again.ll_misses, once.ll_misses);
    RunCount more = run_count(&run, twice), start = run_count(&run, busy_start);
    expect_correct(&run);
    assert_true(more.instructions > 1.5 * once.instructions);
    assert_in_range(start.instructions, once.instructions - 5000, once.instructions + 5000);
    run_call(&run, 0); /* and without valgrind as before */
    expect_correct(&run);
    run_close(&run);
}

static void test_host_cannot_leave_the_count(void **state)
{
    Run run;
    (void)state;
    if (session_cannot_count()) skip();
    run_open(&run, "conv_forward_host", 10);
    /* Ends before valgrind does and prints a fake count. */
    run_count(
        &run, HOST_HEAD NAIVE_HOST HOST_ENTRY
        " static const char line[] = \"==2== I   refs: 7\\n==2== I1  misses: 0\\n\"\n"
        "  \"==2== D1  misses: 0\\n==2== LL misses: 0\\n\";\n"
        " naive(p, x, w, y); if (write(4, line, sizeof line - 1) > 0) kill(getpid(), 9); }\n");
    assert_int_not_equal(run.outcome.status, RUN_OK);
    /* The same, then continues normally: a count that occurs twice is rejected. */
    run_count(&run, HOST_HEAD NAIVE_HOST HOST_ENTRY
              " static const char line[] = \"==2== I   refs: 7\\n\";\n"
              " naive(p, x, w, y); if (write(4, line, sizeof line - 1) < 0) abort(); }\n");
    assert_int_equal(run.outcome.status, RUN_EXITED);
    /* Output that exceeds the buffer, so that the real counts are not read. */
    run_count(&run, HOST_HEAD NAIVE_HOST HOST_ENTRY
              " static char line[9000] = \"==2== I   refs: 7\\n==2== I1  misses: 0\\n\"\n"
              "  \"==2== D1  misses: 0\\n==2== LL misses: 0\\n\";\n"
              " naive(p, x, w, y); memset(line + 80, 61, sizeof line - 80);\n"
              " if (write(4, line, sizeof line) < 0) abort(); }\n");
    assert_int_equal(run.outcome.status, RUN_EXITED);
    run_close(&run);
}

/* State kept for one problem is gone in the next; state kept from the last call is stale. */
static void test_host_state_does_not_survive_a_call(void **state)
{
    static const char source[] =
        HOST_HEAD NAIVE_HOST "static float kept[100000]; static int calls;\n" HOST_ENTRY
                             " if (!calls++) naive(p, x, w, kept);\n"
                             " memcpy(y, kept, sizeof(float) * p->N * p->K * p->P * p->Q); }\n";
    Run run;
    Error error;
    (void)state;
    run_open(&run, "conv_forward_host", 10);
    run_load(&run, 0, source);
    run_call(&run, 0);
    expect_correct(&run);
    inputs_fresh(&run);
    run_call(&run, 0);
    assert_int_equal(run.verdict.correct, 0);
    assert_int_equal(session_set_problem(run.session, run.operation, &run.problem, 1, &error), 0);
    run_call(&run, 0);
    expect_correct(&run); /* a new process: this is its first call */
    run_close(&run);
}

/* The device process is killed after half a second, every time or the first time only. */
static void run_with_dying_device(const char *script, RunStatus expected)
{
    char program[128];
    Error error = {""};
    Run run;
    snprintf(program, sizeof program, "%s/device", directory);
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    fprintf(file, script, directory, directory);
    fprintf(file, "exec %s/bin/device\n", toolchain.build);
    fclose(file);
    assert_int_equal(chmod(program, 0755), 0);
    SessionOptions options = {
        .engine = ENGINE_SIM, .machine = "h200", .call_seconds = 30, .device_program = program};
    run_open(&run, "conv_forward_host", 30);
    session_close(run.session);
    assert_int_equal(session_open(&options, &run.session, &error), 0);
    assert_int_equal(session_set_problem(run.session, run.operation, &run.problem, 1, &error), 0);
    run_load(&run, 0,
             HOST_HEAD
             "#include <time.h>\n" NAIVE_HOST HOST_ENTRY
             " struct timespec second = {1, 0}; nanosleep(&second, 0); naive(p, x, w, y); }\n");
    run_call(&run, 0);
    assert_int_equal(run.outcome.status, expected);
    run_close(&run);
}

static void test_device_process_dies(void **state)
{
    (void)state;
    run_with_dying_device("#!/bin/sh\n: %s %s\n(sleep 0.5; kill -9 $$) &\n", RUN_CRASHED);
    run_with_dying_device(
        "#!/bin/sh\n[ -e %s/died ] || { : >%s/died; (sleep 0.5; kill -9 $$) & }\n", RUN_OK);
}

static void test_bad_options(void **state)
{
    SessionOptions options = {.engine = ENGINE_SIM, .machine = "no-such-gpu"};
    Session *session;
    Error error;
    (void)state;
    assert_int_equal(session_open(&options, &session, &error), -1);
    assert_null(session);
    assert_non_null(strstr(error.text, "no-such-gpu"));
    options = (SessionOptions){
        .engine = ENGINE_SIM, .machine = "h200", .device_program = "/nowhere/device"};
    assert_int_equal(session_open(&options, &session, &error), -1);
    assert_non_null(strstr(error.text, "/nowhere/device"));
}

int main(void)
{
    int cannot = runs_open();
    if (cannot) return cannot > 0;
    const struct CMUnitTest host[] = {
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_device_process_dies),
        cmocka_unit_test(test_host_correct),
        cmocka_unit_test(test_host_ends_early),
        cmocka_unit_test(test_host_crashes),
        cmocka_unit_test(test_waiting_for_a_gpu),
        cmocka_unit_test(test_endless_everywhere),
        cmocka_unit_test(test_host_limits),
        cmocka_unit_test(test_host_is_not_late_under_load),
        cmocka_unit_test(test_host_is_starved),
        cmocka_unit_test(test_counts_of_valgrind),
        cmocka_unit_test(test_host_is_counted),
        cmocka_unit_test(test_host_cannot_leave_the_count),
        cmocka_unit_test(test_host_has_no_children),
        cmocka_unit_test(test_host_nonsense),
        cmocka_unit_test(test_host_guard_bands),
        cmocka_unit_test(test_host_state_does_not_survive_a_call),
    };
    const struct CMUnitTest lowered[] = {
        cmocka_unit_test(test_host_correct),
        cmocka_unit_test(test_host_has_no_children),
        cmocka_unit_test(test_host_state_does_not_survive_a_call),
    };
    int failed = cmocka_run_group_tests(host, NULL, NULL);
    return runs_close(failed + runs_lowered(lowered));
}
