#include "autograder/lab/slow_hint.h"

#include <stdlib.h>
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

/* Whether the first region that the hint names is one of the case's, or it names none. */
static int is_of_case(const SlowHintSituation *situation, const char *text)
{
    const char *at = strstr(text, "TODO(");
    const long region = at ? strtol(at + strlen("TODO("), NULL, 10) : situation->first_region;
    return region >= situation->first_region && region <= situation->last_region;
}

/* Which hints are considered: those of which at least one named region is not yet written, or that
 * name none; those about the case's regions. */
typedef struct Consider {
    int only_open, only_of_case; /* Booleans */
} Consider;

/* The first hint for the most important cause. */
static const char *first_hint(const LabIni *lab, const SlowCause *cause, int causes,
                              const SlowHintSituation *situation, Consider consider)
{
    for (int i = 0; i < causes; i++)
        for (int j = 0; j < lab->hints; j++) {
            const LabHint *hint = &lab->hint[j];
            if (!is_listed(hint->speed, slow_name(cause[i]))) continue;
            if (is_shown(situation, hint->text)) continue;
            if (consider.only_of_case && !is_of_case(situation, hint->text)) continue;
            if (!consider.only_open ||
                todo_hint_applies(situation->source, situation->skeleton, hint->text))
                return hint->text;
        }
    return NULL;
}

const char *slow_hint_choose(const LabIni *lab, const SlowCause *cause, int causes,
                             const SlowHintSituation *situation)
{
    static const Consider IN_ORDER[] = {{1, 1}, {0, 1}, {1, 0}, {0, 0}};
    const char *hint = NULL;
    for (int i = situation->last_region ? 0 : 2; i < 4 && !hint; i++)
        hint = first_hint(lab, cause, causes, situation, IN_ORDER[i]);
    return hint;
}

static int has_cases(const LabIni *lab, int stage)
{
    for (int i = 0; i < lab->cases; i++)
        if (lab->item[i].stage == stage) return 1;
    return 0;
}

void slow_hint_regions(const LabIni *lab, int stage, SlowHintSituation *situation)
{
    situation->first_region = situation->last_region = 0;
    if (stage < 1 || stage > lab->stages) return;
    int last = stage;
    while (last < lab->stages && !has_cases(lab, last + 1))
        last++;
    situation->first_region = lab->stage[stage - 1].first;
    situation->last_region = lab->stage[last - 1].last;
}
