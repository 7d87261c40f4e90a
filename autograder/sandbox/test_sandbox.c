/* test_sandbox.c - isolation and limits of the sandbox, tried from inside.
 *
 * The test program runs itself in the sandbox with the name of one attempt; an attempt ends with 0
 * if it was denied and with 1 if it succeeded.  Every attempt that is denied at a level is also
 * made outside, where it must succeed: otherwise the test would show nothing. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/sandbox/sandbox.h"
#include "autograder/sandbox/test_hogs.h"
#include "common/base/sanitized.h"

/* The sanitizer reserves terabytes of addresses. */
enum { MEMORY = SANITIZED ? 0 : 512 << 20 };

/* ---- attempts, made inside: 1 if it succeeded ------------------------------------------------ */

static int try_read(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY);
    return fd >= 0 && (read(fd, &byte, 1) >= 0 || errno == EISDIR);
}

static int try_library(const char *path)
{
    return dlopen(path, RTLD_NOW) != NULL;
}

static int try_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    return fd >= 0 && write(fd, "x", 1) == 1;
}

static int try_socket(const char *argument)
{
    (void)argument;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int try_fork(const char *argument)
{
    (void)argument;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid > 0;
}

static void *thread_nothing(void *argument)
{
    return argument;
}

static int try_thread(const char *argument)
{
    pthread_t thread;
    (void)argument;
    return !pthread_create(&thread, NULL, thread_nothing, NULL);
}

static int try_ptrace(const char *argument)
{
    (void)argument;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static int try_namespace(const char *argument)
{
    (void)argument;
    return unshare(CLONE_NEWUSER) == 0;
}

static int try_memory(const char *argument)
{
    void *block = mmap(NULL, strtoull(argument, NULL, 10), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block != MAP_FAILED;
}

static int try_spin(const char *argument)
{
    (void)argument;
    for (volatile unsigned long i = 1; i; i = i + 1) {
    }
    return 1;
}

static int spin_for(double seconds)
{
    while ((double)clock() / CLOCKS_PER_SEC < seconds) {
    }
    return 0;
}

static int try_work(const char *argument)
{
    (void)argument;
    return spin_for(0.5);
}

/* Starts one child after another. */
static int try_breed(const char *argument)
{
    (void)argument;
    for (int i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid < 0) return 1;
        if (pid == 0) _exit(spin_for(0.25));
        waitpid(pid, NULL, 0);
    }
    return 1;
}

static int try_sleep(const char *argument)
{
    (void)argument;
    for (;;)
        sleep(100);
    return 1;
}

/* Wakes up briefly, again and again. */
static int try_nap(const char *argument)
{
    (void)argument;
    for (;;)
        usleep(1000);
    return 1;
}

static int try_stop(const char *argument)
{
    (void)argument;
    return raise(SIGSTOP);
}

static int try_file(const char *argument)
{
    static char block[1 << 16];
    int fd = open(argument, O_WRONLY | O_CREAT, 0600);
    if (fd < 0) return 0;
    for (int i = 0; i < 512; i++)
        if (write(fd, block, sizeof block) <= 0) return 0;
    return 1;
}

static int try_temporary(const char *argument)
{
    return open(argument, O_TMPFILE | O_RDWR, 0600) >= 0;
}

static int try_folder(const char *argument)
{
    return mkdir(argument, 0700) == 0;
}

static int try_affinity(const char *argument)
{
    cpu_set_t set;
    (void)argument;
    memset(&set, 0xff, sizeof set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

static int try_descriptor(const char *argument)
{
    return fcntl(atoi(argument), F_GETFD) >= 0;
}

static int try_parent(const char *argument)
{
    return kill(atoi(argument), 0) == 0;
}

static int try_environment(const char *argument)
{
    return getenv(argument) != NULL;
}

static int try_flood(const char *argument)
{
    (void)argument;
    static const char line[] = "a line of noise that goes on and on\n";
    for (;;) {
        if (write(1, line, sizeof line - 1) < 0) return 0;
    }
}

static int try_signal(const char *argument)
{
    signal(atoi(argument), SIG_DFL);
    return raise(atoi(argument)) == 0;
}

typedef struct Attempt {
    const char *name;
    int (*function)(const char *argument);
} Attempt;

static const Attempt attempts[] = {
    {"read", try_read},           {"library", try_library},   {"write", try_write},
    {"socket", try_socket},       {"fork", try_fork},         {"thread", try_thread},
    {"ptrace", try_ptrace},       {"memory", try_memory},     {"spin", try_spin},
    {"file", try_file},           {"affinity", try_affinity}, {"descriptor", try_descriptor},
    {"parent", try_parent},       {"flood", try_flood},       {"environment", try_environment},
    {"namespace", try_namespace}, {"signal", try_signal},     {"work", try_work},
    {"breed", try_breed},         {"sleep", try_sleep},       {"nap", try_nap},
    {"stop", try_stop},           {"folder", try_folder},     {"temporary", try_temporary},
};

static int attempt_make(const char *name, const char *argument)
{
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (!strcmp(attempts[i].name, name)) return attempts[i].function(argument);
    return 77;
}

/* ---- the test's side ------------------------------------------------------------------------- */

static char local_library[64], self[512], self_directory[512], secret[64], private_directory[64];

static SandboxEnd run_attempt(SandboxSpec *spec, const char *name, const char *argument,
                              double seconds)
{
    const char *argv[] = {self, "attempt", name, argument, NULL};
    char output[4096];
    SandboxEnd end;
    Error error;
    spec->argv = argv;
    spec->read_only[0] = self_directory;
    if (!spec->file_bytes) spec->file_bytes = 1 << 20;
    if (!spec->processes) spec->processes = 1;
    if (sandbox_run(spec, seconds, output, sizeof output, &end, &error)) fail_msg("%s", error.text);
    if (output[0] && strcmp(name, "flood")) print_message("%s", output);
    return end;
}

/* Whether an attempt succeeds here, outside of the sandbox. */
static int attempt_works(const char *name, const char *argument)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(attempt_make(name, argument));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status) == 1;
}

/* Denied inside, and successful here, so that the attempt is known to be a real one. */
static void expect_refused(const char *name, const char *argument, int outside)
{
    SandboxSpec spec = {.memory_bytes = MEMORY};
    SandboxEnd end = run_attempt(&spec, name, argument, 20);
    if (end.code != 0) fail_msg("%s %s: code %d, signal %d", name, argument, end.code, end.signal);
    if (!outside) return;
    assert_true(attempt_works(name, argument));
}

static int boxed(void)
{
    return sandbox_probe() == SANDBOX_NAMESPACES;
}

static void test_level(void **state)
{
    (void)state;
    print_message("sandbox: %s\n", sandbox_level_name(sandbox_probe()));
    assert_true(sandbox_probe() >= SANDBOX_SECCOMP);
}

static void test_sees_nothing(void **state)
{
    (void)state;
    expect_refused("read", secret, 1);
    expect_refused("read", "/etc/passwd", 1);
    expect_refused("read", "/root", getuid() == 0);
    expect_refused("read", "/proc/1/cmdline", 0);
    expect_refused("read", "/home", 1);
    expect_refused("write", "/usr/lib/convlab-was-here", 0);
}

/* cmocka's own library under another name, so that the loader has to read the file. */
static int library_copy(const char *to)
{
    Dl_info info;
    char block[1 << 16];
    size_t bytes;
    if (!dladdr((void *)(uintptr_t)cmocka_set_message_output, &info)) return -1;
    FILE *in = fopen(info.dli_fname, "rb"), *out = fopen(to, "wb");
    while (in && out && (bytes = fread(block, 1, sizeof block, in)) > 0)
        fwrite(block, 1, bytes, out);
    if (in) fclose(in);
    return out ? fclose(out) : -1;
}

/* A library under /usr/local is visible inside; other files of /usr/local are not. */
static void test_local_libraries(void **state)
{
    (void)state;
    SandboxSpec spec = {.memory_bytes = MEMORY};
    if (library_copy(local_library)) skip(); /* only root can install one */
    SandboxEnd end = run_attempt(&spec, "library", local_library, 20);
    unlink(local_library);
    assert_int_equal(end.code, 1);
    expect_refused("read", "/usr/local/bin", 1);
}

static void test_system_calls(void **state)
{
    (void)state;
    expect_refused("socket", "", 1);
    expect_refused("fork", "", 1);
    expect_refused("thread", "", 1);
    expect_refused("ptrace", "", attempt_works("ptrace", "")); /* a container may refuse it too */
    expect_refused("namespace", "", 0);
}

static void test_inherits_nothing(void **state)
{
    char number[16];
    (void)state;
    int fd = open("/dev/null", O_RDONLY); /* not close-on-exec, like a careless caller's */
    assert_true(fd >= 3);
    snprintf(number, sizeof number, "%d", fd);
    expect_refused("descriptor", number, 1);
    for (int i = 3; i < 40; i++) {
        snprintf(number, sizeof number, "%d", i);
        expect_refused("descriptor", number, 0);
    }
    close(fd);
    setenv("CONVLAB_SECRET", "x", 1);
    expect_refused("environment", "CONVLAB_SECRET", 1);
    expect_refused("environment", "PATH", 1);
}

static void test_passes_descriptors(void **state)
{
    SandboxSpec spec = {.passes = 2};
    (void)state;
    spec.pass_fd[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    spec.pass_fd[1] = spec.pass_fd[0];
    assert_int_equal(run_attempt(&spec, "descriptor", "3", 20).code, 1);
    assert_int_equal(run_attempt(&spec, "descriptor", "4", 20).code, 1);
    assert_int_equal(run_attempt(&spec, "descriptor", "5", 20).code, 0);
    close(spec.pass_fd[0]);
}

static void test_other_processes(void **state)
{
    char number[16];
    (void)state;
    snprintf(number, sizeof number, "%d", (int)getpid());
    expect_refused("parent", number, 1);
}

static void test_memory_limit(void **state)
{
    (void)state;
    if (MEMORY) expect_refused("memory", "1073741824", 1);
    SandboxSpec spec = {.memory_bytes = MEMORY};
    assert_int_equal(run_attempt(&spec, "memory", "1048576", 20).code, 1);
}

static void test_cpu_limit(void **state)
{
    SandboxSpec spec = {.cpu_seconds = 0.5};
    (void)state;
    SandboxEnd end = run_attempt(&spec, "spin", "", 20);
    assert_int_equal(end.excess, EXCESS_NONE);
    assert_true(end.signal == SIGXCPU || end.signal == SIGKILL);
}

static void test_cpu_is_metered(void **state)
{
    SandboxSpec spec = {.processes = 8};
    (void)state;
    SandboxEnd end = run_attempt(&spec, "spin", "", 0.5);
    assert_int_equal(end.excess, EXCESS_CPU);
    assert_true(end.used > 0.5 && end.used < 2);
    /* Children count, including those that have ended: each of them alone uses a quarter of the
     * second. */
    end = run_attempt(&spec, "breed", "", 1);
    assert_int_equal(end.excess, EXCESS_CPU);
}

/* A program that uses no CPU time ends too, in whatever way it waits. */
static void test_waiting_is_metered(void **state)
{
    static const char *const ways[] = {"sleep", "nap", "stop"};
    SandboxSpec spec = {.processes = 1};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        SandboxEnd end = run_attempt(&spec, ways[i], "", 0.5);
        if (end.excess != EXCESS_WAITED) fail_msg("%s: %d", ways[i], end.excess);
        assert_true(end.used < 0.3);
    }
}

/* Forty other processes on its processor leave it less than a thirtieth: not the program's
 * fault. */
static void test_starvation_is_reported(void **state)
{
    enum { HOGS = 40 };
    SandboxSpec spec = {.one_core = 1};
    Hogs hogs;
    (void)state;
    hogs_pin(&hogs);
    hogs_start(&hogs, HOGS);
    setenv("CONVLAB_PATIENCE", "30", 1);
    SandboxEnd end = run_attempt(&spec, "spin", "", 0.1);
    setenv("CONVLAB_PATIENCE", "1000", 1);
    hogs_stop(&hogs);
    assert_int_equal(end.excess, EXCESS_STARVED);
    assert_true(end.used < 0.13);
}

/* On a processor with three other processes, half a second of work takes seconds; this is not
 * waiting. */
static void test_starvation_is_not_charged(void **state)
{
    SandboxSpec spec = {.one_core = 1};
    Hogs hogs;
    (void)state;
    hogs_pin(&hogs);
    hogs_start(&hogs, 3);
    SandboxEnd end = run_attempt(&spec, "work", "", 0.8);
    hogs_stop(&hogs);
    assert_int_equal(end.excess, EXCESS_NONE);
    assert_int_equal(end.code, 0);
    assert_true(end.seconds > 2 * 0.8); /* a wall-clock limit would have ended it */
}

static void test_file_limit(void **state)
{
    char path[128];
    struct stat status;
    SandboxSpec spec = {.writable = {private_directory}};
    (void)state;
    snprintf(path, sizeof path, "%s/big", private_directory);
    SandboxEnd end = run_attempt(&spec, "file", path, 20);
    assert_int_equal(end.signal, SIGXFSZ);
    assert_int_equal(stat(path, &status), 0); /* the directory was really writable */
    assert_true(status.st_size <= 1 << 20);
    unlink(path);
}

static void test_private_memory_files(void **state)
{
    (void)state;
    if (!boxed()) skip();
    SandboxSpec spec = {.file_bytes = 1ull << 30};
    assert_int_equal(run_attempt(&spec, "file", "/tmp/fill", 20).code, 0); /* 32 MiB into 16 */
    assert_int_equal(run_attempt(&spec, "file", "/dev/shm/fill", 20).code, 0);
    assert_int_equal(run_attempt(&spec, "write", "/tmp/small", 20).code, 1);
    assert_int_equal(run_attempt(&spec, "write", "/outside", 20).code, 0);
    assert_int_equal(run_attempt(&spec, "write", "/dev/outside", 20).code, 0);
}

static void test_one_core(void **state)
{
    SandboxSpec spec = {.one_core = 1}, other = {.one_core = 0};
    (void)state;
    assert_int_equal(run_attempt(&spec, "affinity", "", 20).code, 0);
    assert_int_equal(run_attempt(&other, "affinity", "", 20).code, 1);
}

/* Valgrind starts in half the time if it finds no debug information of the C library, and the files
 * in its place are read-only. */
static void test_traced(void **state)
{
    static const char lines[] = "/usr/lib/debug/.build-id";
    SandboxSpec spec = {.traced = 1}, other = {.traced = 0};
    (void)state;
    if (!boxed() || access(lines, F_OK)) skip();
    assert_int_equal(run_attempt(&spec, "read", lines, 20).code, 0);
    assert_int_equal(run_attempt(&other, "read", lines, 20).code, 1);
    assert_int_equal(run_attempt(&spec, "write", "/usr/lib/debug/outside", 20).code, 0);
}

static void test_flood(void **state)
{
    SandboxSpec spec = {.cpu_seconds = 0};
    (void)state;
    assert_int_equal(run_attempt(&spec, "flood", "", 30).flooded, 1);
}

static void test_signals_are_named(void **state)
{
    SandboxSpec spec = {.cpu_seconds = 0};
    (void)state;
    assert_int_equal(run_attempt(&spec, "signal", "8", 20).signal, SIGFPE);
    assert_int_equal(run_attempt(&spec, "signal", "6", 20).signal, SIGABRT);
}

/* Files end a program that may create none, at every level; it may open those that exist. */
static void test_no_files(void **state)
{
    SandboxSpec spec = {.no_files = 1};
    (void)state;
    assert_int_equal(run_attempt(&spec, "write", "/tmp/small", 20).signal, SIGSYS);
    assert_int_equal(run_attempt(&spec, "temporary", "/tmp", 20).signal, SIGSYS);
    assert_int_equal(run_attempt(&spec, "read", "/dev/null", 20).code, 1);
}

/* A program under valgrind has a place for valgrind's files and its own entry of /proc. */
static void test_scratch(void **state)
{
    char path[128];
    SandboxSpec spec = {.traced = 1, .scratch = private_directory, .passes = 0};
    (void)state;
    if (sandbox_probe() != SANDBOX_LANDLOCK) skip();
    snprintf(path, sizeof path, "%s/file", private_directory);
    assert_int_equal(run_attempt(&spec, "write", path, 20).code, 1);
    unlink(path);
    snprintf(path, sizeof path, "%s/folder", private_directory);
    assert_int_equal(run_attempt(&spec, "folder", path, 20).code, 0);
    assert_int_equal(run_attempt(&spec, "read", "/proc/self/maps", 20).code, 1);
    assert_int_equal(run_attempt(&spec, "read", "/proc/1/cmdline", 20).code, 0);
}

static void test_missing_program(void **state)
{
    const char *argv[] = {"/nowhere/at/all", NULL};
    SandboxSpec spec = {.argv = argv, .file_bytes = 1 << 20, .processes = 1};
    SandboxEnd end;
    char output[256];
    (void)state;
    assert_int_equal(sandbox_run(&spec, 10, output, sizeof output, &end, NULL), 0);
    assert_true(end.code > 0);
}

/* A killed grader leaves no processes. */
static void test_dies_with_parent(void **state)
{
    int ends[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        const char *argv[] = {self, "attempt", "spin", "", NULL};
        SandboxSpec spec = {.argv = argv, .file_bytes = 1, .processes = 1, .output_fd = 1};
        spec.read_only[0] = self_directory;
        spec.pass_fd[0] = ends[1];
        spec.passes = 1;
        if (sandbox_start(&spec, NULL) < 0) _exit(1);
        usleep(200000);
        raise(SIGKILL);
    }
    close(ends[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* the last process with the other end has
                                                   * ended */
    close(ends[0]);
}

static int lower(void **state)
{
    (void)state;
    sandbox_lower(SANDBOX_LANDLOCK);
    print_message("lowered: %s\n", sandbox_level_name(sandbox_probe()));
    return 0;
}

static void test_landlock_hides_files(void **state)
{
    (void)state;
    if (sandbox_probe() != SANDBOX_LANDLOCK) skip();
    test_sees_nothing(state);
}

static void setup_files(void)
{
    ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    if (bytes > 0) self[bytes] = 0;
    snprintf(self_directory, sizeof self_directory, "%s", self);
    *strrchr(self_directory, '/') = 0;
    snprintf(local_library, sizeof local_library, "/usr/local/lib/libconvlab-test-%d.so",
             (int)getpid());
    snprintf(secret, sizeof secret, "/var/tmp/convlab-secret-XXXXXX");
    snprintf(private_directory, sizeof private_directory, "/var/tmp/convlab-private-XXXXXX");
    int fd = mkstemp(secret);
    if (fd < 0 || write(fd, "secret\n", 7) != 7 || !mkdtemp(private_directory)) exit(1);
    close(fd);
}

int main(int argc, char **argv)
{
    /* _exit: the leak checker of a sanitized build would want ptrace. */
    if (argc > 3 && !strcmp(argv[1], "attempt")) _exit(attempt_make(argv[2], argv[3]));
    setup_files();
    const struct CMUnitTest full[] = {
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_sees_nothing),
        cmocka_unit_test(test_local_libraries),
        cmocka_unit_test(test_system_calls),
        cmocka_unit_test(test_inherits_nothing),
        cmocka_unit_test(test_passes_descriptors),
        cmocka_unit_test(test_other_processes),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_cpu_limit),
        cmocka_unit_test(test_cpu_is_metered),
        cmocka_unit_test(test_waiting_is_metered),
        cmocka_unit_test(test_starvation_is_not_charged),
        cmocka_unit_test(test_starvation_is_reported),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_private_memory_files),
        cmocka_unit_test(test_one_core),
        cmocka_unit_test(test_traced),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_signals_are_named),
        cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_missing_program),
        cmocka_unit_test(test_dies_with_parent),
    };
    const struct CMUnitTest lowered[] = {
        cmocka_unit_test(test_landlock_hides_files),
        cmocka_unit_test(test_local_libraries),
        cmocka_unit_test(test_system_calls),
        cmocka_unit_test(test_inherits_nothing),
        cmocka_unit_test(test_passes_descriptors),
        cmocka_unit_test(test_other_processes),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_cpu_limit),
        cmocka_unit_test(test_file_limit),
        cmocka_unit_test(test_dies_with_parent),
        cmocka_unit_test(test_waiting_is_metered),
        cmocka_unit_test(test_signals_are_named),
        cmocka_unit_test(test_no_files),
        cmocka_unit_test(test_scratch),
    };
    int failed = cmocka_run_group_tests(full, NULL, NULL);
    failed += cmocka_run_group_tests(lowered, lower, NULL);
    unlink(secret);
    unlink(local_library);
    rmdir(private_directory);
    return failed;
}
