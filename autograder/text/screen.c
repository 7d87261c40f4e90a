#include "autograder/text/screen.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/table.h"
#include "autograder/text/text.h"

void screen_error(const char *program, const char *text)
{
    char *line = NULL;
    if (!isatty(STDERR_FILENO) || asprintf(&line, "%s: %s", program, text) < 0)
        fprintf(stderr, "%s: %s\n", program, text);
    else
        text_wrap(stderr, 0, line);
    free(line);
}

const char *screen_path(const char *path)
{
    static char here[PATH_MAX];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (!length || strncmp(path, here, length) || path[length] != '/') return path;
    return path + length + 1;
}

size_t screen_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n' || !text[1];
    return lines;
}

/* ---- colours and links --------------------------------------------------------------------- */

#define RED   "\033[1;31m"
#define GREEN "\033[32m"
#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

static const struct {
    const char *word, *colour;
} PAINT[] = {
    {"WRONG", RED},    {"ERROR", RED},  {"EXITED", RED}, {"CRASHED", RED},   {"LIMIT", RED},
    {"PROTOCOL", RED}, {"FAILED", RED}, {"error:", RED}, {"correct", GREEN}, {"right", GREEN},
    {"passed", GREEN}, {"Hint:", BOLD}, {"total", BOLD},
};

/* The colour of a word, alone or with a colon ("WRONG:"); used only at the start of a line or a
 * table's column, so that prose is not coloured. */
static const char *colour_of(const char *word, size_t bytes, int first)
{
    for (size_t i = 0; i < sizeof PAINT / sizeof *PAINT; i++) {
        size_t length = strlen(PAINT[i].word);
        int same = !strncmp(word, PAINT[i].word, length);
        if (same && (bytes == length || (bytes == length + 1 && word[length] == ':')) &&
            (first || isupper((unsigned char)*word) || PAINT[i].word[length - 1] == ':'))
            return PAINT[i].colour;
    }
    return NULL;
}

/* Length of the place in "conv.cu:12:5:", and the file itself in `path`; 0: no such file. */
static size_t place_of(const char *word, size_t bytes, char *path, size_t room)
{
    const char *colon = memchr(word, ':', bytes);
    if (!colon || colon == word || (size_t)(colon - word) >= room) return 0;
    size_t end = (size_t)(colon - word) + 1;
    if (end == bytes || !isdigit((unsigned char)word[end])) return 0;
    while (end < bytes &&
           (isdigit((unsigned char)word[end]) ||
            (word[end] == ':' && end + 1 < bytes && isdigit((unsigned char)word[end + 1]))))
        end++;
    text_set(path, room, "%.*s", (int)(colon - word), word);
    return access(path, R_OK) ? 0 : end;
}

/* An OSC 8 link: terminals that support it make the text clickable, others show the text. */
static void print_link(FILE *stream, const char *path, const char *text, size_t bytes)
{
    char full[PATH_MAX], host[256] = "";
    gethostname(host, sizeof host - 1);
    if (!realpath(path, full)) return;
    fprintf(stream, "\033]8;;file://%s", host);
    for (const char *at = full; *at; at++)
        if (isalnum((unsigned char)*at) || strchr("/._-+~", *at))
            fputc(*at, stream);
        else
            fprintf(stream, "%%%02X", (unsigned char)*at);
    fprintf(stream, "\033\\%.*s\033]8;;\033\\", (int)bytes, text);
}

static void paint_line(FILE *stream, const char *line, size_t bytes, int colours)
{
    int first = 1;
    for (size_t at = 0; at < bytes;) {
        char path[512];
        size_t word = strcspn(line + at, " \n");
        if (word > bytes - at) word = bytes - at;
        size_t link = place_of(line + at, word, path, sizeof path);
        const char *colour = colours && word ? colour_of(line + at, word, first) : NULL;
        if (link) print_link(stream, path, line + at, link);
        fprintf(stream, "%s%.*s%s", colour ? colour : "", (int)(word - link), line + at + link,
                colour ? PLAIN : "");
        at += word;
        size_t blanks = strspn(line + at, " ");
        if (blanks > bytes - at) blanks = bytes - at;
        first = !word || blanks > 1;
        fprintf(stream, "%*s", (int)blanks, "");
        at += blanks;
    }
}

void screen_print(FILE *stream, const char *text)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    int terminal = isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
    int colours = !no_color || !*no_color;
    while (*text) {
        size_t bytes = strcspn(text, "\n");
        if (terminal && text[strspn(text, " ")] != '|')
            paint_line(stream, text, bytes, colours);
        else
            fwrite(text, 1, bytes, stream);
        text += bytes;
        if (*text) fputc(*text++, stream);
    }
}
