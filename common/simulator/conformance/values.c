/* values.c - what operands hold: edge values from a list, crossed where there are two operands, and
 * more drawn from a fixed seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/conformance/form.h"

enum { RANDOM_NONE, RANDOM_BITS, RANDOM_NEAR, RANDOM_UNIFORM, RANDOM_LANE, RANDOM_SPREAD };
enum { CROSSED_MOST = 324, LANES_PICKED = 192 };

int value_type_bits(ValueType type)
{
    static const int BITS[] = {1, 16, 32, 64, 16, 16, 32, 32, 32, 64};
    return BITS[type];
}

/* Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- reading --------------------------------------------------------------------------------- */
const ValueList *values_find(const ValueTable *table, const char *name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->list[i].name, name) == 0) return &table->list[i];
    return NULL;
}

static int type_named(const char *name, ValueType *type)
{
    static const struct {
        const char *name;
        ValueType type;
    } TYPES[] = {{"pred", VALUE_PRED},   {"b16", VALUE_16},        {"b32", VALUE_32},
                 {"b64", VALUE_64},      {"f16", VALUE_F16},       {"bf16", VALUE_BF16},
                 {"f16x2", VALUE_F16X2}, {"bf16x2", VALUE_BF16X2}, {"f32", VALUE_F32},
                 {"f64", VALUE_F64}};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcmp(TYPES[i].name, name) == 0) return *type = TYPES[i].type, 0;
    return -1;
}

static int value_parse(const char *word, ValueType type, uint64_t *value)
{
    char *end = NULL;
    int bits = value_type_bits(type);
    if (strncmp(word, "0x", 2) == 0) {
        *value = strtoull(word, &end, 16);
    } else if (type == VALUE_F32) {
        float f = strtof(word, &end);
        uint32_t u;
        memcpy(&u, &f, 4);
        *value = u;
    } else if (type == VALUE_F64) {
        double d = strtod(word, &end);
        memcpy(value, &d, 8);
    } else {
        *value = (uint64_t)strtoll(word, &end, 10);
    }
    if (bits < 64) *value &= (1ull << bits) - 1;
    return *end ? -1 : 0;
}

/* "near = 0 1 inf" from after the type. */
static int list_values(ValueTable *table, ValueList *list, char *rest)
{
    static const char *const RANDOMS[] = {"none", "bits", "near", "uniform", "lane", "spread"};
    char *save = NULL, *word = strtok_r(rest, " \t", &save);
    list->random = -1;
    for (int i = 0; word && i < (int)(sizeof RANDOMS / sizeof *RANDOMS); i++)
        if (strcmp(word, RANDOMS[i]) == 0) list->random = i;
    if (list->random < 0) return -1;
    if (list->random == RANDOM_UNIFORM || list->random == RANDOM_SPREAD) {
        char *low = strtok_r(NULL, " \t", &save), *high = strtok_r(NULL, " \t", &save);
        if (!low || !high) return -1;
        list->low = strtod(low, NULL), list->high = strtod(high, NULL);
    }
    word = strtok_r(NULL, " \t", &save);
    if (!word || strcmp(word, "=") != 0) return -1;
    int packed = list->type == VALUE_F16X2 || list->type == VALUE_BF16X2;
    while ((word = strtok_r(NULL, " \t", &save)) != NULL) {
        const ValueList *halves = packed ? values_find(table, word) : NULL;
        if (halves) {
            memcpy(list->value, halves->value, sizeof list->value);
            list->count = halves->count;
        } else if (list->count == LIST_VALUES ||
                   value_parse(word, list->type, &list->value[list->count++]) != 0) {
            return -1;
        }
    }
    return list->count ? 0 : -1;
}

static int list_parse(ValueTable *table, char *line)
{
    ValueList list = {.count = 0}, *more;
    char name[24], type[16];
    int used = 0;
    if (sscanf(line, "%23s %15s %n", name, type, &used) != 2 || used == 0) return -1;
    memcpy(list.name, name, sizeof name);
    if (type_named(type, &list.type) != 0 || values_find(table, name)) return -1;
    if (list_values(table, &list, line + used) != 0) return -1;
    more = realloc(table->list, (table->count + 1) * sizeof *more);
    if (!more) return -1;
    table->list = more;
    table->list[table->count++] = list;
    return 0;
}

