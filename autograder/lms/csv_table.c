#include "autograder/lms/csv_table.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"

/* ---- text encodings ------------------------------------------------------------------------- */

/* Converts UTF-16 with a byte order mark; other text is copied.  NULL with error. */
static char *to_utf8(const char *name, const char *data, size_t bytes, size_t *length, Error *error)
{
    int is_utf16 = bytes >= 2 && (!memcmp(data, "\xFF\xFE", 2) || !memcmp(data, "\xFE\xFF", 2));
    int is_marked = bytes >= 3 && !memcmp(data, "\xEF\xBB\xBF", 3);
    size_t room = 2 * bytes + 4;
    char *text = malloc(room), *to = text, *from = (char *)data + (is_marked ? 3 : 0);
    size_t left = bytes - (is_marked ? 3 : 0), free_bytes = room - 1;
    if (!text) {
        error_set(error, "%.300s: out of memory", name);
        return NULL;
    }
    iconv_t converter = iconv_open("UTF-8", is_utf16 ? "UTF-16" : "UTF-8");
    int is_converted =
        converter != (iconv_t)-1 && iconv(converter, &from, &left, &to, &free_bytes) != (size_t)-1;
    int line = 1;
    for (const char *at = data; at < from; at++)
        line += *at == '\n';
    if (converter != (iconv_t)-1) iconv_close(converter);
    if (!is_converted) {
        error_set(
            error,
            "%.300s:%d:1: the text is not UTF-8: save the file as \"CSV UTF-8\" and try again",
            name, line);
        free(text);
        return NULL;
    }
    *length = (size_t)(to - text);
    *to = '\0';
    return text;
}

/* The separator that occurs most often in the first line, outside quotes. */
static char separator_of(const char *text)
{
    static const char SEPARATORS[] = ",;\t";
    size_t count[3] = {0};
    int quoted = 0, best = 0;
    for (; *text && (quoted || (*text != '\n' && *text != '\r')); text++) {
        const char *found = strchr(SEPARATORS, *text);
        if (*text == '"') quoted = !quoted;
        if (!quoted && found && *found) count[found - SEPARATORS]++;
    }
    for (int i = 1; i < 3; i++)
        if (count[i] > count[best]) best = i;
    return SEPARATORS[best];
}

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct Parser {
    const char *name;
    char *at, *to; /* read and write positions in the table's text; to <= at */
    int line;
    char separator;
    CsvTable *table;
} Parser;

static int cell_add(Parser *parser, char *cell, Error *error)
{
    CsvTable *table = parser->table;
    if ((table->all_cells & (table->all_cells - 1)) == 0) {
        size_t room = table->all_cells ? 2 * table->all_cells : 1;
        char **grown = realloc(table->cell, room * sizeof *grown);
        if (!grown) return error_set(error, "%.300s: out of memory", parser->name);
        table->cell = grown;
    }
    table->cell[table->all_cells++] = cell;
    return 0;
}

static int row_add(Parser *parser, int line, Error *error)
{
    CsvTable *table = parser->table;
    if ((table->rows & (table->rows - 1)) == 0) {
        size_t room = table->rows ? 2 * table->rows : 1;
        CsvRow *grown = realloc(table->row, room * sizeof *grown);
        if (!grown) return error_set(error, "%.300s: out of memory", parser->name);
        table->row = grown;
    }
    table->row[table->rows++] = (CsvRow){.line = line};
    return 0;
}

/* One cell; its end in the file is at parser->at, a separator, a line end or the NUL. */
static int cell_parse(Parser *parser, int column, Error *error)
{
    char *cell = parser->to;
    int line = parser->line, quoted = *parser->at == '"';
    if (quoted) parser->at++;
    while (*parser->at) {
        char one = *parser->at;
        if (quoted && one == '"' && parser->at[1] == '"') {
            parser->at++;
        } else if (quoted && one == '"') {
            break;
        } else if (!quoted && (one == parser->separator || one == '\n' || one == '\r')) {
            break;
        }
        parser->line += one == '\n';
        *parser->to++ = one;
        parser->at++;
    }
    if (quoted && *parser->at != '"')
        return error_set(error, "%.300s:%d:%d: the quote is not closed: end the cell with \"",
                         parser->name, line, column);
    parser->at += quoted;
    char next = *parser->at;
    if (next && next != parser->separator && next != '\n' && next != '\r')
        return error_set(error,
                         "%.300s:%d:%d: text follows a closing quote: write a quote inside a cell "
                         "twice, \"\"",
                         parser->name, parser->line, column);
    return cell_add(parser, cell, error);
}

/* Advances over a line end, or to the end of the text. */
static void line_end(Parser *parser)
{
    if (*parser->at == '\r') parser->at++;
    if (*parser->at == '\n') parser->at++;
    parser->line++;
}

/* A cell's NUL replaces what ends it, so it is written after that was read. */
static int row_parse(Parser *parser, Error *error)
{
    int line = parser->line, column = 1;
    if (row_add(parser, line, error)) return -1;
    for (;; column++) {
        if (column > CSV_CELLS)
            return error_set(error, "%.300s:%d:%d: more than %d columns: is this a CSV file?",
                             parser->name, line, column, CSV_CELLS);
        if (cell_parse(parser, column, error)) return -1;
        char end = *parser->at;
        if (end == parser->separator)
            parser->at++;
        else if (end)
            line_end(parser);
        *parser->to++ = '\0';
        if (end != parser->separator) break;
    }
    parser->table->row[parser->table->rows - 1].cells = column;
    return 0;
}

static void rows_link(CsvTable *table)
{
    char **cell = table->cell;
    for (size_t i = 0; i < table->rows; i++) {
        table->row[i].cell = cell;
        cell += table->row[i].cells;
    }
}

int csv_table_parse(const char *name, const char *data, size_t bytes, CsvTable *table, Error *error)
{
    size_t length;
    *table = (CsvTable){0};
    if (!(table->text = to_utf8(name, data, bytes, &length, error))) return -1;
    char *nul = memchr(table->text, 0, length);
    Parser parser = {name, table->text, table->text, 1, separator_of(table->text), table};
    if (nul) {
        for (const char *at = table->text; at < nul; at++)
            parser.line += *at == '\n';
        return error_set(error, "%.300s:%d:1: a NUL byte: this is no text; export the file as CSV",
                         name, parser.line);
    }
    while (*parser.at) {
        if (*parser.at == '\n' || *parser.at == '\r') {
            line_end(&parser);
            continue;
        }
        if (table->rows == CSV_ROWS)
            return error_set(error, "%.300s:%d:1: more than %d lines", name, parser.line, CSV_ROWS);
        if (row_parse(&parser, error)) return -1;
    }
    rows_link(table);
    return 0;
}

int csv_table_read(const char *path, CsvTable *table, Error *error)
{
    size_t bytes;
    *table = (CsvTable){0};
    char *data = file_bytes(path, &bytes, error);
    if (!data) return -1;
    int status = bytes > CSV_BYTES
                     ? error_set(error, "%.300s has more than %d MiB: is it a roster?", path,
                                 CSV_BYTES >> 20)
                     : csv_table_parse(path, data, bytes, table, error);
    free(data);
    return status;
}

void csv_table_clear(CsvTable *table)
{
    free(table->text);
    free(table->cell);
    free(table->row);
    *table = (CsvTable){0};
}
