/* dap_data.c - evaluation, memory and code in the Debug Adapter Protocol. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"

/* ---- evaluation ---- */

void dap_capture(Session *s, const char *text)
{
    (void)s;
    enum { MOST = 1 << 20 };
    size_t bytes = strlen(text);
    if (!dap.is_capturing) {
        dap_output("console", text);
        return;
    }
    if (dap.captured_bytes + bytes > MOST) return;
    char *more = realloc(dap.captured, dap.captured_bytes + bytes + 1);
    if (!more) return;
    memcpy(more + dap.captured_bytes, text, bytes + 1);
    dap.captured = more, dap.captured_bytes += bytes;
}

/* 1: the command lets execution continue. */
static int command_capture(Session *s, const char *line)
{
    free(dap.captured);
    dap.captured = NULL, dap.captured_bytes = 0;
    dap.is_capturing = 1;
    int goes_on = command_run(s, line);
    dap.is_capturing = 0;
    size_t end = dap.captured_bytes;
    while (end && dap.captured[end - 1] == '\n')
        dap.captured[--end] = 0;
    return goes_on;
}

static int is_in_console(const char *line)
{
    static const char *const KEPT[] = {"quit", "exit", "kill", "run"};
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (!strcmp(command_name(line), KEPT[i])) return 0;
    return 1;
}

/* 1: execution continues. */
int request_evaluate(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    const char *text = dap_text(arguments, "expression"), *context = dap_text(arguments, "context");
    const Reference *frame = dap_reference(dap_number(arguments, "frameId", 0));
    Debugger *d = &s->debugger;
    Focus focus = frame ? frame->focus : d->focus;
    char why[VALUE_WHY];
    Value value;
    int is_repl = !strcmp(context, "repl") && is_command(text); /* else an expression */
    if (!is_repl && debugger_warp(d) &&
        dap_evaluate(s, &focus, text, 0, &value, why, sizeof why) == 0) {
        json_t *json = dap_variable(s, &focus, text, text);
        json_object_set(json, "result", json_object_get(json, "value"));
        json_object_del(json, "value"), json_object_del(json, "name");
        json_object_del(json, "evaluateName");
        dap_respond(request, json);
        return 0;
    }
    if (!is_repl && strncmp(text, "lanes ", 6) && strncmp(text, "block ", 6) &&
        strncmp(text, "tensor ", 7)) {
        dap_refuse(request, debugger_warp(d) ? why : "no kernel is stopped");
        return 0;
    }
    if (!is_in_console(text)) {
        dap_refuse(request, "the client ends and starts programs: use its buttons");
        return 0;
    }
    if (frame && debugger_warp(d)) d->focus = frame->focus;
    int goes_on = command_capture(s, text);
    dap_respond(request,
                json_pack("{s:o, s:i}", "result", json_text(dap.captured ? dap.captured : ""),
                          "variablesReference", 0));
    if (goes_on)
        dap_event_send("continued", json_pack("{s:I, s:b}", "threadId",
                                              dap_thread_number(s, d->focus.block, d->focus.warp),
                                              "allThreadsContinued", 1));
    return goes_on;
}

void request_set_variable(Session *s, const json_t *request)
{
    const json_t *arguments = dap_arguments(request);
    const Reference *found = dap_reference(dap_number(arguments, "variablesReference", 0));
    const char *name = dap_text(arguments, "name"), *wanted = dap_text(arguments, "value");
    Debugger *d = &s->debugger;
    char path[EXPRESSION_TEXT], assignment[2 * EXPRESSION_TEXT + 8], text[TEXT];
    Value value;
    Error error;
    if (!found || !debugger_warp(d)) {
        dap_refuse(request, "this variable is gone: execution has continued");
        return;
    }
    Reference r = *found;
    snprintf(path, sizeof path, "%s", name);
    if (r.kind == REFERENCE_VALUE && *name == '*')
        snprintf(path, sizeof path, "%s", name);
    else if (r.kind == REFERENCE_VALUE)
        snprintf(path, sizeof path, *name == '[' ? "%.120s%.120s" : "%.120s.%.120s", r.path, name);
    snprintf(assignment, sizeof assignment, "%s = %.250s", path, wanted);
    d->focus = r.focus;
    if (debugger_assign(d, assignment, &value, &error) != 0) {
        dap_refuse(request, error.text);
        return;
    }
    value_print(debugger_warp(d), &value, r.focus.lane, 0, text, sizeof text);
    dap_respond(request, json_pack("{s:o}", "value", json_text(text)));
}

/* ---- memory and code ---- */

