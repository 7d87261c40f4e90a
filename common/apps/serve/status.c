#include "common/apps/serve/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { TEXT_MOST = 1 << 20, PATIENCE_SECONDS = 10 };

int status_connect(const char *path, Error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    if (strlen(path) >= sizeof address.sun_path)
        return error_set(error, "the socket's path is too long: %.200s", path);
    memcpy(address.sun_path, path, strlen(path));
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return error_set(error, "socket: %m");
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (!connect(descriptor, (struct sockaddr *)&address, sizeof address)) return descriptor;
    error_set(error, "no server listens at %s: make serve LAB=16 CASE=lenet", path);
    close(descriptor);
    return -1;
}

static int read_all(int descriptor, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t now = read(descriptor, (char *)to + done, bytes - done);
        if (now <= 0) return -1;
        done += (size_t)now;
    }
    return 0;
}

static char *read_text(int descriptor)
{
    unsigned char head[FRAME_BYTES];
    Frame frame;
    if (read_all(descriptor, head, sizeof head) || frame_read(head, &frame) ||
        frame.word != FRAME_ANSWERED || frame.bytes > TEXT_MOST)
        return NULL;
    char *text = calloc(1, (size_t)frame.bytes + 1);
    if (text && !read_all(descriptor, text, frame.bytes)) return text;
    free(text);
    return NULL;
}

char *status_query(const char *path, FrameKind kind, Error *error)
{
    unsigned char head[FRAME_BYTES];
    Frame frame = {.word = kind};
    char *text = NULL;
    int descriptor = status_connect(path, error);
    if (descriptor < 0) return NULL;
    frame_write(&frame, head);
    if (send(descriptor, head, sizeof head, MSG_NOSIGNAL) == sizeof head)
        text = read_text(descriptor);
    if (!text) error_set(error, "the server at %s does not answer", path);
    close(descriptor);
    return text;
}

int status_word(const char *text, const char *name, char *word, size_t bytes)
{
    size_t length = strlen(name);
    for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
        if (strncmp(line, name, length) || line[length] != ' ') continue;
        const char *from = line + length + 1;
        snprintf(word, bytes, "%.*s", (int)strcspn(from, "\n"), from);
        return 0;
    }
    return -1;
}

uint64_t status_number(const char *text, const char *name)
{
    char word[40];
    return status_word(text, name, word, sizeof word) ? 0 : strtoull(word, NULL, 10);
}
