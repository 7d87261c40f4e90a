/* fuzz_dap.c - libFuzzer target for the Debug Adapter Protocol: headers, JSON, and requests in any
 * order, before, during and after two launches of a small recorded kernel: `make fuzz`.
 *
 * The first byte of an input holds options. Without OPTION_RAW, each line is the name of a request
 * and its arguments, and gets a header and a sequence number; with it, the rest of the input is
 * what the client sends. The thread that reads is replaced by calls of dap_reader, so that
 * executions do not depend on time. */
#include <sys/mman.h>
#include <unistd.h>

#include "common/debugger/ui/dap_parts.h"
#include "common/debugger/ui/dap_wire.h"
#include "common/debugger/ui/fuzz_session.h"
#include "common/debugger/ui/prompt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

enum {
    OPTION_RAW = 1,
    OPTION_STOPS_ON_ENTRY = 2,
    OPTION_LATE = 4, /* the second half of the lines arrives while a kernel executes */
    REQUESTS_MOST = 40,
    MESSAGES_ROOM = 1 << 17
};

typedef struct Bytes {
    char text[MESSAGES_ROOM];
    size_t count;
} Bytes;

static Bytes early, late;
static int is_over, late_is_read;
static int expected; /* responses to the requests that were read */

static void message_add(Bytes *to, const char *line, int length, int sequence)
{
    const char *space = memchr(line, ' ', (size_t)length);
    int name = space ? (int)(space - line) : length;
    char *text;
    int bytes = asprintf(&text, "{\"seq\":%d,\"type\":\"request\",\"command\":\"%.*s\"%s%.*s}",
                         sequence, name, line, space ? ",\"arguments\":" : "",
                         space ? length - name : 0, line + name);
    if (bytes < 0) abort();
    /* %.*s ends at a zero byte. */
    bytes = snprintf(to->text + to->count, MESSAGES_ROOM - to->count,
                     "Content-Length: %d\r\n\r\n%s", bytes, text);
    if (bytes > 0 && to->count + (size_t)bytes < MESSAGES_ROOM) to->count += (size_t)bytes;
    free(text);
}

static int lines_count(const char *text, size_t size)
{
    int lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines + 1;
}

static void messages_make(const char *text, size_t size, int options)
{
    int lines = lines_count(text, size);
    early.count = late.count = 0;
    if (options & OPTION_RAW) {
        early.count = size < MESSAGES_ROOM ? size : MESSAGES_ROOM;
        memcpy(early.text, text, early.count);
        return;
    }
    for (int i = 0; size && i < REQUESTS_MOST; i++) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        message_add(options & OPTION_LATE && i >= lines / 2 ? &late : &early, text, (int)length,
                    i + 1);
        length += end != NULL;
        text += length, size -= length;
    }
}

/* Responses that were sent in this execution. */
static int responses_count(void)
{
    static char text[32 << 20];
    int found = 0;
    ssize_t bytes = pread(dap.out, text, sizeof text - 1, 0);
    if (bytes < 0) abort();
    text[bytes] = 0;
    for (const char *at = text; (at = strstr(at, "\"type\":\"response\"")); at++)
        found++;
    return found;
}

/* Reads all messages into the queue, except those that are answered at once. */
static void messages_read(Session *s, const Bytes *bytes)
{
    int before = dap.count + responses_count();
    if (ftruncate(dap.in, 0) != 0 || lseek(dap.in, 0, SEEK_SET) != 0 ||
        write(dap.in, bytes->text, bytes->count) != (ssize_t)bytes->count ||
        lseek(dap.in, 0, SEEK_SET) != 0)
        abort();
    if (setjmp(fuzz_leave) == 0) dap_reader(s);
    expected += dap.count + responses_count() - before;
}

static void (*debugger_begins)(DebugHook *hook, struct Launch *launch);

static void launch_begins(DebugHook *hook, struct Launch *launch)
{
    debugger_begins(hook, launch);
    if (late_is_read || !late.count) return;
    late_is_read = 1;
    messages_read((Session *)hook, &late);
}

/* At a stop, session_exit ends the launch instead of the process. */
static void ui_stopped(Debugger *debugger, const Stop *stop)
{
    Session *s = (Session *)debugger;
    if (setjmp(fuzz_leave)) is_over = 1;
    if (is_over)
        debugger_kill(debugger);
    else
        s->stopped(s, stop);
}

