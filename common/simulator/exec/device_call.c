/* device_call.c - printf, assert, malloc and free as device code calls them. */
#include <stdio.h>
#include <string.h>

#include "common/base/demangle.h"
#include "common/simulator/checks/race.h"
#include "common/simulator/checks/report.h"
#include "common/simulator/checks/touch.h"
#include "common/simulator/core/debug_hook.h"
#include "common/simulator/exec/exec_parts.h"

/* A longer width or precision is cut: such a text could not be displayed. */
enum { WIDTH_DIGITS = 3 };

/* Cost in instructions of a printf, and of each group of characters of its format. */
enum { PRINT_CHARGE = 8 };

/* As many calls of a launch as CUDA's buffer of 1 MiB holds, and as much text of all launches:
 * what is printed beyond is lost. */
enum { PRINTS_MAX = 1 << 15, TEXT_MAX = 1 << 26 };

/* Offset of the caller's frame in the thread's local memory. */
static uint64_t frame_at(const Warp *warp, const Ins *ins, uint32_t lane)
{
    return ins->a == NO_SLOT ? 0 : ((const uint64_t *)(void *)(warp->file + ins->a))[lane];
}

/* Eight bytes of the thread's local memory: an argument of the call, as the calling convention left
 * it. */
static uint64_t argument_at(const Warp *warp, const Ins *ins, uint32_t lane, uint32_t argument)
{
    uint64_t value = 0, offset = ins->v[argument] + frame_at(warp, ins, lane);
    uint32_t size = warp->worker->launch->local_bytes;
    if (offset <= size && 8 <= size - offset)
        memcpy(&value, warp->local + (size_t)lane * size + offset, 8);
    return value;
}

/* Text at a generic address, truncated at `room`; "(bad pointer)" if the address is invalid. */
static void text_read(const Warp *warp, uint64_t address, char *text, size_t room)
{
    const Allocation *a = memory_find(&warp->worker->gpu->memory, address);
    size_t n = 0;
    if (!a || a->freed) {
        snprintf(text, room, "(bad pointer)");
        return;
    }
    uint64_t left = a->address + a->bytes - address;
    const char *from = (const char *)a->host + (address - a->address);
    while (n + 1 < room && n < left && from[n])
        text[n] = from[n], n++;
    text[n] = 0;
}

/* The argument buffer is a generic pointer to local memory. */
static uint64_t buffer_read(const Warp *warp, uint32_t lane, uint64_t buffer, uint32_t at,
                            uint32_t bytes)
{
    uint64_t value = 0, offset = buffer - LOCAL_WINDOW + at;
    uint32_t size = warp->worker->launch->local_bytes;
    if (offset <= size && bytes <= size - offset)
        memcpy(&value, warp->local + (size_t)lane * size + offset, bytes);
    return value;
}

/* Reads the next argument of a printf. */
static uint64_t value_take(const Warp *warp, uint32_t lane, uint64_t buffer, uint32_t bytes,
                           uint32_t *at)
{
    *at = (*at + bytes - 1) / bytes * bytes;
    uint64_t value = buffer_read(warp, lane, buffer, *at, bytes);
    *at += bytes;
    return value;
}

/* Flags, width and precision as they are, a width by argument as its number; without lengths, which
 * say how wide the argument is. */
static void form_take(const Warp *warp, uint32_t lane, const char *spec, size_t length,
                      uint64_t buffer, uint32_t *at, char *form, size_t room)
{
    enum { WIDEST = 999 };
    size_t keep = 0;
    uint32_t digits = 0;
    for (size_t i = 0; i + 1 < length && keep + 8 < room; i++) {
        digits = spec[i] >= '0' && spec[i] <= '9' ? digits + 1 : 0;
        if (digits > WIDTH_DIGITS || spec[i] == 'l' || spec[i] == 'h') continue;
        if (spec[i] != '*') {
            form[keep++] = spec[i];
            continue;
        }
        int width = (int)value_take(warp, lane, buffer, 4, at);
        width = width > WIDEST ? WIDEST : width < -WIDEST ? -WIDEST : width;
        keep += (size_t)snprintf(form + keep, room - keep, "%d", width);
    }
    form[keep] = 0;
}

