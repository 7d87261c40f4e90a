/* history.c - checkpoints of device memory in pages that are shared. */
#include "common/debugger/history.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE_BYTES = 4096, LAUNCHES_MOST = 256, FOUND_MOST = 1000 };
static const uint64_t FIRST_SPACING = 1 << 19;

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int is_empty(const unsigned char *bytes, size_t count)
{
    return bytes[0] == 0 && !memcmp(bytes, bytes + 1, count - 1);
}

static void page_leave(History *history, Page *page)
{
    if (!page || --page->users) return;
    free(page);
    history->bytes -= sizeof *page;
}

static void checkpoint_free(History *history, Checkpoint *checkpoint)
{
    for (uint64_t i = 0; checkpoint->page && i < checkpoint->pages; i++)
        page_leave(history, checkpoint->page[i]);
    history->bytes -= checkpoint->page ? checkpoint->pages * sizeof *checkpoint->page : 0;
    history->bytes -= checkpoint->written_bytes;
    free(checkpoint->page), free(checkpoint->allocation), free(checkpoint->written);
    *checkpoint = (Checkpoint){0};
}

static void record_free(History *history, LaunchRecord *record)
{
    for (uint32_t i = 0; i < record->checkpoints; i++)
        checkpoint_free(history, &record->checkpoint[i]);
    free(record->checkpoint), free(record->change), free(record->found), free(record->params);
}

void history_close(History *history)
{
    for (uint32_t i = 0; i < history->launches; i++)
        record_free(history, &history->launch[i]);
    free(history->launch);
    *history = (History){0};
}

static const Checkpoint *newest(const History *history)
{
    for (uint32_t i = history->launches; i-- > 0;)
        if (history->launch[i].checkpoints)
            return &history->launch[i].checkpoint[history->launch[i].checkpoints - 1];
    return NULL;
}

/* The page as it is now; `before` is what the last checkpoint has of it. */
static Page *page_take(History *history, uint64_t number, Page *before, int *failed)
{
    const Memory *memory = &history->gpu->memory;
    unsigned char *host = memory->host + number * PAGE_BYTES,
                  *shadow = memory->shadow ? memory->shadow + number * (PAGE_BYTES / 8) : NULL;
    if (before && !memcmp(before->bytes, host, PAGE_BYTES) &&
        (!shadow || !memcmp(before->bytes + PAGE_BYTES, shadow, PAGE_BYTES / 8))) {
        before->users++;
        return before;
    }
    if (!before && is_empty(host, PAGE_BYTES) && (!shadow || is_empty(shadow, PAGE_BYTES / 8)))
        return NULL;
    Page *page = malloc(sizeof *page);
    if (!page) {
        *failed = 1;
        return NULL;
    }
    page->users = 1;
    memcpy(page->bytes, host, PAGE_BYTES);
    if (shadow) memcpy(page->bytes + PAGE_BYTES, shadow, PAGE_BYTES / 8);
    history->bytes += sizeof *page;
    return page;
}

static int checkpoint_take(History *history, uint64_t moment, uint64_t block, Checkpoint *made)
{
    const Memory *memory = &history->gpu->memory;
    const Checkpoint *before = newest(history);
    int failed = 0;
    *made = (Checkpoint){.moment = moment, .block = block, .serial = memory->serial};
    made->next = memory->next;
    made->pages = (memory->next + PAGE_BYTES - 1) / PAGE_BYTES;
    made->page = calloc(made->pages + 1, sizeof *made->page);
    made->allocation = calloc(memory->count + 1, sizeof *made->allocation);
    made->written_bytes = made->pages * (PAGE_BYTES / WRITE_PART_BYTES) / 8 + 1;
    made->written = calloc(made->written_bytes, 1);
    if (!made->page || !made->allocation || !made->written) {
        free(made->page), free(made->allocation), free(made->written);
        *made = (Checkpoint){0};
        return -1;
    }
    history->bytes += made->pages * sizeof *made->page + made->written_bytes;
    made->allocations = memory->count;
    for (uint32_t i = 0; i < memory->count; i++) {
        const Allocation *a = memory->table[i];
        made->allocation[i] = (AllocationState){a->address, a->bytes, (uint8_t)a->freed,
                                                (uint8_t)a->kept, (uint8_t)a->initialised};
        if (a->freed && !a->kept) continue;
        uint64_t first = (a->address - DEVICE_BASE) / PAGE_BYTES,
                 end = (a->address - DEVICE_BASE + a->bytes + PAGE_BYTES - 1) / PAGE_BYTES;
        for (uint64_t n = first; n < end && n < made->pages; n++)
            if (!made->page[n])
                made->page[n] = page_take(
                    history, n, before && n < before->pages ? before->page[n] : NULL, &failed);
    }
    if (failed || history->bytes > HISTORY_BYTES) {
        checkpoint_free(history, made);
        return -1;
    }
    return 0;
}

