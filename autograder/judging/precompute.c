#include "autograder/judging/precompute.h"

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
    PrecomputeCase item;
    Stage stage;
    Expected *made; /* NULL: out of memory, or already taken by the caller */
    double bytes;
} Slot;

struct Precompute {
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
static double bytes_of(const PrecomputeCase *item)
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
static int slot_begin(Precompute *precomputed, Slot *slot)
{
    pthread_mutex_lock(&precomputed->lock);
    while (!precomputed->stop && slot->stage == TO_MAKE && precomputed->held > 0 &&
           precomputed->held + slot->bytes > precomputed->most)
        pthread_cond_wait(&precomputed->change, &precomputed->lock);
    int mine = !precomputed->stop && slot->stage == TO_MAKE && slot->bytes <= precomputed->most;
    if (mine) slot->stage = MAKING;
    if (mine) precomputed->held += slot->bytes;
    pthread_mutex_unlock(&precomputed->lock);
    return mine;
}

static void slot_end(Precompute *precomputed, Slot *slot, Expected *made)
{
    pthread_mutex_lock(&precomputed->lock);
    slot->made = made;
    slot->stage = MADE;
    pthread_cond_broadcast(&precomputed->change);
    pthread_mutex_unlock(&precomputed->lock);
}

/* The thread runs at a slightly lower priority, because on a busy machine other processes may be
 * waiting for this one's result.  The first steps of the compilers are sequential and leave a core
 * idle. */
enum { STEP_BACK = 5 };

static void *precompute_run(void *context)
{
    Precompute *precomputed = context;
    Error error;
    setpriority(PRIO_PROCESS, 0, STEP_BACK); /* on Linux: the priority of this thread and of the
                                              * threads that it creates */
    for (int i = 0; i < precomputed->count; i++) {
        Slot *slot = &precomputed->slot[precomputed->order[i]];
        const PrecomputeCase *item = &slot->item;
        if (item->operation && slot_begin(precomputed, slot))
            slot_end(precomputed, slot,
                     expected_make(item->operation, &item->problem, precomputed->precision,
                                   &item->random, &error));
    }
    return NULL;
}

Precompute *precompute_begin(const PrecomputeCase *list, const int *order, int count,
                             Precision precision)
{
    Precompute *precomputed = calloc(1, sizeof *precomputed);
    if (!precomputed) return NULL;
    *precomputed = (Precompute){.count = count, .precision = precision, .most = most_bytes()};
    pthread_mutex_init(&precomputed->lock, NULL);
    pthread_cond_init(&precomputed->change, NULL);
    precomputed->slot = calloc((size_t)count, sizeof *precomputed->slot);
    precomputed->order = calloc((size_t)count, sizeof *precomputed->order);
    for (int i = 0; i < count && precomputed->slot && precomputed->order; i++) {
        precomputed->order[i] = order[i];
        precomputed->slot[i].item = list[i];
        if (list[i].operation) precomputed->slot[i].bytes = bytes_of(&list[i]);
    }
    if (precomputed->slot && precomputed->order)
        precomputed->threaded =
            !pthread_create(&precomputed->thread, NULL, precompute_run, precomputed);
    if (precomputed->threaded) return precomputed;
    precompute_end(precomputed);
    return NULL;
}

Expected *precompute_take(Precompute *precomputed, int number)
{
    if (!precomputed) return NULL;
    Slot *slot = &precomputed->slot[number];
    pthread_mutex_lock(&precomputed->lock);
    while (slot->stage == MAKING)
        pthread_cond_wait(&precomputed->change, &precomputed->lock);
    Expected *made = slot->made;
    slot->made = NULL;
    if (slot->stage == MADE) precomputed->held -= slot->bytes;
    slot->stage = TAKEN;
    pthread_cond_broadcast(&precomputed->change);
    pthread_mutex_unlock(&precomputed->lock);
    return made;
}

void precompute_stop(Precompute *precomputed)
{
    if (!precomputed || !precomputed->threaded) return;
    pthread_mutex_lock(&precomputed->lock);
    precomputed->stop = 1;
    pthread_cond_broadcast(&precomputed->change);
    pthread_mutex_unlock(&precomputed->lock);
    pthread_join(precomputed->thread, NULL);
    precomputed->threaded = 0;
}

void precompute_end(Precompute *precomputed)
{
    if (!precomputed) return;
    precompute_stop(precomputed);
    for (int i = 0; i < precomputed->count && precomputed->slot; i++)
        expected_free(precomputed->slot[i].made);
    free(precomputed->slot);
    free(precomputed->order);
    pthread_cond_destroy(&precomputed->change);
    pthread_mutex_destroy(&precomputed->lock);
    free(precomputed);
}
