/* test_server.c - the whole server on a socket, with a fake device and malicious clients.
 *
 * y[0] = 2 * x[0], y[1] = x[1]; x[0] is also a command for the device.  The server is a process of
 * its own, which can be killed.  The test does not depend on speed: limits are minutes if a request
 * is to be answered, and a device that is to be busy waits for a release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/apps/serve/server.h"
#include "common/apps/serve/settings.h"
#include "common/apps/serve/status.h"

enum { X = 4, Y = 2, LARGEST = 4, MOST = 6, ENOUGH = 600000 };

/* ---- fake device -------------------------------------------------------------------------- */

enum { HOLD = 1000, FAIL = 2000 }; /* x[0]: wait until released; fail */

static struct Shared {
    volatile int holds, released, batches;
} * shared;

struct Executor {
    float x[2 * MOST + LARGEST][X], y[2][LARGEST][Y];
    int turn;
};

float *executor_input(const Executor *executor, int place)
{
    return (float *)(uintptr_t)executor->x[place];
}

const float *executor_run(Executor *executor, const int *place, int count, Error *error)
{
    int failed = 0;
    float(*y)[Y] = executor->y[executor->turn ^= 1];
    for (int i = 0; i < count; i++) {
        const float *x = executor->x[place[i]];
        y[i][0] = 2 * x[0];
        y[i][1] = x[1];
        failed |= x[0] == FAIL;
        for (shared->holds += x[0] == HOLD; x[0] == HOLD && !shared->released;)
            usleep(200);
    }
    shared->batches++;
    if (failed) error_set(error, "a batch: the test's device fails");
    return failed ? NULL : y[0];
}

/* ---- the server --------------------------------------------------------------------------- */

static char path[120];
static int metrics_port; /* 0: none */
static pid_t server;

static int server_main(uint64_t limit)
{
    static Executor executor;
    Model model;
    Error error;
    Cost cost = {.memory = 1000000000};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ServerOptions options = {.path = path,
                             .metrics_port = metrics_port,
                             .largest = LARGEST,
                             .most = MOST,
                             .limit = limit,
                             .window = 1000};
    for (int size = 1; size <= LARGEST; size *= 2)
        cost_begin(&cost, size, 1000);
    if (model_open("fc_forward", "N=1 C=4 K=2", 1, "", &model, &error)) return 3;
    model.precision = "fp32";
    Server *opened = server_open(&options, &model, &executor, &cost, &error);
    if (!opened) return fprintf(stderr, "%s\n", error.text), 2;
    int status = server_run(opened, &error);
    if (status) return fprintf(stderr, "%s\n", error.text), 1;
    server_close(opened);
    model_close(&model);
    return 0;
}

