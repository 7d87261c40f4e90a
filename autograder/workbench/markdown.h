/* markdown.h - a handout's Markdown as HTML. */
#ifndef CONVLAB_AUTOGRADER_WORKBENCH_MARKDOWN_H
#define CONVLAB_AUTOGRADER_WORKBENCH_MARKDOWN_H

/* HTML of GitHub's Markdown with tables, malloc'd; NULL: out of memory.  HTML in the text stays,
 * because handouts fold their answers with <details>; the page's policy runs no script in it. */
char *markdown_html(const char *text);

#endif
