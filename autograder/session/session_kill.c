/* session_kill.c - the end of a runner; apart from its start, which needs the device process. */
#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"

static void descriptor_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* The runner cannot create directories in it. */
static void scratch_remove(Runner *runner)
{
    DIR *directory = *runner->scratch ? opendir(runner->scratch) : NULL;
    if (!directory) return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(runner->scratch);
    *runner->scratch = 0;
}

void runner_kill(Runner *runner)
{
    if (runner->pid > 0) sandbox_kill(runner->pid);
    descriptor_close(&runner->output);
    descriptor_close(&runner->count);
    scratch_remove(runner);
    runner->pid = 0;
}
