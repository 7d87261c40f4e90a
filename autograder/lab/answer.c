#include "autograder/lab/answer.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "autograder/text/text.h"

typedef struct Reader {
    const char *at, *text;
    char *why;
    size_t bytes;
    int depth, failed;
} Reader;

enum { DEPTH_MOST = 20 };

static double fail(Reader *reader, const char *what)
{
    if (!reader->failed) text_set(reader->why, reader->bytes, "'%.60s' %s", reader->text, what);
    reader->failed = 1;
    return 0;
}

static void skip_blanks(Reader *reader)
{
    while (isspace((unsigned char)*reader->at))
        reader->at++;
}

/* Length of "1,466,000", groups of three digits after the first one to three; 0: no commas. */
static size_t grouped_length(const char *text)
{
    size_t length = strspn(text, "0123456789"), groups = 0;
    if (!length || length > 3) return 0;
    while (text[length] == ',' && strspn(text + length + 1, "0123456789") == 3)
        length += 4, groups++;
    return groups ? length : 0;
}

static double read_number(Reader *reader)
{
    char digits[80], *end;
    size_t length = grouped_length(reader->at), used = 0;
    if (!isdigit((unsigned char)*reader->at) && *reader->at != '.')
        return fail(reader, "is not a number");
    if (!length) length = strspn(reader->at, "0123456789");
    for (size_t i = 0; i < length && used + 1 < sizeof digits; i++)
        if (reader->at[i] != ',') digits[used++] = reader->at[i];
    const char *rest = reader->at + length;
    if (*rest == ',')
        return fail(
            reader,
            "has a comma: commas may only separate thousands (1,466), decimals need a point (2.5)");
    /* strtod reads the fraction and the exponent; "2e" and "2x" end before the letter. */
    while (used + 1 < sizeof digits && *rest &&
           (isdigit((unsigned char)*rest) || *rest == '.' ||
            (strchr("eE", *rest) && (isdigit((unsigned char)rest[1]) ||
                                     (strchr("+-", rest[1]) && isdigit((unsigned char)rest[2])))) ||
            (strchr("+-", *rest) && strchr("eE", rest[-1]))))
        digits[used++] = *rest++;
    digits[used] = 0;
    double number = strtod(digits, &end);
    if (*end || used + 1 == sizeof digits) return fail(reader, "is not a number");
    reader->at = rest;
    return number;
}

static double read_sum(Reader *reader);

static double read_factor(Reader *reader)
{
    skip_blanks(reader);
    if (*reader->at == '-' || *reader->at == '+') {
        double sign = *reader->at++ == '-' ? -1 : 1;
        if (++reader->depth > DEPTH_MOST) return fail(reader, "is not a number");
        return sign * read_factor(reader);
    }
    if (*reader->at != '(') return read_number(reader);
    reader->at++;
    if (++reader->depth > DEPTH_MOST) return fail(reader, "has too many parentheses");
    double inner = read_sum(reader);
    skip_blanks(reader);
    if (*reader->at != ')') return fail(reader, "has a parenthesis that is not closed");
    reader->at++;
    reader->depth--;
    return inner;
}

static double read_product(Reader *reader)
{
    double product = read_factor(reader);
    for (skip_blanks(reader); !reader->failed && (*reader->at == '*' || *reader->at == '/');
         skip_blanks(reader)) {
        char sign = *reader->at++;
        double factor = read_factor(reader);
        product = sign == '*' ? product * factor : product / factor;
    }
    return product;
}

static double read_sum(Reader *reader)
{
    double sum = read_product(reader);
    for (skip_blanks(reader); !reader->failed && (*reader->at == '+' || *reader->at == '-');
         skip_blanks(reader)) {
        char sign = *reader->at++;
        double term = read_product(reader);
        sum = sign == '+' ? sum + term : sum - term;
    }
    return sum;
}

/* Words that would change the number's magnitude. */
static int is_scale(const char *word)
{
    static const char *const scales[] = {"k",       "kb",      "kib", "m",   "mb",
                                         "mib",     "g",       "gb",  "gib", "thousand",
                                         "million", "billion", "mio", "tsd", "dozen"};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if (!strcasecmp(word, scales[i])) return 1;
    return 0;
}

/* Allowed after a number: nothing, "%", or one word of letters. */
static void read_unit(Reader *reader)
{
    char word[32];
    size_t length = 0;
    skip_blanks(reader);
    if (*reader->at == '%') reader->at++;
    while (isalpha((unsigned char)reader->at[length]))
        length++;
    text_set(word, sizeof word, "%.*s", (int)length, reader->at);
    if (is_scale(word)) {
        fail(reader, "is abbreviated: write the number in full, 4096 instead of 4 KB");
        return;
    }
    reader->at += length;
    skip_blanks(reader);
    if (*reader->at) fail(reader, "is not a number");
}

int answer_read(const char *text, double *number, char *why, size_t bytes)
{
    Reader reader = {.at = text, .text = text, .why = why, .bytes = bytes};
    *number = read_sum(&reader);
    if (!reader.failed) read_unit(&reader);
    if (!reader.failed && !isfinite(*number)) fail(&reader, "is not a finite number");
    return reader.failed ? -1 : 0;
}
