/* fuzz_session.h - what fuzz_command.c and fuzz_dap.c share: a session with two launches of the
 * recorded kernel, and mutations of lines.
 *
 * The simulated GPU and the module are loaded once. An input gets a new session, and memory as it
 * was. The programs read common/debugger/ui/fuzz_kernel.ptx and .cu, from the repository's root. */
#ifndef CONVLAB_DEBUGGER_UI_FUZZ_SESSION_H
#define CONVLAB_DEBUGGER_UI_FUZZ_SESSION_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"
#include "common/simulator/launch/simt.h"
#include "common/simulator/ptx/fuzz_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

enum { FUZZ_BLOCKS = 2, FUZZ_THREADS = 40, FUZZ_FLOATS = FUZZ_BLOCKS * FUZZ_THREADS * 2 };

/* Parameters of the kernel. */
typedef struct FuzzParameters {
    uint64_t y, x;
    struct {
        int32_t n;
        unsigned char c[4];
        float w[2];
        uint64_t next;
    } size;
    int64_t step;
} FuzzParameters;

typedef struct FuzzProgram {
    SimtGpu *gpu;
    SimtKernel *kernel;
    FuzzParameters parameters;
} FuzzProgram;

static FuzzProgram fuzz_program;
static jmp_buf fuzz_leave; /* target of session_exit */

static void __attribute__((noreturn)) fuzz_exit(int status)
{
    (void)status;
    longjmp(fuzz_leave, 1);
}

static char *fuzz_file(const char *path, size_t *bytes)
{
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST);
    FILE *stream = fopen(path, "r");
    if (!text || !stream) {
        fprintf(stderr, "%s cannot be read: start in the repository's root\n", path);
        exit(2);
    }
    *bytes = fread(text, 1, MOST, stream);
    fclose(stream);
    return text;
}

static void fuzz_array(SimtGpu *gpu, char name, uint64_t dim, uint64_t *address)
{
    Error error;
    ArrayName array = {.name = {name}, .axis = "nk", .rank = 2, .dim = {2, dim / 2}};
    if (simt_alloc(gpu, dim * sizeof(float), address, &error) != 0 ||
        simt_name(gpu, *address, &array, &error) != 0)
        abort();
}

static void fuzz_program_open(void)
{
    SimtMachine machine;
    Error error;
    SimtOptions options = {.threads = 1, .initcheck = 1, .racecheck = 1};
    size_t bytes;
    char *ptx = fuzz_file("common/debugger/ui/fuzz_kernel.ptx", &bytes);
    if (machine_load("common/simulator/gpus", "h200", &machine, &error)) abort();
    machine.memory_bytes = 1u << 20;
    SimtGpu *gpu = simt_open(&machine, &options, &error);
    SimtModule *module = gpu ? simt_module_load(gpu, ptx, bytes, 0, &error) : NULL;
    if (!module) abort();
    FuzzParameters *p = &fuzz_program.parameters;
    fuzz_program.gpu = gpu, fuzz_program.kernel = &module->kernel[0];
    fuzz_array(gpu, 'x', FUZZ_FLOATS, &p->x), fuzz_array(gpu, 'y', FUZZ_FLOATS / 2, &p->y);
    p->size.n = 5, p->size.c[0] = 1, p->size.c[1] = 2, p->size.w[0] = 3, p->size.w[1] = 4;
    free(ptx);
}

/* As when a program has started.  The user interface sets `write` and `stopped`. */
static void fuzz_session_open(Session *s)
{
    float values[FUZZ_FLOATS];
    Error error;
    SimtGpu *gpu;
    if (!fuzz_program.gpu) fuzz_program_open();
    gpu = fuzz_program.gpu;
    for (int i = 0; i < FUZZ_FLOATS; i++)
        values[i] = (float)(i % 10);
    gpu->launches = 0;
    simt_modules_restore(gpu), simt_findings_clear(gpu);
    if (simt_write(gpu, fuzz_program.parameters.x, values, sizeof values, &error) != 0 ||
        simt_poison(gpu, fuzz_program.parameters.y, sizeof values / 2, 0x7fc00000, &error) != 0)
        abort();
    session_exit = fuzz_exit;
    static double zeros[FUZZ_FLOATS]; /* for `diff`: the first outputs are not */
    *s = (Session){.progress = BEFORE_RUN,
                   .expected_address = fuzz_program.parameters.y,
                   .expected = zeros,
                   .tolerance = zeros,
                   .expecteds = FUZZ_FLOATS / 2};
    debugger_open(&s->debugger, &s->ui);
    /* The kernels that are known before the program runs. */
    s->debugger.scratch = gpu, gpu->debug = &s->debugger.hook;
}

