/* test_fatbin_bombs.c - small files that would keep a reader busy for hours, or fill its memory:
 * cubins of the greatest size whose parts all lie on each other. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include <cmocka.h>

#include "common/simulator/ptx/fatbin.h"

enum { ROOM = 48 << 20, MOST_SECTIONS = 65535, MOST_KERNELS = 65536, INS_BYTES = 16 };
enum { PTX = 1, ELF = 2, PLAIN = 0x11, ZSTD = 0x8011, HEADER = 64 };
enum { MOST_SECONDS = 10 }; /* limit on the CPU time, also under sanitizers */

/* A cubin under construction: header, section headers, and the data after them. */
typedef struct Bomb {
    unsigned char *bytes;
    size_t size;
    Elf64_Shdr *section;
    uint32_t sections;
} Bomb;

static size_t bomb_put(Bomb *bomb, const void *data, size_t bytes)
{
    size_t at = bomb->size;
    assert_true(bytes <= ROOM - at);
    if (data) memcpy(bomb->bytes + at, data, bytes);
    bomb->size += (bytes + 7) / 8 * 8;
    return at;
}

static void section_add(Bomb *bomb, uint32_t name, uint32_t type, size_t at, size_t bytes)
{
    bomb->section[bomb->sections++] =
        (Elf64_Shdr){.sh_name = name, .sh_type = type, .sh_offset = at, .sh_size = bytes};
}

/* Section 1 has the sections' names, which start with a byte 0. */
static Bomb bomb_open(uint32_t sections, const char *names, size_t names_bytes)
{
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                         .e_type = ET_EXEC,
                         .e_shoff = sizeof header,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = (Elf64_Half)sections,
                         .e_shstrndx = 1};
    Bomb bomb = {.bytes = calloc(1, ROOM)};
    assert_non_null(bomb.bytes);
    bomb_put(&bomb, &header, sizeof header);
    bomb.section =
        (Elf64_Shdr *)(bomb.bytes + bomb_put(&bomb, NULL, sections * sizeof(Elf64_Shdr)));
    section_add(&bomb, 0, SHT_NULL, 0, 0);
    section_add(&bomb, 0, SHT_STRTAB, bomb_put(&bomb, names, names_bytes), names_bytes);
    return bomb;
}

static unsigned char *entry_put(unsigned char *to, unsigned kind, unsigned flags, const void *data,
                                size_t bytes, size_t plain)
{
    size_t size = (bytes + 7) / 8 * 8;
    const uint64_t fields[HEADER / 8] = {kind | 0x1010000u | (uint64_t)HEADER << 32,
                                         size,
                                         bytes,
                                         (uint64_t)90 << 32,
                                         0,
                                         flags,
                                         0,
                                         plain};
    memcpy(to, fields, HEADER);
    memcpy(to + HEADER, data, bytes);
    return to + HEADER + size;
}

/* Compresses the cubin, appends it to the PTX and opens the result. The image's bytes, `times` of
 * them. */
static unsigned char *bomb_pack(Bomb *bomb, const char *ptx, int times, size_t *bytes)
{
    size_t room = ZSTD_compressBound(bomb->size), text = strlen(ptx);
    void *packed = malloc(room);
    assert_non_null(packed);
    size_t small = ZSTD_compress(packed, room, bomb->bytes, bomb->size, 1);
    assert_false(ZSTD_isError(small));
    unsigned char *image = calloc(1, 16 + (HEADER + small + 8) * (size_t)times + HEADER + text + 8),
                  *at = image + 16;
    assert_non_null(image);
    at = entry_put(at, PTX, PLAIN, ptx, text, 0);
    for (int i = 0; i < times; i++)
        at = entry_put(at, ELF, ZSTD, packed, small, bomb->size);
    const uint64_t header[2] = {0xba55ed50u | (uint64_t)1 << 32 | (uint64_t)16 << 48,
                                (uint64_t)(at - image) - 16};
    memcpy(image, header, sizeof header);
    free(packed), free(bomb->bytes);
    *bytes = (size_t)(at - image);
    return image;
}

