#include "autograder/workbench/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void extensions_register(void)
{
    cmark_gfm_core_extensions_ensure_registered();
}

char *markdown_html(const char *text)
{
    static const char *const NAMES[] = {"table", "strikethrough"};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, extensions_register);
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_UNSAFE);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        cmark_syntax_extension *extension = cmark_find_syntax_extension(NAMES[i]);
        if (extension) cmark_parser_attach_syntax_extension(parser, extension);
    }
    cmark_parser_feed(parser, text, strlen(text));
    cmark_node *document = cmark_parser_finish(parser);
    char *html =
        cmark_render_html(document, CMARK_OPT_UNSAFE, cmark_parser_get_syntax_extensions(parser));
    cmark_node_free(document);
    cmark_parser_free(parser);
    return html;
}