static int checkpoint_add(LaunchRecord *record, const Checkpoint *made)
{
    if (record->checkpoints == record->room) {
        uint32_t room = record->room ? record->room * 2 : 16;
        Checkpoint *more = realloc(record->checkpoint, room * sizeof *more);
        if (!more) return -1;
        record->checkpoint = more, record->room = room;
    }
    record->checkpoint[record->checkpoints++] = *made;
    return 0;
}

/* Adds the written parts of `from`. */
static void written_merge(Checkpoint *checkpoint, const Checkpoint *from)
{
    checkpoint->is_written_elsewhere |= from->is_written_elsewhere;
    if (from->written_bytes > checkpoint->written_bytes) checkpoint->is_written_elsewhere = 1;
    for (uint64_t i = 0; i < from->written_bytes && i < checkpoint->written_bytes; i++)
        checkpoint->written[i] |= from->written[i];
}

/* Every second checkpoint of the launch, but not the first. */
static void record_thin(History *history, LaunchRecord *record)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < record->checkpoints; i++) {
        if (i % 2) {
            written_merge(&record->checkpoint[kept - 1], &record->checkpoint[i]);
            checkpoint_free(history, &record->checkpoint[i]);
        } else {
            record->checkpoint[kept++] = record->checkpoint[i];
        }
    }
    record->checkpoints = kept;
    record->spacing *= 2;
}

static void oldest_drop(History *history)
{
    record_free(history, &history->launch[0]);
    memmove(history->launch, history->launch + 1, (--history->launches) * sizeof *history->launch);
}

/* Does the table of allocations still say what it did when the launch began? */
static int is_same_table(const History *history, const LaunchRecord *record)
{
    const Memory *memory = &history->gpu->memory;
    if (!record->checkpoints) return 0;
    const Checkpoint *start = &record->checkpoint[0];
    if (start->allocations > memory->count) return 0;
    for (uint32_t i = 0; i < start->allocations; i++) {
        const AllocationState *was = &start->allocation[i];
        const Allocation *a = memory->table[i];
        if (was->address != a->address || was->bytes != a->bytes || was->freed != a->freed)
            return 0;
    }
    return 1;
}

int history_launch(History *history, SimtKernel *kernel, const SimtLaunch *request)
{
    while (history->launches && (history->launches >= LAUNCHES_MOST ||
                                 !is_same_table(history, &history->launch[history->launches - 1])))
        oldest_drop(history);
    if (history->launches == history->room) {
        uint32_t room = history->room ? history->room * 2 : 16;
        LaunchRecord *more = realloc(history->launch, room * sizeof *more);
        if (!more) return -1;
        history->launch = more, history->room = room;
    }
    LaunchRecord *record = &history->launch[history->launches];
    Checkpoint start;
    *record = (LaunchRecord){.kernel = kernel, .request = *request, .spacing = FIRST_SPACING};
    record->params = malloc(kernel->info.params_bytes + 1);
    if (!record->params) return -1;
    if (kernel->info.params_bytes)
        memcpy(record->params, request->params, kernel->info.params_bytes);
    record->request.params = record->params;
    if (request->dynamic_limit) record->dynamic_limit = *request->dynamic_limit;
    record->before = history->gpu->launches;
    record->has_history = !kernel->traits.allocates;
    if (!record->has_history) record->why = "the kernel calls malloc or free";
    int status = -1;
    while (record->has_history && (status = checkpoint_take(history, 0, 0, &start)) != 0 &&
           history->launches) {
        LaunchRecord kept = *record;
        if (history->launch[history->launches - 1].checkpoints > 1) {
            record_thin(history, &history->launch[history->launches - 1]);
            continue;
        }
        oldest_drop(history);
        record = &history->launch[history->launches];
        *record = kept;
    }
    if (record->has_history && (status != 0 || checkpoint_add(record, &start) != 0)) {
        record->has_history = 0;
        record->why = "device memory is larger than the history may be";
    }
    history->launches++;
    /* The place may have moved: requests point into their own record. */
    for (uint32_t i = 0; i < history->launches; i++)
        if (history->launch[i].request.dynamic_limit)
            history->launch[i].request.dynamic_limit = &history->launch[i].dynamic_limit;
    return 0;
}

