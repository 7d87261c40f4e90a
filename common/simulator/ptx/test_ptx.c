/* test_ptx.c - the tree that hand-written PTX becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/simulator/ptx/ptx.h"

#define HEAD ".version 8.0\n.target sm_90a, debug\n.address_size 64\n"

static PtxModule *parse(const char *text)
{
    Error error = {""};
    PtxModule *module = ptx_parse(text, strlen(text), &error);
    if (!module) fail_msg("%s", error.text);
    return module;
}

/* A kernel k whose body is `body`; instructions are then those of function 0. */
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 k_param_0)\n{\n" body "}\n"

static const PtxOperand *operand_of(const PtxModule *module, uint32_t instruction, uint32_t which)
{
    const PtxFunction *function = &module->function[0];
    assert_true(instruction < function->instructions);
    assert_true(which < function->instruction[instruction].operands);
    return &function->instruction[instruction].operand[which];
}

static void assert_words(const PtxInstruction *instruction, const char *dotted)
{
    char text[512] = "";
    for (uint32_t i = 0; i < instruction->words; i++) {
        strcat(text, i ? "." : "");
        strcat(text, instruction->word[i]);
    }
    assert_string_equal(text, dotted);
}

static void module_header(void **state)
{
    (void)state;
    PtxModule *module = parse(HEAD "// nothing\n/* and\n nothing */");
    assert_int_equal(module->version_major, 8);
    assert_int_equal(module->version_minor, 0);
    assert_int_equal(module->target, 90);
    assert_int_equal(module->target_suffix, 'a');
    assert_int_equal(module->functions, 0);
    ptx_free(module);
}

static void files_and_locations(void **state)
{
    (void)state;
    PtxModule *module =
        parse(KERNEL("ret;\n.loc 1 7 5\nret;\n"
                     ".loc 3 20 2, function_name $L__info_string0+4, inlined_at 1 9 1\nret;\n"
                     ".loc 9 1 1\nret;\n") ".file 1 \"a.cu\"\n.file 3 \"b \\\"q\\\".h\", 17, 2\n"
                                           ".section .debug_str\n{\n$L__info_string0:\n"
                                           ".b8 95,90,-1 // } brace\n.b32 .debug_info+12\n}\n");
    const PtxInstruction *in = module->function[0].instruction;
    assert_int_equal(module->files, 3);
    assert_string_equal(module->file[0], "a.cu");
    assert_null(module->file[1]);
    assert_int_equal(in[0].source.file, UINT32_MAX);
    assert_int_equal(in[1].source.file, 0);
    assert_int_equal(in[1].source.line, 7);
    assert_int_equal(in[1].source.column, 5);
    assert_int_equal(in[1].source.inlined_line, 0);
    assert_int_equal(in[2].source.file, 2);
    assert_int_equal(in[2].source.line, 20);
    assert_int_equal(in[2].source.inlined_file, 0);
    assert_int_equal(in[2].source.inlined_line, 9);
    assert_int_equal(in[3].source.file, UINT32_MAX); /* no .file 9 */
    assert_int_equal(in[0].ptx_line, 6);
    assert_int_equal(in[1].ptx_line, 8);
    ptx_free(module);
}

/* With nested inlined functions, each location refers to the surrounding one. */
static void inlined_in_one_another(void **state)
{
    (void)state;
    PtxModule *module = parse(KERNEL(
        ".loc 2 20 2, function_name $L__i, inlined_at 1 9 1\n"
        ".loc 3 30 2, function_name $L__i, inlined_at 2 20 2\n"
        ".loc 3 40 2, function_name $L__i, inlined_at 3 30 2\nret;\n"
        ".loc 3 40 2, function_name $L__i, inlined_at 2 21 2\nret;\n") ".file 1 \"a.cu\"\n.file 2 "
                                                                       "\"b.h\"\n.file 3 "
                                                                       "\"c.h\"\n");
    const PtxInstruction *in = module->function[0].instruction;
    const PtxSource *at = in[0].source.caller;
    assert_int_equal(in[0].source.line, 40);
    assert_int_equal(in[0].source.inlined_line, 30);
    assert_non_null(at);
    assert_int_equal(at->line, 30);
    assert_non_null(at->caller);
    assert_int_equal(at->caller->file, 1);
    assert_int_equal(at->caller->inlined_line, 9);
    assert_null(at->caller->caller);
    assert_null(in[1].source.caller); /* nobody said where line 21 is */
    ptx_free(module);
}

