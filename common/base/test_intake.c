/* Accepted and rejected files, with openat2 and without. */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/intake.h"

static char top[64], folder[80]; /* a folder of the test, which contains the submission */

static void file_make(const char *name, const char *text, size_t bytes)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", top, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), bytes);
    close(fd);
}

static void link_make(const char *to, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(symlink(to, path), 0);
}

static void refused(const char *name, const char *why)
{
    Error error = {""};
    size_t bytes;
    char *text = intake_read(folder, name, 1000, &bytes, &error);
    if (text) fail_msg("%s was taken", name);
    if (!strstr(error.text, why)) fail_msg("%s: not '%s' but: %s", name, why, error.text);
    assert_null(strchr(error.text, '\n'));
}

static void taken(const char *in, const char *name)
{
    Error error = {""};
    size_t bytes;
    char *text = intake_read(in, name, 1000, &bytes, &error);
    if (!text) fail_msg("%s", error.text);
    assert_string_equal(text, "mine");
    assert_int_equal(bytes, 4);
    free(text);
}

static void links_and_special_files_are_rejected(void **state)
{
    char path[256];
    (void)state;
    taken(folder, "lab/conv.cu");
    taken(folder, "full");
    refused("link", "symbolic link");
    refused("lab/link", "symbolic link");
    refused("folder-link/key", "symbolic link");
    refused("folder-link/nothing", "symbolic link");
    refused("../key", "symbolic link");
    refused("/etc/passwd", "symbolic link");
    refused("lab", "not a regular file");
    refused("fifo", "not a regular file");
    refused("lab/conv.cu/x", "Not a directory");
    refused("large", "larger than");
    refused("nul", "NUL byte");
    refused("none", "is missing");
    assert_int_equal(errno, ENOENT);
    if (geteuid()) refused("secret", "permissions");
    /* A path typed by the user may contain links, but the file itself must not be one. */
    snprintf(path, sizeof path, "%s/typed", top);
    taken(path, "full");
    snprintf(path, sizeof path, "%s/typed/full", top);
    taken(NULL, path);
    snprintf(path, sizeof path, "%s/typed/link", top);
    Error error;
    size_t bytes;
    assert_null(intake_read(NULL, path, 1000, &bytes, &error));
}

/* A kernel without openat2; for the rest of this process. */
static void paths_are_checked_without_openat2(void **state)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0), 0);
    assert_int_equal(seccomp_load(filter), 0);
    seccomp_release(filter);
    links_and_special_files_are_rejected(state);
}

static void text_is_harmless(void **state)
{
    char text[] = "a\tb\n\033[2Jc\r\x07 \xc2\x9b"
                  "2J \xe2\x80\xae \xc3\xa9 \xe2\x82\xac \xff\xc3";
    /* An Arabic letter mark, which changes the order, and a tag character, which is not shown. */
    char marks[] = "a\xd8\x9c"
                   "b \xf3\xa0\x81\x81 \xd8\xa7";
    (void)state;
    intake_clean(text);
    assert_string_equal(text, "a\tb\n?[2Jc?? ??2J ??? \xc3\xa9 \xe2\x82\xac ??");
    intake_clean(marks);
    assert_string_equal(marks, "a??b ???? \xd8\xa7");
}

int main(void)
{
    char many[1002];
    strcpy(top, "/tmp/convlab-intake-XXXXXX");
    if (!mkdtemp(top)) return 1;
    snprintf(folder, sizeof folder, "%s/mine", top);
    char path[256];
    snprintf(path, sizeof path, "%s/lab", folder);
    if (mkdir(folder, 0755) || mkdir(path, 0755)) return 1;
    memset(many, 'x', sizeof many);
    file_make("key", "not yours", 9);
    file_make("mine/lab/conv.cu", "mine", 4);
    file_make("mine/full", "mine", 4);
    file_make("mine/large", many, sizeof many);
    file_make("mine/nul", "a\0b", 3);
    file_make("mine/secret", "s", 1);
    snprintf(path, sizeof path, "%s/secret", folder);
    chmod(path, 0);
    snprintf(path, sizeof path, "%s/fifo", folder);
    if (mkfifo(path, 0644)) return 1;
    link_make("../key", "mine/link");
    link_make("../../key", "mine/lab/link");
    link_make("..", "mine/folder-link");
    link_make("mine", "typed");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_and_special_files_are_rejected),
        cmocka_unit_test(paths_are_checked_without_openat2),
        cmocka_unit_test(text_is_harmless),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(path, sizeof path, "rm -rf %s", top);
    return failed + (system(path) != 0);
}
