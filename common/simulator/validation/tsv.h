/* tsv.h - a table of text: lines of fields with tabs between, the first line names them.  Lines
 * that start with ; are comments. */
#ifndef CONVLAB_VALIDATE_TSV_H
#define CONVLAB_VALIDATE_TSV_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct Tsv {
    char *text;   /* owned; cut into fields */
    char **field; /* rows * columns, after the names */
    char **name;
    size_t rows, columns;
    char path[512];
} Tsv;

/* -1 with error: no such file, no line, a line with another number of fields. */
int tsv_read(const char *path, Tsv *tsv, Error *error);
void tsv_close(Tsv *tsv);

/* A column's number, or -1 with error. */
int tsv_column(const Tsv *tsv, const char *name, Error *error);

/* The field as a number; -1 with error if it is none. */
int tsv_number(const Tsv *tsv, size_t row, int column, double *number, Error *error);
/* The same of the column of that name. */
int tsv_named(const Tsv *tsv, size_t row, const char *name, double *number, Error *error);

#endif
