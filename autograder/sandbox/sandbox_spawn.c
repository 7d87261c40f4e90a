/* sandbox_spawn.c - start of a process without a copy of this one's memory. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox.h"
#include "common/base/sanitized.h"

#if SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(from, bytes)
#endif

enum { STACK_BYTES = 256 << 10 };

typedef struct Spawn {
    SpawnChild *child;
    const void *context;
} Spawn;

/* A signal handler of the parent would run in the parent's memory, so handlers are reset before
 * signals are unblocked. */
static int spawn_run(void *argument)
{
    const Spawn *spawn = argument;
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    spawn->child(spawn->context);
    _exit(127);
}

pid_t sandbox_spawn(SpawnChild *child, const void *context)
{
    Spawn spawn = {child, context};
    sigset_t all, before;
    char *stack =
        mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = clone(spawn_run, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, &spawn);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    /* Its functions never return, so AddressSanitizer still considers their frames in use. */
    ASAN_UNPOISON_MEMORY_REGION(stack, STACK_BYTES);
    munmap(stack, STACK_BYTES);
    errno = why;
    return pid;
}
