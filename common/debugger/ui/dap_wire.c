/* dap_wire.c - reads and writes frames, and makes responses and events. */
#include "common/debugger/ui/dap_wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1: all bytes; 0: the end. */
static int bytes_read(int descriptor, char *to, size_t bytes)
{
    while (bytes) {
        ssize_t got = read(descriptor, to, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        to += got, bytes -= (size_t)got;
    }
    return 1;
}

/* A header line without its end; -1: the end of input, -2: too long. */
static int line_read(int descriptor, char *line, size_t room)
{
    size_t used = 0;
    for (;;) {
        char c;
        if (!bytes_read(descriptor, &c, 1)) return -1;
        if (c == '\n') break;
        if (used + 1 >= room) return -2;
        line[used++] = c;
    }
    if (used && line[used - 1] == '\r') used--;
    line[used] = 0;
    return (int)used;
}

static FrameStatus bad(char *why, size_t bytes, const char *text)
{
    snprintf(why, bytes, "%s", text);
    return FRAME_BAD;
}

static int is_request(const json_t *message)
{
    json_int_t sequence = json_integer_value(json_object_get(message, "seq"));
    const char *type = json_string_value(json_object_get(message, "type"));
    return type && !strcmp(type, "request") && sequence > 0 && sequence <= INT32_MAX &&
           *dap_command(message);
}

FrameStatus frame_read(int descriptor, json_t **message, char *why, size_t bytes)
{
    enum { HEADER_LINES = 16 };
    static const char NAME[] = "content-length:", TYPE[] = "content-type:";
    char line[256];
    long length = -1;
    int lines = 0, used;
    *message = NULL;
    while ((used = line_read(descriptor, line, sizeof line)) != 0) {
        if (used == -1) return FRAME_END;
        if (used == -2) return bad(why, bytes, "a header line has more than 255 letters");
        if (++lines > HEADER_LINES) return bad(why, bytes, "a header has more than 16 lines");
        for (char *c = line; *c && *c != ':'; c++)
            *c = (char)tolower((unsigned char)*c);
        if (!strncmp(line, NAME, sizeof NAME - 1))
            length = strtol(line + sizeof NAME - 1, NULL, 10);
        else if (strncmp(line, TYPE, sizeof TYPE - 1) != 0) /* for example a browser's request */
            return bad(why, bytes, "a header line is neither Content-Length nor Content-Type");
    }
    if (length < 0) return bad(why, bytes, "a header has no Content-Length");
    if (length > FRAME_MOST) return bad(why, bytes, "a message is larger than 8 MiB");
    char *text = malloc((size_t)length + 1);
    if (!text) return bad(why, bytes, "out of host memory");
    if (!bytes_read(descriptor, text, (size_t)length)) {
        free(text);
        return FRAME_END;
    }
    json_error_t error;
    *message = json_loadb(text, (size_t)length, 0, &error);
    free(text);
    if (*message && is_request(*message)) return FRAME_OK;
    snprintf(why, bytes,
             "a message is no JSON object that is a request with seq and command: %.100s",
             *message ? "it is ignored" : error.text);
    json_decref(*message);
    *message = NULL;
    return FRAME_MALFORMED;
}

int frame_write(int descriptor, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL, head[64];
    json_decref(message);
    if (!text) return -1;
    size_t bytes = strlen(text), at = 0;
    int used = snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", bytes);
    char *all = malloc((size_t)used + bytes);
    if (all) {
        memcpy(all, head, (size_t)used), memcpy(all + used, text, bytes);
        bytes += (size_t)used;
        while (at < bytes) {
            ssize_t sent = write(descriptor, all + at, bytes - at);
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) break;
            at += (size_t)sent;
        }
    }
    free(all), free(text);
    return all && at == bytes ? 0 : -1;
}

json_t *json_text(const char *text)
{
    char *copy = strdup(text ? text : "");
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 127 || ((unsigned char)*c < ' ' && !strchr("\n\t\r", *c)))
            *c = '?';
    json_t *json = json_string(copy ? copy : "");
    free(copy);
    return json;
}

const char *dap_command(const json_t *request)
{
    const char *command = json_string_value(json_object_get(request, "command"));
    return command ? command : "";
}

static json_t *response_of(int sequence, const json_t *request, int success)
{
    return json_pack("{s:i, s:s, s:I, s:b, s:o}", "seq", sequence, "type", "response",
                     "request_seq", json_integer_value(json_object_get(request, "seq")), "success",
                     success, "command", json_text(dap_command(request)));
}

json_t *dap_response(int sequence, const json_t *request, json_t *body)
{
    json_t *response = response_of(sequence, request, 1);
    json_object_set_new(response, "body", body ? body : json_object()); /* some clients want one */
    return response;
}

json_t *dap_failure(int sequence, const json_t *request, const char *message)
{
    json_t *response = response_of(sequence, request, 0);
    json_object_set_new(response, "message", json_text(message));
    json_object_set_new(response, "body",
                        json_pack("{s:{s:i, s:o, s:b}}", "error", "id", 1, "format",
                                  json_text(message), "showUser", 1));
    return response;
}

json_t *dap_event(int sequence, const char *event, json_t *body)
{
    json_t *message =
        json_pack("{s:i, s:s, s:s}", "seq", sequence, "type", "event", "event", event);
    json_object_set_new(message, "body", body ? body : json_object());
    return message;
}

json_t *dap_capabilities(void)
{
    static const char *const ABLE[] = {"supportsConfigurationDoneRequest",
                                       "supportsFunctionBreakpoints",
                                       "supportsConditionalBreakpoints",
                                       "supportsHitConditionalBreakpoints",
                                       "supportsEvaluateForHovers",
                                       "supportsStepBack",
                                       "supportsSetVariable",
                                       "supportsExceptionInfoRequest",
                                       "supportsLogPoints",
                                       "supportsLoadedSourcesRequest",
                                       "supportsDataBreakpoints",
                                       "supportsReadMemoryRequest",
                                       "supportsDisassembleRequest",
                                       "supportsCancelRequest",
                                       "supportsTerminateRequest",
                                       "supportsSteppingGranularity",
                                       "supportsInstructionBreakpoints",
                                       "supportsValueFormattingOptions"};
    static const struct {
        const char *filter, *label;
        int is_default;
    } FILTERS[] = {{"fault", "Faults: invalid addresses, assert, trap", 1},
                   {"barrier", "Barriers that are never completed", 1},
                   {"race", "Races between threads", 0},
                   {"uninitialized", "Reads of memory that nothing wrote", 0},
                   {"end", "End of each launch", 0}};
    json_t *able = json_object(), *filters = json_array();
    for (size_t i = 0; i < sizeof ABLE / sizeof *ABLE; i++)
        json_object_set_new(able, ABLE[i], json_true());
    for (size_t i = 0; i < sizeof FILTERS / sizeof *FILTERS; i++)
        json_array_append_new(filters,
                              json_pack("{s:s, s:s, s:b}", "filter", FILTERS[i].filter, "label",
                                        FILTERS[i].label, "default", FILTERS[i].is_default));
    json_object_set_new(able, "exceptionBreakpointFilters", filters);
    return able;
}
