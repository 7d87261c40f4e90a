#include "common/operations/operation/shape_text.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_BYTES = 512 };

/* ---- text -> ints ------------------------------------------------------------------------ */

/* Parses "7" or "1,2", at most `most` numbers; returns their number, or -1. */
static int parse_list(const ShapeKey *key, const char *value, int most, int *number, Error *error)
{
    int count = 0;
    for (const char *at = value;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return error_set(error, "%s=%.40s: a whole number is expected instead of \"%.20s\"",
                             key->name, value, at);
        if (count == most)
            return error_set(error, "%s=%.40s: more than %d number%s", key->name, value, most,
                             most > 1 ? "s" : "");
        long long one = strtoll(at, &end, 10);
        if (one < key->low || one > key->high)
            return error_set(error, "%s=%.40s: must lie in %d..%d", key->name, value, key->low,
                             key->high);
        number[count++] = (int)one;
        at = end;
        if (!*at) return count;
        if (*at != ',')
            return error_set(error, "%s=%.40s: \"%.20s\" is not part of a number", key->name, value,
                             at);
    }
}

static int parse_pad(const ShapeKey *key, const char *value, int *pad, Error *error)
{
    int same = !strcmp(value, "same"), count = 1;
    pad[0] = same ? SHAPE_PAD_SAME : 0;
    if (!same && strcmp(value, "valid") != 0) count = parse_list(key, value, 4, pad, error);
    if (count < 0) return -1;
    if (count != 1 && count != 4)
        return error_set(error, "%s=%.40s: give same, valid, one number, or top,left,bottom,right",
                         key->name, value);
    for (int i = count; i < 4; i++)
        pad[i] = pad[0];
    return 0;
}

static int parse_word(const ShapeKey *key, const char *value, int *which, Error *error)
{
    size_t length = strlen(value);
    const char *at = key->words;
    for (int i = 0; *at; i++, at += strcspn(at, " "), at += strspn(at, " ")) {
        if (strcspn(at, " ") != length || strncmp(at, value, length) != 0) continue;
        *which = i;
        return 0;
    }
    return error_set(error, "%s=%.40s: give one of: %s", key->name, value, key->words);
}

static int parse_value(const ShapeKey *key, const char *value, void *object, Error *error)
{
    int *field = (int *)(void *)((char *)object + key->offset);
    int count = 0;
    switch (key->type) {
    case SHAPE_NUMBER:
        count = parse_list(key, value, 1, field, error);
        break;
    case SHAPE_PAIR:
        count = parse_list(key, value, 2, field, error);
        if (count == 1) field[1] = field[0];
        break;
    case SHAPE_PAD:
        return parse_pad(key, value, field, error);
    case SHAPE_WORD:
        return parse_word(key, value, field, error);
    }
    return count < 0 ? -1 : 0;
}

/* "N C H": the names of all keys, or of the required ones that are missing. */
static void list_names(const ShapeKey *keys, int missing, unsigned seen, char *text, size_t bytes)
{
    *text = 0;
    for (int i = 0; keys[i].name; i++) {
        size_t used = strlen(text);
        if (missing && (keys[i].optional || seen & 1u << i)) continue;
        snprintf(text + used, bytes - used, " %s", keys[i].name);
    }
}

static int parse_pair(char *pair, const ShapeKey *keys, unsigned *seen, void *object, Error *error)
{
    char names[200], *value = strchr(pair, '=');
    int i = 0;
    if (!value) return error_set(error, "\"%.40s\" is not of the form key=value", pair);
    *value++ = '\0';
    while (keys[i].name && strcmp(pair, keys[i].name) != 0)
        i++;
    list_names(keys, 0, 0, names, sizeof names);
    if (!keys[i].name)
        return error_set(error, "unknown key \"%.40s\": the keys are%s", pair, names);
    if (*seen & 1u << i) return error_set(error, "%s is given twice", pair);
    *seen |= 1u << i;
    return parse_value(&keys[i], value, object, error);
}

