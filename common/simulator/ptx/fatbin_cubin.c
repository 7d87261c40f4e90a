/* fatbin_cubin.c - registers, shared memory and stack of each kernel, from a cubin's section
 * headers; and its SASS.
 *
 * A kernel is a function symbol marked as an entry. Its registers and stack are attributes of the
 * symbol in .nv.info; its static shared memory is the size of the .nv.shared section that belongs
 * to its code. Compiled with -lineinfo, a cubin contains the PTX text from which it was compiled,
 * and a PTX line for each instruction. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/ptx/cubin_lines.h"
#include "common/simulator/ptx/fatbin_cubin.h"

enum {
    SYMBOL_IS_ENTRY = 0x10,      /* in st_other */
    ATTRIBUTE_FRAME_SIZE = 0x11, /* bytes of the function's own stack frame */
    ATTRIBUTE_STACK_SIZE = 0x12, /* with all that it calls */
    ATTRIBUTE_REGISTERS = 0x2f,
    ATTRIBUTE_SIZED = 0x04,       /* the format in which a payload follows */
    RESERVED_SHARED_BYTES = 1024, /* from sm_90 on, counted in .nv.shared though no kernel's own */
    INS_BYTES = 16
};

typedef struct Cubin {
    const unsigned char *image;
    size_t bytes;
    Elf64_Shdr *section; /* copies: the image need not be aligned */
    uint32_t sections;
    const char *names;
    size_t names_bytes;
    const unsigned char *symbols;
    uint32_t symbol_count;
    const char *symbol_names;
    size_t symbol_names_bytes;
    uint32_t *registers, *stack; /* by symbol */
    int reserves_shared;
    CubinLines lines;
    const unsigned char *places; /* relocations of the addresses of line sequences */
    size_t places_bytes, place;  /* size of one relocation: older compilers omit the addend */
    int has_text;                /* made of the PTX that is executed */
    size_t code_left;            /* bytes that may still be SASS of some kernel */
    CubinWork *work;
} Cubin;

static int cubin_fail(Error *error, const char *what)
{
    return error_set(error, "fat binary: malformed machine code (%s)", what);
}

/* Charges `bytes` bytes of further reading. Sections and names may overlap, any number of times in
 * a hostile file. */
static int work_take(Cubin *cubin, size_t bytes)
{
    int enough = bytes <= cubin->work->bytes;
    cubin->work->bytes = enough ? cubin->work->bytes - bytes : 0;
    return enough;
}

/* The contents of a section, NULL if they are not inside the image. */
static const unsigned char *section_bytes(const Cubin *cubin, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS || section->sh_offset > cubin->bytes ||
        section->sh_size > cubin->bytes - section->sh_offset)
        return NULL;
    return cubin->image + section->sh_offset;
}

/* A text in a string table: NULL if it does not end inside. */
static const char *table_text(Cubin *cubin, const char *table, size_t bytes, uint64_t offset)
{
    if (!table || offset >= bytes) return NULL;
    size_t left = cubin->work->bytes, most = bytes - offset < left ? bytes - offset : left;
    size_t length = strnlen(table + offset, most);
    return work_take(cubin, length + 1) && length < most ? table + offset : NULL;
}

