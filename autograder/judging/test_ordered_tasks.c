/* test_ordered_tasks.c - parallel tasks that end out of order, fail, or die. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/judging/ordered_tasks.h"

enum { TURNS = 5 };

/* Task 0 ends last, task 2 fails, task 3 dies. */
static int turn(void *context, int number, double result[TURN_RESULTS])
{
    const int *most = context;
    result[0] = number + 0.5, result[1] = *most;
    printf("%d begins\n", number);
    fflush(stdout);
    usleep(number == 0 ? 400000 : 50000);
    if (number == 3) raise(SIGKILL);
    fprintf(stderr, "%d complains\n", number);
    printf("%d ends\n", number);
    return number == 2;
}

/* Runs ordered_tasks_run in a process whose output goes into `text`; returns the number of failed
 * tasks. */
static int run(int at_once, char *text, size_t bytes)
{
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        double result[TURNS][TURN_RESULTS] = {{0}};
        dup2(pipes[1], 1), dup2(pipes[1], 2), close(pipes[0]), close(pipes[1]);
        int wrong = ordered_tasks_run(TURNS, at_once, turn, &at_once, result);
        for (int i = 0; i < TURNS; i++)
            printf("%g %g\n", result[i][0], result[i][1]);
        fflush(stdout);
        _exit(wrong);
    }
    close(pipes[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(pipes[0], text + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = 0;
    close(pipes[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_in_their_order(void **state)
{
    (void)state;
    for (int at_once = 1; at_once <= 3; at_once++) {
        char text[2000], expected[2000];
        assert_int_equal(run(at_once, text, sizeof text), 2);
        snprintf(expected, sizeof expected,
                 "0 begins\n0 ends\n0 complains\n1 begins\n1 ends\n1 complains\n"
                 "2 begins\n2 ends\n2 complains\n3 begins\na turn's process died: Killed\n"
                 "4 begins\n4 ends\n4 complains\n"
                 "0.5 %d\n1.5 %d\n2.5 %d\n3.5 %d\n4.5 %d\n",
                 at_once, at_once, at_once, at_once, at_once);
        assert_string_equal(text, expected);
    }
}

/* Tasks of a minute hold a pipe; its end closes when the last of them ends. */
static int task_long(void *context, int number, double result[TURN_RESULTS])
{
    (void)number, (void)result;
    const int *pipe_end = context;
    if (write(*pipe_end, "x", 1) == 1) sleep(60);
    return 0;
}

static void test_end_with_the_parent(void **state)
{
    int pipes[2], status;
    char byte;
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        double result[2][TURN_RESULTS];
        close(pipes[0]);
        _exit(ordered_tasks_run(2, 2, task_long, &pipes[1], result));
    }
    close(pipes[1]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(read(pipes[0], &byte, 1), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(read(pipes[0], &byte, 1), 0);
    close(pipes[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_their_order),
        cmocka_unit_test(test_end_with_the_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
