/* fuzz_command.c - libFuzzer target for lines typed at the debugger's prompt, before, during and
 * after two launches of a small recorded kernel: `make fuzz`. */
#include "common/debugger/ui/fuzz_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

enum { LINES = 40, LINE_ROOM = 1200 };

static const char *next_line;
static size_t left; /* bytes from next_line on */
static int lines_done, is_over;

/* 0: there are no more lines. */
static int line_take(char line[LINE_ROOM])
{
    if (!left || lines_done == LINES) return 0;
    const char *end = memchr(next_line, '\n', left);
    size_t length = end ? (size_t)(end - next_line) : left, used = 0;
    for (size_t i = 0; i < length && used + 1 < LINE_ROOM; i++)
        line[used++] = next_line[i] ? next_line[i] : '?';
    line[used] = 0;
    length += end != NULL;
    next_line += length, left -= length, lines_done++;
    return 1;
}

/* Until a line lets the program continue, as prompt_run. */
static void lines_run(Session *s)
{
    char line[LINE_ROOM];
    if (setjmp(fuzz_leave)) is_over = 1; /* quit */
    while (!is_over && line_take(line)) {
        free(command_complete(line, 0));
        int goes_on = command_run(s, line);
        if (s->wants_restart) is_over = 1;
        if (goes_on) return;
    }
    is_over = 1;
    debugger_kill(&s->debugger);
}

static void stopped(Session *s, const Stop *stop)
{
    if (!survey_end(s, stop)) stop_report(s, stop);
    lines_run(s);
}

static void ui_stopped(Debugger *debugger, const Stop *stop)
{
    stopped((Session *)debugger, stop);
}

static void output_drop(Session *s, const char *text)
{
    (void)s;
    if (strlen(text) > 1 << 20) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Session s;
    next_line = (const char *)data, left = size, lines_done = is_over = 0;
    fuzz_session_open(&s);
    s.ui = (DebugUi){.stopped = ui_stopped, .say = log_point_say};
    s.write = output_drop, s.stopped = stopped;
    lines_run(&s);
    if (!is_over) fuzz_program_run(&s);
    if (!is_over) lines_run(&s);
    fuzz_session_close(&s);
    return 0;
}

static const char *const WORD[] = {"0",
                                   "1",
                                   "2",
                                   "7",
                                   "33",
                                   "40",
                                   "-1",
                                   "2147483647",
                                   "18446744073709551615",
                                   "0x700000000000",
                                   "1e308",
                                   "0.5f",
                                   "sum",
                                   "tile",
                                   "p",
                                   "p.w",
                                   "p.next",
                                   "p.next->w[1]",
                                   "x",
                                   "y",
                                   "i",
                                   "j",
                                   "v",
                                   "u",
                                   "t",
                                   "a",
                                   "K",
                                   "color",
                                   "BLUE",
                                   "counter",
                                   "threadIdx.x",
                                   "blockIdx",
                                   "blockDim.y",
                                   "warpSize",
                                   "%rd1",
                                   "%r1",
                                   "%p1",
                                   "%f2",
                                   "%f4294967295",
                                   "$1",
                                   "$",
                                   "$$",
                                   "*",
                                   "&",
                                   "->",
                                   "[",
                                   "]",
                                   "(",
                                   ")",
                                   "(",
                                   "{",
                                   " if ",
                                   "@",
                                   "/x",
                                   "/f",
                                   "/s",
                                   "/c",
                                   "/999999u",
                                   "?",
                                   ":",
                                   "::",
                                   "==",
                                   "=",
                                   "+=",
                                   "<<",
                                   ">>",
                                   "%",
                                   "/",
                                   "-",
                                   "!",
                                   "~",
                                   "&&",
                                   "||",
                                   "(int*)",
                                   "(unsigned long long)",
                                   "(struct Size*)",
                                   "(char)",
                                   "sizeof(p)",
                                   "sums<2>",
                                   "multiply",
                                   "fuzz_kernel.cu:",
                                   "\"text\"",
                                   "'c'",
                                   "float",
                                   "Size"};

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const FuzzWords WORDS = {FUZZ_COMMAND, WORD, sizeof FUZZ_COMMAND / sizeof *FUZZ_COMMAND,
                                    sizeof WORD / sizeof *WORD};
    return fuzz_lines_mutate(data, size, room, 0, seed, &WORDS);
}
