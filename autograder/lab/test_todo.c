#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/todo.h"

static const char SOLUTION[] = "int add(int a, int b)\n"
                               "{\n"
                               "    // TODO(1): Return the sum.\n"
                               "    // Mind the sign.\n"
                               "    return a + b;\n"
                               "    // END TODO(1)\n"
                               "}\n"
                               "    // TODO(2): Loop.\n"
                               "    for (;;) add(1, 2);\n"
                               "    // END TODO(2)\n";
static const char SKELETON[] = "int add(int a, int b)\n"
                               "{\n"
                               "    // TODO(1): Return the sum.\n"
                               "    // Mind the sign.\n"
                               "    return 0;\n"
                               "    // END TODO(1)\n"
                               "}\n"
                               "    // TODO(2): Loop.\n"
                               "    // END TODO(2)\n";

static void regions_are_found_with_task_and_body(void **state)
{
    (void)state;
    TodoList list;
    Error error;
    assert_int_equal(todo_scan("conv.cu", SOLUTION, &list, &error), 0);
    assert_int_equal(list.regions, 2);
    assert_string_equal(list.region[0].sentence, "Return the sum.");
    assert_int_equal(list.region[0].line, 3);
    assert_memory_equal(SOLUTION + list.region[0].body, "    return a + b;", 17);
    assert_memory_equal(SOLUTION + list.region[0].body_end, "    // END TODO(1)", 18);
    assert_false(todo_is_stub(SOLUTION, &list.region[1]));
}

static void a_task_is_shown_to_the_end_of_its_sentence(void **state)
{
    (void)state;
    TodoList list;
    Error error;
    const char *text =
        "// TODO(1): Load row i of\n//   both maps,\n  // zeros outside.\n// Then so.\n"
        "f();\n// END TODO(1)\n// TODO(2): Go on\nint x; // END\n// END TODO(2)\n";
    assert_int_equal(todo_scan("conv.cu", text, &list, &error), 0);
    assert_string_equal(list.region[0].sentence, "Load row i of both maps, zeros outside.");
    assert_string_equal(list.region[1].sentence, "Go on");
}

static void regions_after_the_last_written_one_are_the_skeletons(void **state)
{
    (void)state;
    Error error;
    char *none = todo_until(SOLUTION, SKELETON, 0, &error);
    char *first = todo_until(SOLUTION, SKELETON, 1, &error);
    char *all = todo_until(SOLUTION, SKELETON, 2, &error);
    assert_string_equal(none, SKELETON);
    assert_string_equal(first, "int add(int a, int b)\n"
                               "{\n"
                               "    // TODO(1): Return the sum.\n"
                               "    // Mind the sign.\n"
                               "    return a + b;\n"
                               "    // END TODO(1)\n"
                               "}\n"
                               "    // TODO(2): Loop.\n"
                               "    // END TODO(2)\n");
    assert_string_equal(all, SOLUTION);
    assert_null(todo_until(SOLUTION, "// TODO(1): One.\n// END TODO(1)\n", 1, &error));
    assert_string_equal(error.text, "the source has 2 TODO regions, the skeleton 1");
    free(none);
    free(first);
    free(all);
}

static void a_skeleton_differs_only_inside(void **state)
{
    (void)state;
    Error error;
    char edited[sizeof SKELETON];
    assert_int_equal(todo_compare("labs/x/conv.cu", SKELETON, SOLUTION, &error), 0);
    strcpy(edited, SKELETON);
    edited[strlen("int add(int a, int ")] = 'c';
    assert_int_equal(todo_compare("labs/x/conv.cu", edited, SOLUTION, &error), -1);
    assert_string_equal(error.text,
                        "labs/x/conv.cu:1: differs from the solution outside the TODO regions");
    strcpy(edited, SKELETON);
    memcpy(strstr(edited, "Loop"), "Jump", 4);
    assert_int_equal(todo_compare("labs/x/conv.cu", edited, SOLUTION, &error), -1);
    assert_non_null(strstr(error.text, "labs/x/conv.cu:8:"));
    assert_int_equal(todo_compare("labs/x/conv.cu", "int x;\n", SOLUTION, &error), -1);
    assert_string_equal(error.text, "labs/x/conv.cu has 0 TODO regions, the solution 2");
}

static void the_first_untouched_region_is_next(void **state)
{
    (void)state;
    TodoList mine, pristine, solved;
    Error error;
    const char *half =
        "int add(int a, int b)\n{\n"
        "    // TODO(1): Return the sum.\n    return b + a; // done\n    // END TODO(1)\n}\n"
        "    // TODO(2): Loop.\n\n   // hm\n    // END TODO(2)\n";
    assert_int_equal(todo_scan("a", half, &mine, &error), 0);
    assert_int_equal(todo_scan("b", SKELETON, &pristine, &error), 0);
    assert_int_equal(todo_scan("c", SOLUTION, &solved, &error), 0);
    assert_int_equal(todo_first_open(half, &mine, SKELETON, &pristine, "")->number, 2);
    assert_int_equal(todo_first_open(SKELETON, &pristine, SKELETON, &pristine, "")->number, 1);
    assert_null(todo_first_open(SOLUTION, &solved, SKELETON, &pristine, "TODO(1)"));
    assert_int_equal(todo_count_written(half, &mine, SKELETON, &pristine, 1, 2), 1);
    assert_int_equal(todo_count_written(half, &mine, SKELETON, &pristine, 2, 2), 0);
    assert_int_equal(todo_count_written(SOLUTION, &solved, SKELETON, &pristine, 1, 9), 2);
    const char *hint = "Begin with TODO(2). Then TODO(1), TODO(9), TODO(";
    assert_int_equal(todo_first_open(SKELETON, &pristine, SKELETON, &pristine, hint)->number, 2);
    hint = "TODO(1) first, then TODO(2).";
    assert_int_equal(todo_first_open(half, &mine, SKELETON, &pristine, hint)->number, 2);
}

static void broken_markers_are_named_by_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } BAD[] = {
        {"// TODO(1): Do.\n", "f: there is no END TODO(1)"},
        {"// TODO(2): Do.\n// END TODO(2)\n", "f:1: TODO(2) is where TODO(1) is expected"},
        {"// TODO(1): Do.\n// TODO(2): Do.\n", "f:2: TODO(2) begins before END TODO(1)"},
        {"\n// END TODO(1)\n", "f:2: END TODO(1) ends nothing"},
        {"// TODO(1): Do.\n// END TODO(2)\n", "f:2: END TODO(2) ends nothing"},
        {"// TODO(1) Do.\n// END TODO(1)\n", "f:1: write TODO(1): and a sentence"},
        {"// TODO(1):\n// END TODO(1)\n", "f:1: TODO(1) needs a sentence that says what to do"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        TodoList list;
        Error error;
        assert_int_equal(todo_scan("f", BAD[i].text, &list, &error), -1);
        assert_string_equal(error.text, BAD[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_are_found_with_task_and_body),
        cmocka_unit_test(a_task_is_shown_to_the_end_of_its_sentence),
        cmocka_unit_test(regions_after_the_last_written_one_are_the_skeletons),
        cmocka_unit_test(a_skeleton_differs_only_inside),
        cmocka_unit_test(the_first_untouched_region_is_next),
        cmocka_unit_test(broken_markers_are_named_by_line),
    };
    return cmocka_run_group_tests_name("autograder/todo", tests, NULL, NULL);
}
