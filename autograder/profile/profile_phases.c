#include "autograder/profile/profile_phases.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"

/* The phase of that name; all zeros if there is none. */
static const ProfilePhase *phase_find(const ProfilePhases *phases, const char *name)
{
    static const ProfilePhase none;
    for (size_t i = 0; i < phases->phases; i++)
        if (!strcmp(phases->phase[i].name, name)) return &phases->phase[i];
    return &none;
}

static ProfilePhase *phase_named(ProfilePhases *phases, const char *name)
{
    const ProfilePhase *known = phase_find(phases, name);
    if (*known->name) return &phases->phase[known - phases->phase];
    if (phases->phases == PROFILE_PHASES) return NULL;
    ProfilePhase *phase = &phases->phase[phases->phases++];
    *phase = (ProfilePhase){.line = UINT32_MAX};
    text_set(phase->name, sizeof phase->name, "%s", name);
    return phase;
}

static int by_line(const void *a, const void *b)
{
    const ProfilePhase *left = a, *right = b;
    return (left->line > right->line) - (left->line < right->line);
}

void profile_phases_find(const ProfileLines *lines, double launch_cycles, ProfilePhases *phases)
{
    *phases = (ProfilePhases){0};
    for (size_t i = 0; i < lines->lines; i++) {
        const ProfileLine *line = &lines->line[i];
        ProfilePhase *phase = phase_named(phases, *line->phase ? line->phase : "other");
        if (!phase) continue;
        if (lines->cycles)
            phase->cycles += launch_cycles * (double)line->cycles / (double)lines->cycles;
        phase->instructions += line->sum.warp_instructions;
        if (line->sum.line < phase->line) phase->line = line->sum.line;
    }
    qsort(phases->phase, phases->phases, sizeof *phases->phase, by_line);
}

int profile_phases_of(const SimtProfile *profile, const char *source, ProfilePhases *phases)
{
    ProfileLines lines;
    if (profile_lines_make(profile, source, &lines)) return -1;
    profile_phases_find(&lines, (double)profile->cycles, phases);
    profile_lines_free(&lines);
    return 0;
}

int profile_phases_write(const char *path, const ProfilePhases *phases, Error *error)
{
    char text[PROFILE_PHASES * 120] = "";
    for (size_t i = 0; i < phases->phases; i++) {
        const ProfilePhase *phase = &phases->phase[i];
        text_add(text, sizeof text, "%s\t%.0f\t%" PRIu64 "\t%" PRIu32 "\n", phase->name,
                 phase->cycles, phase->instructions, phase->line);
    }
    return file_write(path, text, error);
}

int profile_phases_read(const char *path, ProfilePhases *phases, Error *error)
{
    char *text = file_text(path, error), *rest = text;
    *phases = (ProfilePhases){0};
    if (!text) return -1;
    for (char *line; (line = strsep(&rest, "\n"));) {
        ProfilePhase read = {0};
        if (sscanf(line, "%47[^\t]\t%lf\t%" SCNu64 "\t%" SCNu32, read.name, &read.cycles,
                   &read.instructions, &read.line) != 4)
            continue;
        ProfilePhase *phase = phase_named(phases, read.name);
        if (phase) *phase = read;
    }
    free(text);
    return 0;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static void phase_row(Table *table, const char *name, const ProfilePhase *mine,
                      const ProfilePhase *other)
{
    char text[4][40];
    table_row(table, "%s\t%s\t%s\t%s\t%s", name, text_thousands(mine->cycles, text[0]),
              text_thousands(other->cycles, text[1]),
              text_thousands((double)mine->instructions, text[2]),
              text_thousands((double)other->instructions, text[3]));
}

static double cycles_of(const ProfilePhases *phases)
{
    double sum = 0;
    for (size_t i = 0; i < phases->phases; i++)
        sum += phases->phase[i].cycles;
    return sum;
}

/* Names the phase with most of the additional cycles of the slower program. */
static void surplus_print(FILE *stream, const ProfilePhases *mine, const ProfilePhases *other,
                          const char *called)
{
    const ProfilePhase *worst = mine->phase, *there = phase_find(other, worst->name);
    char line[300];
    if (cycles_of(mine) < 1.05 * cycles_of(other)) return;
    for (size_t i = 1; i < mine->phases; i++) {
        const ProfilePhase *phase = &mine->phase[i], *beside = phase_find(other, phase->name);
        if (phase->cycles - beside->cycles > worst->cycles - there->cycles)
            worst = phase, there = beside;
    }
    if (strcmp(worst->name, "other") == 0)
        text_set(line, sizeof line, "%s",
                 "Most of the difference is outside of the phases, in the code before and between "
                 "them: ");
    else
        text_set(line, sizeof line, "Most of the difference is in %s: ", worst->name);
    if (there->cycles >= 1 && there->instructions)
        text_add(line, sizeof line,
                 "%.1f times the cycles that the %s spends there, %.1f times its instructions.",
                 worst->cycles / there->cycles, called,
                 (double)worst->instructions / (double)there->instructions);
    else
        text_add(line, sizeof line, "the %s has nothing there.", called);
    text_wrap(stream, 2, line);
    fputc('\n', stream);
}

/* Number of common phases, without the code outside of all phases, which any two programs have. */
static size_t shared_phases(const ProfilePhases *mine, const ProfilePhases *other)
{
    size_t count = 0;
    for (size_t i = 0; i < mine->phases; i++)
        count += strcmp(mine->phase[i].name, "other") != 0 &&
                 *phase_find(other, mine->phase[i].name)->name;
    return count;
}

void profile_phases_print(FILE *stream, const ProfilePhases *mine, const ProfilePhases *other,
                          const char *called)
{
    Table table = table_start("lrrrr");
    if (shared_phases(mine, other) < 2) return;
    table_row(&table, "phase\tcycles\t%s\tinstructions\t%s", called, called);
    for (size_t i = 0; i < mine->phases; i++)
        phase_row(&table, mine->phase[i].name, &mine->phase[i],
                  phase_find(other, mine->phase[i].name));
    for (size_t i = 0; i < other->phases; i++)
        if (!*phase_find(mine, other->phase[i].name)->name)
            phase_row(&table, other->phase[i].name, &(ProfilePhase){0}, &other->phase[i]);
    fputc('\n', stream);
    surplus_print(stream, mine, other, called);
    table_end(&table, stream, 4);
}
