/* expression_arithmetic.c - C's conversions and operators on the values of 32 lanes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/debugger/expression_tree.h"

double lane_double(const Value *value, uint32_t lane)
{
    return type_is_floating(value->type) ? value->f[lane]
           : value->type->kind == TYPE_UNSIGNED && value->type->bytes == 8
               ? (double)(uint64_t)value->i[lane]
               : (double)value->i[lane];
}

int64_t lane_integer(const Value *value, uint32_t lane)
{
    return type_is_floating(value->type) ? value_integer(value->f[lane]) : value->i[lane];
}

int64_t integer_wrap(const Type *type, int64_t i)
{
    if (type->kind == TYPE_BOOL) return i != 0;
    int is_signed =
        type->kind == TYPE_INTEGER || type->kind == TYPE_CHAR || type->kind == TYPE_ENUM;
    switch (type->bytes) {
    case 1:
        return is_signed ? (int64_t)(int8_t)i : (int64_t)(uint8_t)i;
    case 2:
        return is_signed ? (int64_t)(int16_t)i : (int64_t)(uint16_t)i;
    case 4:
        return is_signed ? (int64_t)(int32_t)i : (int64_t)(uint32_t)i;
    default:
        return i;
    }
}

void value_convert(Value *value, const Type *type)
{
    int from_float = type_is_floating(value->type), to_float = type_is_floating(type);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (to_float) {
            double f = lane_double(value, lane);
            value->f[lane] = type->bytes == 4 ? (double)(float)f : f;
        } else {
            int64_t i = from_float ? value_integer(value->f[lane]) : value->i[lane];
            value->i[lane] =
                type->kind == TYPE_BOOL && from_float ? value->f[lane] != 0 : integer_wrap(type, i);
        }
    }
    value->type = type, value->home = HOME_NONE;
}

int array_decay(Value *value, const Scene *scene)
{
    if (value->type->kind != TYPE_ARRAY) return 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = (int64_t)value->address[lane];
    value->type = symbols_pointer_to(&scene->map->module->symbols, value->type->target);
    value->home = HOME_NONE;
    return 1;
}

int is_number(const Value *value)
{
    return type_is_scalar(value->type);
}

const Type *common_type(const Type *a, const Type *b)
{
    if (type_is_floating(a) || type_is_floating(b)) {
        int twice =
            (type_is_floating(a) && a->bytes == 8) || (type_is_floating(b) && b->bytes == 8);
        return twice ? &TYPE_OF_DOUBLE : &TYPE_OF_FLOAT;
    }
    uint64_t bytes = a->bytes > b->bytes ? a->bytes : b->bytes;
    int is_unsigned = (a->kind == TYPE_UNSIGNED && a->bytes == bytes) ||
                      (b->kind == TYPE_UNSIGNED && b->bytes == bytes);
    if (a->kind == TYPE_POINTER || b->kind == TYPE_POINTER) return &TYPE_OF_UNSIGNED_LONG;
    if (bytes <= 4) return is_unsigned && bytes == 4 ? &TYPE_OF_UNSIGNED : &TYPE_OF_INT;
    return is_unsigned ? &TYPE_OF_UNSIGNED_LONG : &TYPE_OF_LONG;
}

static double float_binary(char operator, double a, double b)
{
    switch (operator) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return a / b;
    }
}

static int compare(const char *operator, int less, int equal)
{
    switch (*operator) {
    case '<':
        return less || (operator[1] && equal);
    case '>':
        return !less && (operator[1] || !equal);
    case '=':
        return equal;
    default:
        return !equal;
    }
}

static int is_comparison(const char *operator)
{
    return *operator== '=' || * operator==
        '!' ||((*operator== '<' || * operator== '>') &&operator[1] != * operator);
}

static void compare_lanes(const char *operator, const Value * a, const Value *b, Value *value)
{
    const Type *type = common_type(a->type, b->type);
    uint32_t valid = a->valid & b->valid;
    int result[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(type)) {
            double x = lane_double(a, lane), y = lane_double(b, lane);
            int none = isnan(x) || isnan(y);
            result[lane] = none ? *operator== '!' : compare(operator, x<y, x == y);
        } else if (type->kind == TYPE_UNSIGNED) {
            uint64_t x = (uint64_t)integer_wrap(type, a->i[lane]),
                     y = (uint64_t)integer_wrap(type, b->i[lane]);
            result[lane] = compare(operator, x<y, x == y);
        } else {
            result[lane] = compare(operator, a->i[lane]<b->i[lane], a->i[lane] == b->i[lane]);
        }
    }
    value_of_type(value, &TYPE_OF_BOOL, valid);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = result[lane];
}

static int64_t integer_binary(const char *operator, const Type * type, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    int is_unsigned = type->kind == TYPE_UNSIGNED;
    switch (*operator) {
    case '+':
        return (int64_t)(x + y);
    case '-':
        return (int64_t)(x - y);
    case '*':
        return (int64_t)(x * y);
    case '/':
        return is_unsigned ? (int64_t)(x / y) : b == -1 ? (int64_t)(0 - x) : a / b;
    case '%':
        return is_unsigned ? (int64_t)(x % y) : b == -1 ? 0 : a % b;
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '<':
        return y < 64 ? (int64_t)(x << y) : 0;
    default:
        return is_unsigned ? y < 64 ? (int64_t)(x >> y) : 0 : a >> (y < 63 ? y : 63);
    }
}

static void arithmetic(const char *operator, Value * a, Value *b, Value *value)
{
    const Type *type = common_type(a->type, b->type);
    uint32_t valid = a->valid & b->valid;
    if (type_is_floating(type) && !strchr("+-*/", *operator)) {
        value_no(value, "Argument to arithmetic operation not a number or boolean.");
        return;
    }
    value_convert(a, type), value_convert(b, type);
    value_of_type(value, type, valid);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (type_is_floating(type)) {
            double f = float_binary(*operator, a->f[lane], b->f[lane]);
            value->f[lane] = type->bytes == 4 ? (double)(float)f : f;
            continue;
        }
        if ((*operator== '/' || * operator== '%') && !b->i[lane]) {
            if (valid >> lane & 1) snprintf(value->why, sizeof value->why, "Division by zero");
            value->valid &= ~(1u << lane);
            continue;
        }
        value->i[lane] = integer_wrap(type, integer_binary(operator, type, a->i[lane], b->i[lane]));
    }
}

