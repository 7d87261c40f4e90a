/* build_toolchain.c - paths of the compilers: KEY=value lines written by `make setup`. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build.h"

typedef struct Key {
    const char *name;
    char *value;
    size_t bytes;
} Key;

static int line_take(const Key *keys, size_t count, const char *line)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(keys[i].name);
        if (strncmp(line, keys[i].name, length) || line[length] != '=') continue;
        size_t value = strcspn(line + length + 1, "\r\n");
        if (value >= keys[i].bytes) return -1;
        memcpy(keys[i].value, line + length + 1, value);
        keys[i].value[value] = 0;
    }
    return 0; /* keys of other programs */
}

static int absolute(const char *path, char *out, size_t bytes, Error *error)
{
    char full[PATH_MAX];
    if (!realpath(path, full)) return error_set(error, "%s: %s", path, strerror(errno));
    if (strlen(full) >= bytes) return error_set(error, "%s: the path is too long", path);
    strcpy(out, full);
    return 0;
}

int toolchain_load(const char *root, const char *build_directory, Toolchain *toolchain,
                   Error *error)
{
    *toolchain = (Toolchain){.nvcc = "/usr/local/cuda/bin/nvcc",
                             .include = "/usr/local/cuda/include",
                             .cc = "/usr/bin/cc",
                             .cxx = "/usr/bin/c++"};
    const Key keys[] = {{"NVCC", toolchain->nvcc, sizeof toolchain->nvcc},
                        {"CUDA_INCLUDE", toolchain->include, sizeof toolchain->include},
                        {"CC", toolchain->cc, sizeof toolchain->cc},
                        {"CXX", toolchain->cxx, sizeof toolchain->cxx},
                        {"PTXAS_FLAGS", toolchain->ptxas_flags, sizeof toolchain->ptxas_flags},
                        {"NVCC_FLAGS", toolchain->nvcc_flags, sizeof toolchain->nvcc_flags},
                        {"LEAN", toolchain->lean, sizeof toolchain->lean},
                        {"STEPS", toolchain->steps, sizeof toolchain->steps},
                        {"LINKER", toolchain->linker, sizeof toolchain->linker}};
    char path[1024], line[1024];
    int bad = 0;
    if (absolute(root, toolchain->root, sizeof toolchain->root, error)) return -1;
    if (absolute(build_directory, toolchain->build, sizeof toolchain->build, error)) return -1;
    snprintf(path, sizeof path, "%s/toolchain.env", toolchain->build);
    FILE *file = fopen(path, "r");
    if (!file) return 0; /* not set up: default paths */
    while (fgets(line, sizeof line, file))
        if (line_take(keys, sizeof keys / sizeof *keys, line)) bad = 1;
    fclose(file);
    if (bad) return error_set(error, "%s: a path is too long; run `make setup` again", path);
    return 0;
}
