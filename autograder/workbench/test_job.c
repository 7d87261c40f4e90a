#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "autograder/workbench/job.h"

static JobQueue *queue;

static int queue_make(void **state)
{
    (void)state;
    return (queue = job_queue_open(JOB_UNATTENDED)) ? 0 : -1;
}

static int queue_end(void **state)
{
    (void)state;
    job_queue_close(queue);
    return 0;
}

static void shell_start(const char *script, char id[JOB_ID_CHARACTERS + 1])
{
    char *argv[] = {"/bin/sh", "-c", (char *)script, NULL};
    Error error;
    assert_int_equal(job_start(queue, argv, "", id, &error), 0);
}

/* Waits until the job has that state, and returns its output. */
static char *output_at(const char *id, JobState state, int *status)
{
    JobView view;
    for (;;) {
        assert_int_equal(job_view(queue, id, 0, &view), 0);
        if (view.state == state) break;
        assert_true(view.state < JOB_ENDED);
        free(view.text);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    *status = view.status;
    return view.text;
}

static void collects_output_and_status(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1];
    int status;
    shell_start("echo out; echo err >&2; exit 3", id);
    char *text = output_at(id, JOB_ENDED, &status);
    assert_string_equal(text, "out\nerr\n");
    assert_int_equal(status, 3);
    free(text);
    JobView view;
    assert_int_equal(job_view(queue, id, 4, &view), 0);
    assert_string_equal(view.text, "err\n");
    free(view.text);
    assert_int_equal(job_view(queue, "0123", 0, &view), -1);
}

static void shows_output_after_a_zero_byte(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1];
    int status;
    shell_start("printf 'before\\0after'", id);
    char *text = output_at(id, JOB_ENDED, &status);
    assert_string_equal(text, "before?after");
    free(text);
}

static void names_the_signal_of_a_program(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1];
    int status;
    shell_start("kill -SEGV $$", id);
    free(output_at(id, JOB_ENDED, &status));
    assert_int_equal(status, 128 + SIGSEGV);
}

/* The child ignores SIGTERM and has a child of its own: both end. */
static void cancels_a_job_with_its_children(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1];
    int status, child = 0;
    shell_start("trap '' TERM; sleep 1000 & echo $!; wait", id);
    for (JobView view; !child; free(view.text)) {
        assert_int_equal(job_view(queue, id, 0, &view), 0);
        child = atoi(view.text);
    }
    assert_int_equal(job_cancel(queue, id), 0);
    free(output_at(id, JOB_CANCELLED, &status));
    while (kill(child, 0) == 0) /* init collects it */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_int_equal(job_cancel(queue, "none"), -1);
}

/* Neither of a program that has ended nor of a cancelled one does the queue wait for a process that
 * has left the group and keeps the output open. */
static void leaves_a_process_of_another_session(void **state)
{
    (void)state;
    static const char *const SCRIPTS[] = {"setsid sleep 1000 & echo $!",
                                          "setsid sleep 1000 & echo $!; wait"};
    for (int i = 0; i < 2; i++) {
        char id[JOB_ID_CHARACTERS + 1];
        int status, child = 0;
        shell_start(SCRIPTS[i], id);
        for (JobView view; !child; free(view.text)) {
            assert_int_equal(job_view(queue, id, 0, &view), 0);
            child = atoi(view.text);
        }
        if (i == 1) assert_int_equal(job_cancel(queue, id), 0);
        free(output_at(id, i == 1 ? JOB_CANCELLED : JOB_ENDED, &status));
        assert_int_equal(kill(child, SIGKILL), 0);
    }
}

