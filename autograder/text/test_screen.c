#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "autograder/text/screen.h"

/* Text received at the other end of a terminal. */
static void shown_on_a_terminal(const char *text, char *got, size_t bytes)
{
    int terminal, program;
    struct termios raw;
    assert_int_equal(openpty(&terminal, &program, NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(program, &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(program, TCSANOW, &raw), 0);
    FILE *stream = fdopen(program, "w");
    assert_non_null(stream);
    screen_print(stream, text);
    fflush(stream);
    ssize_t length = read(terminal, got, bytes - 1);
    got[length > 0 ? length : 0] = 0;
    fclose(stream);
    close(terminal);
}

static void a_pipe_gets_the_text_alone(void **state)
{
    (void)state;
    int ends[2];
    char got[200];
    const char *text = "  WRONG  test.c:1:1: x\n";
    assert_int_equal(pipe(ends), 0);
    FILE *stream = fdopen(ends[1], "w");
    screen_print(stream, text);
    fclose(stream);
    got[read(ends[0], got, sizeof got - 1)] = 0;
    assert_string_equal(got, text);
    close(ends[0]);
}

static void a_terminal_gets_colours_unless_disabled(void **state)
{
    (void)state;
    char got[400];
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    shown_on_a_terminal("  WRONG  lenet\n", got, sizeof got);
    assert_string_equal(got, "  \033[1;31mWRONG\033[0m  lenet\n");
    shown_on_a_terminal("all is right here\n", got, sizeof got); /* prose */
    assert_string_equal(got, "all is right here\n");
    shown_on_a_terminal("  | WRONG\n", got, sizeof got); /* a submission's output */
    assert_string_equal(got, "  | WRONG\n");
    setenv("NO_COLOR", "1", 1);
    shown_on_a_terminal("  WRONG  lenet\n", got, sizeof got);
    assert_string_equal(got, "  WRONG  lenet\n");
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    shown_on_a_terminal("  WRONG  lenet\n", got, sizeof got);
    assert_string_equal(got, "  WRONG  lenet\n");
}

static void existing_locations_become_links(void **state)
{
    (void)state;
    char directory[] = "/tmp/convlab-screen-XXXXXX", file[64], text[200], got[900], want[400];
    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof file, "%s/a#b.cu", directory);
    FILE *made = fopen(file, "w");
    assert_non_null(made);
    fclose(made);
    setenv("TERM", "xterm", 1);
    snprintf(text, sizeof text, "%s:12:5: error\n", file);
    shown_on_a_terminal(text, got, sizeof got);
    snprintf(want, sizeof want, "%s/a%%23b.cu\033\\%s:12:5\033]8;;\033\\: error\n", directory,
             file);
    assert_memory_equal(got, "\033]8;;file://", 12);
    assert_string_equal(got + strlen(got) - strlen(want), want);
    unlink(file);
    shown_on_a_terminal(text, got, sizeof got);
    assert_string_equal(got, text);
    rmdir(directory);
}

static void the_width_is_given_or_detected(void **state)
{
    (void)state;
    setenv("COLUMNS", "132", 1);
    assert_int_equal(screen_columns(), 132);
    setenv("COLUMNS", "20", 1);
    assert_int_equal(screen_columns(), 80);
    int terminal, program, output = dup(STDOUT_FILENO);
    struct winsize size = {.ws_row = 30, .ws_col = 97};
    unsetenv("COLUMNS");
    assert_int_equal(openpty(&terminal, &program, NULL, NULL, &size), 0);
    dup2(program, STDOUT_FILENO);
    size_t found = screen_columns();
    screen_keep();
    dup2(output, STDOUT_FILENO);
    assert_int_equal(found, 97);
    assert_string_equal(getenv("COLUMNS"), "97");
    close(terminal), close(program), close(output);
}

static void lines_are_counted(void **state)
{
    (void)state;
    assert_int_equal(screen_lines(""), 0);
    assert_int_equal(screen_lines("a\nb\n"), 2);
    assert_int_equal(screen_lines("a\nb"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_the_text_alone),
        cmocka_unit_test(a_terminal_gets_colours_unless_disabled),
        cmocka_unit_test(existing_locations_become_links),
        cmocka_unit_test(the_width_is_given_or_detected),
        cmocka_unit_test(lines_are_counted),
    };
    return cmocka_run_group_tests_name("autograder/screen", tests, NULL, NULL);
}