static int starts_with(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

/* ---- sections ---- */

static int sections_read(Cubin *cubin, Error *error)
{
    Elf64_Ehdr header;
    if (cubin->bytes < sizeof header) return cubin_fail(error, "shorter than its header");
    memcpy(&header, cubin->image, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
        return cubin_fail(error, "no 64-bit ELF");
    if (header.e_type == ET_REL)
        return error_set(error,
                         "fat binary: relocatable device code (-rdc=true) that was not linked: "
                         "link with simnvcc, or compile without -rdc=true");
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > cubin->bytes ||
        (cubin->bytes - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
        return cubin_fail(error, "section headers outside");
    cubin->sections = header.e_shnum;
    cubin->section = malloc(((size_t)header.e_shnum + 1) * sizeof(Elf64_Shdr));
    if (!cubin->section) return error_set(error, "out of memory");
    memcpy(cubin->section, cubin->image + header.e_shoff,
           (size_t)header.e_shnum * sizeof(Elf64_Shdr));
    if (header.e_shstrndx >= cubin->sections) return cubin_fail(error, "no section names");
    const Elf64_Shdr *names = &cubin->section[header.e_shstrndx];
    cubin->names = (const char *)section_bytes(cubin, names);
    cubin->names_bytes = names->sh_size;
    return cubin->names ? 0 : cubin_fail(error, "no section names");
}

static const char *section_name(Cubin *cubin, uint32_t index)
{
    return table_text(cubin, cubin->names, cubin->names_bytes, cubin->section[index].sh_name);
}

static int symbols_read(Cubin *cubin, Error *error)
{
    for (uint32_t i = 0; i < cubin->sections; i++) {
        const Elf64_Shdr *section = &cubin->section[i];
        if (section->sh_type != SHT_SYMTAB) continue;
        const Elf64_Shdr *names =
            section->sh_link < cubin->sections ? &cubin->section[section->sh_link] : NULL;
        cubin->symbols = section_bytes(cubin, section);
        cubin->symbol_names = names ? (const char *)section_bytes(cubin, names) : NULL;
        if (!cubin->symbols || !cubin->symbol_names) return cubin_fail(error, "symbols outside");
        cubin->symbol_names_bytes = names->sh_size;
        cubin->symbol_count = (uint32_t)(section->sh_size / sizeof(Elf64_Sym));
        break;
    }
    cubin->registers = calloc((size_t)cubin->symbol_count + 1, sizeof(uint32_t));
    cubin->stack = calloc((size_t)cubin->symbol_count + 1, sizeof(uint32_t));
    if (!cubin->registers || !cubin->stack) return error_set(error, "out of memory");
    return 0;
}

/* ---- attributes ---- */

static void attribute_note(Cubin *cubin, unsigned attribute, const unsigned char *payload)
{
    uint32_t pair[2]; /* symbol, value */
    memcpy(pair, payload, sizeof pair);
    if (pair[0] >= cubin->symbol_count) return;
    uint32_t *stack = &cubin->stack[pair[0]];
    if (attribute == ATTRIBUTE_REGISTERS)
        cubin->registers[pair[0]] = pair[1];
    else if (pair[1] != UINT32_MAX && pair[1] > *stack) /* all ones: recursion, not known */
        *stack = pair[1];
}

static void attributes_read(Cubin *cubin, const unsigned char *at, size_t bytes)
{
    const unsigned char *end = at + bytes;
    while (end - at >= 4) {
        unsigned format = at[0], attribute = at[1];
        size_t size = format == ATTRIBUTE_SIZED ? at[2] | (size_t)at[3] << 8 : 0;
        at += 4;
        if (size > (size_t)(end - at)) return;
        if (size == 8 && (attribute == ATTRIBUTE_REGISTERS || attribute == ATTRIBUTE_FRAME_SIZE ||
                          attribute == ATTRIBUTE_STACK_SIZE))
            attribute_note(cubin, attribute, at);
        at += size;
    }
}

/* ---- SASS ---- */

static const char *blanks_skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* The end of a line, without a comment: nvcc strips comments from the PTX of a fat binary, such as
 * the "// callseq" of a call, and leaves them in a cubin. */
static const char *comment_find(const char *at, const char *end)
{
    for (; at + 1 < end; at++)
        if (at[0] == '/' && at[1] == '/') return at;
    return end;
}

/* Compares lines up to white space; a blank `line` matches anything. */
static int line_is(const char *line, const char *line_end, const char *ptx, const char *ptx_end)
{
    line_end = comment_find(line, line_end), ptx_end = comment_find(ptx, ptx_end);
    line = blanks_skip(line, line_end), ptx = blanks_skip(ptx, ptx_end);
    if (line == line_end) return 1;
    while (line < line_end && ptx < ptx_end && *line == *ptx)
        line = blanks_skip(line + 1, line_end), ptx = blanks_skip(ptx + 1, ptx_end);
    return line == line_end && ptx == ptx_end;
}

/* Is the section's text the PTX?  Its lines end with NUL, those of directives for debuggers are
 * empty. */
static int text_is(const char *text, size_t bytes, const Fatbin *fatbin)
{
    const char *ptx = fatbin->ptx, *ptx_end = ptx + fatbin->ptx_bytes, *end = text + bytes;
    while (text < end) {
        const char *line_end = memchr(text, 0, (size_t)(end - text));
        const char *ptx_line_end = memchr(ptx, '\n', (size_t)(ptx_end - ptx));
        if (!line_end) line_end = end;
        if (!ptx_line_end) ptx_line_end = ptx_end;
        if (!line_is(text, line_end, ptx, ptx_line_end)) return 0;
        text = line_end + 1;
        ptx = ptx_line_end < ptx_end ? ptx_line_end + 1 : ptx_end;
    }
    return 1;
}

static void debug_read(Cubin *cubin, const Fatbin *fatbin)
{
    for (uint32_t i = 0; i < cubin->sections; i++) {
        const char *name = section_name(cubin, i);
        const unsigned char *contents = section_bytes(cubin, &cubin->section[i]);
        size_t bytes = cubin->section[i].sh_size;
        if (!name || !contents) continue;
        if (strcmp(name, ".nv_debug_line_sass") == 0) cubin->lines = (CubinLines){contents, bytes};
        if (strcmp(name, ".rel.nv_debug_line_sass") == 0)
            cubin->places = contents, cubin->places_bytes = bytes, cubin->place = sizeof(Elf64_Rel);
        if (strcmp(name, ".rela.nv_debug_line_sass") == 0)
            cubin->places = contents, cubin->places_bytes = bytes,
            cubin->place = sizeof(Elf64_Rela);
        if (strcmp(name, ".nv_debug_ptx_txt") == 0 && fatbin->ptx && work_take(cubin, bytes))
            cubin->has_text = text_is((const char *)contents, bytes, fatbin);
    }
}

/* Offset in the line number program at which the address of the section's sequence is set; 0:
 * none. */
static uint64_t sequence_find(Cubin *cubin, uint32_t section)
{
    Elf64_Rela place = {0};
    for (size_t at = 0;
         cubin->place && cubin->places_bytes - at >= cubin->place && cubin->work->steps;
         at += cubin->place, cubin->work->steps--) {
        Elf64_Sym symbol;
        memcpy(&place, cubin->places + at, cubin->place);
        uint64_t number = ELF64_R_SYM(place.r_info);
        if (number >= cubin->symbol_count || place.r_addend) continue;
        memcpy(&symbol, cubin->symbols + number * sizeof symbol, sizeof symbol);
        if (symbol.st_shndx == section && !symbol.st_value) return place.r_offset;
    }
    return 0;
}

/* As far as it is known what it is, and no more than the cubin is long: code is one kernel's.
 * -1: out of memory. */
static int code_read(Cubin *cubin, uint32_t section, CubinKernel *kernel)
{
    const unsigned char *bytes = section_bytes(cubin, &cubin->section[section]);
    uint64_t size = cubin->section[section].sh_size, count = size / INS_BYTES;
    if (!cubin->has_text || !sass_is_known(kernel->sm) || !bytes || !count ||
        size > cubin->code_left)
        return 0;
    uint64_t sequence = sequence_find(cubin, section);
    if (!sequence) return 0;
    uint32_t *line = malloc(count * sizeof *line);
    if (!line) return -1;
    cubin->code_left -= size;
    SassText text = {bytes, (uint32_t)count, kernel->sm, line};
    cubin_lines_fill(&cubin->lines, sequence, &cubin->work->steps, line, text.count);
    sass_decode(&text, &cubin->work->steps, &kernel->machine);
    free(line);
    return 0;
}

/* ---- kernels ---- */

static CubinKernel *kernel_add(Fatbin *fatbin, Error *error)
{
    uint32_t count = fatbin->kernels;
    if (count == FATBIN_MAX_KERNELS) {
        error_set(error, "fat binary: more than %d kernels", FATBIN_MAX_KERNELS);
        return NULL;
    }
    if ((count & (count - 1)) == 0) { /* full at each power of two */
        size_t capacity = count ? 2 * (size_t)count : 1;
        CubinKernel *kernel = realloc(fatbin->kernel, capacity * sizeof *kernel);
        if (!kernel) {
            error_set(error, "out of memory");
            return NULL;
        }
        fatbin->kernel = kernel;
    }
    fatbin->kernels++;
    return memset(&fatbin->kernel[count], 0, sizeof(CubinKernel));
}

/* Static shared memory of the code in section `text`, by its .nv.shared section. */
static void shared_read(Cubin *cubin, uint32_t *shared)
{
    for (uint32_t i = 0; i < cubin->sections; i++) {
        const Elf64_Shdr *section = &cubin->section[i];
        if (section->sh_type != SHT_NOBITS || section->sh_info >= cubin->sections ||
            section->sh_info == 0 || !starts_with(section_name(cubin, i), ".nv.shared."))
            continue;
        uint64_t size = section->sh_size < UINT32_MAX ? section->sh_size : UINT32_MAX;
        uint32_t reserved = cubin->reserves_shared ? RESERVED_SHARED_BYTES : 0;
        shared[section->sh_info] = size > reserved ? (uint32_t)size - reserved : 0;
    }
}

static int kernels_read(Cubin *cubin, const uint32_t *shared, uint32_t sm, Fatbin *fatbin,
                        Error *error)
{
    for (uint32_t i = 0; i < cubin->symbol_count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, cubin->symbols + i * sizeof symbol, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & SYMBOL_IS_ENTRY) ||
            symbol.st_shndx >= cubin->sections)
            continue;
        const char *name =
            table_text(cubin, cubin->symbol_names, cubin->symbol_names_bytes, symbol.st_name);
        if (!name) return cubin_fail(error, "a symbol's name outside");
        if (strlen(name) >= sizeof fatbin->kernel->name)
            continue; /* a name cut short could be another kernel's */
        CubinKernel *kernel = kernel_add(fatbin, error);
        if (!kernel) return -1;
        strcpy(kernel->name, name);
        kernel->sm = sm;
        kernel->registers = cubin->registers[i];
        if (kernel->registers == 0) /* older compilers keep it in the section's header */
            kernel->registers = cubin->section[symbol.st_shndx].sh_info >> 24;
        kernel->local_bytes = cubin->stack[i];
        kernel->shared_bytes = shared[symbol.st_shndx];
        if (code_read(cubin, symbol.st_shndx, kernel) != 0)
            return error_set(error, "out of memory");
    }
    return 0;
}

static int cubin_parse(Cubin *cubin, uint32_t sm, Fatbin *fatbin, Error *error)
{
    if (sections_read(cubin, error) || symbols_read(cubin, error)) return -1;
    debug_read(cubin, fatbin);
    for (uint32_t i = 0; i < cubin->sections; i++) {
        const char *name = section_name(cubin, i);
        const unsigned char *contents = section_bytes(cubin, &cubin->section[i]);
        if (name && contents && strcmp(name, ".nv.info") == 0 &&
            work_take(cubin, cubin->section[i].sh_size))
            attributes_read(cubin, contents, cubin->section[i].sh_size);
        if (starts_with(name, ".nv.shared.reserved")) cubin->reserves_shared = 1;
    }
    uint32_t *shared = calloc((size_t)cubin->sections + 1, sizeof *shared);
    if (!shared) return error_set(error, "out of memory");
    shared_read(cubin, shared);
    int result = kernels_read(cubin, shared, sm, fatbin, error);
    free(shared);
    return result;
}

int cubin_read(const unsigned char *image, size_t bytes, uint32_t sm, CubinWork *work,
               Fatbin *fatbin, Error *error)
{
    Cubin cubin = {.image = image, .bytes = bytes, .code_left = bytes, .work = work};
    int result = cubin_parse(&cubin, sm, fatbin, error);
    if (!work->bytes) result = cubin_fail(error, "more to read than it has bytes");
    free(cubin.section);
    free(cubin.registers);
    free(cubin.stack);
    return result;
}
