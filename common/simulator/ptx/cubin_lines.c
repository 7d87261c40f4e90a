/* cubin_lines.c - a line number program of DWARF 2. SASS has two of these: one with source lines,
 * and this one with PTX lines.
 *
 * The program is a table of rows, each an address and a line, written as steps from row to row.  A
 * row holds from its address to that of the next. */
#include "common/simulator/ptx/cubin_lines.h"

#include <string.h>

enum {
    LENGTH_BYTES = 4,
    FIXED_BYTES = 15, /* size of a header, up to the number of the first special opcode */
    INS_BYTES = 16,
    EXTENDED = 0,
    COPY = 1,
    ADVANCE_PC = 2,
    ADVANCE_LINE = 3,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC = 9,
    END_SEQUENCE = 1,
    SET_ADDRESS = 2
};

/* Header of a line number program. */
typedef struct Unit {
    size_t end; /* end of the program in the section */
    uint32_t least, line_range, opcode_base;
    int32_t line_base;
    const unsigned char *operands; /* operand counts of opcodes from 1 on */
} Unit;

typedef struct Run {
    const CubinLines *lines;
    Unit unit;
    size_t at;
    uint64_t address, line;
    uint64_t row_address; /* the last row */
    uint64_t row_line;
    int rows, ended;
    uint32_t *to, count;
} Run;

static uint64_t number_at(const unsigned char *at, int bytes)
{
    uint64_t number = 0;
    for (int i = bytes; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}

/* The program that contains byte `inside`; 0: no well-formed program does. */
static int unit_find(const CubinLines *lines, uint64_t inside, size_t *work, Unit *unit)
{
    for (size_t at = 0; lines->bytes - at >= FIXED_BYTES && *work; --*work) {
        const unsigned char *header = lines->program + at;
        uint64_t length = number_at(header, LENGTH_BYTES);
        if (length < FIXED_BYTES - LENGTH_BYTES || length > lines->bytes - at - LENGTH_BYTES)
            return 0;
        size_t end = at + LENGTH_BYTES + length;
        if (inside >= end) {
            at = end;
            continue;
        }
        *unit = (Unit){.end = end,
                       .least = header[10],
                       .line_base = (int8_t)header[12],
                       .line_range = header[13],
                       .opcode_base = header[14],
                       .operands = header + FIXED_BYTES};
        return number_at(header + 4, 2) == 2 && unit->line_range && unit->opcode_base >= 1 &&
               inside >= at + FIXED_BYTES + unit->opcode_base;
    }
    return 0;
}

static int next_byte(Run *run)
{
    if (run->at >= run->unit.end) {
        run->ended = 1;
        return 0;
    }
    return run->lines->program[run->at++];
}

/* LEB128: seven bits per byte, the lowest first; *sign: the initial value for a signed number. */
static uint64_t next_number(Run *run, int is_signed)
{
    uint64_t number = 0;
    int shift = 0, byte = 0x80;
    while (byte & 0x80 && !run->ended) {
        byte = next_byte(run);
        if (shift < 64) number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if (is_signed && shift < 64 && byte & 0x40) number |= UINT64_MAX << shift;
    return number;
}

/* The last row holds up to here. */
static void row_close(Run *run, uint64_t address)
{
    uint64_t from = run->row_address / INS_BYTES, to = address / INS_BYTES;
    if (to > run->count) to = run->count;
    for (uint64_t i = from; run->rows && i < to; i++)
        run->to[i] = run->row_line <= UINT32_MAX ? (uint32_t)run->row_line : 0;
}

static void row_add(Run *run)
{
    row_close(run, run->address);
    run->row_address = run->address, run->row_line = run->line, run->rows = 1;
}

static void extended_step(Run *run)
{
    uint64_t bytes = next_number(run, 0);
    size_t begin = run->at;
    if (!bytes || bytes > run->unit.end - begin) {
        run->ended = 1;
        return;
    }
    int opcode = next_byte(run);
    if (opcode == END_SEQUENCE) {
        row_close(run, run->address);
        run->ended = 1;
    }
    /* Another address is another kernel's: each has a sequence, and an address at its start. */
    if (opcode == SET_ADDRESS) run->ended = 1;
    run->at = begin + bytes;
}

static void step(Run *run)
{
    uint32_t opcode = (uint32_t)next_byte(run), base = run->unit.opcode_base;
    if (run->ended) return;
    uint32_t special = opcode >= base ? opcode - base : 255 - base;
    uint64_t ahead = special / run->unit.line_range * run->unit.least;
    if (opcode >= base) {
        run->address += ahead;
        run->line += (uint64_t)(run->unit.line_base + (int32_t)(special % run->unit.line_range));
        row_add(run);
    } else if (opcode == EXTENDED) {
        extended_step(run);
    } else if (opcode == COPY) {
        row_add(run);
    } else if (opcode == ADVANCE_PC) {
        run->address += next_number(run, 0) * run->unit.least;
    } else if (opcode == ADVANCE_LINE) {
        run->line += next_number(run, 1);
    } else if (opcode == CONST_ADD_PC) {
        run->address += ahead;
    } else if (opcode == FIXED_ADVANCE_PC) {
        run->address += (uint64_t)next_byte(run);
        run->address += (uint64_t)next_byte(run) << 8;
    } else {
        for (int i = run->unit.operands[opcode - 1]; i > 0 && !run->ended; i--)
            next_number(run, 0);
    }
}

void cubin_lines_fill(const CubinLines *lines, uint64_t operand, size_t *work, uint32_t *line,
                      uint32_t count)
{
    enum { ADDRESS_BYTES = 8 };
    Run run = {.lines = lines, .line = 1, .to = line, .count = count};
    memset(line, 0, count * sizeof *line);
    if (operand < 3 || operand > lines->bytes || !unit_find(lines, operand, work, &run.unit) ||
        run.unit.end - operand < ADDRESS_BYTES)
        return;
    const unsigned char *before = lines->program + operand - 3;
    if (before[0] != EXTENDED || before[1] != 1 + ADDRESS_BYTES || before[2] != SET_ADDRESS) return;
    run.at = operand + ADDRESS_BYTES;
    while (!run.ended && *work) {
        --*work;
        uint64_t filled = run.row_address;
        step(&run);
        uint64_t ahead = (run.row_address - filled) / INS_BYTES;
        *work -= ahead < *work ? ahead : *work;
    }
}
