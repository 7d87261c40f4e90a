#include "autograder/lab/hidden.h"

#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

enum { DRAWS = 100, SHAPE_TEXT = 512 };

/* Alternative `index` modulo their number of "a | b | c", without surrounding blanks. */
static void alternative(const char *with, int index, char *text, size_t bytes)
{
    int count = 1;
    for (const char *at = with; (at = strchr(at, '|')); at++)
        count++;
    for (index %= count; index > 0; index--)
        with = strchr(with, '|') + 1;
    with += strspn(with, " ");
    size_t length = strcspn(with, "|");
    while (length && with[length - 1] == ' ')
        length--;
    text_set(text, bytes, "%.*s", (int)length, with);
}

/* Whether `keys` ("C=3 layout=chwn") sets the key of `pair` ("C=16"). */
static int sets_key(const char *keys, const char *pair)
{
    size_t length = strcspn(pair, "=") + 1;
    for (const char *at = keys; *at; at += strcspn(at, " "), at += strspn(at, " "))
        if (!strncmp(at, pair, length)) return 1;
    return 0;
}

/* `shape` with its keys replaced by those in `keys`. */
static int changed(const Operation *operation, const char *shape, const char *keys,
                   Problem *problem, Error *error)
{
    char text[SHAPE_TEXT], copy[SHAPE_TEXT], *rest = NULL;
    text_set(copy, sizeof copy, "%s", shape);
    text_set(text, sizeof text, "%s", keys);
    for (char *pair = strtok_r(copy, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest))
        if (!sets_key(keys, pair)) text_add(text, sizeof text, " %s", pair);
    return operation->parse(text, problem, error);
}

const Operation *hidden_draw(const LabIni *lab, Random *random, int index, Problem *problem)
{
    char keys[SHAPE_TEXT], shape[SHAPE_TEXT];
    Error error;
    const Operation *operation = lab->operation[index % lab->operations];
    int kind = index / lab->operations;
    operation->draw(random, kind, lab->hidden_max_macs, problem);
    if (!*lab->hidden_with) return operation;
    alternative(lab->hidden_with, kind, keys, sizeof keys);
    for (int i = 0; i < DRAWS; i++) {
        operation->print(problem, shape, sizeof shape);
        if (!changed(operation, shape, keys, problem, &error)) return operation;
        operation->draw(random, kind, lab->hidden_max_macs, problem);
    }
    /* After a hundred unsuitable draws, uses the operation's example. */
    changed(operation, operation->example, keys, problem, &error);
    return operation;
}

int hidden_check(const LabIni *lab, Error *error)
{
    char keys[SHAPE_TEXT];
    Problem problem;
    int count = 1;
    for (const char *at = lab->hidden_with; (at = strchr(at, '|')); at++)
        count++;
    for (int i = 0; *lab->hidden_with && i < count * lab->operations; i++) {
        const Operation *operation = lab->operation[i % lab->operations];
        alternative(lab->hidden_with, i / lab->operations, keys, sizeof keys);
        if (changed(operation, operation->example, keys, &problem, error)) return -1;
    }
    return 0;
}
