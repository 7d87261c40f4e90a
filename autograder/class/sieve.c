#include "autograder/class/sieve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lms/entry_name.h"

enum { LOOSE_RANK = 1000 };

/* Prints names into one line, whatever characters they contain. */
static void say(char *text, size_t bytes, const char *format, va_list arguments)
{
    char said[400];
    vsnprintf(said, sizeof said, format, arguments);
    name_show(said, text, bytes);
}

void slot_refuse(SieveSlot *slot, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(slot->problem, sizeof slot->problem, format, arguments);
    va_end(arguments);
}

void sieve_refuse(Sieve *sieve, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(sieve->problem, sizeof sieve->problem, format, arguments);
    va_end(arguments);
}

static int is_part(const char *part, size_t length, const char *name)
{
    return strlen(name) == length && !strncmp(part, name, length);
}

/* Hidden parts belong to an operating system or a version control system. */
static int is_hidden(const char *path)
{
    for (const char *part = path; *part; part += strspn(part, "/")) {
        size_t length = strcspn(part, "/");
        if ((*part == '.' && length > 1) || is_part(part, length, "__MACOSX")) return 1;
        part += length;
    }
    return 0;
}

static int lab_of(const Catalog *catalog, const char *part, size_t length)
{
    for (int i = 0; i < catalog->labs; i++)
        if (is_part(part, length, catalog->lab[i].name)) return i;
    return -1;
}

/* 0 the source, 1 predict.ini, -1 neither. */
static int file_of(const Lab *lab, const char *name)
{
    return !strcmp(name, lab->ini.source) ? 0 : !strcmp(name, "predict.ini") ? 1 : -1;
}

/* The same, also for the name of a copy. */
static int copy_of(const Lab *lab, const char *name, int *is_copy)
{
    char original[300];
    int file = file_of(lab, name);
    *is_copy = file < 0 && strlen(name) < sizeof original &&
               file_name_original(name, original, sizeof original);
    return *is_copy ? file_of(lab, original) : file;
}

/* Finds the lab, the file and the rank of `path`: four times the number of folders above NN-name/,
 * plus 2, less 2 if the last of those is labs/, plus 1 for a copy.  0: not a lab's file. */
static int place(const Catalog *catalog, const Lab *only, const char *path, int *lab, int *file)
{
    const char *part[64];
    size_t length[64];
    int parts = 0, is_copy;
    for (const char *at = path; *at && parts < 64; at += strspn(at, "/")) {
        part[parts] = at;
        length[parts] = strcspn(at, "/");
        at += length[parts];
        parts += !is_part(part[parts], length[parts], "."); /* tar's "./" is not a folder */
    }
    if (!parts || parts == 64) return 0;
    const char *name = part[parts - 1];
    *lab = parts >= 2 ? lab_of(catalog, part[parts - 2], length[parts - 2]) : -1;
    if (*lab < 0) { /* a file without a lab's folder, if only one lab is graded */
        if (!only) return 0;
        *lab = (int)(only - catalog->lab);
        *file = copy_of(only, name, &is_copy);
        return *file < 0 ? 0 : LOOSE_RANK + 2 * parts + is_copy;
    }
    const Lab *of = &catalog->lab[*lab];
    *file = copy_of(of, name, &is_copy);
    if (*file < 0 || (only && of != only)) return 0;
    int is_below_labs = parts >= 3 && is_part(part[parts - 3], length[parts - 3], "labs");
    return 4 * (parts - 2) + 4 - 2 * is_below_labs + is_copy;
}

int sieve_is_lab_file(const Catalog *catalog, const Lab *only, const char *path)
{
    int lab, file;
    return !is_hidden(path) && place(catalog, only, path, &lab, &file) > 0;
}

static void other_note(Sieve *sieve, const char *path)
{
    char shown[sizeof sieve->other];
    if (is_hidden(path)) return;
    name_show(path, shown, sizeof shown);
    if (!*sieve->other || strcmp(shown, sieve->other) < 0) strcpy(sieve->other, shown);
}

SieveSlot *sieve_want(Sieve *sieve, const char *path)
{
    int lab, file;
    int rank = is_hidden(path) ? 0 : place(sieve->catalog, sieve->only, path, &lab, &file);
    if (!rank) {
        other_note(sieve, path);
        return NULL;
    }
    SieveSlot *slot = &sieve->slot[lab][file];
    if (slot->rank && slot->rank < rank) return NULL;
    if (slot->rank == rank) {
        slot_refuse(slot, "%.150s and %.150s: which of the two counts?", slot->path, path);
        return NULL;
    }
    free(slot->path);
    free(slot->data);
    *slot = (SieveSlot){.rank = rank, .path = strdup(path)};
    return slot;
}
