/* ini_file.h - an ini file as a list of sections and entries, each with its line number.
 *
 * libinih parses; this adds line numbers in every message, the order of sections, values that
 * continue on indented lines (joined with a blank), and rejection of duplicates. */
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
    char path[512]; /* path in messages */
    IniSection *section;
    size_t sections;
} IniFile;

enum { INI_FILE_BYTES = 1 << 20 };

/* Reads `path`, called `shown` in messages ("labs/02-naive/lab.ini").  -1 with
 * "labs/02-naive/lab.ini:14: ..." for a malformed line; ini_file_clear is then not needed. */
int ini_file_read(const char *path, const char *shown, IniFile *file, Error *error);
int ini_file_parse(const char *shown, const char *text, size_t bytes, IniFile *file, Error *error);
void ini_file_clear(IniFile *file);

const IniSection *ini_section_find(const IniFile *file, const char *name);
const IniEntry *ini_entry_find(const IniSection *section, const char *key);

/* "path:line: message"; returns -1. */
int ini_error(Error *error, const IniFile *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A complete finite number and nothing after it; else -1. */
int ini_number(const char *text, double *number);

#endif
