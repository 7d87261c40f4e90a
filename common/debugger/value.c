/* value.c - reads, writes and prints values. */
#include "common/debugger/value.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_SHOWN = 200, PRINT_DEPTH = 6 };

int type_is_floating(const Type *type)
{
    return type->kind == TYPE_FLOAT || type->kind == TYPE_HALF || type->kind == TYPE_BFLOAT16;
}

int type_is_scalar(const Type *type)
{
    switch (type->kind) {
    case TYPE_ARRAY:
    case TYPE_STRUCT:
    case TYPE_VOID:
    case TYPE_FUNCTION:
        return 0;
    default:
        return type->bytes == 1 || type->bytes == 2 || type->bytes == 4 || type->bytes == 8;
    }
}

void value_no(Value *value, const char *format, ...)
{
    va_list list;
    value->valid = 0;
    value->type = &TYPE_OF_VOID;
    value->home = HOME_NONE;
    va_start(list, format);
    vsnprintf(value->why, sizeof value->why, format, list);
    va_end(list);
}

/* ---- memory ---- */

unsigned char *lane_memory(const Warp *warp, uint32_t lane, uint64_t address, uint64_t bytes,
                           char *why, size_t room)
{
    const Worker *worker = warp->worker;
    uint64_t offset, size;
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        offset = address - SHARED_WINDOW, size = warp->block->shared_bytes;
        if (offset <= size && bytes <= size - offset) return warp->block->shared + offset;
        snprintf(why, room, "offset %llu is outside the %llu bytes of shared memory of the block",
                 (unsigned long long)offset, (unsigned long long)size);
        return NULL;
    }
    if (address - LOCAL_WINDOW < WINDOW_BYTES) {
        offset = address - LOCAL_WINDOW, size = worker->launch->local_bytes;
        if (offset <= size && bytes <= size - offset)
            return warp->local + (size_t)lane * size + offset;
        snprintf(why, room, "offset %llu is outside the %llu bytes of local memory of the thread",
                 (unsigned long long)offset, (unsigned long long)size);
        return NULL;
    }
    if (address - PARAM_WINDOW < WINDOW_BYTES) {
        offset = address - PARAM_WINDOW, size = worker->params_bytes;
        if (offset <= size && bytes <= size - offset)
            return (unsigned char *)(uintptr_t)worker->params + offset;
        snprintf(why, room, "offset %llu is outside the parameters", (unsigned long long)offset);
        return NULL;
    }
    const Allocation *a = memory_find(&worker->gpu->memory, address);
    if (a && !a->freed && bytes <= a->address + a->bytes - address)
        return a->host + (address - a->address);
    char near[400] = "";
    if (address >= DEVICE_BASE && address < DEVICE_BASE + worker->gpu->memory.reserved)
        memory_describe(&worker->gpu->memory, address, near, sizeof near);
    snprintf(why, room, "cannot access device memory at address 0x%llx%s%.150s",
             (unsigned long long)address, *near ? ": it is " : "", near);
    return NULL;
}

double half_value(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023, value;
    if (exponent == 31)
        value = bits & 1023 ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

double bfloat_value(uint32_t bits)
{
    float value;
    bits <<= 16;
    memcpy(&value, &bits, 4);
    return value;
}

static uint64_t bits_read(const unsigned char *at, uint64_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits;
}

static void lane_set(Value *value, uint32_t lane, uint64_t bits)
{
    const Type *type = value->type;
    float single;
    switch (type->kind) {
    case TYPE_FLOAT:
        if (type->bytes == 8) {
            memcpy(&value->f[lane], &bits, 8);
        } else {
            memcpy(&single, &bits, 4);
            value->f[lane] = single;
        }
        return;
    case TYPE_HALF:
        value->f[lane] = half_value((uint32_t)bits);
        return;
    case TYPE_BFLOAT16:
        value->f[lane] = bfloat_value((uint32_t)bits);
        return;
    case TYPE_INTEGER:
    case TYPE_ENUM:
    case TYPE_CHAR:
        value->i[lane] = type->bytes == 1   ? (int8_t)bits
                         : type->bytes == 2 ? (int16_t)bits
                         : type->bytes == 4 ? (int32_t)bits
                                            : (int64_t)bits;
        return;
    default:
        value->i[lane] = (int64_t)bits;
    }
}

static void register_load(const Warp *warp, Value *value)
{
    const char *slot = warp->file + value->slot;
    uint64_t bytes = value->type->bytes < value->width ? value->type->bytes : value->width;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint64_t bits = 0;
        if (value->width)
            memcpy(&bits, slot + lane * value->width, bytes);
        else
            bits = *(const uint32_t *)(const void *)slot >> lane & 1;
        lane_set(value, lane, bits);
    }
}

