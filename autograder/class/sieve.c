#include "autograder/class/sieve.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int lab_of(const Sieve *sieve, const char *part, size_t length)
{
    for (int i = 0; i < sieve->catalog->labs; i++)
        if (is_part(part, length, sieve->catalog->lab[i].name)) return i;
    return -1;
}

/* 0 the source, 1 predict.ini, -1 neither. */
static int file_of(const Lab *lab, const char *name)
{
    return !strcmp(name, lab->ini.source) ? 0 : !strcmp(name, "predict.ini") ? 1 : -1;
}

/* Finds the lab, the file and the rank of `path`: twice the number of folders above NN-name/, plus
 * 1, less 1 if the last of those is labs/.  0: not a lab's file. */
static int place(const Sieve *sieve, const char *path, int *lab, int *file)
{
    const char *part[64];
    size_t length[64];
    int parts = 0;
    for (const char *at = path; *at && parts < 64; at += strspn(at, "/")) {
        part[parts] = at;
        length[parts] = strcspn(at, "/");
        at += length[parts];
        parts += !is_part(part[parts], length[parts], "."); /* tar's "./" is not a folder */
    }
    if (!parts || parts == 64) return 0;
    const char *name = part[parts - 1];
    *lab = parts >= 2 ? lab_of(sieve, part[parts - 2], length[parts - 2]) : -1;
    if (*lab < 0) { /* a file without a lab's folder, if only one lab is graded */
        if (!sieve->only) return 0;
        *lab = (int)(sieve->only - sieve->catalog->lab);
        *file = file_of(sieve->only, name);
        return *file < 0 ? 0 : LOOSE_RANK + parts;
    }
    const Lab *of = &sieve->catalog->lab[*lab];
    *file = file_of(of, name);
    if (*file < 0 || (sieve->only && of != sieve->only)) return 0;
    return 2 * (parts - 2) + 2 -
           (parts >= 3 && is_part(part[parts - 3], length[parts - 3], "labs"));
}

SieveSlot *sieve_want(Sieve *sieve, const char *path)
{
    int lab, file, rank = is_hidden(path) ? 0 : place(sieve, path, &lab, &file);
    if (!rank) return NULL;
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
