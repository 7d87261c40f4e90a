#include "autograder/lab/lab_shape.h"

#include <string.h>

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