static void variables(void **state)
{
    (void)state;
    PtxModule *module =
        parse(HEAD ".visible .const .align 8 .b8 t[6] = {1, 0xff, 010, 0b11, -1};\n"
                   ".extern .shared .align 16 .b8 dyn[];\n"
                   ".global .attribute(.managed) .u32 one = 5;\n"
                   ".global .v4 .f32 quad[2] = {{1.0, 0f40000000, 3.0, 4.0}};\n"
                   ".global .s16 grid[][3] = {{1, 2}, {3}};\n"
                   ".global .f64 d = 0d3FF8000000000000;\n"
                   ".global .align 1 .b8 big[68719476736], other;\n"
                   ".weak .global .u8 sum = (.s64)(1+2)*3 - (7 >> 1) + (1 < 2 ? 10 : 20) % 4;\n");
    const PtxVariable *v = module->variable;
    assert_int_equal(module->variables, 9);
    assert_int_equal(v[0].space, PTX_CONST);
    assert_int_equal(v[0].align, 8);
    assert_int_equal(v[0].bytes, 6);
    assert_memory_equal(v[0].data, "\x01\xff\x08\x03\xff\x00", 6);
    assert_string_equal(v[1].name, "dyn");
    assert_int_equal(v[1].bytes, 0);
    assert_true(v[1].is_extern);
    assert_null(v[1].data);
    assert_memory_equal(v[2].data, "\x05\0\0\0", 4);
    assert_int_equal(v[2].align, 4);
    const float quad[8] = {1, 2, 3, 4};
    assert_int_equal(v[3].bytes, 32);
    assert_int_equal(v[3].align, 16);
    assert_memory_equal(v[3].data, quad, sizeof quad);
    const int16_t grid[6] = {1, 2, 0, 3};
    assert_int_equal(v[4].bytes, sizeof grid);
    assert_memory_equal(v[4].data, grid, sizeof grid);
    const double d = 1.5;
    assert_memory_equal(v[5].data, &d, sizeof d);
    assert_true(v[6].bytes == (uint64_t)1 << 36);
    assert_null(v[6].data);
    assert_string_equal(v[7].name, "other");
    assert_int_equal(v[7].bytes, 1);
    assert_int_equal(v[8].data[0], 9 - 3 + 2);
    ptx_free(module);
}