void value_load(const Warp *warp, Value *value, uint32_t mask)
{
    if (!type_is_scalar(value->type) || value->home == HOME_NONE) return;
    if (value->home == HOME_REGISTER) {
        register_load(warp, value);
        return;
    }
    for (uint32_t m = mask & value->valid; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        const unsigned char *at = lane_memory(warp, lane, value->address[lane], value->type->bytes,
                                              value->why, sizeof value->why);
        if (at)
            lane_set(value, lane, bits_read(at, value->type->bytes));
        else
            value->valid &= ~(1u << lane);
    }
}

static uint64_t lane_bits(const Value *value, uint32_t lane)
{
    const Type *type = value->type;
    uint64_t bits = 0;
    float single = (float)value->f[lane];
    if (type->kind == TYPE_FLOAT && type->bytes == 8) {
        memcpy(&bits, &value->f[lane], 8);
        return bits;
    }
    if (type->kind == TYPE_FLOAT || type->kind == TYPE_BFLOAT16) {
        memcpy(&bits, &single, 4);
        return type->kind == TYPE_FLOAT ? bits : bits >> 16;
    }
    return (uint64_t)value->i[lane];
}

int value_store(Warp *warp, Value *value, uint32_t mask, char *why, size_t room)
{
    if (!type_is_scalar(value->type) || value->type->kind == TYPE_HALF) {
        snprintf(why, room, "only numbers and pointers can be assigned");
        return -1;
    }
    if (value->home != HOME_MEMORY && value->home != HOME_REGISTER) {
        snprintf(why, room, "left operand of assignment is not a modifiable variable");
        return -1;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t bits = lane_bits(value, lane);
        if (value->home == HOME_REGISTER && !value->width) {
            uint32_t *p = (uint32_t *)(void *)(warp->file + value->slot);
            *p = (*p & ~(1u << lane)) | (uint32_t)(bits != 0) << lane;
        } else if (value->home == HOME_REGISTER) {
            memcpy(warp->file + value->slot + lane * value->width, &bits, value->width);
        } else {
            unsigned char *at =
                lane_memory(warp, lane, value->address[lane], value->type->bytes, why, room);
            if (!at) return -1;
            if (value->address[lane] - PARAM_WINDOW < WINDOW_BYTES) {
                snprintf(why, room, "parameters of a kernel cannot be changed");
                return -1;
            }
            memcpy(at, &bits, value->type->bytes);
        }
    }
    return 0;
}

/* ---- printing ---- */

typedef struct Out {
    char *text;
    size_t bytes, used;
} Out;

__attribute__((format(printf, 2, 3))) static void out(Out *o, const char *format, ...)
{
    va_list list;
    if (o->used + 1 >= o->bytes) return;
    va_start(list, format);
    int more = vsnprintf(o->text + o->used, o->bytes - o->used, format, list);
    va_end(list);
    o->used += more > 0 ? (size_t)more : 0;
    if (o->used >= o->bytes) o->used = o->bytes - 1;
}

static void letter_print(int64_t i, Out *o)
{
    int c = (int)(unsigned char)i;
    if (isprint(c) && c != '\'' && c != '\\')
        out(o, "%d '%c'", (int)i, c);
    else
        out(o, "%d '\\%03o'", (int)i, (unsigned)c);
}

static void binary_print(uint64_t bits, Out *o)
{
    int top = 63;
    while (top > 0 && !(bits >> top & 1))
        top--;
    for (; top >= 0; top--)
        out(o, "%d", (int)(bits >> top & 1));
}

int64_t value_integer(double f)
{
    return f >= 9.2233720368547758e18   ? INT64_MAX
           : f > -9.2233720368547758e18 ? (int64_t)f
                                        : INT64_MIN;
}

static int integer_print(const Type *type, int64_t i, double f, char format, Out *o)
{
    uint64_t bits = (uint64_t)i;
    if (type_is_floating(type)) {
        if (format == 'f') return 0;
        bits = (uint64_t)value_integer(f);
    }
    if (type->bytes < 8) bits &= (1ull << 8 * type->bytes) - 1;
    switch (format) {
    case 'x':
        out(o, "0x%llx", (unsigned long long)bits);
        return 1;
    case 'o':
        out(o, "0%llo", (unsigned long long)bits);
        return 1;
    case 't':
        binary_print(bits, o);
        return 1;
    case 'u':
        out(o, "%llu", (unsigned long long)bits);
        return 1;
    case 'd':
        out(o, "%lld", type_is_floating(type) ? (long long)f : (long long)i);
        return 1;
    case 'c':
        letter_print(i, o);
        return 1;
    case 'a':
        out(o, "0x%llx", (unsigned long long)bits);
        return 1;
    case 'f': {
        float single;
        double twice;
        memcpy(&single, &bits, 4), memcpy(&twice, &bits, 8);
        out(o, "%.9g", type->bytes == 8 ? twice : (double)single);
        return 1;
    }
    default:
        return 0;
    }
}

