/* dwarf_image.c - reads ".section .debug_info { .b8 1, 2 ... }" and writes an ELF image. */
#include "common/debugger/dwarf_image.h"

#include <ctype.h>
#include <elf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 12, NAME_BYTES = 40, SYMBOLS_MOST = 1 << 14, VALUE_WORDS = 4 };

typedef struct Section {
    char name[NAME_BYTES];
    char *data;
    size_t bytes, room;
} Section;

/* A label's value: a line of the text, or an offset into a section. */
typedef struct Label {
    const char *name; /* in the text */
    uint32_t length, hash;
    uint64_t value;
} Label;

typedef struct Reader {
    const char *text, *end;
    Section section[SECTIONS];
    int sections, second; /* the second time, labels are known */
    Label *label;
    uint32_t labels, label_room; /* label_room: capacity, a power of two */
    DwarfImage *image;
    Error *error;
} Reader;

static int is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == '@';
}

static uint32_t hash_of(const char *name, uint32_t length)
{
    uint32_t hash = 2166136261u;
    for (uint32_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

/* ---- labels ---- */

static Label *label_slot(Label *table, uint32_t room, const char *name, uint32_t length,
                         uint32_t hash)
{
    for (uint32_t i = hash & (room - 1);; i = (i + 1) & (room - 1)) {
        Label *label = &table[i];
        if (!label->name ||
            (label->hash == hash && label->length == length && !memcmp(label->name, name, length)))
            return label;
    }
}

static int labels_grow(Reader *r)
{
    uint32_t room = r->label_room ? r->label_room * 2 : 1024;
    Label *table = calloc(room, sizeof *table);
    if (!table) return error_set(r->error, "out of host memory for labels");
    for (uint32_t i = 0; i < r->label_room; i++)
        if (r->label[i].name)
            *label_slot(table, room, r->label[i].name, r->label[i].length, r->label[i].hash) =
                r->label[i];
    free(r->label);
    r->label = table, r->label_room = room;
    return 0;
}

static int label_add(Reader *r, const char *name, uint32_t length, uint64_t value)
{
    if (r->second) return 0;
    if (r->labels * 2 >= r->label_room && labels_grow(r) != 0) return -1;
    uint32_t hash = hash_of(name, length);
    Label *label = label_slot(r->label, r->label_room, name, length, hash);
    r->labels += !label->name;
    *label = (Label){name, length, hash, value};
    return 0;
}

static int label_find(const Reader *r, const char *name, uint32_t length, uint64_t *value)
{
    if (!r->label_room) return 0;
    const Label *label = label_slot(r->label, r->label_room, name, length, hash_of(name, length));
    if (label->name) *value = label->value;
    return label->name != NULL;
}

static int symbol_of(Reader *r, const char *name, uint32_t length, uint64_t *address)
{
    DwarfImage *image = r->image;
    for (uint32_t i = 0; i < image->symbols; i++)
        if (strlen(image->symbol[i]) == length && !memcmp(image->symbol[i], name, length)) {
            *address = DWARF_SYMBOL + ((uint64_t)i << 32);
            return 0;
        }
    if (image->symbols == image->symbol_room) {
        uint32_t room = image->symbol_room ? image->symbol_room * 2 : 64;
        char **more =
            room > SYMBOLS_MOST ? NULL : realloc(image->symbol, room * sizeof *image->symbol);
        if (!more) return error_set(r->error, "too many variables in the debug information");
        image->symbol = more, image->symbol_room = room;
    }
    char *copy = strndup(name, length);
    if (!copy) return error_set(r->error, "out of host memory for debug information");
    *address = DWARF_SYMBOL + ((uint64_t)image->symbols << 32);
    image->symbol[image->symbols++] = copy;
    return 0;
}

/* ---- sections ---- */

static int section_put(Reader *r, Section *section, uint64_t value, uint32_t bytes)
{
    if (section->bytes + bytes > section->room) {
        size_t room = section->room ? section->room * 2 : 4096;
        char *more = realloc(section->data, room);
        if (!more) return error_set(r->error, "out of host memory for debug information");
        section->data = more, section->room = room;
    }
    for (uint32_t i = 0; i < bytes; i++)
        section->data[section->bytes++] = (char)(value >> 8 * i);
    return 0;
}

static const char *blanks_skip(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* One word of a value: a number, a section, a label or a variable. */
static const char *word_read(Reader *r, const char *at, const char *end, uint64_t *value)
{
    const char *from = at;
    *value = 0;
    if (at < end && isdigit((unsigned char)*at)) {
        int hex = end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
        for (at += hex ? 2 : 0; at < end && isxdigit((unsigned char)*at); at++) {
            int digit = isdigit((unsigned char)*at) ? *at - '0' : (*at | 32) - 'a' + 10;
            if (digit > 9 && !hex) break;
            *value = *value * (hex ? 16 : 10) + (uint64_t)digit;
        }
        return at;
    }
    while (at < end && is_name(*at))
        at++;
    if (at == from || !r->second) return at == from ? NULL : at;
    uint32_t length = (uint32_t)(at - from);
    if (*from == '.') return at; /* another section: offsets count from its start */
    if (label_find(r, from, length, value)) return at;
    return symbol_of(r, from, length, value) == 0 ? at : NULL;
}

/* A value and what is added to it or taken from it. */
static const char *value_read(Reader *r, const char *at, const char *end, uint64_t *value)
{
    int minus = 0;
    *value = 0;
    for (int words = 0; words < VALUE_WORDS; words++) {
        uint64_t word;
        at = blanks_skip(at, end);
        if (at < end && *at == '-') minus = !minus, at = blanks_skip(at + 1, end);
        at = word_read(r, at, end, &word);
        if (!at) return NULL;
        *value = minus ? *value - word : *value + word;
        at = blanks_skip(at, end);
        if (at == end || (*at != '+' && *at != '-')) return at;
        minus = *at == '-';
        at++;
    }
    return NULL;
}

/* ".b8 1, 2, 3" */
static int data_read(Reader *r, Section *section, const char *at, const char *end)
{
    uint32_t bits = 0;
    for (at += 2; at < end && isdigit((unsigned char)*at) && bits < 1000; at++)
        bits = bits * 10 + (uint32_t)(*at - '0');
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        return error_set(r->error, "a section of debug information has a word of %u bits", bits);
    for (;;) {
        uint64_t value;
        at = value_read(r, at, end, &value);
        if (!at) return error_set(r->error, "a value in %s cannot be read", section->name);
        if (section_put(r, section, value, bits / 8) != 0) return -1;
        at = blanks_skip(at, end);
        if (at == end || *at != ',') return 0;
        at++;
    }
}

static Section *section_open(Reader *r, const char *at, const char *end)
{
    Section *section;
    at = blanks_skip(at, end);
    const char *from = at;
    while (at < end && is_name(*at))
        at++;
    size_t length = (size_t)(at - from);
    if (!length || length >= NAME_BYTES) return NULL;
    for (int i = 0; i < r->sections; i++)
        if (strlen(r->section[i].name) == length && !memcmp(r->section[i].name, from, length))
            return &r->section[i];
    if (r->sections == SECTIONS) return NULL;
    section = &r->section[r->sections++];
    memcpy(section->name, from, length);
    return section;
}

/* "$L__tmp5:", possibly followed by more. */
static int label_read(Reader *r, const char *at, const char *end, const Section *section,
                      uint64_t line)
{
    const char *from = at;
    while (at < end && is_name(*at))
        at++;
    if (at == from || at == end || *at != ':' || (at + 1 < end && at[1] == ':')) return 0;
    return label_add(r, from, (uint32_t)(at - from), section ? section->bytes : line);
}

static int starts(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && !memcmp(at, word, length);
}

static int text_read(Reader *r)
{
    Section *section = NULL;
    uint64_t line = 0;
    for (const char *at = r->text, *next; at < r->end; at = next) {
        const char *end = memchr(at, '\n', (size_t)(r->end - at));
        next = end ? end + 1 : r->end;
        end = end ? end : r->end;
        line++;
        at = blanks_skip(at, end);
        if (at == end || starts(at, end, "//")) continue;
        if (starts(at, end, ".section")) {
            section = section_open(r, at + 8, end);
            if (!section)
                return error_set(r->error,
                                 "PTX line %llu: a section without a name, or "
                                 "too many of them",
                                 (unsigned long long)line);
            section->bytes = 0;
            continue;
        }
        if (section && *at == '}') {
            section = NULL;
            continue;
        }
        if (section && starts(at, end, ".b")) {
            if (data_read(r, section, at, end) != 0) return -1;
            continue;
        }
        if (label_read(r, at, end, section, line) != 0) return -1;
    }
    return 0;
}

/* ---- the image ---- */

static int image_write(Reader *r)
{
    size_t names = 1 + sizeof ".shstrtab", bytes = sizeof(Elf64_Ehdr), at;
    for (int i = 0; i < r->sections; i++)
        bytes += r->section[i].bytes + 16, names += strlen(r->section[i].name) + 1;
    uint64_t table = (bytes + names + 63) / 64 * 64;
    size_t all = table + (size_t)(r->sections + 2) * sizeof(Elf64_Shdr);
    char *image = calloc(1, all);
    if (!image) return error_set(r->error, "out of host memory for debug information");
    Elf64_Ehdr *head = (Elf64_Ehdr *)(void *)image;
    Elf64_Shdr *entry = (Elf64_Shdr *)(void *)(image + table);
    memcpy(head->e_ident, ELFMAG, SELFMAG);
    head->e_ident[EI_CLASS] = ELFCLASS64, head->e_ident[EI_DATA] = ELFDATA2LSB;
    head->e_ident[EI_VERSION] = EV_CURRENT;
    head->e_type = ET_EXEC, head->e_machine = EM_X86_64, head->e_version = EV_CURRENT;
    head->e_ehsize = sizeof *head, head->e_shentsize = sizeof *entry, head->e_shoff = table;
    head->e_shnum = (Elf64_Half)(r->sections + 2), head->e_shstrndx = (Elf64_Half)(r->sections + 1);
    at = sizeof *head;
    size_t name = 1, string = table - names;
    for (int i = 0; i < r->sections; i++) {
        const Section *section = &r->section[i];
        at = (at + 15) / 16 * 16;
        if (section->bytes) memcpy(image + at, section->data, section->bytes);
        entry[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = at,
                                    .sh_size = section->bytes,
                                    .sh_addralign = 1};
        memcpy(image + string + name, section->name, strlen(section->name));
        name += strlen(section->name) + 1, at += section->bytes;
    }
    memcpy(image + string + name, ".shstrtab", sizeof ".shstrtab");
    entry[r->sections + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
                                          .sh_type = SHT_STRTAB,
                                          .sh_offset = string,
                                          .sh_size = names,
                                          .sh_addralign = 1};
    r->image->bytes = image;
    elf_version(EV_CURRENT);
    r->image->elf = elf_memory(image, all);
    r->image->dwarf = r->image->elf ? dwarf_begin_elf(r->image->elf, DWARF_C_READ, NULL) : NULL;
    if (r->image->dwarf) return 0;
    return error_set(r->error, "the debug information cannot be read: %s", dwarf_errmsg(-1));
}

int dwarf_image_open(const char *ptx, size_t bytes, DwarfImage *image, Error *error)
{
    Reader r = {.text = ptx, .end = ptx + bytes, .image = image, .error = error};
    int has_info = 0;
    *image = (DwarfImage){0};
    int status = text_read(&r);
    for (int i = 0; i < r.sections; i++)
        has_info |= !strcmp(r.section[i].name, ".debug_info") && r.section[i].bytes;
    r.second = 1;
    if (status == 0 && has_info) status = text_read(&r) != 0 || image_write(&r) != 0 ? -1 : 0;
    for (int i = 0; i < r.sections; i++)
        free(r.section[i].data);
    free(r.label);
    if (status != 0) dwarf_image_close(image);
    return status;
}

void dwarf_image_close(DwarfImage *image)
{
    if (image->dwarf) dwarf_end(image->dwarf);
    if (image->elf) elf_end(image->elf);
    for (uint32_t i = 0; i < image->symbols; i++)
        free(image->symbol[i]);
    free(image->symbol);
    free(image->bytes);
    *image = (DwarfImage){0};
}

const char *dwarf_image_symbol(const DwarfImage *image, uint64_t address, int64_t *offset)
{
    if (address < DWARF_SYMBOL / 2) return NULL;
    uint64_t whole = address - DWARF_SYMBOL + (1u << 31); /* offsets may be negative */
    uint32_t number = (uint32_t)(whole >> 32);
    if (number >= image->symbols) return NULL;
    *offset = (int64_t)(address - DWARF_SYMBOL - ((uint64_t)number << 32));
    return image->symbol[number];
}
