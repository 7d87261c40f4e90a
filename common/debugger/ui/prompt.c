/* prompt.c - the command line: readline on a terminal, plain lines from a file or a pipe. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "common/debugger/ui/prompt.h"

static const char PROMPT[] = "(debug) ";

static int source = STDIN_FILENO; /* of commands */

static void terminal_write(Session *s, const char *text)
{
    (void)s;
    fputs(text, stdout);
}

/* A line without its end; by single bytes, because a program that starts again reads on. */
static char *line_read(int descriptor)
{
    enum { MOST = 1 << 16 };
    size_t used = 0, room = 128;
    char *line = malloc(room + 1);
    while (line && used < MOST) {
        char c;
        ssize_t got = read(descriptor, &c, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            if (used) break;
            free(line);
            return NULL;
        }
        if (c == '\n') break;
        if (used == room) {
            char *more = realloc(line, (room *= 2) + 1);
            if (!more) break;
            line = more;
        }
        line[used++] = c;
    }
    if (line) line[used] = 0;
    return line;
}

static char **complete(const char *text, int start, int end)
{
    (void)end;
    rl_attempted_completion_over = 0;
    return start == 0 ? rl_completion_matches(text, command_complete) : NULL;
}

static int is_terminal(void)
{
    return source == STDIN_FILENO && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static char *command_read(void)
{
    fflush(NULL);
    if (is_terminal()) {
        char *line = readline(PROMPT);
        if (line && *line) add_history(line);
        return line;
    }
    char *line = line_read(source);
    if (line) printf("%s%s\n", PROMPT, line);
    return line;
}

/* Breakpoints are set up again in the new process. */
static void restart(Session *s)
{
    char path[] = "/tmp/debug-restart-XXXXXX", what[300];
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    for (const Breakpoint *b = s->debugger.breakpoint; b && stream; b = b->next) {
        const char *where = what;
        if (b->kind == BREAK_LINE)
            snprintf(what, sizeof what, "%s:%u", b->file, b->line);
        else if (b->kind == BREAK_FUNCTION)
            where = b->function;
        else if (b->kind == BREAK_PTX)
            snprintf(what, sizeof what, "*%u", b->ptx);
        else if (b->kind == BREAK_CATCH)
            breakpoint_describe(&s->debugger, b, what, sizeof what);
        else
            continue;
        if (b->kind == BREAK_CATCH)
            fprintf(stream, "%s\n", what);
        else
            fprintf(stream, "%s %s%s%s\n", b->is_temporary ? "tbreak" : "break", where,
                    *b->condition_text ? " if " : "", b->condition_text);
    }
    for (int i = 0; i < s->displays && stream; i++)
        fprintf(stream, "display %s\n", s->display[i].expression);
    if (stream) fclose(stream);
    setenv("DEBUG_RESTART", path, 1);
    char **argv = s->context;
    fflush(NULL);
    execv("/proc/self/exe", argv);
    printf("The program cannot be started again: %s\n", strerror(errno));
}

static void restart_read(Session *s)
{
    const char *path = getenv("DEBUG_RESTART");
    void (*write)(Session * session, const char *text) = s->write;
    char line[1024];
    FILE *stream = path ? fopen(path, "r") : NULL;
    if (!stream) return;
    s->write = (void (*)(Session *, const char *))NULL;
    s->write = write;
    while (fgets(line, sizeof line, stream)) {
        line[strcspn(line, "\n")] = 0;
        command_run(s, line);
    }
    fclose(stream);
    unlink(path);
    unsetenv("DEBUG_RESTART");
}

void prompt_run(Session *s)
{
    char last[1024] = "";
    for (;;) {
        char *line = command_read();
        if (!line) { /* the end of a file of commands, or of the terminal */
            if (is_terminal()) printf("\n");
            fflush(NULL);
            session_exit(0);
        }
        /* An empty line on a terminal repeats the last command. */
        const char *command = is_terminal() && !*line ? last : line;
        if (command == line) snprintf(last, sizeof last, "%s", line);
        int goes_on = command_run(s, command);
        free(line);
        if (s->wants_restart) {
            s->wants_restart = 0;
            restart(s);
            goes_on = 0;
        }
        if (goes_on) break;
    }
    fflush(NULL);
}

static void prompt_stopped(Session *s, const Stop *stop)
{
    if (!survey_end(s, stop)) stop_report(s, stop);
    prompt_run(s);
}

void prompt_open(Session *s)
{
    const char *commands = getenv("DEBUG_COMMANDS");
    s->write = terminal_write, s->stopped = prompt_stopped;
    if (commands && *commands) {
        const char *inherited = getenv("DEBUG_COMMANDS_FD");
        source = inherited ? atoi(inherited) : -1;
        if (source < 3) {
            source = -1;
            FILE *stream = fopen(commands, "r");
            if (stream) source = dup(fileno(stream)), fclose(stream);
        }
        if (source < 0) {
            fprintf(stderr, "debug: the commands cannot be read from %s: %s\n", commands,
                    strerror(errno));
            exit(2);
        }
        char number[16];
        snprintf(number, sizeof number, "%d", source);
        setenv("DEBUG_COMMANDS_FD", number, 1);
    }
    rl_readline_name = "debug";
    rl_attempted_completion_function = complete;
    if (getenv("DEBUG_RESTART")) {
        restart_read(s);
        s->progress = RUNNING;
    }
}
