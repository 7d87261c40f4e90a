/* machine.c - reads the description of a GPU: one ini file, every key known, none missing. */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simt/machine/machine.h"

typedef enum FieldKind { FIELD_TEXT, FIELD_U32, FIELD_U64, FIELD_DOUBLE } FieldKind;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset, bytes;
} Field;

#define TEXT(f)                                                                                    \
    {                                                                                              \
#f, FIELD_TEXT, offsetof(SimtMachine, f), sizeof(((SimtMachine *)0)->f)                    \
    }
#define U32(f)                                                                                     \
    {                                                                                              \
#f, FIELD_U32, offsetof(SimtMachine, f), 4                                                 \
    }
#define U64(f)                                                                                     \
    {                                                                                              \
#f, FIELD_U64, offsetof(SimtMachine, f), 8                                                 \
    }
#define REAL(f)                                                                                    \
    {                                                                                              \
#f, FIELD_DOUBLE, offsetof(SimtMachine, f), 8                                              \
    }

static const Field FIELDS[] = {
    TEXT(title),
    U32(cc_major),
    U32(cc_minor),
    U32(sms),
    REAL(clock_mhz),
    U64(memory_bytes),
    U64(l2_bytes),
    REAL(dram_gb_s),
    REAL(l2_bytes_per_cycle),
    REAL(dram_latency),
    REAL(l2_latency),
    REAL(l1_latency),
    REAL(shared_latency),
    REAL(alu_latency),
    U32(issue_cycles),
    REAL(l2_bytes_per_sm),
    REAL(block_launch_cycles),
    U32(tensor_fma),
    U32(accelerators),
    U32(schedulers),
    U32(fp32_lanes),
    U32(int32_lanes),
    U32(fp64_lanes),
    U32(sfu_lanes),
    U32(l1_bytes),
    U32(l1_sectors_per_cycle),
    U32(shared_banks),
    U32(shared_wavefronts_per_cycle),
    U32(lsu_lanes),
    REAL(launch_cycles),
    U32(max_threads_per_block),
    U32(max_threads_per_sm),
    U32(max_blocks_per_sm),
    U32(max_warps_per_sm),
    U32(registers_per_sm),
    U32(register_unit),
    U32(max_registers_per_thread),
    U32(shared_per_block),
    U32(shared_per_block_optin),
    U32(shared_per_sm),
    U32(shared_unit),
    U32(shared_reserved),
    U32(memory_clock_khz),
    U32(memory_bus_bits),
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

enum { UNSEEN, INHERITED, GIVEN };

typedef struct Reading {
    SimtMachine *machine;
    const char *directory; /* where `like` looks; NULL: it may not be used */
    unsigned char seen[FIELD_COUNT];
    char trouble[256];
} Reading;

static int number_read(const char *text, FieldKind kind, void *out)
{
    char *end = NULL;
    errno = 0;
    if (kind == FIELD_DOUBLE) {
        double value = strtod(text, &end);
        if (end == text || *end || !(value > 0) || value > 1e18) return -1;
        memcpy(out, &value, sizeof value);
        return 0;
    }
    if (text[0] < '0' || text[0] > '9') return -1;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end) return -1;
    if (kind == FIELD_U32) {
        if (value > UINT32_MAX) return -1;
        uint32_t narrow = (uint32_t)value;
        memcpy(out, &narrow, sizeof narrow);
    } else {
        uint64_t wide = value;
        memcpy(out, &wide, sizeof wide);
    }
    return 0;
}

static int key_read(void *user, const char *section, const char *name, const char *value);

/* like = gtx480: everything that this file does not give is as it is there. */
static int like_read(Reading *reading, const char *value)
{
    char path[4096];
    Reading other = {.machine = reading->machine};
    int plain = value[0] && !strpbrk(value, "/."), first = reading->directory != NULL;
    for (int i = 0; i < FIELD_COUNT; i++)
        first &= reading->seen[i] == UNSEEN;
    snprintf(path, sizeof path, "%s/%s.ini", first ? reading->directory : "", value);
    if (!first || !plain || ini_parse(path, key_read, &other) != 0) {
        snprintf(reading->trouble, sizeof reading->trouble,
                 "like = %s must be the first key, and name a description without one", value);
        return 0;
    }
    for (int i = 0; i < FIELD_COUNT; i++)
        reading->seen[i] = other.seen[i] ? INHERITED : UNSEEN;
    return 1;
}

/* libinih's handler: 0 makes the line the one that ini_parse returns; only the first trouble
 * counts. */
static int key_read(void *user, const char *section, const char *name, const char *value)
{
    Reading *reading = user;
    if (reading->trouble[0]) return 0;
    if (section[0]) {
        snprintf(reading->trouble, sizeof reading->trouble, "no sections here, found [%s]",
                 section);
        return 0;
    }
    if (!strcmp(name, "like")) return like_read(reading, value);
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(FIELDS[i].name, name) != 0) continue;
        char *at = (char *)reading->machine + FIELDS[i].offset;
        int given = reading->seen[i] == GIVEN;
        reading->seen[i] = GIVEN;
        if (given) {
            snprintf(reading->trouble, sizeof reading->trouble, "%s is given twice", name);
            return 0;
        }
        if (FIELDS[i].kind == FIELD_TEXT) {
            snprintf(at, FIELDS[i].bytes, "%s", value);
        } else if (number_read(value, FIELDS[i].kind, at) != 0) {
            snprintf(reading->trouble, sizeof reading->trouble, "%s = %s is not a number in range",
                     name, value);
            return 0;
        }
        return 1;
    }
    snprintf(reading->trouble, sizeof reading->trouble, "unknown key %s", name);
    return 0;
}

