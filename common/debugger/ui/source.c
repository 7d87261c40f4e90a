/* source.c - lines of source files, each file read once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

typedef struct SourceFile {
    char path[512];
    char *text;
    char **line;
    uint32_t lines;
    struct SourceFile *next;
} SourceFile;

static SourceFile *files;

static void file_read(SourceFile *file)
{
    enum { MOST = 16 << 20 };
    FILE *stream = fopen(file->path, "r");
    size_t used = 0, room = 0;
    if (!stream) return;
    while (used < MOST) {
        if (used + 4096 > room) {
            char *more = realloc(file->text, (room = room ? room * 2 : 1 << 16) + 1);
            if (!more) break;
            file->text = more;
        }
        size_t got = fread(file->text + used, 1, 4096, stream);
        if (!got) break;
        used += got;
    }
    fclose(stream);
    if (!file->text) return;
    file->text[used] = 0;
    uint32_t count = 1;
    for (size_t i = 0; i < used; i++)
        count += file->text[i] == '\n';
    file->line = calloc(count + 1, sizeof *file->line);
    if (!file->line) return;
    for (char *at = file->text, *end; at < file->text + used; at = end + 1) {
        end = strchr(at, '\n');
        file->line[file->lines++] = at;
        if (!end) break;
        *end = 0;
    }
}

static SourceFile *file_of_path(const char *path)
{
    for (SourceFile *file = files; file; file = file->next)
        if (!strcmp(file->path, path)) return file;
    SourceFile *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    snprintf(file->path, sizeof file->path, "%s", path);
    file_read(file);
    file->next = files;
    files = file;
    return file;
}

uint32_t source_lines(const char *path)
{
    const SourceFile *file = path ? file_of_path(path) : NULL;
    return file ? file->lines : 0;
}

const char *source_text_line(const char *path, uint32_t line)
{
    const SourceFile *file = path ? file_of_path(path) : NULL;
    return file && line && line <= file->lines ? file->line[line - 1] : NULL;
}
