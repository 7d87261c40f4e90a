/* commands.c - the table of the command line's commands: cuda-gdb's names, and this debugger's. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/commands.h"

enum { HELP_COLUMN = 34 };

typedef struct Command {
    const char *name;
    size_t letters; /* length of the shortest abbreviation; 0: the full name */
    int (*run)(Session *session, const char *arguments);
    const char *arguments, *help;
    int needs_stop;
} Command;

static int command_echo(Session *s, const char *arguments)
{
    say(s, "%s\n", arguments);
    return 0;
}

static int command_x(Session *s, const char *arguments)
{
    char word[WORD] = "";
    if (*arguments == '/') arguments = command_word(arguments + 1, word);
    return command_examine(s, word, arguments);
}

static int command_help(Session *s, const char *arguments);

static const Command COMMANDS[] = {
    {"run", 1, command_start, "", "start the program, or start it again", 0},
    {"break", 1, command_break, "[FILE:]LINE|KERNEL [if CONDITION]", "stop there", 0},
    {"tbreak", 2, command_tbreak, "PLACE [if CONDITION]", "stop there once", 0},
    {"condition", 4, command_condition, "NUMBER [CONDITION]", "stop only where it is true", 0},
    {"ignore", 3, command_ignore, "NUMBER COUNT", "pass the breakpoint so often", 0},
    {"delete", 1, command_delete, "[NUMBER ...]", "delete breakpoints", 0},
    {"enable", 2, command_enable, "[NUMBER ...]", "enable breakpoints", 0},
    {"disable", 3, command_disable, "[NUMBER ...]", "disable breakpoints", 0},
    {"watch", 2, command_watch, "EXPRESSION [if CONDITION]", "stop when its value changes", 1},
    {"rwatch", 2, command_rwatch, "EXPRESSION", "stop when it is read", 1},
    {"awatch", 2, command_awatch, "EXPRESSION", "stop when it is read or changes", 1},
    {"catch", 3, command_catch, "fault|race|uninitialized|barrier|end", "stop at a finding", 0},
    {"continue", 1, command_continue, "[COUNT]", "go on", 0},
    {"next", 1, command_next, "[COUNT]", "to the next line; calls are one step", 0},
    {"step", 1, command_step, "[COUNT]", "to the next line, into calls", 0},
    {"stepi", 5, command_stepi, "[COUNT]", "one PTX instruction", 0},
    {"nexti", 5, command_nexti, "[COUNT]", "one PTX instruction; calls are one step", 0},
    {"si", 2, command_stepi, NULL, NULL, 0},
    {"ni", 2, command_nexti, NULL, NULL, 0},
    {"finish", 3, command_finish, "", "to the end of this function", 0},
    {"until", 1, command_until, "[PLACE]", "past the end of this loop, or to PLACE", 0},
    {"advance", 3, command_advance, "PLACE", "to PLACE", 0},
    {"reverse-continue", 9, command_reverse_continue, "", "back to the last breakpoint", 0},
    {"reverse-step", 9, command_reverse_step, "", "back to the line before, into calls", 0},
    {"reverse-next", 9, command_reverse_next, "", "back to the line before", 0},
    {"reverse-finish", 9, command_reverse_finish, "", "back to the call of this function", 0},
    {"reverse-stepi", 13, command_reverse_stepi, "", "back one PTX instruction", 0},
    {"rc", 2, command_reverse_continue, NULL, NULL, 0},
    {"rs", 2, command_reverse_step, NULL, NULL, 0},
    {"rn", 2, command_reverse_next, NULL, NULL, 0},
    {"print", 1, command_print, "[/x] EXPRESSION", "the value in the thread in focus", 0},
    {"inspect", 3, command_print, NULL, NULL, 0},
    {"lanes", 3, command_lanes, "EXPRESSION", "the values in the 32 lanes of the warp", 1},
    {"block", 3, command_block, "EXPRESSION", "the values in all threads of the block", 1},
    {"display", 4, command_display, "[/x] EXPRESSION", "print it at each stop", 0},
    {"undisplay", 4, command_undisplay, "[NUMBER]", "no more", 0},
    {"x", 1, command_x, "[/COUNT FORMAT SIZE] ADDRESS", "memory", 1},
    {"ptype", 2, command_ptype, "EXPRESSION|TYPE", "its type", 0},
    {"whatis", 4, command_whatis, "EXPRESSION", "its type's name", 0},
    {"set", 3, command_set, "var NAME = EXPRESSION", "change a variable", 0},
    {"info", 1, command_info, "breakpoints|locals|args|cuda ...", "what is there", 0},
    {"cuda", 4, command_focus, "[block (X,Y)] [thread (X,Y)] ...", "show or move the focus", 1},
    {"thread", 3, command_focus, NULL, NULL, 1},
    {"backtrace", 2, command_backtrace, "", "the calls that lead here", 0},
    {"bt", 2, command_backtrace, NULL, NULL, 0},
    {"where", 3, command_backtrace, NULL, NULL, 0},
    {"frame", 1, command_frame, "[NUMBER]", "select a frame", 0},
    {"up", 2, command_up, "", "to the caller", 0},
    {"down", 3, command_down, "", "to the function called", 0},
    {"list", 1, command_list, "[LINE|FILE:LINE|FUNCTION]", "source lines", 0},
    {"disassemble", 6, command_disassemble, "", "PTX around this place", 1},
    {"writer", 6, command_writer, "PLACE", "go back to who last wrote it", 0},
    {"readers", 6, command_readers, "PLACE", "who has read it in this launch", 1},
    {"tile", 4, command_tile, "NAME ROWSxCOLUMNS", "shared memory and who wrote each word", 1},
    {"tensor", 6, command_tensor, "NAME[n=0,...]|ADDRESS",
     "a tensor's element, or what an address is", 0},
    {"diff", 4, command_diff, "", "go to the write of the first wrong output", 0},
    {"kill", 1, command_kill, "", "end the program", 0},
    {"quit", 1, command_quit, "", "end the debugger", 0},
    {"exit", 4, command_quit, NULL, NULL, 0},
    {"echo", 4, command_echo, NULL, NULL, 0},
    {"help", 1, command_help, "[COMMAND]", "this", 0},
};

