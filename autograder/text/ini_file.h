/* ini_file.h - an ini file as a list of sections and entries, each with its line number.
 *
 * libinih does the parsing; this keeps what it does not give: line numbers in every message,
 * sections in order, values that go on over indented lines joined with a blank, duplicates
 * refused. */
#ifndef CONVLAB_AUTOGRADER_TEXT_INI_FILE_H
#define CONVLAB_AUTOGRADER_TEXT_INI_FILE_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct IniEntry {
    char *key, *value;
    int line;
} IniEntry;

typedef struct IniSection {
    char *name;
    int line;
    IniEntry *entry;
    size_t entries;
} IniSection;

typedef struct IniFile {
    char path[512]; /* as messages name it */
    IniSection *section;
    size_t sections;
} IniFile;

enum { INI_FILE_BYTES = 1 << 20 };

/* Reads `path`, naming it `shown` in messages ("labs/02-naive/lab.ini").  -1 with
 * "labs/02-naive/lab.ini:14: ..." for what is malformed; ini_file_clear is then not needed. */
int ini_file_read(const char *path, const char *shown, IniFile *file, Error *error);
int ini_file_parse(const char *shown, const char *text, size_t bytes, IniFile *file, Error *error);
void ini_file_clear(IniFile *file);

const IniSection *ini_section_find(const IniFile *file, const char *name);
const IniEntry *ini_entry_find(const IniSection *section, const char *key);

/* "path:line: message"; returns -1. */
int ini_error(Error *error, const IniFile *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A whole finite number and nothing after it; -1 when it is not one. */
int ini_number(const char *text, double *number);

#endif
