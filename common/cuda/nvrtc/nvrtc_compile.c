/* nvrtc_compile.c - calls nvcc in a temporary folder. */
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cuda/nvrtc/nvrtc_program.h"

extern char **environ;

enum { PATH_BYTES = 4096, FILE_BYTES = PATH_BYTES + 32, WORDS_OF_OWN = 16, NEWEST = 90 };

/* ---- files ----------------------------------------------------------------------------------- */

/* Writes folder/name, and the folders in `name`: three texts, one after the other. */
static int file_write(const char *folder, const char *name, const char *start, const char *text,
                      const char *end)
{
    char path[PATH_BYTES];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return -1;
    if (strstr(name, "..") || *name == '/') return -1;
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file) return -1;
    int failed = fputs(start, file) < 0 || fputs(text, file) < 0 || fputs(end, file) < 0;
    return fclose(file) != 0 || failed ? -1 : 0;
}

/* The text of folder/name, which the caller frees; NULL if it cannot be read. */
static char *file_read(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return NULL;
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = bytes >= 0 && fseek(file, 0, SEEK_SET) == 0 ? calloc(1, (size_t)bytes + 1) : NULL;
    if (text && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) free(text), text = NULL;
    fclose(file);
    return text;
}

static int entry_remove(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    return remove(path);
}

/* Templates are instantiated by a use in host code. */
static char *names_use(const struct _nvrtcProgram *program)
{
    size_t bytes = 64;
    for (int i = 0; i < program->expressions; i++)
        bytes += strlen(program->expression[i]) + 32;
    char *text = malloc(bytes);
    if (!text) return NULL;
    size_t n = (size_t)snprintf(text, bytes, "\n");
    for (int i = 0; i < program->expressions; i++) {
        const char *name = program->expression[i];
        n += (size_t)snprintf(text + n, bytes - n, "%s(const void *)(%s%s),\n",
                              i ? "" : "const void *simulate_names[] = {", *name == '&' ? "" : "&",
                              name);
    }
    snprintf(text + n, bytes - n, "%s", program->expressions ? "};\n" : "");
    return text;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Options of NVRTC that nvcc does not have, and which change no result here. */
static int is_dropped(const char *option)
{
    static const char *const dropped[] = {"-default-device",
                                          "--device-as-default-execution-space",
                                          "-dopt",
                                          "--dopt",
                                          "-builtin-",
                                          "--builtin-",
                                          "-minimal",
                                          "--minimal",
                                          "-no-cache",
                                          "--no-cache",
                                          "-dlto",
                                          "--dlink-time-opt",
                                          "-pch",
                                          "--pch"};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        if (!strncmp(option, dropped[i], strlen(dropped[i]))) return 1;
    return 0;
}

/* The newest architecture that a simulated machine has replaces a newer one. */
static const char *option_adapt(const char *option)
{
    const char *equals = strchr(option, '='), *number = equals ? strchr(equals, '_') : NULL;
    int is_arch = !strncmp(option, "-arch=", 6) || !strncmp(option, "--gpu-architecture=", 19);
    return is_arch && number && atoi(number + 1) > NEWEST ? "-arch=compute_90" : option;
}

static int has_architecture(int count, const char *const *options)
{
    for (int i = 0; i < count; i++)
        if (!strncmp(options[i], "-arch", 5) || !strncmp(options[i], "--gpu-architecture", 18))
            return 1;
    return 0;
}

/* ---- the compiler ---------------------------------------------------------------------------- */

/* Runs nvcc; its messages go to folder/log.  The exit status, or -1. */
static int nvcc_run(const char *folder, int count, const char *const *options)
{
    char source[FILE_BYTES], ptx[FILE_BYTES], log[FILE_BYTES], include[FILE_BYTES];
    const char *nvcc = getenv("SIMULATE_NVCC");
    if (!nvcc) nvcc = simulate_nvcc ? simulate_nvcc : "nvcc";
    const char **word = calloc((size_t)count + WORDS_OF_OWN, sizeof *word);
    if (!word) return -1;
    snprintf(source, sizeof source, "%s/program.cu", folder);
    snprintf(ptx, sizeof ptx, "%s/program.ptx", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(include, sizeof include, "-I%s", folder);
    const char *own[] = {nvcc,    "-ptx", "-lineinfo", "-Wno-deprecated-gpu-targets",
                         include, "-o",   ptx,         source};
    size_t n = 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        word[n++] = own[i];
    if (!has_architecture(count, options)) word[n++] = "-arch=compute_75";
    for (int i = 0; i < count; i++)
        if (!is_dropped(options[i])) word[n++] = option_adapt(options[i]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int status = -1;
    if (posix_spawnp(&child, nvcc, &actions, NULL, (char **)(uintptr_t)word, environ) == 0)
        waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    free(word);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

nvrtcResult nvrtc_compile(nvrtcProgram program, int count, const char *const *options)
{
    char folder[PATH_BYTES];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/nvrtc.XXXXXX", temporary ? temporary : "/tmp");
    char *names = names_use(program);
    if (!names) return NVRTC_ERROR_OUT_OF_MEMORY;
    if (!mkdtemp(folder)) return free(names), NVRTC_ERROR_INTERNAL_ERROR;
    char line[PATH_BYTES];
    snprintf(line, sizeof line, "#line 1 \"%.1000s\"\n", program->name);
    int failed = file_write(folder, "program.cu", line, program->source, names);
    for (int i = 0; i < program->headers && !failed; i++)
        failed = file_write(folder, program->header[i].name, "", program->header[i].text, "");
    int status = failed ? -1 : nvcc_run(folder, count, options);
    char *log = file_read(folder, "log");
    if (status == -1) {
        free(log);
        log = strdup("simulate: nvcc cannot be started; SIMULATE_NVCC has to name it\n");
    }
    free(program->ptx), free(names);
    program->ptx = status == 0 ? file_read(folder, "program.ptx") : NULL;
    if (log) free(program->log), program->log = log;
    nftw(folder, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    return program->ptx ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}
