#include "autograder/record/cause.h"

#include <ctype.h>
#include <string.h>

#include "common/operations/operation/verdict.h"

int cause_is_one(const RecordCase *item)
{
    return item->verdict != CASE_CORRECT && item->verdict != CASE_NOT_RUN &&
           !case_is_left_out(item->verdict);
}

/* The next place of the form "name.c:12" or "name.cu:12" in a text. */
static const char *next_place(const char *text, size_t *bytes)
{
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':')) {
        const char *begin = at;
        while (begin > text && (isalnum((unsigned char)begin[-1]) || strchr("._-", begin[-1])))
            begin--;
        if (!isdigit((unsigned char)at[1]) || !memchr(begin, '.', (size_t)(at - begin))) continue;
        *bytes = (size_t)(at - begin) + 1 + strspn(at + 1, "0123456789");
        return begin;
    }
    return NULL;
}

static int same_places(const char *a, const char *b)
{
    size_t left = 0, right = 0;
    int found = 0;
    for (;; found = 1) {
        a = next_place(a, &left), b = next_place(b, &right);
        if (!a || !b) return !a && !b && found;
        if (left != right || strncmp(a, b, left) != 0) return 0;
        a += left, b += right;
    }
}

/* Whether two texts are equal except for the numbers in them. */
static int same_words(const char *a, const char *b)
{
    while (*a && *b) {
        size_t left = strspn(a, "0123456789abcdefx"), right = strspn(b, "0123456789abcdefx");
        int numbers = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
        if (!numbers && *a != *b) return 0;
        a += numbers ? left : 1, b += numbers ? right : 1;
    }
    return *a == *b;
}

int cause_same(const RecordCase *a, const RecordCase *b)
{
    if (a->verdict != b->verdict || strcmp(a->fault, b->fault) != 0) return 0;
    size_t bytes;
    if (next_place(a->text, &bytes) || next_place(b->text, &bytes))
        return same_places(a->text, b->text);
    /* A pattern's fault identifies it; without a fault the text does. */
    return *a->fault ? 1 : same_words(a->text, b->text);
}

static int fault_is_one_of(const char *fault, const Fault *list)
{
    for (; *list; list++)
        if (!strcmp(fault, fault_name(*list))) return 1;
    return 0;
}

/* Faults that only say that outputs differ. */
static const Fault VAGUE[] = {FAULT_DIFFER, FAULT_EVERYWHERE, FAULT_NONE};

/* Whether the fault describes where the wrong outputs are. */
static int is_place(const RecordCase *item)
{
    static const Fault PLACE[] = {FAULT_TILE_EDGE,  FAULT_LAST_BLOCK, FAULT_ONE_CHANNEL,
                                  FAULT_ONE_FILTER, FAULT_ONE_IMAGE,  FAULT_NONE};
    return fault_is_one_of(item->fault, PLACE);
}

/* In a shape with few outputs any mistake may resemble another.  A pattern that only this case
 * shows is an accident of its shape if a larger public case is wrong without a pattern.  The place
 * of a hidden shape's errors is one if any public case is wrong.  "Right only at stride 1" needs a
 * correct case of stride 1. */
static int is_accident(const Record *record, const RecordCase *item)
{
    int alone = 1, larger = 0, vague = 0, plain = 0;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *other = &record->item[i];
        if (other == item || other->verdict != CASE_WRONG) continue;
        alone &= strcmp(other->fault, item->fault) != 0;
        plain |= strstr(other->shape, "stride=1") && !strstr(other->shape, "stride=1,");
        if (other->hidden || !fault_is_one_of(other->fault, VAGUE)) continue;
        vague = 1;
        larger |= other->total > item->total;
    }
    if (plain && !strcmp(item->fault, fault_name(FAULT_STRIDE))) return 1;
    return (alone && larger) || (vague && item->hidden && is_place(item));
}

/* Out-of-bounds reads of a tensor.  In plain C they are not checked, but find NaN. */
static int is_outside(const Record *record, const RecordCase *item)
{
    static const Fault OUTSIDE[] = {FAULT_READ_OUTSIDE, FAULT_NONE};
    return fault_is_one_of(item->fault, OUTSIDE) ||
           (!strcmp(record->engine, "cpu") && !strcmp(item->fault, fault_name(FAULT_NAN)));
}

/* Whether a public case shows which index is wrong.  In another shape the same index leads out of
 * bounds. */
static int names_index(const Record *record)
{
    static const Fault INDEX[] = {FAULT_TRANSPOSED_FILTER,
                                  FAULT_HALO,
                                  FAULT_PADDING_EDGE,
                                  FAULT_AXES,
                                  FAULT_STRIDE,
                                  FAULT_NONE};
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (item->verdict == CASE_WRONG && !item->hidden && fault_is_one_of(item->fault, INDEX) &&
            !is_accident(record, item))
            return 1;
    }
    return 0;
}

/* Distance of a finding from its cause: 0 is a cause. */
static int cause_rank(const Record *record, const RecordCase *item)
{
    static const Fault ORDER[] = {FAULT_RACE,    FAULT_RACE_GLOBAL, FAULT_TWO_WRITERS,
                                  FAULT_STREAMS, FAULT_BARRIER,     FAULT_NONE};
    static const Fault UNSET[] = {FAULT_NAN,        FAULT_ACCUMULATED,   FAULT_UNWRITTEN,
                                  FAULT_GUARD_BAND, FAULT_INPUT_CHANGED, FAULT_NONE};
    if (fault_is_one_of(item->fault, ORDER)) return 0;
    if (is_outside(record, item) && names_index(record)) return 5;
    if (item->verdict != CASE_WRONG) return item->verdict == CASE_LIMIT ? 3 : 1;
    if (fault_is_one_of(item->fault, UNSET)) return 2;
    if (fault_is_one_of(item->fault, VAGUE)) return 5;
    return is_accident(record, item) ? 6 : 4;
}

const RecordCase *cause_first(const Record *record)
{
    const RecordCase *first = NULL;
    for (int i = 0; i < record->cases; i++) {
        const RecordCase *item = &record->item[i];
        if (cause_is_one(item) && (!first || cause_rank(record, item) < cause_rank(record, first)))
            first = item;
    }
    return first;
}

const char *cause_hint(const Record *record, const RecordCase *item)
{
    for (int i = 0; i < record->cases && *item->fault; i++)
        if (*record->item[i].hint && !strcmp(record->item[i].fault, item->fault))
            return record->item[i].hint;
    return item->hint;
}
