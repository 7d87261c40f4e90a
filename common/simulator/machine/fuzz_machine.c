/* fuzz_machine.c - a libFuzzer target for the descriptions of machines: what is taken holds numbers
 * that a GPU may have, what is refused is refused in one line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/simulator/machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a folder with one good description, so that `like` has something to take over, and with the
 * architectures.  The input is read as a GPU and, with the name of its architecture before it, as
 * another one's architecture. */
static void folder_make(char *folder, size_t bytes)
{
    char command[1024];
    snprintf(folder, bytes, "/tmp/convlab-fuzz-machine-%d", (int)getpid());
    int length =
        snprintf(command, sizeof command,
                 "mkdir -p %s && cp -r common/simulator/gpus/h200.ini "
                 "common/simulator/gpus/architectures %s && cd %s && "
                 "sed 's/^architecture = .*/architecture = sm93/; s/^cc_minor = .*/cc_minor = 3/' "
                 "h200.ini >other.ini",
                 folder, folder, folder);
    if (length >= (int)sizeof command || system(command)) abort();
}

static void input_write(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file) abort();
    fwrite(data, 1, size, file);
    fclose(file);
}

/* Costs of a machine that was accepted are in their ranges. */
static void machine_judge(const char *folder, const char *name)
{
    SimtMachine machine;
    Error error = {""};
    char text[4000];
    if (machine_load(folder, name, &machine, &error)) {
        if (!error.text[0] || strchr(error.text, '\n')) abort();
        return;
    }
    if (!machine.sms || !machine.schedulers || !(machine.clock_mhz > 0) ||
        !memchr(machine.title, 0, sizeof machine.title))
        abort();
    if (!machine.costs.retry_passes || !machine.costs.l2_halves || machine.costs.l2_halves > 2 ||
        machine.costs.store_buffer_lines > 64 || machine.costs.const_l1_lines > 256 ||
        machine.has.wgmma > 1)
        abort();
    machine_unmeasured(&machine, text, sizeof text);
    if (text[0] && !machine.unmeasured_costs) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char folder[64], path[sizeof folder + sizeof "/architectures/sm93.ini"];
    if (!folder[0]) folder_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/fuzzed.ini", folder);
    input_write(path, data, size);
    machine_judge(folder, "fuzzed");
    snprintf(path, sizeof path, "%s/architectures/sm93.ini", folder);
    input_write(path, data, size);
    machine_judge(folder, "other");
    return 0;
}
