#include "autograder/export/class_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "autograder/export/format.h"
#include "autograder/text/files.h"
#include "autograder/text/text.h"

static int page_file(const ClassResults *results, const char *path, Error *error)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return error_set(error, "out of memory");
    int status = class_page_write(stream, results, error);
    if (fclose(stream) && !status) status = error_set(error, "out of memory");
    if (!status) status = file_write(path, text, error);
    free(text);
    return status;
}

/* Writes another file and renames it, so that an interrupted copy leaves no incomplete
 * gradebook. */
static int copy_file(const char *from, const char *to, Error *error)
{
    char part[1100];
    text_set(part, sizeof part, "%s.part", to);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    ssize_t sent = in < 0 || out < 0 ? -1 : 1;
    while (sent > 0)
        sent = sendfile(out, in, NULL, 1 << 20);
    int why = sent < 0 ? errno : 0;
    if (out >= 0 && fsync(out) && !why) why = errno;
    if (out >= 0 && close(out) && !why) why = errno;
    if (in >= 0) close(in);
    if (!why && rename(part, to)) why = errno;
    if (!why) return 0;
    unlink(part);
    errno = why;
    return error_set(error, "%.300s: %m", to);
}

int class_files_write(const char *folder, const char *root, Error *error)
{
    static ClassResults results;
    char book[1000], last[1000], page[1000];
    text_set(book, sizeof book, "%s/gradebook.sqlite", folder);
    text_set(last, sizeof last, "%s/last.sqlite", folder);
    text_set(page, sizeof page, "%s/class.html", folder);
    int status = class_results_open(book, last, root, NULL, &results, error);
    if (!status) status = page_file(&results, page, error);
    class_results_close(&results);
    return status ? -1 : copy_file(book, last, error);
}
