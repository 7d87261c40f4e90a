#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "autograder/workbench/command.h"

static const Workbench bench = {.root = "/root", .build = "/root/build"};
static int is_program; /* Boolean: the next command is for a program */
static const Lab lab = {.name = "04-tiled", .ini.source = "conv.cu"};

/* The arguments of a request's command, separated by '|'; "" if it was refused. */
static const char *command_of(const char *request, Error *error)
{
    static char line[4000];
    Command command;
    json_t *object = json_loads(request, 0, NULL);
    assert_non_null(object);
    *line = 0;
    if (!command_make(&bench, is_program ? NULL : &lab, is_program ? "/root/playground/a.cu" : NULL,
                      object, &command, error))
        for (int i = 0; command.argv[i]; i++) {
            if (i) strcat(line, "|");
            strcat(line, command.argv[i]);
        }
    json_decref(object);
    return line;
}

static void names_the_programs_of_make_targets(void **state)
{
    (void)state;
    Error error;
    assert_string_equal(
        command_of("{\"action\":\"run\",\"case\":\"tall\",\"gpu\":\"titanv\"}", &error),
        "/root/build/bin/lab|run|--root|/root|--build|/root/build|--lab|04-tiled|"
        "--submission|labs|--engine|sim|--case|tall|--gpu|titanv");
    assert_string_equal(command_of("{\"action\":\"grade\",\"case\":\"tall\"}", &error),
                        "/root/build/bin/grade|--root|/root|--build|/root/build|--lab|04-tiled|"
                        "--submission|labs|--engine|sim");
    assert_string_equal(command_of("{\"action\":\"hint\",\"todo\":\"3\"}", &error),
                        "/root/build/bin/lab|hint|--root|/root|--build|/root/build|--lab|04-tiled|"
                        "--todo|3");
    assert_string_equal(command_of("{\"action\":\"see\",\"line\":\"7\"}", &error),
                        "/root/build/bin/lab|see|--root|/root|--build|/root/build|--lab|04-tiled|"
                        "--submission|labs|--engine|sim|--out|"
                        "/root/build/workbench/04-tiled/see/see.html|--line|7");
}

static void the_debugger_is_a_dialogue(void **state)
{
    (void)state;
    Error error;
    assert_string_equal(
        command_of("{\"action\":\"debug\",\"case\":\"tall; ls\",\"gpu\":\"titanv\"}", &error),
        "/usr/bin/env|CASE=tall; "
        "ls|GPU=titanv|sh|/root/common/setup/debug.sh|/root/build|04-tiled");
}

static void runs_programs_of_the_playground(void **state)
{
    (void)state;
    Error error;
    is_program = 1;
    assert_string_equal(
        command_of("{\"action\":\"run\",\"args\":\"1 $(ls)\",\"gpu\":\"t4\",\"case\":\"x\"}",
                   &error),
        "/usr/bin/env|GPU=t4|sh|/root/common/setup/simulate.sh|/root/build|"
        "/root/playground/a.cu|1 $(ls)");
    assert_string_equal(command_of("{\"action\":\"profile\",\"flags\":\"-DN=1\"}", &error),
                        "/usr/bin/env|NVCCFLAGS=-DN=1|PROFILE=1|sh|/root/common/setup/simulate.sh|"
                        "/root/build|/root/playground/a.cu|");
    assert_string_equal(command_of("{\"action\":\"code\"}", &error),
                        "/usr/bin/env|sh|/root/common/setup/code.sh|/root/build|"
                        "/root/build/workbench/playground/code||/root/playground/a.cu");
    assert_string_equal(command_of("{\"action\":\"grade\"}", &error), "");
    assert_non_null(strstr(error.text, "there are run, profile, code, debug"));
    is_program = 0;
    assert_string_equal(command_of("{\"action\":\"picture\",\"filter\":\"box\"}", &error),
                        "/usr/bin/env|sh|/root/common/setup/picture.sh|/root/build|04-tiled|labs|"
                        "sim||box");
}

/* Values are arguments, whatever they contain; no setting gets in that the action does not have. */
static void values_are_text(void **state)
{
    (void)state;
    Error error;
    const char *line = command_of("{\"action\":\"run\",\"shape\":\"N=1; rm -rf / --out x\","
                                  "\"root\":\"/etc\",\"submission\":\"/etc\"}",
                                  &error);
    assert_non_null(strstr(line, "|--shape|N=1; rm -rf / --out x"));
    assert_null(strstr(line, "/etc"));
    assert_string_equal(command_of("{\"action\":\"run\",\"shape\":7}", &error), "");
    assert_non_null(strstr(error.text, "shape is not text"));
}

static void rejects_unknown_actions(void **state)
{
    (void)state;
    Error error;
    assert_string_equal(command_of("{\"action\":\"solution\"}", &error), "");
    assert_non_null(strstr(error.text, "no action solution"));
    assert_string_equal(command_of("{}", &error), "");
    char request[400] = "{\"action\":\"run\",\"case\":\"";
    memset(request + strlen(request), 'a', 201);
    strcat(request, "\"}");
    assert_string_equal(command_of(request, &error), "");
    assert_non_null(strstr(error.text, "more than 200"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_programs_of_make_targets),
        cmocka_unit_test(the_debugger_is_a_dialogue),
        cmocka_unit_test(runs_programs_of_the_playground),
        cmocka_unit_test(values_are_text),
        cmocka_unit_test(rejects_unknown_actions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
