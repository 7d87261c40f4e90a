/* fatbin.c - the container that nvcc embeds in an object: finds the newest PTX, decompresses it,
 * and reads the cubins in the same container. */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/simulator/ptx/fatbin_cubin.h"
#include "common/simulator/ptx/ptx_link.h"

enum {
    MAGIC = 0xBA55ED50,
    HEADER_BYTES = 16,
    ENTRY_BYTES = 64, /* the part of an entry's header that is read here */
    KIND_PTX = 1,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    OPTIONS_BYTES = 4096 /* limit on the compiler's options after the entry's header */
};
#define MAX_IMAGE ((uint64_t)1 << 30)
#define MAX_PLAIN ((uint64_t)64 << 20)  /* one entry, unpacked */
#define MAX_TOTAL ((uint64_t)256 << 20) /* all that is unpacked of one fat binary */

typedef struct Entry {
    uint32_t kind, header, sm;
    uint64_t size, packed, plain, flags;
    const unsigned char *start; /* start of the header */
    size_t number;
} Entry;

typedef struct Reader {
    const unsigned char *image;
    size_t bytes;
    uint64_t unpacked;
    int is_part; /* Boolean: relocatable code is accepted, and cubins are not read */
    CubinWork work;
    Error *error;
} Reader;

static uint64_t number_at(const unsigned char *at, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* ---- raw PTX text ---- */

/* Whether the text starts, after white space and comments, with ".version". Stops at a NUL,
 * wherever `bytes` ends. */
static int is_ptx(const char *text, size_t bytes)
{
    static const char start[] = ".version";
    size_t at = 0;
    while (at < bytes && text[at]) {
        char c = text[at];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            at++;
        } else if (c == '/' && at + 1 < bytes && text[at + 1] == '/') {
            while (at < bytes && text[at] && text[at] != '\n')
                at++;
        } else {
            size_t same = 0;
            while (start[same] && at + same < bytes && text[at + same] == start[same])
                same++;
            return !start[same];
        }
    }
    return 0;
}

/* The N of ".target sm_N", 0 if there is none near the start. */
static uint32_t text_target(const char *text, size_t bytes)
{
    static const char word[] = ".target sm_";
    const char *at = memmem(text, bytes < 65536 ? bytes : 65536, word, sizeof word - 1);
    uint32_t target = 0;
    if (!at) return 0;
    for (at += sizeof word - 1; at < text + bytes && *at >= '0' && *at <= '9' && target < 1000;
         at++)
        target = 10 * target + (uint32_t)(*at - '0');
    return target;
}

size_t fatbin_image_bytes(const void *data)
{
    if (!data) return 0;
    uint32_t magic;
    /* Text may be shorter than four bytes, but then its NUL is not. */
    if (memchr(data, 0, 3) == NULL) {
        memcpy(&magic, data, sizeof magic);
        if (magic == MAGIC) {
            uint64_t header = number_at((const unsigned char *)data + 6, 2);
            uint64_t payload = number_at((const unsigned char *)data + 8, 8);
            return header >= HEADER_BYTES && payload <= MAX_IMAGE ? header + payload : 0;
        }
    }
    return is_ptx(data, SIZE_MAX) ? strlen(data) : 0;
}

/* ---- entries ---- */

static int entry_read(const Reader *reader, size_t at, size_t end, size_t number, Entry *entry)
{
    const unsigned char *start = reader->image + at;
    if (end - at < ENTRY_BYTES)
        return error_set(reader->error, "fat binary: entry %zu is truncated", number);
    *entry = (Entry){.kind = (uint32_t)number_at(start, 2),
                     .header = (uint32_t)number_at(start + 4, 4),
                     .size = number_at(start + 8, 8),
                     .packed = number_at(start + 16, 4),
                     .sm = (uint32_t)number_at(start + 28, 4),
                     .flags = number_at(start + 40, 8),
                     .plain = number_at(start + 56, 8),
                     .start = start,
                     .number = number};
    if (entry->header < ENTRY_BYTES || entry->header > end - at ||
        entry->size > end - at - entry->header)
        return error_set(reader->error, "fat binary: entry %zu is truncated", number);
    return 0;
}

