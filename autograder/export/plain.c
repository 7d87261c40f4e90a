#include "autograder/export/plain.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REPLACED "\xEF\xBF\xBD" /* U+FFFD */

/* The code point at `at` and its length in bytes; 0 if it is not well-formed UTF-8. */
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
    if (code == 0xFFFE || code == 0xFFFF) return 0;             /* not allowed in XML */
    /* Marks, embeddings, overrides and isolates: they change the displayed order of a text. */
    return code != 0x200E && code != 0x200F && code != 0x061C &&
           !(code >= 0x202A && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);
}

/* Advances over the next character of *at and writes it into `shown`; 0 at the end. */
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

/* Spaces of all widths, and what is not shown at all. */
static int is_blank(uint32_t code)
{
    return code == ' ' || code == '\t' || code == '\n' || code == 0xA0 || code == 0xAD ||
           code == 0x34F || code == 0x1680 || code == 0x115F || code == 0x1160 || code == 0x3164 ||
           code == 0xFFA0 || (code >= 0x180B && code <= 0x180F) ||
           (code >= 0x2000 && code <= 0x200F) || (code >= 0x2028 && code <= 0x202F) ||
           (code >= 0x205F && code <= 0x206F) || code == 0x2800 || code == 0x3000 ||
           (code >= 0xFE00 && code <= 0xFE0F) || code == 0xFEFF || code == 0x17B4 ||
           code == 0x17B5 || (code >= 0xFFF0 && code <= 0xFFFB) ||
           (code >= 0x1BCA0 && code <= 0x1BCA3) || (code >= 0x1D173 && code <= 0x1D17A) ||
           (code >= 0xE0000 && code <= 0xE0FFF);
}

/* = + - @, and every character whose compatibility form (NFKD) starts with one of them or with the
 * minus sign: small, fullwidth, superscript and subscript forms, and combinations such as U+2260.
 * Computed from Unicode 15. */
static int begins_formula(uint32_t code)
{
    static const uint32_t SIGNS[] = {'=',    '+',    '-',    '@',    0x207A, 0x207B, 0x207C, 0x208A,
                                     0x208B, 0x208C, 0x2212, 0x2260, 0x2A75, 0x2A76, 0xFB29, 0xFE62,
                                     0xFE63, 0xFE66, 0xFE6B, 0xFF0B, 0xFF0D, 0xFF1D, 0xFF20};
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (code == SIGNS[i]) return 1;
    return 0;
}

static int is_formula(const char *text)
{
    uint32_t code = 0;
    for (int bytes; *text; text += bytes ? bytes : 1) {
        bytes = decode((const unsigned char *)text, &code);
        if (bytes && begins_formula(code)) return 1;
        if (bytes && is_plain(code) && !is_blank(code)) return 0;
    }
    return 0;
}

void plain_csv(FILE *stream, const char *text)
{
    fputc('"', stream);
    if (is_formula(text)) fputc('\'', stream);
    for (char shown[5]; next(&text, shown);) {
        if (shown[0] == '"') fputc('"', stream);
        fputs(shown[0] == '\n' || shown[0] == '\t' ? " " : shown, stream);
    }
    fputc('"', stream);
}

/* No tag begins here for an HTML parser: after a tag's '<' follows a letter, '/', '!' or '?'. */
static void put_without_tags(FILE *stream, const char *text)
{
    static const char JOINER[] = "\xE2\x81\xA0"; /* U+2060 */
    for (char shown[5]; next(&text, shown);) {
        fputs(shown, stream);
        int begins_tag = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                         *text == '/' || *text == '!' || *text == '?';
        if (shown[0] == '<' && begins_tag) fputs(JOINER, stream);
    }
}

static json_t *json_of(const char *text, void (*put)(FILE *, const char *))
{
    char *plain = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&plain, &bytes);
    if (!stream) return NULL;
    put(stream, text);
    json_t *value = fclose(stream) ? NULL : json_string(plain);
    free(plain);
    return value;
}

json_t *plain_json(const char *text)
{
    return json_of(text, put_without_tags);
}

json_t *plain_json_name(const char *name)
{
    return json_of(name, plain_put);
}
