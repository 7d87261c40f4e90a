/* test_fatbin.c - fat binaries and cubins built here, byte by byte, whole and damaged. */
#include <elf.h>
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "common/simulator/ptx/fuzz_fatbin.c"
#include "common/simulator/ptx/fuzz_mutate.h"
#include "common/simulator/ptx/test_ptx_text.h"

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, PTX = 1, ELF = 2 };

typedef struct Image {
    unsigned char bytes[1 << 16];
    size_t size;
} Image;

static void put(Image *image, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        image->bytes[at + i] = (unsigned char)(value >> (8 * i));
}

static void image_start(Image *image)
{
    memset(image, 0, sizeof *image);
    put(image, 0, 0xBA55ED50, 4);
    put(image, 4, 1, 2);
    put(image, 6, 16, 2);
    image->size = 16;
}

/* Appends an entry; `options` follow its header, as nvcc stores them. */
static size_t image_add(Image *image, unsigned kind, unsigned sm, unsigned flags, const void *data,
                        size_t bytes, const char *options)
{
    size_t at = image->size, header = kind == PTX ? 80 : 64, packed = bytes;
    size_t room = sizeof image->bytes - at - 200;
    if (options) header += (strlen(options) + 8) / 8 * 8;
    unsigned char *to = image->bytes + at + header;
    if (flags == ZSTD)
        packed = ZSTD_compress(to, room, data, bytes, 3);
    else if (flags == LZ4)
        packed = (size_t)LZ4_compress_default(data, (char *)to, (int)bytes, (int)room);
    else
        memcpy(to, data, bytes);
    size_t size = (packed + 7) / 8 * 8;
    put(image, at, kind, 2);
    put(image, at + 2, 0x101, 2);
    put(image, at + 4, header, 4);
    put(image, at + 8, size, 8);
    put(image, at + 16, flags == PLAIN ? 0 : packed, 4);
    put(image, at + 28, sm, 4);
    put(image, at + 40, flags, 8);
    put(image, at + 56, flags == PLAIN ? 0 : bytes, 8);
    if (options) memcpy(image->bytes + at + 80, options, strlen(options));
    image->size = at + header + size;
    put(image, 8, image->size - 16, 8);
    return at;
}

static void image_add_text(Image *image, unsigned sm, unsigned flags, const char *text)
{
    image_add(image, PTX, sm, flags, text, strlen(text), NULL);
}

static void assert_refused(const void *image, size_t bytes, const char *message)
{
    Error error = {""};
    Fatbin fatbin;
    if (fatbin_open(image, bytes, &fatbin, &error) == 0)
        fail_msg("accepted, though it should say \"%s\"", message);
    if (!strstr(error.text, message))
        fail_msg("\"%s\" does not contain \"%s\"", error.text, message);
    assert_null(strchr(error.text, '\n'));
    assert_null(fatbin.ptx);
}

static void assert_holds(const void *image, size_t bytes, const char *text, unsigned target)
{
    Error error = {""};
    Fatbin fatbin;
    if (fatbin_open(image, bytes, &fatbin, &error)) fail_msg("%s", error.text);
    assert_string_equal(fatbin.ptx, text);
    assert_int_equal(fatbin.ptx_bytes, strlen(text));
    assert_int_equal(fatbin.ptx_target, target);
    fatbin_close(&fatbin);
    assert_null(fatbin.ptx);
}

/* ---- a cubin ---- */

typedef struct Cubin {
    unsigned char bytes[4096];
    Elf64_Shdr section[8];
    size_t size;
} Cubin;

static const char SECTION_NAMES[] = "\0.shstrtab\0.strtab\0.symtab\0.nv.info\0.text.alpha\0"
                                    ".nv.shared.alpha\0.nv.shared.reserved.0\0";
static const char SYMBOL_NAMES[] = "\0alpha\0helper\0beta\0";

