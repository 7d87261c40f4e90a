/* error.h - error messages of functions.
 *
 * Module: error messages and small utilities used by all other modules.
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

/* Formats the message (printf style; truncated at the end of the buffer) and returns -1, so that
 * callers can write `return error_set(error, ...)`.  `error` may be NULL if the message is not
 * needed. */
int error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
