#include "autograder/workbench/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "autograder/text/text.h"
#include "autograder/workbench/token.h"

typedef struct Job {
    char id[JOB_ID_CHARACTERS + 1], folder[1200];
    char *argv[JOB_ARGUMENTS + 1];
    JobState state;
    int status, cancelled; /* cancelled: Boolean, asked for */
    int is_dialog, input;  /* Boolean; the end of its standard input, -1 none */
    char *output;
    size_t bytes;
    time_t looked_at; /* seconds of the monotonic clock at the latest job_view, or at the start */
} Job;

/* Jobs are in the order of their starts; the first `ended` of them have ended. */
struct JobQueue {
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Job *job[JOBS_KEPT + JOBS_WAITING + 1];
    int jobs, ended, closing;
    int unattended; /* seconds */
};

static void job_free(Job *job)
{
    for (int i = 0; job->argv[i]; i++)
        free(job->argv[i]);
    free(job->output);
    free(job);
}

/* ---- the worker, which runs one job after the other --------------------------------------- */

/* Zero bytes would end the text: they become '?'. */
static void output_add(JobQueue *queue, Job *job, const char *text, size_t bytes)
{
    static const char CUT[] = "\n  (the output is longer; the rest is not shown)\n";
    pthread_mutex_lock(&queue->lock);
    size_t room = JOB_OUTPUT - sizeof CUT;
    size_t take = job->bytes >= room ? 0 : bytes < room - job->bytes ? bytes : room - job->bytes;
    for (size_t i = 0; i < take; i++)
        job->output[job->bytes + i] = text[i] ? text[i] : '?';
    job->bytes += take;
    if (take < bytes && job->bytes == room) {
        memcpy(job->output + job->bytes, CUT, sizeof CUT - 1);
        job->bytes += sizeof CUT - 1;
    }
    pthread_mutex_unlock(&queue->lock);
}

/* Only async-signal-safe calls: the parent has several threads. */
static void child_run(char *const argv[], int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(argv[0], argv);
    static const char FAILED[] = "workbench: the program could not be started\n";
    ssize_t written = write(STDERR_FILENO, FAILED, sizeof FAILED - 1);
    _exit(written < 0 ? 126 : 127);
}

/* The child's input: a pipe for a dialogue, whose other end is in *to, else nothing. */
static int input_open(const Job *job, int *to)
{
    int ends[2];
    *to = -1;
    if (!job->is_dialog) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (pipe2(ends, O_CLOEXEC)) return -1;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *to = ends[1];
    return ends[0];
}

static pid_t child_start(Job *job, int *from, int *to)
{
    int ends[2], in = input_open(job, to);
    pid_t pid = -1;
    if (in < 0) return -1;
    if (!pipe2(ends, O_CLOEXEC)) {
        pid = fork();
        if (pid == 0) child_run(job->argv, in, ends[1]);
        close(ends[1]);
        if (pid < 0)
            close(ends[0]);
        else
            setpgid(pid, pid); /* here, too: the group exists before it may be cancelled */
        *from = ends[0];
    }
    close(in);
    if (pid < 0 && *to >= 0) close(*to);
    return pid;
}

static void input_set(JobQueue *queue, Job *job, int to)
{
    pthread_mutex_lock(&queue->lock);
    if (job->input >= 0) close(job->input);
    job->input = to;
    pthread_mutex_unlock(&queue->lock);
}

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* A page that was closed no longer asks for the output: its job is then cancelled, too. */
static int is_cancelled(JobQueue *queue, Job *job)
{
    static const char LEFT[] = "\n  (cancelled: no page has shown this output for a while)\n";
    pthread_mutex_lock(&queue->lock);
    int left = !job->cancelled && seconds_now() - job->looked_at > queue->unattended;
    if (left) job->cancelled = 1;
    int yes = job->cancelled || queue->closing;
    pthread_mutex_unlock(&queue->lock);
    if (left) output_add(queue, job, LEFT, sizeof LEFT - 1);
    return yes;
}

static int has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* Reads until the program and its output have ended.  A cancelled job gets two seconds to end.
 * A process that has left the program's group may keep the output open.  The job does not wait for
 * it: it ends when the program has ended and nothing was printed for a second, or four seconds
 * after a cancellation.  A program may also close its output and continue. */
static void output_read(JobQueue *queue, Job *job, pid_t pid, int from)
{
    enum { SLICE_MS = 100, CLOSED_SLICE_MS = 10, PATIENCE = 2, SILENCE = 10 };
    char text[4096];
    time_t now = 0, cancelled = 0, signalled = 0; /* 0: not yet */
    for (int silent = 0; silent < SILENCE && (!cancelled || now - cancelled < 2 * PATIENCE);) {
        if (from < 0 && has_ended(pid)) return;
        struct pollfd wait = {.fd = from, .events = POLLIN}; /* -1: closed, poll only sleeps */
        int ready = poll(&wait, 1, from < 0 ? CLOSED_SLICE_MS : SLICE_MS);
        now = seconds_now();
        if (is_cancelled(queue, job) && now != signalled) { /* once per second */
            if (!cancelled) cancelled = now;
            signalled = now;
            int number = now - cancelled < PATIENCE ? SIGTERM : SIGKILL;
            kill(-pid, number);
            kill(pid, number); /* if it has changed its group */
        }
        if (ready <= 0) {
            silent = from >= 0 && has_ended(pid) ? silent + 1 : 0;
            continue;
        }
        ssize_t bytes = read(from, text, sizeof text);
        if (bytes < 0 && errno == EINTR) continue;
        silent = 0;
        if (bytes <= 0)
            from = -1;
        else
            output_add(queue, job, text, (size_t)bytes);
    }
    if (cancelled) kill(pid, SIGKILL); /* also if this process was held up meanwhile */
}

