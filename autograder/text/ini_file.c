#include "autograder/text/ini_file.h"

#include <ctype.h>
#include <ini.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

/* libinih truncates names at 50.  The other limits bound the work: a new key is compared with all
 * earlier ones. */
enum { NAME_BYTES = 48, ENTRIES_MAX = 1000, VALUE_BYTES = 16 << 10 };

/* State shared by the reader and the handler, because libinih reports neither the line nor the
 * start of sections. */
typedef struct Reading {
    const char *text, *end;
    int line, indented;
    IniFile *file;
    Error *error;
    int failed;
} Reading;

int ini_error(Error *error, const IniFile *file, int line, const char *format, ...)
{
    char text[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(error, "%s:%d: %s", file->path, line, text);
}

int ini_number(const char *text, double *number)
{
    char *end;
    if (isspace((unsigned char)*text)) return -1;
    *number = strtod(text, &end);
    return end == text || *end || !isfinite(*number) ? -1 : 0;
}

static char *reading_fail(Reading *reading, const char *message)
{
    ini_error(reading->error, reading->file, reading->line, "%s", message);
    reading->failed = 1;
    return NULL;
}

static int section_add(Reading *reading, const char *line, size_t bytes)
{
    const char *close = memchr(line, ']', bytes);
    size_t length = close ? (size_t)(close - line) - 1 : 0;
    if (!close || length == 0 || length >= NAME_BYTES) {
        reading_fail(reading, "a section is [name] with a name of at most 47 characters");
        return -1;
    }
    IniFile *file = reading->file;
    if (file->sections == ENTRIES_MAX) {
        reading_fail(reading, "more than 1000 sections");
        return -1;
    }
    IniSection *grown = realloc(file->section, (file->sections + 1) * sizeof *grown);
    char *name = strndup(line + 1, length);
    if (grown) file->section = grown;
    if (!grown || !name) {
        free(name);
        reading_fail(reading, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < file->sections; i++) {
        if (strcmp(grown[i].name, name)) continue;
        ini_error(reading->error, file, reading->line,
                  "section [%s] appears twice; first on line %d", name, grown[i].line);
        reading->failed = 1;
        free(name);
        return -1;
    }
    grown[file->sections++] = (IniSection){.name = name, .line = reading->line};
    return 0;
}

/* fgets for libinih, from memory; detects text that libinih would silently cut or skip. */
static char *read_line(char *line, int size, void *context)
{
    Reading *reading = context;
    if (reading->failed || reading->text >= reading->end) return NULL;
    const char *start = reading->text;
    const char *newline = memchr(start, '\n', (size_t)(reading->end - start));
    size_t bytes = (size_t)((newline ? newline + 1 : reading->end) - start);
    reading->text += bytes;
    reading->line++;
    if (memchr(start, 0, bytes)) return reading_fail(reading, "not a text file");
    if (bytes + 3 > (size_t)size) {
        return reading_fail(reading, "the line is too long; continue on the next line, indented");
    }
    reading->indented = isspace((unsigned char)*start);
    const char *first = start;
    while (first < start + bytes && isspace((unsigned char)*first))
        first++;
    if (first < start + bytes && *first == '[') {
        if (section_add(reading, first, bytes - (size_t)(first - start))) return NULL;
    }
    memcpy(line, start, bytes);
    line[bytes] = 0;
    return line;
}

static int entry_append(IniEntry *entry, const char *value)
{
    size_t have = strlen(entry->value), more = strlen(value);
    char *joined = realloc(entry->value, have + more + 2);
    if (!joined) return -1;
    entry->value = joined;
    if (have && more) joined[have++] = ' ';
    memcpy(joined + have, value, more + 1);
    return 0;
}

static int entry_add(IniSection *section, const char *key, const char *value, int line)
{
    IniEntry *grown = realloc(section->entry, (section->entries + 1) * sizeof *grown);
    if (!grown) return -1;
    section->entry = grown;
    IniEntry entry = {.key = strdup(key), .value = strdup(value), .line = line};
    if (!entry.key || !entry.value) {
        free(entry.key);
        free(entry.value);
        return -1;
    }
    grown[section->entries++] = entry;
    return 0;
}

static int take_entry(void *context, const char *section_name, const char *key, const char *value)
{
    (void)section_name; /* the reader has already parsed the header, unshortened */
    Reading *reading = context;
    IniFile *file = reading->file;
    if (reading->failed) return 1;
    if (file->sections == 0) {
        reading_fail(reading, "a key before the first [section]");
        return 1;
    }
    IniSection *section = &file->section[file->sections - 1];
    IniEntry *last = section->entries ? &section->entry[section->entries - 1] : NULL;
    if (last && reading->indented && !strcmp(last->key, key)) {
        if (strlen(last->value) + strlen(value) > VALUE_BYTES)
            reading_fail(reading, "the value is too long");
        else if (entry_append(last, value))
            reading_fail(reading, "out of memory");
        return 1;
    }
    if (section->entries == ENTRIES_MAX) {
        reading_fail(reading, "more than 1000 keys in a section");
    } else if (strlen(key) >= NAME_BYTES || !*key) {
        reading_fail(reading, "a key has 1 to 47 characters");
    } else if (ini_entry_find(section, key)) {
        ini_error(reading->error, file, reading->line,
                  "'%s' appears twice in [%s]; first on line %d", key, section->name,
                  ini_entry_find(section, key)->line);
        reading->failed = 1;
    } else if (entry_add(section, key, value, reading->line)) {
        reading_fail(reading, "out of memory");
    }
    return 1;
}

int ini_file_parse(const char *shown, const char *text, size_t bytes, IniFile *file, Error *error)
{
    *file = (IniFile){0};
    text_set(file->path, sizeof file->path, "%s", shown);
    Reading reading = {.text = text, .end = text + bytes, .file = file, .error = error};
    int bad_line = ini_parse_stream(read_line, &reading, take_entry, &reading);
    if (!reading.failed && bad_line) {
        ini_error(error, file, bad_line, "neither [section], key = value nor a comment");
        reading.failed = 1;
    }
    if (!reading.failed) return 0;
    ini_file_clear(file);
    return -1;
}

int ini_file_read(const char *path, const char *shown, IniFile *file, Error *error)
{
    FILE *stream = fopen(path, "re");
    if (!stream) return error_set(error, "%s: %m", shown);
    char *text = malloc(INI_FILE_BYTES + 1);
    size_t bytes = text ? fread(text, 1, INI_FILE_BYTES + 1, stream) : 0;
    int broken = ferror(stream);
    fclose(stream);
    int status;
    if (!text) {
        status = error_set(error, "%s: out of memory", shown);
    } else if (broken) {
        status = error_set(error, "%s: cannot be read (is it a directory?)", shown);
    } else if (bytes > INI_FILE_BYTES) {
        status = error_set(error, "%s: larger than 1 MiB, the limit for ini files", shown);
    } else {
        status = ini_file_parse(shown, text, bytes, file, error);
    }
    free(text);
    return status;
}

void ini_file_clear(IniFile *file)
{
    for (size_t i = 0; i < file->sections; i++) {
        IniSection *section = &file->section[i];
        for (size_t j = 0; j < section->entries; j++) {
            free(section->entry[j].key);
            free(section->entry[j].value);
        }
        free(section->entry);
        free(section->name);
    }
    free(file->section);
    file->section = NULL;
    file->sections = 0;
}

const IniSection *ini_section_find(const IniFile *file, const char *name)
{
    for (size_t i = 0; i < file->sections; i++)
        if (!strcmp(file->section[i].name, name)) return &file->section[i];
    return NULL;
}

const IniEntry *ini_entry_find(const IniSection *section, const char *key)
{
    for (size_t i = 0; section && i < section->entries; i++)
        if (!strcmp(section->entry[i].key, key)) return &section->entry[i];
    return NULL;
}
