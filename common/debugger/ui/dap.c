/* dap.c - the Debug Adapter Protocol in the program that is debugged.
 *
 * A thread reads messages into a queue; the thread that executes kernels takes them out where it
 * stops.  A message that comes while a kernel executes stops it for the moment of its answer.
 * autograder/debug.c has answered `initialize` and started this program for `launch`.
 *
 * The environment: DEBUG_DAP="IN OUT SEQUENCE", two descriptors and the last number used; and
 * DEBUG_DAP_LAUNCH, the launch request. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"
#include "common/debugger/ui/prompt.h"

int dap_is_wanted(void)
{
    const char *value = getenv("DEBUG_DAP");
    return value && *value;
}

/* ---- actions ---- */

/* 1: execution continues. */
static int request_action(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    const char *command = dap_command(request);
    Debugger *d = &s->debugger;
    int by_instruction = !strcmp(dap_text(arguments, "granularity"), "instruction");
    Error error = {""};
    Focus focus;
    int status = 0;
    if (!debugger_warp(d) && !d->is_stopped) {
        dap_refuse(request, "no kernel is stopped");
        return 0;
    }
    if (debugger_warp(d) && dap_thread_focus(s, dap_number(arguments, "threadId", 0), &focus) == 0)
        d->focus = focus;
    d->focus.frame = 0;
    if (!strcmp(command, "continue"))
        debugger_continue(d);
    else if (!strcmp(command, "next"))
        debugger_step(d, by_instruction ? STEP_INSTRUCTION_OVER : STEP_OVER, 1);
    else if (!strcmp(command, "stepIn"))
        debugger_step(d, by_instruction ? STEP_INSTRUCTION : STEP_LINE, 1);
    else if (!strcmp(command, "stepOut"))
        debugger_step(d, STEP_FINISH, 1);
    else if (!strcmp(command, "stepBack"))
        status = debugger_reverse(d, by_instruction ? SEARCH_INSTRUCTION : SEARCH_OVER, &error);
    else
        status = debugger_reverse(d, SEARCH_BREAKPOINT, &error);
    if (status) {
        dap_refuse(request, error.text);
        return 0;
    }
    dap_respond(request,
                !strcmp(command, "continue") ? json_pack("{s:b}", "allThreadsContinued", 1) : NULL);
    return 1;
}

static void end_session(json_t *request)
{
    dap_respond(request, NULL);
    if (!strcmp(dap_command(request), "terminate")) dap_event_send("terminated", NULL);
    json_decref(request);
    fflush(NULL);
    session_exit(0);
}

/* One request. 1: execution continues. */
static int request_carry_out(Session *s, json_t *request)
{
    static const struct {
        const char *command;
        void (*run)(Session *s, const json_t *request);
    } REQUESTS[] = {{"threads", request_threads},
                    {"stackTrace", request_stack},
                    {"scopes", request_scopes},
                    {"variables", request_variables},
                    {"setVariable", request_set_variable},
                    {"setBreakpoints", request_breakpoints},
                    {"setFunctionBreakpoints", request_functions},
                    {"setInstructionBreakpoints", request_instructions},
                    {"setExceptionBreakpoints", request_exceptions},
                    {"dataBreakpointInfo", request_data_info},
                    {"setDataBreakpoints", request_data},
                    {"readMemory", request_memory},
                    {"disassemble", request_disassemble},
                    {"loadedSources", request_sources},
                    {"source", request_source},
                    {"exceptionInfo", request_exception_info}};
    static const char *const ACTIONS[] = {"continue", "next",     "stepIn",
                                          "stepOut",  "stepBack", "reverseContinue"};
    const char *command = dap_command(request);
    for (size_t i = 0; i < sizeof REQUESTS / sizeof *REQUESTS; i++)
        if (!strcmp(command, REQUESTS[i].command)) {
            REQUESTS[i].run(s, request);
            return 0;
        }
    for (size_t i = 0; i < sizeof ACTIONS / sizeof *ACTIONS; i++)
        if (!strcmp(command, ACTIONS[i])) return request_action(s, request);
    if (!strcmp(command, "evaluate")) return request_evaluate(s, request);
    if (dap_is_end(command)) end_session(request);
    if (!strcmp(command, "configurationDone")) {
        dap.is_configured = 1;
        dap_respond(request, NULL);
        return s->progress == BEFORE_RUN;
    }
    if (!strcmp(command, "pause")) {
        dap.is_paused = 1;
        dap_respond(request, NULL);
        return 0;
    }
    char text[200];
    snprintf(text, sizeof text, "the request '%.100s' is not supported", command);
    dap_refuse(request, text);
    return 0;
}

