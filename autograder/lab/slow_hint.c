#include "autograder/lab/slow_hint.h"

#include <string.h>

#include "autograder/lab/todo.h"

/* Whether the list of names in `speed` contains the cause. */
static int is_listed(const char *speed, const char *cause)
{
    size_t length = strlen(cause);
    for (const char *at = speed; (at = strstr(at, cause)); at += length)
        if ((at == speed || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return 1;
    return 0;
}

static int is_shown(const SlowHintSituation *situation, const char *text)
{
    for (int i = 0; i < situation->shown_count; i++)
        if (!strcmp(situation->shown[i], text)) return 1;
    return 0;
}

/* The first hint for the most important cause; only_open: among the hints that
 * name a region that is not yet written, or none. */
static const char *first_hint(const LabIni *lab, const SlowCause *cause, int causes,
                              const SlowHintSituation *situation, int only_open)
{
    for (int i = 0; i < causes; i++)
        for (int j = 0; j < lab->hints; j++) {
            const LabHint *hint = &lab->hint[j];
            if (!is_listed(hint->speed, slow_name(cause[i]))) continue;
            if (is_shown(situation, hint->text)) continue;
            if (!only_open || todo_hint_applies(situation->source, situation->skeleton, hint->text))
                return hint->text;
        }
    return NULL;
}

const char *slow_hint_choose(const LabIni *lab, const SlowCause *cause, int causes,
                             const SlowHintSituation *situation)
{
    const char *hint = first_hint(lab, cause, causes, situation, 1);
    return hint ? hint : first_hint(lab, cause, causes, situation, 0);
}