static void cubin_section(Cubin *cubin, unsigned index, const char *name, unsigned type,
                          const void *data, size_t bytes)
{
    Elf64_Shdr *section = &cubin->section[index];
    const char *at = SECTION_NAMES;
    while (strcmp(at, name) != 0)
        at += strlen(at) + 1;
    *section = (Elf64_Shdr){.sh_name = (Elf64_Word)(at - SECTION_NAMES),
                            .sh_type = type,
                            .sh_offset = cubin->size,
                            .sh_size = bytes};
    if (data) {
        memcpy(cubin->bytes + cubin->size, data, bytes);
        cubin->size += (bytes + 7) / 8 * 8;
    }
}

/* Kernels alpha (registers in .nv.info) and beta (in the section's header, as older compilers do),
 * and a function. */
static void cubin_make(Cubin *cubin, unsigned elf_type, int reserved)
{
    static const uint32_t info[] = {0x00082f04, 1,          40, 0x00081104, 1,          96,
                                    0x0000ff03, 0x00081204, 1,  128,        0x00082f04, 99,
                                    7,          0x00081204, 3,  UINT32_MAX};
    const Elf64_Sym symbol[4] = {
        {0},
        {.st_name = 1,
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
         .st_other = 0x10,
         .st_shndx = 5},
        {.st_name = 7, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 5},
        {.st_name = 14,
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
         .st_other = 0x10,
         .st_shndx = 4}};
    Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                         .e_type = (Elf64_Half)elf_type,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 8,
                         .e_shstrndx = 1};
    memset(cubin, 0, sizeof *cubin);
    cubin->size = sizeof header;
    cubin_section(cubin, 1, ".shstrtab", SHT_STRTAB, SECTION_NAMES, sizeof SECTION_NAMES);
    cubin_section(cubin, 2, ".strtab", SHT_STRTAB, SYMBOL_NAMES, sizeof SYMBOL_NAMES);
    cubin_section(cubin, 3, ".symtab", SHT_SYMTAB, symbol, sizeof symbol);
    cubin->section[3].sh_link = 2;
    cubin_section(cubin, 4, ".nv.info", 0x70000000, info, sizeof info);
    cubin->section[4].sh_info = 21u << 24 | 3;
    cubin_section(cubin, 5, ".text.alpha", SHT_PROGBITS, info, sizeof info);
    cubin->section[5].sh_info = 1;
    cubin_section(cubin, 6, ".nv.shared.alpha", SHT_NOBITS, NULL, 1424);
    cubin->section[6].sh_info = 5;
    cubin_section(cubin, 7, reserved ? ".nv.shared.reserved.0" : ".strtab", SHT_NOBITS, NULL, 0);
    header.e_shoff = cubin->size;
    memcpy(cubin->bytes, &header, sizeof header);
    memcpy(cubin->bytes + cubin->size, cubin->section, sizeof cubin->section);
    cubin->size += sizeof cubin->section;
}

/* ---- tests ---- */

static const char OLD[] = "\n\n.version 7.0\n.target sm_70\n";
static const char NEW[] = "\n\n.version 9.0\n.target sm_90\n";

static void raw_text(void **state)
{
    (void)state;
    static const char text[] = "//\n// by a compiler\n\n.version 7.0\n.target sm_80\n";
    static const char padded[] = ".version 7.0\n.target sm_75, debug\n\0\0\0\0";
    assert_holds(text, strlen(text), text, 80);
    assert_holds(padded, sizeof padded, padded, 75);
    assert_int_equal(fatbin_image_bytes(text), strlen(text));
    assert_int_equal(fatbin_image_bytes("x"), 0);
    assert_int_equal(fatbin_image_bytes(""), 0);
    assert_int_equal(fatbin_image_bytes(".versio"), 0);
    assert_int_equal(fatbin_image_bytes(NULL), 0);
}

static void every_packing(void **state)
{
    (void)state;
    static Image image;
    const unsigned flags[] = {PLAIN, LZ4, ZSTD};
    for (int i = 0; i < 3; i++) {
        image_start(&image);
        image_add_text(&image, 80, flags[i], TEST_PTX_TEXT);
        assert_holds(image.bytes, image.size, TEST_PTX_TEXT, 80);
        assert_int_equal(fatbin_image_bytes(image.bytes), image.size);
        /* Bytes after the image do not belong to it. */
        assert_holds(image.bytes, image.size + 100, TEST_PTX_TEXT, 80);
    }
}

