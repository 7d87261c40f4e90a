/* sandbox_run.c - a sandboxed program from start to end, its output drained and bounded. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox.h"

/* What is printed beyond the buffer is thrown away up to here; a program that prints more is
 * killed. */
#define FLOOD_BYTES (8ull << 20)

/* Reads until the writers are gone, the deadline, or the flood; returns 1 at the end of the
 * output. */
static int output_drain(int fd, double deadline, char *output, size_t bytes, int *flooded)
{
    char chunk[16384];
    size_t kept = 0;
    uint64_t total = 0;
    for (;;) {
        struct pollfd event = {.fd = fd, .events = POLLIN};
        double left = deadline - sandbox_clock();
        if (left <= 0) return 0;
        int ready = poll(&event, 1, left > 60 ? 60000 : (int)(left * 1000) + 1);
        if (ready < 0 && errno != EINTR) return 0;
        if (ready <= 0) continue;
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0) return 1;
        if (got < 0 && errno != EINTR && errno != EAGAIN) return 0;
        if (got < 0) continue;
        size_t keep = bytes - 1 - kept < (size_t)got ? bytes - 1 - kept : (size_t)got;
        memcpy(output + kept, chunk, keep);
        kept += keep;
        output[kept] = 0;
        total += (uint64_t)got;
        if (total > FLOOD_BYTES) {
            *flooded = 1;
            return 0;
        }
    }
}

int sandbox_run(const SandboxSpec *spec, double wall_seconds, char *output, size_t output_bytes,
                SandboxEnd *end, Error *error)
{
    int ends[2], flooded = 0;
    double start = sandbox_clock(), deadline = start + wall_seconds;
    SandboxSpec own = *spec;
    output[0] = 0;
    *end = (SandboxEnd){.code = -1};
    if (pipe2(ends, O_CLOEXEC)) return error_set(error, "sandbox: pipe: %s", strerror(errno));
    own.output_fd = ends[1];
    pid_t pid = sandbox_start(&own, error);
    close(ends[1]);
    if (pid > 0) {
        int drained = output_drain(ends[0], deadline, output, output_bytes, &flooded);
        int ended = !flooded && sandbox_wait(pid, drained ? deadline : sandbox_clock(), end);
        if (!ended) {
            sandbox_kill(pid);
            *end = (SandboxEnd){.code = -1, .signal = 9, .timed_out = !flooded, .flooded = flooded};
        }
        end->seconds = sandbox_clock() - start;
    }
    close(ends[0]);
    return pid > 0 ? 0 : -1;
}