static int connects(void)
{
    Error error;
    int descriptor = status_connect(path, &error);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

static rlim_t start_few; /* limit of descriptors; 0: unchanged */

static void start(void)
{
    *shared = (struct Shared){0};
    fflush(NULL);
    server = fork();
    if (!server) {
        struct rlimit few = {start_few, start_few};
        if (start_few) setrlimit(RLIMIT_NOFILE, &few);
        _exit(server_main(600000000000ull));
    }
    for (int i = 0; i < ENOUGH && !connects(); i++)
        usleep(1000);
}

/* Its exit status, or minus the signal that ended it. */
static int end_of(pid_t process)
{
    int status = 0;
    for (int i = 0; i < ENOUGH; i++) {
        pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (ended < 0) fail_msg("it has ended before");
        usleep(1000);
    }
    fail_msg("it does not end");
    return -1;
}

static int stop(void)
{
    kill(server, SIGTERM);
    return end_of(server);
}

/* ---- a client ----------------------------------------------------------------------------- */

static int client(void)
{
    Error error;
    int descriptor = status_connect(path, &error);
    if (descriptor < 0) fail_msg("%s", error.text);
    return descriptor;
}

static void send_bytes(int descriptor, const void *bytes, size_t count)
{
    assert_int_equal(send(descriptor, bytes, count, MSG_NOSIGNAL), count);
}

static void send_head(int descriptor, uint32_t word, uint64_t id, uint64_t time, uint32_t bytes)
{
    unsigned char head[FRAME_BYTES];
    frame_write(&(Frame){bytes, word, id, time}, head);
    send_bytes(descriptor, head, sizeof head);
}

static void ask_until(int descriptor, uint64_t id, float value, uint64_t deadline)
{
    float x[X] = {value, (float)id};
    send_head(descriptor, FRAME_INFER, id, deadline, sizeof x);
    send_bytes(descriptor, x, sizeof x);
}

static void ask(int descriptor, uint64_t id, float value)
{
    ask_until(descriptor, id, value, 0);
}

static int receive(int descriptor, void *to, size_t bytes)
{
    return !bytes || recv(descriptor, to, bytes, MSG_WAITALL) == (ssize_t)bytes ? 0 : -1;
}

/* The next answer's status; its id and its floats. */
static int answer(int descriptor, uint64_t *id, float y[Y])
{
    unsigned char head[FRAME_BYTES];
    char text[4096];
    Frame frame;
    assert_int_equal(receive(descriptor, head, sizeof head), 0);
    assert_int_equal(frame_read(head, &frame), 0);
    assert_true(frame.bytes < sizeof text);
    assert_int_equal(receive(descriptor, text, frame.bytes), 0);
    if (frame.word == FRAME_ANSWERED && frame.bytes == Y * sizeof(float))
        memcpy(y, text, frame.bytes);
    *id = frame.id;
    return (int)frame.word;
}

static void expect_status(int descriptor, uint64_t id, int status)
{
    float y[Y];
    uint64_t of;
    assert_int_equal(answer(descriptor, &of, y), status);
    assert_int_equal(of, id);
}

static void expect_answer(int descriptor, uint64_t id, float value)
{
    float y[Y] = {0};
    uint64_t of;
    assert_int_equal(answer(descriptor, &of, y), FRAME_ANSWERED);
    assert_int_equal(of, id);
    assert_true(y[0] == 2 * value && y[1] == (float)id);
}

static int closed(int descriptor)
{
    char byte;
    return !recv(descriptor, &byte, 1, 0) || errno == ECONNRESET;
}

static uint64_t metric(const char *name)
{
    Error error;
    char *text = status_query(path, FRAME_METRICS, &error);
    if (!text) fail_msg("%s", error.text);
    uint64_t value = status_number(text, name);
    free(text);
    return value;
}

static uint64_t counted(const char *outcome)
{
    char name[80];
    snprintf(name, sizeof name, "serve_outcomes_total{outcome=\"%s\"}", outcome);
    return metric(name);
}

static void until(const char *name, uint64_t value)
{
    for (int i = 0; i < ENOUGH && metric(name) != value; i++)
        usleep(1000);
    assert_int_equal(metric(name), value);
}

/* Waits until the server has noticed that all clients have left. */
static void alone(void)
{
    Error error;
    uint64_t connections = 0;
    for (int i = 0; i < ENOUGH && connections != 1; i++, usleep(1000)) {
        char *text = status_query(path, FRAME_METRICS, &error);
        if (text) connections = status_number(text, "serve_connections");
        free(text);
    }
    assert_int_equal(connections, 1);
}

/* The server continues to work, and every request has an outcome. */
static void all_is_well(void)
{
    static const char *const outcome[] = {"answered", "full",      "late",   "missed",
                                          "stopping", "malformed", "failed", "dropped"};
    int descriptor = client();
    uint64_t sum = 0;
    ask(descriptor, 77, 3);
    expect_answer(descriptor, 77, 3);
    close(descriptor);
    alone();
    for (size_t i = 0; i < sizeof outcome / sizeof *outcome; i++)
        sum += counted(outcome[i]);
    assert_int_equal(metric("serve_requests_total"), sum);
    assert_int_equal(metric("serve_waiting") + metric("serve_running"), 0);
}

/* ---- properties --------------------------------------------------------------------------- */

static void answers_carry_the_numbers_of_their_questions(void **state)
{
    (void)state;
    int one = client(), two = client();
    for (uint64_t id = 1; id <= 3; id++)
        ask(one, id, (float)id), ask(two, 10 * id, (float)(7 * id));
    for (uint64_t id = 1; id <= 3; id++)
        expect_answer(one, id, (float)id), expect_answer(two, 10 * id, (float)(7 * id));
    close(one), close(two);
    all_is_well();
}

/* The device is busy: six requests wait, the seventh and eighth are rejected; all six are
 * answered. */
static void a_full_queue_refuses_at_once(void **state)
{
    (void)state;
    int descriptor = client();
    ask(descriptor, 1, HOLD);
    until("serve_running", 1);
    for (uint64_t id = 2; id <= MOST + 3; id++)
        ask(descriptor, id, 1);
    expect_status(descriptor, MOST + 2, FRAME_FULL);
    expect_status(descriptor, MOST + 3, FRAME_FULL);
    shared->released = 1;
    expect_answer(descriptor, 1, HOLD);
    for (uint64_t id = 2; id <= MOST + 1; id++)
        expect_answer(descriptor, id, 1);
    close(descriptor);
    all_is_well();
}

static void a_deadline_that_has_passed_is_refused(void **state)
{
    (void)state;
    int descriptor = client();
    ask_until(descriptor, 1, 1, 1);
    expect_status(descriptor, 1, FRAME_LATE);
    ask_until(descriptor, 2, 1, clock_now() + 600000000000ull);
    expect_answer(descriptor, 2, 1);
    close(descriptor);
    all_is_well();
}

/* The batch hangs; its requests and the waiting ones are answered at their deadlines, not at its
 * end. */
static void a_device_that_hangs_leaves_nobody_without_an_answer(void **state)
{
    (void)state;
    int descriptor = client();
    ask_until(descriptor, 1, HOLD, clock_now() + 200000000);
    until("serve_running", 1);
    ask_until(descriptor, 2, 1, clock_now() + 60000000000ull);
    ask_until(descriptor, 3, 1, clock_now() + 10000000);
    for (int i = 0; i < 2; i++) {
        float y[Y];
        uint64_t id;
        int status = answer(descriptor, &id, y);
        assert_true(id == 1 ? status == FRAME_MISSED
                            : id == 3 && (status == FRAME_MISSED || status == FRAME_LATE));
    }
    shared->released = 1;
    expect_answer(descriptor, 2, 1);
    close(descriptor);
    all_is_well();
}

static void garbage_is_reported_and_the_connection_closed(void **state)
{
    (void)state;
    int descriptor = client();
    char garbage[200];
    memset(garbage, 'G', sizeof garbage);
    send_bytes(descriptor, garbage, sizeof garbage);
    expect_status(descriptor, 0, FRAME_MALFORMED);
    assert_true(closed(descriptor));
    close(descriptor);
    all_is_well();
}

static void a_huge_length_is_reported_and_the_connection_closed(void **state)
{
    (void)state;
    int descriptor = client();
    send_head(descriptor, FRAME_INFER, 1, 0, UINT32_MAX);
    expect_status(descriptor, 0, FRAME_MALFORMED);
    assert_true(closed(descriptor));
    close(descriptor);
    all_is_well();
}

/* A complete frame of a wrong size or kind: the next one is found after it. */
static void a_wrong_frame_is_reported_and_skipped(void **state)
{
    (void)state;
    int descriptor = client();
    send_head(descriptor, FRAME_INFER, 1, 0, 4);
    send_bytes(descriptor, "four", 4);
    send_head(descriptor, 99, 2, 0, 0);
    ask(descriptor, 3, 5);
    expect_status(descriptor, 1, FRAME_MALFORMED);
    expect_status(descriptor, 2, FRAME_MALFORMED);
    expect_answer(descriptor, 3, 5);
    close(descriptor);
    assert_int_equal(counted("malformed"), 1);
    all_is_well();
}

/* It has no place in the queue, so others are served; it is not counted. */
static void half_a_frame_holds_up_nobody(void **state)
{
    (void)state;
    int descriptor[50];
    for (int i = 0; i < 50; i++) {
        descriptor[i] = client();
        send_head(descriptor[i], FRAME_INFER, 1, 0, X * sizeof(float));
        send_bytes(descriptor[i], "half", 4);
    }
    int other = client();
    ask(other, 1, 4);
    expect_answer(other, 1, 4);
    close(other);
    for (int i = 0; i < 50; i++)
        close(descriptor[i]);
    all_is_well();
    assert_int_equal(metric("serve_requests_total"), 2);
}

static void clients_that_disconnect_early_are_counted(void **state)
{
    (void)state;
    int one = client(), two = client();
    ask(one, 1, HOLD);
    until("serve_running", 1);
    ask(one, 2, 1), ask(two, 3, 1), ask(one, 4, 1);
    until("serve_waiting", 3);
    close(one);
    until("serve_waiting", 1);
    shared->released = 1;
    expect_answer(two, 3, 1);
    close(two);
    assert_int_equal(counted("dropped"), 3);
    all_is_well();
}

/* It sends requests as long as its socket accepts them, and reads nothing. */
static void clients_that_never_read_are_dropped(void **state)
{
    (void)state;
    int descriptor = client(), dropped = 0;
    float x[X] = {1, 1};
    unsigned char frame[FRAME_BYTES + sizeof x];
    frame_write(&(Frame){sizeof x, FRAME_INFER, 1, 1}, frame);
    memcpy(frame + FRAME_BYTES, x, sizeof x);
    for (int i = 0; i < 2000000 && !dropped; i++)
        dropped = send(descriptor, frame, sizeof frame, MSG_NOSIGNAL) < 0;
    assert_true(dropped);
    close(descriptor);
    all_is_well();
}

static void a_thousand_clients_are_served(void **state)
{
    (void)state;
    enum { CLIENTS = 1000 };
    static int descriptor[CLIENTS];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < CLIENTS + 100) skip();
    for (int i = 0; i < CLIENTS; i++)
        descriptor[i] = client();
    for (int i = 0; i < CLIENTS; i += 100)
        ask(descriptor[i], (uint64_t)i, 1);
    for (int i = 0; i < CLIENTS; i += 100) {
        float y[Y];
        uint64_t id;
        int status = answer(descriptor[i], &id, y);
        assert_true(id == (uint64_t)i && (status == FRAME_ANSWERED || status == FRAME_FULL));
    }
    for (int i = 0; i < CLIENTS; i++)
        close(descriptor[i]);
    all_is_well();
    assert_true(metric("process_open_fds") < 40);
}

