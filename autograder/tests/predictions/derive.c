#include "autograder/tests/predictions/derive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/text/text.h"

int sectors_touched(const int64_t byte[MACHINE_WARP_SIZE])
{
    int touched = 0;
    for (int lane = 0; lane < MACHINE_WARP_SIZE; lane++) {
        int seen = byte[lane] < 0;
        for (int before = 0; before < lane; before++)
            seen |= byte[before] >= 0 && byte[before] / 32 == byte[lane] / 32;
        touched += !seen;
    }
    return touched;
}

/* ptxas -v writes "Compiling entry function 'NAME' ..." and, lines later, "Used N registers". */
double registers_compiled(const Given *given, const char *kernel)
{
    const char *nvcc = getenv("NVCC");
    char command[1024], line[1024];
    text_set(command, sizeof command,
             "'%s' -O3 -std=c++17 -arch=sm_90 -Icommon/include -Xptxas -v -cubin -o /dev/null "
             "solutions/%s/%s 2>&1",
             nvcc && *nvcc ? nvcc : "nvcc", given->lab->name, given->lab->ini.source);
    FILE *stream = popen(command, "r");
    int here = 0, registers = 0;
    while (stream && fgets(line, sizeof line, stream)) {
        const char *used = strstr(line, "Used ");
        if (strstr(line, "Compiling entry function")) here = strstr(line, kernel) != NULL;
        if (here && used) sscanf(used, "Used %d registers", &registers);
    }
    if (!stream || pclose(stream) || !registers) {
        fprintf(stderr, "no registers of '%s' from: %s\n", kernel, command);
        return NAN;
    }
    return registers;
}
