/* sandbox_explain.c - why this machine lacks the highest level of the sandbox, and the remedy. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox_parts.h"

/* The first line of bubblewrap's output when it makes the sandbox's namespaces. */
static void bwrap_says(char *line, size_t bytes)
{
    char command[400];
    snprintf(command, sizeof command,
             "%s --unshare-user --unshare-pid --unshare-net --ro-bind / / /bin/true 2>&1",
             sandbox_bwrap_path());
    FILE *pipe = popen(command, "r");
    *line = 0;
    if (!pipe) return;
    if (!fgets(line, (int)bytes, pipe)) *line = 0;
    line[strcspn(line, "\n")] = 0;
    pclose(pipe);
}

/* Whether a system-call filter applies to this process: a container or a service has one. */
static int is_filtered(void)
{
    char line[200];
    int mode = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Seccomp: %d", &mode) == 1) break;
    if (status) fclose(status);
    return mode != 0;
}

static int setting_is(const char *path, char value)
{
    FILE *file = fopen(path, "r");
    int first = file ? fgetc(file) : EOF;
    if (file) fclose(file);
    return first == value;
}

static const char *remedy(void)
{
    if (is_filtered() || !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK))
        return "start the container with --security-opt seccomp=unconfined "
               "--security-opt apparmor=unconfined";
    if (setting_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'))
        return "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    if (setting_is("/proc/sys/kernel/unprivileged_userns_clone", '0'))
        return "sudo sysctl kernel.unprivileged_userns_clone=1";
    if (setting_is("/proc/sys/user/max_user_namespaces", '0'))
        return "sudo sysctl user.max_user_namespaces=15000";
    return "use a kernel with user namespaces";
}

void sandbox_explain(char *text, size_t bytes)
{
    char line[160];
    SandboxLevel level = sandbox_probe();
    *text = 0;
    if (level == SANDBOX_NAMESPACES) return;
    if (!sandbox_bwrap_path()) {
        snprintf(text, bytes, "bubblewrap is not installed: sudo apt-get install bubblewrap");
        return;
    }
    bwrap_says(line, sizeof line);
    snprintf(text, bytes, "%s refuses namespaces (%s): %s",
             is_filtered() ? "this container's system-call filter" : "the kernel",
             *line ? line : "bwrap says nothing", remedy());
}
