/* commands.c - the command line's language: cuda-gdb's names, and a table of them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

enum { WORD = 256, HELP_COLUMN = 34 };

typedef struct Command {
    const char *name;
    size_t letters; /* length of the shortest abbreviation; 0: the full name */
    int (*run)(Session *session, const char *arguments);
    const char *arguments, *help;
    int needs_stop;
} Command;

static const char *skip(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The next word; what follows it. */
static const char *word_take(const char *at, char word[WORD])
{
    size_t length = 0;
    at = skip(at);
    while (at[length] && !isspace((unsigned char)at[length]) && length + 1 < WORD)
        length++;
    memcpy(word, at, length);
    word[length] = 0;
    return skip(at + length);
}

static int number_of(const char *text, long *number)
{
    char *end;
    text = skip(text);
    *number = strtol(text, &end, 0);
    return end != text && !*skip(end);
}

/* ---- breakpoints ---- */

/* "PLACE if CONDITION" */
static void place_split(const char *arguments, char *place, size_t room, const char **condition)
{
    const char *at = arguments, *found = NULL;
    if (!strncmp(at, "if ", 3)) found = at;
    for (; *at && !found; at++)
        if (isspace((unsigned char)*at) && !strncmp(skip(at), "if", 2) &&
            (isspace((unsigned char)skip(at)[2]) || skip(at)[2] == '('))
            found = skip(at);
    size_t length = found ? (size_t)(found - arguments) : strlen(arguments);
    while (length && isspace((unsigned char)arguments[length - 1]))
        length--;
    snprintf(place, room, "%.*s", (int)length, arguments);
    *condition = found ? skip(found + 2) : NULL;
}

static int break_at(Session *s, const char *arguments, int is_temporary)
{
    char place[300], what[300];
    const char *condition;
    Error error;
    place_split(arguments, place, sizeof place, &condition);
    Breakpoint *b = debugger_break(&s->debugger, place, condition, is_temporary, &error);
    if (!b) {
        say(s, "%s\n", error.text);
        return 0;
    }
    breakpoint_describe(&s->debugger, b, what, sizeof what);
    what[0] = b->kind == BREAK_FUNCTION ? what[0] : what[0];
    if (b->kind == BREAK_LINE && b->asked_line != b->line)
        say(s, "Line %u has no code of a kernel; the next line that has some is %u.\n",
            b->asked_line, b->line);
    say(s, "%s %d at %s.\n", is_temporary ? "Temporary breakpoint" : "Breakpoint", b->number, what);
    return 0;
}

static int command_break(Session *s, const char *arguments)
{
    return break_at(s, arguments, 0);
}

static int command_tbreak(Session *s, const char *arguments)
{
    return break_at(s, arguments, 1);
}

static Breakpoint *breakpoint_named(Session *s, const char *word)
{
    long number;
    Breakpoint *b =
        number_of(word, &number) ? debugger_breakpoint(&s->debugger, (int)number) : NULL;
    if (!b)
        say(s, *word ? "No breakpoint number %s.\n" : "Argument required (breakpoint number).\n",
            word);
    return b;
}

static int command_condition(Session *s, const char *arguments)
{
    char word[WORD];
    Error error;
    arguments = word_take(arguments, word);
    Breakpoint *b = breakpoint_named(s, word);
    if (!b) return 0;
    if (debugger_condition(&s->debugger, b, arguments, &error) != 0)
        say(s, "%s\n", error.text);
    else if (!*arguments)
        say(s, "Breakpoint %d now unconditional.\n", b->number);
    return 0;
}

static int command_ignore(Session *s, const char *arguments)
{
    char word[WORD];
    long count;
    arguments = word_take(arguments, word);
    Breakpoint *b = breakpoint_named(s, word);
    if (!b) return 0;
    if (!number_of(arguments, &count) || count < 0) {
        say(s, "Second argument (specified ignore-count) is missing.\n");
        return 0;
    }
    b->ignore = count;
    say(s, "Will ignore next %ld crossings of breakpoint %d.\n", count, b->number);
    return 0;
}

static int command_delete(Session *s, const char *arguments)
{
    char word[WORD];
    if (!strncmp(arguments, "display", 7)) {
        s->displays = 0;
        return 0;
    }
    arguments = word_take(arguments, word);
    if (!strcmp(word, "breakpoints")) arguments = word_take(arguments, word);
    if (!*word)
        while (s->debugger.breakpoint)
            debugger_delete(&s->debugger, s->debugger.breakpoint->number);
    for (; *word; arguments = word_take(arguments, word)) {
        Breakpoint *b = breakpoint_named(s, word);
        if (b) debugger_delete(&s->debugger, b->number);
    }
    return 0;
}

static int able(Session *s, const char *arguments, int is_enabled)
{
    char word[WORD];
    arguments = word_take(arguments, word);
    if (!*word)
        for (Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
            b->is_enabled = is_enabled;
    for (; *word; arguments = word_take(arguments, word)) {
        Breakpoint *b = breakpoint_named(s, word);
        if (b) b->is_enabled = is_enabled;
    }
    s->debugger.catches = 0;
    for (const Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
        s->debugger.catches |= b->kind == BREAK_CATCH && b->is_enabled ? (int)b->catches : 0;
    return 0;
}

static int command_enable(Session *s, const char *arguments)
{
    return able(s, arguments, 1);
}

static int command_disable(Session *s, const char *arguments)
{
    return able(s, arguments, 0);
}

static int watch_at(Session *s, const char *arguments, WatchKind kind)
{
    static const char *const NAMES[] = {"", "Hardware watchpoint", "Hardware read watchpoint",
                                        "Hardware access (read/write) watchpoint"};
    char expression[300];
    const char *condition;
    Error error;
    place_split(arguments, expression, sizeof expression, &condition);
    if (!*expression) {
        say(s, "Argument required (expression to compute).\n");
        return 0;
    }
    Breakpoint *b = debugger_watch(&s->debugger, expression, kind, condition, &error);
    if (b)
        say(s, "%s %d: %s\n", NAMES[kind], b->number, b->expression);
    else
        say(s, "%s\n", error.text);
    return 0;
}

static int command_watch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_WRITE);
}

static int command_rwatch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_READ);
}