static void relocations(void **state)
{
    (void)state;
    PtxModule *module =
        parse(HEAD ".global .u64 p[3] = {generic(x)+8, f, 7};\n"
                   ".func f()\n;\n"
                   ".global .u8 q[9] = {1, 0xFF(generic(x)-4), 0xFF00(generic(x)-4),\n"
                   "0XFF0000(generic(x)-4), 0xFF000000(generic(x)-4), 9};\n"
                   ".global .u32 generic = 3;\n.global .u64 r = generic;\n"
                   ".global .u32 x;\n.func f()\n{\nret;\n}\n");
    const PtxVariable *v = module->variable;
    assert_int_equal(v[0].relocation_count, 2);
    assert_int_equal(v[0].relocation[0].offset, 0);
    assert_int_equal(v[0].relocation[0].bytes, 8);
    assert_string_equal(v[0].relocation[0].symbol, "x");
    assert_int_equal(v[0].relocation[0].addend, 8);
    assert_true(v[0].relocation[0].generic);
    assert_int_equal(v[0].relocation[1].offset, 8);
    assert_string_equal(v[0].relocation[1].symbol, "f");
    assert_false(v[0].relocation[1].generic);
    assert_memory_equal(v[0].data, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0", 24);
    assert_int_equal(v[1].relocation_count, 1);
    assert_int_equal(v[1].relocation[0].offset, 1);
    assert_int_equal(v[1].relocation[0].bytes, 4);
    assert_int_equal(v[1].relocation[0].addend, -4);
    assert_memory_equal(v[1].data, "\x01\0\0\0\0\x09\0\0\0", 9);
    assert_string_equal(v[3].relocation[0].symbol, "generic");
    assert_int_equal(module->functions, 1);
    assert_false(module->function[0].is_extern);
    assert_int_equal(module->function[0].instructions, 1);
    ptx_free(module);
}

static void functions(void **state)
{
    (void)state;
    PtxModule *module =
        parse(HEAD ".extern .func (.param .b32 r) vprintf\n(\n.param .b64 a,\n.param .b64 b\n)\n;\n"
                   ".visible .entry k(.param .u64 .ptr .global .align 8 k_0,\n"
                   ".param .align 4 .b8 k_1[84]\n)\n"
                   ".maxntid 16, 8\n.minnctapersm 2\n.maxnreg 64\n.explicitcluster\n"
                   ".reqnctapercluster 2, 1, 1\n.pragma \"nounroll\";\n"
                   "{\n.shared .align 4 .b8 s[64];\n.reg .b64 %rd<3>;\n"
                   "ld.param.u64 %rd1, [k_0];\nld.param.b32 %rd2, [k_1+80];\nmov.u64 %rd1, s;\n}\n"
                   ".weak .func (.param .align 8 .b8 out[16]) g(.reg .u32 n) .noreturn {ret;}\n"
                   ".func same;\n.alias same, k;\n");
    assert_int_equal(module->functions, 4);
    const PtxFunction *f = module->function;
    assert_string_equal(f[0].name, "vprintf");
    assert_true(f[0].is_extern);
    assert_int_equal(f[0].params, 2);
    assert_int_equal(f[0].results, 1);
    assert_true(f[1].is_entry && !f[1].is_extern);
    assert_int_equal(f[1].params, 2);
    assert_string_equal(f[1].param[0].name, "k_0");
    assert_int_equal(f[1].param[0].bytes, 8);
    assert_int_equal(f[1].param[0].align, 8);
    assert_int_equal(f[1].param[1].bytes, 84);
    assert_int_equal(f[1].param[1].align, 4);
    assert_int_equal(f[1].max_threads[0], 16);
    assert_int_equal(f[1].max_threads[1], 8);
    assert_int_equal(f[1].max_threads[2], 1);
    assert_int_equal(f[1].required_threads[0], 0);
    assert_int_equal(f[1].min_blocks, 2);
    assert_int_equal(f[1].max_registers, 64);
    assert_int_equal(f[1].required_cluster[0], 2);
    assert_int_equal(f[1].variables, 1);
    assert_int_equal(f[1].variable[0].space, PTX_SHARED);
    assert_ptr_equal(f[1].instruction[0].operand[1].variable, &f[1].param[0]);
    assert_ptr_equal(f[1].instruction[1].operand[1].variable, &f[1].param[1]);
    assert_int_equal(f[1].instruction[1].operand[1].integer, 80);
    assert_ptr_equal(f[1].instruction[2].operand[1].variable, &f[1].variable[0]);
    assert_int_equal(f[2].results, 1);
    assert_int_equal(f[2].param[0].space, PTX_REG);
    assert_string_equal(f[3].name, "same");
    assert_int_equal(f[3].instructions, 3);
    ptx_free(module);
}

static void operands(void **state)
{
    (void)state;
    PtxModule *module =
        parse(KERNEL(".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n"
                     "@!%p1 ld.global.nc.L2::128B.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-8];\n"
                     "setp.eq.and.s32 %p1|%p2, %r1, -5, !%p1;\n"
                     "shfl.sync.idx.b32 _|%p1, %r1, 0x1f, 31U, -1;\n"
                     "mov.u32 %r2, %tid.y;\nmov.u64 %rd1, %clock64;\n"
                     "mov.f32 %f1, 0fBF800000;\nmov.f64 %rd2, -0d3FF0000000000000;\n"
                     "add.s32 %r3, 4+8, (2)*3;\nadd.s32 %r3, %r3, WARP_SZ;\n"
                     "st.shared::cta.u64 [4096], 18446744073709551615;\n"
                     "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [k_param_0, {%f1, 1.5}];\n"
                     "mov.b64 {%r1, %r2}, %rd1;\n"));
    const PtxFunction *k = &module->function[0];
    const PtxInstruction *in = k->instruction;
    assert_words(&in[0], "ld.global.nc.L2::128B.v4.f32");
    assert_string_equal(k->reg[in[0].guard].name, "%p1");
    assert_true(in[0].guard_negated);
    assert_int_equal(operand_of(module, 0, 0)->kind, PTX_OPERAND_VECTOR);
    assert_int_equal(operand_of(module, 0, 0)->count, 4);
    assert_int_equal(operand_of(module, 0, 0)->element[1].kind, PTX_OPERAND_SINK);
    assert_int_equal(operand_of(module, 0, 1)->kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(operand_of(module, 0, 1)->integer, -8);
    assert_string_equal(k->reg[operand_of(module, 0, 1)->reg].name, "%rd1");
    assert_int_equal(k->reg[operand_of(module, 0, 1)->reg].type, PTX_B64);

    assert_int_equal(in[1].guard, PTX_NO_REGISTER);
    assert_int_equal(operand_of(module, 1, 0)->kind, PTX_OPERAND_PAIR);
    assert_int_equal(operand_of(module, 1, 0)->element[0].reg, in[0].guard);
    assert_int_equal(operand_of(module, 1, 2)->integer, -5);
    assert_true(operand_of(module, 1, 3)->negated);
    assert_int_equal(operand_of(module, 1, 3)->reg, in[0].guard);
    assert_int_equal(operand_of(module, 2, 0)->element[0].kind, PTX_OPERAND_SINK);
    assert_int_equal(operand_of(module, 2, 2)->integer, 31);
    assert_int_equal(operand_of(module, 2, 3)->integer, 31);
    assert_int_equal(operand_of(module, 2, 4)->integer, -1);
    assert_int_equal(operand_of(module, 3, 1)->kind, PTX_OPERAND_SPECIAL);
    assert_string_equal(operand_of(module, 3, 1)->name, "%tid");
    assert_int_equal(operand_of(module, 3, 1)->component, 'y');
    assert_string_equal(operand_of(module, 4, 1)->name, "%clock64");
    assert_int_equal(operand_of(module, 4, 1)->component, 0);
    assert_int_equal(operand_of(module, 5, 1)->kind, PTX_OPERAND_FLOAT);
    assert_int_equal(operand_of(module, 5, 1)->float_bits, 0xBF800000);
    assert_false(operand_of(module, 5, 1)->is_double);
    assert_true(operand_of(module, 6, 1)->is_double);
    assert_true(operand_of(module, 6, 1)->float_bits == 0xBFF0000000000000);
    assert_int_equal(operand_of(module, 7, 1)->integer, 12);
    assert_int_equal(operand_of(module, 7, 2)->integer, 6);
    assert_int_equal(operand_of(module, 8, 2)->integer, 32);
    assert_words(&in[9], "st.shared::cta.u64");
    assert_int_equal(operand_of(module, 9, 0)->kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(operand_of(module, 9, 0)->reg, PTX_NO_REGISTER);
    assert_null(operand_of(module, 9, 0)->name);
    assert_int_equal(operand_of(module, 9, 0)->integer, 4096);
    assert_int_equal(operand_of(module, 9, 1)->integer, -1);
    assert_int_equal(operand_of(module, 10, 1)->count, 1);
    assert_int_equal(operand_of(module, 10, 1)->element[0].element[1].kind, PTX_OPERAND_FLOAT);
    assert_ptr_equal(operand_of(module, 10, 1)->variable, &k->param[0]);
    assert_int_equal(operand_of(module, 11, 0)->count, 2);
    ptx_free(module);
}

/* Registers of inner blocks hide outer ones of the same name; a range's register is one and the
 * same wherever it is used. */
static void register_scopes(void **state)
{
    (void)state;
    PtxModule *module = parse(KERNEL(".reg .b32 %r<9>;\n.reg .b32 t;\n"
                                     "{ .reg .pred t; .reg .f32 %r<3>;\n"
                                     "mov.u32 %r5, 1;\n" /* 0: the outer one, first used here */
                                     "mov.u32 %r1, t;\n" /* 1: the inner ones */
                                     "}\n"
                                     "mov.u32 %r5, t;\n" /* 2 */
                                     "mov.u32 %r1, 2;\n" /* 3: the outer one */
                                     "{ .reg .f32 %r<2>; mov.u32 %r1, 3; mov.u32 %r5, 4; }\n"));
    const PtxRegister *reg = module->function[0].reg;
    int32_t inner = operand_of(module, 1, 0)->reg;
    assert_int_equal(operand_of(module, 0, 0)->reg, operand_of(module, 2, 0)->reg);
    assert_int_equal(operand_of(module, 0, 0)->reg, operand_of(module, 5, 0)->reg);
    assert_int_equal(reg[operand_of(module, 0, 0)->reg].type, PTX_B32);
    assert_int_equal(reg[inner].type, PTX_F32);
    assert_int_equal(reg[operand_of(module, 1, 1)->reg].type, PTX_PRED);
    assert_int_equal(reg[operand_of(module, 2, 1)->reg].type, PTX_B32);
    assert_int_not_equal(operand_of(module, 3, 0)->reg, inner);
    assert_int_equal(reg[operand_of(module, 3, 0)->reg].type, PTX_B32);
    assert_int_not_equal(operand_of(module, 4, 0)->reg, inner);
    assert_int_equal(reg[operand_of(module, 4, 0)->reg].type, PTX_F32);
    ptx_free(module);
}

static void labels(void **state)
{
    (void)state;
    PtxModule *module = parse(KERNEL(".reg .pred %p<2>;\n.reg .b32 %r<2>;\n"
                                     "TOP:\n@%p1 bra.uni END;\n"                       /* 0 */
                                     "{\nWAIT:\n@%p1 bra DONE;\nbra WAIT;\nDONE:\n}\n" /* 1, 2 */
                                     "{\nWAIT:\n@%p1 bra DONE;\nbra WAIT;\nDONE:\n}\n" /* 3, 4 */
                                     "ts: .branchtargets TOP, AFTER,\n END;\n"
                                     "brx.idx %r1, ts;\n"                      /* 5 */
                                     "AFTER: { bra TOP; bra END; }\nEND:\n")); /* 6, 7 */
    const PtxInstruction *in = module->function[0].instruction;
    assert_int_equal(module->function[0].instructions, 8);
    assert_int_equal(in[0].target, 8);
    assert_int_equal(in[1].target, 3);
    assert_int_equal(in[2].target, 1);
    assert_int_equal(in[3].target, 5);
    assert_int_equal(in[4].target, 3);
    assert_int_equal(in[5].target_count, 3);
    assert_int_equal(in[5].targets[0], 0);
    assert_int_equal(in[5].targets[1], 6);
    assert_int_equal(in[5].targets[2], 8);
    assert_int_equal(in[6].target, 0);
    assert_int_equal(in[7].target, 8);
    ptx_free(module);
}

static void calls(void **state)
{
    (void)state;
    PtxModule *module =
        parse(HEAD ".visible .entry k()\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                   "{ // callseq 0, 0\n.reg .b32 temp_param_reg;\n.param .b64 param0;\n"
                   "st.param.b64 [param0+0], %rd1;\n.param .b32 retval0;\n"
                   "call.uni (retval0), \nlater, \n(\nparam0\n);\n"
                   "ld.param.b32 %r1, [retval0+0];\n} // callseq 0\n"
                   "{ .param .b64 param0; call later, (param0); }\n"
                   "call nothing;\n"
                   "{ .param .b32 param0; .param .b32 retval0;\n"
                   "proto : .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                   "call (retval0), %rd2, (param0), proto; }\n"
                   "mov.u64 %rd3, later;\n}\n"
                   ".func nothing() { ret; }\n"
                   ".func (.param .b32 r) later(.param .b64 a) { ret; }\n");
    const PtxFunction *k = &module->function[0];
    const PtxInstruction *in = k->instruction;
    assert_words(&in[1], "call.uni");
    assert_int_equal(in[1].operands, 3);
    assert_int_equal(in[1].operand[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(in[1].operand[0].count, 1);
    assert_string_equal(in[1].operand[0].element[0].name, "retval0");
    assert_string_equal(in[1].operand[1].name, "later");
    assert_null(in[1].operand[1].variable);
    assert_ptr_equal(in[1].operand[2].element[0].variable, in[0].operand[0].variable);
    assert_int_equal(in[3].operand[0].count, 0);
    assert_string_equal(in[3].operand[2].element[0].name, "param0");
    assert_ptr_not_equal(in[3].operand[2].element[0].variable, in[0].operand[0].variable);
    assert_int_equal(in[4].operands, 3);
    assert_string_equal(in[4].operand[1].name, "nothing");
    assert_int_equal(in[4].operand[2].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(in[4].operand[2].count, 0);
    assert_int_equal(in[5].operands, 4);
    assert_int_equal(in[5].operand[1].kind, PTX_OPERAND_REGISTER);
    assert_string_equal(in[5].operand[3].name, "proto");
    assert_int_equal(k->variables, 5);
    for (uint32_t i = 0; i < k->variables; i++)
        assert_int_equal(k->variable[i].space, PTX_PARAM);
    ptx_free(module);
}

static void unknown_opcodes_are_preserved(void **state)
{
    (void)state;
    PtxModule *module = parse(KERNEL("frobnicate.sync.x17::y.b32 ;\nexit {};\n"));
    assert_words(&module->function[0].instruction[0], "frobnicate.sync.x17::y.b32");
    assert_int_equal(module->function[0].instructions, 2);
    ptx_free(module);
}

static void trailing_padding(void **state)
{
    (void)state;
    static const char text[] = "\n\n" KERNEL("ret;") "\0\0\0";
    Error error;
    PtxModule *module = ptx_parse(text, sizeof text, &error);
    assert_non_null(module);
    assert_int_equal(module->function[0].instruction[0].ptx_line, 8);
    ptx_free(module);
}

static void type_sizes(void **state)
{
    (void)state;
    assert_int_equal(ptx_type_bytes(PTX_NONE), 0);
    assert_int_equal(ptx_type_bytes(PTX_PRED), 1);
    assert_int_equal(ptx_type_bytes(PTX_BF16), 2);
    assert_int_equal(ptx_type_bytes(PTX_F16X2), 4);
    assert_int_equal(ptx_type_bytes(PTX_F64), 8);
    assert_int_equal(ptx_type_bytes(PTX_B128), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_header),
        cmocka_unit_test(files_and_locations),
        cmocka_unit_test(inlined_in_one_another),
        cmocka_unit_test(variables),
        cmocka_unit_test(relocations),
        cmocka_unit_test(functions),
        cmocka_unit_test(operands),
        cmocka_unit_test(register_scopes),
        cmocka_unit_test(labels),
        cmocka_unit_test(calls),
        cmocka_unit_test(unknown_opcodes_are_preserved),
        cmocka_unit_test(trailing_padding),
        cmocka_unit_test(type_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