static void highest_target_wins(void **state)
{
    (void)state;
    static Image image;
    image_start(&image);
    image_add_text(&image, 70, PLAIN, OLD);
    image_add_text(&image, 90, ZSTD, NEW);
    assert_holds(image.bytes, image.size, NEW, 90);
    image_start(&image);
    image_add_text(&image, 90, LZ4, NEW);
    image_add_text(&image, 70, PLAIN, OLD);
    assert_holds(image.bytes, image.size, NEW, 90);
}

static void kernels_of_cubins(void **state)
{
    (void)state;
    static Image image;
    static Cubin cubin;
    image_start(&image);
    cubin_make(&cubin, ET_EXEC, 0);
    image_add(&image, ELF, 80, PLAIN, cubin.bytes, cubin.size, NULL);
    image_add_text(&image, 70, PLAIN, OLD);
    cubin_make(&cubin, ET_EXEC, 1);
    image_add(&image, ELF, 90, ZSTD, cubin.bytes, cubin.size, NULL);
    Error error = {""};
    Fatbin fatbin;
    if (fatbin_open(image.bytes, image.size, &fatbin, &error)) fail_msg("%s", error.text);
    assert_int_equal(fatbin.kernels, 4);
    assert_string_equal(fatbin.kernel[0].name, "alpha");
    assert_int_equal(fatbin.kernel[0].sm, 80);
    assert_int_equal(fatbin.kernel[0].registers, 40);
    assert_int_equal(fatbin.kernel[0].shared_bytes, 1424);
    assert_int_equal(fatbin.kernel[0].local_bytes, 128);
    assert_string_equal(fatbin.kernel[1].name, "beta");
    assert_int_equal(fatbin.kernel[1].registers, 21);
    assert_int_equal(fatbin.kernel[1].local_bytes, 0);
    assert_int_equal(fatbin.kernel[2].sm, 90);
    assert_int_equal(fatbin.kernel[2].shared_bytes, 1424 - 1024);
    assert_ptr_equal(fatbin_kernel(&fatbin, "alpha"), &fatbin.kernel[2]);
    assert_ptr_equal(fatbin_kernel(&fatbin, "beta"), &fatbin.kernel[3]);
    assert_null(fatbin_kernel(&fatbin, "aleph"));
    assert_null(fatbin_kernel(&fatbin, "gamma"));
    fatbin_close(&fatbin);
}

static void malformed_containers(void **state)
{
    (void)state;
    static Image image;
    static const char zeros[1 << 15];
    assert_refused("", 0, "neither a fat binary nor PTX text (0 bytes)");
    assert_refused("int main", 8, "neither a fat binary nor PTX text");
    image_start(&image);
    assert_refused(image.bytes, 8, "fat binary: truncated (8 bytes)");
    assert_refused(image.bytes, image.size, "no PTX inside; compile with -arch=compute_80");
    image_add_text(&image, 80, ZSTD, NEW);
    assert_refused(image.bytes, image.size - 1, "fat binary: truncated");
    put(&image, 8, 40, 8);
    assert_refused(image.bytes, image.size, "fat binary: entry 1 is truncated");
    put(&image, 8, UINT64_MAX - 15, 8);
    assert_refused(image.bytes, image.size, "fat binary: truncated");
    assert_int_equal(fatbin_image_bytes(image.bytes), 0);

    const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
        const char *message;
    } field[] = {
        {4, 4, 0, "entry 1 is truncated"},
        {4, 4, 0xffffffff, "entry 1 is truncated"},
        {8, 8, UINT64_MAX - 79, "entry 1 is truncated"},
        {16, 4, 100000, "entry 1 is truncated"},
        {56, 8, 1 << 20, "entry 1 does not unpack: damaged data"},
        {56, 8, 5, "entry 1 does not unpack: damaged data"},
        {56, 8, UINT64_MAX, "entry 1 unpacks to more than 64 MiB"},
        {56, 8, (64 << 20) + 1, "entry 1 unpacks to more than 64 MiB"},
        {40, 8, LZ4, "entry 1 does not unpack: damaged data"},
        {0, 2, 8, "no PTX inside"},
    };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        image_start(&image);
        image_add_text(&image, 80, ZSTD, NEW);
        put(&image, 16 + field[i].at, field[i].value, field[i].bytes);
        assert_refused(image.bytes, image.size, field[i].message);
    }
    image_start(&image); /* more entries of zeros than one may unpack */
    image_add(&image, PTX, 80, LZ4, zeros, sizeof zeros, NULL);
    put(&image, 16 + 56, (64 << 20) - 1, 8);
    assert_refused(image.bytes, image.size, "does not unpack");
}

