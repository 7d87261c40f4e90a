/* test_ptx_link.c - linking of the PTX of several source files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/ptx/ptx.h"
#include "common/simulator/ptx/ptx_link.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char first[] =
    HEAD ".extern .func (.param .b32 r) scale(.param .b32 x);\n"
         ".extern .global .align 4 .u32 counter;\n"
         ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
         ".extern .shared .align 16 .b8 dynamic[];\n"
         ".global .align 1 .b8 $str[2] = {65, 0}; // a \"}\" in a comment\n"
         ".weak .func inline_one() { ret; }\n"
         ".visible .entry run(.param .u64 y)\n"
         "{\n"
         "    .reg .b64 %rd<3>;\n"
         "    .loc 1 7 1\n"
         "    mov.u64 %rd1, $str;\n"
         "    mov.u64 %rd2, counter;\n"
         "    ret;\n"
         "}\n"
         ".file 1 \"first.cu\"\n"
         ".section .debug_str { $L__info_string0: .b8 65, 0 }\n";

static const char second[] = ".version 8.3\n.target sm_90a\n.address_size 64\n"
                             ".visible .global .align 4 .u32 counter = 5;\n"
                             ".extern .shared .align 16 .b8 dynamic[];\n"
                             ".global .align 1 .b8 $str[2] = {66, 0};\n"
                             ".weak .func inline_one() { ret; }\n"
                             ".func local_one();\n"
                             ".func local_one() { ret; }\n"
                             ".visible .func (.param .b32 r) scale(.param .b32 x)\n"
                             "{\n"
                             "    .reg .b64 %rd<2>;\n"
                             "    .loc 2 9 1, function_name $L__info_string0, inlined_at 1 3 1\n"
                             "    mov.u64 %rd1, $str;\n"
                             "    ret;\n"
                             "}\n"
                             ".file 1 \"second.cu\"\n"
                             ".file 2 \"second.h\"\n";

static PtxModule *linked(const char *const *text, size_t texts)
{
    size_t bytes;
    Error error = {""};
    char *all = ptx_link(text, texts, &bytes, &error);
    if (!all) fail_msg("%s", error.text);
    assert_int_equal(strlen(all), bytes);
    PtxModule *module = ptx_parse(all, bytes, &error);
    if (!module) fail_msg("%s\n%s", error.text, all);
    free(all);
    return module;
}

static const PtxFunction *function_named(const PtxModule *module, const char *name)
{
    for (uint32_t i = 0; i < module->functions; i++)
        if (!strcmp(module->function[i].name, name)) return &module->function[i];
    fail_msg("no function %s", name);
    return NULL;
}

static const PtxVariable *variable_named(const PtxModule *module, const char *name)
{
    const PtxVariable *found = NULL;
    for (uint32_t i = 0; i < module->variables; i++)
        if (!strcmp(module->variable[i].name, name)) {
            if (found) fail_msg("two variables %s", name);
            found = &module->variable[i];
        }
    if (!found) fail_msg("no variable %s", name);
    return found;
}

static void test_two_texts(void **state)
{
    (void)state;
    PtxModule *module = linked((const char *const[]){first, second}, 2);
    assert_int_equal(module->target, 90);
    assert_int_equal(module->target_suffix, 'a');
    assert_int_equal(module->version_minor, 3);
    const PtxFunction *run = function_named(module, "run"),
                      *scale = function_named(module, "scale");
    assert_false(scale->is_extern);
    assert_true(function_named(module, "vprintf")->is_extern);
    assert_false(function_named(module, "inline_one")->is_extern);
    assert_false(function_named(module, "local_one")->is_extern);
    assert_int_equal(variable_named(module, "counter")->bytes, 4);
    variable_named(module, "dynamic");
    /* Each text has its own string and its own files. */
    const PtxVariable *strings[] = {run->instruction[0].operand[1].variable,
                                    scale->instruction[0].operand[1].variable};
    assert_ptr_not_equal(strings[0], strings[1]);
    assert_int_equal(strings[0]->data[0], 65);
    assert_int_equal(strings[1]->data[0], 66);
    assert_string_equal(module->file[run->instruction[0].source.file], "first.cu");
    assert_string_equal(module->file[scale->instruction[0].source.file], "second.h");
    assert_string_equal(module->file[scale->instruction[0].source.inlined_file], "second.cu");
    ptx_free(module);
}

/* Without its definition a name keeps one declaration. */
static void test_undefined(void **state)
{
    (void)state;
    PtxModule *module = linked((const char *const[]){first}, 1);
    assert_true(function_named(module, "scale")->is_extern);
    ptx_free(module);
}

/* Text that ends early ends a statement, and is rejected by the parser. */
static void test_damaged(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof second; cut++) {
        char *part = strndup(second, cut);
        size_t bytes;
        Error error;
        const char *const text[] = {first, part};
        char *all = ptx_link(text, 2, &bytes, &error);
        assert_non_null(all);
        ptx_free(ptx_parse(all, bytes, &error));
        free(all);
        free(part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_texts),
                                       cmocka_unit_test(test_undefined),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
