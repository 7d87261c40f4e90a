/* suppressions.c - reading and matching of suppressions, an ini file with a section for each. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/findings/findings.h"
#include "autograder/text/files.h"
#include "autograder/text/ini_file.h"

static char **pattern_of(Suppression *suppression, const char *key)
{
    if (!strcmp(key, "check")) return &suppression->check;
    if (!strcmp(key, "kernel")) return &suppression->kernel;
    if (!strcmp(key, "source")) return &suppression->source;
    if (!strcmp(key, "text")) return &suppression->text;
    return NULL;
}

static int entry_take(const IniFile *file, const IniEntry *entry, Suppression *suppression,
                      Error *error)
{
    double number;
    char **pattern = pattern_of(suppression, entry->key);
    if (pattern) {
        *pattern = strdup(entry->value);
        return *pattern ? 0 : error_set(error, "out of memory");
    }
    if (strcmp(entry->key, "line"))
        return ini_error(error, file, entry->line,
                         "unknown key '%.40s'; a suppression has check, kernel, source, line, text",
                         entry->key);
    if (ini_number(entry->value, &number) || number < 1 || number > 1e9)
        return ini_error(error, file, entry->line, "'%.40s' is not a line number", entry->value);
    suppression->line = (uint32_t)number;
    return 0;
}

static int section_take(const IniFile *file, const IniSection *section, Suppressions *suppressions,
                        Error *error)
{
    if (!section->entries)
        return ini_error(error, file, section->line, "[%.40s] has no key and would match all",
                         section->name);
    Suppression *grown =
        realloc(suppressions->item, (suppressions->items + 1) * sizeof *suppressions->item);
    if (!grown) return error_set(error, "out of memory");
    suppressions->item = grown;
    Suppression *made = &grown[suppressions->items++];
    *made = (Suppression){.name = strdup(section->name)};
    if (!made->name) return error_set(error, "out of memory");
    for (size_t i = 0; i < section->entries; i++)
        if (entry_take(file, &section->entry[i], made, error)) return -1;
    return 0;
}

int suppressions_read(Suppressions *suppressions, const char *path, Error *error)
{
    IniFile file;
    int rc = 0;
    if (ini_file_read(path, path, &file, error)) return -1;
    for (size_t i = 0; i < file.sections && !rc; i++)
        rc = section_take(&file, &file.section[i], suppressions, error);
    ini_file_clear(&file);
    return rc;
}

static int matches(const char *pattern, const char *text)
{
    return !pattern || !fnmatch(pattern, text, 0);
}

/* A finding's text has several lines, and a pattern one. */
static int text_matches(const char *pattern, const char *text)
{
    char line[1024];
    size_t bytes = strlen(text);
    if (bytes >= sizeof line) bytes = sizeof line - 1;
    for (size_t i = 0; i < bytes; i++)
        line[i] = text[i] == '\n' ? ' ' : text[i];
    line[bytes] = 0;
    return matches(pattern, line);
}

Suppression *suppressions_find(const Suppressions *suppressions, const Finding *finding)
{
    for (size_t i = 0; i < suppressions->items; i++) {
        Suppression *at = &suppressions->item[i];
        if (matches(at->check, finding->check) && matches(at->kernel, finding->kernel) &&
            matches(at->source, finding->source) && text_matches(at->text, finding->text) &&
            (!at->line || at->line == finding->line))
            return at;
    }
    return NULL;
}

void suppressions_clear(Suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->items; i++) {
        Suppression *at = &suppressions->item[i];
        free(at->name), free(at->check), free(at->kernel), free(at->source), free(at->text);
    }
    free(suppressions->item);
    *suppressions = (Suppressions){0};
}
