/* measure_sim.c - prices and counts on the simulated GPU: each entry is launched once. */
#include "common/validate/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"

static Device *device;
static int failed;

void measure_open(int argc, char **argv)
{
    Error error = {""};
    if (argc != 3) {
        fprintf(stderr, "usage: %s MACHINE DIRECTORY-OF-MACHINES\n", argv[0]);
        exit(2);
    }
    SimDeviceOptions options = {.machine = argv[1], .gpus_directory = argv[2], .machine_code = 1};
    device = device_open_sim(&options, &error);
    if (!device) {
        fprintf(stderr, "%s\n", error.text);
        exit(2);
    }
    runtime_set_device(device);
    printf(
        "name\tset\tfamily\tus\tcycles\tlaunches\twarp_instructions\tthread_instructions\t"
        "load_requests\tload_sectors\tload_hits\tstore_requests\tstore_sectors\tshared_wavefronts\t"
        "local_sectors\tdram_bytes\tresident\tregisters\n");
}

void measure_entry(MeasureSet set, const char *family, const char *name, void (*launch)(void *),
                   void *argument)
{
    static const char *const SET[] = {"fit", "held-out", "layer"};
    char message[1024] = "";
    DeviceCost cost;
    device->take_cost(device, &cost);
    launch(argument);
    device->take_cost(device, &cost);
    if (runtime_take_failure(message, sizeof message)) {
        fprintf(stderr, "%s: %s\n", name, message);
        failed = 1;
    }
    printf("%s\t%s\t%s\t%.3f\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%llu\t%"
           "llu\t%u\t"
           "%u\n",
           name, SET[set], family, cost.seconds * 1e6, (unsigned long long)cost.cycles,
           (unsigned long long)cost.launches, (unsigned long long)cost.warp_instructions,
           (unsigned long long)cost.instructions, (unsigned long long)cost.global_load_requests,
           (unsigned long long)cost.global_load_sectors, (unsigned long long)cost.l1_hit_sectors,
           (unsigned long long)cost.global_store_requests,
           (unsigned long long)cost.global_store_sectors,
           (unsigned long long)cost.shared_wavefronts, (unsigned long long)cost.local_sectors,
           (unsigned long long)cost.dram_bytes, cost.resident_blocks, cost.registers);
    fflush(stdout);
}

int measure_close(void)
{
    device->close(device);
    return failed || ferror(stdout);
}
