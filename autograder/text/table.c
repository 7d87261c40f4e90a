#include "autograder/text/table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/screen.h"

struct TableRow {
    char *cell[TABLE_COLUMNS];
    char *note;
};

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

const char *text_thousands(double number, char text[40])
{
    char digits[40];
    snprintf(digits, sizeof digits, "%.0f", fabs(number) < 1e18 ? number : 1e18);
    size_t length = strlen(digits), sign = digits[0] == '-', out = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) text[out++] = ',';
        text[out++] = digits[i];
    }
    text[out] = 0;
    return text;
}

/* Length of the next word, including a unit that must not start a line: the % of a number. */
static size_t word_bytes(const char *line, const char *end)
{
    size_t word = strcspn(line, " \n"), left = (size_t)(end - line);
    if (word + 1 < left && line[word] == ' ' && line[word + 1] == '%' &&
        !isalnum((unsigned char)line[word + 2]))
        word += 1 + strcspn(line + word + 1, " \n");
    return word < left ? word : left;
}

/* Longer lines of prose are hard to read. */
enum { PROSE_WIDTH = 100 };

static void wrap_line(FILE *stream, int indent, const char *line, size_t bytes)
{
    size_t column = 0, most = screen_columns() < PROSE_WIDTH ? screen_columns() : PROSE_WIDTH;
    const char *end = line + bytes;
    while (line < end) {
        size_t word = word_bytes(line, end);
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)(word < 511 ? word : 511), line);
        size_t width = text_width(copy);
        if (column && (size_t)indent + column + 1 + width > most) {
            fputc('\n', stream);
            column = 0;
        }
        if (word) {
            fprintf(stream, "%*s%s", column ? 1 : indent, "", copy);
            column += width + (column ? 1 : 0);
        }
        line += word < 511 ? word : 511;
        while (line < end && *line == ' ')
            line++;
    }
    fputc('\n', stream);
}

void text_wrap(FILE *stream, int indent, const char *text)
{
    while (*text) {
        size_t line = strcspn(text, "\n");
        wrap_line(stream, indent, text, line);
        text += line + (text[line] == '\n');
    }
}

Table table_start(const char *align)
{
    return (Table){.align = align};
}

void table_row(Table *table, const char *format, ...)
{
    TableRow *grown = realloc(table->row, (table->rows + 1) * sizeof *grown);
    char *text = NULL;
    va_list arguments;
    if (!grown) return;
    table->row = grown;
    TableRow *row = &grown[table->rows++];
    memset(row, 0, sizeof *row);
    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0) return;
    char *rest = text;
    for (size_t i = 0; rest && i < strlen(table->align); i++)
        row->cell[i] = strdup(strsep(&rest, "\t"));
    free(text);
}

void table_note(Table *table, const char *text)
{
    if (!table->rows || !*text) return;
    TableRow *row = &table->row[table->rows - 1];
    char *joined = NULL;
    if (row->note) {
        if (asprintf(&joined, "%s\n%s", row->note, text) < 0) return;
    } else {
        joined = strdup(text);
    }
    free(row->note);
    row->note = joined;
}

static const char *cell_text(const TableRow *row, size_t column)
{
    return row->cell[column] ? row->cell[column] : "";
}

/* Prints the last column's text from column `from`, where its further lines are indented to. */
static void print_flowing(const char *text, size_t from, FILE *stream)
{
    char *wrapped = NULL;
    size_t bytes = 0;
    FILE *lines = open_memstream(&wrapped, &bytes);
    if (lines) text_wrap(lines, (int)from, text);
    if (!lines || fclose(lines)) return;
    fputs(wrapped + (bytes > from ? from : 0), stream);
    free(wrapped);
}

static int flows(const Table *table)
{
    size_t columns = strlen(table->align);
    return columns && table->align[columns - 1] == 'w';
}

static void print_row(const Table *table, const TableRow *row, const size_t *width, FILE *stream,
                      int indent)
{
    size_t from = (size_t)indent;
    size_t columns = strlen(table->align), last = columns;
    while (last && !*cell_text(row, last - 1))
        last--;
    int flowing = flows(table) && last == columns && columns > 1;
    fprintf(stream, "%*s", last ? indent : 0, "");
    for (size_t i = 0; i < last - (size_t)flowing; i++) {
        from += width[i] + 2;
        const char *cell = cell_text(row, i);
        size_t wide = text_width(cell);
        int space = wide < width[i] ? (int)(width[i] - wide) : 0, left = table->align[i] == 'l';
        int trailing = left && i + 1 < last; /* no blanks at the end of a line */
        fprintf(stream, "%*s%s%*s%s", left ? 0 : space, "", cell, trailing ? space : 0, "",
                i + 1 < last ? "  " : "");
    }
    if (flowing)
        print_flowing(cell_text(row, columns - 1), from, stream);
    else
        fputc('\n', stream);
    if (row->note) text_wrap(stream, indent + 4, row->note);
}

/* A row with a single cell is a heading above the columns and makes none wider. */
static int is_heading(const TableRow *row)
{
    for (size_t i = 1; i < TABLE_COLUMNS; i++)
        if (*cell_text(row, i)) return 0;
    return 1;
}

/* If too few columns remain for it, a last column with wrapped text is printed below its row; the
 * first row has the column titles. */
static void flow_beneath(Table *table, size_t used)
{
    enum { LEAST = 24 };
    size_t last = strlen(table->align) - 1;
    if (!flows(table) || used + LEAST <= screen_columns()) return;
    for (size_t r = 0; r < table->rows; r++) {
        TableRow *row = &table->row[r];
        char *note = NULL;
        if (is_heading(row) || !*cell_text(row, last)) continue;
        if (r && row->note && asprintf(&note, "%s\n%s", row->cell[last], row->note) < 0) continue;
        if (r) free(row->note);
        if (r) row->note = note ? note : strdup(row->cell[last]);
        free(row->cell[last]);
        row->cell[last] = NULL;
    }
}

void table_end(Table *table, FILE *stream, int indent)
{
    size_t width[TABLE_COLUMNS] = {0}, used = (size_t)indent;
    for (size_t r = 0; r < table->rows; r++)
        for (size_t i = 0; i < strlen(table->align) && !is_heading(&table->row[r]); i++) {
            size_t cell = text_width(cell_text(&table->row[r], i));
            if (cell > width[i]) width[i] = cell;
        }
    for (size_t i = 0; i + 1 < strlen(table->align); i++)
        used += width[i] + 2;
    flow_beneath(table, used);
    for (size_t r = 0; r < table->rows; r++) {
        print_row(table, &table->row[r], width, stream, indent);
        for (size_t i = 0; i < TABLE_COLUMNS; i++)
            free(table->row[r].cell[i]);
        free(table->row[r].note);
    }
    free(table->row);
    *table = (Table){0};
}
