/* test_ptx_hostile.c - malformed and enormous PTX: each ends in one line that names the place, in
 * bounded time and memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/simulator/ptx/ptx.h"

#define HEAD         ".version 8.0\n.target sm_80\n.address_size 64\n"
#define KERNEL(body) HEAD ".entry k(.param .u64 a)\n{\n" body "}\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct Bad {
    const char *text, *message;
} Bad;

static void assert_one_line(const char *text)
{
    assert_true(strlen(text) > 0);
    for (; *text; text++)
        assert_true(*text >= 0x20 && *text < 0x7f);
}

static void assert_refused(const char *text, size_t bytes, const char *message)
{
    Error error = {""};
    PtxModule *module = ptx_parse(text, bytes, &error);
    if (module) fail_msg("accepted, though it should say \"%s\"", message);
    assert_one_line(error.text);
    if (!strstr(error.text, message))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, message);
}

static void malformed(void **state)
{
    (void)state;
    static const Bad bad[] = {
        {"", "PTX line 1: expected '.version' at the start, found the end of the text"},
        {"hello", "PTX line 1: expected '.version' at the start, found 'hello'"},
        {".version x", "PTX line 1: expected a version"},
        {".version 8.0\n", "no '.target' directive"},
        {".version 8.0\n.target sm_", "PTX line 2: expected a target such as sm_90"},
        {".version 8.0\n.target sm_80\n.address_size 32", "line 3: addresses of 32 bits"},
        {HEAD "/* for ever", "PTX line 4: a comment that does not end"},
        {HEAD ".file 1 \"x\ny\"", "PTX line 4: a string that does not end on its line"},
        {HEAD ".file 4294967295 \"x\"", "line 4: a file's number is 4294967295; the limit"},
        {HEAD ".section .debug_info {", "expected '}' at the end of a section"},
        {HEAD ".frob 1", "PTX line 4: expected a directive, found '.frob'"},
        {HEAD ".reg .b32 x;", "PTX line 4: .reg outside a function"},
        {HEAD ".global x;", "PTX line 4: expected a type in a declaration, found 'x'"},
        {HEAD ".global .b32 x", "expected ';' after a declaration, found the end"},
        {HEAD ".global .b32 x;\n.global .b32 x;", "PTX line 5: 'x' is declared twice"},
        {HEAD ".global .align 3 .b32 x;", "an alignment of 3: not a power of two"},
        {HEAD ".global .b32 x[0];", "'x' is an array of no elements"},
        {HEAD ".global .b32 x[1][2][3][4][5][6][7][8][9];", "more than 8 dimensions"},
        {HEAD ".global .b8 x[1099511627776];", "an array's length is 1099511627776; the limit"},
        {HEAD ".global .b64 x[68719476736];", "PTX line 4: 'x' is larger than 65536 MiB"},
        {HEAD ".global .b8 x[65536][65536][65536];", "PTX line 4: 'x' is larger than 65536 MiB"},
        {HEAD ".shared .b8 x[33554432];", "PTX line 4: 'x' is larger than 16 MiB"},
        {HEAD ".global .b8 x[1073741824] = {1};", "initial values of more than 256 MiB"},
        {HEAD ".global .b8 x[2][200000000] = {{1}, {2}};", "initial values of more than 256 MiB"},
        {HEAD ".global .b8 x[2] = {1, 2, 3};", "more initial values than the variable has room"},
        {HEAD ".global .b8 x[2][2] = {{1, 2, 3}};", "more initial values than a row has room for"},
        {HEAD ".global .b8 x[2] = {{1}};", "more braces than dimensions"},
        {HEAD ".global .b8 x[] = {};", "an array of no elements"},
        {HEAD ".global .b8 x[2] = {1 2};", "expected ',' or '}' in an initial value, found '2'"},
        {HEAD ".global .b8 x = y;", "an address does not fit 1 bytes"},
        {HEAD ".global .u64 x = generic(y);", "PTX line 4: name 'y' is not declared"},
        {HEAD ".global .u8 x[2] = {0xFF00(generic(x))};", "bytes of an address are not in order"},
        {HEAD ".global .u32 x = 0xFF(generic(x));", "a masked address outside a variable of bytes"},
        {HEAD ".shared .b32 x = 1;", "an initial value for 'x', which cannot have one"},
        {HEAD ".global .b64 x = 18446744073709551616;", "does not fit 64 bits"},
        {HEAD ".global .b64 x = 0x;", "'0x' is not a number"},
        {HEAD ".global .b64 x = 08;", "'08' is not a number"},
        {HEAD ".global .f32 x = 0f123;", "'0f123' is not a number"},
        {HEAD ".global .f32 x = 1.5q;", "'1.5' is not a number"},
        {HEAD ".global .b64 x = 1/0;", "PTX line 4: a constant divided by zero"},
        {HEAD ".global .b64 x = 1.0+2;", "arithmetic on a floating-point constant"},
        {HEAD ".entry k(.param .b8 x[2000000]) {}", "PTX line 4: 'x' is larger than 1 MiB"},
        {HEAD ".entry k(.param .b32 x, .param .b32 x) {}", "'x' is declared twice"},
        {HEAD ".entry k() {}\n.entry k() {}", "PTX line 5: function 'k' is defined twice"},
        {HEAD ".global .b32 k;\n.entry k() {}", "PTX line 5: 'k' is declared twice"},
        {HEAD ".entry k() .maxntid x {}", "expected a launch bound, found 'x'"},
        {HEAD ".entry k() {", "expected a statement, found the end of the text"},
        {HEAD "}", "PTX line 4: expected a directive, found '}'"},
        {HEAD ".alias a, b;", "'.alias a, b' needs a declared and a defined function"},
        {KERNEL("add.s32 %r1, %r2, 3;\n"), "PTX line 6: register '%r1' is not declared"},
        {KERNEL(".reg .b32 %r<4>;\nmov.b32 %r4, 0;\n"), "line 7: register '%r4' is not declared"},
        {KERNEL(".reg .b32 %r<4294967295>;\n"), "the number of registers is 4294967295; the limit"},
        {KERNEL(".reg .v4 .b32 v;\n"), "vector registers are not supported"},
        {KERNEL(".reg .b32 r;\n.reg .b32 r;\n"), "PTX line 7: 'r' is declared twice"},
        {KERNEL("{ .reg .b32 r; }\nmov.b32 r, 0;\n"), "PTX line 7: name 'r' is not declared"},
        {KERNEL(".reg .b32 r;\n@r ret;\n"), "'r' guards an instruction but is no predicate"},
        {KERNEL("@%p ret;\n"), "PTX line 6: register '%p' is not declared"},
        {KERNEL("bra;\n"), "PTX line 6: bra without a label"},
        {KERNEL("\nbra NOWHERE;\n"), "PTX line 7: label 'NOWHERE' is not declared"},
        {KERNEL("{ IN: }\nbra IN;\n"), "PTX line 7: label 'IN' is not declared"},
        {KERNEL("A:\nA:\n"), "PTX line 7: 'A' is declared twice"},
        {KERNEL("brx.idx 1, NONE;\n"), "list of branch targets 'NONE' is not declared"},
        {KERNEL("ts: .branchtargets A, B;\nA:\n"), "PTX line 6: label 'B' is not declared"},
        {KERNEL("call;\n"), "expected the function that is called, found ';'"},
        {KERNEL("call f;\n"), "PTX line 6: name 'f' is not declared"},
        {KERNEL("mov.b32 a b;\n"), "expected ',' or ';' after an operand, found 'b'"},
        {KERNEL("ld.u32 [a;\n"), "expected ']' at the end of an address, found ';'"},
        {KERNEL("ld.u32 {a, [a+1.5]};\n"), "a floating-point offset of an address"},
        {KERNEL("mov.b32 %tid.q, 1;\n"), "expected x, y, z or w, found '.q'"},
        {KERNEL("mov.b32 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13;\n"), "more than 12 operands"},
        {KERNEL("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q;\n"), "an opcode of more than 16 words"},
        {KERNEL("a \x80;\n"), "PTX line 6: unexpected byte 0x80"},
        {KERNEL("a `;\n"), "PTX line 6: unexpected character '`'"},
        {KERNEL("mov.b32 a|a|a, 1;\n"), "more than two operands joined by '|'"},
        {KERNEL(".loc 1 2\nret;\n"), "expected a number of a source location, found 'ret'"},
        {KERNEL(".loc 1 99999999999 2\n"), "a number of a source location is 99999999999"},
        {KERNEL(".loc 1 2 3, elsewhere\n"), "expected function_name or inlined_at"},
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_refused(bad[i].text, strlen(bad[i].text), bad[i].message);
    static const char nul[] = HEAD "\0.global .b32 x;";
    assert_refused(nul, sizeof nul - 1, "PTX line 4: unexpected byte 0x00");
}

/* `start`, then `repeat` as often as it takes to fill `bytes`. */
static char *fill(const char *start, const char *repeat, size_t bytes)
{
    char *text = malloc(bytes + 1);
    size_t length = strlen(repeat), at = strlen(start);
    assert_non_null(text);
    memcpy(text, start, at);
    for (; at < bytes; at++)
        text[at] = repeat[(at - strlen(start)) % length];
    text[bytes] = 0;
    return text;
}

