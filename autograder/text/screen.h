/* screen.h - what a reader's terminal can show: how wide it is, colours, and links to lines. */
#ifndef CONVLAB_AUTOGRADER_TEXT_SCREEN_H
#define CONVLAB_AUTOGRADER_TEXT_SCREEN_H

#include <stddef.h>
#include <stdio.h>

enum { SCREEN_LEAST = 80, SCREEN_LINES = 24 };

/* COLUMNS where that is set, else the width of the terminal on standard output, else 80; never
 * less than 80. */
size_t screen_columns(void);

/* Keeps that width for when standard output is no terminal any more, and for programs below. */
void screen_keep(void);

/* Prints whole lines.  On a terminal verdicts are coloured, unless NO_COLOR is set, and a place
 * that is there, path:line or path:line:column, is a link; TERM=dumb takes neither.  A file or a
 * pipe gets the text as it is.  Lines behind a bar are a submission's words and never touched. */
void screen_print(FILE *stream, const char *text);

/* "program: text" on standard error: wrapped on a terminal, one line for whatever reads a pipe. */
void screen_error(const char *program, const char *text);

/* A path as it is shown: from the working directory on where it lies below that. */
const char *screen_path(const char *path);

/* Lines that `text` fills. */
size_t screen_lines(const char *text);

#endif
