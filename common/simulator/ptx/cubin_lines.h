/* cubin_lines.h - the PTX line of each SASS instruction; for fatbin_cubin.c alone. */
#ifndef CONVLAB_PTX_CUBIN_LINES_H
#define CONVLAB_PTX_CUBIN_LINES_H

#include <stddef.h>
#include <stdint.h>

/* .nv_debug_line_sass, which -lineinfo generates: a line number program of DWARF 2 with a sequence
 * for each kernel, whose PTX text is a separate section. */
typedef struct CubinLines {
    const unsigned char *program;
    size_t bytes;
} CubinLines;

/* Runs the sequence whose first instruction, which sets the address, has its operand at byte
 * `operand` of the program; fills line[0..count), 0 where it says nothing.  `work` is counted down
 * by each step, and nothing is filled in at its end. */
void cubin_lines_fill(const CubinLines *lines, uint64_t operand, size_t *work, uint32_t *line,
                      uint32_t count);

#endif
