/* dap_parts.h - state and functions that the sources of the Debug Adapter Protocol share. The
 * function of a request answers it; one that returns int returns 1 if execution continues. */
#ifndef CONVLAB_DEBUGGER_UI_DAP_PARTS_H
#define CONVLAB_DEBUGGER_UI_DAP_PARTS_H

#include <jansson.h>
#include <pthread.h>

#include "common/debugger/ui/session.h"

enum { QUEUE = 1024, REFERENCES = 4096, TEXT = 8192, PAGE_MOST = 10000, PTX_SOURCE = 1 };

typedef enum ReferenceKind {
    REFERENCE_FRAME,
    REFERENCE_ARGUMENTS,
    REFERENCE_LOCALS,
    REFERENCE_SHARED,
    REFERENCE_BUILT_INS,
    REFERENCE_LANES,
    REFERENCE_REGISTERS,
    REFERENCE_VALUE, /* the elements or members of what `path` names */
    REFERENCE_LANES_OF
} ReferenceKind;

/* Meaning of a number in a message; valid until execution continues. */
typedef struct Reference {
    ReferenceKind kind;
    Focus focus;
    char path[EXPRESSION_TEXT];
} Reference;

typedef struct Dap {
    int in, out, sequence;
    pthread_mutex_t lock; /* protects the queue and `out` */
    pthread_cond_t more;
    json_t *queue[QUEUE];
    int first, count, is_closed;
    Reference reference[REFERENCES];
    int references;
    char *captured; /* output of a console command */
    size_t captured_bytes;
    int is_capturing, is_configured, is_paused, stops_on_entry, is_over;
    char last_finding[STOP_TEXT];
    SimtCheck last_check;
    int pipes[2][2];
    pthread_t pumps[2];
} Dap;

extern Dap dap;

/* ---- dap.c ---- */
void dap_stopped(Session *s, const Stop *stop); /* Session.stopped */
void dap_serve_after_end(void);                 /* until the client ends the session */

/* ---- dap_queue.c ---- */
void dap_respond(const json_t *request, json_t *body);
void dap_refuse(const json_t *request, const char *message);
void dap_event_send(const char *name, json_t *body);
void dap_output(const char *category, const char *text);
const json_t *dap_arguments(const json_t *request);
const char *dap_text(const json_t *object, const char *name);
json_int_t dap_number(const json_t *object, const char *name, json_int_t otherwise);
void dap_outputs_capture(void);
int dap_is_end(const char *command);
void *dap_reader(void *context);
json_t *dap_message_take(int waits);

/* ---- dap_variables.c ---- */
int dap_reference_new(ReferenceKind kind, const Focus *focus, const char *path);
const Reference *dap_reference(json_int_t number);
json_int_t dap_thread_number(const Session *s, uint64_t block, uint32_t warp);
int dap_thread_focus(Session *s, json_int_t number, Focus *focus);
int dap_evaluate(Session *s, const Focus *focus, const char *text, uint32_t mask, Value *value,
                 char *why, size_t room);
json_t *dap_variable(Session *s, const Focus *focus, const char *name, const char *path);
void request_variables(Session *s, const json_t *request);
void request_scopes(Session *s, const json_t *request);
void request_threads(Session *s, const json_t *request);
json_t *dap_source(const char *path);
void request_stack(Session *s, const json_t *request);

/* ---- dap_breakpoints.c ---- */
void request_breakpoints(Session *s, const json_t *request);
void request_functions(Session *s, const json_t *request);
void request_instructions(Session *s, const json_t *request);
void request_exceptions(Session *s, const json_t *request);
void request_data_info(Session *s, const json_t *request);
void request_data(Session *s, const json_t *request);

/* ---- dap_data.c ---- */
void dap_capture(Session *s, const char *text);
int request_evaluate(Session *s, const json_t *request);
void request_set_variable(Session *s, const json_t *request);
void request_memory(Session *s, const json_t *request);
void request_disassemble(Session *s, const json_t *request);
void request_sources(Session *s, const json_t *request);
void request_source(Session *s, const json_t *request);
void request_exception_info(Session *s, const json_t *request);

#endif
