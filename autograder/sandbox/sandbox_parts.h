/* sandbox_parts.h - what sandbox.c puts together: the argument vector of bubblewrap, the
 * system-call filter, Landlock. */
#ifndef CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_PARTS_H
#define CONVLAB_AUTOGRADER_SANDBOX_SANDBOX_PARTS_H

#include "autograder/sandbox/sandbox.h"

/* A file descriptor of an anonymous file that holds the BPF program; `namespaces` says that there
 * is a PID namespace, so that signals can reach nobody else.  -1 with error. */
int sandbox_filter_open(const SandboxSpec *spec, int namespaces, Error *error);

/* Puts the program in `fd` in force for this process.  After fork; allocates nothing.  -1 with
 * errno. */
int sandbox_filter_load(int fd);

/* The path of bwrap, or NULL. */
const char *sandbox_bwrap_path(void);

/* Its whole command line for `spec`, the filter to be read from descriptor `filter_fd`.  One
 * malloc'd block for free(), NULL when memory is out or the paths are too many. */
char **sandbox_bwrap_arguments(const SandboxSpec *spec, int filter_fd);

/* The system directories that a program needs to start, present here or not; NULL-terminated. */
extern const char *const sandbox_system_paths[];

/* A Landlock ruleset that grants only what `spec` names, as a descriptor; -1 where the kernel has
 * none. */
int sandbox_landlock_open(const SandboxSpec *spec);
int sandbox_landlock_enforce(int ruleset); /* after fork */

#endif
