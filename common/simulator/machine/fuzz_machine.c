/* fuzz_machine.c - a libFuzzer target for the descriptions of machines: what is taken holds numbers
 * that a GPU may have, what is refused is refused in one line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/simulator/machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a folder with one good description, so that `like` has something to take over. */
static void folder_make(char *folder, size_t bytes)
{
    char command[256];
    snprintf(folder, bytes, "/tmp/convlab-fuzz-machine-%d", (int)getpid());
    int length =
        snprintf(command, sizeof command,
                 "mkdir -p %s && cp common/simulator/gpus/h200.ini %s/h200.ini", folder, folder);
    if (length >= (int)sizeof command || system(command)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[64], path[sizeof folder + sizeof "/fuzzed.ini"];
    SimtMachine machine;
    Error error = {""};
    if (!folder[0]) {
        folder_make(folder, sizeof folder);
        snprintf(path, sizeof path, "%s/fuzzed.ini", folder);
    }
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    fwrite(data, 1, size, file);
    fclose(file);
    if (machine_load(folder, "fuzzed", &machine, &error)) {
        if (!error.text[0] || strchr(error.text, '\n')) abort();
        return 0;
    }
    if (!machine.sms || !machine.schedulers || !(machine.clock_mhz > 0) ||
        !memchr(machine.title, 0, sizeof machine.title))
        abort();
    return 0;
}
