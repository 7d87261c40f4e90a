/* sandbox_bwrap.c - bubblewrap's command line for a sandbox. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/sandbox/sandbox_parts.h"

/* Not all of /usr: /usr/local, /usr/src and /usr/share may contain somebody's work, including this
 * course.  /usr/local is limited to the files that the linker and the loader need. */
const char *const sandbox_system_paths[] = {"/usr/bin",
                                            "/usr/sbin",
                                            "/usr/lib",
                                            "/usr/lib32",
                                            "/usr/lib64",
                                            "/usr/libx32",
                                            "/usr/libexec",
                                            "/usr/include",
                                            "/etc/alternatives",
                                            "/etc/ld.so.cache",
                                            "/usr/local/lib",
                                            "/usr/local/lib64",
                                            NULL};

/* Directories that are links on a merged-/usr system and real directories elsewhere. */
static const char *const root_paths[] = {"/bin",   "/sbin",   "/lib", "/lib32",
                                         "/lib64", "/libx32", NULL};

enum { ARGUMENTS = 256, TEXT_BYTES = 16384 };

typedef struct Arguments {
    char *slot[ARGUMENTS];
    char text[TEXT_BYTES];
    size_t count, used;
    int overflow;
} Arguments;

static void argument_add(Arguments *arguments, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (arguments->count + 1 >= ARGUMENTS || arguments->used + bytes > TEXT_BYTES) {
        arguments->overflow = 1;
        return;
    }
    char *copy = memcpy(arguments->text + arguments->used, text, bytes);
    arguments->used += bytes;
    arguments->slot[arguments->count++] = copy;
}

static void arguments_add(Arguments *arguments, const char *const *list)
{
    for (; *list; list++)
        argument_add(arguments, *list);
}

#define ADD(arguments, ...) arguments_add(arguments, (const char *const[]){__VA_ARGS__, NULL})

const char *sandbox_bwrap_path(void)
{
    static const char *const places[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!access(places[i], X_OK)) return places[i];
    return NULL;
}

static void system_add(Arguments *arguments)
{
    for (const char *const *path = sandbox_system_paths; *path; path++)
        ADD(arguments, "--ro-bind-try", *path, *path);
    for (const char *const *path = root_paths; *path; path++) {
        struct stat status;
        char target[256];
        ssize_t bytes = readlink(*path, target, sizeof target - 1);
        if (bytes > 0) {
            target[bytes] = 0;
            ADD(arguments, "--symlink", target, *path);
        } else if (!stat(*path, &status)) {
            ADD(arguments, "--ro-bind", *path, *path);
        }
    }
}

/* Hides the C library's debug information, because valgrind would read it, which takes longer than
 * its start. */
static void traced_add(Arguments *arguments, const char *bytes)
{
    static const char lines[] = "/usr/lib/debug";
    ADD(arguments, "--proc", "/proc");
    if (!access(lines, F_OK))
        ADD(arguments, "--size", bytes, "--tmpfs", lines, "--remount-ro", lines);
}

/* Small, because their files are in memory; the root and /dev are then made read-only, because they
 * are in memory too. */
static void private_add(Arguments *arguments, const SandboxSpec *spec)
{
    const char *bytes = spec->processes == 1 ? "16777216" : "536870912";
    ADD(arguments, "--size", bytes, "--tmpfs", "/tmp", "--dev", "/dev", "--size", bytes, "--tmpfs",
        "/dev/shm");
    if (spec->traced) traced_add(arguments, bytes);
    for (const char *const *path = spec->read_only; *path; path++)
        ADD(arguments, "--ro-bind", *path, *path);
    for (const char *const *path = spec->writable; *path; path++)
        ADD(arguments, "--bind", *path, *path);
    ADD(arguments, "--remount-ro", "/dev", "--remount-ro", "/");
}

static void environment_add(Arguments *arguments, const SandboxSpec *spec)
{
    ADD(arguments, "--clearenv");
    for (const char *const *pair = spec->environment; pair && *pair; pair++) {
        char key[64];
        const char *equals = strchr(*pair, '=');
        size_t bytes = equals ? (size_t)(equals - *pair) : sizeof key;
        if (bytes >= sizeof key) {
            arguments->overflow = 1;
            return;
        }
        memcpy(key, *pair, bytes);
        key[bytes] = 0;
        ADD(arguments, "--setenv", key, equals + 1);
    }
}

char **sandbox_bwrap_arguments(const SandboxSpec *spec, int filter_fd)
{
    char number[16];
    Arguments *arguments = calloc(1, sizeof *arguments);
    if (!arguments) return NULL;
    ADD(arguments, sandbox_bwrap_path(), "--unshare-user", "--unshare-pid", "--unshare-net",
        "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "convlab",
        "--die-with-parent", "--new-session", "--cap-drop", "ALL");
    system_add(arguments);
    private_add(arguments, spec);
    environment_add(arguments, spec);
    snprintf(number, sizeof number, "%d", filter_fd);
    ADD(arguments, "--seccomp", number, "--chdir", spec->directory ? spec->directory : "/tmp",
        "--");
    arguments_add(arguments, spec->argv);
    if (!arguments->overflow) return arguments->slot; /* the first member, so free() takes it */
    free(arguments);
    return NULL;
}
