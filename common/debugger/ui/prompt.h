/* prompt.h - the session of this process: a command line, or the Debug Adapter Protocol. */
#ifndef CONVLAB_DEBUGGER_UI_PROMPT_H
#define CONVLAB_DEBUGGER_UI_PROMPT_H

#include "common/debugger/ui/session.h"

extern Session session_of_process;

/* ---- prompt.c ---- */
void prompt_open(Session *session);
/* Reads commands until one lets the program continue. */
void prompt_run(Session *session);

/* ---- dap.c ---- */
int dap_is_wanted(void);
void dap_open(Session *session);
void dap_before_run(Session *session); /* until configurationDone */
void dap_ended(Session *session, int status);

#endif