static void scalar_out(const Type *type, int64_t i, double f, char format, Out *o)
{
    if (format && integer_print(type, i, f, format, o)) return;
    switch (type->kind) {
    case TYPE_FLOAT:
        out(o, type->bytes == 8 ? "%.17g" : "%.9g", f);
        return;
    case TYPE_HALF:
    case TYPE_BFLOAT16:
        out(o, "%.5g", f);
        return;
    case TYPE_BOOL:
        out(o, i == 0 ? "false" : i == 1 ? "true" : "%lld", (long long)i);
        return;
    case TYPE_CHAR:
        letter_print(i, o);
        return;
    case TYPE_POINTER:
    case TYPE_REFERENCE:
        out(o, "0x%llx", (unsigned long long)i);
        return;
    case TYPE_ENUM:
        for (uint32_t k = 0; k < type->members; k++)
            if (type->member[k].value == i) {
                out(o, "%s", type->member[k].name);
                return;
            }
        out(o, "%lld", (long long)i);
        return;
    case TYPE_UNSIGNED:
        out(o, "%llu", (unsigned long long)i);
        return;
    default:
        out(o, "%lld", (long long)i);
    }
}

void scalar_print(const Type *type, int64_t i, double f, char format, char *text, size_t bytes)
{
    Out o = {text, bytes, 0};
    *text = 0;
    scalar_out(type, i, f, format, &o);
}

static void memory_out(const Warp *warp, uint32_t lane, const Type *type, uint64_t address,
                       char format, int depth, Out *o);

static void array_out(const Warp *warp, uint32_t lane, const Type *type, uint64_t address,
                      char format, int depth, Out *o)
{
    char one[600], last[600] = "";
    uint64_t repeats = 0, shown = 0;
    out(o, "{");
    for (uint64_t k = 0; k <= type->count; k++) {
        Out item = {one, sizeof one, 0};
        *one = 0;
        int is_end = k == type->count || shown == ELEMENTS_SHOWN;
        if (!is_end)
            memory_out(warp, lane, type->target, address + k * type->target->bytes, format,
                       depth + 1, &item);
        if (k && !is_end && !strcmp(one, last)) {
            repeats++;
            continue;
        }
        if (k) {
            enum { REPEATS = 10 };
            if (repeats >= REPEATS)
                out(o, "%s <repeats %llu times>", last, (unsigned long long)repeats);
            else
                for (uint64_t n = 0; n < repeats; n++)
                    out(o, "%s%s", n ? ", " : "", last);
            if (!is_end) out(o, ", ");
        }
        if (is_end) {
            if (k < type->count) out(o, ", ...");
            break;
        }
        memcpy(last, one, sizeof last);
        repeats = 1, shown++;
    }
    out(o, "}");
}

static void memory_out(const Warp *warp, uint32_t lane, const Type *type, uint64_t address,
                       char format, int depth, Out *o)
{
    char why[VALUE_WHY];
    if (depth > PRINT_DEPTH) {
        out(o, "{...}");
    } else if (type->kind == TYPE_ARRAY) {
        array_out(warp, lane, type, address, format, depth, o);
    } else if (type->kind == TYPE_STRUCT) {
        out(o, "{");
        for (uint32_t k = 0; k < type->members; k++) {
            out(o, "%s%s = ", k ? ", " : "",
                *type->member[k].name ? type->member[k].name : "<base>");
            memory_out(warp, lane, type->member[k].type, address + type->member[k].offset, format,
                       depth + 1, o);
        }
        out(o, "}");
    } else if (!type_is_scalar(type)) {
        out(o, "<%s>", type->kind == TYPE_FUNCTION ? "function" : "void");
    } else {
        const unsigned char *at = lane_memory(warp, lane, address, type->bytes, why, sizeof why);
        Value one = {.type = type};
        if (!at) {
            out(o, "<error: %s>", why);
            return;
        }
        lane_set(&one, 0, bits_read(at, type->bytes));
        scalar_out(type, one.i[0], one.f[0], format, o);
    }
}

void value_print(const Warp *warp, const Value *value, uint32_t lane, char format, char *text,
                 size_t bytes)
{
    Out o = {text, bytes, 0};
    *text = 0;
    if (!(value->valid >> lane & 1)) {
        out(&o, "<%s>", value->why);
    } else if (value->home == HOME_DIM3) {
        uint32_t first = (uint32_t)value->address[0];
        out(&o, "{x = %u, y = %u, z = %u}",
            *(uint32_t *)(void *)(warp->file + (first * LANES + lane) * 4),
            *(uint32_t *)(void *)(warp->file + ((first + 1) * LANES + lane) * 4),
            *(uint32_t *)(void *)(warp->file + ((first + 2) * LANES + lane) * 4));
    } else if (type_is_scalar(value->type)) {
        scalar_out(value->type, value->i[lane], value->f[lane], format, &o);
    } else {
        memory_out(warp, lane, value->type, value->address[lane], format, 0, &o);
    }
}
