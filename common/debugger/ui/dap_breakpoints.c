/* dap_breakpoints.c - breakpoints in the Debug Adapter Protocol. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"

/* ---- breakpoints ---- */

static void breakpoint_set_up(Breakpoint *b, const json_t *wanted)
{
    const char *hits = dap_text(wanted, "hitCondition"), *log = dap_text(wanted, "logMessage");
    while (*hits && strchr(" >=", *hits))
        hits++;
    b->wanted_hits = strtoull(hits, NULL, 10);
    snprintf(b->log, sizeof b->log, "%s", log);
    b->is_quiet = *log != 0;
}

static json_t *breakpoint_json(const Breakpoint *b, const Error *error)
{
    if (!b) return json_pack("{s:b, s:o}", "verified", 0, "message", json_text(error->text));
    json_t *json = json_pack("{s:i, s:b}", "id", b->number, "verified", 1);
    if (b->kind == BREAK_LINE) {
        json_object_set_new(json, "line", json_integer(b->line));
        json_object_set_new(json, "source", dap_source(b->file));
    }
    return json;
}

/* Deletes the earlier breakpoints of this kind and this file. */
static void breakpoints_clear(Session *s, BreakKind kind, const char *file)
{
    for (Breakpoint *b = s->debugger.breakpoint, *next; b; b = next) {
        next = b->next;
        if (b->kind == kind && (!file || !strcmp(b->file, file)))
            debugger_delete(&s->debugger, b->number);
    }
}

static void break_one(Session *s, const char *place, const json_t *wanted, json_t *list)
{
    Error error = {""};
    const char *condition = dap_text(wanted, "condition");
    Breakpoint *b = debugger_break(&s->debugger, place, *condition ? condition : NULL, 0, &error);
    if (b) breakpoint_set_up(b, wanted);
    json_array_append_new(list, breakpoint_json(b, &error));
}

void request_breakpoints(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request), *wanted;
    const char *path = dap_text(json_object_get(arguments, "source"), "path");
    const json_t *all = json_object_get(arguments, "breakpoints");
    json_t *list = json_array();
    char place[700];
    size_t i;
    breakpoints_clear(s, BREAK_LINE, path);
    json_array_foreach(all, i, wanted)
    {
        snprintf(place, sizeof place, "%.600s:%lld", path,
                 (long long)dap_number(wanted, "line", 0));
        break_one(s, place, wanted, list);
    }
    dap_respond(request, json_pack("{s:o}", "breakpoints", list));
}

void request_functions(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_FUNCTION, NULL);
    json_array_foreach(json_object_get(dap_arguments(request), "breakpoints"), i, wanted)
        break_one(s, dap_text(wanted, "name"), wanted, list);
    dap_respond(request, json_pack("{s:o}", "breakpoints", list));
}

void request_instructions(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    char place[64];
    size_t i;
    breakpoints_clear(s, BREAK_PTX, NULL);
    json_array_foreach(json_object_get(dap_arguments(request), "breakpoints"), i, wanted)
    {
        long long line = strtoll(dap_text(wanted, "instructionReference"), NULL, 0) +
                         dap_number(wanted, "offset", 0);
        snprintf(place, sizeof place, "*%lld", line);
        break_one(s, place, wanted, list);
    }
    dap_respond(request, json_pack("{s:o}", "breakpoints", list));
}

void request_exceptions(Session *s, const json_t *request)
{
    static const struct {
        const char *name;
        CatchKind kind;
    } KINDS[] = {{"fault", CATCH_FAULT},
                 {"race", CATCH_RACE},
                 {"uninitialized", CATCH_UNINITIALIZED},
                 {"barrier", CATCH_BARRIER},
                 {"end", CATCH_END}};
    const json_t *filter;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_CATCH, NULL);
    json_array_foreach(json_object_get(dap_arguments(request), "filters"), i, filter)
    {
        const char *name = json_string_value(filter);
        const Breakpoint *b = NULL;
        Error error = {"there is no such filter"};
        for (size_t k = 0; name && k < sizeof KINDS / sizeof *KINDS; k++)
            if (!strcmp(KINDS[k].name, name)) b = debugger_catch(&s->debugger, KINDS[k].kind);
        json_array_append_new(list, breakpoint_json(b, &error));
    }
    dap_respond(request, json_pack("{s:o}", "breakpoints", list));
}

void request_data_info(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    const Reference *r = dap_reference(dap_number(arguments, "variablesReference", 0));
    const char *name = dap_text(arguments, "name");
    char path[EXPRESSION_TEXT];
    uint64_t address, bytes;
    const Type *type;
    Error error;
    snprintf(path, sizeof path, "%s", name);
    if (r && r->kind == REFERENCE_VALUE)
        snprintf(path, sizeof path, *name == '[' ? "%.120s%.120s" : "%.120s.%.120s", r->path, name);
    if (debugger_locate(&s->debugger, path, &address, &bytes, &type, &error) != 0) {
        dap_respond(request,
                    json_pack("{s:n, s:o}", "dataId", "description", json_text(error.text)));
        return;
    }
    dap_respond(request,
                json_pack("{s:o, s:o, s:[s,s,s]}", "dataId", json_text(path), "description",
                          json_text(path), "accessTypes", "read", "write", "readWrite"));
}

void request_data(Session *s, const json_t *request)
{
    const json_t *wanted;
    json_t *list = json_array();
    size_t i;
    breakpoints_clear(s, BREAK_WATCH, NULL);
    json_array_foreach(json_object_get(dap_arguments(request), "breakpoints"), i, wanted)
    {
        Error error = {""};
        const char *access = dap_text(wanted, "accessType"),
                   *condition = dap_text(wanted, "condition");
        WatchKind kind = !strcmp(access, "read")        ? WATCH_READ
                         : !strcmp(access, "readWrite") ? WATCH_ACCESS
                                                        : WATCH_WRITE;
        Breakpoint *b = debugger_watch(&s->debugger, dap_text(wanted, "dataId"), kind,
                                       *condition ? condition : NULL, &error);
        if (b) breakpoint_set_up(b, wanted);
        json_array_append_new(list, breakpoint_json(b, &error));
    }
    dap_respond(request, json_pack("{s:o}", "breakpoints", list));
}