int machine_number(const SimtMachine *machine, const char *name, double *value)
{
    uint32_t narrow;
    uint64_t wide;
    if (!strcmp(name, "warp_size")) {
        *value = MACHINE_WARP_SIZE;
        return 0;
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        const char *at = (const char *)machine + FIELDS[i].offset;
        if (strcmp(FIELDS[i].name, name)) continue;
        switch (FIELDS[i].kind) {
        case FIELD_TEXT:
            return -1;
        case FIELD_U32:
            memcpy(&narrow, at, sizeof narrow);
            *value = narrow;
            return 0;
        case FIELD_U64:
            memcpy(&wide, at, sizeof wide);
            *value = (double)wide;
            return 0;
        case FIELD_DOUBLE:
            memcpy(value, at, sizeof *value);
            return 0;
        }
    }
    return -1;
}

static int names_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int machine_names(const char *directory, char *text, size_t bytes)
{
    enum { MOST = 256 };
    char *name[MOST];
    int count = 0;
    if (bytes) text[0] = 0;
    DIR *dir = opendir(directory);
    if (!dir) return -1;
    for (struct dirent *e; count < MOST && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (length <= 4 || strcmp(e->d_name + length - 4, ".ini") != 0) continue;
        if ((name[count] = strndup(e->d_name, length - 4))) count++;
    }
    closedir(dir);
    qsort(name, (size_t)count, sizeof *name, names_compare);
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", name[i]);
        free(name[i]);
    }
    return 0;
}

/* What the rest of the simulator divides by or trusts. */
static int machine_validate(const SimtMachine *m, const char *path, Error *error)
{
    const uint32_t positive[] = {m->sms,
                                 m->schedulers,
                                 m->issue_cycles,
                                 m->fp32_lanes,
                                 m->int32_lanes,
                                 m->fp64_lanes,
                                 m->sfu_lanes,
                                 m->l1_sectors_per_cycle,
                                 m->shared_wavefronts_per_cycle,
                                 m->lsu_lanes,
                                 m->max_threads_per_block,
                                 m->max_threads_per_sm,
                                 m->max_blocks_per_sm,
                                 m->max_warps_per_sm,
                                 m->registers_per_sm,
                                 m->register_unit,
                                 m->max_registers_per_thread,
                                 m->shared_unit,
                                 m->shared_per_sm,
                                 m->l1_bytes};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!positive[i])
            return error_set(error, "%s: sizes, rates and limits must be above 0", path);
    if (m->sms > 4096) return error_set(error, "%s: sms = %u is over 4096", path, m->sms);
    if (m->shared_banks != 32) return error_set(error, "%s: shared_banks must be 32", path);
    if (m->max_threads_per_block > 1024 || m->max_threads_per_sm > 4096)
        return error_set(error, "%s: over 1024 threads a block or 4096 an SM", path);
    if (m->shared_per_block_optin > (1u << 20) || m->shared_per_block > m->shared_per_block_optin)
        return error_set(
            error, "%s: shared_per_block <= shared_per_block_optin <= 1048576 must hold", path);
    if (m->memory_bytes < (1u << 20) || m->memory_bytes > (1ull << 42))
        return error_set(error, "%s: memory_bytes must lie between 2^20 and 2^42", path);
    return 0;
}

int machine_load(const char *directory, const char *name, SimtMachine *machine, Error *error)
{
    char path[4096], names[1024];
    if (machine_names(directory, names, sizeof names) != 0)
        return error_set(error, "cannot read the folder of GPU descriptions %s: %s", directory,
                         strerror(errno));
    memset(machine, 0, sizeof *machine);
    int plain = name[0] != 0;
    for (const char *c = name; *c; c++)
        plain &= *c != '/' && *c != '.';
    snprintf(path, sizeof path, "%s/%s.ini", directory, name);
    Reading reading = {.machine = machine, .directory = directory};
    int line =
        plain && strlen(name) < sizeof machine->name ? ini_parse(path, key_read, &reading) : -1;
    if (line == -1) return error_set(error, "unknown GPU '%.64s': there are %s", name, names);
    if (line != 0)
        return error_set(error, "%s line %d: %s", path, line,
                         reading.trouble[0] ? reading.trouble : "not a 'key = value' line");
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!reading.seen[i])
            return error_set(error, "%s: the key %s is missing", path, FIELDS[i].name);
    snprintf(machine->name, sizeof machine->name, "%s", name);
    return machine_validate(machine, path, error);
}

static uint32_t up_to_unit(uint64_t value, uint32_t unit)
{
    return (uint32_t)((value + unit - 1) / unit * unit);
}

uint32_t machine_blocks_by_registers(const SimtMachine *m, uint32_t registers, uint32_t threads)
{
    uint32_t warps = (threads + 32 - 1) / 32;
    uint32_t each = up_to_unit((uint64_t)(registers ? registers : 1) * 32, m->register_unit);
    /* Each scheduler has its own part of the register file. */
    return m->registers_per_sm / m->schedulers / each * m->schedulers / (warps ? warps : 1);
}

uint32_t machine_blocks_by_shared(const SimtMachine *m, uint64_t bytes)
{
    uint32_t each = up_to_unit(bytes + m->shared_reserved, m->shared_unit);
    return each ? m->shared_per_sm / each : m->max_blocks_per_sm;
}
