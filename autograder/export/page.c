#include "autograder/export/page.h"

#include "autograder/export/plain.h"

static const char STYLE[] =
    ":root{color-scheme:light dark;--line:#8886;--good:#2a7d4f;--bad:#b3372f;--soft:#8882}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}\n"
    "table{border-collapse:collapse}\n"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);"
    "vertical-align:top}\n"
    "th{font-weight:600}.number{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}\n"
    ".passed{color:var(--good)}.failed,.broken{color:var(--bad)}.skipped,.quiet{opacity:.7}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;font:13px/1.4 "
    "ui-monospace,monospace}\n"
    "details{margin:.2rem 0}summary{cursor:pointer}\n"
    ".share,.lab{white-space:nowrap}span.share{display:inline-block;min-width:17rem}p{margin:.3rem "
    "0}h3{margin:1.2rem 0 .3rem}\n"
    "rect{fill:var(--good);opacity:.6}rect.own{fill:var(--bad);opacity:1}.hint{border-left:4px "
    "solid "
    "var(--good);padding-left:.6rem}text{font-size:11px;fill:currentColor}\n"
    "meter{width:10rem}\n"
    ".note{opacity:.8;font-size:13px}\n"
    /* A phone shows one cell per line, below its heading. */
    "@media (max-width:40em){body{margin:1rem auto}table,tbody,tr,td{display:block}"
    "tr:first-child{display:none}"
    "tr{padding:.4rem 0;border-bottom:2px solid var(--line)}td{border:0;padding:.1rem 0}"
    "td:empty{display:none}td[data-label]::before{content:attr(data-label);"
    "display:inline-block;min-width:9rem;margin-right:.4rem;color:CanvasText;font-size:12px;"
    "opacity:.7}.number{text-"
    "align:left}.share,.lab,.number{white-space:normal;"
    "overflow-wrap:anywhere}span.share{min-width:0;display:block}svg{max-width:100%;height:auto}"
    "h1,h2,h3,p,summary{overflow-wrap:anywhere}}\n"
    "@media print{details>*{display:block}}\n";

void page_begin(FILE *stream, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          /* Prevents text of a submission from making a browser fetch or run anything. */
          "<meta http-equiv=\"Content-Security-Policy\" "
          "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
          stream);
    page_element(stream, "title", NULL, title);
    fprintf(stream, "<style>\n%s</style>\n</head>\n<body>\n", STYLE);
    page_element(stream, "h1", NULL, title);
}

void page_end(FILE *stream)
{
    fputs("</body>\n</html>\n", stream);
}

void page_element(FILE *stream, const char *tag, const char *class, const char *text)
{
    fprintf(stream, "<%s", tag);
    if (class) fprintf(stream, " class=\"%s\"", class);
    fputc('>', stream);
    plain_xml(stream, text);
    fprintf(stream, "</%s>\n", tag);
}

/* ---- tables --------------------------------------------------------------------------------- */

static struct {
    const char *const *heading;
    int headings, column; /* column: of the next cell */
} table;

/* A name that starts with '#' is the heading of a numeric column. */
static const char *heading_of(int column)
{
    const char *name = column < table.headings ? table.heading[column] : "";
    return name + (*name == '#');
}

void page_table(FILE *stream, const char *const *heading)
{
    table.heading = heading;
    for (table.headings = 0; heading[table.headings];)
        table.headings++;
    fputs("<table>\n<tr>", stream);
    for (int i = 0; i < table.headings; i++)
        page_element(stream, "th", *heading[i] == '#' ? "number" : NULL, heading_of(i));
    fputs("</tr>\n", stream);
}

void page_row(FILE *stream)
{
    table.column = 0;
    fputs("<tr>", stream);
}

void page_cell_begin(FILE *stream, const char *class)
{
    fputs("<td", stream);
    if (class) fprintf(stream, " class=\"%s\"", class);
    fputs(" data-label=\"", stream);
    plain_xml(stream, heading_of(table.column++));
    fputs("\">", stream);
}

void page_cell(FILE *stream, const char *class, const char *text)
{
    page_cell_begin(stream, class);
    plain_xml(stream, text);
    fputs("</td>\n", stream);
}

void page_bar(FILE *stream, double share, const char *text)
{
    double within = share < 0 ? 0 : share > 1 ? 1 : share;
    fprintf(stream, "<meter value=\"%.3f\">%.0f %%</meter> ", within, 100 * within);
    plain_xml(stream, text);
}
