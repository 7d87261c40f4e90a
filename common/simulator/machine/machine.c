/* machine.c - reads the description of a GPU: one ini file, every key known, none missing. */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/simulator/machine/machine.h"

typedef enum FieldKind {
    FIELD_TEXT,
    FIELD_U32,
    FIELD_U64,
    FIELD_DOUBLE,
    FIELD_MECHANISM
} FieldKind;

/* The mechanisms of the time model. */
typedef enum Mechanism {
#define MECHANISM(name, title, occurs) MECHANISM_##name,
#define COST(key, unit, lowest, highest)
#define LIST(key, count, unit, lowest, highest)
#include "common/simulator/machine/machine_costs.def"
    MECHANISMS
} Mechanism;
_Static_assert(MECHANISMS <= 64, "SimtMachine.unmeasured has a bit for each");

static const char *const MECHANISM_NAME[] = {
#define MECHANISM(name, title, occurs) #name,
#define COST(key, unit, lowest, highest)
#define LIST(key, count, unit, lowest, highest)
#include "common/simulator/machine/machine_costs.def"
};

static const char *const MECHANISM_TITLE[] = {
#define MECHANISM(name, title, occurs) title,
#define COST(key, unit, lowest, highest)
#define LIST(key, count, unit, lowest, highest)
#include "common/simulator/machine/machine_costs.def"
};

/* A key.  Only the GPU's own file has those of GROUP_GPU.  Its architecture's file has costs and
 * features, which its own file may replace. */
typedef enum FieldGroup { GROUP_GPU, GROUP_COST, GROUP_FEATURE } FieldGroup;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset, bytes;
    double lowest, highest; /* range of a GPU: a number in another unit is far outside */
    int optional;           /* 0 if it is not given */
    uint32_t count;         /* numbers of a list; 1: it is a number */
    FieldGroup group;
    const char *unit; /* unit of a cost, title of a feature; else NULL */
} Field;

#define FIELD(kind, f, lowest, highest)                                                            \
    {                                                                                              \
#f, kind, offsetof(SimtMachine, f), sizeof((SimtMachine *)0)->f, lowest, highest, 0, 1,    \
            GROUP_GPU, NULL                                                                        \
    }
#define U32(f, lowest, highest)  FIELD(FIELD_U32, f, lowest, highest)
#define U64(f, lowest, highest)  FIELD(FIELD_U64, f, lowest, highest)
#define REAL(f, lowest, highest) FIELD(FIELD_DOUBLE, f, lowest, highest)

