/* session_kill.c - the end of a runner; apart from its start, which needs the device process. */
#include <unistd.h>

#include "autograder/session/session_parts.h"

static void descriptor_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void runner_kill(Runner *runner)
{
    if (runner->pid > 0) sandbox_kill(runner->pid);
    descriptor_close(&runner->output);
    descriptor_close(&runner->count);
    runner->pid = 0;
}
