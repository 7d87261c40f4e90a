#include "autograder/lab/todo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

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

/* The n of "// <word>(n)" at the start of a line, and the rest of the line; 0 if it is no such
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
        return error_set(error, "%s:%d: TODO(%d) is where TODO(%d) is expected", shown, line,
                         number, list->regions + 1);
    }
    TodoRegion *region = &list->region[list->regions++];
    *region = (TodoRegion){.number = number, .line = line};
    if (*after != ':')
        return error_set(error, "%s:%d: write TODO(%d): and a sentence", shown, line, number);
    after = skip_blanks(after + 1);
    text_set(region->sentence, sizeof region->sentence, "%.*s", (int)strcspn(after, "\r\n"), after);
    if (!isupper((unsigned char)region->sentence[0])) {
        return error_set(error, "%s:%d: TODO(%d) needs a sentence that says what to do", shown,
                         line, number);
    }
    return 0;
}

/* Appends the sentence's continuation in the comment line `at`. */
static void sentence_add(TodoRegion *region, const char *at)
{
    size_t used = strlen(region->sentence);
    if (used && strchr(".?!", region->sentence[used - 1])) return;
    at = skip_blanks(skip_blanks(at) + strlen("//"));
    text_add(region->sentence, sizeof region->sentence, " %.*s", (int)strcspn(at, "\r\n"), at);
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
        if (in_task) sentence_add(region, at);
        if (ends) {
            region->body_end = (size_t)(at - text);
            open = 0;
        }
    }
    return open ? error_set(error, "%s: there is no END TODO(%d)", shown, open) : 0;
}

/* Copies a region's code without blanks and // comments, for comparison. */
static char *region_code(const char *text, const TodoRegion *region)
{
    char *code = malloc(region->body_end - region->body + 1);
    size_t n = 0;
    for (size_t at = region->body; code && at < region->body_end; at++) {
        if (text[at] == '/' && text[at + 1] == '/') at += strcspn(text + at, "\n");
        if (!isspace((unsigned char)text[at])) code[n++] = text[at];
    }
    if (code) code[n] = 0;
    return code;
}

int todo_is_stub(const char *text, const TodoRegion *region)
{
    static const char *const WORK[] = {"for(", "while(",        "if(",
                                       "<<<",  "__syncthreads", "atomicAdd"};
    char *code = region_code(text, region);
    int stub = code != NULL;
    for (size_t i = 0; stub && i < sizeof WORK / sizeof *WORK; i++)
        stub = !strstr(code, WORK[i]);
    free(code);
    return stub;
}

static int region_is_open(const char *text, const TodoRegion *region, const char *pristine,
                          const TodoRegion *untouched)
{
    char *mine = region_code(text, region), *stub = region_code(pristine, untouched);
    int same = mine && stub && !strcmp(mine, stub);
    free(mine);
    free(stub);
    return same;
}

const TodoRegion *todo_first_open(const char *text, const TodoList *list, const char *pristine,
                                  const TodoList *pristine_list, const char *hint)
{
    int both = list->regions < pristine_list->regions ? list->regions : pristine_list->regions;
    for (const char *at = hint; (at = strstr(at, "TODO(")); at++) {
        long number = strtol(at + strlen("TODO("), NULL, 10);
        if (number < 1 || number > both) continue;
        const TodoRegion *named = &list->region[number - 1];
        if (region_is_open(text, named, pristine, &pristine_list->region[number - 1])) return named;
    }
    for (int i = 0; i < both; i++)
        if (region_is_open(text, &list->region[i], pristine, &pristine_list->region[i]))
            return &list->region[i];
    return NULL;
}

int todo_count_written(const char *text, const TodoList *list, const char *pristine,
                       const TodoList *pristine_list, int first, int last)
{
    int both = list->regions < pristine_list->regions ? list->regions : pristine_list->regions;
    int written = 0;
    for (int i = first - 1; i < last && i < both; i++)
        written += !region_is_open(text, &list->region[i], pristine, &pristine_list->region[i]);
    return written;
}

int todo_hint_applies(const char *text, const char *pristine, const char *hint)
{
    TodoList list, theirs;
    if (!text || !pristine || todo_scan("source", text, &list, NULL) ||
        todo_scan("skeleton", pristine, &theirs, NULL))
        return 1;
    int both = list.regions < theirs.regions ? list.regions : theirs.regions, named = 0;
    for (const char *at = hint; (at = strstr(at, "TODO(")); at++) {
        long number = strtol(at + strlen("TODO("), NULL, 10);
        if (number < 1 || number > both) continue;
        named = 1;
        if (region_is_open(text, &list.region[number - 1], pristine, &theirs.region[number - 1]))
            return 1;
    }
    return !named;
}

/* Appends `bytes` of `from` at `to`; returns the end. */
static char *append(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

char *todo_until(const char *text, const char *pristine, int last, Error *error)
{
    TodoList list, stubs;
    if (todo_scan("the source", text, &list, error) ||
        todo_scan("the skeleton", pristine, &stubs, error))
        return NULL;
    if (list.regions != stubs.regions) {
        error_set(error, "the source has %d TODO regions, the skeleton %d", list.regions,
                  stubs.regions);
        return NULL;
    }
    char *until = malloc(strlen(text) + strlen(pristine) + 1), *to = until;
    if (!until) {
        error_set(error, "out of memory");
        return NULL;
    }
    size_t from = 0; /* offset in `text` of what is not copied yet */
    for (int i = last < 0 ? 0 : last; i < list.regions; i++) {
        const TodoRegion *stub = &stubs.region[i];
        to = append(to, text + from, list.region[i].body - from);
        to = append(to, pristine + stub->body, stub->body_end - stub->body);
        from = list.region[i].body_end;
    }
    to = append(to, text + from, strlen(text + from));
    *to = 0;
    return until;
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