static int command_awatch(Session *s, const char *arguments)
{
    return watch_at(s, arguments, WATCH_ACCESS);
}

static int command_catch(Session *s, const char *arguments)
{
    static const struct {
        const char *name;
        CatchKind kind;
    } KINDS[] = {{"fault", CATCH_FAULT},
                 {"race", CATCH_RACE},
                 {"uninitialized", CATCH_UNINITIALIZED},
                 {"barrier", CATCH_BARRIER},
                 {"end", CATCH_END}};
    char word[WORD];
    word_take(arguments, word);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(word, KINDS[i].name) != 0) continue;
        const Breakpoint *b = debugger_catch(&s->debugger, KINDS[i].kind);
        if (b) say(s, "Catchpoint %d (%s)\n", b->number, word);
        return 0;
    }
    say(s,
        "Catch what? fault, race, uninitialized, barrier (the findings of the checks) or end (of "
        "each launch).\n");
    return 0;
}

static int info_breakpoints(Session *s)
{
    char what[300];
    if (!s->debugger.breakpoint) {
        say(s, "No breakpoints or watchpoints.\n");
        return 0;
    }
    say(s, "Num     Type           Disp Enb What\n");
    for (const Breakpoint *b = s->debugger.breakpoint; b; b = b->next) {
        breakpoint_describe(&s->debugger, b, what, sizeof what);
        say(s, "%-7d %-14s %-4s %-3s %s\n", b->number,
            b->kind == BREAK_CATCH      ? "catchpoint"
            : b->kind != BREAK_WATCH    ? "breakpoint"
            : b->watches == WATCH_WRITE ? "hw watchpoint"
            : b->watches == WATCH_READ  ? "read watchpoint"
                                        : "acc watchpoint",
            b->is_temporary ? "del" : "keep", b->is_enabled ? "y" : "n", what);
        if (*b->condition_text) say(s, "\tstop only if %s\n", b->condition_text);
        if (b->hits)
            say(s, "\tbreakpoint already hit %llu time%s\n", (unsigned long long)b->hits,
                b->hits > 1 ? "s" : "");
        if (b->ignore > 0) say(s, "\tignore next %lld hits\n", (long long)b->ignore);
    }
    return 0;
}

/* ---- execution ---- */

static int command_start(Session *s, const char *arguments)
{
    (void)arguments;
    if (s->progress != BEFORE_RUN) {
        s->wants_restart = 1;
        return 1;
    }
    return 1;
}

static int is_ready(Session *s)
{
    if (s->progress == RUNNING) return 1;
    say(s, "The program is not being run.\n");
    return 0;
}

