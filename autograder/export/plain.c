#include "autograder/export/plain.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACED "\xEF\xBF\xBD" /* U+FFFD */

/* The code point at `at` and its length in bytes; 0 where no well-formed UTF-8 begins. */
static int decode(const unsigned char *at, uint32_t *code)
{
    static const uint32_t LEAST[] = {0, 0, 0x80, 0x800, 0x10000};
    int bytes = at[0] < 0x80 ? 1 : at[0] < 0xC0 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (!bytes || at[0] >= 0xF8) return 0;
    *code = bytes == 1 ? at[0] : at[0] & (0x7Fu >> bytes);
    for (int i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3F);
    }
    int surrogate = *code >= 0xD800 && *code <= 0xDFFF;
    return *code < LEAST[bytes] || *code > 0x10FFFF || surrogate ? 0 : bytes;
}

static int is_plain(uint32_t code)
{
    if (code == '\n' || code == '\t') return 1;
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return 0; /* C0, delete, C1 */
    if (code == 0xFFFE || code == 0xFFFF) return 0;             /* XML has none of them */
    /* Marks, embeddings, overrides and isolates: they show text in another order than it has. */
    return code != 0x200E && code != 0x200F && code != 0x061C &&
           !(code >= 0x202A && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);
}

/* Steps over the next character of *at and writes it into `shown`; 0 at the end. */
static int next(const char **at, char shown[5])
{
    uint32_t code = 0;
    if (!**at) return 0;
    int bytes = decode((const unsigned char *)*at, &code);
    if (bytes && is_plain(code)) {
        memcpy(shown, *at, (size_t)bytes);
        shown[bytes] = 0;
    } else {
        strcpy(shown, REPLACED);
    }
    *at += bytes ? bytes : 1;
    return 1;
}

void plain_put(FILE *stream, const char *text)
{
    for (char shown[5]; next(&text, shown);)
        fputs(shown, stream);
}

static const char *xml_entity(char letter)
{
    switch (letter) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    }
    return NULL;
}

void plain_xml(FILE *stream, const char *text)
{
    for (char shown[5]; next(&text, shown);) {
        const char *entity = xml_entity(shown[0]);
        fputs(entity ? entity : shown, stream);
    }
}

void plain_tap(FILE *stream, const char *text)
{
    for (char shown[5]; next(&text, shown);) {
        if (shown[0] == '\\' || shown[0] == '#') fputc('\\', stream);
        fputs(shown[0] == '\n' ? " " : shown, stream);
    }
}

void plain_csv(FILE *stream, const char *text)
{
    const char *first = text + strspn(text, " \t\n");
    fputc('"', stream);
    if (*first && strchr("=+-@", *first)) fputc('\'', stream);
    for (char shown[5]; next(&text, shown);) {
        if (shown[0] == '"') fputc('"', stream);
        fputs(shown[0] == '\n' || shown[0] == '\t' ? " " : shown, stream);
    }
    fputc('"', stream);
}

json_t *plain_json(const char *text)
{
    char *plain = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&plain, &bytes);
    if (!stream) return NULL;
    plain_put(stream, text);
    json_t *value = fclose(stream) ? NULL : json_string(plain);
    free(plain);
    return value;
}