int shape_text_parse(const char *text, const ShapeKey *keys, void *object, Error *error)
{
    char copy[SHAPE_BYTES], names[200], *rest = NULL;
    unsigned seen = 0;
    if (strlen(text) >= sizeof copy)
        return error_set(error, "the shape is longer than %zu characters", sizeof copy - 1);
    strcpy(copy, text);
    for (char *pair = strtok_r(copy, " \t\r\n", &rest); pair;
         pair = strtok_r(NULL, " \t\r\n", &rest))
        if (parse_pair(pair, keys, &seen, object, error)) return -1;
    list_names(keys, 1, seen, names, sizeof names);
    return *names ? error_set(error, "missing:%s", names) : 0;
}

/* ---- ints -> text ------------------------------------------------------------------------ */

static void print_value(const ShapeKey *key, const int *field, char *text, size_t bytes)
{
    const char *word = key->words;
    int even = field[0] == field[1] && field[0] == field[2] && field[0] == field[3];
    switch (key->type) {
    case SHAPE_NUMBER:
        snprintf(text, bytes, "%d", field[0]);
        break;
    case SHAPE_PAIR:
        snprintf(text, bytes, field[0] == field[1] ? "%d" : "%d,%d", field[0], field[1]);
        break;
    case SHAPE_PAD:
        if (even && !field[0])
            snprintf(text, bytes, "valid");
        else
            snprintf(text, bytes, even ? "%d" : "%d,%d,%d,%d", field[0], field[1], field[2],
                     field[3]);
        break;
    case SHAPE_WORD:
        for (int i = 0; i < field[0]; i++)
            word = strchr(word, ' ') + 1;
        snprintf(text, bytes, "%.*s", (int)strcspn(word, " "), word);
        break;
    }
}

void shape_text_print(const ShapeKey *keys, const void *object, char *text, size_t bytes)
{
    size_t used = 0;
    *text = 0;
    for (const ShapeKey *key = keys; key->name; key++) {
        int field[4] = {0};
        char value[80];
        size_t ints = key->type == SHAPE_PAD ? 4 : key->type == SHAPE_PAIR ? 2 : 1;
        memcpy(field, (const char *)object + key->offset, ints * sizeof *field);
        if (key->optional && !field[0]) continue;
        print_value(key, field, value, sizeof value);
        used += (size_t)snprintf(text + used, used < bytes ? bytes - used : 0, "%s%s=%s",
                                 used ? " " : "", key->name, value);
    }
}

/* ---- derived numbers --------------------------------------------------------------------- */

void shape_pad_same(int size, int window, int stride, int *before, int *after)
{
    long long outputs = ((long long)size + stride - 1) / stride;
    long long total = (outputs - 1) * stride + window - size;
    if (total < 0) total = 0;
    *before = (int)(total / 2);
    *after = (int)(total - total / 2);
}

int shape_windows(const char *axis, int size, int window, int before, int after, int stride,
                  int *windows, Error *error)
{
    long long padded = (long long)size + before + after;
    if (padded > INT_MAX || padded < window)
        return error_set(
            error,
            "a window of %d does not fit: with its padding %s is %lld, and the maximum is %d",
            window, axis, padded, INT_MAX);
    *windows = (int)((padded - window) / stride) + 1;
    return 0;
}

int shape_check_count(const char *tensor, double count, Error *error)
{
    if (count <= INT_MAX) return 0;
    return error_set(error, "tensor %s would have %.0f elements: at most 2^31-1 are supported",
                     tensor, count);
}

void problem_pack(const void *object, size_t bytes, Problem *problem)
{
    memset(problem, 0, sizeof *problem);
    problem->bytes = (uint32_t)bytes;
    memcpy(problem->data, object, bytes);
}

void problem_unpack(const Problem *problem, void *object, size_t bytes)
{
    memcpy(object, problem->data, bytes);
}
