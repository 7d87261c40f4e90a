/* session_valgrind.c - the command line that runs a program under valgrind. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "autograder/session/session_parts.h"

static const char VALGRIND[] = "/usr/bin/valgrind";

/* The C library selects its memcpy by the processor; this selects the one that every x86-64 has.
 * The colon ends the list: without it glibc 2.36 reads beyond the string, and one run in fifty used
 * another memcpy. */
const char *const count_environment[] = {
    "PATH=/usr/bin:/bin",
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM:", NULL};

void count_arguments(const char *program, const char *argv[COUNT_ARGUMENTS])
{
    const char *const all[] = {VALGRIND,
                               "--tool=cachegrind",
                               "--cache-sim=yes",
                               "--I1=32768,8,64",
                               "--D1=32768,8,64",
                               "--LL=1048576,16,64",
                               "--cachegrind-out-file=/dev/null",
                               "--vgdb=no",
                               "--log-fd=4",
                               program,
                               NULL};
    memcpy(argv, all, sizeof all);
}

const char *session_cannot_count(void)
{
    if (access(VALGRIND, X_OK))
        return "valgrind counts the instructions, and it is not installed: "
               "sudo apt-get install valgrind";
    if (sandbox_counts()) return NULL;
    static char text[600];
    char cause[400];
    sandbox_explain(cause, sizeof cause);
    snprintf(text, sizeof text, "speed points need a sandbox that hides files, and here %s", cause);
    return text;
}