/* Opens it, which must not take long; 0 and *fatbin, or refused with this message. */
static void assert_quick(Bomb *bomb, const char *ptx, int times, const char *message,
                         Fatbin *fatbin)
{
    Error error = {""};
    size_t bytes;
    unsigned char *image = bomb_pack(bomb, ptx, times, &bytes);
    clock_t begin = clock();
    int result = fatbin_open(image, bytes, fatbin, &error);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    free(image);
    if (seconds > MOST_SECONDS) fail_msg("%zu bytes took %.1f s", bytes, seconds);
    if (message) {
        assert_int_not_equal(result, 0);
        if (!strstr(error.text, message)) fail_msg("%s", error.text);
    } else if (result) {
        fail_msg("%s", error.text);
    }
}

static const char SMALL[] = ".version 9.0\n.target sm_90\n";

/* ---- names ---- */

static char *long_name(size_t bytes)
{
    char *name = malloc(bytes);
    assert_non_null(name);
    memset(name, 'a', bytes);
    name[0] = name[bytes - 1] = 0;
    return name;
}

static void sections_with_one_long_name(void **state)
{
    enum { NAME = 40 << 20 };
    (void)state;
    Fatbin fatbin;
    char *name = long_name(NAME);
    Bomb bomb = bomb_open(MOST_SECTIONS, name, NAME);
    free(name);
    while (bomb.sections < MOST_SECTIONS)
        section_add(&bomb, bomb.sections, SHT_PROGBITS, 0, 0);
    assert_quick(&bomb, SMALL, 1, "more to read than it has bytes", &fatbin);
}

static void symbols_put(Bomb *bomb, uint32_t count, uint32_t each, uint32_t section, size_t names,
                        size_t names_bytes)
{
    size_t bytes = (size_t)count * sizeof(Elf64_Sym), at = bomb_put(bomb, NULL, bytes);
    Elf64_Sym *symbol = (Elf64_Sym *)(bomb->bytes + at);
    for (uint32_t i = 0; i < count; i++)
        symbol[i] = (Elf64_Sym){.st_name = 1 + i * each,
                                .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                .st_other = 0x10,
                                .st_shndx = (Elf64_Half)section};
    section_add(bomb, 0, SHT_SYMTAB, at, bytes);
    bomb->section[bomb->sections - 1].sh_link = bomb->sections;
    section_add(bomb, 0, SHT_STRTAB, names, names_bytes);
}

static void symbols_with_one_long_name(void **state)
{
    enum { NAME = 24 << 20, SYMBOLS = 800000 };
    (void)state;
    Fatbin fatbin;
    char *name = long_name(NAME);
    Bomb bomb = bomb_open(4, "", 1);
    symbols_put(&bomb, SYMBOLS, 1, 0, bomb_put(&bomb, name, NAME), NAME);
    free(name);
    assert_quick(&bomb, SMALL, 1, "more to read than it has bytes", &fatbin);
}

/* ---- sections on each other ---- */

static void one_section_many_times(const char *name, const char *fill, const char *ptx)
{
    enum { SECTION = 40 << 20 };
    Fatbin fatbin;
    char names[64] = {0};
    strcpy(names + 1, name);
    Bomb bomb = bomb_open(MOST_SECTIONS, names, sizeof names);
    size_t at = bomb_put(&bomb, NULL, SECTION), each = strlen(fill) + 1;
    for (size_t i = 0; i + each <= SECTION; i += each)
        memcpy(bomb.bytes + at + i, fill, each);
    while (bomb.sections < MOST_SECTIONS)
        section_add(&bomb, 1, SHT_PROGBITS, at, SECTION);
    assert_quick(&bomb, ptx, 1, "more to read than it has bytes", &fatbin);
}

static void attributes_many_times(void **state)
{
    (void)state;
    one_section_many_times(".nv.info", "", SMALL);
}

