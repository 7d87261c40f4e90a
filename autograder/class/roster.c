#include "autograder/class/roster.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "autograder/text/text.h"
#include "common/base/intake.h"

#define DAY   "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define STAMP DAY "([T _][0-9]{2}[:.-][0-9]{2}([:.-][0-9]{2})?Z?)?"

/* ---- times ---------------------------------------------------------------------------------- */

int64_t time_parse(const char *text)
{
    struct tm tm = {.tm_isdst = -1, .tm_hour = 23, .tm_min = 59, .tm_sec = 59};
    char zone = 0, rest = 0;
    int parts = sscanf(text, "%4d-%2d-%2d%*1[T _]%2d%*1[:.-]%2d%*1[:.-]%2d%c%c", &tm.tm_year,
                       &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &zone, &rest);
    if (parts == 5) {
        tm.tm_sec = 0;
        sscanf(text, "%*4d-%*2d-%*2d%*1[T _]%*2d%*1[:.-]%*2d%c%c", &zone, &rest);
    } else if (parts == 3) {
        sscanf(text, "%*4d-%*2d-%*2d%c", &rest);
    }
    if (parts < 3 || parts == 4 || rest || (zone && zone != 'Z')) return -1;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60 || tm.tm_year < 1970)
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return zone ? timegm(&tm) : mktime(&tm);
}

void time_text(int64_t seconds, char text[24])
{
    time_t at = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&at, &tm) || !strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm)) text[0] = '\0';
}

/* ---- names ---------------------------------------------------------------------------------- */

void name_show(const char *name, char *text, size_t bytes)
{
    text_set(text, bytes, "%s", name);
    intake_clean(text);
    for (char *at = text; *at; at++)
        if (*at == '\t' || *at == '\n') *at = '?';
}

static const char *const ENDINGS[] = {".zip",    ".tar",     ".tar.gz", ".tgz",
                                      ".tar.xz", ".tar.zst", NULL};

/* Length of an archive's name without its extension; 0: not an archive. */
static size_t archive_stem(const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; ENDINGS[i]; i++) {
        size_t ending = strlen(ENDINGS[i]);
        if (length > ending && !strcasecmp(name + length - ending, ENDINGS[i]))
            return length - ending;
    }
    return 0;
}

enum { GROUPS = 4 };

static int matches(const char *pattern, const char *text, regmatch_t group[GROUPS])
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED)) return 0;
    int found = !regexec(&regex, text, GROUPS, group, 0);
    regfree(&regex);
    return found;
}

static char *piece(const char *text, const regmatch_t *group)
{
    return strndup(text + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
}

/* Whether an entry is called `stem`, as a folder or an archive. */
static int is_there(struct dirent **entry, int entries, const char *stem)
{
    for (int i = 0; i < entries; i++) {
        const char *name = entry[i]->d_name;
        size_t length = archive_stem(name);
        if (!strcmp(name, stem) ||
            (length && strlen(stem) == length && !strncmp(name, stem, length)))
            return 1;
    }
    return 0;
}

/* The student of an entry called `stem`, malloc'd: removes a platform's additions, a time stamp, a
 * count; else the name itself. */
static char *student_of(const char *stem, struct dirent **entry, int entries, int64_t *named_at)
{
    regmatch_t group[GROUPS];
    if (matches("^(.+)_assignsubmission_file", stem, group)) return piece(stem, &group[1]);
    if (matches("^([^_]+)_(LATE_)?([0-9]+)_[0-9]+_", stem, group)) {
        char *student = NULL, *name = piece(stem, &group[1]), *number = piece(stem, &group[3]);
        if (!name || !number || asprintf(&student, "%s_%s", name, number) < 0) student = NULL;
        free(name);
        free(number);
        return student;
    }
    if (matches("^(.+)[_@ ](" STAMP ")$", stem, group)) {
        int64_t at = time_parse(stem + group[2].rm_so);
        if (at >= 0) {
            *named_at = at;
            return piece(stem, &group[1]);
        }
    }
    if (matches("^(.+)_[0-9]{1,2}$", stem, group)) {
        char *base = piece(stem, &group[1]);
        if (base && is_there(entry, entries, base)) return base;
        free(base);
    }
    return strdup(stem);
}

/* ---- folders -------------------------------------------------------------------------------- */

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "__MACOSX") != 0;
}

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void free_entries(struct dirent **entry, int entries)
{
    for (int i = 0; i < entries; i++)
        free(entry[i]);
    free(entry);
}

/* Kind of a folder's entry; -1: not a submission. */
static int kind_of(const char *folder, const char *name)
{
    char path[8192];
    struct stat status;
    text_set(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &status)) return -1;
    if (S_ISDIR(status.st_mode)) return HANDED_FOLDER;
    if (S_ISLNK(status.st_mode)) return HANDED_LINK;
    return S_ISREG(status.st_mode) && archive_stem(name) ? HANDED_ARCHIVE : -1;
}

