#include "autograder/judging/parallel_session.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/base/parallel.h"

typedef enum Stage { OPEN, RUNNING, RIGHT, CALLERS } Stage;

struct ParallelSession {
    Judge judge;
    const Build *build;
    Precompute *precomputed;
    ParallelCase *list;
    Stage *stage; /* state of each case of the list */
    int *order, count, stop;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
};

/* Reserves a case for the parallel session; 0: the grader already has it. */
static int case_begin(ParallelSession *parallel, int number)
{
    pthread_mutex_lock(&parallel->lock);
    int mine = !parallel->stop && parallel->stage[number] == OPEN;
    if (mine) parallel->stage[number] = RUNNING;
    pthread_mutex_unlock(&parallel->lock);
    return mine;
}

static void case_end(ParallelSession *parallel, int number, int right)
{
    pthread_mutex_lock(&parallel->lock);
    parallel->stage[number] = right ? RIGHT : CALLERS;
    pthread_cond_broadcast(&parallel->change);
    pthread_mutex_unlock(&parallel->lock);
}

/* A kernel's printed text belongs to the grader's own session, so a case that prints is run
 * there. */
static int run_right(ParallelSession *parallel, int number)
{
    ParallelCase *one = &parallel->list[number];
    judge_choose(&parallel->judge, one->inputs.operation);
    judge_case(&parallel->judge, &one->inputs.problem, &one->inputs.random,
               precompute_take(parallel->precomputed, number), one->price, &one->item);
    return one->item.verdict == CASE_CORRECT && !*session_printed(parallel->judge.session);
}

/* Runs the cases from the last one backwards.  Stops at a case that the grader already has, and at
 * the first wrong one: other cases probably fail for the same reason and would be run twice. */
static void run_from_the_last(ParallelSession *parallel)
{
    int right = 1;
    for (int i = parallel->count - 1; i >= 0 && right; i--) {
        const int number = parallel->order[i];
        if (!parallel->list[number].inputs.operation) continue;
        if (!case_begin(parallel, number)) return;
        right = run_right(parallel, number);
        case_end(parallel, number, right);
    }
}

static void *parallel_session_run(void *context)
{
    ParallelSession *parallel = context;
    Session *of = parallel->judge.session;
    Error error;
    if (session_open_parallel(of, &parallel->judge.session, &error)) return NULL;
    if (!session_start_runner(parallel->judge.session, 0, parallel->build, &error))
        run_from_the_last(parallel);
    session_close(parallel->judge.session);
    return NULL;
}

static void parallel_session_free(ParallelSession *parallel)
{
    pthread_cond_destroy(&parallel->change);
    pthread_mutex_destroy(&parallel->lock);
    free(parallel->list);
    free(parallel->stage);
    free(parallel->order);
    free(parallel);
}

ParallelSession *parallel_session_begin(const Judge *judge, const Build *build,
                                        Precompute *precomputed, ParallelCase *list,
                                        const int *order, int count)
{
    ParallelSession *parallel = calloc(1, sizeof *parallel);
    if (!parallel) {
        free(list);
        return NULL;
    }
    *parallel = (ParallelSession){
        .judge = *judge, .build = build, .precomputed = precomputed, .list = list, .count = count};
    parallel->judge.current.bytes = 0;
    parallel->judge.diagnosed = JUDGE_DIAGNOSES; /* the grader diagnoses wrong cases itself */
    pthread_mutex_init(&parallel->lock, NULL);
    pthread_cond_init(&parallel->change, NULL);
    parallel->stage = calloc((size_t)count, sizeof *parallel->stage);
    parallel->order = calloc((size_t)count, sizeof *parallel->order);
    for (int i = 0; i < count && parallel->order; i++)
        parallel->order[i] = order[i];
    if (parallel->stage && parallel->order && parallel_shares(2, 1) > 1 &&
        !pthread_create(&parallel->thread, NULL, parallel_session_run, parallel))
        return parallel;
    parallel_session_free(parallel);
    return NULL;
}

int parallel_session_take(ParallelSession *parallel, int number, RecordCase *item)
{
    if (!parallel) return 0;
    pthread_mutex_lock(&parallel->lock);
    while (parallel->stage[number] == RUNNING)
        pthread_cond_wait(&parallel->change, &parallel->lock);
    int right = parallel->stage[number] == RIGHT;
    if (right) *item = parallel->list[number].item;
    parallel->stage[number] = CALLERS;
    pthread_mutex_unlock(&parallel->lock);
    return right;
}

void parallel_session_end(ParallelSession *parallel, Judge *judge)
{
    if (!parallel) return;
    pthread_mutex_lock(&parallel->lock);
    parallel->stop = 1;
    pthread_mutex_unlock(&parallel->lock);
    pthread_join(parallel->thread, NULL);
    judge->habits |= parallel->judge.habits;
    parallel_session_free(parallel);
}
