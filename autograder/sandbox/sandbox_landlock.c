/* sandbox_landlock.c - Landlock ruleset that hides the file system if the kernel refuses
 * namespaces.
 *
 * The C library has no wrappers for the three system calls. */
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/landlock.h>

#include "autograder/sandbox/sandbox_parts.h"

/* Rights of the first version of the interface, which every kernel with Landlock supports. */
#define READ_RIGHTS                                                                                \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define SCRATCH_RIGHTS                                                                             \
    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |  \
     LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define FILE_RIGHTS                                                                                \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE)

static int path_allow(int ruleset, const char *path, uint64_t rights)
{
    struct stat status;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    int fd = open(path, O_PATH | O_CLOEXEC), rc;
    if (fd < 0) return 0; /* the path does not exist */
    if (!fstat(fd, &status) && !S_ISDIR(status.st_mode)) rule.allowed_access &= FILE_RIGHTS;
    rule.parent_fd = fd;
    rc = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(fd);
    return rc;
}

int sandbox_landlock_open(const SandboxSpec *spec)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
                                          NULL};
    static const char *const roots[] = {"/lib", "/lib64", "/bin", NULL};
    struct landlock_ruleset_attr attributes = {.handled_access_fs = ALL_RIGHTS};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0),
        rc = 0;
    if (ruleset < 0) return -1;
    for (const char *const *path = sandbox_system_paths; *path; path++)
        rc |= path_allow(ruleset, *path, READ_RIGHTS);
    for (const char *const *path = roots; *path; path++)
        rc |= path_allow(ruleset, *path, READ_RIGHTS);
    for (const char *const *path = devices; *path; path++)
        rc |= path_allow(ruleset, *path, READ_RIGHTS | LANDLOCK_ACCESS_FS_WRITE_FILE);
    for (const char *const *path = spec->read_only; *path; path++)
        rc |= path_allow(ruleset, *path, READ_RIGHTS);
    for (const char *const *path = spec->writable; *path; path++)
        rc |= path_allow(ruleset, *path, ALL_RIGHTS);
    if (spec->scratch) rc |= path_allow(ruleset, spec->scratch, SCRATCH_RIGHTS);
    if (!rc) return ruleset;
    close(ruleset);
    return -1;
}

int sandbox_landlock_add_proc(int ruleset)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = READ_RIGHTS};
    rule.parent_fd = open("/proc/self/", O_PATH | O_CLOEXEC | O_DIRECTORY);
    if (rule.parent_fd < 0) return -1;
    if (!syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
        return rule.parent_fd;
    close(rule.parent_fd);
    return -1;
}

int sandbox_landlock_enforce(int ruleset)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
