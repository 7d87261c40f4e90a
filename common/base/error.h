/* error.h - the one way in which a function of this project says what went wrong.
 *
 * Module: what every other room is written with.
 * Callers: everybody.
 * May use: nothing.
 *
 * A function that can fail takes an `Error *` and returns 0, or -1 after filling it in.  The text
 * is one line for the person at the terminal: what is wrong, where, and what to do about it.  No
 * trailing newline, no "Error:" prefix. */
#ifndef CONVLAB_BASE_ERROR_H
#define CONVLAB_BASE_ERROR_H

typedef struct Error {
    char text[1024];
} Error;

/* Formats the message (printf style; cut at the end of the buffer) and returns -1, so that callers
 * can write `return error_set(error, ...)`.  `error` may be NULL when nobody wants to know. */
int error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