void request_memory(Session *s, const json_t *request)
{
    enum { MOST = 1 << 16 };
    const json_t *arguments = dap_arguments(request);
    const Debugger *d = &s->debugger;
    uint64_t address = strtoull(dap_text(arguments, "memoryReference"), NULL, 0) +
                       (uint64_t)dap_number(arguments, "offset", 0);
    json_int_t count = dap_number(arguments, "count", 0), read = 0;
    char reference[32], why[VALUE_WHY];
    const Warp *warp = debugger_warp(d);
    if (!warp || count < 0) {
        dap_refuse(request, warp ? "count is negative" : "no kernel is stopped");
        return;
    }
    if (count > MOST) count = MOST;
    unsigned char *bytes = malloc((size_t)count + 1);
    size_t room = sodium_base64_ENCODED_LEN((size_t)count, sodium_base64_VARIANT_ORIGINAL);
    char *text = malloc(room);
    for (; bytes && read < count; read++) {
        const unsigned char *at =
            lane_memory(warp, d->focus.lane, address + (uint64_t)read, 1, why, sizeof why);
        if (!at) break;
        bytes[read] = *at;
    }
    if (bytes && text)
        sodium_bin2base64(text, room, bytes, (size_t)read, sodium_base64_VARIANT_ORIGINAL);
    snprintf(reference, sizeof reference, "0x%llx", (unsigned long long)address);
    json_t *body = json_pack("{s:s, s:I}", "address", reference, "unreadableBytes", count - read);
    if (read && text) json_object_set_new(body, "data", json_string(text));
    free(bytes), free(text);
    dap_respond(request, body);
}

void request_disassemble(Session *s, const json_t *request)
{
    enum { MOST = 2000 };
    const json_t *arguments = dap_arguments(request);
    const Debugger *d = &s->debugger;
    long long first = strtoll(dap_text(arguments, "memoryReference"), NULL, 0) +
                      dap_number(arguments, "offset", 0) +
                      dap_number(arguments, "instructionOffset", 0);
    json_int_t count = dap_number(arguments, "instructionCount", 0);
    if (!debugger_warp(d)) {
        dap_refuse(request, "no kernel is stopped");
        return;
    }
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    const char *at = fatbin->ptx, *end = at + fatbin->ptx_bytes;
    json_t *list = json_array();
    char address[32], line[300];
    long long number = 1;
    if (count > MOST) count = MOST;
    while (at < end && number < first) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
        number++;
    }
    /* The requested number of lines, also before the text and after it. */
    for (json_int_t i = 0; i < count; i++) {
        long long mine = first + i;
        const char *stop = mine >= 1 && at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        if (mine >= 1 && at < end) {
            size_t length = (size_t)((stop ? stop : end) - at);
            snprintf(line, sizeof line, "%.*s", (int)(length < 280 ? length : 280), at);
            at = stop ? stop + 1 : end;
        } else {
            snprintf(line, sizeof line, "(not in the PTX)");
        }
        for (char *c = line; *c; c++)
            if (*c == '\t') *c = ' ';
        snprintf(address, sizeof address, mine >= 0 ? "0x%llx" : "0x0", (unsigned long long)mine);
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "address", address, "instruction", json_text(line)));
    }
    dap_respond(request, json_pack("{s:o}", "instructions", list));
}

static int sources_visit(void *context, KernelMap *map)
{
    json_t *list = context, *known;
    for (uint32_t i = 0; i < map->kernel->origins; i++) {
        const char *file = map->spot[i].is_toolkit ? NULL : file_of(map, map->spot[i].file);
        size_t k;
        int is_known = !file;
        json_array_foreach(list, k, known) is_known |=
            file && !strcmp(dap_text(known, "path"), file);
        if (!is_known) json_array_append_new(list, dap_source(file));
    }
    return 0;
}

void request_sources(Session *s, const json_t *request)
{
    json_t *list = json_array();
    debugger_kernels(&s->debugger, sources_visit, list);
    json_array_append_new(
        list, json_pack("{s:s, s:i}", "name", "PTX of the kernel", "sourceReference", PTX_SOURCE));
    dap_respond(request, json_pack("{s:o}", "sources", list));
}

void request_source(Session *s, const json_t *request)
{
    const Debugger *d = &s->debugger;
    if (!debugger_warp(d) ||
        dap_number(dap_arguments(request), "sourceReference", 0) != PTX_SOURCE) {
        dap_refuse(request, "the source is a file; PTX can be read where a kernel is stopped");
        return;
    }
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    char *text = strndup(fatbin->ptx, fatbin->ptx_bytes);
    dap_respond(request,
                json_pack("{s:o, s:s}", "content", json_text(text), "mimeType", "text/plain"));
    free(text);
}

void request_exception_info(Session *s, const json_t *request)
{
    (void)s;
    dap_respond(request,
                json_pack("{s:s, s:o, s:s}", "exceptionId",
                          dap.last_check == SIMT_RACECHECK   ? "race"
                          : dap.last_check == SIMT_INITCHECK ? "uninitialized"
                          : dap.last_check == SIMT_SYNCCHECK ? "barrier"
                                                             : "fault",
                          "description", json_text(dap.last_finding), "breakMode", "always"));
}