enum { COMMANDS_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static const Command *command_find(const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; i < COMMANDS_COUNT; i++)
        if (!strcmp(COMMANDS[i].name, word)) return &COMMANDS[i];
    for (int i = 0; i < COMMANDS_COUNT; i++)
        if (length >= COMMANDS[i].letters && !strncmp(COMMANDS[i].name, word, length))
            return &COMMANDS[i];
    return NULL;
}

static int command_help(Session *s, const char *arguments)
{
    char word[WORD];
    command_word(arguments, word);
    const Command *one = *word ? command_find(word) : NULL;
    if (*word && !one) {
        say(s, "Undefined command: \"%s\".  Try \"help\".\n", word);
        return 0;
    }
    for (int i = 0; i < COMMANDS_COUNT; i++) {
        char left[120];
        if (!COMMANDS[i].help || (one && one != &COMMANDS[i])) continue;
        snprintf(left, sizeof left, "%s %s", COMMANDS[i].name, COMMANDS[i].arguments);
        say(s, "%-*s  %s\n", HELP_COLUMN, left, COMMANDS[i].help);
    }
    return 0;
}

static const Command *command_of(const char *line, size_t *length)
{
    char word[WORD];
    size_t n = 0;
    while ((isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_') && n + 1 < WORD)
        n++;
    memcpy(word, line, n);
    word[n] = 0, *length = n;
    return n ? command_find(word) : NULL;
}

int is_command(const char *line)
{
    return command_of(command_skip(line), &(size_t){0}) != NULL;
}

const char *command_name(const char *line)
{
    const Command *command = command_of(command_skip(line), &(size_t){0});
    return command ? command->name : "";
}

int command_run(Session *s, const char *line)
{
    size_t length;
    line = command_skip(line);
    if (!*line || *line == '#') return 0;
    const Command *command = command_of(line, &length);
    if (!command) {
        say(s, "Undefined command: \"%.*s\".  Try \"help\".\n", length ? (int)length : 60, line);
        return 0;
    }
    if (command->needs_stop && !debugger_warp(&s->debugger)) {
        say(s, "%s\n", debugger_why_no_thread(&s->debugger));
        return 0;
    }
    return command->run(s, command_skip(line + length));
}

char *command_complete(const char *text, int state)
{
    static int next;
    if (!state) next = 0;
    while (next < COMMANDS_COUNT) {
        const Command *command = &COMMANDS[next++];
        if (!strncmp(command->name, text, strlen(text)) && command->help)
            return strdup(command->name);
    }
    return NULL;
}