/* ---- a stop ---- */

static void stopped_event(Session *s, const Stop *stop)
{
    static const char *const REASONS[] = {
        "breakpoint", "step", "data breakpoint", "exception", "pause", "step", "step", "pause"};
    const Debugger *d = &s->debugger;
    const char *reason =
        stop->kind == STOP_INTERRUPT && dap.stops_on_entry ? "entry" : REASONS[stop->kind];
    if (stop->kind == STOP_ARRIVED && *stop->text) reason = "goto";
    json_t *body =
        json_pack("{s:s, s:I, s:b}", "reason", reason, "threadId",
                  dap_thread_number(s, d->focus.block, d->focus.warp), "allThreadsStopped", 1);
    if (*stop->text) {
        json_object_set_new(body, "text", json_text(stop->text));
        json_object_set_new(body, "description", json_text(stop->text));
    }
    if (stop->number) json_object_set_new(body, "hitBreakpointIds", json_pack("[i]", stop->number));
    if (stop->kind == STOP_FINDING) {
        snprintf(dap.last_finding, sizeof dap.last_finding, "%s", stop->text);
        dap.last_check = stop->check;
    }
    dap_event_send("stopped", body);
}

static void serve(Session *s)
{
    for (;;) {
        json_t *request = dap_message_take(1);
        if (!request) session_exit(0); /* the client is gone */
        int goes_on = request_carry_out(s, request);
        json_decref(request);
        if (goes_on) return;
    }
}

void dap_stopped(Session *s, const Stop *stop)
{
    Debugger *d = &s->debugger;
    PlanKind before = d->plan.interrupted;
    survey_end(s, stop);
    if (stop->kind == STOP_INTERRUPT && !dap.stops_on_entry) {
        /* A request arrives while the kernel executes. */
        json_t *request;
        dap.is_paused = 0;
        Focus focus = d->focus;
        while (!dap.is_paused && (request = dap_message_take(0))) {
            int goes_on = request_carry_out(s, request);
            json_decref(request);
            if (goes_on) return;
        }
        d->focus = focus;
        if (!dap.is_paused) {
            d->plan.kind = before == PLAN_STEP ? PLAN_STEP : PLAN_CONTINUE;
            return;
        }
    }
    dap.references = 0;
    stopped_event(s, stop);
    dap.stops_on_entry = 0;
    serve(s);
    dap.references = 0;
}

/* ---- the beginning and the end ---- */

void dap_open(Session *s)
{
    json_error_t error;
    pthread_t thread;
    const char *launch = getenv("DEBUG_DAP_LAUNCH");
    json_t *request = json_loads(launch ? launch : "{}", 0, &error);
    if (sscanf(getenv("DEBUG_DAP"), "%d %d %d", &dap.in, &dap.out, &dap.sequence) != 3) {
        fprintf(stderr, "debug: DEBUG_DAP is two descriptors and a number\n");
        exit(2);
    }
    s->write = dap_capture, s->stopped = dap_stopped;
    dap.stops_on_entry = json_is_true(json_object_get(dap_arguments(request), "stopOnEntry"));
    dap_outputs_capture();
    dap_respond(request, NULL);
    json_decref(request);
    dap_event_send("initialized", NULL);
    dap_output("console",
               "Kernels are debugged on the simulated GPU; the program runs with your rights, "
               "outside of any sandbox.\n");
    pthread_create(&thread, NULL, dap_reader, s);
    pthread_detach(thread);
}

void dap_before_run(Session *s)
{
    serve(s);
    if (dap.stops_on_entry) debugger_interrupt(&s->debugger);
}

void dap_serve_after_end(void)
{
    for (json_t *request; (request = dap_message_take(1)); json_decref(request)) {
        if (dap_is_end(dap_command(request))) end_session(request);
        dap_refuse(request, "the program has ended");
    }
}

void dap_ended(Session *s, int status)
{
    (void)s;
    dap.is_over = 1;
    /* Earlier output is printed first. */
    close(1), close(2);
    pthread_join(dap.pumps[0], NULL), pthread_join(dap.pumps[1], NULL);
    dap_event_send("exited", json_pack("{s:i}", "exitCode", status));
    dap_event_send("terminated", NULL);
    dap_serve_after_end();
    session_exit(0);
}
