#include "autograder/judging/ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox.h"

Expected *expected_make(const Operation *operation, const Problem *problem, Precision precision,
                        const Random *random, Error *error)
{
    Expected *expected = calloc(1, sizeof *expected);
    if (!expected) {
        error_set(error, "out of memory");
        return NULL;
    }
    Workload *workload = &expected->workload;
    if (workload_open(operation, problem, workload, error)) {
        free(expected);
        return NULL;
    }
    double start = sandbox_clock();
    expected->random = *random;
    workload_fill(workload, &expected->random);
    double filled = sandbox_clock();
    if (verify_expect(operation, problem, precision, (const float *const *)workload->tensor,
                      &expected->judgement, error)) {
        workload_close(workload);
        free(expected);
        return NULL;
    }
    expected->inputs = filled - start;
    expected->outputs = sandbox_clock() - filled;
    return expected;
}

void expected_free(Expected *expected)
{
    if (!expected) return;
    judgement_free(&expected->judgement);
    workload_close(&expected->workload);
    free(expected);
}

/* ---- ahead ----------------------------------------------------------------------------------- */

typedef enum Stage { TO_MAKE, MAKING, MADE, TAKEN } Stage;

typedef struct Slot {
    AheadCase item;
    Stage stage;
    Expected *made; /* NULL: out of memory, or already taken by the caller */
    double bytes;
} Slot;

struct Ahead {
    Slot *slot;
    int *order, count, stop, threaded;
    Precision precision;
    double held, most; /* bytes that are ready and not yet taken; upper limit */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
};

/* upper limit of the prepared data: a share of this machine's memory, and never more than
 * MOST_BYTES */
static const double MOST_BYTES = 2e9, PART = 1.0 / 16;

static double most_bytes(void)
{
    double part = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * PART;
    return part < MOST_BYTES ? part : MOST_BYTES;
}

/* Bytes of a case's inputs, and of each output with its expected value, tolerance, scale and
 * mark. */
static double bytes_of(const AheadCase *item)
{
    TensorShape shape[OPERATION_TENSORS];
    double bytes = 0;
    int count = item->operation->tensors(&item->problem, shape);
    for (int i = 0; i < count; i++)
        bytes +=
            (double)tensor_count(&shape[i]) *
            (double)(sizeof(float) + (shape[i].role == TENSOR_OUTPUT ? 3 * sizeof(double) + 1 : 0));
    return bytes;
}

/* Reserves a slot for this thread, or returns 0 if it is already taken.  Waits until the limit of
 * memory allows it. */
static int slot_begin(Ahead *ahead, Slot *slot)
{
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stop && slot->stage == TO_MAKE && ahead->held > 0 &&
           ahead->held + slot->bytes > ahead->most)
        pthread_cond_wait(&ahead->change, &ahead->lock);
    int mine = !ahead->stop && slot->stage == TO_MAKE && slot->bytes <= ahead->most;
    if (mine) slot->stage = MAKING;
    if (mine) ahead->held += slot->bytes;
    pthread_mutex_unlock(&ahead->lock);
    return mine;
}

static void slot_end(Ahead *ahead, Slot *slot, Expected *made)
{
    pthread_mutex_lock(&ahead->lock);
    slot->made = made;
    slot->stage = MADE;
    pthread_cond_broadcast(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
}

/* The thread runs at a slightly lower priority, because on a busy machine other processes may be
 * waiting for this one's result.  The first steps of the compilers are sequential and leave a core
 * idle. */
enum { STEP_BACK = 5 };

static void *ahead_run(void *context)
{
    Ahead *ahead = context;
    Error error;
    setpriority(PRIO_PROCESS, 0, STEP_BACK); /* on Linux: the priority of this thread and of the
                                              * threads that it creates */
    for (int i = 0; i < ahead->count; i++) {
        Slot *slot = &ahead->slot[ahead->order[i]];
        const AheadCase *item = &slot->item;
        if (item->operation && slot_begin(ahead, slot))
            slot_end(ahead, slot,
                     expected_make(item->operation, &item->problem, ahead->precision, &item->random,
                                   &error));
    }
    return NULL;
}

Ahead *ahead_begin(const AheadCase *list, const int *order, int count, Precision precision)
{
    Ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return NULL;
    *ahead = (Ahead){.count = count, .precision = precision, .most = most_bytes()};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->change, NULL);
    ahead->slot = calloc((size_t)count, sizeof *ahead->slot);
    ahead->order = calloc((size_t)count, sizeof *ahead->order);
    for (int i = 0; i < count && ahead->slot && ahead->order; i++) {
        ahead->order[i] = order[i];
        ahead->slot[i].item = list[i];
        if (list[i].operation) ahead->slot[i].bytes = bytes_of(&list[i]);
    }
    if (ahead->slot && ahead->order)
        ahead->threaded = !pthread_create(&ahead->thread, NULL, ahead_run, ahead);
    if (ahead->threaded) return ahead;
    ahead_end(ahead);
    return NULL;
}

Expected *ahead_take(Ahead *ahead, int number)
{
    if (!ahead) return NULL;
    Slot *slot = &ahead->slot[number];
    pthread_mutex_lock(&ahead->lock);
    while (slot->stage == MAKING)
        pthread_cond_wait(&ahead->change, &ahead->lock);
    Expected *made = slot->made;
    slot->made = NULL;
    if (slot->stage == MADE) ahead->held -= slot->bytes;
    slot->stage = TAKEN;
    pthread_cond_broadcast(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
    return made;
}

void ahead_stop(Ahead *ahead)
{
    if (!ahead || !ahead->threaded) return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    pthread_cond_broadcast(&ahead->change);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    ahead->threaded = 0;
}

void ahead_end(Ahead *ahead)
{
    if (!ahead) return;
    ahead_stop(ahead);
    for (int i = 0; i < ahead->count && ahead->slot; i++)
        expected_free(ahead->slot[i].made);
    free(ahead->slot);
    free(ahead->order);
    pthread_cond_destroy(&ahead->change);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
