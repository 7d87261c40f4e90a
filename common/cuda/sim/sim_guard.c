#include "common/cuda/sim/sim_guard.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
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

/* The words of a group of 64 that unfinished work read and wrote. */
typedef struct GroupUse {
    uint64_t read, written;
} GroupUse;

static GroupUse group_use(const SimtTouch *touch, uint64_t group)
{
    if (group >= touch->groups) return (GroupUse){0};
    return (GroupUse){touch->bits[SIMT_TOUCH_READ][group],
                      touch->bits[SIMT_TOUCH_WRITE][group] | touch->bits[SIMT_TOUCH_ATOMIC][group]};
}

/* Access rights of the program to a page: none if operations wrote it, read if they read it. */
static int rights_of(const SimGuard *guard, uint64_t address)
{
    uint64_t first = (address - simt_memory_begin()) / GROUP, read = 0, written = 0;
    for (uint32_t w = 0; w < guard->works; w++)
        for (uint64_t i = first; i < first + GROUPS; i++) {
            GroupUse use = group_use(&guard->work[w].touch, i);
            read |= use.read, written |= use.written;
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
static void pages_take(const SimGuard *guard, SimtTouch *all, const SimtTouch *touch,
                       uint64_t address, uint64_t end)
{
    uint64_t begin = address;
    int rights = KEEP;
    for (; address < end; address += PAGE) {
        int next = page_add(all, touch, address) ? rights_of(guard, address) : KEEP;
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

static void work_drop(SimGuard *guard, uint32_t at)
{
    simt_touch_close(&guard->work[at].touch);
    guard->works--;
    memmove(&guard->work[at], &guard->work[at + 1], (guard->works - at) * sizeof *guard->work);
}

/* The work that an operation belongs to, with bit sets for at least `groups`; NULL: no memory. */
static GuardedWork *work_of(SimGuard *guard, const SimtGpu *gpu, OrderStamp stamp, uint64_t groups)
{
    GuardedWork *work = NULL;
    for (uint32_t i = 0; i < guard->works; i++)
        if (!memcmp(&guard->work[i].stamp, &stamp, sizeof stamp)) work = &guard->work[i];
    if (!work) {
        if (guard->works == GUARDED_WORKS) work_drop(guard, 0);
        work = &guard->work[guard->works++];
        *work = (GuardedWork){.stamp = stamp};
    }
    if (work->touch.groups < groups && touch_grow(&work->touch, gpu) != 0) return NULL;
    return work->touch.groups < groups ? NULL : work;
}

void guard_raise(SimGuard *guard, const SimtGpu *gpu, const SimtTouch *touch, const char *kernel,
                 OrderStamp stamp)
{
    uint64_t address, end;
    guard_enter(guard);
    GuardedWork *work = work_of(guard, gpu, stamp, touch->groups);
    if (work) {
        snprintf(work->kernel, sizeof work->kernel, "%s", kernel);
        work->launches++;
        for (uint32_t i = 0; simt_managed_pages(gpu, &i, &address, &end);)
            pages_take(guard, &work->touch, touch, address, end);
    }
    guard_leave(guard);
}

/* Sets the rights of all managed memory by the accesses so far, or opens it. */
static void rights_renew(SimGuard *guard, const SimtGpu *gpu, int opens)
{
    uint64_t address, end;
    for (uint32_t i = 0; simt_managed_pages(gpu, &i, &address, &end);) {
        uint64_t begin = address;
        int rights = KEEP;
        for (; address < end; address += PAGE) {
            int next = opens ? OPEN : rights_of(guard, address);
            if (next == rights) continue;
            rights_set(begin, address, rights);
            begin = address, rights = next;
        }
        rights_set(begin, end, rights);
    }
    guard->is_paused = opens;
}

void guard_pause(SimGuard *guard, const SimtGpu *gpu)
{
    if (!guard->works || guard->is_paused) return;
    guard_enter(guard);
    rights_renew(guard, gpu, 1);
    guard_leave(guard);
}

void guard_resume(SimGuard *guard, const SimtGpu *gpu)
{
    if (!guard->is_paused) return;
    guard_enter(guard);
    rights_renew(guard, gpu, 0);
    guard_leave(guard);
}

void guard_copy(SimGuard *guard, const SimtGpu *gpu, uint64_t address, uint64_t bytes, int writes)
{
    uint64_t first = (address - simt_memory_begin()) / 4,
             end = (address - simt_memory_begin() + bytes + 3) / 4;
    guard_enter(guard);
    GuardedWork *work = work_of(guard, gpu, guard->copied, (end + 63) / 64);
    if (work) {
        uint64_t *bits = work->touch.bits[writes ? SIMT_TOUCH_WRITE : SIMT_TOUCH_READ];
        for (uint64_t word = first; word < end; word++)
            bits[word / 64] |= 1ull << word % 64;
        snprintf(work->kernel, sizeof work->kernel, "an asynchronous copy");
        work->launches++, work->has_copies = 1;
    }
    rights_renew(guard, gpu, 0);
    guard_leave(guard);
}

void guard_settle(SimGuard *guard, const SimtGpu *gpu, const StreamOrder *order,
                  const uint32_t *stream)
{
    uint32_t before = guard->works;
    if (!before) return;
    guard_enter(guard);
    for (uint32_t i = before; i-- > 0;) {
        OrderStamp stamp = guard->work[i].stamp;
        if (stream_order_is_over(order, stamp) ||
            (stream && stream_order_precedes(order, stamp, *stream)))
            work_drop(guard, i);
        else
            guard->work[i].is_left = 1;
    }
    if (guard->works < before && !guard->is_paused) rights_renew(guard, gpu, 0);
    guard_leave(guard);
}

void guard_close(SimGuard *guard)
{
    while (guard->works)
        work_drop(guard, guard->works - 1);
}

void guard_lower(SimGuard *guard, const SimtGpu *gpu)
{
    if (!guard->works) return;
    guard_enter(guard);
    guard_close(guard);
    rights_renew(guard, gpu, 1);
    guard->is_paused = 0;
    guard_leave(guard);
}

static void kernel_name(const GuardedWork *work, char *text, size_t bytes)
{
    if (work->launches == 1)
        snprintf(text, bytes, "%s", work->kernel);
    else
        snprintf(text, bytes, "one of the last %u %s, up to %s,", work->launches,
                 work->has_copies ? "operations" : "kernels", work->kernel);
}

/* The last work that used the word; `written`: that wrote it. */
static const GuardedWork *work_find(const SimGuard *guard, uint64_t word, int written)
{
    for (uint32_t i = guard->works; i-- > 0;) {
        GroupUse use = group_use(&guard->work[i].touch, word / 64);
        if ((written ? use.written : use.read) >> word % 64 & 1) return &guard->work[i];
    }
    return NULL;
}

static void work_describe(const GuardedWork *work, const char *near, int written, char *text,
                          size_t bytes)
{
    char who[160];
    const char *what = work->has_copies ? "operation" : "kernel";
    kernel_name(work, who, sizeof who);
    int length = snprintf(text, bytes, "host code %s managed or pinned memory that %s %s, and ",
                          written ? "uses" : "writes", who, written ? "wrote" : "reads");
    if (length < 0 || (size_t)length >= bytes) return;
    if (work->is_left)
        snprintf(text + length, bytes - (size_t)length,
                 "the host has waited for other work since, but not for that %s "
                 "(cudaStreamSynchronize of its stream): %s",
                 what, near);
    else
        snprintf(text + length, bytes - (size_t)length,
                 "nothing has waited for that %s yet (cudaDeviceSynchronize): %s", what, near);
}

static int ask(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes)
{
    uint64_t page = address / PAGE * PAGE, word = (address - simt_memory_begin()) / 4;
    char near[256];
    *text = '\0';
    if (!simt_is_managed(gpu, address)) return 0;
    int rights = rights_of(guard, page), written = 1;
    const GuardedWork *work = work_find(guard, word, written);
    if (!work && rights == PROT_READ) work = work_find(guard, word, written = 0);
    rights_set(page, page + PAGE, OPEN);
    if (!work) return 1; /* other words of the page, or another thread has waited in between */
    simt_describe(gpu, address, near, sizeof near);
    work_describe(work, near, written, text, bytes);
    return 1;
}

int guard_access(SimGuard *guard, const SimtGpu *gpu, uint64_t address, char *text, size_t bytes)
{
    guard_enter(guard);
    int managed = ask(guard, gpu, address, text, bytes);
    guard_leave(guard);
    return managed;
}
