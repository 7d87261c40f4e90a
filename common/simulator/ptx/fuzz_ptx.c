/* fuzz_ptx.c - a libFuzzer target for the PTX parser; what it accepts must also hold together.
 *
 * `make fuzz` builds it, gives it the solutions' PTX as the initial corpus, and runs it.
 * test_ptx_mutation.c runs the same function over a fixed series of damaged texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t fuzz_sum; /* so that what is read is really read */

static void fuzz_require(int condition)
{
    if (!condition) abort();
}

static void fuzz_text(const char *text)
{
    fuzz_require(text != NULL);
    fuzz_sum += strlen(text);
}

static void fuzz_variable(const PtxVariable *variable)
{
    fuzz_text(variable->name);
    fuzz_require(variable->align != 0 && (variable->align & (variable->align - 1)) == 0);
    fuzz_require(ptx_type_bytes(variable->type) != 0);
    if (variable->data && variable->bytes)
        fuzz_sum += variable->data[0] + variable->data[variable->bytes - 1];
    for (uint32_t i = 0; i < variable->relocation_count; i++) {
        const PtxRelocation *relocation = &variable->relocation[i];
        fuzz_text(relocation->symbol);
        fuzz_require(variable->data && relocation->bytes <= 8 &&
                     relocation->offset + relocation->bytes <= variable->bytes);
    }
}

static void fuzz_operand(const PtxFunction *function, const PtxOperand *operand)
{
    fuzz_require(operand->reg >= PTX_NO_REGISTER);
    fuzz_require(operand->reg < (int64_t)function->regs);
    if (operand->kind == PTX_OPERAND_REGISTER) fuzz_require(operand->reg >= 0);
    if (operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_SPECIAL)
        fuzz_text(operand->name);
    if (operand->part) fuzz_text(operand->part);
    if (operand->kind == PTX_OPERAND_PAIR) fuzz_require(operand->count == 2);
    if (operand->variable) fuzz_require(strcmp(operand->variable->name, operand->name) == 0);
    for (uint32_t i = 0; i < operand->count; i++)
        fuzz_operand(function, &operand->element[i]);
}

static void fuzz_instruction(const PtxModule *module, const PtxFunction *function,
                             const PtxInstruction *instruction)
{
    fuzz_require(instruction->words >= 1 && instruction->words <= PTX_WORDS);
    fuzz_require(instruction->operands <= PTX_OPERANDS);
    fuzz_require(instruction->guard >= PTX_NO_REGISTER &&
                 instruction->guard < (int64_t)function->regs);
    fuzz_require(instruction->target <= function->instructions);
    fuzz_require(instruction->source.file == UINT32_MAX ||
                 instruction->source.file < module->files);
    for (uint32_t i = 0; i < instruction->words; i++)
        fuzz_text(instruction->word[i]);
    for (uint32_t i = 0; i < instruction->target_count; i++)
        fuzz_require(instruction->targets[i] <= function->instructions);
    for (uint32_t i = 0; i < instruction->operands; i++)
        fuzz_operand(function, &instruction->operand[i]);
}

static void fuzz_function(const PtxModule *module, const PtxFunction *function)
{
    fuzz_text(function->name);
    for (uint32_t i = 0; i < function->params; i++)
        fuzz_variable(&function->param[i]);
    for (uint32_t i = 0; i < function->results; i++)
        fuzz_variable(&function->result[i]);
    for (uint32_t i = 0; i < function->variables; i++)
        fuzz_variable(&function->variable[i]);
    for (uint32_t i = 0; i < function->regs; i++)
        fuzz_text(function->reg[i].name);
    for (uint32_t i = 0; i < function->instructions; i++)
        fuzz_instruction(module, function, &function->instruction[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Error error = {""};
    PtxModule *module = ptx_parse((const char *)data, size, &error);
    if (!module) {
        fuzz_require(error.text[0] && !strchr(error.text, '\n'));
        return 0;
    }
    for (uint32_t i = 0; i < module->variables; i++)
        fuzz_variable(&module->variable[i]);
    for (uint32_t i = 0; i < module->functions; i++)
        fuzz_function(module, &module->function[i]);
    ptx_free(module);
    return 0;
}
