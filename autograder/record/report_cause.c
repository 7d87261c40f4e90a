#include "autograder/record/report_cause.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "common/base/intake.h"

enum { INDENT = 2, PLACES = 2, SOURCE_BYTES = 1 << 20 };

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- source lines of a finding --------------------------------------------------------------- */

/* The distinct numbers after "conv.cu:" in a text.  A record may not know its source: "". */
static int places_find(const char *text, const char *name, long line[PLACES])
{
    int places = 0;
    size_t length = strlen(name);
    for (const char *at = text; length && places < PLACES && (at = strstr(at, name));
         at += length) {
        long number = at[length] == ':' ? strtol(at + length + 1, NULL, 10) : 0;
        int known = places && line[0] == number;
        if (number > 0 && !known) line[places++] = number;
    }
    return places;
}

/* Line `number` of a file's text, without its end; NULL: there are fewer. */
static const char *line_of(const char *text, long number, int *bytes)
{
    for (; number > 1 && text; number--) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    if (text) *bytes = (int)strcspn(text, "\n");
    return text;
}

/* "labs/04-tiled/conv.cu:61:13: tile[...] = ...", the format of compilers. */
static void print_place(FILE *stream, const char *source, char *text, long number)
{
    char shown[1200], *tail;
    int bytes = 0;
    size_t room = screen_columns() - INDENT;
    const char *line = line_of(text, number, &bytes);
    if (!line) return;
    int blanks = (int)strspn(line, " \t");
    if (blanks >= bytes) return;
    text_set(shown, sizeof shown, "%s:%ld:%d: %.*s", screen_path(source), number, blanks + 1,
             bytes - blanks, line + blanks);
    intake_clean(shown);
    if (strlen(shown) > room && room + 1 < sizeof shown) {
        for (tail = shown + room - 2; tail > shown && ((unsigned char)*tail & 0xC0) == 0x80;)
            tail--;
        strcpy(tail, "..");
    }
    fprintf(stream, "%*s%s\n", INDENT, "", shown);
}

static void print_places(FILE *stream, const char *text, const char *source)
{
    char folder[1024], *slash;
    long line[PLACES];
    size_t bytes;
    int places = places_find(text, file_of(source), line);
    text_set(folder, sizeof folder, "%s", source);
    slash = strrchr(folder, '/');
    if (!places || !slash) return;
    *slash = 0;
    char *content = intake_read(folder, slash + 1, SOURCE_BYTES, &bytes, NULL);
    for (int i = 0; i < places && content; i++)
        print_place(stream, source, content, line[i]);
    free(content);
}

/* ---- limit to one screen --------------------------------------------------------------------- */

/* The output of `print` as text that the caller frees. */
static char *wrapped(const char *text, int indent)
{
    char *lines = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&lines, &bytes);
    if (!stream) return NULL;
    text_wrap(stream, indent, text);
    fclose(stream);
    return lines;
}

static void print_most(FILE *stream, const char *lines, size_t most, const char *rest)
{
    int all = !most || screen_lines(lines) <= most;
    for (size_t i = 1; (all || i < most) && *lines; i++) {
        size_t bytes = strcspn(lines, "\n") + 1;
        fwrite(lines, 1, bytes, stream);
        lines += bytes;
    }
    if (!all) fprintf(stream, "%*s%s\n", 2 * INDENT, "", rest);
}

void report_cause(FILE *stream, const RecordCase *item, const char *offer, const char *source,
                  size_t most)
{
    enum { FINDING_LEAST = 7 };
    char *places = NULL;
    size_t bytes;
    FILE *lines = open_memstream(&places, &bytes);
    if (!lines) return;
    print_places(lines, item->text, source);
    fclose(lines);
    char *finding = wrapped(item->text, 2 * INDENT), *advice = wrapped(offer, INDENT);
    if (finding && advice && places) {
        size_t fixed = screen_lines(places) + screen_lines(advice);
        size_t left = most > fixed ? most - fixed : 1;
        if (left < FINDING_LEAST) left = FINDING_LEAST;
        print_most(stream, finding, most ? left : 0, "... VERBOSE=1 shows the rest");
        fputs(places, stream);
        fputs(advice, stream);
    }
    free(finding);
    free(advice);
    free(places);
}

/* ---- compilers ------------------------------------------------------------------------------- */

/* Offset of the number in "conv.cu(3): error" and "conv.c:3:9: error"; 0: it names no place. */
static size_t place_begins(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0 || (line[length] != ':' && line[length] != '(')) return 0;
    return isdigit((unsigned char)line[length + 1]) ? length + 1 : 0;
}

static void print_compiled(FILE *stream, const char *line, int bytes, const char *source)
{
    size_t begins = place_begins(line, file_of(source));
    int digits = (int)strspn(line + begins, "0123456789"), after = (int)begins + digits;
    int named = !strncmp(line, file_of(source), strlen(file_of(source)));
    if (begins && line[begins - 1] == '(' && line[after] == ')')
        fprintf(stream, "%s:%.*s%.*s\n", screen_path(source), digits, line + begins,
                bytes - after - 1, line + after + 1);
    else if (begins)
        fprintf(stream, "%s:%.*s\n", screen_path(source), bytes - (int)begins, line + begins);
    else
        fprintf(stream, "%s%.*s\n", named || *line == ' ' || !bytes ? "" : "| ", bytes, line);
}

void report_compiler(FILE *stream, const char *lines, const char *source, size_t most)
{
    size_t all = screen_lines(lines);
    for (size_t i = 0; *lines && (!most || i < most || all <= most); i++) {
        int bytes = (int)strcspn(lines, "\n");
        print_compiled(stream, lines, bytes, source);
        lines += bytes + (lines[bytes] == '\n');
    }
    if (most && all > most)
        fprintf(stream, "... and %zu lines more: VERBOSE=1 shows them\n", all - most);
    if (all) fputc('\n', stream);
}
