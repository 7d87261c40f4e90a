/* memory.c - device memory: one large reservation, a table of what was given out, and a bitmap of
 * what was written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/simulator/core/layout.h"
#include "common/simulator/core/memory.h"

/* Address space is free, memory is not: everything is reserved at the start and committed by the
 * first touch. */
enum { ALIGN = 256, GAP = 4096, PAGE = 4096 };
static const uint64_t LEAST_RESERVED = 256ull << 20, GIVE_BACK = 1 << 20;

void *address_space(uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void *zeros_alloc(size_t count, size_t bytes)
{
    enum { LINE = 64 };
    size_t all = (count * bytes / LINE + 1) * LINE;
    void *zeros = aligned_alloc(LINE, all);
    return zeros ? memset(zeros, 0, all) : NULL;
}

int memory_open(Memory *memory, uint64_t capacity, int initcheck, Error *error)
{
    memset(memory, 0, sizeof *memory);
    /* Twice the capacity, so that freed ranges need not be reused soon and can still be named. */
    uint64_t want = capacity < LEAST_RESERVED ? LEAST_RESERVED : capacity;
    for (want *= 2; want >= LEAST_RESERVED; want /= 2) {
        memory->host = address_space(want);
        if (!memory->host) continue;
        if (!initcheck || (memory->shadow = address_space(want / 8))) break;
        munmap(memory->host, want);
        memory->host = NULL;
    }
    if (!memory->host)
        return error_set(error, "cannot reserve address space for the simulated device memory; "
                                "raise the limit on virtual memory (ulimit -v)");
    memory->reserved = want;
    memory->capacity = capacity < want ? capacity : want;
    return 0;
}

static uint64_t pages_of(uint64_t bytes)
{
    return bytes ? (bytes + PAGE - 1) / PAGE * PAGE : PAGE;
}

/* The program's view of managed memory goes with it; ours is that of all device memory again. */
static void managed_close(Allocation *a)
{
    if (!a->managed) return;
    munmap((void *)(uintptr_t)a->address, pages_of(a->bytes));
    mmap(a->host, pages_of(a->bytes), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    a->managed = 0;
}

void memory_close(Memory *memory)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        managed_close(memory->table[i]);
        free(memory->table[i]);
    }
    free(memory->table);
    if (memory->host) munmap(memory->host, memory->reserved);
    if (memory->shadow) munmap(memory->shadow, memory->reserved / 8);
    memset(memory, 0, sizeof *memory);
}

