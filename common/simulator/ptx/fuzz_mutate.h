/* fuzz_mutate.h - damages bytes the same way on every run: for tests that must not depend on
 * chance. */
#ifndef CONVLAB_PTX_FUZZ_MUTATE_H
#define CONVLAB_PTX_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t mutate_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Makes room for, or removes, bytes at `at`; the buffer holds `room`. */
static size_t mutate_move(unsigned char *data, size_t size, size_t room, size_t at, long change)
{
    if (change > 0 && size + (size_t)change <= room) {
        memmove(data + at + change, data + at, size - at);
        return size + (size_t)change;
    }
    if (change < 0 && (size_t)-change <= size - at) {
        memmove(data + at, data + at - change, size - at + (size_t)change);
        return size - (size_t)-change;
    }
    return size;
}

/* Applies one to four mutations; returns the new size. */
static size_t mutate(unsigned char *data, size_t size, size_t room, uint64_t *state)
{
    static const char *const word[] = {"{",
                                       "}",
                                       "4294967295",
                                       "18446744073709551615",
                                       "<",
                                       ",",
                                       "[1<<40]",
                                       ".reg .b32 %r<9>;",
                                       "@p",
                                       ";",
                                       "\xff\xff\xff\xff\x7f",
                                       "(",
                                       ":",
                                       "|",
                                       ".param .b8 x[9]",
                                       "-"};
    unsigned times = 1 + mutate_next(state) % 4;
    while (times-- > 0 && size > 0) {
        size_t at = mutate_next(state) % size, before = size, length;
        switch (mutate_next(state) % 6) {
        case 0:
            data[at] ^= (unsigned char)(1 << mutate_next(state) % 8);
            break;
        case 1:
            data[at] = (unsigned char)mutate_next(state);
            break;
        case 2:
            size = mutate_move(data, size, room, at, -(long)(1 + mutate_next(state) % 40));
            break;
        case 3: {
            const char *insert = word[mutate_next(state) % (sizeof word / sizeof *word)];
            length = strlen(insert);
            size = mutate_move(data, size, room, at, (long)length);
            if (size > before) memcpy(data + at, insert, length);
            break;
        }
        case 4: { /* a line from elsewhere */
            size_t from = mutate_next(state) % size;
            length = 1 + mutate_next(state) % 60;
            if (from + length <= size && at + length <= size)
                memmove(data + at, data + from, length);
            break;
        }
        default:
            if (mutate_next(state) % 8 == 0) size = at;
            break;
        }
    }
    return size;
}

#endif
