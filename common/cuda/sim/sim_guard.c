#include "common/cuda/sim/sim_guard.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, GROUP = 64 * 4, GROUPS = PAGE / GROUP };
enum { OPEN = PROT_READ | PROT_WRITE, KEEP = -1 };

/* A signal handler can only wait in this way. */
void guard_enter(SimGuard *guard)
{
    while (__atomic_exchange_n(&guard->busy, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

void guard_leave(SimGuard *guard)
{
    __atomic_store_n(&guard->busy, 0, __ATOMIC_RELEASE);
}

/* Access rights of the program to a page: none if launches wrote it, read if they read it. */
static int rights_of(const SimtTouch *touch, uint64_t address)
{
    uint64_t first = (address - simt_memory_begin()) / GROUP, read = 0, written = 0;
    for (uint64_t i = first; i < first + GROUPS && i < touch->groups; i++) {
        read |= touch->bits[SIMT_TOUCH_READ][i];
        written |= touch->bits[SIMT_TOUCH_WRITE][i] | touch->bits[SIMT_TOUCH_ATOMIC][i];
    }
    return written ? PROT_NONE : read ? PROT_READ : OPEN;
}

static void rights_set(uint64_t address, uint64_t end, int rights)
{
    if (rights != KEEP) mprotect((void *)(uintptr_t)address, end - address, rights);
}

/* Adds a launch's accesses of a page to the earlier ones; 0: none.  Words of zeros are not written,
 * because most memory of `all` is never touched and then needs no pages. */
static int page_add(SimtTouch *all, const SimtTouch *touch, uint64_t address)
{
    uint64_t first = (address - simt_memory_begin()) / GROUP;
    int used = 0;
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t i = first; i < first + GROUPS && i < touch->groups; i++)
            if (touch->bits[kind][i]) all->bits[kind][i] |= touch->bits[kind][i], used = 1;
    return used;
}

/* Changes the rights of adjacent pages with one call; pages that the launch did not use keep
 * theirs. */
static void pages_take(SimtTouch *all, const SimtTouch *touch, uint64_t address, uint64_t end)
{
    uint64_t begin = address;
    int rights = KEEP;
    for (; address < end; address += PAGE) {
        int next = page_add(all, touch, address) ? rights_of(all, address) : KEEP;
        if (next == rights) continue;
        rights_set(begin, address, rights);
        begin = address, rights = next;
    }
    rights_set(begin, end, rights);
}

/* Grows the bit sets to the present size of memory, keeping their contents. */
static int touch_grow(SimtTouch *all, const SimtGpu *gpu)
{
    SimtTouch room;
    if (simt_touch_open(gpu, &room) != 0) return -1;
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t i = 0; i < all->groups; i++)
            if (all->bits[kind][i]) room.bits[kind][i] = all->bits[kind][i];
    simt_touch_close(all);
    *all = room;
    return 0;
}

void guard_raise(SimGuard *guard, const SimtGpu *gpu, const SimtTouch *touch, const char *kernel)
{
    uint64_t address, end;
    guard_enter(guard);
    if (guard->touch.groups >= touch->groups || touch_grow(&guard->touch, gpu) == 0) {
        snprintf(guard->kernel, sizeof guard->kernel, "%s", kernel);
        guard->launches++;
        for (uint32_t i = 0; simt_managed_pages(gpu, &i, &address, &end);)
            pages_take(&guard->touch, touch, address, end);
    }
    guard_leave(guard);
}

/* Sets the rights of all managed memory by the accesses so far, or opens it. */
static void rights_renew(const SimGuard *guard, const SimtGpu *gpu, int opens)
{
    uint64_t address, end;
    for (uint32_t i = 0; simt_managed_pages(gpu, &i, &address, &end);)
        for (; address < end; address += PAGE)
            rights_set(address, address + PAGE, opens ? OPEN : rights_of(&guard->touch, address));
}

void guard_pause(SimGuard *guard, const SimtGpu *gpu)
{
    if (!guard->touch.groups) return;
    guard_enter(guard);
    rights_renew(guard, gpu, 1);
    guard_leave(guard);
}

void guard_copy(SimGuard *guard, const SimtGpu *gpu, uint64_t address, uint64_t bytes, int writes)
{
    uint64_t first = (address - simt_memory_begin()) / 4,
             end = (address - simt_memory_begin() + bytes + 3) / 4;
    guard_enter(guard);
    if ((guard->touch.groups * 64 >= end || touch_grow(&guard->touch, gpu) == 0) &&
        guard->touch.groups * 64 >= end) {
        uint64_t *bits = guard->touch.bits[writes ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ];
        for (uint64_t word = first; word < end; word++)
            bits[word / 64] |= 1ull << word % 64;
        snprintf(guard->kernel, sizeof guard->kernel, "an asynchronous copy");
        guard->launches++, guard->has_copies = 1;
        rights_renew(guard, gpu, 0);
    }
    guard_leave(guard);
}

void guard_lower(SimGuard *guard, const SimtGpu *gpu)
{
    uint64_t address, end;
    if (!guard->touch.groups) return;
    guard_enter(guard);
    for (uint32_t i = 0; simt_managed_pages(gpu, &i, &address, &end);)
        rights_set(address, end, OPEN);
    simt_touch_close(&guard->touch);
    guard->launches = 0, guard->has_copies = 0;
    guard_leave(guard);
}

static void kernel_name(const SimGuard *guard, char *text, size_t bytes)
{
    if (guard->launches == 1)
        snprintf(text, bytes, "%s", guard->kernel);
    else
        snprintf(text, bytes, "one of the last %u %s, up to %s,", guard->launches,
                 guard->has_copies ? "operations" : "kernels", guard->kernel);
}

static int ask(const SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text,
               size_t bytes)
{
    const SimtTouch *touch = &guard->touch;
    uint64_t page = address / PAGE * PAGE, word = (address - simt_memory_begin()) / 4;
    uint64_t group = word / 64, bit = 1ull << word % 64;
    *text = '\0';
    if (!simt_is_managed(gpu, address)) return 0;
    if (group >= touch->groups) return 1; /* another thread has waited in between */
    int rights = rights_of(touch, page);
    int written =
        ((touch->bits[SIMT_TOUCH_WRITE][group] | touch->bits[SIMT_TOUCH_ATOMIC][group]) & bit) != 0;
    int read = (touch->bits[SIMT_TOUCH_READ][group] & bit) != 0;
    char near[256], who[160];
    kernel_name(guard, who, sizeof who);
    rights_set(page, page + PAGE, OPEN);
    simt_describe(gpu, address, near, sizeof near);
    if (written || (read && rights == PROT_READ))
        snprintf(
            text, bytes,
            "host code %s managed or pinned memory that %s %s, and nothing has waited for that "
            "%s yet (cudaDeviceSynchronize): %s",
            written ? "uses" : "writes", who, written ? "wrote" : "reads",
            guard->has_copies ? "operation" : "kernel", near);
    return 1;
}

int guard_access(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes)
{
    guard_enter(guard);
    int managed = ask(guard, gpu, address, text, bytes);
    guard_leave(guard);
    return managed;
}
