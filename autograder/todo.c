#include "autograder/todo.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static size_t line_bytes(const char *line)
{
    size_t bytes = strcspn(line, "\n");
    return bytes + (line[bytes] == '\n');
}

/* The n of "// <word>(n)" at the start of a line, with what follows; 0 if the line is no such
 * marker. */
static int marker(const char *line, const char *word, const char **after)
{
    line = skip_blanks(line);
    if (strncmp(line, "//", 2)) return 0;
    line = skip_blanks(line + 2);
    if (strncmp(line, word, strlen(word))) return 0;
    char *end;
    long number = strtol(line + strlen(word), &end, 10);
    if (number < 1 || number > TODO_REGIONS || *end != ')') return 0;
    *after = end + 1;
    return (int)number;
}

static int is_comment(const char *line)
{
    return !strncmp(skip_blanks(line), "//", 2);
}

static int region_open(const char *shown, int number, const char *after, int line, TodoList *list,
                       Error *error)
{
    if (number != list->regions + 1) {
        return error_set(error, "%s:%d: TODO(%d) stands where TODO(%d) is due", shown, line, number,
                         list->regions + 1);
    }
    TodoRegion *region = &list->region[list->regions++];
    *region = (TodoRegion){.number = number, .line = line};
    if (*after != ':')
        return error_set(error, "%s:%d: write TODO(%d): and a sentence", shown, line, number);
    after = skip_blanks(after + 1);
    snprintf(region->sentence, sizeof region->sentence, "%.*s", (int)strcspn(after, "\r\n"), after);
    if (!isupper((unsigned char)region->sentence[0])) {
        return error_set(error, "%s:%d: TODO(%d) needs a sentence that says what to do", shown,
                         line, number);
    }
    return 0;
}

int todo_scan(const char *shown, const char *text, TodoList *list, Error *error)
{
    int line = 0, open = 0, in_task = 0;
    *list = (TodoList){0};
    for (const char *at = text; *at; at += line_bytes(at)) {
        const char *after = "";
        line++;
        TodoRegion *region = open ? &list->region[list->regions - 1] : NULL;
        int begins = marker(at, "TODO(", &after), ends = marker(at, "END TODO(", &after);
        if (begins) {
            if (open)
                return error_set(error, "%s:%d: TODO(%d) begins before END TODO(%d)", shown, line,
                                 begins, open);
            if (region_open(shown, begins, after, line, list, error)) return -1;
            open = begins;
            in_task = 1;
            continue;
        }
        if (ends && ends != open) {
            return error_set(error, "%s:%d: END TODO(%d) ends nothing", shown, line, ends);
        }
        if (in_task && (ends || !is_comment(at))) {
            region->body = (size_t)(at - text);
            in_task = 0;
        }
        if (ends) {
            region->body_end = (size_t)(at - text);
            open = 0;
        }
    }
    return open ? error_set(error, "%s: there is no END TODO(%d)", shown, open) : 0;
}

static int is_stub_line(const char *line, size_t bytes)
{
    char code[256];
    size_t n = 0;
    for (size_t i = 0; i < bytes && n + 1 < sizeof code; i++)
        if (!isspace((unsigned char)line[i])) code[n++] = line[i];
    code[n] = 0;
    if (!n || !strncmp(code, "//", 2) || !strcmp(code, "return0;")) return 1;
    if (!strncmp(code, "/*", 2) && n >= 4 && strstr(code, "*/") == code + n - 2) return 1;
    return !strncmp(code, "(void)", 6) && strchr(code, ';') == code + n - 1 &&
           !strpbrk(code + 6, "(=+-");
}

int todo_is_stub(const char *text, const TodoRegion *region)
{
    for (size_t at = region->body; at < region->body_end;) {
        size_t bytes = line_bytes(text + at);
        if (!is_stub_line(text + at, bytes)) return 0;
        at += bytes;
    }
    return 1;
}

const TodoRegion *todo_first_open(const char *text, const TodoList *list)
{
    for (int i = 0; i < list->regions; i++)
        if (todo_is_stub(text, &list->region[i])) return &list->region[i];
    return NULL;
}

/* Writes the stub of one region: nothing, or "return 0;" indented as the last statement, when that
 * is a return. */
static size_t stub_write(char *out, const char *text, const TodoRegion *region)
{
    size_t last = region->body_end, last_bytes = 0;
    for (size_t at = region->body; at < region->body_end; at += line_bytes(text + at)) {
        const char *code = skip_blanks(text + at);
        if (*code == '\n' || is_comment(code)) continue;
        last = at;
        last_bytes = (size_t)(code - (text + at));
    }
    if (last == region->body_end || strncmp(text + last + last_bytes, "return ", 7)) return 0;
    memcpy(out, text + last, last_bytes);
    memcpy(out + last_bytes, "return 0;\n", 10);
    return last_bytes + 10;
}

char *todo_skeleton(const char *solution, const TodoList *list)
{
    char *skeleton = malloc(strlen(solution) + 16 * (size_t)list->regions + 1);
    size_t out = 0, from = 0;
    if (!skeleton) return NULL;
    for (int i = 0; i < list->regions; i++) {
        const TodoRegion *region = &list->region[i];
        memcpy(skeleton + out, solution + from, region->body - from);
        out += region->body - from;
        out += stub_write(skeleton + out, solution, region);
        from = region->body_end;
    }
    strcpy(skeleton + out, solution + from);
    return skeleton;
}

static int line_of(const char *text, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

/* Compares two stretches of fixed text; the offset of the first difference, or -1. */
static long difference(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t i = 0, both = a_bytes < b_bytes ? a_bytes : b_bytes;
    while (i < both && a[i] == b[i])
        i++;
    return i == both && a_bytes == b_bytes ? -1 : (long)i;
}

int todo_compare(const char *shown, const char *student, const char *solution, Error *error)
{
    TodoList mine, theirs;
    if (todo_scan(shown, student, &mine, error)) return -1;
    if (todo_scan("the solution", solution, &theirs, error)) return -1;
    if (mine.regions != theirs.regions) {
        return error_set(error, "%s has %d TODO regions, the solution %d", shown, mine.regions,
                         theirs.regions);
    }
    size_t from = 0, other = 0;
    for (int i = 0; i <= mine.regions; i++) {
        size_t to = i < mine.regions ? mine.region[i].body : strlen(student);
        size_t end = i < mine.regions ? theirs.region[i].body : strlen(solution);
        long at = difference(student + from, to - from, solution + other, end - other);
        if (at >= 0) {
            return error_set(error, "%s:%d: differs from the solution outside the TODO regions",
                             shown, line_of(student, from + (size_t)at));
        }
        if (i == mine.regions) break;
        from = mine.region[i].body_end;
        other = theirs.region[i].body_end;
    }
    return 0;
}
