/* jobs.c - jobs on this machine: a limited number of children at a time. */
#include "autograder/class/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/text/text.h"

/* Sets up the child: lower priority, death with this process, no inherited descriptors. */
static void become_grade(const char *const *word, const char *folder, const sigset_t *signals,
                         pid_t parent)
{
    char output[4200];
    text_set(output, sizeof output, "%s/output", folder);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    if (getppid() != parent || out < 0 || in < 0) _exit(127);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv(word[0], (char *const *)(uintptr_t)word);
    dprintf(STDERR_FILENO, "%s: %s\n", word[0], strerror(errno));
    _exit(127);
}

static int start(const Jobs *jobs, Job *job, const sigset_t *signals, Error *error)
{
    const char *word[JOB_WORDS];
    char folder[4096];
    if (job_prepare(jobs, job, error)) return -1;
    job_folder(jobs, job, folder, sizeof folder);
    job_words(jobs, job, word);
    pid_t parent = getpid();
    job->tries++;
    job->pid = fork();
    if (job->pid < 0) {
        job->pid = 0;
        return error_set(error, "no process for a job: %s", strerror(errno));
    }
    if (!job->pid) become_grade(word, folder, signals, parent);
    return 0;
}

/* A broken record (grade's status 1) is retried like a child that died. */
static int end(Jobs *jobs, Job *job, int status, const sigset_t *signals, Error *error)
{
    char how[80];
    job->pid = 0;
    if (WIFSIGNALED(status))
        text_set(how, sizeof how, "the grader died of signal %d", WTERMSIG(status));
    else
        text_set(how, sizeof how, "the grader ended with status %d", WEXITSTATUS(status));
    int died = !WIFEXITED(status) || WEXITSTATUS(status);
    int again = job_finish(jobs, job, died, how, error);
    return again == 1 ? start(jobs, job, signals, error) : again;
}

/* The children's own children end with them. */
static void end_all(Jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->job[i].pid) kill(jobs->job[i].pid, SIGTERM);
    for (size_t i = 0; i < jobs->count; i++) {
        while (jobs->job[i].pid && waitpid(jobs->job[i].pid, NULL, 0) < 0 && errno == EINTR) {
        }
        jobs->job[i].pid = 0;
    }
}

/* Reaps the children that have ended: their number less the restarted ones, or -1 with error. */
static int reap(Jobs *jobs, size_t begun, const sigset_t *signals, Error *error)
{
    int ended = 0, status;
    for (size_t i = 0; i < begun; i++) {
        Job *job = &jobs->job[i];
        if (!job->pid || waitpid(job->pid, &status, WNOHANG) != job->pid) continue;
        if (end(jobs, job, status, signals, error)) return -1;
        ended += !job->pid;
    }
    return ended;
}

static int run(Jobs *jobs, int at_once, const sigset_t *signals, Error *error)
{
    size_t begun = 0;
    int running = 0;
    while (begun < jobs->count || running) {
        while (begun < jobs->count && running < at_once) {
            if (start(jobs, &jobs->job[begun], signals, error)) return -1;
            begun++;
            running++;
        }
        int number = sigwaitinfo(signals, NULL);
        if (number < 0) continue; /* a stopped or continued child */
        if (number != SIGCHLD) return 1;
        int ended = reap(jobs, begun, signals, error);
        if (ended < 0) return -1;
        running -= ended;
    }
    return 0;
}

int jobs_run(Jobs *jobs, int at_once, Error *error)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    int status = run(jobs, at_once, &signals, error);
    end_all(jobs);
    if (status != 1) sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
