/* stopped_cause.c - the fault and the likely cause that an engine's message shows when it stopped a
 * run. */
#include "common/operations/operation/diagnose.h"

#include <stdio.h>
#include <string.h>

Fault fault_stopped(const char *message)
{
    static const struct {
        const char *words;
        Fault fault;
    } known[] = {
        {"isaligned __", FAULT_MISALIGNED},
        {"Barrier error", FAULT_BARRIER},
        {"Divergent threads in a warp", FAULT_BARRIER},
        {"does not name the calling thread", FAULT_BARRIER},
        {"nvalid __shared__", FAULT_SHARED_MEMORY},
        {"of your own at 0x", FAULT_WORKSPACE},
        {"byte variable ", FAULT_WORKSPACE},
        {"nvalid __global__ write", FAULT_GUARD_BAND},
        {"nvalid __global__ read", FAULT_READ_OUTSIDE},
        {"nvalid __constant__ read", FAULT_READ_OUTSIDE},
        {"cudaErrorInvalidConfiguration", FAULT_LAUNCH},
        {"cudaErrorLaunchOutOfResources", FAULT_LAUNCH},
        {"bytes of dynamic shared memory", FAULT_LAUNCH},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(message, known[i].words)) return known[i].fault;
    return FAULT_NONE;
}

/* The size of the access that the message reports, in bytes; 0: none. */
static unsigned long long access_bytes(const char *message)
{
    const char *access = strstr(message, " of ");
    unsigned long long size;
    return access && sscanf(access, " of %llu bytes", &size) == 1 ? size : 0;
}

/* The type of an element that such an access may have: two bytes are a half; four, eight and
 * sixteen are one, two and four floats.  0: neither. */
static unsigned element_bytes(unsigned long long access)
{
    return access == 2 ? 2 : access == 4 || access == 8 || access == 16 ? 4 : 0;
}

/* An access just after an allocation, where it would be inside if the size, a number of elements,
 * had been multiplied by the element's bytes.  A read beyond memory whose writes stayed inside of
 * it has a wrong index rather than too little memory. */
static int allocation_cause(const char *message, char *text, size_t bytes)
{
    const char *past = strstr(message, "the address is ");
    const unsigned long long size = access_bytes(message);
    const unsigned element = element_bytes(size);
    unsigned long long after, has;
    if (!element || !past || !strstr(message, "-byte allocation of your own")) return 0;
    if (sscanf(past, "the address is %llu bytes past the end of a %llu-byte", &after, &has) != 2)
        return 0;
    if (after + size > (element - 1) * has) return 0;
    const char *type = element == 2 ? "half" : "float";
    if (strstr(message, "__global__ read"))
        snprintf(text, bytes,
                 "This access needs %llu bytes, and the allocation has %llu. Possibly the index is "
                 "too large or negative: the writes before this read were inside of the "
                 "allocation. If nothing has written all of it, its size possibly lacks "
                 "sizeof(%s).",
                 has + after + size, has, type);
    else
        snprintf(text, bytes,
                 "This access needs at least %llu bytes, and the allocation has %llu. Either the "
                 "index is too large, or the size lacks sizeof(%s): %llu elements would need %llu "
                 "bytes.",
                 has + after + size, has, type, has, element * has);
    return 1;
}

/* The same for dynamic shared memory, whose size is an argument of the launch. */
static int shared_cause(const char *message, char *text, size_t bytes)
{
    const char *past = strstr(message, "__shared__ ");
    const char *at = past ? strstr(past, ": offset ") : NULL;
    const unsigned element = element_bytes(access_bytes(message));
    unsigned long long offset, after, has;
    if (!element || !at ||
        sscanf(at, ": offset %llu is %llu bytes past the end of the block's %llu bytes", &offset,
               &after, &has) != 3 ||
        !has || offset >= element * has)
        return 0;
    snprintf(text, bytes,
             "The block has %llu bytes of shared memory. If the launch sets this size, possibly it "
             "lacks sizeof(%s): %llu elements need %llu bytes. Otherwise the index is too large.",
             has, element == 2 ? "half" : "float", has, element * has);
    return 1;
}

/* A wait at an mbarrier that never ends, or an arrival after the last one that it counts. */
static int mbarrier_cause(const char *message, char *text, size_t bytes)
{
    const char *wait = strstr(message, "It still waits for ");
    unsigned left, count;
    if (wait && strstr(message, " arrivals and -") && strstr(message, " bytes pending"))
        snprintf(text, bytes,
                 "At one barrier more bytes have come than its phase announces: a copy for a later "
                 "phase started too early. Possibly the stage was released before all readers had "
                 "finished, or, in a cluster, the arrivals went to the `empty` barrier of another "
                 "block than the partner that fills the stage.");
    else if (wait && strstr(message, "bytes that it expects have not come") &&
             strstr(message, " of block (1,"))
        snprintf(text, bytes,
                 "The bytes of a copy have not come. In a cluster, possibly a partner block does "
                 "not send its part to this block: check the mask of the multicast, and that every "
                 "block copies the part of its own rank.");
    else if (wait && sscanf(wait, "It still waits for %u of %u arrivals", &left, &count) == 2 &&
             left && left < count)
        snprintf(text, bytes,
                 "%u of the %u arrivals that mbarrier.init announced have come. Possibly that "
                 "count is wrong: it must be the number of threads that arrive in each phase. "
                 "Otherwise an arrival is missing, for example in a branch.",
                 count - left, count);
    else if (strstr(message, "arrivals at once at the mbarrier at offset") &&
             !strstr(message, "Barrier error: 0 arrivals"))
        snprintf(text, bytes,
                 "More threads arrive than mbarrier.init announced. Possibly that count is too "
                 "small: it must be the number of threads that arrive in each phase. Otherwise a "
                 "thread arrives twice.");
    else
        return 0;
    return 1;
}

int stopped_cause(const char *message, char *text, size_t bytes)
{
    *text = 0;
    return allocation_cause(message, text, bytes) || shared_cause(message, text, bytes) ||
           mbarrier_cause(message, text, bytes);
}
