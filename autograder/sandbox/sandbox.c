/* sandbox.c - start, wait and end of a sandboxed program.
 *
 * All memory is allocated before the child starts; the child only moves descriptors, sets limits
 * and executes. */
#include "autograder/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox_parts.h"

enum { FIRST_PASS = 3, OPEN_FILES = 256, START_FAILED = 126 };

static SandboxLevel highest = SANDBOX_NAMESPACES;

/* Data of the child, prepared before it starts. */
typedef struct Launch {
    const SandboxSpec *spec;
    SandboxLevel level;
    char **arguments; /* bubblewrap's, or NULL */
    int filter, ruleset, null;
    int cpu;
    pid_t parent;
} Launch;

double sandbox_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *sandbox_level_name(SandboxLevel level)
{
    static const char *const names[] = {"resource limits only", "system-call filter",
                                        "system-call filter and Landlock",
                                        "namespaces and system-call filter"};
    return level <= SANDBOX_NAMESPACES ? names[level] : "unknown";
}

void sandbox_lower(SandboxLevel level)
{
    highest = level;
}

/* ---- the child ------------------------------------------------------------------------------- */

static void limit_set(int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit limit = {soft, hard}, now;
    if (!getrlimit(resource, &now) && now.rlim_max < hard) {
        limit.rlim_max = now.rlim_max; /* only root may raise it */
        if (limit.rlim_cur > now.rlim_max) limit.rlim_cur = now.rlim_max;
    }
    setrlimit(resource, &limit);
}

static void limits_set(const SandboxSpec *spec)
{
    limit_set(RLIMIT_CORE, 0, 0);
    limit_set(RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES);
    limit_set(RLIMIT_MEMLOCK, 0, 0);
    limit_set(RLIMIT_MSGQUEUE, 0, 0);
    limit_set(RLIMIT_FSIZE, spec->file_bytes, spec->file_bytes);
    if (spec->memory_bytes) limit_set(RLIMIT_AS, spec->memory_bytes, spec->memory_bytes);
    if (spec->cpu_seconds > 0) {
        uint64_t seconds = (uint64_t)spec->cpu_seconds + 1;
        limit_set(RLIMIT_CPU, seconds, seconds + 1);
    }
}

/* 3, 4, ... are the passed descriptors, then the filter for bubblewrap or `proc`; all higher ones
 * are closed.
 * Two steps, because a number may be both a source and a target. */
static int descriptors_set(const Launch *launch, int proc)
{
    const SandboxSpec *spec = launch->spec;
    int high[SANDBOX_FDS + 3], count = 0, low[SANDBOX_FDS + 3];
    low[count] = 0, high[count++] = launch->null;
    low[count] = 1, high[count++] = spec->output_fd;
    for (int i = 0; i < spec->passes; i++)
        low[count] = FIRST_PASS + i, high[count++] = spec->pass_fd[i];
    int last = launch->arguments ? launch->filter : proc;
    if (last >= 0) low[count] = FIRST_PASS + spec->passes, high[count++] = last;
    for (int i = 0; i < count; i++)
        if ((high[i] = fcntl(high[i], F_DUPFD_CLOEXEC, 32)) < 0) return -1;
    for (int i = 0; i < count; i++)
        if (dup2(high[i], low[i]) < 0) return -1;
    if (dup2(1, 2) < 0) return -1;
    int first_closed = low[count - 1] + 1;
    return close_range(first_closed < FIRST_PASS ? FIRST_PASS : (unsigned)first_closed, ~0u, 0);
}

/* Without bubblewrap: applies the same filter and, if supported, the Landlock ruleset, then
 * executes the program.  A traced program keeps a descriptor of its own entry of /proc. */
static void child_confine(const Launch *launch)
{
    const SandboxSpec *spec = launch->spec;
    static const char *const nothing[] = {NULL};
    const char *directory = spec->directory ? spec->directory : "/tmp";
    int proc = -1;
    if (chdir(directory)) return;
    if (launch->level >= SANDBOX_LANDLOCK && spec->traced &&
        (proc = sandbox_landlock_add_proc(launch->ruleset)) < 0)
        return;
    if (launch->level >= SANDBOX_LANDLOCK && sandbox_landlock_enforce(launch->ruleset)) return;
    if (launch->level >= SANDBOX_SECCOMP && sandbox_filter_load(launch->filter)) return;
    fcntl(launch->filter, F_SETFD, FD_CLOEXEC);
    const char *const *environment = spec->environment ? spec->environment : nothing;
    if (descriptors_set(launch, proc)) return;
    execve(spec->argv[0], (char *const *)spec->argv, (char *const *)environment);
}

