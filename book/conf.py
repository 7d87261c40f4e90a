"""Sphinx's settings for `make book`; index.md says what is in the book."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
import theme

project = "The convolution lab workbook"
html_title = project
root_doc = pages.INDEX[:-3]
book = pages.chapters()
include_patterns = book

extensions = ["myst_parser"]
myst_heading_anchors = 4
highlight_language = "text"

# The theme has light and dark, phones and wide screens.  Summaries of what was found would need a
# server.
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_show_search_summary = False
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False


def setup(app):
    def tick():
        """A line for each chapter that is read or written, where book.sh shows how far it is."""
        if os.environ.get("TICKER"):
            os.write(int(os.environ["TICKER"]), b"\n")

    def as_chapter(app, name, source):
        source[0] = pages.chapter(name + ".md", book, anchors=app.builder.name == "html")
        tick()

    def written(app, name, template, context, document):
        if document and app.builder.name == "html":
            tick()

    def finished(app, failed):
        if app.builder.name == "html" and app.config.html_theme == "furo" and not failed:
            theme.mend(os.path.join(app.outdir, "_static"))

    app.connect("build-finished", finished)
    app.connect("source-read", as_chapter)
    app.connect("html-page-context", written)
