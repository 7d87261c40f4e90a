#include "common/simulator/validation/tsv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_read(const char *path, Error *error)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t used = 0, room = 0;
    if (!file) {
        error_set(error, "%s: %s", path, strerror(errno));
        return NULL;
    }
    do {
        char *grown = realloc(text, room += 1 << 16);
        if (!grown) break;
        text = grown;
        used += fread(text + used, 1, room - used - 1, file);
    } while (used == room - 1);
    if (text) text[used] = '\0';
    if (!text || ferror(file)) {
        error_set(error, "%s: cannot be read", path);
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* Cuts one line at its tabs; returns how many fields there are. */
static size_t line_cut(char *line, char **field, size_t most)
{
    size_t count = 0;
    for (char *at = line; at; count++) {
        char *tab = strchr(at, '\t');
        if (tab) *tab++ = '\0';
        if (count < most) field[count] = at;
        at = tab;
    }
    return count;
}

static size_t tabs_count(const char *line)
{
    size_t count = 0;
    for (; *line; line++)
        count += *line == '\t';
    return count;
}

static int rows_cut(Tsv *tsv, Error *error)
{
    size_t lines = 1, number = 0;
    for (const char *at = tsv->text; *at; at++)
        lines += *at == '\n';
    for (char *line = tsv->text, *next; line && *line; line = next) {
        number++;
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (*line == ';' || !*line) continue;
        if (!tsv->name) {
            tsv->columns = tabs_count(line) + 1;
            tsv->name = calloc(tsv->columns, sizeof *tsv->name);
            tsv->field = calloc(lines * tsv->columns, sizeof *tsv->field);
            if (!tsv->name || !tsv->field) return error_set(error, "out of memory");
            line_cut(line, tsv->name, tsv->columns);
            continue;
        }
        size_t fields = line_cut(line, tsv->field + tsv->rows * tsv->columns, tsv->columns);
        if (fields != tsv->columns)
            return error_set(error, "%s:%zu: %zu fields, but the first line names %zu", tsv->path,
                             number, fields, tsv->columns);
        tsv->rows++;
    }
    return tsv->name ? 0 : error_set(error, "%s: no line in it", tsv->path);
}

int tsv_read(const char *path, Tsv *tsv, Error *error)
{
    *tsv = (Tsv){0};
    snprintf(tsv->path, sizeof tsv->path, "%s", path);
    tsv->text = text_read(path, error);
    if (!tsv->text) return -1;
    if (rows_cut(tsv, error) == 0) return 0;
    tsv_close(tsv);
    return -1;
}

void tsv_close(Tsv *tsv)
{
    free(tsv->text), free(tsv->field), free(tsv->name);
    *tsv = (Tsv){0};
}

int tsv_column(const Tsv *tsv, const char *name, Error *error)
{
    for (size_t i = 0; i < tsv->columns; i++)
        if (strcmp(tsv->name[i], name) == 0) return (int)i;
    return error_set(error, "%s: there is no column %s", tsv->path, name);
}

int tsv_number(const Tsv *tsv, size_t row, int column, double *number, Error *error)
{
    const char *text = tsv->field[row * tsv->columns + (size_t)column];
    char *end;
    *number = strtod(text, &end);
    if (*text && !*end) return 0;
    return error_set(error, "%s: %s of row %zu is no number: '%.40s'", tsv->path, tsv->name[column],
                     row + 1, text);
}

int tsv_named(const Tsv *tsv, size_t row, const char *name, double *number, Error *error)
{
    int column = tsv_column(tsv, name, error);
    return column < 0 ? -1 : tsv_number(tsv, row, column, number, error);
}
