/* machine.c - reads the description of a GPU: one ini file, every key known, none missing. */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/machine/machine.h"

typedef enum FieldKind { FIELD_TEXT, FIELD_U32, FIELD_U64, FIELD_DOUBLE } FieldKind;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset;
    double lowest, highest; /* plausible range for a GPU: a number in another unit is far outside */
    int optional;           /* it is 0 where it is not given */
} Field;

#define FIELD(kind, f, lowest, highest)                                                            \
    {                                                                                              \
#f, kind, offsetof(SimtMachine, f), lowest, highest, 0                                     \
    }
#define U32(f, lowest, highest)  FIELD(FIELD_U32, f, lowest, highest)
#define U64(f, lowest, highest)  FIELD(FIELD_U64, f, lowest, highest)
#define REAL(f, lowest, highest) FIELD(FIELD_DOUBLE, f, lowest, highest)

static const Field FIELDS[] = {
    FIELD(FIELD_TEXT, title, 0, 0),
    U32(cc_major, 1, 99),
    U32(cc_minor, 0, 99),
    U32(sms, 1, 4096),
    REAL(clock_mhz, 50, 20000),
    {"tensor_mhz", FIELD_DOUBLE, offsetof(SimtMachine, tensor_mhz), 50, 20000, 1},
    U64(memory_bytes, 1048576, 4398046511104),
    U64(l2_bytes, 1024, 17179869184),
    REAL(dram_gb_s, 5, 100000),
    REAL(l2_bytes_per_cycle, 8, 1000000),
    REAL(dram_latency, 20, 20000),
    REAL(l2_latency, 10, 10000),
    REAL(l1_latency, 2, 2000),
    REAL(shared_latency, 2, 2000),
    REAL(alu_latency, 1, 200),
    U32(issue_cycles, 1, 64),
    REAL(l2_bytes_per_sm, 1, 4096),
    REAL(block_launch_cycles, 0.01, 10000),
    U32(tensor_fma, 0, 1000000),
    U32(accelerators, 0, 1),
    U32(schedulers, 1, 16),
    U32(fp32_lanes, 1, 4096),
    U32(int32_lanes, 1, 4096),
    U32(fp64_lanes, 1, 4096),
    U32(sfu_lanes, 1, 4096),
    U32(l1_bytes, 1024, 16777216),
    U32(l1_sectors_per_cycle, 1, 1024),
    U32(shared_banks, 32, 32),
    U32(shared_wavefronts_per_cycle, 1, 64),
    U32(lsu_lanes, 1, 4096),
    U32(texture_units, 1, 4096),
    REAL(texture_latency, 2, 2000),
    REAL(launch_cycles, 100, 1000000),
    U32(max_threads_per_block, 32, 1024),
    U32(max_threads_per_sm, 32, 4096),
    U32(max_blocks_per_sm, 1, 1024),
    U32(max_warps_per_sm, 1, 128),
    U32(registers_per_sm, 1024, 16777216),
    U32(register_unit, 1, 65536),
    U32(max_registers_per_thread, 16, 1024),
    U32(shared_per_block, 1024, 1048576),
    U32(shared_per_block_optin, 1024, 1048576),
    U32(shared_per_sm, 1024, 16777216),
    U32(shared_unit, 1, 65536),
    U32(shared_reserved, 0, 65536),
    U32(memory_clock_khz, 1000, 100000000),
    U32(memory_bus_bits, 8, 65536),
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

enum { UNSEEN, INHERITED, GIVEN };

typedef struct Reading {
    SimtMachine *machine;
    const char *directory; /* folder in which `like` searches; NULL: `like` is not allowed */
    unsigned char seen[FIELD_COUNT];
    char trouble[256];
} Reading;

/* -1: not a number, or outside the plausible range. */
static int number_read(const char *text, const Field *field, void *out)
{
    char *end = NULL;
    if (text[strspn(text, "0123456789.e+-")]) return -1; /* nan, inf, 0x10 */
    const double real = strtod(text, &end);
    if (end == text || *end || !(real >= field->lowest && real <= field->highest)) return -1;
    if (field->kind == FIELD_DOUBLE) {
        memcpy(out, &real, sizeof real);
        return 0;
    }
    const uint64_t wide = strtoull(text, &end, 10);
    const uint32_t narrow = (uint32_t)wide;
    if (*end) return -1; /* 1e3 */
    if (field->kind == FIELD_U32)
        memcpy(out, &narrow, sizeof narrow);
    else
        memcpy(out, &wide, sizeof wide);
    return 0;
}

static int key_read(void *user, const char *section, const char *name, const char *value);

/* like = gtx480: all keys that this file does not give are inherited from that one. */
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
            snprintf(reading->machine->title, sizeof reading->machine->title, "%s", value);
        } else if (number_read(value, &FIELDS[i], at) != 0) {
            snprintf(reading->trouble, sizeof reading->trouble,
                     "%s = %s is not a number from %.10g to %.10g", name, value, FIELDS[i].lowest,
                     FIELDS[i].highest);
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

static uint64_t up_to_unit(uint64_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Numbers that have to fit one another. */
static int machine_validate(const SimtMachine *m, const char *path, Error *error)
{
    if (m->shared_per_block > m->shared_per_block_optin ||
        m->shared_per_block_optin > m->shared_per_sm)
        return error_set(
            error, "%s: shared_per_block <= shared_per_block_optin <= shared_per_sm must hold",
            path);
    if (m->max_threads_per_block > m->max_threads_per_sm ||
        m->max_threads_per_sm > m->max_warps_per_sm * MACHINE_WARP_SIZE)
        return error_set(
            error,
            "%s: max_threads_per_block <= max_threads_per_sm <= 32 max_warps_per_sm must hold",
            path);
    if (m->tensor_mhz > m->clock_mhz)
        return error_set(error, "%s: tensor_mhz <= clock_mhz must hold", path);
    if (m->registers_per_sm / m->schedulers <
        up_to_unit(m->max_registers_per_thread * MACHINE_WARP_SIZE, m->register_unit))
        return error_set(error,
                         "%s: a scheduler's part of registers_per_sm has no room for a warp of "
                         "max_registers_per_thread each",
                         path);
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
        if (!reading.seen[i] && !FIELDS[i].optional)
            return error_set(error, "%s: the key %s is missing", path, FIELDS[i].name);
    snprintf(machine->name, sizeof machine->name, "%s", name);
    return machine_validate(machine, path, error);
}

uint32_t machine_blocks_by_registers(const SimtMachine *m, uint32_t registers, uint32_t threads)
{
    uint32_t warps = (threads + 32 - 1) / 32;
    uint64_t each = up_to_unit((uint64_t)(registers ? registers : 1) * 32, m->register_unit);
    /* Each scheduler has its own part of the register file. */
    uint64_t fit = m->registers_per_sm / m->schedulers / each * m->schedulers;
    return (uint32_t)(fit / (warps ? warps : 1));
}

uint32_t machine_blocks_by_shared(const SimtMachine *m, uint64_t bytes)
{
    uint64_t each = up_to_unit(bytes + m->shared_reserved, m->shared_unit);
    return each ? (uint32_t)(m->shared_per_sm / each) : m->max_blocks_per_sm;
}