static int command_continue(Session *s, const char *arguments)
{
    long count = 0;
    if (!is_ready(s)) return 0;
    if (*arguments && number_of(arguments, &count))
        for (Breakpoint *b = s->debugger.breakpoint; b; b = b->next)
            if (b->hits) b->ignore = count - 1;
    say(s, "Continuing.\n");
    debugger_continue(&s->debugger);
    return 1;
}

static int step(Session *s, const char *arguments, StepKind kind)
{
    long count = 1;
    if (!is_ready(s)) return 0;
    if (*arguments && (!number_of(arguments, &count) || count < 1 || count > 1000000000)) {
        say(s, "The count is a number from 1 on, not '%s'.\n", arguments);
        return 0;
    }
    debugger_step(&s->debugger, kind, (uint32_t)count);
    return 1;
}

static int command_step(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_LINE);
}

static int command_next(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_OVER);
}

static int command_stepi(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_INSTRUCTION);
}

static int command_nexti(Session *s, const char *arguments)
{
    return step(s, arguments, STEP_INSTRUCTION_OVER);
}

static int command_finish(Session *s, const char *arguments)
{
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(&s->debugger);
    if (!is_ready(s)) return 0;
    if (warp &&
        frames_at(s->debugger.map, debugger_ins(&s->debugger, warp), all) + warp->calls.count <
            2 + s->debugger.focus.frame) {
        say(s, "\"finish\" not meaningful in the outermost frame.\n");
        return 0;
    }
    return step(s, arguments, STEP_FINISH);
}

static int advance(Session *s, const char *arguments, int until)
{
    Error error;
    if (!is_ready(s)) return 0;
    if (debugger_advance(&s->debugger, arguments, until, &error) == 0) return 1;
    say(s, "%s\n", error.text);
    return 0;
}

static int command_until(Session *s, const char *arguments)
{
    if (*arguments) return advance(s, arguments, 1);
    return step(s, arguments, STEP_UNTIL);
}

static int command_advance(Session *s, const char *arguments)
{
    if (!*arguments) {
        say(s, "Argument required (a location).\n");
        return 0;
    }
    return advance(s, arguments, 0);
}

static int reverse(Session *s, SearchKind kind)
{
    Error error;
    if (!is_ready(s)) return 0;
    if (debugger_reverse(&s->debugger, kind, &error) == 0) return 1;
    say(s, "%s\n", error.text);
    return 0;
}

static int command_reverse_continue(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_BREAKPOINT);
}

static int command_reverse_step(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_LINE);
}

static int command_reverse_next(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_OVER);
}

static int command_reverse_finish(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_CALLER);
}

static int command_reverse_stepi(Session *s, const char *arguments)
{
    (void)arguments;
    return reverse(s, SEARCH_INSTRUCTION);
}

static int command_kill(Session *s, const char *arguments)
{
    (void)arguments;
    if (!is_ready(s)) return 0;
    say(s, "[Inferior killed]\n");
    fflush(NULL);
    _Exit(0);
}

static int command_quit(Session *s, const char *arguments)
{
    (void)s, (void)arguments;
    fflush(NULL);
    _Exit(0);
}

/* ---- data ---- */

/* "/x expression": the format's letter, 0 for none. */
static const char *format_take(Session *s, const char *arguments, char *format)
{
    *format = 0;
    if (*arguments != '/') return arguments;
    if (!arguments[1] || !strchr("dxuotcfa", arguments[1]) ||
        (arguments[2] && !isspace((unsigned char)arguments[2]))) {
        say(s, "Undefined output format \"%.20s\": d, u, x, o, t, c, f or a.\n", arguments + 1);
        return NULL;
    }
    *format = arguments[1];
    return skip(arguments + 2);
}

