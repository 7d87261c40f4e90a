/* sandbox.h - running an untrusted program: what it may see, what it may use up.
 *
 * bubblewrap gives it user, PID, mount, network and IPC namespaces, a private /tmp and /dev/shm, read-only system directories;
 * seccomp and resource limits do the rest.  Where the kernel refuses namespaces the level falls, and the level is always printed. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_H
#define CONVLAB_AUTOGRADER_SANDBOX_H

#include <stdint.h>
#include <sys/types.h>

#include "common/base/error.h"

typedef enum SandboxLevel {
    SANDBOX_NONE,           /* resource limits only */
    SANDBOX_SECCOMP,        /* and a system-call filter */
    SANDBOX_NAMESPACES      /* and namespaces through bubblewrap: the full box */
} SandboxLevel;

SandboxLevel sandbox_probe(void);           /* what works here, found by trying it once; cached for the process */
const char *sandbox_level_name(SandboxLevel level);

enum { SANDBOX_PATHS = 16, SANDBOX_FDS = 4 };

typedef struct SandboxSpec {
    const char *const *argv;                /* NULL-terminated; argv[0] absolute */
    const char *read_only[SANDBOX_PATHS];   /* bound at the same path; NULL-terminated */
    const char *writable[SANDBOX_PATHS];
    const char *const *environment;         /* NULL-terminated KEY=value; nothing is inherited */
    const char *directory;                  /* working directory inside, or NULL for /tmp */
    int pass_fd[SANDBOX_FDS], passes;       /* become 3, 4, ... inside; all else is closed; stdin is /dev/null */
    int output_fd;                          /* where stdout and stderr go */
    double cpu_seconds;                     /* RLIMIT_CPU, 0: none */
    uint64_t memory_bytes;                  /* RLIMIT_AS, 0: none */
    uint64_t file_bytes;                    /* RLIMIT_FSIZE */
    int processes;                          /* RLIMIT_NPROC-like bound; 1 means that fork and threads fail */
    int one_core;                           /* pin to one CPU and forbid changing it (host labs) */
} SandboxSpec;

pid_t sandbox_start(const SandboxSpec *spec, Error *error);      /* -1 with error */
void sandbox_kill(pid_t pid);               /* the whole tree, and reaps */

#endif
