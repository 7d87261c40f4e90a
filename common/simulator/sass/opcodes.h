/* opcodes.h - SASS opcodes, from one table for each generation. */
#ifndef CONVLAB_SIMT_SASS_OPCODES_H
#define CONVLAB_SIMT_SASS_OPCODES_H

/* Bits 0 to 8 of an instruction, without the form of its operands. */
typedef enum SassOpcode {
#define SASS_OPCODE(name, value) SASS_##name = (value),
#include "common/simulator/sass/opcodes_sm75.def"
#include "common/simulator/sass/opcodes_sm90.def"
#undef SASS_OPCODE
} SassOpcode;

enum { SASS_OPCODE_MASK = 0x1ff };

/* Bits 9 to 11: form of the operands. */
enum {
    SASS_FORM_REGISTERS = 1, /* all in registers */
    SASS_FORM_IMMEDIATE = 4, /* one is an immediate, or there are none */
    SASS_FORM_CONSTANT = 5,  /* one in constant memory, or a uniform register */
    SASS_FORM_UNIFORM = 6
};

/* An opcode with a form: bits 0 to 11. */
#define SASS_WITH_FORM(opcode, form) ((unsigned)(opcode) | (unsigned)(form) << 9)

#endif
