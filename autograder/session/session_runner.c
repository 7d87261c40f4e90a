/* session_runner.c - the sandboxed runners: one process for each slot and problem. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"

/* A submission's output goes to a pipe that is read only at the end: large enough for a last
 * message, and it never blocks. */
enum { PASSED_SOCKET = 0, RUNNER_FILE_BYTES = 1 << 20 };

/* Additional address space for valgrind's shadow memory. */
#define COUNTED_EXTRA_BYTES (8ull << 30)

/* valgrind creates files when it starts.  Namespaces give it a private /tmp; without them it gets a
 * directory, named by `variable`. */
static int scratch_make(Runner *runner, char *variable, size_t bytes, Error *error)
{
    char path[sizeof runner->scratch] = "/tmp/convlab-XXXXXX";
    if (!mkdtemp(path)) return error_set(error, "%s: %s", path, strerror(errno));
    memcpy(runner->scratch, path, sizeof path);
    snprintf(variable, bytes, "TMPDIR=%s", path);
    return 0;
}

static int box_start(const Session *session, Runner *runner, const int pass[2], int output,
                     Error *error)
{
    const char *argv[COUNT_ARGUMENTS] = {runner->program, NULL};
    char directory[sizeof runner->program], variable[64];
    const char *const environment[] = {count_environment[0], count_environment[1], variable, NULL};
    SandboxSpec spec = {.argv = argv,
                        .pass_fd = {pass[0], pass[1]},
                        .passes = runner->counted ? 2 : 1,
                        .output_fd = output,
                        .memory_bytes = session->memory_bytes,
                        .file_bytes = RUNNER_FILE_BYTES,
                        .processes = 1,
                        .no_files = !runner->counted,
                        .one_core = session->call.host && !runner->counted};
    if (runner->counted) {
        count_arguments(runner->program, argv);
        spec.environment = count_environment;
        if (sandbox_probe_traced() != SANDBOX_NAMESPACES) {
            if (scratch_make(runner, variable, sizeof variable, error)) return -1;
            spec.scratch = runner->scratch;
            spec.environment = environment;
        }
        spec.memory_bytes += COUNTED_EXTRA_BYTES;
        spec.traced = 1;
    }
    snprintf(directory, sizeof directory, "%s", runner->program);
    char *slash = strrchr(directory, '/');
    if (!slash) return error_set(error, "%s is not a whole path", runner->program);
    *slash = 0;
    spec.read_only[0] = directory;
    spec.directory = directory;
    runner->pid = sandbox_start(&spec, error);
    if (runner->pid > 0) return 0;
    runner->pid = 0;
    return -1;
}

static int runner_start(Session *session, Runner *runner, int socket, Error *error)
{
    int output[2], count[2] = {-1, -1};
    if (pipe2(output, O_CLOEXEC | O_NONBLOCK) ||
        (runner->counted && pipe2(count, O_CLOEXEC | O_NONBLOCK)))
        return error_set(error, "pipe: %s", strerror(errno));
    runner->output = output[0];
    runner->count = count[0];
    const int pass[2] = {socket, count[1]};
    int rc = box_start(session, runner, pass, output[1], error);
    close(output[1]);
    if (count[1] >= 0) close(count[1]);
    return rc;
}

static int runner_attach(Session *session, int slot, int socket, Error *error)
{
    ControlRequest request = {.kind = CONTROL_ATTACH, .slot = (uint32_t)slot};
    ControlReply reply;
    memcpy(request.code, session->runner[slot].code, sizeof request.code);
    if (device_send_descriptor(session, socket, error)) return -1;
    return device_request(session, &request, &reply, error);
}

int runner_ensure(Session *session, int slot, Error *error)
{
    Runner *runner = &session->runner[slot];
    int pair[2];
    if (!runner->program[0]) return error_set(error, "no program in slot %d", slot);
    for (int i = 0; i < SESSION_RUNNERS && session->call.host; i++)
        if (i != slot) runner_kill(&session->runner[i]);
    if (runner->pid > 0) return 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return error_set(error, "socketpair: %s", strerror(errno));
    int rc = runner_start(session, runner, pair[0], error);
    close(pair[0]);
    if (!rc) rc = runner_attach(session, slot, pair[1], error);
    close(pair[1]);
    if (rc) runner_kill(runner);
    return rc;
}
