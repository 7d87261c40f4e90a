#include "common/apps/serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static int take_lock(Listen *listening, Error *error)
{
    char path[sizeof listening->path + 8];
    snprintf(path, sizeof path, "%s.lock", listening->path);
    listening->lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (listening->lock < 0) return error_set(error, "%s: %m", path);
    if (!flock(listening->lock, LOCK_EX | LOCK_NB)) return 0;
    if (errno != EWOULDBLOCK) return error_set(error, "%s: %m", path);
    return error_set(error, "a server already listens at %s: stop it, or choose SOCKET=another",
                     listening->path);
}

static int remove_stale(const char *path, Error *error)
{
    struct stat status;
    if (lstat(path, &status)) return errno == ENOENT ? 0 : error_set(error, "%s: %m", path);
    if (!S_ISSOCK(status.st_mode))
        return error_set(error, "%s is no socket: choose SOCKET=another", path);
    return unlink(path) ? error_set(error, "%s: %m", path) : 0;
}

static int bind_there(Listen *listening, Error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, listening->path, strlen(listening->path));
    listening->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening->socket < 0) return error_set(error, "socket: %m");
    mode_t mask = umask(0077);
    int status = bind(listening->socket, (struct sockaddr *)&address, sizeof address);
    umask(mask);
    if (status || listen(listening->socket, BACKLOG))
        return error_set(error, "%s: %m", listening->path);
    return 0;
}

int listen_open(const char *path, Listen *listening, Error *error)
{
    *listening = (Listen){-1, -1, ""};
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return error_set(error, "the socket's path is longer than %zu bytes: %.200s",
                         sizeof((struct sockaddr_un *)0)->sun_path - 1, path);
    snprintf(listening->path, sizeof listening->path, "%s", path);
    if (!take_lock(listening, error) && !remove_stale(path, error) && !bind_there(listening, error))
        return 0;
    listen_close(listening);
    return -1;
}

void listen_end(Listen *listening)
{
    if (listening->socket < 0) return;
    close(listening->socket);
    listening->socket = -1;
    unlink(listening->path);
}

/* The lock's file is not removed: otherwise the next server's lock file could be removed. */
void listen_close(Listen *listening)
{
    listen_end(listening);
    if (listening->lock >= 0) close(listening->lock);
    listening->lock = -1;
}