/* The exit status, or 128 and the signal's number. */
static int job_run(JobQueue *queue, Job *job)
{
    int from, to, status = 0;
    pid_t pid = child_start(job, &from, &to);
    if (pid < 0) {
        static const char FAILED[] =
            "workbench: no process could be started; close other programs\n";
        output_add(queue, job, FAILED, sizeof FAILED - 1);
        return 126;
    }
    input_set(queue, job, to);
    output_read(queue, job, pid, from);
    input_set(queue, job, -1);
    close(from);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-pid, SIGKILL); /* remaining children of the program */
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void oldest_drop(JobQueue *queue)
{
    if (queue->ended <= JOBS_KEPT) return;
    job_free(queue->job[0]);
    queue->jobs--, queue->ended--;
    memmove(queue->job, queue->job + 1, sizeof *queue->job * (size_t)queue->jobs);
}

static void *worker_run(void *argument)
{
    JobQueue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (queue->ended == queue->jobs && !queue->closing)
            pthread_cond_wait(&queue->changed, &queue->lock);
        if (queue->ended == queue->jobs) break;
        Job *job = queue->job[queue->ended];
        int runs = !job->cancelled && !queue->closing;
        job->state = JOB_RUNNING;
        job->looked_at = seconds_now();
        pthread_mutex_unlock(&queue->lock);
        int status = runs ? job_run(queue, job) : 0;
        pthread_mutex_lock(&queue->lock);
        job->status = status;
        job->state = job->cancelled || queue->closing ? JOB_CANCELLED : JOB_ENDED;
        queue->ended++;
        oldest_drop(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- the queue ---------------------------------------------------------------------------- */

JobQueue *job_queue_open(int unattended)
{
    JobQueue *queue = calloc(1, sizeof *queue);
    if (!queue) return NULL;
    queue->unattended = unattended;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    if (pthread_create(&queue->worker, NULL, worker_run, queue)) {
        free(queue);
        return NULL;
    }
    return queue;
}

void job_queue_close(JobQueue *queue)
{
    if (!queue) return;
    pthread_mutex_lock(&queue->lock);
    queue->closing = 1;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->worker, NULL);
    for (int i = 0; i < queue->jobs; i++)
        job_free(queue->job[i]);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->changed);
    free(queue);
}

static Job *job_new(char *const argv[], const char *folder)
{
    Job *job = calloc(1, sizeof *job);
    if (!job) return NULL;
    int missing = (job->output = malloc(JOB_OUTPUT)) == NULL;
    for (int i = 0; i < JOB_ARGUMENTS && argv[i]; i++)
        missing |= (job->argv[i] = strdup(argv[i])) == NULL;
    if (missing) {
        job_free(job);
        return NULL;
    }
    job->input = -1;
    job->looked_at = seconds_now();
    text_set(job->folder, sizeof job->folder, "%s", folder);
    token_draw(job->id, JOB_ID_CHARACTERS);
    return job;
}

static int job_append(JobQueue *queue, Job *job, char id[JOB_ID_CHARACTERS + 1], Error *error)
{
    if (!job) return error_set(error, "out of memory");
    pthread_mutex_lock(&queue->lock);
    int full = queue->jobs - queue->ended > JOBS_WAITING;
    if (!full) {
        memcpy(id, job->id, sizeof job->id);
        queue->job[queue->jobs++] = job;
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!full) return 0;
    job_free(job);
    return error_set(error, "%d jobs wait already; cancel one, or wait for the running one",
                     JOBS_WAITING);
}

int job_start(JobQueue *queue, char *const argv[], const char *folder,
              char id[JOB_ID_CHARACTERS + 1], Error *error)
{
    return job_append(queue, job_new(argv, folder), id, error);
}

int job_start_dialog(JobQueue *queue, char *const argv[], char id[JOB_ID_CHARACTERS + 1],
                     Error *error)
{
    Job *job = job_new(argv, "");
    if (job) job->is_dialog = 1;
    return job_append(queue, job, id, error);
}

static Job *job_find(JobQueue *queue, const char *id)
{
    for (int i = 0; i < queue->jobs; i++)
        if (!strcmp(queue->job[i]->id, id)) return queue->job[i];
    return NULL;
}

int job_view(JobQueue *queue, const char *id, size_t from, JobView *view)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = job_find(queue, id);
    if (job) {
        job->looked_at = seconds_now();
        *view = (JobView){.state = job->state, .status = job->status, .bytes = job->bytes};
        text_set(view->folder, sizeof view->folder, "%s", job->folder);
        if (from > job->bytes) from = job->bytes;
        view->text = strndup(job->output + from, job->bytes - from);
    }
    pthread_mutex_unlock(&queue->lock);
    return job && view->text ? 0 : -1;
}

int job_cancel(JobQueue *queue, const char *id)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = job_find(queue, id);
    if (job && job->state <= JOB_RUNNING) job->cancelled = 1;
    pthread_mutex_unlock(&queue->lock);
    return job ? 0 : -1;
}

int job_input(JobQueue *queue, const char *id, const char *text)
{
    size_t bytes = strlen(text);
    pthread_mutex_lock(&queue->lock);
    Job *job = job_find(queue, id);
    int fails = !job || job->input < 0 || write(job->input, text, bytes) != (ssize_t)bytes;
    pthread_mutex_unlock(&queue->lock);
    return fails ? -1 : 0;
}