/* Its output has ended, and the program has not. */
static void cancels_a_program_that_has_closed_its_output(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1], output[64];
    int status, child = 0;
    shell_start("exec >&- 2>&-; exit 3", id);
    free(output_at(id, JOB_ENDED, &status));
    assert_int_equal(status, 3);
    shell_start("echo $$; exec >&- 2>&-; exec sleep 1000", id);
    for (JobView view; !child; free(view.text)) {
        assert_int_equal(job_view(queue, id, 0, &view), 0);
        child = atoi(view.text);
    }
    snprintf(output, sizeof output, "/proc/%d/fd/2", child);
    while (access(output, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_int_equal(job_cancel(queue, id), 0);
    free(output_at(id, JOB_CANCELLED, &status));
    assert_int_equal(kill(child, 0), -1);
}

static void rejects_jobs_beyond_the_queue(void **state)
{
    (void)state;
    char id[JOBS_WAITING + 1][JOB_ID_CHARACTERS + 1], further[JOB_ID_CHARACTERS + 1];
    char *argv[] = {"/bin/sh", "-c", "sleep 1000", NULL};
    int status;
    Error error;
    for (int i = 0; i <= JOBS_WAITING; i++)
        shell_start("sleep 1000", id[i]);
    assert_int_equal(job_start(queue, argv, "", further, &error), -1);
    assert_non_null(strstr(error.text, "wait already"));
    for (int i = 0; i <= JOBS_WAITING; i++)
        job_cancel(queue, id[i]);
    for (int i = 0; i <= JOBS_WAITING; i++)
        free(output_at(id[i], JOB_CANCELLED, &status));
    shell_start("echo free", id[0]);
    char *text = output_at(id[0], JOB_ENDED, &status);
    assert_string_equal(text, "free\n");
    free(text);
}

static void bounds_the_output(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1];
    int status;
    shell_start("yes | head -c 3000000", id);
    char *text = output_at(id, JOB_ENDED, &status);
    assert_in_range(strlen(text), JOB_OUTPUT - 200, JOB_OUTPUT);
    assert_non_null(strstr(text, "the rest is not shown"));
    free(text);
}

static void keeps_the_latest_jobs(void **state)
{
    (void)state;
    char first[JOB_ID_CHARACTERS + 1], id[JOB_ID_CHARACTERS + 1];
    int status;
    JobView view;
    shell_start("echo first", first);
    free(output_at(first, JOB_ENDED, &status));
    for (int i = 0; i < JOBS_KEPT; i++) {
        shell_start("true", id);
        free(output_at(id, JOB_ENDED, &status));
    }
    assert_int_equal(job_view(queue, first, 0, &view), -1);
}

static void passes_input_to_a_dialogue(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1], *argv[] = {"/bin/sh", "-c", "read a; echo got $a", NULL};
    int status;
    Error error;
    assert_int_equal(job_start_dialog(queue, argv, id, &error), 0);
    while (job_input(queue, id, "a line\n")) /* until it runs */
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    char *text = output_at(id, JOB_ENDED, &status);
    assert_string_equal(text, "got a line\n");
    free(text);
    assert_int_equal(job_input(queue, id, "late\n"), -1);
    assert_int_equal(job_start(queue, argv, "", id, &error), 0);
    text = output_at(id, JOB_ENDED, &status);
    assert_string_equal(text, "got\n");
    free(text);
}

static void reports_a_program_that_is_missing(void **state)
{
    (void)state;
    char id[JOB_ID_CHARACTERS + 1], *argv[] = {"/nowhere/lab", NULL};
    int status;
    Error error;
    assert_int_equal(job_start(queue, argv, "", id, &error), 0);
    char *text = output_at(id, JOB_ENDED, &status);
    assert_non_null(strstr(text, "could not be started"));
    assert_int_equal(status, 127);
    free(text);
}

static void cancels_a_job_without_readers(void **state)
{
    (void)state;
    JobQueue *short_queue = job_queue_open(0);
    char id[JOB_ID_CHARACTERS + 1], *argv[] = {"/bin/sh", "-c", "sleep 1000", NULL};
    Error error;
    JobView view;
    assert_int_equal(job_start(short_queue, argv, "", id, &error), 0);
    for (;;) { /* more than a second passes between two looks */
        nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 200000000}, NULL);
        assert_int_equal(job_view(short_queue, id, 0, &view), 0);
        if (view.state == JOB_CANCELLED) break;
        free(view.text);
    }
    assert_non_null(strstr(view.text, "no page has shown this output"));
    free(view.text);
    job_queue_close(short_queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_output_and_status),
        cmocka_unit_test(shows_output_after_a_zero_byte),
        cmocka_unit_test(names_the_signal_of_a_program),
        cmocka_unit_test(cancels_a_job_with_its_children),
        cmocka_unit_test(leaves_a_process_of_another_session),
        cmocka_unit_test(cancels_a_program_that_has_closed_its_output),
        cmocka_unit_test(rejects_jobs_beyond_the_queue),
        cmocka_unit_test(bounds_the_output),
        cmocka_unit_test(keeps_the_latest_jobs),
        cmocka_unit_test(passes_input_to_a_dialogue),
        cmocka_unit_test(reports_a_program_that_is_missing),
        cmocka_unit_test(cancels_a_job_without_readers),
    };
    return cmocka_run_group_tests(tests, queue_make, queue_end);
}
