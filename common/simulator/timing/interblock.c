/* interblock.c - what blocks that wait for each other share. */
#include "common/simulator/timing/interblock.h"

#include <stdlib.h>
#include <sys/mman.h>

int meetings_open(Launch *launch)
{
    launch->queue = calloc(HOT_ADDRESSES, sizeof *launch->queue);
    launch->answered = address_space(launch->fetches * sizeof *launch->answered);
    return launch->queue && launch->answered ? 0 : -1;
}

void meetings_close(Launch *launch)
{
    free(launch->queue);
    if (launch->answered) munmap(launch->answered, launch->fetches * sizeof *launch->answered);
}
