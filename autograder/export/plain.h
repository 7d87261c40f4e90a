/* plain.h - texts that a submission may have chosen, made harmless for where they go.
 *
 * Every function first makes the text plain: bytes that are no UTF-8, control characters but the
 * newline and the tab, characters that XML forbids and those that turn the direction of writing
 * become U+FFFD.  Then it escapes what the format obeys. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_PLAIN_H
#define CONVLAB_AUTOGRADER_EXPORT_PLAIN_H

#include <jansson.h>
#include <stdio.h>

/* As it is, but plain. */
void plain_put(FILE *stream, const char *text);
/* For XML and HTML, between tags and in attributes' quotes. */
void plain_xml(FILE *stream, const char *text);
/* For a line of TAP: '\' and '#' escaped, a newline becomes a blank. */
void plain_tap(FILE *stream, const char *text);
/* One cell of CSV (RFC 4180), on one line.  What a spreadsheet would take for a formula, text that
 * begins with = + - @ or another form of these, gets a ' in front of it, also where blanks or
 * invisible characters come before. */
void plain_csv(FILE *stream, const char *text);
/* A JSON string of a report; owned by the caller; NULL: out of memory.  Some platforms render such
 * text as HTML: a word joiner (U+2060), which is not shown, follows each '<' that could begin a
 * tag. */
json_t *plain_json(const char *text);
/* The same of a name that another program looks up: nothing is added to it. */
json_t *plain_json_name(const char *name);

#endif