/* Takes ownership of `student`. */
static int add(Roster *roster, char *student, const char *folder, const char *name, HandedKind kind,
               int64_t named_at, size_t attempt, Error *error)
{
    Handed *grown = realloc(roster->item, (roster->count + 1) * sizeof *grown);
    if (grown) roster->item = grown;
    char *submission = NULL;
    if (!student || !grown ||
        asprintf(&submission, "%s%s%s", folder, *folder ? "/" : "", name) < 0) {
        free(student);
        return error_set(error, "out of memory");
    }
    roster->item[roster->count++] = (Handed){student, submission, kind, named_at, attempt};
    return 0;
}

/* Reads a student's folder of submissions: each entry has a time stamp as name, or each is an
 * archive. 0: it is not such a folder. */
static int holds_submissions(const char *path, struct dirent **entry, int entries)
{
    int stamps = 0, archives = 0;
    regmatch_t group[GROUPS];
    for (int i = 0; i < entries; i++) {
        int kind = kind_of(path, entry[i]->d_name);
        stamps += kind >= 0 && matches("^" STAMP, entry[i]->d_name, group);
        archives += kind == HANDED_ARCHIVE;
    }
    return entries && (stamps == entries || archives == entries);
}

/* A platform's folder for one student: the student chose the names in it. */
static int is_platforms(const char *name)
{
    regmatch_t group[GROUPS];
    return matches("_assignsubmission_file", name, group) ||
           matches("^[^_]+_(LATE_)?[0-9]+_[0-9]+_", name, group);
}

static int add_folder(Roster *roster, const char *class_folder, const char *name, char *student,
                      int64_t named_at, Error *error)
{
    char path[8192];
    struct dirent **entry;
    text_set(path, sizeof path, "%s/%s", class_folder, name);
    int entries = scandir(path, &entry, is_shown, by_bytes), status = 0;
    if (entries < 0 || !holds_submissions(path, entry, entries)) {
        status = add(roster, student, "", name, HANDED_FOLDER, named_at, 0, error);
    } else {
        regmatch_t group[GROUPS];
        size_t attempt = roster->count + 1; /* no other folder's */
        int trusted = !is_platforms(name);
        for (int i = 0; i < entries && !status; i++) {
            const char *part = entry[i]->d_name;
            char *stamp =
                trusted && matches("^" STAMP, part, group) ? piece(part, &group[0]) : NULL;
            int64_t at = stamp ? time_parse(stamp) : -1;
            free(stamp);
            status = add(roster, student ? strdup(student) : NULL, name, part,
                         (HandedKind)kind_of(path, part), at > 0 ? at : named_at,
                         at > 0 ? 0 : attempt, error);
        }
        free(student);
    }
    if (entries >= 0) free_entries(entry, entries);
    return status;
}

static int by_student(const void *left, const void *right)
{
    const Handed *a = left, *b = right;
    int order = strcmp(a->student, b->student);
    return order ? order : strcmp(a->submission, b->submission);
}

static void tell_strange(Roster *roster, const char *name)
{
    char shown[300];
    name_show(name, shown, sizeof shown);
    text_add(roster->strange, sizeof roster->strange, "%s%s", roster->strange[0] ? ", " : "",
             shown);
    intake_clean(roster->strange); /* the place of the cut may be inside a character */
}

int roster_read(const char *folder, Roster *roster, Error *error)
{
    struct dirent **entry;
    *roster = (Roster){0};
    int entries = scandir(folder, &entry, is_shown, by_bytes), status = 0;
    if (entries < 0)
        return error_set(error,
                         "SUBMISSIONS=%.300s: %s; it names a folder that holds a folder or "
                         "an archive for each student",
                         folder, strerror(errno));
    for (int i = 0; i < entries && !status; i++) {
        const char *name = entry[i]->d_name;
        int kind = kind_of(folder, name);
        if (kind < 0) {
            tell_strange(roster, name);
            continue;
        }
        size_t length = kind == HANDED_FOLDER ? 0 : archive_stem(name);
        char *stem = strndup(name, length ? length : strlen(name));
        int64_t named_at = 0;
        char *student = stem ? student_of(stem, entry, entries, &named_at) : NULL;
        free(stem);
        status = kind == HANDED_FOLDER
                     ? add_folder(roster, folder, name, student, named_at, error)
                     : add(roster, student, "", name, (HandedKind)kind, named_at, 0, error);
    }
    free_entries(entry, entries);
    if (!status && !roster->count)
        status = error_set(error, "SUBMISSIONS=%.300s holds no folder and no archive", folder);
    if (status)
        roster_clear(roster);
    else
        qsort(roster->item, roster->count, sizeof *roster->item, by_student);
    return status;
}

void roster_clear(Roster *roster)
{
    for (size_t i = 0; i < roster->count; i++) {
        free(roster->item[i].student);
        free(roster->item[i].submission);
    }
    free(roster->item);
    *roster = (Roster){0};
}
