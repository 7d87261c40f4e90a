/* survey.c - commands that execute the launch again and observe its accesses: the readers of a
 * place, and the writers of a tile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

static void readers_print(Session *s)
{
    const Debugger *d = &s->debugger;
    const Survey *survey = &s->survey;
    uint32_t line;
    say(s, "%s was read %llu times in this launch up to here%s\n", s->survey_name,
        (unsigned long long)survey->all, survey->parties ? ":" : ".");
    for (uint32_t i = 0; i < survey->parties; i++) {
        const Party *party = &survey->party[i];
        const uint32_t *grid = d->launch->launch->grid;
        const char *file = source_line(d->map->kernel, party->from, &line);
        say(s, "  block (%llu,%llu,%llu) thread (%u,%u,%u) at %s:%u, %llu time%s\n",
            (unsigned long long)(party->block % grid[0]),
            (unsigned long long)(party->block / grid[0] % grid[1]),
            (unsigned long long)(party->block / grid[0] / grid[1]), party->thread[0],
            party->thread[1], party->thread[2], file, line, (unsigned long long)party->count,
            party->count > 1 ? "s" : "");
    }
    if (survey->parties == PARTIES) say(s, "  ... and others\n");
}

static int survey_start(Session *s, void (*after)(Session *s))
{
    Error error;
    if (debugger_survey(&s->debugger, &s->survey, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    s->after_survey = after;
    return 1;
}

int survey_end(Session *s, const Stop *stop)
{
    void (*after)(Session * session) = s->after_survey;
    if (!after || stop->kind != STOP_ARRIVED) return 0;
    s->after_survey = NULL;
    after(s);
    return 1;
}

int command_readers(Session *s, const char *arguments)
{
    uint64_t address, bytes;
    const Type *type;
    Error error;
    if (!*arguments ||
        debugger_locate(&s->debugger, arguments, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n",
            *arguments ? error.text : "Say what: readers x[0,0,1,1] or another place in memory.");
        return 0;
    }
    s->survey = (Survey){.address = address, .bytes = bytes, .reads = 1};
    s->survey.is_block = address < DEVICE_BASE, s->survey.block = s->debugger.focus.block;
    snprintf(s->survey_name, sizeof s->survey_name, "%s", arguments);
    return survey_start(s, readers_print);
}

static void tile_print(Session *s)
{
    Debugger *d = &s->debugger;
    Survey *survey = &s->survey;
    uint32_t rows = s->tile_rows, columns = s->tile_columns, width = 1, wide = 1, stale = 0;
    uint64_t latest = 0, step = s->tile_type->bytes;
    const Warp *warp = debugger_warp(d);
    char why[VALUE_WHY], text[64];
    for (uint64_t i = 0; i < survey->bytes / 4; i++)
        if (survey->word[i].count && survey->word[i].epoch > latest) latest = survey->word[i].epoch;
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1)
            say(s,
                "%s, %u rows of %u; * was written before the latest barrier that a write follows, "
                ". by no thread of this block:\n",
                s->survey_name, rows, columns);
        if (pass == 2) say(s, "written by thread (x,y,z):\n");
        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t c = 0; c < columns; c++) {
                uint64_t at = ((uint64_t)r * columns + c) * step;
                const Party *party = &survey->word[at / 4];
                const unsigned char *bytes =
                    lane_memory(warp, d->focus.lane, survey->address + at, step, why, sizeof why);
                Value value = {.type = s->tile_type, .home = HOME_MEMORY, .valid = FULL_MASK};
                value.address[d->focus.lane] = survey->address + at;
                value_load(warp, &value, 1u << d->focus.lane);
                int old = party->count && party->epoch < latest;
                if (!bytes)
                    snprintf(text, sizeof text, "?");
                else if (!party->count)
                    snprintf(text, sizeof text, ".");
                else if (pass < 2)
                    value_print(warp, &value, d->focus.lane, 0, text, sizeof text - 2);
                else
                    snprintf(text, sizeof text, "%u,%u,%u", party->thread[0], party->thread[1],
                             party->thread[2]);
                if (old && pass < 2) strcat(text, "*"), stale += pass == 1;
                uint32_t length = (uint32_t)strlen(text);
                if (!pass) {
                    if (length > width) width = length;
                    snprintf(text, sizeof text, "%u,%u,%u", party->thread[0], party->thread[1],
                             party->thread[2]);
                    if (strlen(text) > wide) wide = (uint32_t)strlen(text);
                    continue;
                }
                say(s, "%*s%s", (int)(pass == 1 ? width : wide) + 1, text,
                    c + 1 == columns ? "\n" : "");
            }
        }
    }
    if (stale)
        say(s, "%u words are stale: no thread has written them since the latest barrier.\n", stale);
    free(survey->word);
    survey->word = NULL;
}

/* Finds a pointer's target. -1: the expression is none. */
static int pointer_locate(Session *s, const char *name, uint64_t *address, const Type **type)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value = {.type = &TYPE_OF_VOID};
    Error error;
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) return -1;
    Expression *expression = expression_parse(name, NULL, &error);
    if (!expression) return -1;
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid || value.type->kind != TYPE_POINTER) return -1;
    *address = (uint64_t)value.i[d->focus.lane], *type = value.type->target;
    return 0;
}

