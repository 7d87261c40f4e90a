/* session_device.c - start, requests and end of the device process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"
#include "common/cuda/wire.h"

/* The device process belongs to the grader, so the limit allows for a busy machine. */
enum { ANSWER_SECONDS = 600, HIGH_FD = 32 };

/* ---- the process -------------------------------------------------------------------------- */

typedef struct DeviceStart {
    const char *program;
    int control, descriptors, printed;
    pid_t parent;
} DeviceStart;

/* The child dies with grade and has only its two sockets.  Its output is the kernels' output and
 * goes only to `printed`. */
static void device_exec(const void *context)
{
    const DeviceStart *start = context;
    char *const argv[] = {(char *)start->program, NULL};
    signal(SIGINT, SIG_IGN);  /* grade handles Ctrl-C and then ends this process */
    signal(SIGPIPE, SIG_IGN); /* a runner may close its socket at any time */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start->parent) _exit(127);
    int high = fcntl(start->control, F_DUPFD_CLOEXEC, HIGH_FD),
        other = fcntl(start->descriptors, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0 || other < 0 || dup2(start->printed, 1) < 0 || dup2(start->printed, 2) < 0 ||
        dup2(high, DEVICE_CONTROL) < 0 || dup2(other, DEVICE_DESCRIPTORS) < 0)
        _exit(127);
    close_range(DEVICE_DESCRIPTORS + 1, ~0u, 0);
    execv(start->program, argv);
}

static int device_start(Session *session, Error *error)
{
    int control[2], descriptors[2], printed[2];
    if (access(session->device_program, X_OK))
        return error_set(error, "the program %s is missing: run `make` again",
                         session->device_program);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
        return error_set(error, "socketpair: %s", strerror(errno));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, descriptors)) {
        close(control[0]);
        close(control[1]);
        return error_set(error, "socketpair: %s", strerror(errno));
    }
    if (pipe2(printed, O_CLOEXEC | O_NONBLOCK)) {
        close(control[0]), close(control[1]);
        close(descriptors[0]), close(descriptors[1]);
        return error_set(error, "pipe: %s", strerror(errno));
    }
    DeviceStart start = {session->device_program, control[1], descriptors[1], printed[1], getpid()};
    pid_t pid = sandbox_spawn(device_exec, &start);
    close(control[1]);
    close(descriptors[1]);
    close(printed[1]);
    session->printed = printed[0];
    session->control = control[0];
    session->descriptors = descriptors[0];
    session->device = pid > 0 ? pid : 0;
    session->problem_known = 0;
    if (pid > 0) return 0;
    device_kill(session);
    return error_set(error, "cannot start a process: %s", strerror(errno));
}

void device_kill(Session *session)
{
    if (session->device > 0) {
        kill(session->device, SIGKILL);
        while (waitpid(session->device, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    device_drain(session, session->running);
    if (session->printed >= 0) close(session->printed);
    if (session->control >= 0) close(session->control);
    if (session->descriptors >= 0) close(session->descriptors);
    session->device = 0;
    session->control = session->descriptors = session->printed = -1;
    session->problem_known = 0;
    for (int i = 0; i < SESSION_RUNNERS; i++)
        runner_kill(&session->runner[i]); /* their sockets were closed there */
}

/* A full pipe discards later output and never blocks the device process. */
void device_drain(Session *session, int slot)
{
    char text[4096];
    size_t used = strlen(session->words);
    for (ssize_t got;
         session->printed >= 0 && (got = read(session->printed, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < got && slot == 0 && used + 1 < sizeof session->words; i++)
            session->words[used++] = text[i] ? text[i] : '?';
        session->words[used] = 0;
    }
}

/* ---- requests ----------------------------------------------------------------------------- */

int device_send(Session *session, const ControlRequest *request, Error *error)
{
    WirePiece piece = {request, sizeof *request};
    return wire_send_until(session->control, wire_now() + ANSWER_SECONDS, FRAME_REQUEST, &piece, 1,
                           error);
}

int device_receive(Session *session, ControlReply *reply, Error *error)
{
    FrameType type;
    void *body = NULL;
    uint64_t bytes;
    if (wire_receive(session->control, wire_now() + ANSWER_SECONDS, &type, &body, &bytes, error))
        return -1;
    int right = bytes == sizeof *reply;
    if (right) memcpy(reply, body, sizeof *reply);
    free(body);
    return right ? 0 : error_set(error, "the device process sent an invalid answer");
}

int device_request(Session *session, ControlRequest *request, ControlReply *reply, Error *error)
{
    if (device_send(session, request, error) || device_receive(session, reply, error)) return -1;
    return reply->status == RUN_OK ? 0 : error_set(error, "%s", reply->message);
}

int device_send_descriptor(Session *session, int fd, Error *error)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(session->descriptors, &message, MSG_NOSIGNAL) != 1)
        return error_set(error, "the device process is gone: %s", strerror(errno));
    return 0;
}

/* ---- preparation of a call ------------------------------------------------------------------ */

static int engine_open(Session *session, Error *error)
{
    ControlRequest request = {.kind = CONTROL_OPEN,
                              .threads = session->threads,
                              .checks = session->checks,
                              .warp_sync = session->warp_sync};
    ControlReply reply;
    request.engine = session->engine;
    memcpy(request.machine, session->machine, sizeof request.machine);
    memcpy(request.gpus_directory, session->gpus_directory, sizeof request.gpus_directory);
    if (device_request(session, &request, &reply, error)) return -1;
    session->properties = reply.properties;
    return 0;
}

int device_ensure(Session *session, Error *error)
{
    ControlReply reply;
    if (!session->device) {
        if (device_start(session, error)) return -1;
        if (engine_open(session, error)) {
            device_kill(session);
            return -1;
        }
    }
    if (session->operation && !session->problem_known) {
        ControlRequest request = {.kind = session->runners_stay ? CONTROL_NEXT : CONTROL_PROBLEM,
                                  .call = session->call,
                                  .instructions = session->instructions};
        for (uint32_t i = 0; i < session->call.tensors; i++)
            tensor_name(&session->shape[i], &request.name[i]);
        if (device_send_descriptor(session, session->shared.fd, error) ||
            device_request(session, &request, &reply, error)) {
            device_kill(session);
            return -1;
        }
        session->problem_known = 1;
    }
    return 0;
}