static const Field FIELDS[] = {
    FIELD(FIELD_TEXT, title, 0, 0),
    FIELD(FIELD_TEXT, architecture, 0, 0),
    U32(cc_major, 1, 99),
    U32(cc_minor, 0, 99),
    U32(sms, 1, 4096),
    REAL(clock_mhz, 50, 20000),
    {"tensor_mhz", FIELD_DOUBLE, offsetof(SimtMachine, tensor_mhz), sizeof(double), 50, 20000, 1, 1,
     GROUP_GPU, NULL},
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
    U64(persisting_l2_bytes, 0, 17179869184),
    U64(access_window_bytes, 0, 17179869184),
#define MECHANISM(mechanism, title, occurs)                                                        \
    {.name = "[" #mechanism "]", .kind = FIELD_MECHANISM, .optional = 1},
#define COST(key, text, least, most) LIST(key, 1, text, least, most)
#define LIST(key, numbers, text, least, most)                                                      \
    {.name = #key,                                                                                 \
     .kind = FIELD_U32,                                                                            \
     .offset = offsetof(SimtMachine, costs.key),                                                   \
     .bytes = numbers * sizeof(uint32_t),                                                          \
     .lowest = least,                                                                              \
     .highest = most,                                                                              \
     .count = numbers,                                                                             \
     .group = GROUP_COST,                                                                          \
     .unit = text},
#include "common/simulator/machine/machine_costs.def"
#define FEATURE(key, title)                                                                        \
    {.name = #key,                                                                                 \
     .kind = FIELD_U32,                                                                            \
     .offset = offsetof(SimtMachine, has.key),                                                     \
     .bytes = sizeof(uint32_t),                                                                    \
     .lowest = 0,                                                                                  \
     .highest = 1,                                                                                 \
     .count = 1,                                                                                   \
     .group = GROUP_FEATURE,                                                                       \
     .unit = title},
#include "common/simulator/machine/machine_features.def"
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

enum { UNSEEN, INHERITED, GIVEN };

typedef struct Reading {
    SimtMachine *machine;
    const char *directory; /* folder in which `like` searches; NULL: `like` is not allowed */
    int is_architecture;   /* the file describes an architecture, not a GPU */
    unsigned char seen[FIELD_COUNT];
    char trouble[320];
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

/* Reads exactly as many numbers as the list has, separated by spaces. */
static int list_read(const char *text, const Field *field, void *out)
{
    enum { DIGITS = 40 };
    char one[DIGITS];
    uint32_t *number = out;
    for (uint32_t i = 0; i < field->count; i++) {
        size_t length = strcspn(text, " \t");
        if (!length || length >= sizeof one) return -1;
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (number_read(one, field, number + i) != 0) return -1;
        text += length + strspn(text + length, " \t");
    }
    return *text ? -1 : 0;
}

static int text_read(const char *text, const Field *field, char *out)
{
    if (strlen(text) >= field->bytes) return -1;
    memset(out, 0, field->bytes);
    memcpy(out, text, strlen(text));
    return 0;
}

static int key_read(void *user, const char *section, const char *name, const char *value);

/* unmeasured_as = sm90: costs that this file does not give are those of that architecture. */
static int costs_of_read(Reading *reading, const char *value)
{
    char *name = reading->machine->costs_of;
    size_t room = sizeof reading->machine->costs_of;
    if (!name[0] && value[0] && strlen(value) < room && !strpbrk(value, "/.")) {
        snprintf(name, room, "%s", value);
        return 1;
    }
    snprintf(reading->trouble, sizeof reading->trouble,
             "unmeasured_as = %.80s must name an architecture, once", value);
    return 0;
}

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

/* Reads a value; its range is part of the trouble. */
static int value_read(Reading *reading, const Field *field, const char *value)
{
    char *at = (char *)reading->machine + field->offset, *trouble = reading->trouble;
    size_t room = sizeof reading->trouble;
    if (field->kind == FIELD_TEXT) {
        if (text_read(value, field, at) == 0) return 1;
        snprintf(trouble, room, "%s = %.20s... has more than %zu letters", field->name, value,
                 field->bytes - 1);
    } else if (field->count > 1) {
        if (list_read(value, field, at) == 0) return 1;
        snprintf(trouble, room, "%s = %.80s is not %u numbers from %.10g to %.10g (%s)",
                 field->name, value, field->count, field->lowest, field->highest, field->unit);
    } else {
        if (number_read(value, field, at) == 0) return 1;
        snprintf(trouble, room, "%s = %.80s is not a number from %.10g to %.10g%s%s%s", field->name,
                 value, field->lowest, field->highest, field->unit ? " (" : "",
                 field->unit ? field->unit : "", field->unit ? ")" : "");
    }
    return 0;
}

/* A field of that name that this file may have; NULL: there is none. */
static const Field *field_find(const Reading *reading, const char *name)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (!strcmp(FIELDS[i].name, name) &&
            !(reading->is_architecture && FIELDS[i].group == GROUP_GPU))
            return &FIELDS[i];
    return NULL;
}

/* libinih's handler: 0 makes the line the one that ini_parse returns; only the first trouble
 * counts. */
static int key_read(void *user, const char *section, const char *name, const char *value)
{
    Reading *reading = user;
    if (reading->trouble[0]) return 0;
    if (section[0]) {
        snprintf(reading->trouble, sizeof reading->trouble, "no sections here, found [%.80s]",
                 section);
        return 0;
    }
    if (!strcmp(name, "like") && !reading->is_architecture) return like_read(reading, value);
    if (!strcmp(name, "unmeasured_as") && reading->is_architecture)
        return costs_of_read(reading, value);
    const Field *field = field_find(reading, name);
    if (!field) {
        snprintf(reading->trouble, sizeof reading->trouble, "unknown key %.80s", name);
        return 0;
    }
    unsigned char *seen = &reading->seen[field - FIELDS];
    if (*seen == GIVEN) {
        snprintf(reading->trouble, sizeof reading->trouble, "%s is given twice", name);
        return 0;
    }
    *seen = GIVEN;
    return value_read(reading, field, value);
}

/* ---- architectures ------------------------------------------------------------------------ */

/* Reads a file of the folder of architectures. */
static int architecture_read(const char *directory, const char *name, Reading *reading,
                             Error *error)
{
    char path[4096], names[512], folder[4096];
    snprintf(folder, sizeof folder, "%.4000s/architectures", directory);
    snprintf(path, sizeof path, "%.4050s/%.32s.ini", folder, name);
    int line = strpbrk(name, "/.") || !name[0] ? -1 : ini_parse(path, key_read, reading);
    if (line == -1) {
        if (machine_names(folder, names, sizeof names) != 0)
            return error_set(error, "cannot read the folder of architectures %s: %s", folder,
                             strerror(errno));
        return error_set(error, "unknown architecture '%.32s': %s has %s", name, folder, names);
    }
    if (line != 0)
        return error_set(error, "%s line %d: %s", path, line,
                         reading->trouble[0] ? reading->trouble : "not a 'key = value' line");
    return 0;
}

static void field_copy(SimtMachine *to, const SimtMachine *from, const Field *field)
{
    memcpy((char *)to + field->offset, (const char *)from + field->offset, field->bytes);
}

/* Reports the first key that neither the architecture nor the machine has. */
static int keys_check(const char *path, const Reading *reading, int is_architecture, Error *error)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const Field *field = &FIELDS[i];
        if (reading->seen[i] || field->optional || (field->group != GROUP_GPU) != is_architecture)
            continue;
        if (!field->unit) return error_set(error, "%s: the key %s is missing", path, field->name);
        return error_set(error, "%s: the key %s is missing: a number from %.10g to %.10g (%s)",
                         path, field->name, field->lowest, field->highest, field->unit);
    }
    return 0;
}

