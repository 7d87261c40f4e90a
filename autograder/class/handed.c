#include "autograder/class/handed.h"

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autograder/lms/entry_name.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

#define DAY   "[0-9]{4}-[0-9]{2}-[0-9]{2}"
#define STAMP DAY "([T _][0-9]{2}[:.-][0-9]{2}([:.-][0-9]{2})?Z?)?"

/* ---- names ---------------------------------------------------------------------------------- */

void name_show(const char *name, char *text, size_t bytes)
{
    text_set(text, bytes, "%s", name);
    intake_clean(text);
    for (char *at = text; *at; at++)
        if (*at == '\t' || *at == '\n') *at = '?';
}

static const char *const ENDINGS[] = {".zip",    ".tar",     ".tar.gz", ".tgz", ".tar.bz2", ".tbz2",
                                      ".tar.xz", ".tar.zst", ".rar",    ".7z",  NULL};

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
    EntryName parsed;
    entry_name_parse(stem, &parsed);
    if (entry_is_lms(&parsed)) return strdup(parsed.student);
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

/* ---- the list ------------------------------------------------------------------------------- */

static void handed_clear(Handed *handed)
{
    for (size_t i = 0; i < handed->files; i++)
        free(handed->file[i].path);
    free(handed->file);
    free(handed->student);
    free(handed->submission);
    free(handed->reason);
}

int handed_list_note(HandedList *list, const char *path, const char *student, int is_refused,
                     const char *reason, Error *error)
{
    for (size_t i = 0; i < list->entries; i++)
        if (!strcmp(list->entry[i].path, path)) return 0;
    HandedEntry *grown = realloc(list->entry, (list->entries + 1) * sizeof *grown);
    if (!grown) return error_set(error, "out of memory");
    list->entry = grown;
    HandedEntry *entry = &grown[list->entries];
    *entry =
        (HandedEntry){.path = strdup(path), .student = strdup(student), .is_refused = is_refused};
    text_set(entry->reason, sizeof entry->reason, "%s", reason);
    list->entries++;
    return entry->path && entry->student ? 0 : error_set(error, "out of memory");
}

/* Takes ownership of `student`.  NULL with error. */
static Handed *add(HandedList *list, char *student, const char *folder, const char *name,
                   HandedKind kind, int64_t named_at, size_t attempt, Error *error)
{
    Handed *grown = realloc(list->item, (list->count + 1) * sizeof *grown);
    if (grown) list->item = grown;
    char *submission = NULL;
    if (!student || !grown ||
        asprintf(&submission, "%s%s%s", folder, *folder ? "/" : "", name) < 0) {
        free(student);
        error_set(error, "out of memory");
        return NULL;
    }
    Handed *handed = &list->item[list->count++];
    *handed = (Handed){.student = student,
                       .submission = submission,
                       .kind = kind,
                       .named_at = named_at,
                       .attempt = attempt};
    return handed;
}

static Handed *of_student(HandedList *list, const char *student, HandedKind kind)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->item[i].kind == kind && !strcmp(list->item[i].student, student))
            return &list->item[i];
    return NULL;
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

enum { LOOSE_FILE = -1, NO_FILE = -2 };

/* Kind of a folder's entry; LOOSE_FILE or NO_FILE: not a submission by itself. */
static int kind_of(const char *folder, const char *name)
{
    char path[8192];
    struct stat status;
    text_set(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &status)) return NO_FILE;
    if (S_ISDIR(status.st_mode)) return HANDED_FOLDER;
    if (S_ISLNK(status.st_mode)) return HANDED_LINK;
    if (!S_ISREG(status.st_mode)) return NO_FILE;
    return archive_stem(name) ? HANDED_ARCHIVE : LOOSE_FILE;
}

/* The entries of a student's folder. */
typedef struct Inside {
    struct dirent **entry;
    int entries, stamps, archives; /* stamps: entries with a time stamp as name */
} Inside;

