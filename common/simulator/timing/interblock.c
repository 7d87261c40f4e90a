/* interblock.c - what blocks that wait for each other share. */
#include "common/simulator/timing/interblock.h"

#include <stdlib.h>
#include <sys/mman.h>

int interblock_open(Launch *launch)
{
    launch->queue = calloc(HOT_ADDRESSES, sizeof *launch->queue);
    launch->fetch_done_at = address_space(launch->fetches * sizeof *launch->fetch_done_at);
    return launch->queue && launch->fetch_done_at ? 0 : -1;
}

void interblock_close(Launch *launch)
{
    free(launch->queue);
    if (launch->fetch_done_at)
        munmap(launch->fetch_done_at, launch->fetches * sizeof *launch->fetch_done_at);
}
