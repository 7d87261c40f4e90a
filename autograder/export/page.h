/* page.h - self-contained HTML page: with its style, without scripts and external files. */
#ifndef CONVLAB_AUTOGRADER_EXPORT_PAGE_H
#define CONVLAB_AUTOGRADER_EXPORT_PAGE_H

#include <stdio.h>

/* Writes the page's start, up to the heading, which is `title`. */
void page_begin(FILE *stream, const char *title);
void page_end(FILE *stream);

/* <tag class="class">text</tag>, the text escaped; `class` may be NULL. */
void page_element(FILE *stream, const char *tag, const char *class, const char *text);
/* A bar with `share` (0 to 1) of its width filled, and `text` next to it. */
void page_bar(FILE *stream, double share, const char *text);

#endif
