#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/answer.h"
#include "autograder/workbench/workbench.h"
#include "common/base/peer.h"

enum { BODY_BYTES = 3 << 20, CONNECTIONS = 24, TIMEOUT_SECONDS = 20 };

struct Server {
    Workbench *bench;
    struct MHD_Daemon *daemon;
};

/* A request's body, while it arrives. */
typedef struct Body {
    char *text;
    size_t bytes;
    int too_large;
    int is_unwanted; /* Boolean: the request will be refused, and its body is not stored */
} Body;

/* ---- permissions of a request ---------------------------------------------------------------- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

/* Only this server's own names: a page of another site whose name was changed to 127.0.0.1 (DNS
 * rebinding) sends another Host, and a page of another origin another Origin. */
static int is_own_name(const Workbench *bench, const char *name)
{
    static const char *const HOSTS[] = {"127.0.0.1", "localhost"};
    char own[64];
    for (int i = 0; i < 2; i++) {
        text_set(own, sizeof own, "%s:%d", HOSTS[i], bench->port);
        if (!strcmp(own, name)) return 1;
    }
    return 0;
}

static int is_own_page(const Workbench *bench, struct MHD_Connection *connection)
{
    const char *origin = header_of(connection, "Origin");
    if (!is_own_name(bench, header_of(connection, "Host"))) return 0;
    if (!*origin) return 1;
    return !strncmp(origin, "http://", 7) && is_own_name(bench, origin + 7);
}

static int has_token(const Workbench *bench, struct MHD_Connection *connection)
{
    static const char BEARER[] = "Bearer ";
    const char *given = header_of(connection, "Authorization");
    if (strncmp(given, BEARER, sizeof BEARER - 1) != 0) return 0;
    given += sizeof BEARER - 1;
    return strlen(given) == TOKEN_CHARACTERS &&
           !sodium_memcmp(given, bench->token, TOKEN_CHARACTERS);
}

/* Another user of the machine cannot even occupy connections. */
static enum MHD_Result peer_accept(void *context, const struct sockaddr *address, socklen_t length)
{
    const Server *server = context;
    return peer_is_other_user(address, length, server->bench->port) ? MHD_NO : MHD_YES;
}

/* ---- answers ------------------------------------------------------------------------------ */

/* The page's policy: nothing but its own files, and no script in a handout. */
static const char POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
/* Pages of `make see` and `make profile` may have a script of their own; they get no access to
 * anything else. */
static const char VIEW_POLICY[] =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:";

static enum MHD_Result answer_send(struct MHD_Connection *connection, Answer *answer)
{
    struct MHD_Response *response =
        answer->body
            ? MHD_create_response_from_buffer(answer->bytes, answer->body, MHD_RESPMEM_MUST_FREE)
            : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "Content-Security-Policy",
                            answer->is_view ? VIEW_POLICY : POLICY);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cache-Control",
                            answer->is_constant ? "max-age=3600" : "no-store");
    enum MHD_Result result = MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static void answer_make(const Workbench *bench, struct MHD_Connection *connection, const char *path,
                        const char *method, const Body *body, Answer *answer)
{
    Request request = {.path = path, .method = method, .body = body->text ? body->text : ""};
    const char *from = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "from");
    request.from = from ? strtoull(from, NULL, 10) : 0;
    if (!is_own_page(bench, connection))
        answer_error(answer, 403, "this address belongs to make workbench on 127.0.0.1 only");
    else if (body->too_large)
        answer_error(answer, 413, "the request is too large: at most 3 MiB");
    else if (strncmp(path, "/api/", 5) != 0)
        answer_file(bench, &request, answer);
    else if (!has_token(bench, connection))
        answer_error(answer, 401, "open the address that make workbench printed: it has the key");
    else
        answer_data(bench, &request, answer);
}

static enum MHD_Result body_add(Body *body, const char *data, size_t bytes)
{
    if (body->is_unwanted) return MHD_YES;
    char *text =
        body->bytes + bytes > BODY_BYTES ? NULL : realloc(body->text, body->bytes + bytes + 1);
    if (!text) {
        body->too_large = 1;
        return MHD_YES;
    }
    memcpy(text + body->bytes, data, bytes);
    body->text = text;
    body->bytes += bytes;
    text[body->bytes] = 0;
    return MHD_YES;
}

static enum MHD_Result request_take(void *context, struct MHD_Connection *connection,
                                    const char *path, const char *method, const char *version,
                                    const char *data, size_t *bytes, void **state)
{
    (void)version;
    const Server *server = context;
    Body *body = *state;
    if (!body) {
        if (!(*state = body = calloc(1, sizeof *body))) return MHD_NO;
        /* Other pages and users without the key must not fill this process's memory. */
        body->is_unwanted =
            !is_own_page(server->bench, connection) || !has_token(server->bench, connection);
        return MHD_YES;
    }
    if (*bytes) {
        size_t part = *bytes;
        *bytes = 0;
        return body_add(body, data, part);
    }
    Answer answer = {.status = 500, .type = "application/json"};
    answer_make(server->bench, connection, path, method, body, &answer);
    return answer_send(connection, &answer);
}

static void request_end(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
    (void)context, (void)connection, (void)why;
    Body *body = *state;
    if (body) free(body->text);
    free(body);
    *state = NULL;
}

/* ---- start and stop ----------------------------------------------------------------------- */

static int port_bind(Workbench *bench, int *listener, Error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)bench->port)};
    socklen_t length = sizeof address;
    int on = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) || listen(fd, CONNECTIONS) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        error_set(error,
                  "port %d of 127.0.0.1: %m; choose another one with PORT=n, or none for any",
                  bench->port);
        if (fd >= 0) close(fd);
        return -1;
    }
    bench->port = ntohs(address.sin_port);
    *listener = fd;
    return 0;
}

Server *server_start(Workbench *bench, Error *error)
{
    int listener;
    if (sodium_init() < 0) {
        error_set(error, "libsodium has no source of random numbers");
        return NULL;
    }
    if (port_bind(bench, &listener, error)) return NULL;
    token_draw(bench->token, TOKEN_CHARACTERS);
    Server *server = calloc(1, sizeof *server);
    if (!server) {
        error_set(error, "out of memory");
        close(listener);
        return NULL;
    }
    server->bench = bench;
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, peer_accept, server, request_take,
        server, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_SECONDS, MHD_OPTION_NOTIFY_COMPLETED, request_end,
        NULL, MHD_OPTION_END);
    if (server->daemon) return server;
    error_set(error, "the server could not be started: %m");
    close(listener);
    free(server);
    return NULL;
}

void server_stop(Server *server)
{
    if (!server) return;
    MHD_stop_daemon(server->daemon);
    free(server);
}