void history_checkpoint(History *history, LaunchRecord *record, uint64_t moment, uint64_t block)
{
    enum { SHARE = 20 }; /* checkpoints take at most this fraction of the execution time */
    static double last;
    Checkpoint made;
    double now = seconds_now();
    if (!record->has_history || !record->checkpoints) return;
    const Checkpoint *before = &record->checkpoint[record->checkpoints - 1];
    if (moment < before->moment + record->spacing || now - last < SHARE * history->cost) return;
    if (checkpoint_take(history, moment, block, &made) != 0) {
        record_thin(history, record);
        return;
    }
    last = seconds_now();
    history->cost = last - now;
    /* In a part that is executed again, the writes are in the list of the checkpoint before. */
    if (moment < record->furthest) written_merge(&made, before);
    if (checkpoint_add(record, &made) != 0) checkpoint_free(history, &made);
}

const Checkpoint *history_before(const LaunchRecord *record, uint64_t moment)
{
    const Checkpoint *found = NULL;
    for (uint32_t i = 0; i < record->checkpoints; i++)
        if (record->checkpoint[i].moment <= moment) found = &record->checkpoint[i];
    return found;
}

void history_written(LaunchRecord *record, uint64_t address, uint64_t bytes)
{
    if (!record->checkpoints) return;
    Checkpoint *last = &record->checkpoint[record->checkpoints - 1];
    uint64_t part = (address - DEVICE_BASE) / WRITE_PART_BYTES,
             end = (address - DEVICE_BASE + bytes - 1) / WRITE_PART_BYTES;
    if (!bytes || address < DEVICE_BASE || end / 8 >= last->written_bytes) {
        last->is_written_elsewhere = 1;
        return;
    }
    for (; part <= end; part++)
        last->written[part / 8] |= (uint8_t)(1u << part % 8);
}

int checkpoint_may_write(const Checkpoint *checkpoint, uint64_t address, uint64_t bytes)
{
    uint64_t part = (address - DEVICE_BASE) / WRITE_PART_BYTES,
             end = (address - DEVICE_BASE + bytes - 1) / WRITE_PART_BYTES;
    if (checkpoint->is_written_elsewhere || !bytes || address < DEVICE_BASE ||
        end / 8 >= checkpoint->written_bytes)
        return 1;
    for (; part <= end; part++)
        if (checkpoint->written[part / 8] >> part % 8 & 1) return 1;
    return 0;
}

void history_restore(History *history, const Checkpoint *checkpoint)
{
    Memory *memory = &history->gpu->memory;
    for (uint64_t n = 0; n < checkpoint->pages; n++) {
        unsigned char *host = memory->host + n * PAGE_BYTES;
        const Page *page = checkpoint->page[n];
        unsigned char *shadow = memory->shadow ? memory->shadow + n * (PAGE_BYTES / 8) : NULL;
        if (page) {
            if (memcmp(host, page->bytes, PAGE_BYTES)) memcpy(host, page->bytes, PAGE_BYTES);
            if (shadow) memcpy(shadow, page->bytes + PAGE_BYTES, PAGE_BYTES / 8);
        } else {
            if (!is_empty(host, PAGE_BYTES)) memset(host, 0, PAGE_BYTES);
            if (shadow && !is_empty(shadow, PAGE_BYTES / 8)) memset(shadow, 0, PAGE_BYTES / 8);
        }
    }
    for (uint32_t i = 0; i < checkpoint->allocations && i < memory->count; i++)
        memory->table[i]->initialised = checkpoint->allocation[i].initialised;
}

void history_cut(History *history, LaunchRecord *record, uint64_t moment)
{
    while (record->checkpoints > 1 && record->checkpoint[record->checkpoints - 1].moment > moment)
        checkpoint_free(history, &record->checkpoint[--record->checkpoints]);
    while (record->changes && record->change[record->changes - 1].moment > moment)
        record->changes--;
    while (record->founds && record->found[record->founds - 1].moment > moment)
        record->founds--;
    if (record->furthest > moment) record->furthest = moment;
    record->total = 0;
    while (history->launches > 1 && &history->launch[history->launches - 1] > record)
        record_free(history, &history->launch[--history->launches]);
}

int history_change(LaunchRecord *record, const Change *change)
{
    if (record->changes == record->change_room) {
        uint32_t room = record->change_room ? record->change_room * 2 : 16;
        Change *more = realloc(record->change, room * sizeof *more);
        if (!more) return -1;
        record->change = more, record->change_room = room;
    }
    record->change[record->changes++] = *change;
    return 0;
}

void history_found(LaunchRecord *record, uint64_t moment, const SimtReport *report)
{
    if (record->founds == FOUND_MOST) return;
    if (record->founds && record->found[record->founds - 1].moment >= moment) return;
    if (record->founds == record->found_room) {
        uint32_t room = record->found_room ? record->found_room * 2 : 4;
        FoundReport *more = realloc(record->found, room * sizeof *more);
        if (!more) return;
        record->found = more, record->found_room = room;
    }
    record->found[record->founds++] = (FoundReport){moment, *report};
}