/* The number of entries whose address is not above `address`. */
static uint32_t entries_up_to(const Memory *memory, uint64_t address)
{
    uint32_t low = 0, high = memory->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory->table[middle]->address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Allocation *memory_find(const Memory *memory, uint64_t address)
{
    uint32_t n = entries_up_to(memory, address);
    if (!n) return NULL;
    Allocation *a = memory->table[n - 1];
    return address - a->address < a->bytes ? a : NULL;
}

static int table_insert(Memory *memory, Allocation *allocation, Error *error)
{
    if (memory->count == memory->room) {
        uint32_t room = memory->room ? memory->room * 2 : 64;
        Allocation **table = realloc(memory->table, room * sizeof *table);
        if (!table) return error_set(error, "out of host memory for the table of allocations");
        memory->table = table;
        memory->room = room;
    }
    uint32_t at = entries_up_to(memory, allocation->address);
    memmove(memory->table + at + 1, memory->table + at,
            (memory->count - at) * sizeof *memory->table);
    memory->table[at] = allocation;
    memory->count++;
    return 0;
}

static void table_remove(Memory *memory, uint32_t at)
{
    free(memory->table[at]);
    memory->count--;
    memmove(memory->table + at, memory->table + at + 1,
            (memory->count - at) * sizeof *memory->table);
}

static uint64_t extent_of(uint64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN + GAP;
}

/* When the reservation is used up for the first time, freed ranges are removed from the table, and
 * from then on the first hole that fits is used. */
static int hole_find(Memory *memory, uint64_t extent, uint64_t *offset)
{
    for (uint32_t i = memory->count; i-- > 0;)
        if (memory->table[i]->freed && !memory->table[i]->kept && !memory->table[i]->heap)
            table_remove(memory, i);
    uint64_t at = 0;
    for (uint32_t i = 0; i <= memory->count; i++) {
        uint64_t end =
            i < memory->count ? memory->table[i]->address - DEVICE_BASE : memory->reserved;
        if (end >= at && end - at >= extent) {
            *offset = at;
            return 0;
        }
        if (i < memory->count) at = end + extent_of(memory->table[i]->bytes);
    }
    return -1;
}

Allocation *memory_place(Memory *memory, uint64_t address, uint64_t bytes)
{
    Allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    *a = (Allocation){.address = address,
                      .bytes = bytes,
                      .host = memory->host + (address - DEVICE_BASE),
                      .serial = ++memory->serial};
    if (table_insert(memory, a, NULL) == 0) return a;
    free(a);
    return NULL;
}

int memory_reserve(Memory *memory, uint64_t bytes, uint64_t *address, Error *error)
{
    uint64_t extent = extent_of(bytes);
    if (extent > memory->reserved - memory->next)
        return error_set(error, "out of device memory: no hole of %llu bytes is left",
                         (unsigned long long)bytes);
    *address = DEVICE_BASE + memory->next;
    memory->next += extent;
    return 0;
}

int memory_alloc(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made, Error *error)
{
    if (bytes > memory->capacity - memory->used)
        return error_set(error, "out of device memory: %llu bytes asked for, %llu of %llu free",
                         (unsigned long long)bytes,
                         (unsigned long long)(memory->capacity - memory->used),
                         (unsigned long long)memory->capacity);
    uint64_t extent = extent_of(bytes), offset = memory->next;
    if (extent > memory->reserved - memory->next) {
        if (hole_find(memory, extent, &offset) != 0)
            return error_set(error, "out of device memory: no hole of %llu bytes is left",
                             (unsigned long long)bytes);
    } else {
        memory->next += extent;
    }
    Allocation *a = memory_place(memory, DEVICE_BASE + offset, bytes);
    if (!a) return error_set(error, "out of host memory for an allocation");
    memory->used += bytes;
    if (memory->shadow) memory_mark(memory, a->address, bytes, 0);
    *address = a->address;
    if (made) *made = a;
    return 0;
}

/* The same pages twice: where device memory keeps the allocation, and at its own address. */
static int managed_open(Allocation *a)
{
    uint64_t bytes = pages_of(a->bytes);
    int fd = memfd_create("managed", MFD_CLOEXEC), rights = PROT_READ | PROT_WRITE;
    if (fd < 0) return -1;
    void *own = MAP_FAILED, *at = (void *)(uintptr_t)a->address;
    if (ftruncate(fd, (off_t)bytes) == 0)
        own = mmap(at, bytes, rights, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    if (own != MAP_FAILED && own != at) munmap(own, bytes); /* an old kernel takes it for a hint */
    int failed =
        own != at || mmap(a->host, bytes, rights, MAP_SHARED | MAP_FIXED, fd, 0) != a->host;
    close(fd);
    a->managed = !failed;
    return failed ? -1 : 0;
}

int memory_alloc_managed(Memory *memory, uint64_t bytes, uint64_t *address, Allocation **made,
                         Error *error)
{
    uint64_t begin = pages_of(memory->next + 1);
    Allocation *a;
    if (bytes > memory->capacity - memory->used ||
        pages_of(bytes) + PAGE + GAP > memory->reserved ||
        begin > memory->reserved - pages_of(bytes) - PAGE - GAP)
        return error_set(error, "out of device memory: %llu bytes of managed memory asked for",
                         (unsigned long long)bytes);
    memory->next = begin;
    if (memory_alloc(memory, bytes, address, &a, error) != 0) return -1;
    memory->next = pages_of(memory->next);
    memory_mark(memory, a->address, bytes, 1);
    a->initialised = 1;
    if (made) *made = a;
    if (managed_open(a) == 0) return 0;
    memory_free(memory, *address, NULL);
    return error_set(error, "this process has something else where managed memory would be");
}

/* The allocation that returned this address, freed or not; NULL with an error. */
static Allocation *allocation_at(const Memory *memory, uint64_t address, Error *error)
{
    uint32_t n = entries_up_to(memory, address);
    Allocation *a = n && memory->table[n - 1]->address == address ? memory->table[n - 1] : NULL;
    if (a && !a->name && !a->heap) return a;
    char near[256];
    memory_describe(memory, address, near, sizeof near);
    error_set(error, "free of 0x%llx, which no allocation returned: it is %s",
              (unsigned long long)address, near);
    return NULL;
}

int memory_retire(Memory *memory, uint64_t address, int retired, Error *error)
{
    Allocation *a = allocation_at(memory, address, error);
    if (!a) return -1;
    if (a->freed && !a->kept)
        return error_set(error, "the allocation at 0x%llx is already free",
                         (unsigned long long)address);
    a->freed = a->kept = retired;
    return 0;
}

int memory_free(Memory *memory, uint64_t address, Error *error)
{
    Allocation *a = allocation_at(memory, address, error);
    if (!a) return -1;
    if (a->freed && !a->kept)
        return error_set(error, "double free: the %llu-byte allocation at 0x%llx is already free",
                         (unsigned long long)a->bytes, (unsigned long long)address);
    a->freed = 1;
    a->kept = 0;
    a->initialised = 0;
    managed_close(a);
    memory->used -= a->bytes;
    if (a->bytes >= GIVE_BACK) {
        uint64_t page = 4096, from = (a->address - DEVICE_BASE + page - 1) / page * page;
        uint64_t to = (a->address - DEVICE_BASE + a->bytes) / page * page;
        if (to > from) madvise(memory->host + from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void memory_describe_from(const Memory *memory, const Allocation *a, uint64_t address, char *text,
                          size_t bytes)
{
    const char *kind = a->name ? "variable " : "allocation", *own = a->name ? a->name
                                                                    : a->heap
                                                                        ? " of the device heap"
                                                                        : "";
    uint64_t end = a->address + a->bytes;
    if (a->array.rank) {
        array_place(&a->array, (int64_t)(address - a->address), text, bytes);
        return;
    }
    if (!a->name && !a->heap && memory->arrays) own = " of your own";
    snprintf(text, bytes, "%llu bytes %s %s %llu-byte %s%s at 0x%llx",
             (unsigned long long)(address < a->address ? a->address - address
                                  : address < end      ? address - a->address
                                                       : address - end),
             address < a->address ? "before"
             : address < end      ? "into"
                                  : "past the end of",
             a->freed && address >= a->address ? "a freed" : "a", (unsigned long long)a->bytes,
             kind, own, (unsigned long long)a->address);
}

/* Systems of 64 bits keep a program's heap, variables and stack in the upper part of what programs
 * may have. */
static int of_program(uint64_t address)
{
    return address >> 46 && !(address >> 48);
}

void memory_describe(const Memory *memory, uint64_t address, char *text, size_t bytes)
{
    uint32_t n = entries_up_to(memory, address);
    const Allocation *below = n ? memory->table[n - 1] : NULL;
    const Allocation *above = n < memory->count ? memory->table[n] : NULL;
    uint64_t after = below ? address - below->address : UINT64_MAX;
    uint64_t before = above ? above->address - address : UINT64_MAX;
    uint64_t past = below && after >= below->bytes ? after - below->bytes : 0;
    if (below && past <= before && past < (1ull << 40))
        memory_describe_from(memory, below, address, text, bytes);
    else if (above && before < (1ull << 40))
        memory_describe_from(memory, above, address, text, bytes);
    else
        snprintf(text, bytes, "not near any allocation%s",
                 address < PAGE        ? " (a null pointer?)"
                 : of_program(address) ? " (a pointer to the program's own memory?)"
                                       : "");
}

void memory_element(const Memory *memory, uint64_t address, char *text, size_t bytes)
{
    const Allocation *a = memory_find(memory, address);
    *text = 0;
    if (!a || !a->array.rank || bytes < 3) return;
    memcpy(text, ", ", 3);
    array_place(&a->array, (int64_t)(address - a->address), text + 2, bytes - 2);
}

int memory_name(Memory *memory, uint64_t address, const ArrayName *array, Error *error)
{
    Allocation *a = allocation_at(memory, address, error);
    if (!a) return -1;
    a->array = *array;
    memory->arrays = 1;
    return 0;
}

Allocation *memory_range(const Memory *memory, uint64_t address, uint64_t bytes, Error *error)
{
    uint32_t n = entries_up_to(memory, address);
    Allocation *a = n ? memory->table[n - 1] : NULL;
    if (a && !a->freed && !a->heap && address - a->address <= a->bytes &&
        bytes <= a->bytes - (address - a->address))
        return a;
    char near[256];
    memory_describe(memory, address, near, sizeof near);
    uint64_t there = a && !a->freed && !a->heap && address - a->address < a->bytes
                         ? a->bytes - (address - a->address)
                         : 0;
    if (there)
        error_set(
            error,
            "%llu bytes from 0x%llx on are more than the %llu that are there: the address is %s",
            (unsigned long long)bytes, (unsigned long long)address, (unsigned long long)there,
            near);
    else
        error_set(error, "%llu bytes at 0x%llx do not lie in one allocation%s: the address is %s",
                  (unsigned long long)bytes, (unsigned long long)address,
                  a && a->heap ? " that the host can reach" : "", near);
    return NULL;
}

/* Marks 64 bytes; other host threads may mark others of them. Marked bytes are not written again,
 * because the cache line would then move between cores. */
static void word_mark(uint64_t *marks, uint64_t bits, int written)
{
    uint64_t now = __atomic_load_n(marks, __ATOMIC_RELAXED);
    if ((now & bits) == (written ? bits : 0)) return;
    if (!~bits)
        __atomic_store_n(marks, written ? bits : 0, __ATOMIC_RELAXED);
    else if (written)
        __atomic_fetch_or(marks, bits, __ATOMIC_RELAXED);
    else
        __atomic_fetch_and(marks, ~bits, __ATOMIC_RELAXED);
}

void memory_mark(Memory *memory, uint64_t address, uint64_t bytes, int written)
{
    enum { WORD = 64 };
    uint64_t *marks = (uint64_t *)(void *)memory->shadow;
    uint64_t first = address - DEVICE_BASE, end = first + bytes;
    if (!marks) return;
    while (first < end) {
        uint64_t next = first / WORD * WORD + WORD, left = next < end ? 0 : next - end;
        word_mark(&marks[first / WORD], ~0ull >> left & ~0ull << first % WORD, written);
        first = next;
    }
}

int memory_is_written(const Memory *memory, uint64_t address, uint64_t bytes)
{
    if (!memory->shadow) return 1;
    uint64_t first = address - DEVICE_BASE, end = first + bytes;
    while (first < end) {
        if ((first & 7) == 0 && end - first >= 8) {
            if (memory->shadow[first / 8] != 0xff) return 0;
            first += 8;
        } else {
            if (!(memory->shadow[first / 8] >> (first & 7) & 1)) return 0;
            first++;
        }
    }
    return 1;
}

enum { MARKS = 56 }; /* marks that eight bytes of the bitmap hold at any alignment */

static uint64_t marks_get(const Memory *memory, uint64_t first, uint32_t count)
{
    uint64_t word;
    memcpy(&word, memory->shadow + first / 8, sizeof word);
    return word >> (first & 7) & ((1ull << count) - 1);
}

static void marks_put(Memory *memory, uint64_t first, uint32_t count, uint64_t marks)
{
    uint64_t word, mask = ((1ull << count) - 1) << (first & 7);
    memcpy(&word, memory->shadow + first / 8, sizeof word);
    word = (word & ~mask) | marks << (first & 7);
    memcpy(memory->shadow + first / 8, &word, sizeof word);
}

/* Backwards where the ranges overlap that way, as memmove does. */
void memory_marks_copy(Memory *memory, uint64_t to, uint64_t from, uint64_t bytes)
{
    if (!memory->shadow) return;
    for (uint64_t done = 0; done < bytes;) {
        uint32_t count = bytes - done < MARKS ? (uint32_t)(bytes - done) : MARKS;
        uint64_t at = to > from ? bytes - done - count : done;
        marks_put(memory, to - DEVICE_BASE + at, count,
                  marks_get(memory, from - DEVICE_BASE + at, count));
        done += count;
    }
}

/* Inserts `a` into the list of the `told` oldest, at most `most` of them; returns the new
 * number. */
static uint32_t oldest_add(const Allocation **oldest, uint32_t told, uint32_t most,
                           const Allocation *a)
{
    uint32_t i = told < most ? told : most;
    for (; i > 0 && oldest[i - 1]->serial > a->serial; i--)
        if (i < most) oldest[i] = oldest[i - 1];
    if (i < most) oldest[i] = a;
    return told < most ? told + 1 : most;
}

uint64_t memory_leaks(const Memory *memory, char *text, size_t bytes)
{
    enum { TOLD = 4 };
    const Allocation *oldest[TOLD];
    uint64_t count = 0;
    uint32_t told = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        const Allocation *a = memory->table[i];
        if (a->freed || a->name) continue; /* a variable is not the program's own */
        told = oldest_add(oldest, told, TOLD, a);
        count++;
    }
    if (bytes) text[0] = '\0';
    for (uint32_t i = 0; i < told && bytes; i++) {
        const Allocation *a = oldest[i];
        size_t used = strlen(text);
        snprintf(text + used, bytes - used, "%s%llu bytes at 0x%llx (%s %llu)", used ? ", " : "",
                 (unsigned long long)a->bytes, (unsigned long long)a->address,
                 a->heap ? "on the device heap, allocation" : "allocation",
                 (unsigned long long)a->serial);
    }
    return count;
}