static void fuzz_program_run(Session *s)
{
    SimtResult result;
    SimtLaunch launch = {.grid = {FUZZ_BLOCKS, 1, 1},
                         .block = {FUZZ_THREADS, 1, 1},
                         .params = &fuzz_program.parameters,
                         .params_bytes = sizeof fuzz_program.parameters};
    s->progress = RUNNING;
    debugger_attach(&s->debugger, fuzz_program.gpu);
    for (int i = 0; i < 2 && !s->debugger.is_killed; i++, launch.grid[0]--)
        simt_launch(fuzz_program.gpu, fuzz_program.kernel, &launch, &result);
    s->progress = ENDED;
    s->debugger.warp = NULL, s->debugger.gpu = NULL;
}

static void fuzz_session_close(Session *s)
{
    Debugger *d = &s->debugger;
    fuzz_program.gpu->debug = NULL;
    while (d->breakpoint)
        debugger_delete(d, d->breakpoint->number);
    history_close(&d->history);
    free(s->survey.word), free(d->values.value), free(d->mark), free(d->worker);
}

/* ---- mutations ---- */

/* Lines at the prompt, which are also valid in an editor's console. */
static const char *const FUZZ_COMMAND[] = {"break 33\n",
                                           "break sums\n",
                                           "break multiply\n",
                                           "break 39 if threadIdx.x == 3\n",
                                           "tbreak 21\n",
                                           "break *700\n",
                                           "run\n",
                                           "continue\n",
                                           "continue 2\n",
                                           "next\n",
                                           "step\n",
                                           "stepi\n",
                                           "nexti 3\n",
                                           "finish\n",
                                           "until\n",
                                           "until 41\n",
                                           "advance 43\n",
                                           "reverse-continue\n",
                                           "reverse-step\n",
                                           "reverse-next\n",
                                           "reverse-finish\n",
                                           "reverse-stepi\n",
                                           "print sum\n",
                                           "print/x i\n",
                                           "print *x@4\n",
                                           "print p\n",
                                           "print tile[0][threadIdx.x + 1]\n",
                                           "print $1 + $2\n",
                                           "print &sum[1]\n",
                                           "print %r3\n",
                                           "print (float)i / K\n",
                                           "lanes v\n",
                                           "lanes color\n",
                                           "block threadIdx.x * 2 + i\n",
                                           "display/x j\n",
                                           "undisplay 1\n",
                                           "undisplay\n",
                                           "info locals\n",
                                           "info args\n",
                                           "info breakpoints\n",
                                           "info display\n",
                                           "info line\n",
                                           "info registers\n",
                                           "info history\n",
                                           "info state\n",
                                           "info source\n",
                                           "info cuda kernels\n",
                                           "info cuda blocks\n",
                                           "info cuda warps\n",
                                           "info cuda lanes\n",
                                           "info cuda threads\n",
                                           "info cuda sms\n",
                                           "ptype p\n",
                                           "ptype struct Size\n",
                                           "whatis tile\n",
                                           "x/8fw y\n",
                                           "x/4xb &tile\n",
                                           "x/2i 700\n",
                                           "x\n",
                                           "set var i = 3\n",
                                           "set var sum[1] = 2.5f\n",
                                           "set var %r3 = 1\n",
                                           "set var x[1] = 7\n",
                                           "set scheduler-locking on\n",
                                           "cuda block (1,0) thread (3,0)\n",
                                           "cuda warp 1 lane 5\n",
                                           "cuda kernel 0\n",
                                           "cuda thread\n",
                                           "thread 9\n",
                                           "backtrace\n",
                                           "up\n",
                                           "down\n",
                                           "frame 1\n",
                                           "list\n",
                                           "list 20,30\n",
                                           "list multiply\n",
                                           "list fuzz_kernel.cu:9\n",
                                           "disassemble\n",
                                           "watch sum[0]\n",
                                           "watch tile[0][1] if i > 3\n",
                                           "rwatch x[4]\n",
                                           "awatch counter\n",
                                           "catch fault\n",
                                           "catch race\n",
                                           "catch uninitialized\n",
                                           "catch barrier\n",
                                           "catch end\n",
                                           "writer y[0,3]\n",
                                           "writer tile[0][2]\n",
                                           "writer counter\n",
                                           "readers x[0,5]\n",
                                           "readers tile\n",
                                           "tile tile 2x33\n",
                                           "tile tile\n",
                                           "tensor y[n=0,k=1]\n",
                                           "tensor 0x700000000010\n",
                                           "diff\n",
                                           "condition 1 i == 4\n",
                                           "condition 1\n",
                                           "ignore 1 2\n",
                                           "delete 1\n",
                                           "delete\n",
                                           "enable 1\n",
                                           "disable 1\n",
                                           "help\n",
                                           "help break\n",
                                           "echo text\n",
                                           "quit\n",
                                           "kill\n"};

