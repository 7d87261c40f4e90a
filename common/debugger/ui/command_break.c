/* command_break.c - breakpoints, watchpoints and catchpoints. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/debugger/ui/commands.h"

/* "PLACE if CONDITION" */
static void place_split(const char *arguments, char *place, size_t room, const char **condition)
{
    const char *at = arguments, *found = NULL;
    if (!strncmp(at, "if ", 3)) found = at;
    for (; *at && !found; at++)
        if (isspace((unsigned char)*at) && !strncmp(command_skip(at), "if", 2) &&
            (isspace((unsigned char)command_skip(at)[2]) || command_skip(at)[2] == '('))
            found = command_skip(at);
    size_t length = found ? (size_t)(found - arguments) : strlen(arguments);
    while (length && isspace((unsigned char)arguments[length - 1]))
        length--;
    snprintf(place, room, "%.*s", (int)length, arguments);
    *condition = found ? command_skip(found + 2) : NULL;
}

static int break_at(Session *s, const char *arguments, int is_temporary)
{
    char place[300], what[300];
    const char *condition;
    Error error;
    place_split(arguments, place, sizeof place, &condition);
    Breakpoint *b = debugger_break(&s->debugger, place, condition, is_temporary, &error);
    if (!b) {
        say(s, "%s\n", error.text);
        return 0;
    }
    breakpoint_describe(&s->debugger, b, what, sizeof what);
    what[0] = b->kind == BREAK_FUNCTION ? what[0] : what[0];
    if (b->kind == BREAK_LINE && b->asked_line != b->line)
        say(s, "Line %u has no code of a kernel; the next line that has some is %u.\n",
            b->asked_line, b->line);
    say(s, "%s %d at %s.\n", is_temporary ? "Temporary breakpoint" : "Breakpoint", b->number, what);
    return 0;
}

int command_break(Session *s, const char *arguments)
{
    return break_at(s, arguments, 0);
}

int command_tbreak(Session *s, const char *arguments)
{
    return break_at(s, arguments, 1);
}

static Breakpoint *breakpoint_named(Session *s, const char *word)
{
    long number;
    Breakpoint *b =
        command_number(word, &number) ? debugger_breakpoint(&s->debugger, (int)number) : NULL;
    if (!b)
        say(s, *word ? "No breakpoint number %s.\n" : "Argument required (breakpoint number).\n",
            word);
    return b;
}

int command_condition(Session *s, const char *arguments)
{
    char word[WORD];
    Error error;
    arguments = command_word(arguments, word);
    Breakpoint *b = breakpoint_named(s, word);
    if (!b) return 0;
    if (debugger_condition(&s->debugger, b, arguments, &error) != 0)
        say(s, "%s\n", error.text);
    else if (!*arguments)
        say(s, "Breakpoint %d now unconditional.\n", b->number);
    return 0;
}

int command_ignore(Session *s, const char *arguments)
{
    char word[WORD];
    long count;
    arguments = command_word(arguments, word);
    Breakpoint *b = breakpoint_named(s, word);
    if (!b) return 0;
    if (!command_number(arguments, &count) || count < 0) {
        say(s, "Second argument (specified ignore-count) is missing.\n");
        return 0;
    }
    b->ignore = count;
    say(s, "Will ignore next %ld crossings of breakpoint %d.\n", count, b->number);
    return 0;
}

int command_delete(Session *s, const char *arguments)
{
    char word[WORD];
    if (!strncmp(arguments, "display", 7)) {
        s->displays = 0;
        return 0;
    }
    arguments = command_word(arguments, word);
    if (!strcmp(word, "breakpoints")) arguments = command_word(arguments, word);
    if (!*word)
        while (s->debugger.breakpoint)
            debugger_delete(&s->debugger, s->debugger.breakpoint->number);
    for (; *word; arguments = command_word(arguments, word)) {
        Breakpoint *b = breakpoint_named(s, word);
        if (b) debugger_delete(&s->debugger, b->number);
    }
    return 0;
}

static int able(Session *s, const char *arguments, int is_enabled)
{
    char word[WORD];
    arguments = command_word(arguments, word);
    if (!*word)
        for (Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
            b->is_enabled = is_enabled;
    for (; *word; arguments = command_word(arguments, word)) {
        Breakpoint *b = breakpoint_named(s, word);
        if (b) b->is_enabled = is_enabled;
    }
    s->debugger.catches = 0;
    for (const Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
        s->debugger.catches |= b->kind == BREAK_CATCH && b->is_enabled ? (int)b->catches : 0;
    return 0;
}

int command_enable(Session *s, const char *arguments)
{
    return able(s, arguments, 1);
}

int command_disable(Session *s, const char *arguments)
{
    return able(s, arguments, 0);
}

static int watch_at(Session *s, const char *arguments, WatchKind kind)
{
    static const char *const NAMES[] = {"", "Hardware watchpoint", "Hardware read watchpoint",
                                        "Hardware access (read/write) watchpoint"};
    char expression[300];
    const char *condition;
    Error error;
    place_split(arguments, expression, sizeof expression, &condition);
    if (!*expression) {
        say(s, "Argument required (expression to compute).\n");
        return 0;
    }
    Breakpoint *b = debugger_watch(&s->debugger, expression, kind, condition, &error);
    if (b)
        say(s, "%s %d: %s\n", NAMES[kind], b->number, b->expression);
    else
        say(s, "%s\n", error.text);
    return 0;
}

int command_watch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_WRITE);
}

int command_rwatch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_READ);
}

int command_awatch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_ACCESS);
}

int command_catch(Session *s, const char *arguments)
{
    static const struct {
        const char *name;
        CatchKind kind;
    } KINDS[] = {{"fault", CATCH_FAULT},
                 {"race", CATCH_RACE},
                 {"uninitialized", CATCH_UNINITIALIZED},
                 {"barrier", CATCH_BARRIER},
                 {"end", CATCH_END}};
    char word[WORD];
    command_word(arguments, word);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(word, KINDS[i].name) != 0) continue;
        const Breakpoint *b = debugger_catch(&s->debugger, KINDS[i].kind);
        if (b) say(s, "Catchpoint %d (%s)\n", b->number, word);
        return 0;
    }
    say(s,
        "Catch what? fault, race, uninitialized, barrier (the findings of the checks) or end (of "
        "each launch).\n");
    return 0;
}

int info_breakpoints(Session *s)
{
    char what[300];
    if (!s->debugger.breakpoint) {
        say(s, "No breakpoints or watchpoints.\n");
        return 0;
    }
    say(s, "Num     Type           Disp Enb What\n");
    for (const Breakpoint *b = s->debugger.breakpoint; b; b = b->next) {
        breakpoint_describe(&s->debugger, b, what, sizeof what);
        say(s, "%-7d %-14s %-4s %-3s %s\n", b->number,
            b->kind == BREAK_CATCH      ? "catchpoint"
            : b->kind != BREAK_WATCH    ? "breakpoint"
            : b->watches == WATCH_WRITE ? "hw watchpoint"
            : b->watches == WATCH_READ  ? "read watchpoint"
                                        : "acc watchpoint",
            b->is_temporary ? "del" : "keep", b->is_enabled ? "y" : "n", what);
        if (*b->condition_text) say(s, "\tstop only if %s\n", b->condition_text);
        if (b->hits)
            say(s, "\tbreakpoint already hit %llu time%s\n", (unsigned long long)b->hits,
                b->hits > 1 ? "s" : "");
        if (b->ignore > 0) say(s, "\tignore next %lld hits\n", (long long)b->ignore);
    }
    return 0;
}
