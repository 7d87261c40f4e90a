#include "autograder/lab/lab_shape.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/text.h"

void lab_shape_print(const LabIni *lab, const Operation *operation, const Problem *problem,
                     char *text, size_t bytes)
{
    size_t named = 0;
    if (lab->operations > 1) {
        text_set(text, bytes, "%s ", operation->name);
        named = strlen(text);
    }
    operation->print(problem, text + named, bytes - named);
}

const char *lab_shape_operation(const LabIni *lab, const char *text, const Operation **operation,
                                Error *error)
{
    char known[64 * LAB_OPERATIONS] = "";
    text += strspn(text, " ");
    size_t length = strcspn(text, " ");
    *operation = lab->operation[0];
    if (!length || memchr(text, '=', length)) return text;
    for (int i = 0; i < lab->operations; i++) {
        const char *name = lab->operation[i]->name;
        text_add(known, sizeof known, "%s%s", i ? ", " : "", name);
        if (strlen(name) != length || strncmp(name, text, length) != 0) continue;
        *operation = lab->operation[i];
        return text + length;
    }
    error_set(error, "'%.*s' is none of this lab's operations: %s",
              (int)(length < 40 ? length : 40), text, known);
    return NULL;
}

const Operation *lab_shape_parse(const LabIni *lab, const char *text, Problem *problem,
                                 Error *error)
{
    const Operation *operation;
    const char *shape = lab_shape_operation(lab, text, &operation, error);
    return shape && !operation->parse(shape, problem, error) ? operation : NULL;
}

/* ---- layers of networks ------------------------------------------------------------------ */

/* The rest of the table's line that starts with `name` and a tab, after the tab; or NULL. */
static const char *row_find(const char *table, const char *name, size_t length)
{
    for (const char *line = table; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, length) && line[length] == '\t') return line + length + 1;
    }
    return NULL;
}

/* Whether `key=` is one of the words of `text`. */
static int gives(const char *text, const char *key, size_t length)
{
    for (const char *word = text; *word; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        if (!strncmp(word, key, length) && word[length] == '=') return 1;
    }
    return 0;
}

int lab_shape_layer(const char *root, const char *text, char shape[LAB_SHAPE_TEXT], Error *error)
{
    char path[1024];
    const char *slash = strchr(text, '/'), *word = slash;
    text_set(shape, LAB_SHAPE_TEXT, "%s", text);
    if (!slash) return 0;
    while (word > text && word[-1] != ' ')
        word--;
    const char *layer = slash + 1, *rest = layer + strcspn(layer, " ");
    int network = (int)(slash - word), length = (int)(rest - layer), shown = 60;
    text_set(path, sizeof path, "%s/datasets/networks/%.*s.tsv", root, network, word);
    char *table = file_text(path, NULL);
    if (!table)
        return error_set(error, "'%.*s' is none of the networks in datasets/networks",
                         network < shown ? network : shown, word);
    const char *row = row_find(table, layer, (size_t)length);
    if (!row)
        error_set(error, "%.*s has no layer '%.*s'", network, word, length < shown ? length : shown,
                  layer);
    text_set(shape, LAB_SHAPE_TEXT, "%.*s", (int)(word - text), text);
    while (row && *row && *row != '\t' && *row != '\n') {
        size_t bytes = strcspn(row, " \t\n");
        if (!gives(rest, row, strcspn(row, "=")))
            text_add(shape, LAB_SHAPE_TEXT, "%.*s ", (int)bytes, row);
        row += bytes;
        row += *row == ' ';
    }
    text_add(shape, LAB_SHAPE_TEXT, "%s", rest);
    int found = row != NULL;
    free(table);
    return found ? 0 : -1;
}
