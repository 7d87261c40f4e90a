/* form.c - reading the tables of forms. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/conformance/form.h"

enum { CHOICES = 16, FILE_MOST = 1 << 20 };

/* One line, and what has been chosen in the braces so far. */
typedef struct Line {
    FormTable *table;
    const char *group, *kinds;
    uint32_t number, choices;
    char choice[CHOICES][64];
    Error *error;
} Line;

static int line_error(const Line *line, const char *what, const char *which)
{
    return error_set(line->error, "%s.forms line %u: %s%s%s", line->group, line->number, what,
                     which ? ": " : "", which ? which : "");
}

static int result_type(const ValueTable *values, const char *word, ValueType *type)
{
    const ValueList *list = values_find(values, word);
    if (!list) return -1;
    *type = list->type;
    return 0;
}

/* $3 is what was chosen in the third pair of braces. */
static const char *chosen(const Line *line, const char *word)
{
    uint32_t n = word[0] == '$' ? (uint32_t)atoi(word + 1) : 0;
    return n && n <= line->choices ? line->choice[n - 1] : word;
}

static int tolerance_parse(const Line *line, Form *form, const char *text)
{
    static const char *const KINDS[] = {"", "ulp", "rel", "abs"};
    char kind[8];
    if (sscanf(text, " %7s %lf", kind, &form->bound) == 2)
        for (int i = 1; i < 4; i++)
            if (strcmp(kind, KINDS[i]) == 0) return form->tolerance = (ToleranceKind)i, 0;
    return line_error(line, "want a tolerance 'ulp N', 'rel E' or 'abs E'", text);
}

static int kinds_parse(const Line *line, Form *form)
{
    char copy[256], *save = NULL, *comma;
    int operands = 0;
    snprintf(copy, sizeof copy, "%s", line->kinds);
    if ((comma = strchr(copy, ',')) != NULL) {
        *comma = 0;
        if (tolerance_parse(line, form, comma + 1) != 0) return -1;
    }
    for (char *word = strtok_r(copy, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        const char *name = chosen(line, word);
        if (strcmp(word, "<-") == 0 && !operands) {
            operands = 1;
        } else if (!operands) {
            if (form->results == FORM_RESULTS) return line_error(line, "too many results", NULL);
            if (result_type(&line->table->values, name, &form->result[form->results++]) != 0)
                return line_error(line, "no such type of result", name);
        } else {
            if (form->operands == FORM_OPERANDS) return line_error(line, "too many operands", NULL);
            if (!(form->operand[form->operands++] = values_find(&line->table->values, name)))
                return line_error(line, "no such list of values", name);
        }
    }
    return form->results && operands ? 0 : line_error(line, "want RESULTS <- OPERANDS", NULL);
}

/* `text` with what was chosen for each $n. */
static int choices_write(const Line *line, const char *text, char whole[FORM_TEXT])
{
    size_t used = 0;
    while (*text && used < FORM_TEXT) {
        const char *word = text[0] == '$' ? chosen(line, text) : NULL;
        if (word == text) return line_error(line, "no such choice", text);
        if (word)
            used += (size_t)snprintf(whole + used, FORM_TEXT - used, "%s", word);
        else
            whole[used++] = text[0];
        text += word ? 1 + strspn(text + 1, "0123456789") : 1;
    }
    if (used >= FORM_TEXT) return line_error(line, "too long", NULL);
    whole[used] = 0;
    return 0;
}

/* The same PTX on other lists of values, or with results of other types, is another form. */
static int form_add(const Line *line, const char *pattern)
{
    FormTable *table = line->table;
    Form form = {.group = line->group, .line = line->number};
    char text[FORM_TEXT];
    if (kinds_parse(line, &form) != 0 || choices_write(line, pattern, text) != 0) return -1;
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->form[i].text, text) == 0 &&
            memcmp(table->form[i].operand, form.operand, sizeof form.operand) == 0 &&
            memcmp(table->form[i].result, form.result, sizeof form.result) == 0)
            return line_error(line, "twice", text);
    if (table->count == table->room) {
        uint32_t room = table->room ? table->room * 2 : 256;
        Form *more = realloc(table->form, room * sizeof *more);
        if (!more) return line_error(line, "out of memory", NULL);
        table->form = more;
        table->room = room;
    }
    form.text = strdup(text);
    if (!form.text) return line_error(line, "out of memory", NULL);
    form.lanes = form_lanes(&form);
    table->form[table->count++] = form;
    return 0;
}

