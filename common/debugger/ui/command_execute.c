/* command_execute.c - commands that start, continue, step and reverse the execution. */
#include <stdio.h>

#include "common/debugger/ui/commands.h"

int command_start(Session *s, const char *arguments)
{
    (void)arguments;
    if (s->progress != BEFORE_RUN) {
        s->wants_restart = 1;
        return 1;
    }
    return 1;
}

static int is_ready(Session *s)
{
    if (s->progress == RUNNING) return 1;
    say(s, "The program is not being run.\n");
    return 0;
}

int command_continue(Session *s, const char *arguments)
{
    long count = 0;
    if (!is_ready(s)) return 0;
    if (*arguments && command_number(arguments, &count))
        for (Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
            if (b->hits) b->ignore = count - 1;
    say(s, "Continuing.\n");
    debugger_continue(&s->debugger);
    return 1;
}

static int step(Session *s, const char *arguments, StepKind kind)
{
    long count = 1;
    if (!is_ready(s)) return 0;
    if (*arguments && (!command_number(arguments, &count) || count < 1 || count > 1000000000)) {
        say(s, "The count is a number from 1 on, not '%s'.\n", arguments);
        return 0;
    }
    debugger_step(&s->debugger, kind, (uint32_t)count);
    return 1;
}

int command_step(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_LINE);
}

int command_next(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_OVER);
}

int command_stepi(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_INSTRUCTION);
}

int command_nexti(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_INSTRUCTION_OVER);
}

int command_finish(Session *s, const char *arguments)
{
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(&s->debugger);
    if (!is_ready(s)) return 0;
    if (warp &&
        frames_at(s->debugger.map, debugger_ins(&s->debugger, warp), all) + warp->calls.count <
            2 + s->debugger.focus.frame) {
        say(s, "\"finish\" not meaningful in the outermost frame.\n");
        return 0;
    }
    return step(s, arguments, STEP_FINISH);
}

static int advance(Session *s, const char *arguments, int until)
{
    Error error;
    if (!is_ready(s)) return 0;
    if (debugger_advance(&s->debugger, arguments, until, &error) == 0) return 1;
    say(s, "%s\n", error.text);
    return 0;
}

int command_until(Session *s, const char *arguments)
{
    if (*arguments) return advance(s, arguments, 1);
    return step(s, arguments, STEP_UNTIL);
}

int command_advance(Session *s, const char *arguments)
{
    if (!*arguments) {
        say(s, "Argument required (a location).\n");
        return 0;
    }
    return advance(s, arguments, 0);
}

static int reverse(Session *s, SearchKind kind)
{
    Error error;
    if (!is_ready(s)) return 0;
    if (debugger_reverse(&s->debugger, kind, &error) == 0) return 1;
    say(s, "%s\n", error.text);
    return 0;
}

int command_reverse_continue(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_BREAKPOINT);
}

int command_reverse_step(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_LINE);
}

int command_reverse_next(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_OVER);
}

int command_reverse_finish(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_CALLER);
}

int command_reverse_stepi(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_INSTRUCTION);
}

int command_kill(Session *s, const char *arguments)
{
    (void)arguments;
    if (!is_ready(s)) return 0;
    say(s, "[Inferior killed]\n");
    fflush(NULL);
    session_exit(0);
}

int command_quit(Session *s, const char *arguments)
{
    (void)s, (void)arguments;
    fflush(NULL);
    session_exit(0);
}
