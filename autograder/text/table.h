/* table.h - tables with aligned columns for a terminal, with notes wrapped below a row. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TABLE_H
#define CONVLAB_AUTOGRADER_TEXT_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 12 };

typedef struct TableRow TableRow;

typedef struct Table {
    const char *align; /* one 'l' or 'r' per column; the last may be 'w' */
    TableRow *row;
    size_t rows;
} Table;

/* `align` has a letter for every column: "llrr".  A last 'w' is text that is wrapped in the
 * remaining width of the screen, or below its row if that is too narrow; it is never truncated. */
Table table_start(const char *align);
/* One cell per column, tab-separated, printf style; omitted cells are empty.  A row with one cell
 * is a heading, which may be wider than its column. */
void table_row(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text below the last row, wrapped; each of its newlines starts a new line. */
void table_note(Table *table, const char *text);
/* Prints with `indent` blanks before each line and frees everything. */
void table_end(Table *table, FILE *stream, int indent);

/* Columns on a terminal: UTF-8 characters, not bytes. */
size_t text_width(const char *text);
/* `text` wrapped at the screen's width (screen.h) or 100 columns, each line indented by `indent`
 * blanks. */
void text_wrap(FILE *stream, int indent, const char *text);
/* 1234567 -> "1,234,567". */
const char *text_thousands(double number, char text[40]);

#endif