static long long whole_of(uint64_t value, uint32_t bytes, int shorts, int is_signed)
{
    if (shorts >= 2) return is_signed ? (int8_t)value : (long long)(uint8_t)value;
    if (shorts == 1) return is_signed ? (int16_t)value : (long long)(uint16_t)value;
    return bytes == 4 && is_signed ? (int32_t)value : (long long)value;
}

/* One conversion: the length decided by us. */
static void conversion_print(const Warp *warp, uint32_t lane, const char *spec, size_t length,
                             uint64_t buffer, uint32_t *at, char *text, size_t room)
{
    char form[48], kind = spec[length - 1];
    int longs = 0, shorts = 0, is_float = strchr("fFeEgGaA", kind) != NULL;
    for (size_t i = 0; i + 1 < length; i++)
        longs += spec[i] == 'l', shorts += spec[i] == 'h';
    form_take(warp, lane, spec, length, buffer, at, form, sizeof form);
    size_t keep = strlen(form);
    uint32_t bytes = is_float || longs || kind == 's' || kind == 'p' ? 8 : 4;
    uint64_t value = value_take(warp, lane, buffer, bytes, at);
    if (is_float) {
        double x;
        memcpy(&x, &value, 8);
        snprintf(form + keep, sizeof form - keep, "%c", kind);
        snprintf(text, room, form, x);
    } else if (kind == 's') {
        char string[768];
        text_read(warp, value, string, sizeof string);
        snprintf(form + keep, sizeof form - keep, "s");
        snprintf(text, room, form, string);
    } else if (kind == 'c') {
        snprintf(form + keep, sizeof form - keep, "c");
        snprintf(text, room, form, (int)(unsigned char)value);
    } else if (kind == 'p') {
        snprintf(text, room, "0x%llx", (unsigned long long)value);
    } else {
        snprintf(form + keep, sizeof form - keep, "ll%c", kind);
        snprintf(text, room, form, whole_of(value, bytes, shorts, kind == 'd' || kind == 'i'));
    }
}

/* Prints, unless it is `quiet`; returns the number of conversions. Like printf on a GPU, it
 * supports only the lengths h and l and no precision by argument, and prints other conversions
 * literally. */
static int format_print(const Warp *warp, uint32_t lane, const char *format, uint64_t buffer,
                        int quiet)
{
    char text[1024];
    uint32_t at = 0;
    int count = 0;
    for (const char *c = format; *c; c++) {
        size_t length = *c == '%' ? 1 + strspn(c + 1, "-+ #0123456789.lh*") : 0;
        int known = length && c[length] && strchr("diouxXcspfFeEgGaA", c[length]) &&
                    !memmem(c, length, ".*", 2);
        if (!known) {
            if (!quiet) fputc(*c, stdout);
            c += *c == '%' && c[1] == '%';
            continue;
        }
        if (!quiet) {
            conversion_print(warp, lane, c, length + 1, buffer, &at, text, sizeof text);
            fputs(text, stdout);
        }
        c += length;
        count++;
    }
    return count;
}

/* Has this call a place in the buffer?  The first that has none says so. */
static int print_fits(Launch *launch, size_t text)
{
    static _Atomic size_t printed;
    if (__atomic_load_n(&launch->lost, __ATOMIC_RELAXED)) return 0;
    printed += text; /* about: it bounds the work */
    if (__atomic_fetch_add(&launch->prints, 1, __ATOMIC_RELAXED) < PRINTS_MAX && printed < TEXT_MAX)
        return 1;
    if (__atomic_exchange_n(&launch->lost, 1, __ATOMIC_RELAXED)) return 0;
    char name[256];
    demangle(launch->kernel->info.name, name, sizeof name);
    fprintf(stderr,
            "printf: more than a launch's buffer holds (%d calls; of CUDA's 1 MiB older text is "
            "lost): the rest of kernel %s's is not shown\n",
            PRINTS_MAX, name);
    return 0;
}

