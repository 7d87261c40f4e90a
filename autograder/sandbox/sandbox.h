/* sandbox.h - sandbox for untrusted programs: visible files, allowed system calls, resource limits.
 *
 * Module: isolation of untrusted processes.
 * Callers: build, session, the programs.
 * May use: base.
 *
 * bubblewrap provides user, PID, mount, network and IPC namespaces, a private /tmp and /dev/shm,
 * and read-only system directories; seccomp and resource limits add to it.  If the kernel refuses
 * namespaces, the level falls: Landlock then hides the file system, and without Landlock only the
 * system-call filter remains.  The level is always printed. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_H
#define CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "autograder/sandbox/meter.h"
#include "common/base/error.h"

typedef enum SandboxLevel {
    SANDBOX_NONE,      /* resource limits only */
    SANDBOX_SECCOMP,   /* and a system-call filter */
    SANDBOX_LANDLOCK,  /* and only the named paths of the file system */
    SANDBOX_NAMESPACES /* namespaces through bubblewrap, and the filter: the highest level */
} SandboxLevel;

/* The available level, found by one trial; cached for the process. */
SandboxLevel sandbox_probe(void);

/* The level of a traced program: lower where a container hides parts of /proc, because the kernel
 * then allows no new one. */
SandboxLevel sandbox_probe_traced(void);
const char *sandbox_level_name(SandboxLevel level);

/* Whether programs at that level can neither read files of others nor have other limits than at the
 * highest: marks that count need it. */
int sandbox_counts(void);

/* Why the level is not the highest one and what helps, as one sentence; "" at the highest level. */
void sandbox_explain(char *text, size_t bytes);

/* Whether a harmless program starts at that level now; if so, a failure in the sandbox is the
 * program's own. */
int sandbox_starts(void);

/* Limits the level to `level` from now on, for tests of the lower levels. */
void sandbox_lower(SandboxLevel level);

enum { SANDBOX_PATHS = 16, SANDBOX_FDS = 4 };

typedef struct SandboxSpec {
    const char *const *argv;              /* NULL-terminated; argv[0] absolute */
    const char *read_only[SANDBOX_PATHS]; /* bound at the same path; NULL-terminated */
    const char *writable[SANDBOX_PATHS];
    const char *const *environment; /* NULL-terminated KEY=value; nothing is inherited */
    const char *directory;          /* working directory inside, or NULL for /tmp */
    int pass_fd[SANDBOX_FDS];       /* descriptors that become 3, 4, ... inside; stdin is
                                     * /dev/null */
    int passes;                     /* number of passed descriptors; all others are closed */
    int output_fd;                  /* descriptor of stdout and stderr */
    double cpu_seconds;             /* RLIMIT_CPU, 0: none */
    uint64_t memory_bytes;          /* RLIMIT_AS, 0: none */
    uint64_t file_bytes;            /* RLIMIT_FSIZE */
    int processes;                  /* upper limit; 1: fork and threads fail */
    int one_core;                   /* Boolean: pinned to one CPU permanently (host labs) */
    /* A directory where files can be created but no directories, with Landlock, where no private
     * /tmp exists; NULL: none. */
    const char *scratch;
    int no_files; /* Boolean: creating a file ends the program with SIGSYS */
    int traced;   /* Boolean, for valgrind: fixed addresses, and its own entry of /proc */
} SandboxSpec;

/* The program ends with the thread that started it.  -1 with error. */
pid_t sandbox_start(const SandboxSpec *spec, Error *error);
void sandbox_kill(pid_t pid); /* kills the whole process tree, and reaps it */

/* End of a sandboxed program. */
typedef struct SandboxEnd {
    int code;       /* exit status, or -1 */
    int signal;     /* the signal it died of, or 0 */
    Excess excess;  /* sandbox_run only: the limit for which it was killed, if any */
    int flooded;    /* sandbox_run only: killed for excessive output */
    double used;    /* sandbox_run only: seconds of CPU time, including its children's */
    double seconds; /* sandbox_run only: wall-clock */
} SandboxEnd;

/* Waits until `deadline` (CLOCK_MONOTONIC seconds) for the program to end and reaps it: 1 and *end,
 * or 0 when it still runs. */
int sandbox_wait(pid_t pid, double deadline, SandboxEnd *end);

/* Runs the program to its end and stores the first `output_bytes` - 1 bytes of its output in
 * `output`, NUL-terminated.  It and its children may use `seconds` of CPU time and the same time of
 * waiting (meter.h).  spec->output_fd is ignored.  -1 with error only if it cannot be started. */
int sandbox_run(const SandboxSpec *spec, double seconds, char *output, size_t output_bytes,
                SandboxEnd *end, Error *error);

double sandbox_clock(void); /* CLOCK_MONOTONIC in seconds */

/* Starts a process that runs `child`, which executes a program or calls _exit.  Until then it
 * shares this process's memory, and the calling thread waits: fork would copy the page tables of
 * the grader's memory, which takes longer than the rest of a start.  Therefore the child writes
 * only its own variables.  Signals are as at the start of a program.  -1 with errno. */
typedef void SpawnChild(const void *context);
pid_t sandbox_spawn(SpawnChild *child, const void *context);

#endif