int command_tile(Session *s, const char *arguments)
{
    enum { WORDS_MOST = 1 << 16 };
    char name[EXPRESSION_TEXT];
    unsigned rows = 0, columns = 0;
    uint64_t address, bytes;
    const Type *type, *element;
    Error error;
    if (sscanf(arguments, "%255s %ux%u", name, &rows, &columns) < 1) {
        say(s, "Say which: tile NAME ROWSxCOLUMNS.\n");
        return 0;
    }
    if (pointer_locate(s, name, &address, &type) != 0 &&
        debugger_locate(&s->debugger, name, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    bytes = type->bytes;
    for (element = type; element->kind == TYPE_ARRAY; element = element->target)
        continue;
    if (!columns) {
        if (type->kind != TYPE_ARRAY) {
            say(s, "The size is missing: tile %s ROWSxCOLUMNS.\n", name);
            return 0;
        }
        columns = (unsigned)(type->target->kind == TYPE_ARRAY ? type->target->bytes / element->bytes
                                                              : type->count);
        rows = columns ? (unsigned)(bytes / element->bytes / columns) : 0;
    }
    if (!rows || !columns || (uint64_t)rows * columns > WORDS_MOST || !type_is_scalar(element)) {
        say(s, "A tile has up to %d numbers.\n", WORDS_MOST);
        return 0;
    }
    if (address - SHARED_WINDOW >= WINDOW_BYTES) {
        say(s, "%s is not in shared memory.\n", name);
        return 0;
    }
    s->survey = (Survey){.address = address & ~3ull,
                         .bytes = ((uint64_t)rows * columns * element->bytes + 3) / 4 * 4,
                         .writes = 1,
                         .is_block = 1,
                         .block = s->debugger.focus.block};
    s->survey.word = calloc(s->survey.bytes / 4 + 1, sizeof *s->survey.word);
    if (!s->survey.word) return 0;
    s->tile_rows = rows, s->tile_columns = columns, s->tile_type = element;
    snprintf(s->survey_name, sizeof s->survey_name, "%s", name);
    int status = survey_start(s, tile_print);
    if (!status) free(s->survey.word), s->survey.word = NULL;
    return status;
}

int command_info_history(Session *s)
{
    const Debugger *d = &s->debugger;
    uint64_t checkpoints = 0, executed = 0;
    for (uint32_t i = 0; i < d->history.launches; i++) {
        checkpoints += d->history.launch[i].checkpoints;
        executed += d->history.launch[i].furthest;
    }
    say(s, "%u launches with %llu warp instructions, %llu checkpoints, %llu MiB of at most %llu.\n",
        d->history.launches, (unsigned long long)executed, (unsigned long long)checkpoints,
        (unsigned long long)(d->history.bytes >> 20), HISTORY_BYTES >> 20);
    say(s, "The last command into the past executed %llu warp instructions again.\n",
        (unsigned long long)d->repeated);
    return 0;
}
