/* commands.h - the commands of the debugger's command line, which the table in commands.c names.
 * Each gets the text after its name; 1: execution continues, 0: stay. */
#ifndef CONVLAB_DEBUGGER_UI_COMMANDS_H
#define CONVLAB_DEBUGGER_UI_COMMANDS_H

#include "common/debugger/ui/session.h"

enum { WORD = 256 };

/* ---- command_words.c ---- */
const char *command_skip(const char *at); /* after blanks */
/* Copies the next word, at most WORD - 1 characters; returns the text after it. */
const char *command_word(const char *at, char word[WORD]);
/* Boolean: the text is one number, in any base of C. */
int command_number(const char *text, long *number);

/* ---- command_break.c: breakpoints, watchpoints and catchpoints ---- */
int command_break(Session *session, const char *arguments);
int command_tbreak(Session *session, const char *arguments);
int command_condition(Session *session, const char *arguments);
int command_ignore(Session *session, const char *arguments);
int command_delete(Session *session, const char *arguments);
int command_enable(Session *session, const char *arguments);
int command_disable(Session *session, const char *arguments);
int command_watch(Session *session, const char *arguments);
int command_rwatch(Session *session, const char *arguments);
int command_awatch(Session *session, const char *arguments);
int command_catch(Session *session, const char *arguments);
int info_breakpoints(Session *session);

/* ---- command_execute.c: commands that start, continue, step and reverse the execution ---- */
int command_start(Session *session, const char *arguments);
int command_continue(Session *session, const char *arguments);
int command_step(Session *session, const char *arguments);
int command_next(Session *session, const char *arguments);
int command_stepi(Session *session, const char *arguments);
int command_nexti(Session *session, const char *arguments);
int command_finish(Session *session, const char *arguments);
int command_until(Session *session, const char *arguments);
int command_advance(Session *session, const char *arguments);
int command_reverse_continue(Session *session, const char *arguments);
int command_reverse_step(Session *session, const char *arguments);
int command_reverse_next(Session *session, const char *arguments);
int command_reverse_finish(Session *session, const char *arguments);
int command_reverse_stepi(Session *session, const char *arguments);
int command_kill(Session *session, const char *arguments);
int command_quit(Session *session, const char *arguments);

/* ---- command_data.c: commands that show and change variables, types and registers ---- */
int command_print(Session *session, const char *arguments);
int command_display(Session *session, const char *arguments);
int command_undisplay(Session *session, const char *arguments);
int command_set(Session *session, const char *arguments);
int command_ptype(Session *session, const char *arguments);
int command_whatis(Session *session, const char *arguments);
int command_info(Session *session, const char *arguments);

/* ---- command_stack.c: commands for the stack of calls and for source lines ---- */
int command_backtrace(Session *session, const char *arguments);
int command_frame(Session *session, const char *arguments);
int command_up(Session *session, const char *arguments);
int command_down(Session *session, const char *arguments);
int command_list(Session *session, const char *arguments);

#endif