static void inside_read(const char *path, Inside *inside)
{
    regmatch_t group[GROUPS];
    *inside = (Inside){0};
    inside->entries = scandir(path, &inside->entry, is_shown, by_bytes);
    for (int i = 0; i < inside->entries; i++) {
        int kind = kind_of(path, inside->entry[i]->d_name);
        inside->stamps += kind >= 0 && matches("^" STAMP, inside->entry[i]->d_name, group);
        inside->archives += kind == HANDED_ARCHIVE;
    }
}

/* Each entry of `inside` that is one by itself becomes a submission; of a folder that also holds
 * other files, the archives only. */
static int add_inside(HandedList *list, const char *path, const char *name, const char *student,
                      int64_t named_at, const Inside *inside, int all, Error *error)
{
    EntryName parsed;
    regmatch_t group[GROUPS];
    size_t attempt = list->count + (all ? 1 : 0); /* no other folder's; else the folder's own */
    entry_name_parse(name, &parsed);
    for (int i = 0; i < inside->entries; i++) {
        const char *part = inside->entry[i]->d_name;
        int kind = kind_of(path, part);
        if (!all && kind != HANDED_ARCHIVE) continue;
        /* An LMS's folder for one student: the student chose the names in it. */
        int trusted = !entry_is_lms(&parsed);
        char *stamp = trusted && matches("^" STAMP, part, group) ? piece(part, &group[0]) : NULL;
        int64_t at = stamp ? time_parse(stamp) : -1;
        free(stamp);
        if (!add(list, strdup(student), name, part, (HandedKind)kind, at > 0 ? at : named_at,
                 at > 0 ? 0 : attempt, error))
            return -1;
    }
    return 0;
}

static int add_folder(HandedList *list, const char *class_folder, const char *name, char *student,
                      int64_t named_at, Error *error)
{
    char path[8192];
    Inside inside;
    text_set(path, sizeof path, "%s/%s", class_folder, name);
    inside_read(path, &inside);
    int all = inside.entries > 0 &&
              (inside.stamps == inside.entries || inside.archives == inside.entries);
    int status = 0;
    if (!all) {
        Handed *handed = add(list, student ? strdup(student) : NULL, "", name, HANDED_FOLDER,
                             named_at, 0, error);
        if (handed && inside.archives > 0) handed->attempt = list->count;
        status = handed ? 0 : -1;
    }
    if (!status && (all || inside.archives > 0))
        status = student ? add_inside(list, path, name, student, named_at, &inside, all, error)
                         : error_set(error, "out of memory");
    free(student);
    if (inside.entries >= 0) free_entries(inside.entry, inside.entries);
    return status;
}

/* ---- loose files ---------------------------------------------------------------------------- */

static int add_loose(HandedList *list, const char *name, const EntryName *parsed, Error *error)
{
    Handed *handed = of_student(list, parsed->student, HANDED_LOOSE);
    if (!handed) handed = add(list, strdup(parsed->student), "", name, HANDED_LOOSE, 0, 0, error);
    if (!handed) return -1;
    HandedFile *grown = realloc(handed->file, (handed->files + 1) * sizeof *grown);
    char *path = strdup(name);
    if (grown) handed->file = grown;
    if (!grown || !path) {
        free(path);
        return error_set(error, "out of memory");
    }
    grown[handed->files++] = (HandedFile){path, path + (parsed->file - name)};
    return 0;
}

static const char *reason_of(const EntryName *parsed)
{
    if (parsed->kind == ENTRY_MOODLE_TEXT)
        return "text that was typed into Moodle's form, not a file: ask for the file itself";
    if (parsed->kind == ENTRY_CANVAS_TEXT)
        return "text, a web address or a recording in Canvas's form: ask for the file itself";
    return "a file whose name does not say whose it is: put it into a folder with the student's "
           "name";
}

/* ---- the class's folder --------------------------------------------------------------------- */

