/* text.h - formatting into fixed buffers, with truncation at the end.
 *
 * Module: text in fixed buffers, files, tables, and ini files.
 * Callers: all of the autograder.
 * May use: base. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TEXT_H
#define CONVLAB_AUTOGRADER_TEXT_TEXT_H

#include <stddef.h>

/* printf into text[bytes], truncated at its end, always NUL-terminated. */
void text_set(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends to the present text in the same way. */
void text_add(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
