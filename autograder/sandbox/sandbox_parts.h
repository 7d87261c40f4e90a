/* sandbox_parts.h - parts of the sandbox: bubblewrap's argument vector, the system-call filter,
 * Landlock. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_PARTS_H
#define CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_PARTS_H

#include "autograder/sandbox/sandbox.h"

/* A descriptor of an anonymous file with the BPF program.  `namespaces`: there is a PID namespace,
 * so signals can reach no other process.  -1 with error. */
int sandbox_filter_open(const SandboxSpec *spec, int namespaces, Error *error);

/* Loads the filter in `fd` for this process.  Called after fork; allocates no memory.  -1 with
 * errno. */
int sandbox_filter_load(int fd);

/* The path of bwrap, or NULL. */
const char *sandbox_bwrap_path(void);

/* The complete command line for `spec`; bubblewrap reads the filter from descriptor `filter_fd`.
 * One malloc'd block for free(), NULL if memory is exhausted or there are too many paths. */
char **sandbox_bwrap_arguments(const SandboxSpec *spec, int filter_fd);

/* The system directories that a program needs to start; they need not exist here;
 * NULL-terminated. */
extern const char *const sandbox_system_paths[];

/* A descriptor of a Landlock ruleset that grants only the paths of `spec`; -1 if the kernel has no
 * Landlock. */
int sandbox_landlock_open(const SandboxSpec *spec);
int sandbox_landlock_enforce(int ruleset); /* after fork */

/* Grants this process its own entry of /proc, after fork: an O_PATH descriptor of it, without which
 * the grant may end, or -1. */
int sandbox_landlock_add_proc(int ruleset);

#endif
