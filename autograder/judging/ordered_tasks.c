#include "autograder/judging/ordered_tasks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/text/screen.h"

typedef struct Process {
    pid_t pid;    /* 0: it has ended */
    int out, err; /* its output, in memory; -1: none */
    int went_wrong;
} Process;

static void process_become(const Process *process, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1); /* the parent died before PR_SET_PDEATHSIG took effect */
    if (dup2(process->out, STDOUT_FILENO) < 0 || dup2(process->err, STDERR_FILENO) < 0) _exit(1);
}

static void process_start(Process *process, OrderedTask turn, void *context, int number,
                          double result[TURN_RESULTS])
{
    pid_t parent = getpid();
    process->out = memfd_create("out", MFD_CLOEXEC);
    process->err = memfd_create("err", MFD_CLOEXEC);
    fflush(NULL);
    process->pid = process->out < 0 || process->err < 0 ? -1 : fork();
    if (process->pid == 0) {
        screen_keep();
        process_become(process, parent);
        int status = turn(context, number, result);
        fflush(NULL);
        _exit(status != 0);
    }
    if (process->pid > 0) return;
    fprintf(stderr, "a process for a turn: %s\n", strerror(errno));
    process->pid = 0;
    process->went_wrong = 1;
}

/* Copies the printed text to its destination, which may be a terminal. */
static void stream_pass(int from, FILE *to)
{
    struct stat status;
    if (from < 0) return;
    size_t bytes = fstat(from, &status) ? 0 : (size_t)status.st_size;
    char *text = calloc(1, bytes + 1);
    if (text && pread(from, text, bytes, 0) == (ssize_t)bytes) screen_print(to, text);
    fflush(to);
    free(text);
    close(from);
}

static void process_show(const Process *process)
{
    stream_pass(process->out, stdout);
    stream_pass(process->err, stderr);
}

static void process_end(Process *process, int status)
{
    process->pid = 0;
    process->went_wrong = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    if (WIFSIGNALED(status))
        dprintf(process->err, "a turn's process died: %s\n", strsignal(WTERMSIG(status)));
}

/* Waits until one of the first `started` processes ends. */
static void processes_wait(Process *process, int started)
{
    int status;
    pid_t pid = wait(&status);
    for (int i = 0; i < started; i++)
        if (pid > 0 && process[i].pid == pid) process_end(&process[i], status);
}

static int still_running(const Process *process, int started)
{
    int running = 0;
    for (int i = 0; i < started; i++)
        running += process[i].pid != 0;
    return running;
}

int ordered_tasks_run(int turns, int at_once, OrderedTask turn, void *context,
                      double (*result)[TURN_RESULTS])
{
    size_t bytes = (size_t)turns * sizeof *result;
    Process *process = calloc((size_t)turns, sizeof *process);
    double(*shared)[TURN_RESULTS] =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int started = 0, wrong = 0;
    if (!process || shared == MAP_FAILED) {
        fprintf(stderr, "out of memory\n");
        free(process);
        return turns;
    }
    for (int shown = 0; shown < turns; shown++) {
        do {
            while (started < turns && still_running(process, started) < at_once) {
                process_start(&process[started], turn, context, started, shared[started]);
                started++;
            }
            if (process[shown].pid) processes_wait(process, started);
        } while (process[shown].pid);
        process_show(&process[shown]);
        wrong += process[shown].went_wrong;
    }
    memcpy(result, shared, bytes);
    munmap(shared, bytes);
    free(process);
    return wrong;
}
