#include "autograder/judging/beside.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/parallel.h"

typedef enum Stage { OPEN, RUNNING, RIGHT, CALLERS } Stage;

struct Beside {
    Judge judge;
    const Build *build;
    Ahead *ahead;
    BesideCase *list;
    Stage *stage; /* state of each case of the list */
    int *order, count, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
};

/* Reserves a case for the parallel session; 0: the grader already has it. */
static int case_begin(Beside *beside, int number)
{
    pthread_mutex_lock(&beside->lock);
    int mine = !beside->stop && beside->stage[number] == OPEN;
    if (mine) beside->stage[number] = RUNNING;
    pthread_mutex_unlock(&beside->lock);
    return mine;
}

static void case_end(Beside *beside, int number, int right)
{
    pthread_mutex_lock(&beside->lock);
    beside->stage[number] = right ? RIGHT : CALLERS;
    pthread_cond_broadcast(&beside->change);
    pthread_mutex_unlock(&beside->lock);
}

/* A kernel's printed text belongs to the grader's own session, so a case that prints is run
 * there. */
static int run_right(Beside *beside, int number)
{
    BesideCase *one = &beside->list[number];
    judge_choose(&beside->judge, one->inputs.operation);
    judge_case(&beside->judge, &one->inputs.problem, &one->inputs.random,
               ahead_take(beside->ahead, number), one->price, &one->item);
    return one->item.verdict == CASE_CORRECT && !*session_printed(beside->judge.session);
}

/* Runs the cases from the last one backwards.  Stops at a case that the grader already has, and at
 * the first wrong one: other cases probably fail for the same reason and would be run twice. */
static void run_from_the_last(Beside *beside)
{
    int right = 1;
    for (int i = beside->count - 1; i >= 0 && right; i--) {
        const int number = beside->order[i];
        if (!beside->list[number].inputs.operation) continue;
        if (!case_begin(beside, number)) return;
        right = run_right(beside, number);
        case_end(beside, number, right);
    }
}

static void *beside_run(void *context)
{
    Beside *beside = context;
    Session *of = beside->judge.session;
    Error error;
    if (session_beside(of, &beside->judge.session, &error)) return NULL;
    if (!session_start_runner(beside->judge.session, 0, beside->build, &error))
        run_from_the_last(beside);
    session_close(beside->judge.session);
    return NULL;
}

static void beside_free(Beside *beside)
{
    pthread_cond_destroy(&beside->change);
    pthread_mutex_destroy(&beside->lock);
    free(beside->list);
    free(beside->stage);
    free(beside->order);
    free(beside);
}

Beside *beside_begin(const Judge *judge, const Build *build, Ahead *ahead, BesideCase *list,
                     const int *order, int count)
{
    Beside *beside = calloc(1, sizeof *beside);
    if (!beside) {
        free(list);
        return NULL;
    }
    *beside =
        (Beside){.judge = *judge, .build = build, .ahead = ahead, .list = list, .count = count};
    beside->judge.current.bytes = 0;
    beside->judge.diagnosed = JUDGE_DIAGNOSES; /* the grader diagnoses wrong cases itself */
    pthread_mutex_init(&beside->lock, NULL);
    pthread_cond_init(&beside->change, NULL);
    beside->stage = calloc((size_t)count, sizeof *beside->stage);
    beside->order = calloc((size_t)count, sizeof *beside->order);
    for (int i = 0; i < count && beside->order; i++)
        beside->order[i] = order[i];
    if (beside->stage && beside->order && parallel_shares(2, 1) > 1 &&
        !pthread_create(&beside->thread, NULL, beside_run, beside))
        return beside;
    beside_free(beside);
    return NULL;
}

int beside_take(Beside *beside, int number, RecordCase *item)
{
    if (!beside) return 0;
    pthread_mutex_lock(&beside->lock);
    while (beside->stage[number] == RUNNING)
        pthread_cond_wait(&beside->change, &beside->lock);
    int right = beside->stage[number] == RIGHT;
    if (right) *item = beside->list[number].item;
    beside->stage[number] = CALLERS;
    pthread_mutex_unlock(&beside->lock);
    return right;
}

void beside_end(Beside *beside, Judge *judge)
{
    if (!beside) return;
    pthread_mutex_lock(&beside->lock);
    beside->stop = 1;
    pthread_mutex_unlock(&beside->lock);
    pthread_join(beside->thread, NULL);
    judge->habits |= beside->judge.habits;
    beside_free(beside);
}