/* Unpacks into memory of the caller's, NUL-terminated. */
static char *entry_unpack(Reader *reader, const Entry *entry, size_t *bytes)
{
    const char *from = (const char *)entry->start + entry->header;
    int packed = (entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    uint64_t plain = packed ? entry->plain : entry->size;
    if (plain > MAX_PLAIN || plain > MAX_TOTAL - reader->unpacked) {
        error_set(reader->error, "fat binary: entry %zu unpacks to more than %llu MiB",
                  entry->number, (unsigned long long)(MAX_PLAIN >> 20));
        return NULL;
    }
    if (packed && entry->packed > entry->size) {
        error_set(reader->error, "fat binary: entry %zu is truncated", entry->number);
        return NULL;
    }
    char *to = malloc(plain + 1);
    if (!to) {
        error_set(reader->error, "out of memory");
        return NULL;
    }
    int good = 1;
    if (entry->flags & FLAG_ZSTD)
        good = ZSTD_decompress(to, plain, from, entry->packed) == plain;
    else if (entry->flags & FLAG_LZ4)
        good = LZ4_decompress_safe(from, to, (int)entry->packed, (int)plain) == (int)plain;
    else
        memcpy(to, from, plain);
    if (!good) {
        error_set(reader->error, "fat binary: entry %zu does not unpack: damaged data",
                  entry->number);
        free(to);
        return NULL;
    }
    to[plain] = 0;
    reader->unpacked += plain;
    *bytes = plain;
    return to;
}

/* Relocatable code leaves its compiler's "--compile-only" in the header of its PTX. */
static int is_relocatable(const Entry *entry)
{
    static const char option[] = "--compile-only";
    size_t bytes = entry->header - ENTRY_BYTES;
    return memmem(entry->start + ENTRY_BYTES, bytes < OPTIONS_BYTES ? bytes : OPTIONS_BYTES, option,
                  sizeof option - 1) != NULL;
}

static int cubin_entry(Reader *reader, const Entry *entry, Fatbin *fatbin)
{
    size_t bytes;
    char *image = entry_unpack(reader, entry, &bytes);
    if (!image) return -1;
    int result = cubin_read((const unsigned char *)image, bytes, entry->sm, &reader->work, fatbin,
                            reader->error);
    free(image);
    return result;
}

static int cubins_read(Reader *reader, size_t at, size_t end, Fatbin *fatbin)
{
    for (size_t number = 1; at < end; number++) {
        Entry entry;
        if (entry_read(reader, at, end, number, &entry)) return -1;
        if (entry.kind == KIND_ELF && cubin_entry(reader, &entry, fatbin)) return -1;
        at += entry.header + entry.size;
    }
    return 0;
}

static int ptx_read(Reader *reader, const Entry *entry, Fatbin *fatbin)
{
    fatbin->ptx = entry_unpack(reader, entry, &fatbin->ptx_bytes);
    fatbin->ptx_target = entry->sm;
    while (fatbin->ptx && fatbin->ptx_bytes > 0 && !fatbin->ptx[fatbin->ptx_bytes - 1])
        fatbin->ptx_bytes--; /* entries are padded */
    return fatbin->ptx ? 0 : -1;
}

/* Reads the PTX first, because more is used of a cubin that was compiled from it. */
static int entries_read(Reader *reader, size_t begin, size_t end, Fatbin *fatbin)
{
    Entry best = {0};
    size_t at = begin;
    for (size_t number = 1; at < end; number++) {
        Entry entry;
        if (entry_read(reader, at, end, number, &entry)) return -1;
        if (entry.kind == KIND_PTX && !reader->is_part && is_relocatable(&entry))
            return error_set(reader->error,
                             "fat binary: relocatable device code (-rdc=true) that was not linked: "
                             "link with simnvcc, or compile without -rdc=true");
        if (entry.kind == KIND_PTX && (!best.start || entry.sm > best.sm)) best = entry;
        at += entry.header + entry.size;
    }
    if (best.start && ptx_read(reader, &best, fatbin)) return -1;
    if (!reader->is_part && cubins_read(reader, begin, end, fatbin)) return -1;
    if (best.start) return 0;
    return error_set(reader->error, "fat binary: no PTX inside; compile with "
                                    "-arch=compute_80 or another code=compute_NN, and without "
                                    "-rdc=true, whose linked code has none");
}

/* ---- kernels by name ---- */

static int by_name(const void *left, const void *right)
{
    const CubinKernel *a = *(const CubinKernel *const *)left,
                      *b = *(const CubinKernel *const *)right;
    int order = strcmp(a->name, b->name);
    if (order) return order;
    return a->sm != b->sm ? (a->sm < b->sm ? -1 : 1) : (a > b) - (a < b);
}

static int kernels_sort(Fatbin *fatbin, Error *error)
{
    fatbin->by_name = calloc((size_t)fatbin->kernels + 1, sizeof *fatbin->by_name);
    if (!fatbin->by_name) return error_set(error, "out of memory");
    for (uint32_t i = 0; i < fatbin->kernels; i++)
        fatbin->by_name[i] = &fatbin->kernel[i];
    qsort(fatbin->by_name, fatbin->kernels, sizeof *fatbin->by_name, by_name);
    return 0;
}

const CubinKernel *fatbin_kernel(const Fatbin *fatbin, const char *name)
{
    uint32_t from = 0, to = fatbin->kernels; /* end of the entries of this name */
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (strcmp(fatbin->by_name[middle]->name, name) <= 0)
            from = middle + 1;
        else
            to = middle;
    }
    return to && strcmp(fatbin->by_name[to - 1]->name, name) == 0 ? fatbin->by_name[to - 1] : NULL;
}

