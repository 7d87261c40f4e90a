/* debug - a debug adapter: speaks the Debug Adapter Protocol until a program is launched, builds
 * that with nvcc -G, and becomes it.  `make debug` is the command line of the same debugger.
 *
 *     debug --dap [--port N] [--build DIR]
 *
 * Runs with the rights of its user, outside of any sandbox. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/options/options.h"
#include "autograder/text/screen.h"
#include "common/base/peer.h"
#include "common/debugger/ui/dap_wire.h"

static const char USAGE[] =
    "usage: debug --dap [--port N] [--build DIR]\n"
    "  A debug adapter on stdin and stdout, or for one client on a port of this machine; it is\n"
    "  started in the workbook's root.  A launch names a lab (lab, case, submission) or a program\n"
    "  (program, args).  The command line of the debugger is: make debug\n";

typedef struct Adapter {
    const char *build;
    int in, out, sequence;
} Adapter;

static void send_message(Adapter *adapter, json_t *message)
{
    if (frame_write(adapter->out, message) != 0) exit(1);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* A list of arguments, or one text of words. */
static void words_join(const json_t *words, char *text, size_t bytes)
{
    const json_t *word;
    size_t i, used = 0;
    snprintf(text, bytes, "%s", json_is_string(words) ? json_string_value(words) : "");
    json_array_foreach(words, i, word)
    {
        const char *one = json_string_value(word);
        if (one && used + strlen(one) + 2 < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " " : "", one);
    }
}

static void environment_set(const json_t *arguments)
{
    static const char *const NAMES[][2] = {
        {"case", "CASE"}, {"shape", "SHAPE"}, {"submission", "SUBMISSION"}, {"gpu", "GPU"},
        {"arch", "ARCH"}, {"seed", "SEED"},   {"nvccflags", "NVCCFLAGS"}};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *value = text_of(arguments, NAMES[i][0]);
        if (*value) setenv(NAMES[i][1], value, 1);
    }
}

static void script_exec(const Adapter *adapter, const json_t *arguments)
{
    char words[4096];
    words_join(json_object_get(arguments, "args"), words, sizeof words);
    const char *argv[] = {"sh",
                          "common/setup/debug.sh",
                          adapter->build,
                          text_of(arguments, "lab"),
                          text_of(arguments, "program"),
                          words,
                          NULL};
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Builds the program; 0, or -1 with what the script said. */
static int build(const Adapter *adapter, const json_t *arguments, char *said, size_t bytes)
{
    int ends[2], status = 0;
    size_t used = 0;
    ssize_t got;
    if (pipe(ends) != 0) return snprintf(said, bytes, "pipe: %m"), -1;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, 0), dup2(ends[1], 1), dup2(ends[1], 2);
        close(ends[0]), close(ends[1]);
        setenv("DEBUG_BUILD_ONLY", "1", 1);
        script_exec(adapter, arguments);
    }
    close(ends[1]);
    while (used + 1 < bytes && (got = read(ends[0], said + used, bytes - 1 - used)) > 0)
        used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Becomes the program, which answers the request. */
static void launch(Adapter *adapter, const json_t *request)
{
    const json_t *arguments = json_object_get(request, "arguments");
    char said[4000], numbers[64];
    environment_set(arguments);
    if (!*text_of(arguments, "lab") == !*text_of(arguments, "program")) {
        send_message(adapter, dap_failure(++adapter->sequence, request,
                                          "a launch names a lab (\"lab\": \"04\") or a program "
                                          "(\"program\": \"my.cu\")"));
        return;
    }
    if (build(adapter, arguments, said, sizeof said) != 0) {
        send_message(adapter, dap_failure(++adapter->sequence, request,
                                          *said ? said : "the program cannot be built"));
        return;
    }
    char *text = json_dumps(request, JSON_COMPACT);
    snprintf(numbers, sizeof numbers, "%d %d %d", adapter->in, adapter->out, adapter->sequence);
    setenv("DEBUG_DAP", numbers, 1);
    setenv("DEBUG_DAP_LAUNCH", text ? text : "{}", 1);
    script_exec(adapter, arguments);
}

static int serve(Adapter *adapter)
{
    for (;;) {
        json_t *request;
        char why[200];
        FrameStatus status = frame_read(adapter->in, &request, why, sizeof why);
        if (status == FRAME_END) return 0;
        if (status != FRAME_OK) {
            send_message(adapter, dap_event(++adapter->sequence, "output",
                                            json_pack("{s:s, s:s}", "category", "important",
                                                      "output", why)));
            if (status == FRAME_BAD) return 1;
            continue;
        }
        const char *command = dap_command(request);
        if (!strcmp(command, "initialize")) {
            send_message(adapter, dap_response(++adapter->sequence, request, dap_capabilities()));
        } else if (!strcmp(command, "launch")) {
            launch(adapter, request);
        } else if (!strcmp(command, "disconnect") || !strcmp(command, "terminate")) {
            send_message(adapter, dap_response(++adapter->sequence, request, NULL));
            return 0;
        } else {
            send_message(adapter, dap_failure(++adapter->sequence, request,
                                              "initialize and launch come first"));
        }
        json_decref(request);
    }
}

/* One client of this user on a port of this machine; its socket, or -1 with errno. Other users are
 * refused, because a client can start programs. */
static int client_accept(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int yes = 1, door = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (door < 0) return -1;
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(door, (struct sockaddr *)&address, sizeof address) != 0 || listen(door, 1) != 0)
        return -1;
    fprintf(stderr, "debug: waits for a client on port %d\n", port);
    socklen_t length = sizeof address;
    int client;
    while ((client = accept(door, (struct sockaddr *)&address, &length)) >= 0 &&
           peer_is_other_user((struct sockaddr *)&address, length, port)) {
        close(client);
        length = sizeof address;
    }
    close(door);
    return client;
}

int main(int argc, char **argv)
{
    Adapter adapter = {.build = "build", .in = -1, .out = -1};
    const char *port = NULL;
    int is_dap = 0;
    Error error;
    const Option table[] = {{"dap", OPTION_FLAG, &is_dap},
                            {"port", OPTION_TEXT, &port},
                            {"build", OPTION_TEXT, &adapter.build},
                            {"help", OPTION_HELP, (void *)USAGE},
                            {0}};
    if (options_parse(argc, argv, table, 0, NULL, &error)) {
        screen_error("debug", error.text);
        return 2;
    }
    if (!is_dap) {
        fputs(USAGE, stderr);
        return 2;
    }
    if (port) {
        int number = atoi(port);
        int client = number > 0 && number < 65536 ? client_accept(number) : -1;
        if (client < 0) {
            fprintf(stderr, "debug: no client on port %s: %m\n", port);
            return 2;
        }
        adapter.in = adapter.out = client;
    } else {
        /* The program's own input and output are other ones. */
        adapter.in = dup(STDIN_FILENO), adapter.out = dup(STDOUT_FILENO);
        int nothing = open("/dev/null", O_RDWR);
        dup2(nothing, STDIN_FILENO), dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    return serve(&adapter);
}
