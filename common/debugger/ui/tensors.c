/* tensors.c - commands about tensors: their elements, the writer of an element, and the first wrong
 * output. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/debugger/ui/session.h"

static double float_at(Session *s, uint64_t address, int *is_there)
{
    const Allocation *a = memory_find(&s->debugger.gpu->memory, address);
    float value = 0;
    *is_there = a && !a->freed && address + 4 <= a->address + a->bytes;
    if (*is_there) memcpy(&value, a->host + (address - a->address), 4);
    return value;
}

/* Describes a pointer's target. 0: the expression is none. */
static int pointer_describe(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    Scene scene;
    Value value = {.type = &TYPE_OF_VOID};
    Error error;
    char text[500];
    if (debugger_scene(d, 1u << d->focus.lane, &scene, &error) != 0) return 0;
    Expression *expression = expression_parse(arguments, NULL, &error);
    if (!expression) return 0;
    expression_evaluate(expression, &scene, &value);
    expression_free(expression);
    if (!value.valid || value.type->kind != TYPE_POINTER) return 0;
    uint64_t address = (uint64_t)value.i[d->focus.lane];
    debugger_describe(d, address, text, sizeof text);
    say(s, "%s points to 0x%llx: %s\n", arguments, (unsigned long long)address, text);
    return 1;
}

int command_tensor(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    uint64_t address, bytes;
    const Type *type;
    char text[500];
    Error error;
    int is_there;
    if (!*arguments) {
        int count = 0;
        for (uint32_t i = 0; d->gpu && i < d->gpu->memory.count; i++) {
            const Allocation *a = d->gpu->memory.table[i];
            if (a->freed || !a->array.rank) continue;
            say(s, "%s", a->array.name);
            for (uint32_t k = 0; k < a->array.rank; k++)
                say(s, "[%c=%llu]", a->array.axis[k], (unsigned long long)a->array.dim[k]);
            say(s, " at 0x%llx\n", (unsigned long long)a->address);
            count++;
        }
        if (!count) say(s, "There are no tensors: labs name theirs when they call your code.\n");
        return 0;
    }
    if (isdigit((unsigned char)*arguments)) {
        address = strtoull(arguments, NULL, 0);
        debugger_describe(d, address, text, sizeof text);
        say(s, "0x%llx is %s\n", (unsigned long long)address, text);
        return 0;
    }
    if (pointer_describe(s, arguments)) return 0;
    if (debugger_locate(d, arguments, &address, &bytes, &type, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    debugger_describe(d, address, text, sizeof text);
    double value = float_at(s, address, &is_there);
    if (is_there && type == &TYPE_OF_FLOAT)
        say(s, "%s = %.9g, at 0x%llx: %s\n", arguments, value, (unsigned long long)address, text);
    else
        say(s, "%s is at 0x%llx: %s\n", arguments, (unsigned long long)address, text);
    return 0;
}

int command_writer(Session *s, const char *arguments)
{
    uint64_t address, bytes;
    const Type *type;
    Error error;
    if (!*arguments) {
        say(s, "Say what: writer y[0,1,2,3], writer tile[3][4] or another place in memory.\n");
        return 0;
    }
    if (debugger_locate(&s->debugger, arguments, &address, &bytes, &type, &error) != 0 ||
        debugger_writer(&s->debugger, arguments, address, bytes, &error) != 0) {
        say(s, "%s\n", error.text);
        return 0;
    }
    return 1;
}

/* Finds the first output that differs from the lab's oracle, and goes back to its writer. */
int command_diff(Session *s, const char *arguments)
{
    Debugger *d = &s->debugger;
    char text[300];
    Error error;
    int is_there;
    (void)arguments;
    if (!s->expecteds) {
        say(s,
            "diff needs a lab's expected output, and this program has none: make debug LAB=NN.\n");
        return 0;
    }
    if (!d->gpu) {
        say(s, "The program is not being run.\n");
        return 0;
    }
    if (debugger_warp(d)) {
        say(s, "diff compares when a launch has ended: catch end, then continue.\n");
        return 0;
    }
    for (size_t i = 0; i < s->expecteds; i++) {
        uint64_t address = s->expected_address + i * 4;
        double value = float_at(s, address, &is_there), difference = value - s->expected[i];
        if (!is_there || (difference <= s->tolerance[i] && -difference <= s->tolerance[i]))
            continue;
        debugger_describe(d, address, text, sizeof text);
        say(s, "%s: it is %.9g, and should be %.9g.\n", text, value, s->expected[i]);
        if (debugger_writer(d, text, address, 4, &error) == 0) return 1;
        say(s, "%s\n", error.text);
        return 0;
    }
    say(s, "All %zu outputs are what they should be.\n", s->expecteds);
    return 0;
}