/* ---- opening ---- */

static int text_open(const char *text, size_t bytes, Fatbin *fatbin, Error *error)
{
    if (bytes > MAX_PLAIN)
        return error_set(error, "PTX of %zu bytes; the limit is %llu MiB", bytes,
                         (unsigned long long)(MAX_PLAIN >> 20));
    while (bytes > 0 && !text[bytes - 1])
        bytes--;
    fatbin->ptx = malloc(bytes + 1);
    if (!fatbin->ptx) return error_set(error, "out of memory");
    memcpy(fatbin->ptx, text, bytes);
    fatbin->ptx[bytes] = 0;
    fatbin->ptx_bytes = bytes;
    fatbin->ptx_target = text_target(text, bytes);
    return 0;
}

static int image_open(const void *image, size_t bytes, int is_part, Fatbin *fatbin, Error *error)
{
    Reader reader = {.image = image,
                     .bytes = bytes,
                     .is_part = is_part,
                     .work = {MAX_TOTAL, MAX_TOTAL},
                     .error = error};
    if (bytes < 4 || number_at(image, 4) != MAGIC) {
        if (is_ptx(image, bytes)) return text_open(image, bytes, fatbin, error);
        return error_set(error, "neither a fat binary nor PTX text (%zu bytes)", bytes);
    }
    if (bytes < HEADER_BYTES) return error_set(error, "fat binary: truncated (%zu bytes)", bytes);
    uint64_t header = number_at(reader.image + 6, 2), payload = number_at(reader.image + 8, 8);
    if (header < HEADER_BYTES || header > bytes || payload > bytes - header)
        return error_set(error, "fat binary: truncated (%zu bytes)", bytes);
    return entries_read(&reader, header, header + payload, fatbin);
}

int fatbin_open(const void *image, size_t bytes, Fatbin *fatbin, Error *error)
{
    *fatbin = (Fatbin){0};
    if (image_open(image, bytes, 0, fatbin, error) == 0 && kernels_sort(fatbin, error) == 0)
        return 0;
    fatbin_close(fatbin);
    return -1;
}

void fatbin_close(Fatbin *fatbin)
{
    for (uint32_t i = 0; i < fatbin->kernels; i++)
        sass_free(&fatbin->kernel[i].machine);
    free(fatbin->ptx);
    free(fatbin->kernel);
    free(fatbin->by_name);
    *fatbin = (Fatbin){0};
}

/* ---- device linking ---- */

static void number_put(unsigned char *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

/* A fat binary with one plain entry of PTX, and the entries of `linked`. */
static void *image_make(const void *linked, const char *ptx, size_t ptx_bytes, size_t *bytes,
                        Error *error)
{
    size_t padded = (ptx_bytes + 8) & ~(size_t)7, whole = fatbin_image_bytes(linked);
    size_t header = (size_t)number_at((const unsigned char *)linked + 6, 2);
    unsigned char *image = calloc(1, HEADER_BYTES + ENTRY_BYTES + padded + whole);
    if (!image || header < HEADER_BYTES || header > whole) {
        error_set(error, image ? "fat binary: damaged header" : "out of memory");
        free(image);
        return NULL;
    }
    unsigned char *entry = image + HEADER_BYTES, *text = entry + ENTRY_BYTES;
    *bytes = HEADER_BYTES + ENTRY_BYTES + padded + whole - header;
    number_put(image, MAGIC, 4);
    number_put(image + 4, 1, 2);
    number_put(image + 6, HEADER_BYTES, 2);
    number_put(image + 8, *bytes - HEADER_BYTES, 8);
    number_put(entry, KIND_PTX, 2);
    number_put(entry + 4, ENTRY_BYTES, 4);
    number_put(entry + 8, padded, 8);
    number_put(entry + 28, text_target(ptx, ptx_bytes), 4);
    memcpy(text, ptx, ptx_bytes);
    memcpy(text + padded, (const unsigned char *)linked + header, whole - header);
    return image;
}

void *fatbin_link(const void *linked, const void *const *image, size_t images, size_t *bytes,
                  Error *error)
{
    Fatbin *part = calloc(images + 1, sizeof *part);
    const char **text = calloc(images + 1, sizeof *text);
    void *made = NULL;
    size_t read = 0, ptx_bytes;
    if (!part || !text) error_set(error, "out of memory");
    for (; part && text && read < images; read++) {
        if (image_open(image[read], fatbin_image_bytes(image[read]), 1, &part[read], error)) break;
        text[read] = part[read].ptx;
    }
    if (part && text && read == images) {
        char *ptx = ptx_link(text, images, &ptx_bytes, error);
        if (ptx) made = image_make(linked, ptx, ptx_bytes, bytes, error);
        free(ptx);
    }
    for (size_t i = 0; part && i < images; i++)
        fatbin_close(&part[i]);
    free(part);
    free(text);
    return made;
}