static void dap_restart(int options)
{
    if (!dap.out) {
        json_object_seed(1);
        dap.in = memfd_create("messages", 0), dap.out = memfd_create("answers", 0);
    }
    if (ftruncate(dap.out, 0) != 0 || lseek(dap.out, 0, SEEK_SET) != 0) abort();
    free(dap.captured);
    dap.captured = NULL, dap.captured_bytes = 0;
    dap.sequence = dap.first = dap.count = dap.is_closed = dap.references = 0;
    dap.is_capturing = dap.is_configured = dap.is_paused = dap.is_over = 0;
    dap.last_finding[0] = 0, dap.last_check = SIMT_OK;
    dap.stops_on_entry = (options & OPTION_STOPS_ON_ENTRY) != 0;
}

static void conversation(Session *s)
{
    messages_read(s, &early);
    if (setjmp(fuzz_leave)) is_over = 1;
    if (!is_over) dap_before_run(s);
    if (!is_over) fuzz_program_run(s);
    if (setjmp(fuzz_leave)) is_over = 1;
    if (!is_over) dap_serve_after_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Session s;
    int options = size ? data[0] : 0;
    is_over = late_is_read = expected = 0;
    messages_make((const char *)data + (size > 0), size - (size > 0), options);
    fuzz_session_open(&s);
    dap_restart(options);
    s.ui = (DebugUi){.stopped = ui_stopped, .say = log_point_say};
    s.write = dap_capture, s.stopped = dap_stopped;
    debugger_begins = s.debugger.hook.begin, s.debugger.hook.begin = launch_begins;
    conversation(&s);
    for (json_t *left; (left = dap_message_take(0)); expected--)
        json_decref(left);
    if (expected != responses_count()) abort(); /* each request has one response */
    fuzz_session_close(&s);
    return 0;
}

static const char *const LINE[] = {
    "configurationDone\n",
    "threads\n",
    "stackTrace {\"threadId\":1,\"startFrame\":0}\n",
    "scopes {\"frameId\":1}\n",
    "variables {\"variablesReference\":2}\n",
    "variables {\"variablesReference\":4,\"start\":1,\"count\":3,\"format\":{\"hex\":true}}\n",
    "setVariable {\"variablesReference\":3,\"name\":\"i\",\"value\":\"3\"}\n",
    "setBreakpoints {\"source\":{\"path\":\"fuzz_kernel.cu\"},\"breakpoints\":[{\"line\":33}]}\n",
    "setBreakpoints {\"source\":{\"path\":\"fuzz_kernel.cu\"},\"breakpoints\":[{\"line\":39,"
    "\"condition\":\"threadIdx.x == 3\",\"hitCondition\":\"2\",\"logMessage\":\"i {i} {sum}\"}]}\n",
    "setFunctionBreakpoints {\"breakpoints\":[{\"name\":\"multiply\"}]}\n",
    "setInstructionBreakpoints {\"breakpoints\":[{\"instructionReference\":\"0x120\","
    "\"offset\":1}]}\n",
    "setExceptionBreakpoints {\"filters\":[\"fault\",\"end\",\"uninitialized\"]}\n",
    "dataBreakpointInfo {\"variablesReference\":3,\"name\":\"sum\"}\n",
    "dataBreakpointInfo {\"name\":\"counter\"}\n",
    "setDataBreakpoints {\"breakpoints\":[{\"dataId\":\"counter\",\"accessType\":\"write\"}]}\n",
    "evaluate {\"expression\":\"sum[1]\",\"frameId\":1,\"context\":\"hover\"}\n",
    "evaluate {\"expression\":\"lanes v\",\"context\":\"repl\"}\n",
    "evaluate {\"expression\":\"writer y[0,3]\",\"context\":\"repl\"}\n",
    "evaluate {\"expression\":\"tile tile 2x33\",\"context\":\"repl\"}\n",
    "evaluate {\"expression\":\"catch end\",\"context\":\"repl\"}\n",
    "continue {\"threadId\":1}\n",
    "next {\"threadId\":1}\n",
    "stepIn {\"threadId\":1}\n",
    "next {\"threadId\":1,\"granularity\":\"instruction\"}\n",
    "stepOut {\"threadId\":1}\n",
    "stepBack {\"threadId\":1}\n",
    "stepBack {\"threadId\":1,\"granularity\":\"instruction\"}\n",
    "reverseContinue {\"threadId\":1}\n",
    "pause {\"threadId\":1}\n",
    "readMemory {\"memoryReference\":\"0x700000000000\",\"offset\":4,\"count\":64}\n",
    "disassemble {\"memoryReference\":\"0x120\",\"instructionOffset\":-5,"
    "\"instructionCount\":20}\n",
    "loadedSources\n",
    "source {\"sourceReference\":1}\n",
    "exceptionInfo {\"threadId\":1}\n",
    "cancel {\"requestId\":3}\n",
    "disconnect {\"terminateDebuggee\":true}\n",
    "terminate\n",
    "initialize {\"adapterID\":\"cuda\"}\n",
    "launch {}\n"};
