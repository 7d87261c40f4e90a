/* stop.c - what is said of a stop, a frame and the focus, as cuda-gdb says it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

void (*session_exit)(int status) __attribute__((noreturn)) = _Exit;

void say(Session *s, const char *format, ...)
{
    char text[16384];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    s->write(s, text);
}

void launch_text(const Debugger *d, char *text, size_t bytes)
{
    char name[256] = "?";
    const LaunchRecord *record = d->run < d->history.launches ? &d->history.launch[d->run] : NULL;
    if (!record) {
        snprintf(text, bytes, "no kernel");
        return;
    }
    const SimtLaunch *launch = &record->request;
    kernel_demangled_name(record->kernel, name, sizeof name);
    snprintf(text, bytes, "%s<<<(%u,%u,%u),(%u,%u,%u)>>>", name, launch->grid[0], launch->grid[1],
             launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
}

void focus_print(Session *s)
{
    const Debugger *d = &s->debugger;
    const Warp *warp = debugger_warp(d);
    uint32_t thread[3];
    if (!warp) {
        say(s, "Focus not set on any active CUDA kernel.\n");
        return;
    }
    const uint32_t *block = warp->block->id;
    thread_of(warp, d->focus.lane, thread);
    say(s,
        "[Switching focus to CUDA kernel %u, grid %u, block (%u,%u,%u), thread (%u,%u,%u), device "
        "0, sm %u, warp %u, lane %u]\n",
        d->run, d->launches, block[0], block[1], block[2], thread[0], thread[1], thread[2],
        *(const uint32_t *)(const void *)(warp->file + SR_SMID * LANES * 4), warp->index,
        d->focus.lane);
}

typedef struct Arguments {
    Session *session;
    Scene *scene;
    char text[1024];
    size_t used;
} Arguments;

static int argument_visit(void *context, const Variable *variable)
{
    Arguments *a = context;
    char one[300];
    Value value;
    Error error;
    if (!variable->is_argument || a->used + 2 >= sizeof a->text) return 0;
    Expression *expression = expression_parse(variable->name, NULL, &error);
    if (!expression) return 0;
    expression_evaluate(expression, a->scene, &value);
    expression_free(expression);
    value_print(a->scene->warp, &value, a->session->debugger.focus.lane, 0, one, sizeof one);
    if (!value.valid) snprintf(one, sizeof one, "<optimized out>");
    if (value.valid && !type_is_scalar(value.type)) snprintf(one, sizeof one, "...");
    a->used += (size_t)snprintf(a->text + a->used, sizeof a->text - a->used, "%s%s=%.200s",
                                a->used ? ", " : "", variable->name, one);
    if (a->used >= sizeof a->text) a->used = sizeof a->text - 1;
    return 0;
}

static void source_line_print(Session *s, const char *file, uint32_t line)
{
    const char *text = source_text_line(file, line);
    if (text)
        say(s, "%u\t%s\n", line, text);
    else if (line)
        say(s, "%u\tin %s\n", line, file_base(file));
}

void frame_print(Session *s, uint32_t number, int with_source)
{
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    Warp *warp = debugger_warp(d);
    char launch[400];
    if (!warp || !d->map) {
        say(s, "No stack.\n");
        return;
    }
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    if (number >= count) return;
    Frame *frame = &all[number];
    Scene scene = {.warp = warp, .map = d->map, .frame = *frame, .mask = 1u << d->focus.lane};
    Arguments arguments = {.session = s, .scene = &scene};
    symbols_variables(&d->map->module->symbols, frame->die, frame->pc, 0, argument_visit,
                      &arguments);
    launch_text(d, launch, sizeof launch);
    int is_kernel = number + 1 == count;
    if (!with_source) say(s, "#%-3u", number);
    say(s, "%s%s (%s) at %s:%u\n", is_kernel ? launch : frame->name, "", arguments.text,
        frame->file ? file_base(frame->file) : "??", frame->line);
    if (with_source && frame->file) source_line_print(s, frame->file, frame->line);
}

static int is_same_frame(const Session *s)
{
    const Debugger *d = &s->debugger;
    return s->has_shown && s->shown.block == d->focus.block && s->shown.warp == d->focus.warp &&
           s->shown.lane == d->focus.lane && s->shown_launch == d->run;
}

void displays_print(Session *s)
{
    char text[2048];
    for (int i = 0; i < s->displays; i++) {
        const Display *display = &s->display[i];
        Scene scene;
        Value value;
        Error error;
        if (debugger_scene(&s->debugger, 1u << s->debugger.focus.lane, &scene, &error) != 0) return;
        Expression *expression = expression_parse(display->expression, NULL, &error);
        if (!expression) continue;
        expression_evaluate(expression, &scene, &value);
        expression_free(expression);
        value_print(scene.warp, &value, s->debugger.focus.lane, display->format, text, sizeof text);
        if (value.valid) say(s, "%d: %s = %s\n", display->number, display->expression, text);
    }
}

static void finding_print(Session *s, const Stop *stop)
{
    static const struct {
        SimtCheck check;
        const char *name;
    } NAMES[] = {{SIMT_MEMCHECK, "CUDA_EXCEPTION_14, Warp Illegal Address"},
                 {SIMT_RACECHECK, "race"},
                 {SIMT_INITCHECK, "uninitialized read"},
                 {SIMT_SYNCCHECK, "barrier error"},
                 {SIMT_TRAP, "CUDA_EXCEPTION_12, Assert or trap"}};
    const char *name = "fault";
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].check == stop->check) name = NAMES[i].name;
    say(s, "\nCUDA finding: %s\n%s\n", name, stop->text);
}

void stop_report(Session *s, const Stop *stop)
{
    Debugger *d = &s->debugger;
    char launch[400], before[64] = "";
    static uint32_t before_line, before_count;
    static char before_file[512];
    Frame frame;
    if (stop->kind == STOP_LAUNCH_END) {
        launch_text(d, launch, sizeof launch);
        if (*stop->text) finding_print(s, stop);
        say(s, "\nCatchpoint %d, %s has ended; the program has not continued yet.\n", stop->number,
            launch);
        s->has_shown = 0;
        return;
    }
    if (stop->kind == STOP_FINDING) finding_print(s, stop);
    if (stop->kind == STOP_BREAKPOINT && *stop->text) say(s, "%s\n", stop->text);
    if (stop->kind == STOP_WATCH || stop->kind == STOP_HISTORY_END) say(s, "\n%s\n", stop->text);
    if ((stop->kind == STOP_STEP || stop->kind == STOP_ARRIVED) && *stop->text)
        say(s, "%s\n", stop->text);
    if (!is_same_frame(s)) focus_print(s);
    if (stop->kind == STOP_INTERRUPT) say(s, "\nProgram received signal SIGINT, Interrupt.\n");
    if (stop->kind == STOP_BREAKPOINT)
        snprintf(before, sizeof before, "\n%s %d, ",
                 stop->is_temporary ? "Temporary breakpoint" : "Breakpoint", stop->number);
    uint32_t count = 0;
    if (debugger_frame(d, &frame) == 0) {
        Frame all[FRAMES_MOST];
        count = frames_at(d->map, debugger_ins(d, debugger_warp(d)), all);
    }
    /* In the same function a step shows the line alone. */
    int is_step = stop->kind == STOP_STEP || (stop->kind == STOP_ARRIVED && !*stop->text);
    if (is_step && is_same_frame(s) && count == before_count && frame.file &&
        !strcmp(before_file, frame.file)) {
        source_line_print(s, frame.file, frame.line);
    } else {
        s->write(s, before);
        frame_print(s, 0, 1);
    }
    if (count && frame.file) {
        before_line = frame.line, before_count = count;
        snprintf(before_file, sizeof before_file, "%s", frame.file);
    }
    (void)before_line;
    s->shown = d->focus, s->has_shown = 1, s->shown_launch = d->run;
    s->list_line = 0;
    displays_print(s);
}

void log_point_say(Debugger *debugger, const char *text)
{
    Session *s = (Session *)debugger;
    char line[2000];
    size_t used = 0;
    for (const char *at = text; *at && used + 2 < sizeof line; at++) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        char expression[EXPRESSION_TEXT], value_text[400] = "?";
        Scene scene;
        Value value;
        Error error;
        if (!end || end - at >= EXPRESSION_TEXT) {
            line[used++] = *at;
            continue;
        }
        snprintf(expression, sizeof expression, "%.*s", (int)(end - at - 1), at + 1);
        Expression *parsed = expression_parse(expression, NULL, &error);
        if (parsed && debugger_scene(debugger, 1u << debugger->focus.lane, &scene, &error) == 0) {
            expression_evaluate(parsed, &scene, &value);
            value_print(scene.warp, &value, debugger->focus.lane, 0, value_text, sizeof value_text);
        }
        expression_free(parsed);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s", value_text);
        if (used >= sizeof line) used = sizeof line - 1;
        at = end;
    }
    line[used] = 0;
    say(s, "%s\n", line);
}