static void text_many_times(void **state)
{
    enum { LINES = 16 << 20 };
    (void)state;
    char *ptx = malloc(sizeof SMALL + 2 * LINES), *at = ptx + sizeof SMALL - 1;
    assert_non_null(ptx);
    strcpy(ptx, SMALL);
    for (int i = 0; i < LINES; i++)
        *at++ = ';', *at++ = '\n';
    *at = 0;
    one_section_many_times(".nv_debug_ptx_txt", "", ptx);
    free(ptx);
}

/* ---- machine code ---- */

static const char CODE_NAMES[] =
    "\0.nv_debug_ptx_txt\0.nv_debug_line_sass\0.rel.nv_debug_line_sass";
enum { TEXT_NAME = 1, LINES_NAME = 19, PLACES_NAME = 39 };

/* `kernels` kernels, each with the code in section 2, whose lines follow `units` programs without a
 * step. */
static Bomb code_bomb(uint32_t kernels, uint32_t code, uint32_t units)
{
    enum { UNIT = 15, LAST = 40 };
    static const unsigned char empty[UNIT] = {UNIT - 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1},
                               last[LAST] = {LAST - 4, 0, 0, 0, 2, 0, 0, 0, 0,
                                             0,        1, 0, 0, 1, 1, 0, 9, 2};
    Bomb bomb = bomb_open(8, CODE_NAMES, sizeof CODE_NAMES);
    size_t at = bomb_put(&bomb, NULL, (size_t)code * INS_BYTES);
    section_add(&bomb, 0, SHT_PROGBITS, at, (size_t)code * INS_BYTES);
    static const char text[] = ".version 9.0\0.target sm_90";
    section_add(&bomb, TEXT_NAME, SHT_PROGBITS, bomb_put(&bomb, text, sizeof text), sizeof text);
    size_t lines = (size_t)units * UNIT + LAST;
    at = bomb_put(&bomb, NULL, lines);
    for (uint32_t i = 0; i < units; i++)
        memcpy(bomb.bytes + at + (size_t)i * UNIT, empty, UNIT);
    memcpy(bomb.bytes + at + (size_t)units * UNIT, last, LAST);
    section_add(&bomb, LINES_NAME, SHT_PROGBITS, at, lines);
    Elf64_Rel place = {.r_offset = (uint64_t)units * UNIT + UNIT + 3, .r_info = 0};
    section_add(&bomb, PLACES_NAME, SHT_REL, bomb_put(&bomb, &place, sizeof place), sizeof place);
    symbols_put(&bomb, kernels, 0, 2, bomb_put(&bomb, "\0k", 3), 3);
    return bomb;
}

static void lines_after_many_programs(void **state)
{
    (void)state;
    Fatbin fatbin;
    Bomb bomb = code_bomb(MOST_KERNELS, 1, 2 << 20);
    assert_quick(&bomb, SMALL, 1, NULL, &fatbin);
    fatbin_close(&fatbin);
}

/* Code that several kernels claim is read for one of them: memory is twice the bytes at most. */
static void code_of_many_kernels(void **state)
{
    enum { CODE = 1 << 13, KERNELS = 4096, TIMES = 4 };
    (void)state;
    Fatbin fatbin;
    uint64_t all = 0;
    Bomb bomb = code_bomb(KERNELS, CODE, 0);
    size_t bytes = bomb.size;
    assert_quick(&bomb, SMALL, TIMES, NULL, &fatbin);
    for (uint32_t i = 0; i < fatbin.kernels; i++)
        all += (uint64_t)fatbin.kernel[i].machine.count * INS_BYTES;
    fatbin_close(&fatbin);
    assert_true(all >= CODE * INS_BYTES);
    assert_true(all <= TIMES * bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_with_one_long_name), cmocka_unit_test(symbols_with_one_long_name),
        cmocka_unit_test(attributes_many_times),       cmocka_unit_test(text_many_times),
        cmocka_unit_test(lines_after_many_programs),   cmocka_unit_test(code_of_many_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
