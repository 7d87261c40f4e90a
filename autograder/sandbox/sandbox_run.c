/* sandbox_run.c - runs a sandboxed program to its end; its output is read and bounded. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox.h"

/* Output beyond the buffer is discarded up to this size; a program that prints more is killed. */
#define FLOOD_BYTES (8ull << 20)

typedef struct Drain {
    char *output;
    size_t bytes, kept;
    uint64_t total;
} Drain;

/* Reads available output; 1 at its end, -1 if it exceeds FLOOD_BYTES. */
static int drain_read(Drain *drain, int fd)
{
    char chunk[16384];
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0) return errno != EINTR && errno != EAGAIN;
    size_t room = drain->bytes - 1 - drain->kept, keep = room < (size_t)got ? room : (size_t)got;
    memcpy(drain->output + drain->kept, chunk, keep);
    drain->kept += keep;
    drain->output[drain->kept] = 0;
    drain->total += (uint64_t)got;
    return got == 0 ? 1 : drain->total > FLOOD_BYTES ? -1 : 0;
}

/* Waits until the program has ended and its output is read, or a limit is exceeded. */
static void run_watch(pid_t pid, int fd, Drain *drain, double seconds, SandboxEnd *end)
{
    Meter meter;
    int state = 0, ended = 0;
    meter_open(&meter, pid, 0, seconds);
    double next = meter.opened;
    while (!ended && end->excess == EXCESS_NONE && state >= 0) {
        double left = next - sandbox_clock();
        if (left <= 0) {
            end->excess = meter_sample(&meter);
            next = sandbox_clock() + 1e-3 * meter_interval();
        } else if (state) {
            ended = sandbox_wait(pid, next, end);
        } else {
            struct pollfd event = {.fd = fd, .events = POLLIN};
            if (poll(&event, 1, (int)(left * 1000) + 1) > 0) state = drain_read(drain, fd);
        }
    }
    end->used = meter.cpu;
    if (ended) return;
    sandbox_kill(pid);
    end->signal = SIGKILL;
    end->flooded = state < 0;
}

int sandbox_run(const SandboxSpec *spec, double seconds, char *output, size_t output_bytes,
                SandboxEnd *end, Error *error)
{
    int ends[2];
    double start = sandbox_clock();
    SandboxSpec own = *spec;
    Drain drain = {.output = output, .bytes = output_bytes};
    output[0] = 0;
    *end = (SandboxEnd){.code = -1};
    if (pipe2(ends, O_CLOEXEC)) return error_set(error, "sandbox: pipe: %s", strerror(errno));
    own.output_fd = ends[1];
    pid_t pid = sandbox_start(&own, error);
    close(ends[1]);
    if (pid > 0) {
        run_watch(pid, ends[0], &drain, seconds, end);
        end->seconds = sandbox_clock() - start;
    }
    close(ends[0]);
    return pid > 0 ? 0 : -1;
}
