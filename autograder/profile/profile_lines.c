#include "autograder/profile/profile_lines.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/files.h"
#include "autograder/text/phase.h"
#include "autograder/text/text.h"

uint64_t instruction_cycles(const SimtInstruction *instruction)
{
    uint64_t cycles = 0;
    for (int i = 0; i < SIMT_STALLS; i++)
        cycles += instruction->stall[i];
    return cycles;
}

SimtStall instruction_stall(const SimtInstruction *instruction)
{
    SimtStall most = STALL_NOT_SELECTED;
    for (int i = STALL_NOT_SELECTED; i < SIMT_STALLS; i++)
        if (instruction->stall[i] > instruction->stall[most]) most = (SimtStall)i;
    return most;
}

static void instruction_add(SimtInstruction *to, const SimtInstruction *from)
{
    to->warp_instructions += from->warp_instructions;
    to->thread_instructions += from->thread_instructions;
    to->requests += from->requests, to->sectors += from->sectors, to->l1_hits += from->l1_hits;
    to->local_requests += from->local_requests, to->local_sectors += from->local_sectors;
    to->shared_requests += from->shared_requests, to->wavefronts += from->wavefronts;
    to->branches += from->branches, to->divergent += from->divergent;
    for (int i = 0; i < SIMT_STALLS; i++)
        to->stall[i] += from->stall[i];
}

static ProfileLine *line_at(ProfileLines *lines, const char *file, uint32_t number)
{
    for (size_t i = 0; i < lines->lines; i++)
        if (lines->line[i].sum.line == number && !strcmp(lines->line[i].sum.file, file))
            return &lines->line[i];
    ProfileLine *line = &lines->line[lines->lines++];
    line->sum.file = file, line->sum.line = number;
    return line;
}

static const char *plain_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A function of another file that is inlined into the source counts for the line of its call. */
static int is_inlined(const SimtInstruction *instruction, const char *source)
{
    const char *own = plain_file(source);
    return instruction->caller && *instruction->caller && strcmp(instruction->file, own) &&
           !strcmp(instruction->caller, own);
}

static ProfileLine *line_of(ProfileLines *lines, const SimtInstruction *instruction,
                            const char *source)
{
    if (!is_inlined(instruction, source))
        return line_at(lines, instruction->file, instruction->line);
    ProfileLine *line = line_at(lines, instruction->caller, instruction->caller_line);
    const uint64_t cycles = instruction_cycles(instruction);
    line->inlined_cycles += cycles;
    if (cycles >= line->inlined_most)
        line->inlined_most = cycles, line->inlined = instruction->file;
    return line;
}

/* Gives the lines of `source` their text and their phase. */
static void texts_read(ProfileLines *lines, const char *source)
{
    PhaseReader phase;
    char *text = file_text(source, NULL), *rest = text;
    if (!text) return;
    phase_begin(&phase, text);
    for (uint32_t number = 1; rest; number++) {
        char *at = strsep(&rest, "\n");
        phase_read(&phase, at);
        while (isspace((unsigned char)*at))
            at++;
        for (size_t i = 0; i < lines->lines; i++) {
            ProfileLine *line = &lines->line[i];
            if (line->sum.line != number || strcmp(line->sum.file, plain_file(source))) continue;
            text_set(line->text, sizeof line->text, "%s", at);
            text_set(line->phase, sizeof line->phase, "%s", phase.name);
        }
    }
    free(text);
}

static int by_cycles(const void *a, const void *b)
{
    const ProfileLine *left = a, *right = b;
    if (left->cycles != right->cycles) return left->cycles < right->cycles ? 1 : -1;
    return left->sum.line < right->sum.line ? -1 : left->sum.line > right->sum.line;
}

int profile_lines_make(const SimtProfile *profile, const char *source, ProfileLines *lines)
{
    *lines = (ProfileLines){.line = calloc(profile->instructions + 1, sizeof *lines->line)};
    if (!lines->line) return -1;
    for (uint32_t i = 0; i < profile->instructions; i++) {
        const SimtInstruction *instruction = &profile->instruction[i];
        if (!instruction->warp_instructions) continue;
        ProfileLine *line = line_of(lines, instruction, source);
        instruction_add(&line->sum, instruction);
        line->cycles += instruction_cycles(instruction);
        lines->cycles += instruction_cycles(instruction);
    }
    texts_read(lines, source);
    qsort(lines->line, lines->lines, sizeof *lines->line, by_cycles);
    return 0;
}

void profile_lines_free(ProfileLines *lines)
{
    free(lines->line);
    *lines = (ProfileLines){0};
}
