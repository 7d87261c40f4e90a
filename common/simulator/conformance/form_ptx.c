/* form_ptx.c - a kernel for each form: every lane reads its operands, executes the form and stores
 * its results.
 *
 * Operands are loaded from memory, so that no compiler can compute a result in advance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/conformance/form.h"

static const char OPERAND[FORM_OPERANDS] = "abcefghijklm";

static const char *register_type(ValueType type)
{
    int bits = value_type_bits(type);
    return bits == 1 ? "pred" : bits == 16 ? "b16" : bits == 32 ? "b32" : "b64";
}

static void result_name(uint32_t k, char *name)
{
    sprintf(name, k ? "%%d%u" : "%%d", k);
}

static void operands_load(FILE *out, const Form *form)
{
    for (uint32_t k = 0; k < form->operands; k++) {
        ValueType type = form->operand[k]->type;
        char name = OPERAND[k];
        fprintf(out, ".reg .%s %%%c;\nld.global.u64 %%word, [%%in+%u];\n", register_type(type),
                name, k * form->lanes * 8);
        if (value_type_bits(type) == 1)
            fprintf(out, "setp.ne.u64 %%%c, %%word, 0;\n", name);
        else if (value_type_bits(type) == 64)
            fprintf(out, "mov.b64 %%%c, %%word;\n", name);
        else
            fprintf(out, "cvt.u%d.u64 %%%c, %%word;\n", value_type_bits(type), name);
    }
    for (uint32_t k = 0; k < form->results; k++) {
        char name[8];
        int bits = value_type_bits(form->result[k]);
        result_name(k, name);
        fprintf(out, ".reg .%s %s;\n", register_type(form->result[k]), name);
        if (bits == 1)
            fprintf(out, "setp.ne.u64 %s, 0, 0;\n", name);
        else
            fprintf(out, "mov.b%d %s, 0;\n", bits, name);
    }
}

static void results_store(FILE *out, const Form *form)
{
    for (uint32_t k = 0; k < form->results; k++) {
        char name[8];
        int bits = value_type_bits(form->result[k]);
        result_name(k, name);
        if (bits == 1)
            fprintf(out, "selp.u64 %%word, 1, 0, %s;\n", name);
        else if (bits == 64)
            fprintf(out, "mov.b64 %%word, %s;\n", name);
        else
            fprintf(out, "cvt.u64.u%d %%word, %s;\n", bits, name);
        fprintf(out, "st.global.u64 [%%out+%u], %%word;\n", k * form->lanes * 8);
    }
}

/* 64 zeroed bytes of a lane's own in shared and local memory, where the form speaks of them. */
static void scratch_prepare(FILE *out, const Form *form)
{
    if (strstr(form->text, "shared")) {
        fprintf(out, ".shared .align 16 .b8 memory[2048];\n.reg .b32 %%shared;\n"
                     "mov.u32 %%shared, memory;\nmov.u32 %%s, %%tid.x;\nshl.b32 %%s, %%s, 6;\n"
                     "add.u32 %%shared, %%shared, %%s;\n");
        for (int i = 0; i < 64; i += 8)
            fprintf(out, "st.shared.u64 [%%shared+%d], 0;\n", i);
        fprintf(out, "bar.sync 0;\n");
    }
    if (strstr(form->text, "local")) {
        fprintf(out, ".local .align 16 .b8 own[64];\n.reg .b64 %%local;\nmov.u64 %%local, own;\n");
        for (int i = 0; i < 64; i += 8)
            fprintf(out, "st.local.u64 [%%local+%d], 0;\n", i);
    }
}

static void kernel_write(FILE *out, const Form *form, uint32_t number)
{
    size_t length = strlen(form->text);
    fprintf(out,
            ".visible .entry f%u(.param .u64 in, .param .u64 out, .param .u64 global,\n"
            "    .param .align 16 .b8 block[16])%s\n{\n"
            ".reg .pred %%p, %%q; .reg .b16 %%v, %%w; .reg .b32 %%s, %%t, %%u;\n"
            ".reg .b64 %%x, %%y, %%z, %%in, %%out, %%global, %%word;\n"
            "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%global, [global];\n"
            "mov.u32 %%t, %%ctaid.x; shl.b32 %%t, %%t, 5; mov.u32 %%s, %%tid.x;\n"
            "add.u32 %%t, %%t, %%s; mul.wide.u32 %%x, %%t, 8; add.u64 %%in, %%in, %%x;\n"
            "add.u64 %%out, %%out, %%x; mul.wide.u32 %%x, %%t, 64;\n"
            "add.u64 %%global, %%global, %%x;\n",
            number,
            strstr(form->text, "cluster") ? " .explicitcluster .reqnctapercluster 1, 1, 1" : "");
    operands_load(out, form);
    scratch_prepare(out, form);
    fprintf(out, "// %s\n%s%s\n", form->text, form->text,
            length && form->text[length - 1] == ';' ? "" : ";");
    results_store(out, form);
    fprintf(out, "ret;\n}\n");
}

char *forms_ptx(const FormTable *table, uint32_t first, uint32_t count)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fprintf(out,
            ".version 8.7\n.target sm_90\n.address_size 64\n"
            ".const .align 16 .b32 table[4] = {0x83828180, 0x07060504, 0xff7fc0c1, 0x12345678};\n");
    for (uint32_t i = first; i < first + count && i < table->count; i++)
        kernel_write(out, &table->form[i], i);
    return fclose(out) == 0 ? text : NULL;
}
