/* dap_wire.h - frames of the Debug Adapter Protocol: "Content-Length: n", a blank line, JSON. */
#ifndef CONVLAB_DEBUGGER_UI_DAP_WIRE_H
#define CONVLAB_DEBUGGER_UI_DAP_WIRE_H

#include <jansson.h>
#include <stddef.h>

enum { FRAME_MOST = 8 << 20 };

typedef enum FrameStatus { FRAME_OK, FRAME_END, FRAME_BAD, FRAME_MALFORMED } FrameStatus;

/* The next message.  FRAME_END: the other side is gone; FRAME_BAD: the header makes no sense, so
 * that nothing after it can be read; FRAME_MALFORMED: this message is no JSON object.  `why` says
 * what is wrong. */
FrameStatus frame_read(int descriptor, json_t **message, char *why, size_t bytes);
/* -1: the other side is gone.  Takes the reference to `message`. */
int frame_write(int descriptor, json_t *message);
/* Any bytes as a JSON string. */
json_t *json_text(const char *text);

json_t *dap_capabilities(void);
/* A response to `request`; body may be NULL. */
json_t *dap_response(int sequence, const json_t *request, json_t *body);
json_t *dap_failure(int sequence, const json_t *request, const char *message);
json_t *dap_event(int sequence, const char *event, json_t *body);
const char *dap_command(const json_t *request); /* "" if there is none */

#endif