/* Expands the first pair of braces of `text` and continues with each choice. Braces that hold a %
 * are PTX's own. */
static int braces_expand(Line *line, const char *text, uint32_t depth)
{
    const char *open = strchr(text, '{'), *close;
    while (open && (close = strchr(open, '}')) && memchr(open, '%', (size_t)(close - open)))
        open = strchr(close, '{');
    line->choices = depth;
    if (!open) return form_add(line, text);
    if (!close || depth == CHOICES) return line_error(line, "braces that do not end", text);
    const char *at = open + 1;
    for (;;) {
        size_t length = strcspn(at, ",}");
        char whole[FORM_TEXT];
        snprintf(line->choice[depth], sizeof line->choice[depth], "%.*s", (int)length, at);
        int n = snprintf(whole, sizeof whole, "%.*s%.*s%s", (int)(open - text), text, (int)length,
                         at, close + 1);
        if (n < 0 || (size_t)n >= sizeof whole) return line_error(line, "too long", NULL);
        if (braces_expand(line, whole, depth + 1) != 0) return -1;
        if (at + length == close) return 0;
        at += length + 1;
    }
}

static int line_parse(Line *line, char *text)
{
    char *colon = strstr(text, " : ");
    if (!colon) return line_error(line, "want RESULTS <- OPERANDS : PTX", NULL);
    *colon = 0;
    line->kinds = text;
    text = colon + 3;
    text += strspn(text, " \t");
    return braces_expand(line, text, 0);
}

int forms_parse(FormTable *table, const char *group, const char *text, Error *error)
{
    char **more = realloc(table->group, (table->groups + 1) * sizeof *more), *name = strdup(group);
    if (more) table->group = more;
    if (!more || !name) {
        free(name);
        return error_set(error, "out of memory");
    }
    table->group[table->groups++] = name;
    Line line = {.table = table, .group = name, .number = 1, .error = error};
    for (; *text; line.number++) {
        size_t length = strcspn(text, "\n");
        char *copy = strndup(text, length);
        int result = copy ? 0 : error_set(error, "out of memory");
        if (copy && copy[0] && copy[0] != '#') result = line_parse(&line, copy);
        free(copy);
        if (result != 0) return -1;
        text += length + (text[length] == '\n');
    }
    return 0;
}

static char *file_text(const char *directory, const char *name, Error *error)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(FILE_MOST) : NULL;
    size_t bytes = text ? fread(text, 1, FILE_MOST - 1, file) : 0;
    if (file) fclose(file);
    if (!text) error_set(error, "cannot read %s: run from the repository's root", path);
    if (text) text[bytes] = 0;
    return text;
}

static int is_table(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 6 && strcmp(entry->d_name + length - 6, ".forms") == 0;
}

int forms_read(const char *directory, FormTable *table, Error *error)
{
    struct dirent **entry = NULL;
    *table = (FormTable){.count = 0};
    char *text = file_text(directory, "values.txt", error);
    int result = text ? values_parse(&table->values, text, error) : -1;
    int count = result == 0 ? scandir(directory, &entry, is_table, alphasort) : 0;
    free(text);
    for (int i = 0; i < count; i++) {
        char group[256];
        snprintf(group, sizeof group, "%.*s", (int)strlen(entry[i]->d_name) - 6, entry[i]->d_name);
        text = result == 0 ? file_text(directory, entry[i]->d_name, error) : NULL;
        result = text ? forms_parse(table, group, text, error) : -1;
        free(text);
        free(entry[i]);
    }
    free(entry);
    return result;
}

void forms_free(FormTable *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        free(table->form[i].text);
    for (uint32_t i = 0; i < table->groups; i++)
        free(table->group[i]);
    free(table->form);
    free(table->group);
    free(table->values.list);
    *table = (FormTable){.count = 0};
}
