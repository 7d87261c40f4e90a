#include "autograder/lms/entry_name.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

enum { GROUPS = 6 };

static int matches(const char *pattern, const char *text, regmatch_t group[GROUPS])
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED)) return 0;
    int found = !regexec(&regex, text, GROUPS, group, 0);
    regfree(&regex);
    return found;
}

static void piece(const char *text, const regmatch_t *group, char *into, size_t bytes)
{
    int length = group->rm_so < 0 ? 0 : group->rm_eo - group->rm_so;
    text_set(into, bytes, "%.*s", length, group->rm_so < 0 ? "" : text + group->rm_so);
}

/* The name before the first "_assignsubmission_" is Moodle's.  A later one is in the file's name,
 * which the student chose. */
static int moodle_parse(const char *text, EntryName *entry)
{
    static const char MARK[] = "_assignsubmission_";
    regmatch_t group[GROUPS];
    char plugin[20];
    const char *mark = strstr(text, MARK);
    if (!mark || mark == text || !matches("^_assignsubmission_([a-z]+)([_.](.*))?$", mark, group))
        return 0;
    const size_t before = (size_t)(mark - text);
    for (int i = 0; i < GROUPS; i++)
        if (group[i].rm_so >= 0) {
            group[i].rm_so += (regoff_t)before;
            group[i].rm_eo += (regoff_t)before;
        }
    text_set(entry->student, sizeof entry->student, "%.*s", (int)before, text);
    piece(text, &group[1], plugin, sizeof plugin);
    entry->kind = strcmp(plugin, "file") ? ENTRY_MOODLE_TEXT : ENTRY_MOODLE_FILE;
    entry->file = group[3].rm_so < 0 ? text + strlen(text) : text + group[3].rm_so;
    text_set(entry->name, sizeof entry->name, "%s", entry->student);
    if (matches("^(.+)_([0-9]+)$", entry->student, group)) {
        piece(entry->student, &group[1], entry->name, sizeof entry->name);
        piece(entry->student, &group[2], entry->id, sizeof entry->id);
    }
    return 1;
}

/* Anonymous grading: neither the person's name nor the ID are in the name. */
static int canvas_anonymous_parse(const char *text, EntryName *entry)
{
    regmatch_t group[GROUPS];
    char id[32];
    if (!matches("^(LATE_)?anon_([0-9A-Za-z]+)_(([0-9]+)_)?(.+)$", text, group)) return 0;
    entry->kind = ENTRY_CANVAS_FILE;
    if (group[4].rm_so < 0) {
        if (!matches("^(text|link)\\.html$", text + group[5].rm_so, (regmatch_t[GROUPS]){{0}}))
            return 0;
        entry->kind = ENTRY_CANVAS_TEXT;
    }
    entry->file = text + group[5].rm_so;
    entry->is_late = group[1].rm_so >= 0;
    piece(text, &group[4], entry->attachment, sizeof entry->attachment);
    piece(text, &group[2], id, sizeof id);
    text_set(entry->name, sizeof entry->name, "anon");
    text_set(entry->student, sizeof entry->student, "anon_%s", id);
    return 1;
}

static int canvas_parse(const char *text, EntryName *entry)
{
    regmatch_t group[GROUPS];
    if (matches("^([^_]+)_(LATE_)?([0-9]+)_([0-9]+)_(.*)$", text, group)) {
        entry->kind = ENTRY_CANVAS_FILE;
        piece(text, &group[4], entry->attachment, sizeof entry->attachment);
        entry->file = text + group[5].rm_so;
    } else if (matches("^([^_]+)_(LATE_)?([0-9]+)_((text|link|media)[^_]*\\.html?)$", text,
                       group)) {
        entry->kind = ENTRY_CANVAS_TEXT;
        entry->file = text + group[4].rm_so;
    } else {
        return 0;
    }
    entry->is_late = group[2].rm_so >= 0;
    piece(text, &group[1], entry->name, sizeof entry->name);
    piece(text, &group[3], entry->id, sizeof entry->id);
    text_set(entry->student, sizeof entry->student, "%.300s_%s", entry->name, entry->id);
    return 1;
}

void entry_name_parse(const char *text, EntryName *entry)
{
    *entry = (EntryName){.kind = ENTRY_PLAIN, .file = text};
    /* Canvas first: its names end with the student's, which may look like Moodle's. */
    if (canvas_anonymous_parse(text, entry) || canvas_parse(text, entry) ||
        moodle_parse(text, entry))
        return;
    text_set(entry->student, sizeof entry->student, "%s", text);
}

int entry_is_lms(const EntryName *entry)
{
    return entry->kind != ENTRY_PLAIN;
}

/* The length of "(12)", " (12)" or "-12" at the end of name[length]; 0: none. */
static size_t copy_mark(const char *name, size_t length)
{
    size_t at = length;
    int bracket = at > 0 && name[at - 1] == ')';
    at -= (size_t)bracket;
    size_t digits = 0;
    while (at > 0 && digits < 4 && isdigit((unsigned char)name[at - 1]))
        at--, digits++;
    if (!digits || at < 2 || name[at - 1] != (bracket ? '(' : '-')) return 0;
    at--;
    while (bracket && at > 1 && name[at - 1] == ' ')
        at--;
    return length - at;
}

int file_name_original(const char *name, char *original, unsigned bytes)
{
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    size_t mark = copy_mark(name, stem);
    text_set(original, bytes, "%.*s%s", (int)(stem - mark), name, name + stem);
    return mark > 0;
}