static int take_entry(HandedList *list, const char *folder, struct dirent **entry, int entries,
                      int number, Error *error)
{
    const char *name = entry[number]->d_name;
    EntryName parsed;
    entry_name_parse(name, &parsed);
    int kind = kind_of(folder, name);
    int is_text = parsed.kind == ENTRY_MOODLE_TEXT || parsed.kind == ENTRY_CANVAS_TEXT;
    if (kind == LOOSE_FILE && entry_is_lms(&parsed) && !is_text)
        return add_loose(list, name, &parsed, error);
    if (kind < 0 || (is_text && kind != HANDED_LINK))
        return handed_list_note(list, name, is_text ? parsed.student : "", 0, reason_of(&parsed),
                                error);
    size_t length = kind == HANDED_FOLDER ? 0 : archive_stem(name);
    char *stem = strndup(name, length ? length : strlen(name));
    int64_t named_at = 0;
    char *student = stem ? student_of(stem, entry, entries, &named_at) : NULL;
    free(stem);
    if (kind == HANDED_FOLDER) return add_folder(list, folder, name, student, named_at, error);
    return add(list, student, "", name, (HandedKind)kind, named_at, 0, error) ? 0 : -1;
}

/* Files that one student uploaded to an LMS at one time, next to those of others, are one
 * attempt. */
static void number_attempts(HandedList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        Handed *handed = &list->item[i];
        EntryName parsed, other;
        entry_name_parse(handed->submission, &parsed);
        if (handed->attempt || !entry_is_lms(&parsed) || strchr(handed->submission, '/')) continue;
        for (size_t j = i + 1; j < list->count; j++) {
            Handed *next = &list->item[j];
            entry_name_parse(next->submission, &other);
            if (next->attempt || strchr(next->submission, '/') || other.is_late != parsed.is_late ||
                other.kind != parsed.kind || strcmp(next->student, handed->student) != 0)
                continue;
            handed->attempt = next->attempt = list->count + 1 + i;
        }
    }
}

/* A student with nothing but unusable entries has a submission that says so. */
static int add_unusable(HandedList *list, Error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->entries; i++) {
        HandedEntry *entry = &list->entry[i];
        int is_known = !*entry->student;
        for (size_t j = 0; j < list->count && !is_known; j++)
            is_known = !strcmp(list->item[j].student, entry->student);
        if (is_known) {
            list->entry[kept++] = *entry;
            continue;
        }
        Handed *handed =
            add(list, strdup(entry->student), "", entry->path, HANDED_UNUSABLE, 0, 0, error);
        if (handed) handed->reason = strdup(entry->reason);
        if (!handed || !handed->reason) return error_set(error, "out of memory");
        free(entry->path);
        free(entry->student);
    }
    list->entries = kept;
    return 0;
}

static int by_student(const void *left, const void *right)
{
    const Handed *a = left, *b = right;
    int order = strcmp(a->student, b->student);
    return order ? order : strcmp(a->submission, b->submission);
}

int handed_list_read(const char *folder, HandedList *list, Error *error)
{
    struct dirent **entry;
    *list = (HandedList){0};
    int entries = scandir(folder, &entry, is_shown, by_bytes), status = 0;
    if (entries < 0)
        return error_set(error,
                         "SUBMISSIONS=%.300s: %s; it names a folder that holds a folder or "
                         "an archive for each student",
                         folder, strerror(errno));
    for (int i = 0; i < entries && !status; i++)
        status = take_entry(list, folder, entry, entries, i, error);
    free_entries(entry, entries);
    if (!status) number_attempts(list);
    if (!status) status = add_unusable(list, error);
    if (!status && !list->count)
        status =
            error_set(error,
                      "SUBMISSIONS=%.300s holds no folder, no archive and no files of an LMS's "
                      "download",
                      folder);
    if (status)
        handed_list_clear(list);
    else
        qsort(list->item, list->count, sizeof *list->item, by_student);
    return status;
}

void handed_list_clear(HandedList *list)
{
    for (size_t i = 0; i < list->count; i++)
        handed_clear(&list->item[i]);
    for (size_t i = 0; i < list->entries; i++) {
        free(list->entry[i].path);
        free(list->entry[i].student);
    }
    free(list->item);
    free(list->entry);
    *list = (HandedList){0};
}