/* p + n, n + p, p - n; p - q. */
static int pointer_arithmetic(const char *operator, const Value * a, const Value *b, Value *value)
{
    int left = a->type->kind == TYPE_POINTER, right = b->type->kind == TYPE_POINTER;
    if ((!left && !right) || (*operator!= '+' && * operator!= '-') || operator[1]) return 0;
    const Value *pointer = left ? a : b, *other = left ? b : a;
    const Type *type = pointer->type;
    int64_t bytes = type->target->bytes ? (int64_t)type->target->bytes : 1;
    uint32_t valid = a->valid & b->valid;
    int64_t result[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        int64_t n = lane_integer(other, lane);
        result[lane] = left && right ? (a->i[lane] - b->i[lane]) / bytes
                       : *operator== '+'
                           ? (int64_t)((uint64_t)pointer->i[lane] + (uint64_t)n * (uint64_t)bytes)
                           : (int64_t)((uint64_t)pointer->i[lane] - (uint64_t)n * (uint64_t)bytes);
    }
    value_of_type(value, left && right ? &TYPE_OF_LONG : type, valid);
    memcpy(value->i, result, sizeof result);
    return 1;
}

void value_combine(const char *operator, Value * a, Value *b, Value *value)
{
    if (is_comparison(operator))
        compare_lanes(operator, a, b, value);
    else if (!pointer_arithmetic(operator, a, b, value))
        arithmetic(operator, a, b, value);
}
