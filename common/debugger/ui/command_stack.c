/* command_stack.c - commands for the stack of calls and for source lines. */
#include <stdio.h>
#include <string.h>

#include "common/debugger/ui/commands.h"

int command_backtrace(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(d);
    (void)arguments;
    if (!warp) {
        say(s, "No stack.\n");
        return 0;
    }
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    for (uint32_t i = 0; i < count; i++)
        frame_print(s, i, 0);
    if (warp->calls.count)
        say(s, "(%u more calls of functions that call themselves are not shown)\n",
            warp->calls.count);
    return 0;
}

static int frame_select(Session *s, long number)
{
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(d);
    if (!warp) {
        say(s, "No stack.\n");
        return 0;
    }
    long count = frames_at(d->map, debugger_ins(d, warp), all);
    if (number < 0 || number >= count) {
        say(s, number < 0 ? "Bottom (innermost) frame selected; you can't go down.\n"
                          : "Initial frame selected; you can't go up.\n");
        return 0;
    }
    d->focus.frame = (uint32_t)number;
    s->list_line = 0;
    frame_print(s, d->focus.frame, 0);
    if (all[number].file) {
        const char *text = source_text_line(all[number].file, all[number].line);
        if (text) say(s, "%u\t%s\n", all[number].line, text);
    }
    return 0;
}

int command_frame(Session *s, const char *arguments)
{
    long number = s->debugger.focus.frame;
    if (*arguments && !command_number(arguments, &number)) {
        say(s, "The frame is a number, as backtrace shows it.\n");
        return 0;
    }
    return frame_select(s, number);
}

int command_up(Session *s, const char *arguments)
{
    (void)arguments;
    return frame_select(s, (long)s->debugger.focus.frame + 1);
}

int command_down(Session *s, const char *arguments)
{
    (void)arguments;
    return frame_select(s, (long)s->debugger.focus.frame - 1);
}

static int file_any(void *context, KernelMap *map)
{
    Session *s = context;
    for (uint32_t i = 0; i < map->kernel->origins; i++) {
        if (map->spot[i].is_toolkit) continue;
        const char *file = file_of(map, map->spot[i].file);
        if (!file || !source_lines(file)) continue;
        snprintf(s->list_file, sizeof s->list_file, "%s", file);
        s->list_line = map->spot[i].line;
        return 1;
    }
    return 0;
}

typedef struct Find {
    const char *name;
    Session *session;
} Find;

static int function_any(void *context, KernelMap *map)
{
    const Find *find = context;
    uint32_t ins[1];
    if (!function_instructions(map, find->name, ins, 1)) return 0;
    const Spot *spot = spot_of(map, &map->kernel->code[ins[0]]);
    const char *file = file_of(map, spot->file);
    if (!file) return 0;
    snprintf(find->session->list_file, sizeof find->session->list_file, "%s", file);
    find->session->list_line = spot->line;
    return 1;
}

int command_list(Session *s, const char *arguments)
{
    enum { SHOWN = 10, BEFORE = 5 };
    Frame frame;
    uint32_t first, last = 0;
    unsigned from, to;
    int has_frame = debugger_frame(&s->debugger, &frame) == 0 && frame.file;
    if (*arguments || !s->list_line) {
        if (has_frame)
            snprintf(s->list_file, sizeof s->list_file, "%s", frame.file);
        else if (!*s->list_file)
            debugger_kernels(&s->debugger, file_any, s);
    }
    first = s->list_line;
    if (*arguments && sscanf(arguments, "%u,%u", &from, &to) == 2) {
        first = from, last = to;
    } else if (*arguments) {
        const char *colon = strrchr(arguments, ':'), *number = colon ? colon + 1 : arguments;
        long line;
        Find find = {arguments, s};
        if (command_number(number, &line) && line > 0) {
            first = line > BEFORE ? (uint32_t)line - BEFORE : 1;
        } else if (debugger_kernels(&s->debugger, function_any, &find)) {
            first = s->list_line > BEFORE ? s->list_line - BEFORE : 1;
        } else {
            say(s, "Function \"%s\" not defined.\n", arguments);
            return 0;
        }
    } else if (!first) {
        uint32_t line = has_frame ? frame.line : 1;
        first = line > BEFORE ? line - BEFORE : 1;
    }
    if (!*s->list_file) {
        say(s, "No source is known.\n");
        return 0;
    }
    uint32_t all = source_lines(s->list_file);
    if (!all || first > all) {
        say(s,
            all ? "Line number %u out of range; \"%s\" has %u lines.\n"
                : "%u\tin %s: the file cannot be read.%.0u\n",
            first, file_base(s->list_file), all);
        return 0;
    }
    if (!last) last = first + SHOWN - 1;
    for (uint32_t line = first; line <= last && line <= all; line++)
        say(s, "%u\t%s\n", line, source_text_line(s->list_file, line));
    s->list_line = last + 1;
    return 0;
}
