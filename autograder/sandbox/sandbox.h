/* sandbox.h - running an untrusted program: what it may see, what it may use up.
 *
 * Module: the walls around a process that nobody trusts.
 * Callers: build, session, the programs.
 * May use: base.
 *
 * bubblewrap gives it user, PID, mount, network and IPC namespaces, a private /tmp and /dev/shm,
 * read-only system directories; seccomp and resource limits do the rest.  Where the kernel refuses
 * namespaces the level falls: Landlock then hides the file system, and without that only the
 * system-call filter is left.  The level is always printed. */
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
    SANDBOX_NAMESPACES /* namespaces through bubblewrap, and the filter: the full box */
} SandboxLevel;

/* What works here, found by trying it once; cached for the process. */
SandboxLevel sandbox_probe(void);
const char *sandbox_level_name(SandboxLevel level);

/* Does a harmless program start at that level now?  What failed in the sandbox is then its own. */
int sandbox_starts(void);

/* Never uses more than `level` from now on: for tests of the lower levels. */
void sandbox_lower(SandboxLevel level);

enum { SANDBOX_PATHS = 16, SANDBOX_FDS = 4 };

typedef struct SandboxSpec {
    const char *const *argv;              /* NULL-terminated; argv[0] absolute */
    const char *read_only[SANDBOX_PATHS]; /* bound at the same path; NULL-terminated */
    const char *writable[SANDBOX_PATHS];
    const char *const *environment; /* NULL-terminated KEY=value; nothing is inherited */
    const char *directory;          /* working directory inside, or NULL for /tmp */
    int pass_fd[SANDBOX_FDS];       /* become 3, 4, ... inside; stdin is /dev/null */
    int passes;                     /* so many; all else is closed */
    int output_fd;                  /* where stdout and stderr go */
    double cpu_seconds;             /* RLIMIT_CPU, 0: none */
    uint64_t memory_bytes;          /* RLIMIT_AS, 0: none */
    uint64_t file_bytes;            /* RLIMIT_FSIZE */
    int processes;                  /* at most; 1: fork and threads fail */
    int one_core;                   /* pinned to one CPU for good (host labs) */
    int traced; /* what valgrind needs: addresses that never change, and with namespaces /proc */
} SandboxSpec;

/* The program dies with the thread that started it.  -1 with error. */
pid_t sandbox_start(const SandboxSpec *spec, Error *error);
void sandbox_kill(pid_t pid); /* the whole tree, and reaps */

/* How a sandboxed program ended. */
typedef struct SandboxEnd {
    int code;       /* exit status, or -1 */
    int signal;     /* the signal it died of, or 0 */
    Excess excess;  /* sandbox_run only: what it was killed for, if for any */
    int flooded;    /* sandbox_run only: killed for writing far too much */
    double used;    /* sandbox_run only: seconds of CPU time, of its children too */
    double seconds; /* sandbox_run only: wall-clock */
} SandboxEnd;

/* Waits until `deadline` (CLOCK_MONOTONIC seconds) for the program to end and reaps it: 1 and *end,
 * or 0 when it still runs. */
int sandbox_wait(pid_t pid, double deadline, SandboxEnd *end);

/* Runs the program to its end and keeps the first `output_bytes` - 1 bytes of what it prints in
 * `output`, NUL-terminated.  It and its children may use `seconds` of CPU time and wait as long
 * (meter.h).  spec->output_fd is ignored.  -1 with error only when it cannot be started. */
int sandbox_run(const SandboxSpec *spec, double seconds, char *output, size_t output_bytes,
                SandboxEnd *end, Error *error);

double sandbox_clock(void); /* CLOCK_MONOTONIC in seconds */

/* Starts a process that runs `child`, which executes a program or calls _exit.  Until then it has
 * this process's memory, not a copy, and the calling thread waits: fork would copy the page tables
 * of all that a grade holds, for longer than the rest of a start takes.  So the child writes
 * nothing but its own variables.  Signals are as at the start of a program.  -1 with errno. */
typedef void SpawnChild(const void *context);
pid_t sandbox_spawn(SpawnChild *child, const void *context);

#endif
