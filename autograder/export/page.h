/* page.h - self-contained HTML page: with its style, without scripts and external files. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_PAGE_H
#define CONVLAB_AUTOGRADER_EXPORT_PAGE_H

#include <stdio.h>

/* Writes the page's start, up to the heading, which is `title`. */
void page_begin(FILE *stream, const char *title);
void page_end(FILE *stream);

/* <tag class="class">text</tag>, the text escaped; `class` may be NULL. */
void page_element(FILE *stream, const char *tag, const char *class, const char *text);
/* A table with these headings (NULL at the end), up to its first row; a name that starts with '#'
 * is the heading of a numeric column.  One table at a time; </table> ends it. */
void page_table(FILE *stream, const char *const *heading);
/* <tr>, and one cell of it after the other.  On a phone each cell shows its heading. */
void page_row(FILE *stream);
void page_cell(FILE *stream, const char *class, const char *text);
void page_cell_begin(FILE *stream, const char *class); /* </td> ends it */
/* A bar with `share` (0 to 1) of its width filled, and `text` next to it. */
void page_bar(FILE *stream, double share, const char *text);

#endif