static void child_run(const void *context)
{
    const Launch *launch = context;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launch->parent) _exit(START_FAILED);
    limits_set(launch->spec);
    if (launch->spec->traced) personality(ADDR_NO_RANDOMIZE);
    if (launch->cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((unsigned)launch->cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    if (launch->arguments) {
        static char *const nothing[] = {NULL};
        if (!descriptors_set(launch, -1)) execve(launch->arguments[0], launch->arguments, nothing);
    } else {
        child_confine(launch);
    }
    _exit(START_FAILED);
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void launch_clear(Launch *launch)
{
    free(launch->arguments);
    if (launch->filter >= 0) close(launch->filter);
    if (launch->ruleset >= 0) close(launch->ruleset);
    if (launch->null >= 0) close(launch->null);
}

static int launch_prepare(Launch *launch, const SandboxSpec *spec, SandboxLevel level, Error *error)
{
    *launch = (Launch){.spec = spec,
                       .level = level,
                       .filter = -1,
                       .ruleset = -1,
                       .parent = getpid(),
                       .cpu = spec->one_core ? sched_getcpu() : -1};
    launch->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (launch->null < 0) return error_set(error, "sandbox: /dev/null: %s", strerror(errno));
    if (level >= SANDBOX_SECCOMP) {
        launch->filter = sandbox_filter_open(spec, level == SANDBOX_NAMESPACES, error);
        if (launch->filter < 0) return -1;
    }
    if (level == SANDBOX_NAMESPACES) {
        launch->arguments = sandbox_bwrap_arguments(spec, FIRST_PASS + spec->passes);
        if (!launch->arguments) return error_set(error, "sandbox: too many or too long paths");
    } else if (level == SANDBOX_LANDLOCK) {
        launch->ruleset = sandbox_landlock_open(spec);
        if (launch->ruleset < 0) return error_set(error, "sandbox: Landlock: %s", strerror(errno));
    }
    return 0;
}

static pid_t start_at(const SandboxSpec *spec, SandboxLevel level, Error *error)
{
    Launch launch;
    pid_t pid = -1;
    if (!launch_prepare(&launch, spec, level, error)) {
        pid = sandbox_spawn(child_run, &launch);
        if (pid < 0)
            error_set(error, "sandbox: cannot start a process: %s", strerror(errno));
        else
            setpgid(pid, pid); /* in parent and child, so that it holds whichever runs first */
    }
    launch_clear(&launch);
    return pid;
}

pid_t sandbox_start(const SandboxSpec *spec, Error *error)
{
    return start_at(spec, spec->traced ? sandbox_probe_traced() : sandbox_probe(), error);
}

static void end_fill(int status, SandboxEnd *end)
{
    *end = (SandboxEnd){.code = -1};
    if (WIFSIGNALED(status)) {
        end->signal = WTERMSIG(status);
    } else if (WEXITSTATUS(status) > 128 && WEXITSTATUS(status) < 128 + NSIG) {
        end->signal = WEXITSTATUS(status) - 128; /* bubblewrap's encoding of a signal */
    } else {
        end->code = WEXITSTATUS(status);
    }
}

int sandbox_wait(pid_t pid, double deadline, SandboxEnd *end)
{
    int status, watch = (int)syscall(SYS_pidfd_open, pid, 0);
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG);
        double left = deadline - sandbox_clock();
        if (got == pid) end_fill(status, end);
        if (got == pid || (got < 0 && errno != EINTR) || left <= 0) {
            if (watch >= 0) close(watch);
            return got == pid;
        }
        struct pollfd event = {.fd = watch, .events = POLLIN};
        int wait_ms = left > 1 ? 1000 : (int)(left * 1000) + 1;
        poll(&event, 1, watch < 0 && wait_ms > 5 ? 5 : wait_ms);
    }
}

void sandbox_kill(pid_t pid)
{
    if (pid <= 0) return;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- available level ------------------------------------------------------------------------- */

static int level_works(SandboxLevel level, int traced)
{
    static const char *const argv[] = {"/bin/true", NULL};
    SandboxSpec spec = {
        .argv = argv, .output_fd = -1, .file_bytes = 1, .processes = 1, .traced = traced};
    SandboxEnd end;
    if (level == SANDBOX_NAMESPACES && !sandbox_bwrap_path()) return 0;
    spec.output_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (spec.output_fd < 0) return 0;
    pid_t pid = start_at(&spec, level, NULL);
    close(spec.output_fd);
    if (pid < 0) return 0;
    if (!sandbox_wait(pid, sandbox_clock() + 10, &end)) {
        sandbox_kill(pid);
        return 0;
    }
    return end.code == 0;
}

int sandbox_counts(void)
{
    return sandbox_probe_traced() >= SANDBOX_LANDLOCK;
}

int sandbox_starts(void)
{
    return level_works(sandbox_probe(), 0);
}

static SandboxLevel probed, probed_traced;

static SandboxLevel level_find(SandboxLevel level, int traced)
{
    while (level > SANDBOX_NONE && !level_works(level, traced))
        level--;
    return level;
}

static void probe_once(void)
{
    probed = level_find(SANDBOX_NAMESPACES, 0);
}

static void probe_traced_once(void)
{
    probed_traced = level_find(sandbox_probe(), 1);
}

/* Locked, because several threads build submissions. */
SandboxLevel sandbox_probe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, probe_once);
    SandboxLevel level = probed < highest ? probed : highest;
    return level < probed ? level_find(level, 0) : level;
}

SandboxLevel sandbox_probe_traced(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    SandboxLevel level = sandbox_probe();
    pthread_once(&once, probe_traced_once);
    return probed_traced < level ? probed_traced : level;
}