int values_parse(ValueTable *table, const char *text, Error *error)
{
    for (uint32_t line = 1; *text; line++) {
        size_t length = strcspn(text, "\n");
        char *copy = strndup(text, length);
        int result = copy ? 0 : -1;
        if (copy && copy[0] && copy[0] != '#') result = list_parse(table, copy);
        free(copy);
        if (result != 0)
            return error_set(error,
                             "values.txt line %u: want NAME TYPE RANDOM = VALUES, a new name, at "
                             "most %d values",
                             line, LIST_VALUES);
        text += length + (text[length] == '\n');
    }
    return 0;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Bits of a float's fraction, and what is added to its exponent. */
static const struct {
    int fraction, bias;
} FORMATS[] = {[VALUE_F16] = {10, 15},
               [VALUE_BF16] = {7, 127},
               [VALUE_F32] = {23, 127},
               [VALUE_F64] = {52, 1023}};

/* A float of exponent -12 to 12; half of them have few fraction bits, so that ties occur. */
static uint64_t draw_near(ValueType type, uint64_t *state)
{
    int fraction = FORMATS[type].fraction, bits = value_type_bits(type);
    uint64_t r = draw(state), mantissa = draw(state) & ((1ull << fraction) - 1);
    if (r & 1) mantissa &= ~((1ull << (fraction - 4)) - 1);
    uint64_t exponent = (uint64_t)(FORMATS[type].bias - 12) + (r >> 8) % 25;
    return (r >> 1 & 1) << (bits - 1) | exponent << fraction | mantissa;
}

/* A float of exponent `low` to `high`: what is less than the least normal one is subnormal. */
static uint64_t draw_spread(ValueType type, int low, int high, uint64_t *state)
{
    int fraction = FORMATS[type].fraction, bits = value_type_bits(type);
    uint64_t r = draw(state), mantissa = draw(state) & ((1ull << fraction) - 1);
    int exponent = FORMATS[type].bias + low + (int)((r >> 8) % (uint64_t)(high - low + 1));
    if (r & 1) mantissa &= ~((1ull << (fraction - 4)) - 1);
    if (exponent <= 0) mantissa = (mantissa | 1ull << fraction) >> (1 - exponent), exponent = 0;
    return (r >> 1 & 1) << (bits - 1) | (uint64_t)exponent << fraction | mantissa;
}

/* Two halves, or one float. */
static uint64_t draw_spreads(const ValueList *list, uint64_t *state)
{
    int low = (int)list->low, high = (int)list->high;
    if (list->type != VALUE_F16X2 && list->type != VALUE_BF16X2)
        return draw_spread(list->type, low, high, state);
    ValueType half = list->type == VALUE_F16X2 ? VALUE_F16 : VALUE_BF16;
    uint64_t value = draw_spread(half, low, high, state);
    return draw_spread(half, low, high, state) << 16 | value;
}

static uint64_t listed(const ValueList *list, uint64_t index, uint32_t lane)
{
    uint64_t n = list->count, value = list->value[index % n];
    if (list->random == RANDOM_LANE) return lane & 31;
    if (list->type == VALUE_F16X2 || list->type == VALUE_BF16X2)
        value |= list->value[(index * 7 + 3) % n] << 16;
    return value;
}

static uint64_t draw_value(const ValueList *list, uint32_t lane, uint64_t *state)
{
    int bits = value_type_bits(list->type);
    uint64_t r = draw(state), shift = draw(state) % (uint64_t)bits,
             mask = UINT64_MAX >> (64 - bits);
    switch (list->random) {
    case RANDOM_BITS:
        r = shift & 1 ? r : r & mask >> shift;
        return r & mask;
    case RANDOM_NEAR:
        if (list->type == VALUE_F16X2 || list->type == VALUE_BF16X2) {
            ValueType half = list->type == VALUE_F16X2 ? VALUE_F16 : VALUE_BF16;
            uint64_t low = draw_near(half, state);
            return draw_near(half, state) << 16 | low;
        }
        return draw_near(list->type, state);
    case RANDOM_UNIFORM: {
        float f = (float)(list->low + (list->high - list->low) * ((double)(r >> 11) * 0x1p-53));
        uint32_t u;
        memcpy(&u, &f, 4);
        return u;
    }
    case RANDOM_LANE:
        return lane & 31;
    case RANDOM_SPREAD: /* one in 32 is of the list */
        return shift ? draw_spreads(list, state) : listed(list, r, lane);
    default:
        return listed(list, r, lane);
    }
}

uint32_t form_lanes(const Form *form)
{
    uint32_t lanes = 32, product = 1;
    if (form->operands > 2) return LANES_PICKED;
    for (uint32_t k = 0; k < form->operands; k++)
        product *= form->operand[k]->count;
    if (form->operands == 1) lanes = product + (form->tolerance == TOLERANCE_EXACT ? 24 : 160);
    if (form->operands == 2) lanes = product <= CROSSED_MOST ? product + 16 : LANES_PICKED;
    return (lanes + 31) / 32 * 32;
}

static uint64_t seed_of(const Form *form)
{
    uint64_t seed = 20260701;
    for (uint32_t k = 0; k < form->operands; k++)
        for (const char *c = form->operand[k]->name; *c; c++)
            seed = (seed ^ (unsigned char)*c) * 0x100000001b3u;
    return seed;
}

void form_operands(const Form *form, uint64_t *value)
{
    uint64_t state = seed_of(form);
    uint32_t lanes = form->lanes, k2 = form->operands > 1 ? form->operand[1]->count : 1, edges = 0;
    if (form->operands == 1) edges = form->operand[0]->count;
    if (form->operands == 2) edges = form->operand[0]->count * k2;
    int crossed = form->operands && form->operands <= 2 && edges <= lanes;
    if (!crossed) edges = lanes * 2 / 3;
    for (uint32_t i = 0; i < lanes; i++)
        for (uint32_t k = 0; k < form->operands; k++) {
            const ValueList *list = form->operand[k];
            uint64_t index = !crossed ? draw(&state) : k == 0 ? i / k2 : i % k2;
            int edge = i < edges && list->random != RANDOM_SPREAD;
            value[(size_t)k * lanes + i] =
                edge ? listed(list, index, i) : draw_value(list, i, &state);
        }
}

uint32_t operands_digest(const uint64_t *value, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ value[i]) * 0x100000001b3u, hash ^= hash >> 29;
    return (uint32_t)(hash ^ hash >> 32);
}
