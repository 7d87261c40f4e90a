/* plain.h - escaping of untrusted texts for the export formats.
 *
 * Every function first cleans the text: bytes that are not UTF-8, control characters except newline
 * and tab, characters that XML forbids and those that change the direction of writing become
 * U+FFFD. Then it escapes the format's special characters. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_PLAIN_H
#define CONVLAB_AUTOGRADER_EXPORT_PLAIN_H

#include <jansson.h>
#include <stdio.h>

/* Cleaned, without escapes. */
void plain_put(FILE *stream, const char *text);
/* XML and HTML, between tags and in attributes' quotes. */
void plain_xml(FILE *stream, const char *text);
/* A line of TAP: '\' and '#' escaped, a newline becomes a blank. */
void plain_tap(FILE *stream, const char *text);
/* One cell of CSV (RFC 4180), on one line.  Text that a spreadsheet would take for a formula,
 * because it starts with = + - @ or another form of these, gets a ' before it, also after blanks or
 * invisible characters. */
void plain_csv(FILE *stream, const char *text);
/* A JSON string of a report; owned by the caller; NULL: out of memory.  Some platforms render such
 * text as HTML: a word joiner (U+2060), which is not shown, follows each '<' that could begin a
 * tag. */
json_t *plain_json(const char *text);
/* The same for a name that another program looks up: nothing is added to it. */
json_t *plain_json_name(const char *name);

#endif