/* A debugger executes a part of the launch once more, whose output has been printed. */
static int is_shown_again(const Warp *warp)
{
    const DebugHook *debug = warp->worker->gpu->debug;
    return debug && debug->is_silent;
}

/* The kernel gets the number of the format's conversions, so that this is a read of its memory. */
static void format_read(Warp *warp, const Ins *ins, uint32_t lane, uint64_t address, char *format,
                        size_t room)
{
    text_read(warp, address, format, room);
    if (memory_find(&warp->worker->gpu->memory, address))
        touch_note_read(warp, ins, lane, address, (uint32_t)strlen(format) + 1);
}

int device_printf(Warp *warp, const Ins *ins)
{
    char format[1024];
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), size = warp->worker->launch->local_bytes;
        format_read(warp, ins, lane, argument_at(warp, ins, lane, 0), format, sizeof format);
        /* Output beyond the limit is dropped without a sign to the kernel, which could otherwise
         * detect a replay. */
        int quiet = is_shown_again(warp) || !print_fits(warp->worker->launch, strlen(format));
        uint32_t count =
            (uint32_t)format_print(warp, lane, format, argument_at(warp, ins, lane, 1), quiet);
        warp_charge(warp, PRINT_CHARGE + strlen(format) / PRINT_CHARGE);
        uint64_t result = (uint64_t)ins->imm + frame_at(warp, ins, lane);
        if (ins->imm >= 0 && result + 4 <= size)
            memcpy(warp->local + (size_t)lane * size + result, &count, 4);
    }
    fflush(stdout);
    return 0;
}

const Ins *device_assert(Warp *warp, const Ins *ins)
{
    uint32_t lane = (uint32_t)__builtin_ctz(warp->mask),
             line = (uint32_t)argument_at(warp, ins, lane, 2);
    char message[256], file[256], function[256];
    text_read(warp, argument_at(warp, ins, lane, 0), message, sizeof message);
    text_read(warp, argument_at(warp, ins, lane, 1), file, sizeof file);
    text_read(warp, argument_at(warp, ins, lane, 3), function, sizeof function);
    const char *slash = strrchr(file, '/');
    return fault_at(warp, ins, SIMT_TRAP, lane, 0, 0, "%s:%u: %s: assertion `%s' failed",
                    slash ? slash + 1 : file, line, function, message);
}

/* Cost in instructions of a lane's malloc or free. */
enum { HEAP_CHARGE = 8 };

void device_malloc(Warp *warp, const Ins *ins)
{
    Worker *worker = warp->worker;
    warp_charge(warp, HEAP_CHARGE * (uint64_t)__builtin_popcount(warp->mask));
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), size = worker->launch->local_bytes;
        int again;
        Allocation *a = heap_alloc(worker->gpu, argument_at(warp, ins, lane, 0), &again);
        if (again) {
            race_blocks_forget(worker->launch, a->address, a->bytes);
            worker->epoch++; /* nor with what its own block did there */
        }
        uint64_t address = a ? a->address : 0,
                 result = (uint64_t)ins->imm + frame_at(warp, ins, lane);
        if (result + sizeof address <= size)
            memcpy(warp->local + (size_t)lane * size + result, &address, sizeof address);
    }
    touch_note_heap(warp);
}

int device_free(Warp *warp, const Ins *ins)
{
    Worker *worker = warp->worker;
    warp_charge(warp, HEAP_CHARGE * (uint64_t)__builtin_popcount(warp->mask));
    for (uint32_t m = warp->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = argument_at(warp, ins, lane, 0);
        char near[256];
        HeapFree result = address ? heap_free(worker->gpu, address) : HEAP_FREE_DONE;
        if (result == HEAP_FREE_DONE) continue;
        memory_describe(&worker->gpu->memory, address, near, sizeof near);
        fault_at(warp, ins, SIMT_MEMCHECK, lane, address, 0,
                 "Malloc/Free error encountered: %s: the address is %s",
                 result == HEAP_FREE_TWICE ? "Device-side double free"
                                           : "Invalid pointer to device-side free",
                 near);
        return -1;
    }
    touch_note_heap(warp);
    return 0;
}
