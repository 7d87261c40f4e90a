/* slow_phase.c - the source phase with most of the additional instructions. */
#include <string.h>

#include "autograder/lab/slow.h"
#include "autograder/text/phase.h"
#include "autograder/text/text.h"

enum { PHASES = 32 };

typedef struct Phase {
    char name[48];
    double mine, other; /* warp instructions */
} Phase;

typedef struct Phases {
    Phase phase[PHASES];
    int count;
    double surplus; /* additional instructions in total, including those outside of all phases */
} Phases;

static Phase *phase_named(Phases *phases, const char *name)
{
    for (int i = 0; i < phases->count; i++)
        if (!strcmp(phases->phase[i].name, name)) return &phases->phase[i];
    if (phases->count == PHASES) return NULL;
    Phase *phase = &phases->phase[phases->count++];
    text_set(phase->name, sizeof phase->name, "%s", name);
    return phase;
}

static double line_work(const LineWork *work, uint32_t line)
{
    for (int i = 0; i < COST_LINES; i++)
        if (work->line[i] == line) return (double)work->warp_instructions[i];
    return 0;
}

static void phases_add(Phases *phases, const LineWork *work, const char *source, int other)
{
    PhaseReader reader;
    phase_begin(&reader, source);
    for (uint32_t number = 1; *source; number++) {
        phase_read(&reader, source);
        Phase *phase = *reader.name ? phase_named(phases, reader.name) : NULL;
        if (phase) *(other ? &phase->other : &phase->mine) += line_work(work, number);
        source += strcspn(source, "\n");
        source += *source == '\n';
    }
}

int slow_phase(const SlowSide *mine, const SlowSide *other, const char *called, char *text,
               size_t bytes)
{
    Phases phases = {.surplus = (double)mine->cost->warp_instructions -
                                (double)other->cost->warp_instructions};
    const Phase *worst = NULL;
    phases_add(&phases, &mine->cost->work, mine->source, 0);
    phases_add(&phases, &other->cost->work, other->source, 1);
    for (int i = 0; i < phases.count; i++) {
        const Phase *phase = &phases.phase[i];
        if (!worst || phase->mine - phase->other > worst->mine - worst->other) worst = phase;
    }
    *text = '\0';
    if (!worst || phases.count < 2 || phases.surplus < 0.1 * (double)other->cost->warp_instructions)
        return -1;
    if (worst->mine - worst->other < 0.5 * phases.surplus) return -1;
    int region = !strncmp(worst->name, "TODO(", strlen("TODO("));
    text_set(text, bytes,
             "Most of the additional instructions are in %s%s%s: ", region ? "" : "phase '",
             worst->name, region ? "" : "'");
    if (worst->other > 0)
        text_add(text, bytes, "%.1f times the number that %s has there.",
                 worst->mine / worst->other, called);
    else
        text_add(text, bytes, "%s has none there.", called);
    return 0;
}
