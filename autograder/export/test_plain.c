#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/export/plain.h"

typedef void Writer(FILE *stream, const char *text);

/* malloc'd */
static char *written(Writer *write, const char *text)
{
    char *out = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&out, &bytes);
    assert_non_null(stream);
    write(stream, text);
    assert_int_equal(fclose(stream), 0);
    return out;
}

static void expect(Writer *write, const char *text, const char *expected)
{
    char *out = written(write, text);
    assert_string_equal(out, expected);
    free(out);
}

static void invalid_text_is_replaced(void **state)
{
    (void)state;
    expect(plain_put, "caf\303\251 \360\237\230\200\n\t.", "caf\303\251 \360\237\230\200\n\t.");
    static const char *const ONE[] = {"\033",
                                      "\177",
                                      "\001",
                                      "\r",
                                      "\302\233",
                                      "\377",
                                      "\200",
                                      "\355\240\200", /* half a surrogate */
                                      "\300\257",     /* '/' in two bytes */
                                      "\364\220\200\200",
                                      /* above U+10FFFF */ "\342\200\256", /* right to left */
                                      "\342\201\246",
                                      "\357\277\276",
                                      "\342\200\217",
                                      "\303"};
    for (size_t i = 0; i < sizeof ONE / sizeof *ONE; i++) {
        char text[16], *out;
        snprintf(text, sizeof text, "a%sb", ONE[i]);
        out = written(plain_put, text);
        assert_true(!strncmp(out, "a\357\277\275", 4));
        assert_null(strstr(out, ONE[i]));
        assert_int_equal(out[strlen(out) - 1], 'b');
        free(out);
    }
}

static void each_format_has_its_own_escapes(void **state)
{
    (void)state;
    expect(plain_xml, "]]> <a b=\"'\"> &amp;", "]]&gt; &lt;a b=&quot;&#39;&quot;&gt; &amp;amp;");
    expect(plain_tap, "a # SKIP \\ b\nok 1", "a \\# SKIP \\\\ b ok 1");
    expect(plain_csv, "a, \"b\"\nc", "\"a, \"\"b\"\" c\"");
    expect(plain_csv, "=1+1", "\"'=1+1\"");
    expect(plain_csv, " \t@x", "\"'  @x\"");
    expect(plain_csv, "+1", "\"'+1\"");
    expect(plain_csv, "-1", "\"'-1\"");
    expect(plain_csv, "", "\"\"");
    /* After a no-break space, a zero-width space and a byte order mark; fullwidth, and a minus. */
    expect(plain_csv, "\302\240=1", "\"'\302\240=1\"");
    expect(plain_csv, "\342\200\213=1", "\"'\342\200\213=1\"");
    expect(plain_csv, "\357\273\277 +1", "\"'\357\273\277 +1\"");
    expect(plain_csv, "\357\274\235 1", "\"'\357\274\235 1\"");
    expect(plain_csv, "\342\210\2221", "\"'\342\210\2221\"");
    /* A superscript plus, a subscript equals sign, an equals sign with a stroke; after a tag. */
    expect(plain_csv, "\342\201\2721", "\"'\342\201\2721\"");
    expect(plain_csv, "\342\202\2141", "\"'\342\202\2141\"");
    expect(plain_csv, "\342\211\2401", "\"'\342\211\2401\"");
    expect(plain_csv, "\363\240\200\240=1", "\"'\363\240\200\240=1\"");
    expect(plain_csv, "\033=1", "\"'\357\277\275=1\"");
    expect(plain_csv, "a\302\240=1", "\"a\302\240=1\"");
    json_t *json = plain_json("a\033\"\377");
    assert_string_equal(json_string_value(json), "a\357\277\275\"\357\277\275");
    json_decref(json);
    json = plain_json("a < b, <img src=x>, </p>, <5");
    assert_string_equal(json_string_value(json),
                        "a < b, <\342\201\240img src=x>, <\342\201\240/p>, <5");
    json_decref(json);
    json = plain_json_name("<b>");
    assert_string_equal(json_string_value(json), "<b>");
    json_decref(json);
}

/* The output is UTF-8 for any bytes (checked by jansson), has no control characters, and cannot end
 * its context. */
static void any_bytes_become_harmless(void **state)
{
    (void)state;
    static const char LIKELY[] = "<>&\"'\\#]=+-@,\n\t\r\033\302\233\200\256\342\377\355\240 a";
    uint64_t random = 42;
    for (int round = 0; round < 20000; round++) {
        char text[24];
        size_t length = (size_t)(round % 20);
        for (size_t i = 0; i < length; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            unsigned value = (unsigned)(random >> 40);
            text[i] = value & 256 ? (char)(value % 255 + 1) : LIKELY[value % (sizeof LIKELY - 1)];
        }
        text[length] = 0;
        char *xml = written(plain_xml, text), *csv = written(plain_csv, text);
        char *tap = written(plain_tap, text);
        json_t *is_utf8 = json_pack("[s,s,s]", xml, csv, tap);
        assert_non_null(is_utf8);
        json_decref(is_utf8);
        assert_null(strpbrk(xml, "<>\"'\r\033\177"));
        for (const char *at = xml; (at = strchr(at, '&')); at++)
            assert_true(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) ||
                        !strncmp(at, "&amp;", 5) || !strncmp(at, "&quot;", 6) ||
                        !strncmp(at, "&#39;", 5));
        assert_null(strpbrk(tap, "\n\r\033"));
        for (const char *at = tap; *at; at++) { /* a '#' only after its own '\' */
            if (*at == '\\')
                at++;
            else
                assert_int_not_equal(*at, '#');
        }
        assert_null(strpbrk(csv, "\n\r\t\033"));
        for (const char *at = csv + 1; at[1]; at++) /* quotes come in pairs between the two ends */
            if (*at == '"') assert_int_equal(*++at, '"');
        assert_null(strchr("=+-@", csv[1 + strspn(csv + 1, " ")]));
        free(xml);
        free(csv);
        free(tap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_text_is_replaced),
        cmocka_unit_test(each_format_has_its_own_escapes),
        cmocka_unit_test(any_bytes_become_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