/* Texts that an input is made of. */
typedef struct FuzzWords {
    const char *const *line, *const *word; /* complete lines, and parts of lines */
    size_t lines, words;
} FuzzWords;

static size_t fuzz_line_start(const uint8_t *data, size_t size, size_t from, uint64_t *state)
{
    size_t at = from + (size > from ? mutate_next(state) % (size - from + 1) : 0);
    while (at > from && data[at - 1] != '\n')
        at--;
    return at;
}

static size_t fuzz_line_end(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && data[at] != '\n')
        at++;
    return at < size ? at + 1 : size;
}

static size_t fuzz_insert(uint8_t *data, size_t size, size_t room, size_t at, const char *text)
{
    size_t length = strlen(text), made = mutate_move(data, size, room, at, (long)length);
    if (made > size) memcpy(data + at, text, length);
    return made;
}

static int fuzz_is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Replaces one word, or what is at `at`, by another. */
static size_t fuzz_replace(uint8_t *data, size_t size, size_t room, size_t at, const char *text)
{
    size_t end = at;
    while (end < size && fuzz_is_word(data[end]))
        end++;
    while (at > 0 && fuzz_is_word(data[at - 1]))
        at--;
    size = mutate_move(data, size, room, at, -(long)(end - at));
    return fuzz_insert(data, size, room, at, text);
}

/* One mutation; the first `from` bytes are no line. */
static size_t fuzz_lines_mutate(uint8_t *data, size_t size, size_t room, size_t from, unsigned seed,
                                const FuzzWords *words)
{
    uint64_t state = seed * 2654435761u + 1;
    const char *line = words->line[mutate_next(&state) % words->lines];
    const char *word = words->word[mutate_next(&state) % words->words];
    size_t at = fuzz_line_start(data, size, from, &state), end = fuzz_line_end(data, size, at);
    switch (mutate_next(&state) % 12) {
    case 0:
        return mutate_move(data, size, room, at, -(long)(end - at));
    case 1: { /* a line twice */
        char copy[300];
        snprintf(copy, sizeof copy, "%.*s", (int)(end - at), (const char *)data + at);
        return fuzz_insert(data, size, room, fuzz_line_start(data, size, from, &state), copy);
    }
    case 2:
    case 3:
        if (size <= from) return size;
        return fuzz_replace(data, size, room, from + mutate_next(&state) % (size - from), word);
    case 4:
        return fuzz_insert(data, size, room, from + mutate_next(&state) % (size - from + 1), word);
    case 5:
        return mutate(data, size, room, &state);
    case 6:
        return LLVMFuzzerMutate(data, size, room);
    default:
        return fuzz_insert(data, size, room, at, line);
    }
}

#endif
