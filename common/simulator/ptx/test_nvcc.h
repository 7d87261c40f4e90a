/* test_nvcc.h - compiles CUDA sources of a test's own with whatever compilers there are. */
#ifndef CONVLAB_PTX_TEST_NVCC_H
#define CONVLAB_PTX_TEST_NVCC_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char nvcc_directory[64]; /* temporary directory of this test, removed by nvcc_close */

static int nvcc_open(void **state)
{
    (void)state;
    strcpy(nvcc_directory, "/tmp/convlab-test-XXXXXX");
    return mkdtemp(nvcc_directory) ? 0 : -1;
}

static int nvcc_close(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", nvcc_directory);
    return system(command);
}

/* The command to call nvcc by: NVCC, the path's, the toolkit's usual place; NULL and a message
 * where there is none. */
static const char *nvcc_find(void)
{
    const char *chosen = getenv("NVCC");
    if (chosen && *chosen) return chosen;
    if (system("command -v nvcc >/dev/null 2>&1") == 0) return "nvcc";
    if (access("/usr/local/cuda/bin/nvcc", X_OK) == 0) return "/usr/local/cuda/bin/nvcc";
    printf("no nvcc here (set NVCC, or put it on the path): skipped\n");
    return NULL;
}

/* Runs a command in the test's directory, its output in "log" there; 0 when it succeeded. */
__attribute__((format(printf, 1, 2))) static int nvcc_run(const char *format, ...)
{
    char command[2048], whole[2300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(whole, sizeof whole, "cd %s && (%s) >log 2>&1", nvcc_directory, command);
    return system(whole);
}

__attribute__((unused)) static void nvcc_write(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", nvcc_directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Contents of a file of the test's directory, followed by a NUL; to be freed. */
static char *nvcc_read(const char *name, size_t *bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", nvcc_directory, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s was not written", path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *bytes, file), *bytes);
    text[*bytes] = 0;
    fclose(file);
    return text;
}

/* Fails with the compiler's own words. */
static void nvcc_explain(const char *what)
{
    size_t bytes;
    char *log = nvcc_read("log", &bytes);
    fail_msg("%s: %.2000s", what, log);
}

#endif
