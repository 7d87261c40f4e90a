/* interblock.c - what blocks that wait for each other share. */
#include "common/simulator/timing/interblock.h"

#include <stdlib.h>
#include <sys/mman.h>

int interblock_open(Launch *launch)
{
    launch->interblock.queue = calloc(HOT_ADDRESSES, sizeof *launch->interblock.queue);
    launch->interblock.fetch_done_at =
        address_space(launch->touched.fetches * sizeof *launch->interblock.fetch_done_at);
    return launch->interblock.queue && launch->interblock.fetch_done_at ? 0 : -1;
}

void interblock_close(Launch *launch)
{
    free(launch->interblock.queue);
    if (launch->interblock.fetch_done_at)
        munmap(launch->interblock.fetch_done_at,
               launch->touched.fetches * sizeof *launch->interblock.fetch_done_at);
}
