/* csv_table.h - tables of comma-separated values (RFC 4180), with the place of each cell.
 *
 * The separator is the comma, semicolon or tab that is most frequent in the first line.  A UTF-8
 * byte order mark is skipped; UTF-16 with a byte order mark, as Blackboard writes it, is
 * converted.  Empty lines are left out. */
#ifndef CONVLAB_AUTOGRADER_LMS_CSV_TABLE_H
#define CONVLAB_AUTOGRADER_LMS_CSV_TABLE_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct CsvRow {
    int line; /* number of its first line in the file, from 1 */
    char **cell;
    int cells;
} CsvRow;

typedef struct CsvTable {
    char *text; /* all cells */
    char **cell;
    CsvRow *row;
    size_t rows, all_cells;
} CsvTable;

enum { CSV_BYTES = 4 << 20, CSV_ROWS = 100000, CSV_CELLS = 200 /* per row */ };

/* Parses `data`, which need not end in a NUL.  -1 with error, "NAME:LINE:COLUMN: ...", columns
 * counted in cells from 1; either way csv_table_clear frees the table. */
int csv_table_parse(const char *name, const char *data, size_t bytes, CsvTable *table,
                    Error *error);
/* Reads a regular file. */
int csv_table_read(const char *path, CsvTable *table, Error *error);
void csv_table_clear(CsvTable *table);

#endif