/* With 160 descriptors there are 96 for clients: of 150 the others are closed immediately, and
 * perhaps one more, while the client that waited for the server's start is not yet gone. */
static void more_clients_than_descriptors_are_closed(void **state)
{
    (void)state;
    enum { CLIENTS = 150, SERVED_OF_THEM = 160 - 64 };
    int descriptor[CLIENTS], refused = 0;
    char byte;
    assert_int_equal(stop(), 0);
    start_few = 160;
    start();
    start_few = 0;
    for (int i = 0; i < CLIENTS; i++)
        descriptor[i] = client();
    for (int i = 0; i < ENOUGH && refused < CLIENTS - SERVED_OF_THEM; i++, usleep(1000))
        for (int k = refused = 0; k < CLIENTS; k++)
            refused += !recv(descriptor[k], &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    assert_in_range(refused, CLIENTS - SERVED_OF_THEM, CLIENTS - SERVED_OF_THEM + 1);
    for (int i = 0; i < CLIENTS; i++)
        close(descriptor[i]);
    alone();
    all_is_well();
    assert_true(metric("serve_connections_refused_total") >= CLIENTS - SERVED_OF_THEM);
}

/* As Prometheus does. */
static void metrics_come_by_http_as_well(void **state)
{
    (void)state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    char text[16384] = "";
    size_t bytes = 0;
    /* A free port, chosen by the system and released. */
    int probe = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(probe, (struct sockaddr *)&address, sizeof address), 0);
    getsockname(probe, (struct sockaddr *)&address, &length);
    close(probe);
    assert_int_equal(stop(), 0);
    metrics_port = ntohs(address.sin_port);
    start();
    metrics_port = 0;
    int scraper = socket(AF_INET, SOCK_STREAM, 0), refused = 1; /* it listens there at last */
    for (int i = 0; i < ENOUGH && refused; i++, usleep(1000))
        refused = connect(scraper, (struct sockaddr *)&address, sizeof address);
    assert_int_equal(refused, 0);
    const char get[] = "GET /metrics HTTP/1.0\r\n\r\n";
    send_bytes(scraper, get, sizeof get - 1);
    for (ssize_t now; (now = read(scraper, text + bytes, sizeof text - 1 - bytes)) > 0;)
        bytes += (size_t)now;
    close(scraper);
    assert_non_null(strstr(text, " 200 OK"));
    assert_non_null(strstr(text, "Content-Type: text/plain; version=0.0.4"));
    assert_non_null(
        strstr(text, "\n# TYPE serve_requests_total counter\nserve_requests_total 0\n"));
    all_is_well();
}

