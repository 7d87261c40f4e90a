#include "autograder/profile/baseline_cost.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int baseline_write_cost(const DeviceCost *cost)
{
    return write(STDOUT_FILENO, cost, sizeof *cost) == (ssize_t)sizeof *cost ? 0 : -1;
}

static int read_cost(int descriptor, DeviceCost *cost)
{
    size_t have = 0;
    while (have < sizeof *cost) {
        ssize_t got = read(descriptor, (char *)cost + have, sizeof *cost - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        have += (size_t)got;
    }
    return 0;
}

int baseline_run(const char *const *argv, DeviceCost *cost, Error *error)
{
    int pipes[2], status = 0;
    if (pipe(pipes)) return error_set(error, "pipe: %m");
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(pipes[1]);
    int missing = child < 0 || read_cost(pipes[0], cost);
    close(pipes[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return missing || status ? error_set(error, "the baseline did not run to its end") : 0;
}