static int command_print(Session *s, const char *arguments)
{
    char format, text[12000];
    Value value;
    Error error;
    Debugger *d = &s->debugger;
    arguments = format_take(s, arguments, &format);
    if (!arguments) return 0;
    if (!*arguments) {
        say(s, "The expression is missing: print EXPRESSION.\n");
        return 0;
    }
    if (debugger_assign(d, arguments, &value, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    uint32_t lane = d->focus.lane;
    value_print(debugger_warp(d), &value, lane, format, text, sizeof text);
    char type[300] = "";
    if (value.type->kind == TYPE_POINTER && !format) {
        type_name(value.type, type, sizeof type);
        say(s, "$%d = (%s) %s\n", value_history_add(&d->values, value.type, value.i[lane], 0), type,
            text);
        return 0;
    }
    int is_scalar = type_is_scalar(value.type);
    say(s, "$%d = %s\n",
        value_history_add(&d->values, is_scalar ? value.type : &TYPE_OF_INT,
                          is_scalar ? value.i[lane] : 0,
                          is_scalar && type_is_floating(value.type) ? value.f[lane] : 0),
        text);
    return 0;
}

static int command_display(Session *s, const char *arguments)
{
    char format;
    Error error;
    if (!*arguments) {
        displays_print(s);
        return 0;
    }
    arguments = format_take(s, arguments, &format);
    if (!arguments) return 0;
    Expression *expression = expression_parse(arguments, NULL, &error);
    if (!expression || s->displays == DISPLAYS) {
        say(s, "%s\n", expression ? "There are too many displays." : error.text);
        expression_free(expression);
        return 0;
    }
    expression_free(expression);
    Display *display = &s->display[s->displays++];
    *display = (Display){.number = ++s->last_display, .format = format};
    snprintf(display->expression, sizeof display->expression, "%s", arguments);
    if (debugger_warp(&s->debugger)) displays_print(s);
    return 0;
}

static int command_undisplay(Session *s, const char *arguments)
{
    long number;
    if (!*arguments) s->displays = 0;
    if (!number_of(arguments, &number)) return 0;
    for (int i = 0; i < s->displays; i++)
        if (s->display[i].number == number) {
            memmove(&s->display[i], &s->display[i + 1],
                    (size_t)(s->displays-- - i - 1) * sizeof s->display[0]);
            return 0;
        }
    say(s, "There is no display %ld.\n", number);
    return 0;
}

static int command_set(Session *s, const char *arguments)
{
    char word[WORD];
    Value value;
    Error error;
    const char *rest = word_take(arguments, word);
    if (!strcmp(word, "confirm") || !strcmp(word, "pagination") || !strcmp(word, "width") ||
        !strcmp(word, "height") || !strcmp(word, "listsize"))
        return 0;
    if (!strcmp(word, "scheduler-locking")) {
        word_take(rest, word);
        if (!strcmp(word, "on") || !strcmp(word, "off")) {
            say(s, !strcmp(word, "on")
                       ? "Stepping the focus runs other warps only where they come first in the "
                         "order of the simulator, or where the focus waits for them.\n"
                       : "");
            return 0;
        }
        say(s, "Undefined item: \"%s\".\n", word);
        return 0;
    }
    const char *assignment = !strcmp(word, "var") || !strcmp(word, "variable") ? rest : arguments;
    if (!strchr(assignment, '=')) {
        say(s,
            "An assignment is expected: set var x = 1.  cuda-gdb's settings do not exist here; all "
            "checks are always on.\n");
        return 0;
    }
    if (debugger_assign(&s->debugger, assignment, &value, &error) != 0) say(s, "%s\n", error.text);
    return 0;
}

static int type_show(Session *s, const char *arguments, int is_whole)
{
    char text[8000];
    Scene scene;
    Value value;
    Error error;
    Debugger *d = &s->debugger;
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    const char *name = !strncmp(arguments, "struct ", 7) ? skip(arguments + 7) : arguments;
    const Type *type = symbols_type(&d->map->module->symbols, name);
    if (!type) {
        Expression *expression = expression_parse(arguments, NULL, &error);
        if (!expression) {
            say(s, "%s\n", error.text);
            return 0;
        }
        expression_evaluate(expression, &scene, &value);
        expression_free(expression);
        if (!value.valid && value.type->kind == TYPE_VOID) {
            say(s, "%s\n", value.why);
            return 0;
        }
        type = value.type;
    }
    if (is_whole)
        type_describe(type, text, sizeof text);
    else
        type_name(type, text, sizeof text);
    say(s, "type = %s\n", text);
    return 0;
}

static int command_ptype(Session *s, const char *arguments)
{
    return type_show(s, arguments, 1);
}

static int command_whatis(Session *s, const char *arguments)
{
    return type_show(s, arguments, 0);
}

typedef struct Locals {
    Session *session;
    Scene *scene;
    int arguments, count;
} Locals;

static int local_visit(void *context, const Variable *variable)
{
    Locals *locals = context;
    char text[2000];
    Place place;
    Value value;
    Error error;
    if (variable->is_argument != locals->arguments) return 0;
    locals->count++;
    place_of(locals->scene->map, &locals->scene->frame, variable, &place);
    Expression *expression = expression_parse(variable->name, NULL, &error);
    if (!expression) return 0;
    expression_evaluate(expression, locals->scene, &value);
    expression_free(expression);
    if (place.kind == PLACE_NONE)
        snprintf(text, sizeof text, "<optimized out>");
    else
        value_print(locals->scene->warp, &value, locals->session->debugger.focus.lane, 0, text,
                    sizeof text);
    say(locals->session, "%s = %s\n", variable->name, text);
    return 0;
}

static int info_variables(Session *s, int arguments)
{
    Scene scene;
    Error error;
    Debugger *d = &s->debugger;
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    if (*d->map->module->symbols.problem) {
        say(s, "No symbol table info available: %s.\n", d->map->module->symbols.problem);
        return 0;
    }
    Locals locals = {s, &scene, arguments, 0};
    symbols_variables(&d->map->module->symbols, scene.frame.die, scene.frame.pc, 0, local_visit,
                      &locals);
    if (!locals.count) say(s, arguments ? "No arguments.\n" : "No locals.\n");
    return 0;
}

static int info_line(Session *s)
{
    Frame frame;
    if (debugger_frame(&s->debugger, &frame) != 0) {
        say(s, "No kernel is stopped.\n");
        return 0;
    }
    say(s, "Line %u of \"%s\" is at line %llu of the PTX, in %s.\n", frame.line,
        file_base(frame.file), (unsigned long long)frame.pc, frame.name);
    return 0;
}

static int info_registers(Session *s)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Error error;
    char text[100];
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    const CodeScope *scope = &d->map->kernel->scopes.scope[scene.frame.scope];
    for (uint32_t i = 0; i < scope->function->regs; i++) {
        Value value;
        const char *name = scope->function->reg[i].name;
        Expression *expression = scope->slot[i] ? expression_parse(name, NULL, &error) : NULL;
        if (!expression) continue;
        expression_evaluate(expression, &scene, &value);
        expression_free(expression);
        value_print(scene.warp, &value, d->focus.lane, 0, text, sizeof text);
        if (value.valid) say(s, "%-10s %s\n", name, text);
    }
    return 0;
}

static uint64_t hash_add(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    while (bytes--)
        hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}

/* The moment, and a hash of everything that the kernel could see: the same moment always has the
 * same hash (`autograder/tests/debug/random_walks.py`). */
static int info_state(Session *s)
{
    const Debugger *d = &s->debugger;
    uint64_t hash = 0;
    if (!d->warp) {
        say(s, "No kernel is stopped.\n");
        return 0;
    }
    for (uint32_t i = 0; i < d->gpu->memory.count; i++) {
        const Allocation *a = d->gpu->memory.table[i];
        if (!a->freed) hash = hash_add(hash, a->host, a->bytes);
    }
    const Worker *worker = d->warp->worker;
    const uint32_t warps = worker->block.warps;
    hash = hash_add(hash, worker->block.shared, worker->block.shared_bytes);
    hash = hash_add(hash, worker->local, (size_t)d->launch->local_bytes * LANES * warps);
    hash = hash_add(hash, worker->files, worker->file_stride * warps);
    for (uint32_t w = 0; w < warps; w++) {
        const Warp *warp = &worker->warp[w];
        uint32_t where[] = {(uint32_t)(debugger_ins(d, warp) - warp->code), warp->mask, warp->alive,
                            warp->depth, warp->state};
        if (warp == d->warp) where[4] = WARP_READY;
        hash = hash_add(hash, where, sizeof where);
    }
    say(s, "launch %u, block %llu, moment %llu, state %016llx\n", d->run,
        (unsigned long long)worker->block.number,
        (unsigned long long)(d->hook.moment - (uint64_t)(d->is_inside != 0)),
        (unsigned long long)hash);
    return 0;
}

static int command_info(Session *s, const char *arguments)
{
    char word[WORD];
    const char *rest = word_take(arguments, word);
    if (!strcmp(word, "breakpoints") || !strcmp(word, "b") || !strcmp(word, "break") ||
        !strcmp(word, "watchpoints"))
        return info_breakpoints(s);
    if (!strcmp(word, "locals") || !strcmp(word, "args")) return info_variables(s, *word == 'a');
    if (!strcmp(word, "cuda")) return command_info_cuda(s, rest);
    if (!strcmp(word, "line")) return info_line(s);
    if (!strcmp(word, "state")) return info_state(s);
    if (!strcmp(word, "history")) return command_info_history(s);
    if (!strcmp(word, "registers") || !strcmp(word, "r")) return info_registers(s);
    if (!strcmp(word, "frame")) {
        frame_print(s, s->debugger.focus.frame, 1);
        return 0;
    }
    if (!strcmp(word, "display")) {
        for (int i = 0; i < s->displays; i++)
            say(s, "%d:  %s\n", s->display[i].number, s->display[i].expression);
        return 0;
    }
    say(s,
        "info what? breakpoints, locals, args, line, registers, frame, display, history, or cuda "
        "kernels, blocks, warps, lanes, threads or sms.\n");
    return 0;
}

/* ---- the stack and the source ---- */

static int command_backtrace(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(d);
    (void)arguments;
    if (!warp) {
        say(s, "No stack.\n");
        return 0;
    }
    uint32_t count = frames_at(d->map, debugger_ins(d, warp), all);
    for (uint32_t i = 0; i < count; i++)
        frame_print(s, i, 0);
    if (warp->calls.count)
        say(s, "(%u more calls of functions that call themselves are not shown)\n",
            warp->calls.count);
    return 0;
}

static int frame_select(Session *s, long number)
{
    Debugger *d = &s->debugger;
    Frame all[FRAMES_MOST];
    const Warp *warp = debugger_warp(d);
    if (!warp) {
        say(s, "No stack.\n");
        return 0;
    }
    long count = frames_at(d->map, debugger_ins(d, warp), all);
    if (number < 0 || number >= count) {
        say(s, number < 0 ? "Bottom (innermost) frame selected; you can't go down.\n"
                          : "Initial frame selected; you can't go up.\n");
        return 0;
    }
    d->focus.frame = (uint32_t)number;
    s->list_line = 0;
    frame_print(s, d->focus.frame, 0);
    if (all[number].file) {
        const char *text = source_text_line(all[number].file, all[number].line);
        if (text) say(s, "%u\t%s\n", all[number].line, text);
    }
    return 0;
}

static int command_frame(Session *s, const char *arguments)
{
    long number = s->debugger.focus.frame;
    if (*arguments && !number_of(arguments, &number)) {
        say(s, "The frame is a number, as backtrace shows it.\n");
        return 0;
    }
    return frame_select(s, number);
}

static int command_up(Session *s, const char *arguments)
{
    (void)arguments;
    return frame_select(s, (long)s->debugger.focus.frame + 1);
}

static int command_down(Session *s, const char *arguments)
{
    (void)arguments;
    return frame_select(s, (long)s->debugger.focus.frame - 1);
}

static int file_any(void *context, KernelMap *map)
{
    Session *s = context;
    for (uint32_t i = 0; i < map->kernel->origins; i++) {
        if (map->spot[i].is_toolkit) continue;
        const char *file = file_of(map, map->spot[i].file);
        if (!file || !source_lines(file)) continue;
        snprintf(s->list_file, sizeof s->list_file, "%s", file);
        s->list_line = map->spot[i].line;
        return 1;
    }
    return 0;
}

typedef struct Find {
    const char *name;
    Session *session;
} Find;

static int function_any(void *context, KernelMap *map)
{
    const Find *find = context;
    uint32_t ins[1];
    if (!function_instructions(map, find->name, ins, 1)) return 0;
    const Spot *spot = spot_of(map, &map->kernel->code[ins[0]]);
    const char *file = file_of(map, spot->file);
    if (!file) return 0;
    snprintf(find->session->list_file, sizeof find->session->list_file, "%s", file);
    find->session->list_line = spot->line;
    return 1;
}

static int command_list(Session *s, const char *arguments)
{
    enum { SHOWN = 10, BEFORE = 5 };
    Frame frame;
    uint32_t first, last = 0;
    unsigned from, to;
    int has_frame = debugger_frame(&s->debugger, &frame) == 0 && frame.file;
    if (*arguments || !s->list_line) {
        if (has_frame)
            snprintf(s->list_file, sizeof s->list_file, "%s", frame.file);
        else if (!*s->list_file)
            debugger_kernels(&s->debugger, file_any, s);
    }
    first = s->list_line;
    if (*arguments && sscanf(arguments, "%u,%u", &from, &to) == 2) {
        first = from, last = to;
    } else if (*arguments) {
        const char *colon = strrchr(arguments, ':'), *number = colon ? colon + 1 : arguments;
        long line;
        Find find = {arguments, s};
        if (number_of(number, &line) && line > 0) {
            first = line > BEFORE ? (uint32_t)line - BEFORE : 1;
        } else if (debugger_kernels(&s->debugger, function_any, &find)) {
            first = s->list_line > BEFORE ? s->list_line - BEFORE : 1;
        } else {
            say(s, "Function \"%s\" not defined.\n", arguments);
            return 0;
        }
    } else if (!first) {
        uint32_t line = has_frame ? frame.line : 1;
        first = line > BEFORE ? line - BEFORE : 1;
    }
    if (!*s->list_file) {
        say(s, "No source is known.\n");
        return 0;
    }
    uint32_t all = source_lines(s->list_file);
    if (!all || first > all) {
        say(s,
            all ? "Line number %u out of range; \"%s\" has %u lines.\n"
                : "%u\tin %s: the file cannot be read.%.0u\n",
            first, file_base(s->list_file), all);
        return 0;
    }
    if (!last) last = first + SHOWN - 1;
    for (uint32_t line = first; line <= last && line <= all; line++)
        say(s, "%u\t%s\n", line, source_text_line(s->list_file, line));
    s->list_line = last + 1;
    return 0;
}

static int command_echo(Session *s, const char *arguments)
{
    say(s, "%s\n", arguments);
    return 0;
}

static int command_x(Session *s, const char *arguments)
{
    char word[WORD] = "";
    if (*arguments == '/') arguments = word_take(arguments + 1, word);
    return command_examine(s, word, arguments);
}

static int command_help(Session *s, const char *arguments);

static const Command COMMANDS[] = {
    {"run", 1, command_start, "", "start the program, or start it again", 0},
    {"break", 1, command_break, "[FILE:]LINE|KERNEL [if CONDITION]", "stop there", 0},
    {"tbreak", 2, command_tbreak, "PLACE [if CONDITION]", "stop there once", 0},
    {"condition", 4, command_condition, "NUMBER [CONDITION]", "stop only where it is true", 0},
    {"ignore", 3, command_ignore, "NUMBER COUNT", "pass the breakpoint so often", 0},
    {"delete", 1, command_delete, "[NUMBER ...]", "delete breakpoints", 0},
    {"enable", 2, command_enable, "[NUMBER ...]", "enable breakpoints", 0},
    {"disable", 3, command_disable, "[NUMBER ...]", "disable breakpoints", 0},
    {"watch", 2, command_watch, "EXPRESSION [if CONDITION]", "stop when its value changes", 1},
    {"rwatch", 2, command_rwatch, "EXPRESSION", "stop when it is read", 1},
    {"awatch", 2, command_awatch, "EXPRESSION", "stop when it is read or changes", 1},
    {"catch", 3, command_catch, "fault|race|uninitialized|barrier|end", "stop at a finding", 0},
    {"continue", 1, command_continue, "[COUNT]", "go on", 0},
    {"next", 1, command_next, "[COUNT]", "to the next line; calls are one step", 0},
    {"step", 1, command_step, "[COUNT]", "to the next line, into calls", 0},
    {"stepi", 5, command_stepi, "[COUNT]", "one PTX instruction", 0},
    {"nexti", 5, command_nexti, "[COUNT]", "one PTX instruction; calls are one step", 0},
    {"si", 2, command_stepi, NULL, NULL, 0},
    {"ni", 2, command_nexti, NULL, NULL, 0},
    {"finish", 3, command_finish, "", "to the end of this function", 0},
    {"until", 1, command_until, "[PLACE]", "past the end of this loop, or to PLACE", 0},
    {"advance", 3, command_advance, "PLACE", "to PLACE", 0},
    {"reverse-continue", 9, command_reverse_continue, "", "back to the last breakpoint", 0},
    {"reverse-step", 9, command_reverse_step, "", "back to the line before, into calls", 0},
    {"reverse-next", 9, command_reverse_next, "", "back to the line before", 0},
    {"reverse-finish", 9, command_reverse_finish, "", "back to the call of this function", 0},
    {"reverse-stepi", 13, command_reverse_stepi, "", "back one PTX instruction", 0},
    {"rc", 2, command_reverse_continue, NULL, NULL, 0},
    {"rs", 2, command_reverse_step, NULL, NULL, 0},
    {"rn", 2, command_reverse_next, NULL, NULL, 0},
    {"print", 1, command_print, "[/x] EXPRESSION", "the value in the thread in focus", 0},
    {"inspect", 3, command_print, NULL, NULL, 0},
    {"lanes", 3, command_lanes, "EXPRESSION", "the values in the 32 lanes of the warp", 1},
    {"block", 3, command_block, "EXPRESSION", "the values in all threads of the block", 1},
    {"display", 4, command_display, "[/x] EXPRESSION", "print it at each stop", 0},
    {"undisplay", 4, command_undisplay, "[NUMBER]", "no more", 0},
    {"x", 1, command_x, "[/COUNT FORMAT SIZE] ADDRESS", "memory", 1},
    {"ptype", 2, command_ptype, "EXPRESSION|TYPE", "its type", 0},
    {"whatis", 4, command_whatis, "EXPRESSION", "its type's name", 0},
    {"set", 3, command_set, "var NAME = EXPRESSION", "change a variable", 0},
    {"info", 1, command_info, "breakpoints|locals|args|cuda ...", "what is there", 0},
    {"cuda", 4, command_focus, "[block (X,Y)] [thread (X,Y)] ...", "show or move the focus", 1},
    {"thread", 3, command_focus, NULL, NULL, 1},
    {"backtrace", 2, command_backtrace, "", "the calls that lead here", 0},
    {"bt", 2, command_backtrace, NULL, NULL, 0},
    {"where", 3, command_backtrace, NULL, NULL, 0},
    {"frame", 1, command_frame, "[NUMBER]", "select a frame", 0},
    {"up", 2, command_up, "", "to the caller", 0},
    {"down", 3, command_down, "", "to the function called", 0},
    {"list", 1, command_list, "[LINE|FILE:LINE|FUNCTION]", "source lines", 0},
    {"disassemble", 6, command_disassemble, "", "PTX around this place", 1},
    {"writer", 6, command_writer, "PLACE", "go back to who last wrote it", 0},
    {"readers", 6, command_readers, "PLACE", "who has read it in this launch", 1},
    {"tile", 4, command_tile, "NAME ROWSxCOLUMNS", "shared memory and who wrote each word", 1},
    {"tensor", 6, command_tensor, "NAME[n=0,...]|ADDRESS",
     "a tensor's element, or what an address is", 0},
    {"diff", 4, command_diff, "", "go to the write of the first wrong output", 0},
    {"kill", 1, command_kill, "", "end the program", 0},
    {"quit", 1, command_quit, "", "end the debugger", 0},
    {"exit", 4, command_quit, NULL, NULL, 0},
    {"echo", 4, command_echo, NULL, NULL, 0},
    {"help", 1, command_help, "[COMMAND]", "this", 0},
};

enum { COMMANDS_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static const Command *command_find(const char *word)
{
    size_t length = strlen(word);
    for (int i = 0; i < COMMANDS_COUNT; i++)
        if (!strcmp(COMMANDS[i].name, word)) return &COMMANDS[i];
    for (int i = 0; i < COMMANDS_COUNT; i++)
        if (length >= COMMANDS[i].letters && !strncmp(COMMANDS[i].name, word, length))
            return &COMMANDS[i];
    return NULL;
}

static int command_help(Session *s, const char *arguments)
{
    char word[WORD];
    word_take(arguments, word);
    const Command *one = *word ? command_find(word) : NULL;
    if (*word && !one) {
        say(s, "Undefined command: \"%s\".  Try \"help\".\n", word);
        return 0;
    }
    for (int i = 0; i < COMMANDS_COUNT; i++) {
        char left[120];
        if (!COMMANDS[i].help || (one && one != &COMMANDS[i])) continue;
        snprintf(left, sizeof left, "%s %s", COMMANDS[i].name, COMMANDS[i].arguments);
        say(s, "%-*s  %s\n", HELP_COLUMN, left, COMMANDS[i].help);
    }
    return 0;
}

static const Command *command_of(const char *line, size_t *length)
{
    char word[WORD];
    size_t n = 0;
    while ((isalnum((unsigned char)line[n]) || line[n] == '-' || line[n] == '_') && n + 1 < WORD)
        n++;
    memcpy(word, line, n);
    word[n] = 0, *length = n;
    return n ? command_find(word) : NULL;
}

int is_command(const char *line)
{
    return command_of(skip(line), &(size_t){0}) != NULL;
}

int command_run(Session *s, const char *line)
{
    size_t length;
    line = skip(line);
    if (!*line || *line == '#') return 0;
    const Command *command = command_of(line, &length);
    if (!command) {
        say(s, "Undefined command: \"%.*s\".  Try \"help\".\n", length ? (int)length : 60, line);
        return 0;
    }
    if (command->needs_stop && !debugger_warp(&s->debugger)) {
        say(s, "%s\n", debugger_why_no_thread(&s->debugger));
        return 0;
    }
    return command->run(s, skip(line + length));
}

char *command_complete(const char *text, int state)
{
    static int next;
    if (!state) next = 0;
    while (next < COMMANDS_COUNT) {
        const Command *command = &COMMANDS[next++];
        if (!strncmp(command->name, text, strlen(text)) && command->help)
            return strdup(command->name);
    }
    return NULL;
}
