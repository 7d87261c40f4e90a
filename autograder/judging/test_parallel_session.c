/* test_parallel_session.c - a fake session runs cases from the last one backwards: correct cases
 * are taken, all others are left to the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/judging/parallel_session.h"
#include "common/base/parallel.h"
#include "common/operations/catalog/operations.h"

enum { CASES = 6, MINE = 3, TIMED = 5 }; /* MINE: index of the case that only the grader may run */

static struct {
    int closed, wrong, prints; /* indices of cases; -1: none */
    _Atomic int ran[CASES], runs;
    const char *printed;
} fake;

int session_open_parallel(const Session *session, Session **parallel, Error *error)
{
    if (!session) return error_set(error, "no");
    *parallel = (Session *)&fake;
    return 0;
}
int session_start_runner(Session *session, int slot, const Build *build, Error *error)
{
    assert_ptr_equal(session, &fake);
    (void)slot, (void)build, (void)error;
    return 0;
}
void session_close(Session *session)
{
    assert_ptr_equal(session, &fake);
    fake.closed++;
}
const char *session_printed(Session *session)
{
    assert_ptr_equal(session, &fake);
    return fake.printed;
}
void judge_choose(Judge *judge, const Operation *operation)
{
    judge->operation = operation;
}
/* In this test a problem contains only the number of its case. */
void judge_case(Judge *judge, const Problem *problem, Random *random, Expected *precomputed,
                CasePrice price, RecordCase *item)
{
    const int number = problem->data[0];
    assert_ptr_equal(judge->session, &fake);
    assert_non_null(judge->operation);
    assert_null(precomputed);
    assert_int_equal(price, number == TIMED ? CASE_TIMED : CASE_PRICED);
    (void)random;
    judge->habits |= 1u << number;
    fake.ran[number]++;
    item->verdict = number == fake.wrong ? CASE_WRONG : CASE_CORRECT;
    item->cost.cycles = 100 + (uint64_t)number;
    fake.printed = number == fake.prints ? "hello" : "";
    usleep(1000);
    fake.runs++;
}

static const int order[CASES] = {2, 0, 1, 3,
                                 5, 4}; /* 4 is the last case of the order, before it
                                                     * come 5, 1, 0 and 2 */

static ParallelSession *begin(const Judge *judge, int wrong, int prints)
{
    static const Build build;
    ParallelCase *list = calloc(CASES, sizeof *list);
    assert_non_null(list);
    memset(&fake, 0, sizeof fake);
    fake.wrong = wrong;
    fake.prints = prints;
    fake.printed = "";
    for (int i = 0; i < CASES; i++) {
        if (i != MINE) list[i].inputs.operation = operation_find("conv_forward");
        list[i].inputs.problem.data[0] = (unsigned char)i;
        list[i].item.possible = i;
        list[i].price = i == TIMED ? CASE_TIMED : CASE_PRICED;
    }
    ParallelSession *parallel = parallel_session_begin(judge, &build, NULL, list, order, CASES);
    /* Only a machine with one core has no parallel session. */
    if (!parallel) assert_int_equal(parallel_cores(), 1);
    return parallel;
}

static void wait_for(int runs)
{
    for (int i = 0; i < 600000 && fake.runs < runs; i++)
        usleep(1000);
    assert_true(fake.runs >= runs);
}

/* Takes every case in order and returns how many were correct in the parallel session. */
static int take_all(ParallelSession *parallel)
{
    int taken = 0;
    for (int i = 0; i < CASES; i++) {
        RecordCase item = {.possible = -1};
        const int number = order[i], right = parallel_session_take(parallel, number, &item);
        assert_int_equal(item.possible, right ? number : -1);
        if (right) assert_int_equal(item.cost.cycles, 100 + number);
        if (right) assert_int_equal(fake.ran[number], 1);
        assert_false(parallel_session_take(parallel, number, &item));
        taken += right;
    }
    return taken;
}

static const Judge mine = {.session = (Session *)&fake, .habits = 1u << 30};

static void test_from_the_last(void **state)
{
    (void)state;
    Judge judge = mine;
    ParallelSession *parallel = begin(&judge, -1, -1);
    if (!parallel) skip();
    wait_for(1);
    assert_int_equal(fake.ran[4], 1);
    wait_for(CASES - 1);
    assert_int_equal(take_all(parallel), CASES - 1);
    parallel_session_end(parallel, &judge);
    assert_int_equal(fake.ran[MINE], 0);
    assert_int_equal(fake.closed, 1);
    assert_int_equal(judge.habits, 1u << 30 | ((1u << CASES) - 1 - (1u << MINE)));
}

/* No case is run twice, whichever case both sides reach first. */
static void test_tasks_run_at_the_same_time(void **state)
{
    (void)state;
    for (unsigned pause = 0; pause < 6000; pause += 500) {
        Judge judge = mine;
        RecordCase item;
        ParallelSession *parallel = begin(&judge, -1, -1);
        if (!parallel) skip();
        assert_false(parallel_session_take(parallel, order[0], &item) && !fake.ran[order[0]]);
        usleep(pause);
        const int runs = fake.runs, taken = take_all(parallel);
        assert_true(taken >= runs - 1);
        parallel_session_end(parallel, &judge);
        for (int i = 0; i < CASES; i++)
            assert_true(fake.ran[i] <= 1);
    }
}

static void test_errors_reach_the_caller(void **state)
{
    (void)state;
    Judge judge = mine;
    ParallelSession *parallel = begin(&judge, 5, -1);
    if (!parallel) skip();
    wait_for(2);
    assert_int_equal(take_all(parallel), 1); /* case 4; no case was tried after the wrong one */
    parallel_session_end(parallel, &judge);
    assert_int_equal(fake.runs, 2);
}

static void test_output_reaches_the_caller(void **state)
{
    (void)state;
    Judge judge = mine;
    ParallelSession *parallel = begin(&judge, -1, 4);
    if (!parallel) skip();
    wait_for(1);
    assert_int_equal(take_all(parallel), 0);
    parallel_session_end(parallel, &judge);
    assert_int_equal(fake.runs, 1);
}

static void test_without_a_session(void **state)
{
    (void)state;
    Judge judge = {0};
    RecordCase item;
    ParallelSession *parallel = begin(&judge, -1, -1);
    if (!parallel) skip();
    assert_int_equal(take_all(parallel), 0);
    parallel_session_end(parallel, &judge);
    assert_int_equal(fake.closed, 0);
    assert_false(parallel_session_take(NULL, 0, &item));
    parallel_session_end(NULL, &judge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_the_last),
        cmocka_unit_test(test_tasks_run_at_the_same_time),
        cmocka_unit_test(test_errors_reach_the_caller),
        cmocka_unit_test(test_output_reaches_the_caller),
        cmocka_unit_test(test_without_a_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
