/* memory.c - commands that print memory, and the PTX around the current instruction. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

int command_examine(Session *s, const char *format, const char *arguments)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value;
    Error error;
    static char kind = 'x';
    static uint64_t size = 4;
    unsigned long count = 1;
    char *end = NULL, text[200], why[VALUE_WHY];
    if (isdigit((unsigned char)*format)) {
        count = strtoul(format, &end, 10);
        format = end;
    }
    for (; *format; format++) {
        if (strchr("xduotcfa", *format))
            kind = *format;
        else if (strchr("bhwg", *format))
            size = *format == 'b' ? 1 : *format == 'h' ? 2 : *format == 'w' ? 4 : 8;
        else {
            say(s, "Undefined format or size letter '%c': x d u o t c f a, b h w g.%s\n", *format,
                *format == 'i' ? "  Type disassemble for instructions." : "");
            return 0;
        }
    }
    if (count < 1 || count > 4096) count = count ? 4096 : 1;
    if (kind == 'f' && size < 4) size = 4;
    uint64_t address = s->examine_next;
    if (*arguments) {
        Expression *expression = expression_parse(arguments, NULL, &error);
        if (!expression || debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) {
            say(s, "%s\n", error.text);
            expression_free(expression);
            return 0;
        }
        expression_evaluate(expression, &scene, &value);
        expression_free(expression);
        if (!value.valid) {
            say(s, "%s\n", value.why);
            return 0;
        }
        int scalar = type_is_scalar(value.type) && value.type->kind != TYPE_FLOAT;
        address = scalar ? (uint64_t)value.i[d->focus.lane] : value.address[d->focus.lane];
    }
    const Type type = {.kind = kind == 'f'                  ? TYPE_FLOAT
                               : kind == 'u' || kind == 'x' ? TYPE_UNSIGNED
                                                            : TYPE_INTEGER,
                       .bytes = size};
    const Warp *warp = debugger_warp(d);
    unsigned long row = size == 8 ? 2 : size == 1 ? 8 : 4;
    for (unsigned long i = 0; i < count; i++, address += size) {
        const unsigned char *at = lane_memory(warp, d->focus.lane, address, size, why, sizeof why);
        if (!at) {
            say(s, "%s%s\n", i % row ? "\n" : "", why);
            return 0;
        }
        if (i % row == 0) say(s, "0x%llx:", (unsigned long long)address);
        int64_t bits = 0;
        double f = 0;
        memcpy(&bits, at, size);
        if (kind == 'd')
            bits = size == 1   ? (int8_t)bits
                   : size == 2 ? (int16_t)bits
                   : size == 4 ? (int32_t)bits
                               : bits;
        float single;
        memcpy(&single, at, 4 < size ? 4 : size == 4 ? 4 : 0);
        if (kind == 'f' && size == 4) f = single;
        if (kind == 'f' && size == 8) memcpy(&f, at, 8);
        scalar_print(&type, bits, f, kind == 'f' ? 0 : kind, text, sizeof text);
        say(s, "\t%s%s", text, (i + 1) % row == 0 || i + 1 == count ? "\n" : "");
    }
    s->examine_next = address;
    return 0;
}

static const char *ptx_line(const char *at, const char *end, uint64_t *line, uint64_t wanted)
{
    while (at < end && *line < wanted) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) return NULL;
        at = next + 1, ++*line;
    }
    return at < end ? at : NULL;
}

int command_disassemble(Session *s, const char *arguments)
{
    enum { BEFORE = 6, AFTER = 12 };
    const Debugger *d = &s->debugger;
    Frame frame;
    (void)arguments;
    if (debugger_frame(&s->debugger, &frame) != 0) return 0;
    const Fatbin *fatbin = d->map->kernel->module->fatbin;
    const char *at = fatbin->ptx, *end = at + fatbin->ptx_bytes;
    uint64_t line = 1, from = frame.pc > BEFORE ? frame.pc - BEFORE : 1;
    at = ptx_line(at, end, &line, from);
    say(s, "PTX of %s, by lines of its text:\n", frame.name);
    while (at && line <= frame.pc + AFTER) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        int length = (int)((stop ? stop : end) - at);
        say(s, "%s %6llu  %.*s\n", line == frame.pc ? "=>" : "  ", (unsigned long long)line,
            length < 200 ? length : 200, at);
        if (!stop) break;
        at = stop + 1, line++;
    }
    return 0;
}
