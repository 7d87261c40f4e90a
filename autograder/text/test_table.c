#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/table.h"

static void columns_align_and_notes_follow_below(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    Table table = table_start("lrl");
    table_row(&table, "case\tcycles\tverdict");
    table_row(&table, "lenet-c1\t%d\t%s", 12345, "WRONG");
    table_note(&table, "First line.\nSecond.");
    table_row(&table, "a heading makes no column wider");
    table_end(&table, stream, 2);
    fclose(stream);
    assert_string_equal(text, "  case      cycles  verdict\n"
                              "  lenet-c1   12345  WRONG\n"
                              "      First line.\n"
                              "      Second.\n"
                              "  a heading makes no column wider\n");
    free(text);
}

static void umlauts_are_one_column_wide(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    assert_int_equal(text_width("\303\227ab"), 3);
    Table table = table_start("lr");
    table_row(&table, "5\303\2275\t1");
    table_row(&table, "5x5\t22");
    table_end(&table, stream, 0);
    fclose(stream);
    assert_string_equal(text, "5\303\2275   1\n5x5  22\n");
    free(text);
}

/* A % stays with its number; %r1 is a name. */
static void no_line_starts_with_a_unit(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    setenv("COLUMNS", "80", 1);
    FILE *stream = open_memstream(&text, &bytes);
    text_wrap(stream, 70, "64 (100 %), add %r1");
    fclose(stream);
    assert_string_equal(strtok(text, "\n") + 70, "64");
    assert_string_equal(strtok(NULL, "\n") + 70, "(100 %),");
    assert_string_equal(strtok(NULL, "\n") + 70, "add %r1");
    free(text);
}

/* Also on a wider screen, because longer lines of prose are hard to read. */
static void lines_have_at_most_100_columns(void **state)
{
    (void)state;
    char *text = NULL, source[2000] = "";
    size_t bytes;
    setenv("COLUMNS", "120", 1);
    for (int i = 0; i < 150; i++)
        strcat(source, i % 7 ? "seven12 " : "x ");
    FILE *stream = open_memstream(&text, &bytes);
    text_wrap(stream, 6, source);
    fclose(stream);
    size_t longest = 0, words = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strlen(line) > longest) longest = strlen(line);
        assert_memory_equal(line, "      ", 6);
        assert_true(line[6] != ' ' && line[strlen(line) - 1] != ' ');
        for (char *at = line + 6; at; at = strchr(at, ' '), at += at != NULL)
            words++;
    }
    assert_in_range(longest, 90, 100);
    assert_int_equal(words, 150);
    free(text);
}

static void long_words_are_broken(void **state)
{
    (void)state;
    char *text = NULL, source[400] = "";
    size_t bytes;
    setenv("COLUMNS", "100", 1);
    for (int i = 0; i < 100; i++)
        strcat(source, "a ");
    FILE *stream = open_memstream(&text, &bytes);
    text_wrap(stream, 6, source);
    fclose(stream);
    assert_int_equal(strcspn(text, "\n"), 6 + 47 * 2 - 1); /* 99; a 48th would end in column 101 */
    free(text);
}

static void narrow_screens_are_respected(void **state)
{
    (void)state;
    const char *const wide[] = {"10", "80", "100"};
    const size_t most[] = {80, 80, 100};
    char source[800] = "";
    for (int i = 0; i < 60; i++)
        strcat(source, "a question ");
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        char *text = NULL;
        size_t bytes, longest = 0, words = 0;
        setenv("COLUMNS", wide[i], 1);
        FILE *stream = open_memstream(&text, &bytes);
        Table table = table_start("lrw");
        table_row(&table, "name\tnumber\twhat is asked");
        table_row(&table, "first\t12\t%s", source);
        table_row(&table, "second\t1234\tshort");
        table_end(&table, stream, 2);
        fclose(stream);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            if (strlen(line) > longest) longest = strlen(line);
            for (char *at = line; (at = strstr(at, "question")); at++)
                words++;
        }
        assert_in_range(longest, most[i] - 12, most[i]);
        assert_int_equal(words, 60); /* none is truncated */
        free(text);
    }
}

/* If a column would be too narrow for a sentence, the text is below the row. */
static void text_that_does_not_fit_follows_below(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    setenv("COLUMNS", "80", 1);
    FILE *stream = open_memstream(&text, &bytes);
    Table table = table_start("lw");
    table_row(&table, "%s\twhat", "a name that leaves less than twenty-four columns of eighty");
    table_row(&table, "b\tthe words");
    table_end(&table, stream, 0);
    fclose(stream);
    assert_string_equal(
        text, "a name that leaves less than twenty-four columns of eighty\nb\n    the words\n");
    free(text);
}

static void numbers_get_their_commas(void **state)
{
    (void)state;
    char text[40];
    assert_string_equal(text_thousands(0, text), "0");
    assert_string_equal(text_thousands(999, text), "999");
    assert_string_equal(text_thousands(1000, text), "1,000");
    assert_string_equal(text_thousands(1234567, text), "1,234,567");
    assert_string_equal(text_thousands(-123456, text), "-123,456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_align_and_notes_follow_below),
        cmocka_unit_test(umlauts_are_one_column_wide),
        cmocka_unit_test(no_line_starts_with_a_unit),
        cmocka_unit_test(lines_have_at_most_100_columns),
        cmocka_unit_test(long_words_are_broken),
        cmocka_unit_test(narrow_screens_are_respected),
        cmocka_unit_test(text_that_does_not_fit_follows_below),
        cmocka_unit_test(numbers_get_their_commas),
    };
    return cmocka_run_group_tests_name("autograder/table", tests, NULL, NULL);
}
