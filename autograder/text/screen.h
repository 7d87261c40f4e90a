/* screen.h - the terminal's capabilities: width, colours, and links to source lines. */
#ifndef CONVLAB_AUTOGRADER_TEXT_SCREEN_H
#define CONVLAB_AUTOGRADER_TEXT_SCREEN_H

#include <stddef.h>
#include <stdio.h>

enum { SCREEN_LEAST = 80, SCREEN_LINES = 24 };

/* COLUMNS if set, else the width of the terminal on standard output, else 80; at least 80. */
size_t screen_columns(void);

/* Stores that width for the time when standard output is not a terminal any more, and for child
 * processes. */
void screen_keep(void);

/* Prints whole lines.  On a terminal verdicts are coloured, unless NO_COLOR is set, and an existing
 * place, path:line or path:line:column, is a link; TERM=dumb disables both.  A file or a pipe gets
 * the text unchanged.  Lines after a bar are a submission's output and never changed. */
void screen_print(FILE *stream, const char *text);

/* "program: text" on standard error: wrapped on a terminal, one line in a pipe. */
void screen_error(const char *program, const char *text);

/* A path as shown to the user: relative to the working directory if it is below that. */
const char *screen_path(const char *path);

/* Number of screen lines of `text`. */
size_t screen_lines(const char *text);

#endif