static void relocatable_code(void **state)
{
    (void)state;
    static Image image;
    static Cubin cubin;
    image_start(&image);
    image_add(&image, PTX, 80, ZSTD, NEW, strlen(NEW), "--compile-only  ");
    assert_refused(image.bytes, image.size,
                   "relocatable device code (-rdc=true) that was not linked");
    image_start(&image);
    cubin_make(&cubin, ET_REL, 0);
    image_add(&image, ELF, 80, PLAIN, cubin.bytes, cubin.size, NULL);
    assert_refused(image.bytes, image.size,
                   "relocatable device code (-rdc=true) that was not linked");
    image_start(&image);
    image_add(&image, PTX, 80, ZSTD, NEW, strlen(NEW), "--generate-line-info ");
    assert_holds(image.bytes, image.size, NEW, 80);
}

static void assert_cubin_refused(Cubin *cubin, const char *message)
{
    static Image image;
    image_start(&image);
    image_add_text(&image, 80, PLAIN, NEW);
    image_add(&image, ELF, 80, PLAIN, cubin->bytes, cubin->size, NULL);
    assert_refused(image.bytes, image.size, message);
}

static void malformed_cubins(void **state)
{
    (void)state;
    static Cubin cubin;
    const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
        const char *message;
    } field[] = {
        {0, 1, 0, "no 64-bit ELF"},
        {4, 1, ELFCLASS32, "no 64-bit ELF"},
        {40, 8, UINT64_MAX, "section headers outside"},
        {58, 2, 7, "section headers outside"},
        {60, 2, 65535, "section headers outside"},
        {62, 2, 8, "no section names"},
    };
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        cubin_make(&cubin, ET_EXEC, 0);
        memcpy(cubin.bytes + field[i].at, &field[i].value, field[i].bytes);
        assert_cubin_refused(&cubin, field[i].message);
    }
    cubin_make(&cubin, ET_EXEC, 0);
    cubin.size = 20;
    assert_cubin_refused(&cubin, "shorter than its header");
    cubin_make(&cubin, ET_EXEC, 0);
    size_t sections = cubin.size - sizeof cubin.section;
    uint64_t far = UINT64_MAX - 3;
    memcpy(cubin.bytes + sections + 3 * sizeof(Elf64_Shdr) + 24, &far, sizeof far);
    assert_cubin_refused(&cubin, "symbols outside");
}

static void damaged_images(void **state)
{
    (void)state;
    static Image image, copy;
    static Cubin cubin;
    uint64_t random = 7;
    for (int i = 0; i < 4000; i++) {
        const unsigned flags[] = {PLAIN, LZ4, ZSTD};
        image_start(&image);
        cubin_make(&cubin, ET_EXEC, i & 1);
        if (i % 3) /* damage inside the packing */
            cubin.size = mutate(cubin.bytes, cubin.size, sizeof cubin.bytes, &random);
        image_add(&image, ELF, 90, flags[i / 3 % 3], cubin.bytes, cubin.size, NULL);
        image_add_text(&image, 90, flags[i % 3], TEST_PTX_TEXT);
        copy = image;
        if (i % 3 == 0) copy.size = mutate(copy.bytes, copy.size, sizeof copy.bytes, &random);
        unsigned char *exact = malloc(copy.size ? copy.size : 1);
        assert_non_null(exact);
        memcpy(exact, copy.bytes, copy.size);
        LLVMFuzzerTestOneInput(exact, copy.size);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_text),
        cmocka_unit_test(every_packing),
        cmocka_unit_test(highest_target_wins),
        cmocka_unit_test(kernels_of_cubins),
        cmocka_unit_test(malformed_containers),
        cmocka_unit_test(relocatable_code),
        cmocka_unit_test(malformed_cubins),
        cmocka_unit_test(damaged_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
