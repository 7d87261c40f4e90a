/* table.h - aligned columns for a terminal, with notes wrapped beneath a row. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TABLE_H
#define CONVLAB_AUTOGRADER_TEXT_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 12 };

typedef struct TableRow TableRow;

typedef struct Table {
    const char *align; /* one 'l' or 'r' a column; the last may be 'w' */
    TableRow *row;
    size_t rows;
} Table;

/* `align` has a letter for every column: "llrr".  A last 'w' is text that is wrapped in what the
 * screen has left, or beneath its row where that is too narrow; it is never cut. */
Table table_start(const char *align);
/* One cell a column, tab-separated, printf style; what is left off stays empty.  A row of one cell
 * is a heading, which may be wider than its column. */
void table_row(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text under the last row, wrapped; each of its newlines begins a new line. */
void table_note(Table *table, const char *text);
/* Prints with `indent` blanks before each line and frees everything. */
void table_end(Table *table, FILE *stream, int indent);

/* Columns on a terminal: UTF-8 characters, not bytes. */
size_t text_width(const char *text);
/* `text` wrapped so that no line passes the screen (screen.h) or 100 columns, each begun by
 * `indent` blanks. */
void text_wrap(FILE *stream, int indent, const char *text);
/* 1234567 -> "1,234,567". */
const char *text_thousands(double number, char text[40]);

#endif