static void deep(void **state)
{
    (void)state;
    static const Bad bad[] = {
        {"{", "blocks nested deeper than 64"},
        {"add {", "nested deeper than 32"},
        {"add [1,", "nested deeper than 32"},
        {"add ((((((((((((((((((((((((((((((((((((((", "nested deeper than 32"},
        {"add ---------------------------------------", "nested deeper than 32"},
        {"add !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", "nested deeper than 32"},
        {"add 1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?1?", "nested deeper"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        const char *repeat = strncmp(bad[i].text, "add ", 4) ? bad[i].text : bad[i].text + 4;
        char start[512];
        snprintf(start, sizeof start, "%s%s", HEAD ".entry k() {", bad[i].text);
        char *text = fill(start, repeat, 1 << 20);
        assert_refused(text, strlen(text), bad[i].message);
        free(text);
    }
    char *text = fill(HEAD ".global .b32 x = ", "{", 1 << 20);
    assert_refused(text, strlen(text), "more braces than dimensions");
    free(text);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The parser handles a megabyte of any content quickly. The limit is for a sanitizer's build on a
 * slow machine. */
static void long_texts_are_quick(void **state)
{
    (void)state;
    static const Bad long_text[] = {
        {HEAD, "a"},
        {HEAD, ".global .b8 x;"},
        {HEAD, ".func f;"},
        {HEAD, ".extern .shared .b8 x[];"},
        {HEAD ".global .b8 x[] = {", "1,"},
        {HEAD ".global .u64 x[] = {", "x,"},
        {HEAD ".global .b32 x = ", "1+"},
        {HEAD "//", "x"},
        {HEAD ".entry k() {", "x;"},
        {HEAD ".entry k() {", "bra END;"},
        {HEAD ".entry k() { .reg .b32 %r<1048576>;", "{.reg .b32 %r<9>;mov %r1,%r2;}"},
        {HEAD ".entry k() {", "{"},
        {HEAD ".entry k() {", "ts: .branchtargets A,B,C;"},
        {HEAD ".entry k() { ts: .branchtargets ", "A,"},
        {HEAD ".entry k() { A: ts: .branchtargets A,A,A,A,A,A;", "brx.idx 1,ts;"},
        {HEAD ".entry k() {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", "bra END;"},
        {HEAD ".entry k() {", "mov {1,2,3,4};"},
        {HEAD ".entry k() { mov {", "1,"},
        {HEAD ".entry k() {", ".loc 1 2 3\n"},
        {HEAD ".entry k() {", ".pragma \"x\";"},
        {HEAD ".section x {", ".b8 1\n"},
        {HEAD, ".entry k(){}"},
    };
    for (size_t i = 0; i < COUNT(long_text); i++) {
        char *text = fill(long_text[i].text, long_text[i].message, 1 << 20);
        double start = seconds_now();
        Error error = {""};
        PtxModule *module = ptx_parse(text, strlen(text), &error);
        double seconds = seconds_now() - start;
        if (!module) assert_one_line(error.text);
        if (seconds > 3) fail_msg("%.1f s for \"%s...\"", seconds, long_text[i].message);
        ptx_free(module);
        free(text);
    }
}

/* As many functions, registers and names as a text of some megabytes can hold. */
static void many_names(void **state)
{
    (void)state;
    size_t bytes = 4 << 20, at = 0;
    char *text = malloc(bytes);
    assert_non_null(text);
    at += (size_t)sprintf(text, "%s.entry k() { .reg .b32 %%r<1048576>;\n", HEAD);
    for (unsigned i = 0; at + 64 < bytes; i++)
        at += (size_t)sprintf(text + at, "L%u: mov %%r%u, 1;\n", i, i);
    at += (size_t)sprintf(text + at, "bra L7; }\n");
    Error error = {""};
    PtxModule *module = ptx_parse(text, at, &error);
    if (!module) fail_msg("%s", error.text);
    const PtxFunction *k = &module->function[0];
    assert_int_equal(k->regs, k->instructions - 1);
    assert_int_equal(k->instruction[k->instructions - 1].target, 7);
    ptx_free(module);
    free(text);
}

static void too_long(void **state)
{
    (void)state;
    /* Only the length is looked at. */
    assert_refused("", ((size_t)64 << 20) + 1, "the limit is 64 MiB");
    char *text = fill(HEAD ".entry ", "a", 100000);
    assert_refused(text, strlen(text), "the limit is 65536");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed),
        cmocka_unit_test(deep),
        cmocka_unit_test(long_texts_are_quick),
        cmocka_unit_test(many_names),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
