/* text.h - formatting into fixed buffers where cutting at the end is what is wanted.
 *
 * Module: text in fixed buffers, files, tables, and ini files.
 * Callers: all of the autograder.
 * May use: base. */
#ifndef CONVLAB_AUTOGRADER_TEXT_TEXT_H
#define CONVLAB_AUTOGRADER_TEXT_TEXT_H

#include <stddef.h>

/* printf into text[bytes], cut at its end, always NUL-terminated. */
void text_set(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same behind what text holds already. */
void text_add(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
