/* dwarf_image.h - the DWARF sections that nvcc -G writes into PTX text, as an ELF image for libdw.
 *
 * Module: source-level debugging of kernels on the simulated GPU: DWARF, variables, expressions,
 * breakpoints, stepping and history, without a user interface.
 * Callers: common/debugger/ui.
 * May use: the simulator, base; libdw.
 *
 * PTX has no addresses.  Here the address of an instruction, and of a label, is its line in the PTX
 * text.  The address of a variable is DWARF_SYMBOL plus its number << 32. */
#ifndef CONVLAB_DEBUGGER_DWARF_IMAGE_H
#define CONVLAB_DEBUGGER_DWARF_IMAGE_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

#define DWARF_SYMBOL (1ull << 62)

typedef struct DwarfImage {
    Dwarf *dwarf; /* NULL: the text has no debug information */
    Elf *elf;
    char *bytes;   /* the ELF image */
    char **symbol; /* names of the variables that addresses stand for */
    uint32_t symbols, symbol_room;
} DwarfImage;

/* -1 with error: the sections are malformed. 0 with dwarf NULL: no sections. */
int dwarf_image_open(const char *ptx, size_t bytes, DwarfImage *image, Error *error);
void dwarf_image_close(DwarfImage *image);
/* The variable that an address stands for, and the offset into it; NULL: none. */
const char *dwarf_image_symbol(const DwarfImage *image, uint64_t address, int64_t *offset);

#endif