/* Adds the costs of the architecture that `unmeasured_as` names. */
static int unmeasured_read(const char *directory, Reading *own, Error *error)
{
    SimtMachine base = {.name = ""};
    Reading other = {.machine = &base, .is_architecture = 1};
    if (!own->machine->costs_of[0]) return 0;
    if (architecture_read(directory, own->machine->costs_of, &other, error) != 0) return -1;
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (FIELDS[i].group != GROUP_COST || own->seen[i] || !other.seen[i]) continue;
        field_copy(own->machine, &base, &FIELDS[i]);
        own->seen[i] = INHERITED;
    }
    return 0;
}

/* Code for X.Y runs on X.Z with Z >= Y; costs and features follow the same rule. */
static int architecture_fits(const SimtMachine *m, const char *path, Error *error)
{
    unsigned number = 0;
    int end = 0;
    if (sscanf(m->architecture, "sm%3u%n", &number, &end) == 1 && !m->architecture[end] &&
        number / 10 == m->cc_major && number % 10 <= m->cc_minor)
        return 0;
    return error_set(error,
                     "%s: architecture = %s does not describe compute capability %u.%u: that needs "
                     "sm%u0 to sm%u%u",
                     path, m->architecture, m->cc_major, m->cc_minor, m->cc_major, m->cc_major,
                     m->cc_minor);
}

/* Adds the costs and features of the machine's architecture that its own file does not give. */
static int architecture_add(const char *directory, const char *path, Reading *reading, Error *error)
{
    char file[4096];
    SimtMachine described = {.name = ""}, *machine = reading->machine;
    Reading own = {.machine = &described, .is_architecture = 1};
    snprintf(file, sizeof file, "%.4000s/architectures/%s.ini", directory, machine->architecture);
    if (architecture_fits(machine, path, error) != 0 ||
        architecture_read(directory, machine->architecture, &own, error) != 0 ||
        unmeasured_read(directory, &own, error) != 0 || keys_check(file, &own, 1, error) != 0)
        return -1;
    memcpy(machine->costs_of, described.costs_of, sizeof machine->costs_of);
    int mechanism = -1;
    for (int i = 0; i < FIELD_COUNT; i++) {
        mechanism += FIELDS[i].kind == FIELD_MECHANISM;
        machine->all_costs += FIELDS[i].group == GROUP_COST;
        if (FIELDS[i].group == GROUP_GPU || reading->seen[i]) continue;
        field_copy(machine, &described, &FIELDS[i]);
        if (own.seen[i] != INHERITED) continue;
        machine->unmeasured_costs++, machine->unmeasured |= 1ull << mechanism;
    }
    return 0;
}

void machine_unmeasured(const SimtMachine *machine, char *text, size_t bytes)
{
    const int has[MECHANISMS] = {
#define MECHANISM(name, title, occurs) (occurs) != 0,
#define COST(key, unit, lowest, highest)
#define LIST(key, count, unit, lowest, highest)
#include "common/simulator/machine/machine_costs.def"
    };
    size_t used = 0;
    if (bytes) text[0] = 0;
    for (int i = 0; i < MECHANISMS; i++)
        if (has[i] && machine->unmeasured >> i & 1 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? ", " : "",
                                     MECHANISM_TITLE[i]);
}

const char *machine_mechanism(const char *name)
{
    for (int i = 0; i < MECHANISMS; i++)
        if (!strcmp(MECHANISM_NAME[i], name)) return MECHANISM_TITLE[i];
    return NULL;
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
        if (strcmp(FIELDS[i].name, name) || FIELDS[i].count != 1) continue;
        switch (FIELDS[i].kind) {
        case FIELD_TEXT:
        case FIELD_MECHANISM:
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

const char *machine_feature(const char *name)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        if (FIELDS[i].group == GROUP_FEATURE && !strcmp(FIELDS[i].name, name))
            return FIELDS[i].unit;
    return NULL;
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
    if (keys_check(path, &reading, 0, error) != 0 ||
        architecture_add(directory, path, &reading, error) != 0)
        return -1;
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
