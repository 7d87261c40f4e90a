/* measure_sim.c - costs and counts on the simulated GPU: each entry is launched once.  With "ptx"
 * its machine code is not used.  With "only FILE" just the entries are launched whose names are
 * lines of FILE. */
#include "common/simulator/validation/measure.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"

/* Counts of a launch, in the order in which they are printed. */
static const struct {
    const char *name;
    size_t place; /* offset of a uint64_t in DeviceCost */
} COLUMN[] = {{"cycles", offsetof(DeviceCost, cycles)},
              {"launches", offsetof(DeviceCost, launches)},
              {"warp_instructions", offsetof(DeviceCost, warp_instructions)},
              {"thread_instructions", offsetof(DeviceCost, instructions)},
              {"load_requests", offsetof(DeviceCost, global_load_requests)},
              {"load_sectors", offsetof(DeviceCost, global_load_sectors)},
              {"copied_sectors", offsetof(DeviceCost, copied_sectors)},
              {"load_hits", offsetof(DeviceCost, l1_hit_sectors)},
              {"store_requests", offsetof(DeviceCost, global_store_requests)},
              {"store_sectors", offsetof(DeviceCost, global_store_sectors)},
              {"shared_wavefronts", offsetof(DeviceCost, shared_wavefronts)},
              {"shared_atomic_wavefronts", offsetof(DeviceCost, shared_atomic_wavefronts)},
              {"bank_conflicts", offsetof(DeviceCost, bank_conflicts)},
              {"atomic_sectors", offsetof(DeviceCost, atomic_sectors)},
              {"local_sectors", offsetof(DeviceCost, local_sectors)},
              {"texture_sectors", offsetof(DeviceCost, texture_sectors)},
              {"dram_bytes", offsetof(DeviceCost, dram_bytes)}};

static Device *device;
static int failed;
static char *only; /* "\nname\nname\n"; NULL: all entries */

static void only_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END)) {
        fprintf(stderr, "%s: %m\n", path);
        exit(2);
    }
    const long bytes = ftell(file);
    rewind(file);
    only = calloc((size_t)bytes + 3, 1);
    if (!only || fread(only + 1, 1, (size_t)bytes, file) != (size_t)bytes) {
        fprintf(stderr, "%s: %m\n", path);
        exit(2);
    }
    only[0] = only[bytes + 1] = '\n';
    fclose(file);
}

static int is_left_out(const char *name)
{
    char line[256];
    snprintf(line, sizeof line, "\n%s\n", name);
    return only && !strstr(only, line);
}

void measure_open(int argc, char **argv)
{
    Error error = {""};
    int alone = argc == 4 && !strcmp(argv[3], "ptx"), some = argc == 5 && !strcmp(argv[3], "only");
    if (argc != 3 && !alone && !some) {
        fprintf(stderr, "usage: %s MACHINE DIRECTORY-OF-MACHINES [ptx | only FILE]\n", argv[0]);
        exit(2);
    }
    if (some) only_read(argv[4]);
    SimDeviceOptions options = {
        .machine = argv[1], .gpus_directory = argv[2], .machine_code = !alone};
    device = device_open_sim(&options, &error);
    if (!device) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    runtime_set_device(device);
    printf("name\tkind\tfamily\tus");
    for (size_t i = 0; i < sizeof COLUMN / sizeof *COLUMN; i++)
        printf("\t%s", COLUMN[i].name);
    printf("\tresident\tregisters\n");
}

void measure_entry(MeasureKind kind, const char *family, const char *name, void (*launch)(void *),
                   void *argument)
{
    static const char *const KIND[] = {"fit", "regression", "lab", "counters", "racing"};
    char message[1024] = "";
    DeviceCost cost;
    DeviceReply reply;
    if (is_left_out(name)) return;
    device->take_cost(device, &cost);
    launch(argument);
    device->execute(device, &(DeviceCall){.kind = CALL_SYNC}, &reply); /* it may fail only now */
    device->take_cost(device, &cost);
    if (runtime_take_failure(message, sizeof message) || reply.status != DEVICE_SUCCESS) {
        fprintf(stderr, "%s: %s\n", name, message[0] ? message : reply.message);
        failed = 1;
    }
    printf("%s\t%s\t%s\t%.3f", name, KIND[kind], family, cost.seconds * 1e6);
    for (size_t i = 0; i < sizeof COLUMN / sizeof *COLUMN; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&cost + COLUMN[i].place, sizeof value);
        printf("\t%" PRIu64, value);
    }
    printf("\t%u\t%u\n", cost.resident_blocks, cost.registers);
    fflush(stdout);
}

int measure_close(void)
{
    device->close(device);
    free(only);
    return failed || ferror(stdout);
}
