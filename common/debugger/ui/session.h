/* session.h - one debugging session: the debugger, what the user has set up, and where text goes.
 *
 * Module: the debugger's command line and its Debug Adapter Protocol.
 * Callers: programs that `make debug` links with it.
 * May use: debugger, cuda/runtime, cuda/sim; readline, jansson. */
#ifndef CONVLAB_DEBUGGER_UI_SESSION_H
#define CONVLAB_DEBUGGER_UI_SESSION_H

#include "common/debugger/debugger.h"

enum { DISPLAYS = 32, EXPRESSION_TEXT = 256 };

typedef enum Progress { BEFORE_RUN, RUNNING, ENDED } Progress;

typedef struct Display {
    int number;
    char expression[EXPRESSION_TEXT], format;
} Display;

typedef struct Session Session;
struct Session {
    Debugger debugger; /* first */
    DebugUi ui;
    Progress progress;
    int exit_status;
    void (*write)(Session *session, const char *text);   /* prints the output of commands */
    void (*stopped)(Session *session, const Stop *stop); /* returns with a plan */
    void *context;
    Display display[DISPLAYS];
    int displays, last_display;
    char list_file[512];
    uint32_t list_line; /* the next line that `list` shows; 0: around the frame */
    Focus shown;        /* the focus that was reported last */
    int has_shown;
    uint32_t shown_launch;
    char last_examine[64];
    uint64_t examine_next;
    Survey survey;
    void (*after_survey)(Session *session);
    char survey_name[EXPRESSION_TEXT];
    uint32_t tile_rows, tile_columns;
    const Type *tile_type;
    int wants_restart;
    uint64_t expected_address; /* address of a lab's output; 0: none is known */
    double *expected, *tolerance;
    size_t expecteds;
};

/* Ends the process: _Exit. A fuzzer sets another function, because more inputs follow. */
extern void (*session_exit)(int status) __attribute__((noreturn));

__attribute__((format(printf, 2, 3))) void say(Session *session, const char *format, ...);

/* Carries out one command line. 1: execution continues (an action was requested); 0: stay. */
int command_run(Session *session, const char *line);
int is_command(const char *line);
const char *command_name(const char *line); /* not abbreviated; "": it is no command */
/* The word's completions, NULL-ended by `state` as readline expects them; malloc'ed. */
char *command_complete(const char *text, int state);

/* ---- report of a stop ---- */
void stop_report(Session *session, const Stop *stop);
void frame_print(Session *session, uint32_t number, int with_source);
void focus_print(Session *session);
void displays_print(Session *session);
void launch_text(const Debugger *debugger, char *text, size_t bytes);
/* Prints a log point's text, in which {expressions} are replaced by their values. */
void log_point_say(Debugger *debugger, const char *text);

/* ---- lanes.c, threads.c, focus.c: commands that look at many threads ---- */
int command_lanes(Session *session, const char *arguments);
int command_block(Session *session, const char *arguments);
int command_info_cuda(Session *session, const char *arguments);
int command_focus(Session *session, const char *arguments);

/* ---- memory.c, tensors.c, survey.c: commands that look at memory ---- */
/* If the stop ends a survey: shows its result and returns 1. */
int survey_end(Session *session, const Stop *stop);
int command_examine(Session *session, const char *format, const char *arguments);
int command_disassemble(Session *session, const char *arguments);
int command_tensor(Session *session, const char *arguments);
int command_writer(Session *session, const char *arguments);
int command_diff(Session *session, const char *arguments);
int command_readers(Session *session, const char *arguments);
int command_tile(Session *session, const char *arguments);
int command_info_history(Session *session);

/* ---- source.c ---- */
/* A line of a source file without its end; NULL: no such line. Valid until the next call. */
const char *source_text_line(const char *path, uint32_t line);
uint32_t source_lines(const char *path);

#endif
