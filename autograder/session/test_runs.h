/* test_runs.h - fixture of test_session.c and test_session_device.c: a small submission, built and
 * called through all three processes.
 *
 * Host labs need only the C compiler; the others need nvcc.  Each expectation is a RunStatus and
 * words of the student's message.  Include catalog/operations.h first. */
#ifndef CONVLAB_AUTOGRADER_SESSION_TEST_RUNS_H
#define CONVLAB_AUTOGRADER_SESSION_TEST_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/sandbox/sandbox.h"
#include "autograder/session/session_parts.h"
#include "common/base/sanitized.h"
#include "common/operations/operation/verify.h"

static Toolchain toolchain;
static char directory[64];
static const char *salt = ""; /* a comment before every source */
static char shape_text[64] = "N=2 C=3 H=9 W=11 K=4 R=3 S=2 pad=1 stride=1";

/* ---- one problem, one submission ---------------------------------------------------------- */

typedef struct Run {
    Session *session;
    const Operation *operation;
    const char *entry; /* conv_forward or conv_forward_host */
    Problem problem;
    TensorShape shape[OPERATION_TENSORS];
    float *tensor[OPERATION_TENSORS], *output;
    Observed observed;
    RunOutcome outcome;
    Verdict verdict;
} Run;

static void inputs_fresh(Run *run)
{
    Random random;
    random_seed(&random, random_os_seed());
    run->operation->generate(&run->problem, &random, run->tensor);
}

static void run_open(Run *run, const char *entry, double call_seconds)
{
    Error error = {""};
    SessionOptions options = {.engine = ENGINE_SIM,
                              .machine = "h200",
                              .call_seconds = call_seconds,
                              .sim_threads = 1,
                              .runner_memory_bytes = 512ull << 20};
    memset(run, 0, sizeof *run);
    run->entry = entry;
    run->operation = operation_find("conv_forward");
    if (run->operation->parse(shape_text, &run->problem, &error)) fail_msg("%s", error.text);
    int tensors = run->operation->tensors(&run->problem, run->shape);
    for (int i = 0; i < tensors; i++)
        run->tensor[i] = calloc(tensor_count(&run->shape[i]), sizeof(float));
    run->output = run->tensor[tensors - 1];
    inputs_fresh(run);
    if (session_open(&options, &run->session, &error)) fail_msg("%s", error.text);
    int host = strstr(entry, "_host") != NULL;
    if (session_set_problem(run->session, run->operation, &run->problem, host, &error))
        fail_msg("%s", error.text);
}

static void run_close(Run *run)
{
    session_close(run->session);
    for (int i = 0; i < OPERATION_TENSORS; i++)
        free(run->tensor[i]);
}

static void run_load(Run *run, int slot, const char *source)
{
    int host = strstr(run->entry, "_host") != NULL;
    char path[128];
    Build build;
    Error error = {""};
    snprintf(path, sizeof path, "%s/%s", directory, host ? "conv.c" : "conv.cu");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", salt, source);
    fclose(file);
    build_submission(&toolchain, NULL, path, run->entry, 75, BUILD_RUNNER, &build);
    if (build.status != BUILD_OK) fail_msg("%s\n%s", build.message, build.log ? build.log : "");
    if (session_start_runner(run->session, slot, &build, &error)) fail_msg("%s", error.text);
    build_clear(&build);
}

static void run_judge(Run *run)
{
    Error error = {""};
    memset(&run->verdict, 0, sizeof run->verdict);
    if (run->outcome.status != RUN_OK) {
        print_message("status %d: %s\n", run->outcome.status, run->outcome.message);
        return;
    }
    Judgement judgement;
    if (verify_output(run->operation, &run->problem, PRECISION_FP32,
                      (const float *const *)run->tensor, &run->observed, &judgement, &error))
        fail_msg("%s", error.text);
    run->verdict = judgement.verdict;
    judgement_free(&judgement);
    if (!run->verdict.correct) print_message("wrong: first %s\n", run->verdict.where);
}

static void run_call(Run *run, int slot)
{
    session_call(run->session, slot, (const float *const *)run->tensor, run->output, &run->observed,
                 &run->outcome);
    run_judge(run);
}

static void expect_correct(const Run *run)
{
    if (run->outcome.status != RUN_OK) fail_msg("%s", run->outcome.message);
    assert_int_equal(run->verdict.correct, 1);
    assert_null(run->observed.band_broken);
    assert_null(run->observed.input_changed);
}

/* Expects that a submission ends with this status; afterwards the session must still serve a valid
 * one. */
static void expect(const char *entry, const char *source, const char *honest, RunStatus status,
                   const char *words)
{
    Run run;
    run_open(&run, entry, 1);
    run_load(&run, 0, source);
    run_call(&run, 0);
    assert_int_equal(run.outcome.status, status);
    if (!strstr(run.outcome.message, words))
        fail_msg("'%s' is not in '%s'", words, run.outcome.message);
    run_load(&run, 0, honest);
    run_call(&run, 0);
    expect_correct(&run);
    run_close(&run);
}

/* A line that is in no cached build. */
static int fresh_cache(void **state)
{
    static char line[64];
    (void)state;
    snprintf(line, sizeof line, "/* %d %d */\n", (int)getpid(), (int)sandbox_probe());
    salt = line;
    print_message("%s\n", sandbox_level_name(sandbox_probe()));
    return 0;
}

/* Sets the toolchain and the directory of the sources.  Returns 0; 1 if the build folder is
 * missing; -1 if the tests cannot run here. */
static int runs_open(void)
{
    char build[600], self[512] = "";
    Error error;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 1;
    *strrchr(self, '/') = 0;
    snprintf(build, sizeof build, "%s/../../..", self);
    if (toolchain_load(".", build, &toolchain, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    /* Programs linked with its objects need its flags, which a submission's build does not have. */
    if (SANITIZED) {
        printf("skipped: a sanitized build has no libraries for submissions\n");
        return -1;
    }
    strcpy(directory, "/var/tmp/convlab-session-XXXXXX");
    return !mkdtemp(directory);
}

/* The number of failed tests, and 1 if the directory cannot be deleted. */
static int runs_close(int failed)
{
    char remove[sizeof directory + 16];
    snprintf(remove, sizeof remove, "rm -rf %s", directory);
    return failed + (system(remove) != 0);
}

/* The tests again in the weaker sandboxes, because the kernel may refuse namespaces; each source is
 * built again, so that the compilers also run there. */
#define runs_lowered(tests)                                                                        \
    (sandbox_lower(SANDBOX_LANDLOCK),                                                              \
     cmocka_run_group_tests_name("without namespaces", tests, fresh_cache, NULL) +                 \
         (sandbox_lower(SANDBOX_SECCOMP),                                                          \
          cmocka_run_group_tests_name("without Landlock", tests, fresh_cache, NULL)))

#endif
