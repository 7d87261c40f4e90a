/* build_cleanup.c - removes a build's private directory if the grader ends during the build.
 *
 * A child process in a session of its own waits on a pipe: one byte means that the build is
 * finished, an end without it that the grader has ended, by Ctrl-C or SIGKILL.  A signal handler
 * cannot handle SIGKILL, and with several threads not Ctrl-C either. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/build/build_parts.h"

/* Time for the compilers to end: they get a death signal when the grader ends. */
enum { SETTLE_MICROSECONDS = 300000, WAIT_FD = 3 };

/* Called after fork, possibly from several threads: system calls only. */
static void cleanup_run(int wait_fd, const char *directory)
{
    char byte;
    int null = open("/dev/null", O_RDWR);
    setsid();
    for (int fd = 0; fd < WAIT_FD && null >= 0; fd++)
        dup2(null, fd);
    if (wait_fd != WAIT_FD && dup2(wait_fd, WAIT_FD) < 0) _exit(1);
    close_range(WAIT_FD + 1, ~0u, 0);
    if (read(WAIT_FD, &byte, 1) == 1) _exit(0);
    usleep(SETTLE_MICROSECONDS);
    execl("/bin/rm", "rm", "-rf", "--", directory, (char *)NULL);
    _exit(1);
}

void build_cleanup_start(BuildJob *job)
{
    int ends[2];
    job->janitor_fd = -1;
    if (pipe2(ends, O_CLOEXEC)) return; /* then only a later build's cleanup removes it */
    job->janitor = fork();
    if (job->janitor == 0) cleanup_run(ends[0], job->directory);
    close(ends[0]);
    if (job->janitor > 0)
        job->janitor_fd = ends[1];
    else
        close(ends[1]);
}

void build_cleanup_end(BuildJob *job)
{
    if (job->janitor_fd < 0) return;
    if (write(job->janitor_fd, "", 1) == 1) waitpid(job->janitor, NULL, 0);
    close(job->janitor_fd);
    job->janitor_fd = -1;
}