static const char *const WORD[] = {"0",
                                   "1",
                                   "2",
                                   "3",
                                   "5",
                                   "8",
                                   "33",
                                   "41",
                                   "-1",
                                   "2147483648",
                                   "9223372036854775807",
                                   "1e308",
                                   "0x120",
                                   "0x700000000000",
                                   "true",
                                   "null",
                                   "[]",
                                   "{}",
                                   "\"\"",
                                   "[{}]",
                                   "\"x\":",
                                   "\"line\":",
                                   "\"breakpoints\":",
                                   "\"condition\":",
                                   "\"hitCondition\":",
                                   "\"logMessage\":",
                                   "\"name\":",
                                   "\"source\":",
                                   "\"path\":",
                                   "\"frameId\":",
                                   "\"threadId\":",
                                   "\"filters\":",
                                   "\"count\":",
                                   "\"start\":",
                                   "\"dataId\":",
                                   "\"accessType\":",
                                   "\"offset\":",
                                   "\"levels\":",
                                   "\"sourceReference\":",
                                   "\"granularity\":",
                                   "\"context\":",
                                   "\"format\":",
                                   "sum",
                                   "tile",
                                   "p",
                                   "p.w",
                                   "i",
                                   "j",
                                   "x",
                                   "y",
                                   "v",
                                   "multiply",
                                   "sums",
                                   "counter",
                                   "readWrite",
                                   "read",
                                   "watch",
                                   "repl",
                                   "hover",
                                   "statement",
                                   "instruction",
                                   "race",
                                   "barrier",
                                   "end",
                                   "{i}",
                                   "{",
                                   "}",
                                   "next",
                                   "step",
                                   "reverse-step",
                                   "info locals",
                                   "x/8fw y",
                                   "print p",
                                   "\\u0000",
                                   "\\ud800",
                                   "\r\n\r\n",
                                   "Content-Length: 20",
                                   "Content-Length: -1",
                                   "Content-Length: 99999999999999"};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const FuzzWords WORDS = {LINE, WORD, sizeof LINE / sizeof *LINE,
                                    sizeof WORD / sizeof *WORD};
    char text[600];
    uint64_t state = seed + 7u;
    const char *command =
        FUZZ_COMMAND[mutate_next(&state) % (sizeof FUZZ_COMMAND / sizeof *FUZZ_COMMAND)];
    const char *line = LINE[mutate_next(&state) % WORDS.lines];
    if (!size) data[size++] = OPTION_STOPS_ON_ENTRY;
    if (mutate_next(&state) % 40 == 0) data[0] ^= (uint8_t)(1 << mutate_next(&state) % 3);
    if (mutate_next(&state) % 4) return fuzz_lines_mutate(data, size, room, 1, seed, &WORDS);
    if (mutate_next(&state) % 2) {
        snprintf(text, sizeof text, "evaluate {\"expression\":\"%.*s\",\"context\":\"repl\"}\n",
                 (int)strlen(command) - 1, command);
        line = text;
    }
    if (!(data[0] & OPTION_RAW))
        return fuzz_insert(data, size, room, fuzz_line_start(data, size, 1, &state), line);
    late.count = 0; /* not in use between executions */
    message_add(&late, line, (int)strlen(line) - 1, 1 + (int)(seed % 9));
    snprintf(text, sizeof text, "%.*s", (int)late.count, late.text);
    return fuzz_insert(data, size, room, size, text);
}
