#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"
#include "autograder/workbench/answer.h"

static const struct {
    const char *ending, *type;
} TYPES[] = {{".html", "text/html; charset=utf-8"},
             {".js", "text/javascript; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".svg", "image/svg+xml"},
             {".png", "image/png"},
             {".ptx", "text/plain; charset=utf-8"},
             {".sass", "text/plain; charset=utf-8"},
             {".tsv", "text/tab-separated-values; charset=utf-8"}};

/* Folders that are served, and how many folders below them. */
static const struct {
    const char *prefix, *folder;
    int of_root; /* Boolean: `folder` is below the workbook's root */
    int is_constant;
} FOLDERS[] = {
    {"/page/", "autograder/workbench/page", 1, 0},
    {"/figures/", "docs/figures", 1, 1},
    {"/codemirror/", "/usr/share/javascript/codemirror", 0, 1},
};

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i].ending, dot)) return TYPES[i].type;
    return NULL;
}

/* Letters, digits, '-', '_', '.' and '/', and no part that starts with '.': such a name cannot
 * leave its folder. */
static int is_plain(const char *name)
{
    static const char ALLOWED[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
    return *name && *name != '.' && *name != '/' && strspn(name, ALLOWED) == strlen(name) &&
           !strstr(name, "/.") && !strstr(name, "//");
}

/* The bytes of a regular file, malloc'd; NULL: there is none.  A FIFO or device in its place, also
 * one that appears while the server runs, must neither block the server nor fill its memory. */
static char *regular_file(const char *path, int follows_link, size_t *bytes)
{
    enum { MOST = 16 << 20 };
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | (follows_link ? 0 : O_NOFOLLOW));
    if (fd < 0) return NULL;
    int fits = !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= MOST;
    char *text = fits ? malloc((size_t)status.st_size + 1) : NULL;
    ssize_t n = 1;
    *bytes = 0;
    while (text && n > 0 && *bytes < (size_t)status.st_size) {
        n = read(fd, text + *bytes, (size_t)status.st_size - *bytes);
        if (n > 0) *bytes += (size_t)n;
    }
    close(fd);
    if (text && n >= 0) return text;
    free(text);
    return NULL;
}

static void file_give(const char *folder, const char *name, int follows_link, Answer *answer)
{
    char path[2600];
    const char *type = type_of(name);
    text_set(path, sizeof path, "%s/%s", folder, name);
    char *text = type && is_plain(name) ? regular_file(path, follows_link, &answer->bytes) : NULL;
    if (!text) {
        answer_error(answer, 404, "there is no such file");
        return;
    }
    answer->status = 200;
    answer->type = type;
    answer->body = text;
}

/* Pages that `make see` and `make profile` write, shown under VIEW_POLICY (server.c). */
static int is_view(const char *name)
{
    return !strcmp(name, "see.html") || !strcmp(name, "timeline.html");
}

/* Whether a job's file may be shown: a regular file, and no script or page except these, because
 * its program decides what is in it. */
static int is_shown(const char *folder, const char *name)
{
    char path[2600];
    struct stat status;
    const char *type = type_of(name);
    text_set(path, sizeof path, "%s/%s", folder, name);
    if (strchr(name, '/') || !type || lstat(path, &status) || !S_ISREG(status.st_mode)) return 0;
    if (is_view(name)) return 1;
    return strncmp(type, "text/html", 9) != 0 && strncmp(type, "text/javascript", 15) != 0;
}

/* /files/ID/NAME: a file that the job of that name has written. */
static void job_file_give(const Workbench *bench, const char *path, Answer *answer)
{
    char id[JOB_ID_CHARACTERS + 1];
    JobView view;
    const char *slash = strchr(path, '/'), *name = slash ? slash + 1 : "";
    text_set(id, sizeof id, "%.*s", (int)strcspn(path, "/"), path);
    if (job_view(bench->jobs, id, 0, &view)) {
        answer_error(answer, 404, "there is no such job");
        return;
    }
    free(view.text);
    if (!*view.folder || !is_shown(view.folder, name)) {
        answer_error(answer, 404, "there is no such file");
        return;
    }
    file_give(view.folder, name, 0, answer);
    answer->is_view = is_view(name);
}

void answer_file(const Workbench *bench, const Request *request, Answer *answer)
{
    char folder[1300];
    const char *path = !strcmp(request->path, "/") ? "/page/index.html" : request->path;
    if (strcmp(request->method, "GET") != 0) {
        answer_error(answer, 405, "only GET is possible here");
        return;
    }
    if (!strncmp(path, "/files/", 7)) {
        job_file_give(bench, path + 7, answer);
        return;
    }
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        size_t length = strlen(FOLDERS[i].prefix);
        if (strncmp(path, FOLDERS[i].prefix, length) != 0) continue;
        text_set(folder, sizeof folder, "%s%s%s", FOLDERS[i].of_root ? bench->root : "",
                 FOLDERS[i].of_root ? "/" : "", FOLDERS[i].folder);
        file_give(folder, path + length, !FOLDERS[i].of_root, answer);
        answer->is_constant = FOLDERS[i].is_constant && answer->status == 200;
        return;
    }
    answer_error(answer, 404, "there is no such page");
}