/* New connections are rejected; waiting requests are answered, new ones are rejected; then it ends
 * with 0. */
static void a_stop_answers_waiting_requests(void **state)
{
    (void)state;
    int descriptor = client(), other = client();
    ask(descriptor, 1, HOLD);
    until("serve_running", 1);
    ask(descriptor, 2, 6);
    until("serve_waiting", 1);
    kill(server, SIGTERM);
    for (int i = 0; i < ENOUGH && !access(path, F_OK); i++)
        usleep(1000);
    assert_int_not_equal(access(path, F_OK), 0);
    ask(other, 3, 1);
    expect_status(other, 3, FRAME_STOPPING);
    shared->released = 1;
    expect_answer(descriptor, 1, HOLD);
    expect_answer(descriptor, 2, 6);
    assert_true(closed(descriptor));
    assert_int_equal(end_of(server), 0);
    close(descriptor), close(other);
    server = 0;
}

static void a_stop_does_not_wait_for_a_device_that_hangs(void **state)
{
    (void)state;
    int descriptor = client();
    ask_until(descriptor, 1, HOLD, clock_now() + 100000000);
    until("serve_running", 1);
    kill(server, SIGTERM);
    expect_status(descriptor, 1, FRAME_MISSED);
    assert_int_equal(end_of(server), 1);
    close(descriptor);
    server = 0;
}

