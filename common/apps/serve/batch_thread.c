#include "common/apps/serve/batch_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct BatchThread {
    Executor *executor;
    pthread_t id;
    pthread_mutex_t mutex;
    pthread_cond_t ordered;
    const int *place;
    int count; /* size of the batch; 0: nothing to do, -1: end */
    int descriptor;
    const float *output; /* outputs of the finished batch; NULL: it failed */
    Error error;
};

static int next_order(BatchThread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    while (!thread->count)
        pthread_cond_wait(&thread->ordered, &thread->mutex);
    int count = thread->count;
    pthread_mutex_unlock(&thread->mutex);
    return count;
}

static void order(BatchThread *thread, const int *place, int count)
{
    pthread_mutex_lock(&thread->mutex);
    thread->place = place;
    thread->count = count;
    pthread_cond_signal(&thread->ordered);
    pthread_mutex_unlock(&thread->mutex);
}

static void *work(void *argument)
{
    BatchThread *thread = argument;
    for (int count; (count = next_order(thread)) > 0;) {
        thread->output = executor_run(thread->executor, thread->place, count, &thread->error);
        pthread_mutex_lock(&thread->mutex);
        if (thread->count == count) thread->count = 0;
        pthread_mutex_unlock(&thread->mutex);
        eventfd_write(thread->descriptor, 1);
    }
    return NULL;
}

BatchThread *batch_thread_open(Executor *executor, Error *error)
{
    BatchThread *thread = calloc(1, sizeof *thread);
    if (!thread) {
        error_set(error, "out of memory");
        return NULL;
    }
    thread->executor = executor;
    thread->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->ordered, NULL);
    if (thread->descriptor >= 0 && !pthread_create(&thread->id, NULL, work, thread)) return thread;
    error_set(error, "no thread for the batches: %m");
    if (thread->descriptor >= 0) close(thread->descriptor);
    free(thread);
    return NULL;
}

void batch_thread_close(BatchThread *thread)
{
    order(thread, NULL, -1);
    pthread_join(thread->id, NULL);
    close(thread->descriptor);
    free(thread);
}

int batch_thread_descriptor(const BatchThread *thread)
{
    return thread->descriptor;
}

void batch_thread_begin(BatchThread *thread, const int *place, int count)
{
    order(thread, place, count);
}

int batch_thread_end(BatchThread *thread, const float **output, Error *error)
{
    eventfd_t times;
    if (eventfd_read(thread->descriptor, &times)) return 1;
    *output = thread->output;
    if (!*output) *error = thread->error;
    return *output ? 0 : -1;
}
