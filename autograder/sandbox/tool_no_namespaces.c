/* tool_no_namespaces.c - runs a command as in a container without namespaces.
 *
 *   tool_no_namespaces [--no-landlock] COMMAND...
 *
 * A system-call filter refuses what Docker's default filter refuses to a container without further
 * capabilities: new namespaces, mounts, ptrace and fixed addresses. */
#include <errno.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

static int refuse(scmp_filter_ctx filter, const char *name, int number)
{
    int call = seccomp_syscall_resolve_name(name);
    return call == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(filter, SCMP_ACT_ERRNO(number), call, 0);
}

static int rules_add(scmp_filter_ctx filter, int with_landlock)
{
    static const char *const names[] = {"unshare",    "setns",  "mount",      "umount2",
                                        "pivot_root", "ptrace", "move_mount", "fsmount",
                                        "open_tree",  "fsopen"};
    static const unsigned long flags[] = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWPID,   CLONE_NEWNET,
                                          CLONE_NEWIPC, CLONE_NEWUTS,  CLONE_NEWCGROUP};
    int rc = refuse(filter, "clone3", ENOSYS); /* its flags are in memory */
    for (size_t i = 0; i < sizeof names / sizeof *names && !rc; i++)
        rc = refuse(filter, names[i], EPERM);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && !rc; i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    if (!rc)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1,
                              SCMP_A0(SCMP_CMP_EQ, ADDR_NO_RANDOMIZE));
    if (!with_landlock && !rc) rc = refuse(filter, "landlock_create_ruleset", ENOSYS);
    return rc;
}

int main(int argc, char **argv)
{
    int with_landlock = argc < 2 || strcmp(argv[1], "--no-landlock") != 0;
    char **command = argv + (with_landlock ? 1 : 2);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (argc < 2 || !*command) {
        fprintf(stderr, "usage: tool_no_namespaces [--no-landlock] COMMAND...\n");
        return 2;
    }
    if (!filter || rules_add(filter, with_landlock) || seccomp_load(filter)) {
        fprintf(stderr, "tool_no_namespaces: the filter cannot be loaded: %s\n", strerror(errno));
        return 2;
    }
    seccomp_release(filter);
    execvp(*command, command);
    fprintf(stderr, "tool_no_namespaces: %s: %s\n", *command, strerror(errno));
    return 2;
}