static void a_failing_batch_is_reported_and_ends_the_server(void **state)
{
    (void)state;
    int descriptor = client();
    ask(descriptor, 1, FAIL);
    expect_status(descriptor, 1, FRAME_FAILED);
    assert_int_equal(end_of(server), 1);
    assert_int_not_equal(access(path, F_OK), 0);
    close(descriptor);
    server = 0;
}

/* The killed server's socket file still exists, and the next server replaces it. */
static void after_kill_9_the_next_one_starts(void **state)
{
    (void)state;
    int descriptor = client();
    ask(descriptor, 1, HOLD);
    until("serve_running", 1);
    kill(server, SIGKILL);
    assert_int_equal(end_of(server), -SIGKILL);
    assert_true(closed(descriptor)); /* its client does not hang */
    close(descriptor);
    assert_int_equal(access(path, F_OK), 0);
    start();
    all_is_well();
}

/* Killed clients count as disconnected. */
static void a_killed_client_is_one_that_left(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int descriptor = client();
        ask(descriptor, 1, HOLD);
        ask(descriptor, 2, 1);
        pause();
    }
    until("serve_requests_total", 2);
    kill(child, SIGKILL);
    assert_int_equal(end_of(child), -SIGKILL);
    until("serve_outcomes_total{outcome=\"dropped\"}", 2);
    shared->released = 1;
    all_is_well();
}

static void a_second_server_is_refused(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t second = fork();
    if (!second) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        _exit(server_main(1000000000));
    }
    assert_int_equal(end_of(second), 2);
    all_is_well();
}

/* A file that is not a socket is not removed. */
static void other_files_are_not_removed(void **state)
{
    (void)state;
    assert_int_equal(stop(), 0);
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
    int null = open("/dev/null", O_WRONLY), error = dup(2);
    dup2(null, 2);
    fflush(NULL);
    server = fork();
    if (!server) _exit(server_main(1000000000));
    assert_int_equal(end_of(server), 2);
    dup2(error, 2);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 4);
    unlink(path);
    server = 0;
}

/* ---- tests with a server of their own ----------------------------------------------------- */

static int before(void **state)
{
    (void)state;
    start();
    return 0;
}

static int after(void **state)
{
    (void)state;
    if (!server) return 0;
    kill(server, SIGKILL);
    end_of(server);
    server = 0;
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(path, "/tmp/convlab-serve-XXXXXX");
    if (!mkdtemp(path)) return -1;
    strcat(path, "/socket");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED;
}

static int remove_folder(void **state)
{
    char lock[140];
    (void)state;
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    *strrchr(path, '/') = 0;
    return rmdir(path);
}

#define SERVED(test) cmocka_unit_test_setup_teardown(test, before, after)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(answers_carry_the_numbers_of_their_questions),
        SERVED(a_full_queue_refuses_at_once),
        SERVED(a_deadline_that_has_passed_is_refused),
        SERVED(a_device_that_hangs_leaves_nobody_without_an_answer),
        SERVED(garbage_is_reported_and_the_connection_closed),
        SERVED(a_huge_length_is_reported_and_the_connection_closed),
        SERVED(a_wrong_frame_is_reported_and_skipped),
        SERVED(half_a_frame_holds_up_nobody),
        SERVED(clients_that_disconnect_early_are_counted),
        SERVED(clients_that_never_read_are_dropped),
        SERVED(a_thousand_clients_are_served),
        SERVED(more_clients_than_descriptors_are_closed),
        SERVED(metrics_come_by_http_as_well),
        SERVED(a_stop_answers_waiting_requests),
        SERVED(a_stop_does_not_wait_for_a_device_that_hangs),
        SERVED(a_failing_batch_is_reported_and_ends_the_server),
        SERVED(after_kill_9_the_next_one_starts),
        SERVED(a_killed_client_is_one_that_left),
        SERVED(a_second_server_is_refused),
        SERVED(other_files_are_not_removed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
