/* test_build.c - valid, broken and hostile submissions in the compiler's sandbox. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "autograder/build/build.h"
#include "autograder/sandbox/sandbox.h"
#include "common/base/sanitized.h"

static Toolchain toolchain;
static char directory[64]; /* the submission's */

static const char good[] =
    "#include <convlab/conv.h>\n"
    "__global__ void fill(float *y) { y[threadIdx.x] = 1; }\n"
    "void conv_forward(const ConvProblem *p, const float *x, const float *w,\n"
    "                  float *y, cudaStream_t stream)\n"
    "{ fill<<<1, 32, 0, stream>>>(y); }\n";

static const char *file_write(const char *name, const void *data, size_t bytes)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    close(fd);
    return path;
}

/* Builds `text` as `name`; the caller clears *build. */
static void build_text(const char *name, const char *text, Build *build)
{
    const char *operation = strstr(name, ".cu") ? "conv_forward" : "conv_forward_host";
    build_submission(&toolchain, NULL, file_write(name, text, strlen(text)), operation, 75,
                     BUILD_RUNNER, build);
    print_message("%d %.1f s: %s\n", build->status, build->seconds, build->message);
}

/* No directory remains in the cache while no build runs. */
static int work_directories(void)
{
    char command[700];
    snprintf(command, sizeof command, "test -z \"$(ls -d '%s'/cache/work-* 2>/dev/null)\"",
             toolchain.build);
    return system(command);
}

static void expect(const char *name, const char *text, BuildStatus status, const char *in_message)
{
    Build build;
    build_text(name, text, &build);
    assert_int_equal(build.status, status);
    if (!strstr(build.message, in_message))
        fail_msg("'%s' is not in '%s'", in_message, build.message);
    assert_null(strchr(build.message, '\n'));
    assert_string_equal(build.program, "");
    assert_int_equal(work_directories(), 0);
    build_clear(&build);
}

static void test_good(void **state)
{
    Build build, again;
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s// %d %ld\n", good, (int)getpid(),
             (long)time(NULL)); /* never seen before */
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_OK);
    assert_int_equal(build.cached, 0);
    assert_int_equal(access(build.program, X_OK), 0);
    assert_int_equal(strlen(build.digest), 64);
    build_text("conv.cu", text, &again);
    assert_int_equal(again.status, BUILD_OK);
    assert_int_equal(again.cached, 1);
    assert_true(again.seconds < 0.5);
    assert_string_equal(again.program, build.program);
    assert_int_equal(work_directories(), 0);
    build_clear(&build);
    build_clear(&again);
}

/* The object of an already compiled program is reused, with its warnings; one with -g is
 * different. */
static void test_objects_are_shared(void **state)
{
    Build runner, run;
    char text[2048];
    const char *path;
    (void)state;
    snprintf(text, sizeof text, "%s// %d shared\n#warning kept\n", good, (int)getpid());
    build_text("conv.cu", text, &runner);
    assert_int_equal(runner.status, BUILD_OK);
    path = file_write("conv.cu", text, strlen(text));
    Toolchain none = toolchain;
    strcpy(none.nvcc, "/bin/false"); /* another compiler: there is no object of it */
    build_submission(&none, NULL, path, "conv_forward", 75, BUILD_RUN, &run);
    assert_int_not_equal(run.status, BUILD_OK);
    build_clear(&run);
    build_submission(&toolchain, NULL, path, "conv_forward", 75, BUILD_RUN, &run);
    print_message("%.2f s for the second kind\n", run.seconds);
    assert_int_equal(run.status, BUILD_OK);
    assert_int_equal(run.cached, 0);
    assert_true(run.object_cached);
    assert_string_equal(run.log, runner.log);
    assert_int_equal(strlen(run.code), 64); /* stored with the object */
    assert_string_equal(run.code, runner.code);
    assert_non_null(strstr(run.log, "kept"));
    build_clear(&run);
    build_submission(&toolchain, NULL, path, "conv_forward", 75, BUILD_RUN_DEBUG, &run);
    assert_int_equal(run.status, BUILD_OK);
    assert_false(run.object_cached);
    assert_int_equal(work_directories(), 0);
    build_clear(&run);
    build_clear(&runner);
}

static void *build_again(void *context)
{
    const char *path = context;
    Build *build = malloc(sizeof *build);
    if (build) build_submission(&toolchain, NULL, path, "conv_forward", 75, BUILD_RUNNER, build);
    return build;
}

/* Parallel builds of one source, as of the answer key's, have one program and its GPU code. */
static void test_parallel_builds(void **state)
{
    enum { BUILDS = 3 };
    pthread_t thread[BUILDS];
    void *made[BUILDS];
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s// %d in parallel\n", good, (int)getpid());
    const char *path = file_write("conv.cu", text, strlen(text));
    for (int i = 0; i < BUILDS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, build_again, (void *)path), 0);
    for (int i = 0; i < BUILDS; i++)
        pthread_join(thread[i], &made[i]);
    for (int i = 0; i < BUILDS; i++) {
        Build *build = made[i];
        assert_non_null(build);
        assert_int_equal(build->status, BUILD_OK);
        assert_int_equal(strlen(build->code), 64);
        assert_string_equal(build->code, ((Build *)made[0])->code);
    }
    for (int i = 0; i < BUILDS; i++)
        build_clear(made[i]), free(made[i]);
}

/* Only ptxas rejects this instruction: from PTX alone a program can be built, with its own
 * digest. */
static void test_ptx_only(void **state)
{
    Build build;
    char text[2048];
    const char *path;
    (void)state;
    snprintf(text, sizeof text, "%s__global__ void no() { asm(\"no_such_instruction;\"); }\n",
             good);
    path = file_write("conv.cu", text, strlen(text));
    build_submission(&toolchain, NULL, path, "conv_forward", 75, BUILD_RUNNER_PTX, &build);
    assert_int_equal(build.status, BUILD_OK);
    build_clear(&build);
    expect("conv.cu", text, BUILD_ERROR, "");
}

static void test_digest_covers_the_source(void **state)
{
    Build one, other;
    char text[2048];
    (void)state;
    build_text("conv.cu", good, &one);
    snprintf(text, sizeof text, "%s\n", good);
    build_text("conv.cu", text, &other);
    assert_string_not_equal(one.digest, other.digest);
    build_clear(&other);
    build_text("other.cu", good, &other);
    assert_string_not_equal(one.digest, other.digest);
    build_clear(&one);
    build_clear(&other);
}

/* A source with a part's word gets the part; one without compiles less (the names are those of
 * libstdc++ for C++17, glibc and the toolkit). */
static void test_parts_of_the_headers(void **state)
{
    static const char uses[] =
        "int smaller(int a) { return std::min(a, std::numeric_limits<int>::max() - 3); }\n"
        "double bessel(double x) { return std::cyl_bessel_j(0, x); }\n"
        "_Float32 sine(_Float32 x) { return sinf32(x); }\n"
        "__global__ void fetch(cudaTextureObject_t x, cudaSurfaceObject_t y) {\n"
        "    surf1Dwrite(tex1Dfetch<float>(x, 0), y, 0);\n"
        "}\n"
        "cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();\n"
        "__global__ void others(unsigned *x, double *y) {\n"
        "    __stcs(x, __funnelshift_l(__ldg(x), __dp4a(x[0], x[1], x[2]), 3));\n"
        "    atomicAdd(y, 1.0); atomicMax_block(x, __shfl_xor_sync(__activemask(), x[2], 1));\n"
        "    __syncwarp();\n"
        "}\n";
    static const char refuses[] =
        "#ifdef __STDCPP_MATH_SPEC_FUNCS__\n"
        "#error special functions\n"
        "#endif\n"
        "#if __HAVE_FLOAT32\n"
        "#error another float\n"
        "#endif\n"
        "template <class T> struct __nv_itex_trait { int mine; };\n"
        "#define MINE(a, b) __device__ int a##b;\n"
        "MINE(__l, dg) MINE(__f, ns) MINE(__d, p4a)\n"
        "MINE(ato, micMax_block)\n"
        "#ifdef __MATH_FUNCTIONS_HPP__\n"
        "#error sines and roots\n"
        "#endif\n"
        "int sum() { int s = 0; for (int i : {1, 3}) s += i; return s; }\n"
        "#ifndef CONVLAB_LEAN_UTILITY\n"
        "#error another utility\n"
        "#endif\n";
    Build build;
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", good, uses);
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_OK);
    build_clear(&build);
    snprintf(text, sizeof text, "%s// _std, stdio, cstd, channels\n%s", good, refuses);
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_OK);
    build_clear(&build);
    snprintf(text, sizeof text, "%s%s// std, f32", good, refuses);
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_ERROR);
    assert_non_null(strstr(build.log, "special functions"));
    assert_non_null(strstr(build.log, "another float"));
    assert_non_null(strstr(build.log, "another utility"));
    assert_non_null(strstr(build.log, "sines and roots"));
    build_clear(&build);
}

/* Functions whose names are not in the source are found in a second attempt. */
static void test_hidden_mathematical_functions(void **state)
{
    Build build;
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", good,
             "#define JOIN(a, b) a##b\n"
             "__global__ void root(float *x) { x[0] = JOIN(sq, rtf)(JOIN(ma, x)(x[1], x[2])); }\n"
             "float power(float x) { return JOIN(po, wf)(x, 2.5f); }\n");
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_OK);
    assert_string_not_equal(build.code, "");
    build_clear(&build);
}

/* Parts that another header of the toolkit uses are included, even if the source has none of their
 * words. */
static void test_other_headers_have_all_parts(void **state)
{
    Build build;
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "#  include\t<vector_types.h>\n%s%s", good,
             "#define JOIN(a, b) a##b\n"
             "static JOIN(st, d)::integral_constant<int, 1> one;\n"
             "__global__ void load(float *x) { x[0] = JOIN(__l, dg)(x + 1); }\n");
    build_text("conv.cu", text, &build);
    assert_int_equal(build.status, BUILD_OK);
    build_clear(&build);
}

static void test_host(void **state)
{
    Build build;
    (void)state;
    build_text(
        "conv.c",
        "#include <convlab/conv.h>\n"
        "void conv_forward_host(const ConvProblem *p, const float *x, const float *w, float *y)\n"
        "{ (void)p; (void)w; y[0] = x[0]; }\n",
        &build);
    assert_int_equal(build.status, BUILD_OK);
    build_clear(&build);
}

static int line_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a log in alphabetical order.  The two passes of nvcc may run in either order. */
static void lines_sort(char *log)
{
    char *copy = strdup(log), *rest = copy, *line[512];
    size_t lines = 0;
    for (char *next; (next = strsep(&rest, "\n")) != NULL && lines < 512;)
        line[lines++] = next;
    qsort(line, lines, sizeof *line, line_order);
    *log = 0;
    for (size_t i = 0; i < lines; i++)
        log = stpcpy(stpcpy(log, line[i]), i + 1 < lines ? "\n" : "");
    free(copy);
}

/* The messages are the same for both ways of compiling. */
static void test_each_step_reports_the_messages_of_nvcc(void **state)
{
    static const char *const more[] = {
        ("#warning \"seen\"\nint host(int a, unsigned b) { return a < b; }\n"
         "__global__ void device(float *x) { unsigned u = 1; x[u < 0] = 1; }\n"),
        "#include <convlab/no-such-header.h>\n", "__global__ int no_kernel() { return 1; }\n",
        "int host() { asm(\"no_such_instruction\"); return 1; }\n"};
    (void)state;
    if (!toolchain.steps[0]) skip();
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        Toolchain plain = toolchain;
        Build one, other;
        char source[4096];
        plain.steps[0] = 0;
        snprintf(source, sizeof source, "%s%s", good, more[i]);
        const char *path = file_write("conv.cu", source, strlen(source));
        build_submission(&toolchain, NULL, path, "conv_forward", 75, BUILD_RUNNER, &one);
        build_submission(&plain, NULL, path, "conv_forward", 75, BUILD_RUNNER, &other);
        assert_int_equal(one.status, i ? BUILD_ERROR : BUILD_OK);
        assert_int_equal(other.status, one.status);
        assert_true(*one.log);
        lines_sort(one.log);
        lines_sort(other.log);
        assert_string_equal(one.log, other.log);
        assert_string_not_equal(one.digest, other.digest);
        /* Both leave the fat binary, whose digest the device process requires. */
        assert_int_equal(strlen(one.code), i ? 0 : 64);
        assert_int_equal(strlen(other.code), i ? 0 : 64);
        build_clear(&one), build_clear(&other);
    }
}

static void test_syntax_error(void **state)
{
    Build build;
    (void)state;
    build_text("conv.cu", "#include <convlab/conv.h>\n\nint main( { }\n", &build);
    assert_int_equal(build.status, BUILD_ERROR);
    assert_non_null(strstr(build.message, "conv.cu(3): error"));
    assert_non_null(strstr(build.log, "conv.cu(3): error"));
    assert_null(strstr(build.log, "/cache/")); /* the private directory is not shown */
    build_clear(&build);
    expect("conv.c", "int main( {\n", BUILD_ERROR, "conv.c:1:");
}

static void test_entry_point(void **state)
{
    (void)state;
    expect("conv.cu", "", BUILD_ERROR, "does not define conv_forward");
    expect("conv.cu", "__global__ void k() {}\n", BUILD_ERROR,
           "void conv_forward(const ConvProblem *p, const float *x, const float *w, float *y");
    expect("conv.cu", "#include <convlab/conv.h>\nvoid conv_forward(int n) {}\n", BUILD_ERROR,
           "conv_forward");
    expect("conv.c", "int nothing;\n", BUILD_ERROR, "does not define conv_forward_host");
}

static void test_missing_runtime_functions(void **state)
{
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", good,
             "int f() { cudaIpcMemHandle_t h; return cudaIpcGetMemHandle(&h, 0); }\n");
    expect("conv.cu", text, BUILD_ERROR, "cudaIpcGetMemHandle");
    expect("conv.cu", text, BUILD_ERROR, "docs/simulator/cuda-calls.md");
    snprintf(text, sizeof text, "%s%s", good,
             "extern \"C\" int cublasCreate_v2(void *);\nint f() { return cublasCreate_v2(0); }\n");
    expect("conv.cu", text, BUILD_ERROR, "cublasCreate_v2");
    snprintf(text, sizeof text, "%s%s", good, "int helper(int);\nint f() { return helper(1); }\n");
    expect("conv.cu", text, BUILD_ERROR, "helper");
}

/* Device functions of a compute capability above the lab's. */
static void test_newer_capabilities(void **state)
{
    static const char kernel[] =
        "__global__ void newer(unsigned *p) { *p = __reduce_max_sync(~0u, *p); }\n";
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", good, kernel);
    expect("conv.cu", text, BUILD_ERROR,
           "__reduce_max_sync needs compute capability 8.0, and this lab compiles for 7.5");
    expect("conv.cu", text, BUILD_ERROR, "__shfl_xor_sync");
    snprintf(text, sizeof text, "%s%s", good,
             "__global__ void other(unsigned *p) { *p = __mine(*p); }\n");
    expect("conv.cu", text, BUILD_ERROR, "\"__mine\" is undefined");
}

static void test_names_reserved_by_the_grader(void **state)
{
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", good, "int main() { return 0; }\n");
    expect("conv.cu", text, BUILD_REFUSED, "main");
    snprintf(text, sizeof text, "%s%s", good,
             "extern \"C\" int runtime_take_failure(char *, size_t) { return 0; }\n");
    expect("conv.cu", text, BUILD_REFUSED, "runtime_take_failure");
}

/* The compiler quotes lines of files that it cannot parse. */
static void test_include_leaks_nothing(void **state)
{
    static const char *const attempts[] = {"#include \"/etc/passwd\"\n", "#include \"%s\"\n",
                                           "#include \"../../../../../../../..%s\"\n",
                                           "__asm__(\".incbin \\\"%s\\\"\");\n",
                                           "#include \"/proc/self/environ\"\n"};
    char secret[] = "/var/tmp/convlab-secret-XXXXXX", text[512];
    (void)state;
    int fd = mkstemp(secret);
    assert_int_equal(write(fd, "the_secret_word = 1\n", 20), 20);
    close(fd);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        for (int host = 0; host < 2; host++) {
            Build build;
            snprintf(text, sizeof text, attempts[i], secret);
            build_text(host ? "conv.c" : "conv.cu", text, &build);
            assert_int_equal(build.status, BUILD_ERROR);
            assert_null(strstr(build.log, "the_secret_word"));
            assert_null(strstr(build.log, "root:"));
            build_clear(&build);
        }
    }
    unlink(secret);
}

static void test_bombs(void **state)
{
    static const char memory[] = "#define A(x) x x x x x x x x x x\n"
                                 "#define B(x) A(A(A(x)))\n#define C(x) B(B(B(x)))\n"
                                 "int a[] = {C(C(1,))};\n";
    static const char file[] =
        "#include <convlab/conv.h>\n"
        "char big[1ul << 31] = {1};\n"
        "void conv_forward_host(const ConvProblem *p, const float *x, const float *w, "
        "float *y) { y[0] = big[p->N] + x[0] + w[0]; }\n";
    static const char endless[] = "#include __FILE__\n#include __FILE__\nint x = 1 +;\n";
    (void)state;
    expect("conv.c", memory, BUILD_LIMIT, "stopped");
    expect("conv.c", file, BUILD_LIMIT, "256 MiB");
    expect("conv.c", endless, BUILD_LIMIT, "messages");
}

/* A grader that is killed during a build leaves no directory. */
static void test_killed_grader(void **state)
{
    static const char slow[] = "#define A(x) x + x + x + x + x + x + x + x + x + x\n"
                               "#define B(x) A(A(A(x)))\nint bomb = B(B(B(1)));\n";
    const char *path = file_write("conv.c", slow, sizeof slow - 1);
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        Build build;
        build_submission(&toolchain, NULL, path, "conv_forward_host", 75, 0, &build);
        _exit(0);
    }
    for (int i = 0; i < 6000 && !work_directories(); i++)
        usleep(10000);
    assert_int_not_equal(work_directories(), 0); /* it is working */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    for (int i = 0; i < 600 && work_directories(); i++)
        usleep(100000);
    assert_int_equal(work_directories(), 0);
}

/* A thousand errors are cut, not lost. */
static void test_flood_of_diagnostics(void **state)
{
    char *text = calloc(1, 200000);
    Build build;
    (void)state;
    for (int i = 0; i < 4000; i++)
        sprintf(text + strlen(text), "#warning line %d of many\n", i);
    build_text("conv.c", text, &build);
    assert_int_equal(build.status, BUILD_ERROR);
    assert_true(strlen(build.log) < 2 * 65536);
    assert_non_null(strstr(build.log, "line 0 of many"));
    build_clear(&build);
    free(text);
}

static void test_source_file(void **state)
{
    Build build;
    char path[256];
    static char large[(1 << 20) + 2];
    (void)state;
    expect("conv.sh", "x", BUILD_REFUSED, "ends in .cu or .c");
    expect("-o.cu", "x", BUILD_REFUSED, "name");
    expect("a b.cu", "x", BUILD_REFUSED, "name");
    memset(large, ' ', sizeof large - 1);
    expect("conv.c", large, BUILD_REFUSED, "larger than 1024 KiB");
    snprintf(path, sizeof path, "%s/link.cu", directory);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    build_submission(&toolchain, NULL, path, "conv_forward", 75, 0, &build);
    assert_int_equal(build.status, BUILD_REFUSED);
    assert_non_null(strstr(build.message, "symbolic link"));
    snprintf(path, sizeof path, "%s/pipe.cu", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    build_submission(&toolchain, NULL, path, "conv_forward", 75, 0, &build);
    assert_int_equal(build.status, BUILD_REFUSED);
    snprintf(path, sizeof path, "%s/missing.cu", directory);
    build_submission(&toolchain, NULL, path, "conv_forward", 75, 0, &build);
    assert_int_equal(build.status, BUILD_REFUSED);
    assert_non_null(strstr(build.message, "missing"));
}

static void test_no_compiler(void **state)
{
    Toolchain none = toolchain;
    Build build;
    (void)state;
    strcpy(none.nvcc, "/nowhere/nvcc");
    build_submission(&none, NULL, file_write("conv.cu", good, strlen(good)), "conv_forward", 75, 0,
                     &build);
    assert_int_equal(build.status, BUILD_BROKEN);
    assert_non_null(strstr(build.message, "make setup"));
    build_clear(&build);
}

/* Faults of the installation are reported as such, and a source's output is no evidence. */
static void test_installation_faults_are_not_charged(void **state)
{
    Toolchain relative = toolchain, broken = toolchain;
    Build build;
    (void)state;
    const char *path = file_write("conv.c", "int x;\n", 7);
    strcpy(relative.cc, "gcc");
    build_submission(&relative, NULL, path, "conv_forward_host", 75, 0, &build);
    assert_int_equal(build.status, BUILD_BROKEN);
    assert_non_null(strstr(build.message, "make setup"));
    build_clear(&build);
    strcpy(broken.cc, "/bin/false");
    build_submission(&broken, NULL, path, "conv_forward_host", 75, 0, &build);
    assert_int_equal(build.status, BUILD_BROKEN);
    assert_non_null(strstr(build.message, "valid test file"));
    build_clear(&build);
    expect("conv.c", "#error No space left on device\n", BUILD_ERROR, "does not compile");
    expect("conv.c", "#error bwrap: Disk quota exceeded\n", BUILD_ERROR, "does not compile");
}

static void shell(const char *format, const char *argument, const char *other)
{
    char command[2048];
    snprintf(command, sizeof command, format, argument, other);
    if (system(command)) fail_msg("%s", command);
}

/* A build directory of its own, because other tests build at the same time. */
static void own_cache(void)
{
    char command[1400];
    snprintf(command, sizeof command,
             "mkdir -p %s/build/cache && ln -s $(realpath '%s/lib' '%s/obj') %s/build", directory,
             toolchain.build, toolchain.build, directory);
    if (system(command)) abort();
    snprintf(toolchain.build, sizeof toolchain.build, "%s/build", directory);
}

/* A small file system for the cache: full, then with too little space for the compiler. */
static void test_full_disk(void **state)
{
    Toolchain full = toolchain;
    Build build;
    char command[256];
    (void)state;
    snprintf(full.build, sizeof full.build, "%s/full", directory);
    snprintf(command, sizeof command,
             "mkdir -p %.64s/full/cache && mount -t tmpfs -o size=32k none %.64s/full/cache",
             directory, directory);
    if (system(command)) skip(); /* not root, or mounts are not allowed */
    shell("ln -s '%s/lib' '%s/lib'", toolchain.build, full.build);
    shell("ln -s '%s/obj' '%s/obj'", toolchain.build, full.build);
    for (int some_room = 0; some_room < 2; some_room++) {
        if (some_room)
            shell("rm '%s/cache/.fill'%s", full.build, "");
        else
            shell("cat /dev/zero > '%s/cache/.fill' 2>/dev/null%s", full.build, " || true");
        build_submission(&full, NULL, file_write("conv.cu", good, strlen(good)), "conv_forward", 75,
                         0, &build);
        print_message("%s\n", build.message);
        if (build.status != BUILD_BROKEN || !strstr(build.message, "full"))
            shell("umount '%s/cache'%s", full.build, "");
        assert_int_equal(build.status, BUILD_BROKEN);
        assert_non_null(strstr(build.message, "disk"));
        build_clear(&build);
        shell("test -z \"$(ls '%s/cache')\"%s", full.build, ""); /* no incomplete file */
    }
    shell("umount '%s/cache'%s", full.build, "");
}

int main(int argc, char **argv)
{
    char build[600], self[512] = "";
    Error error;
    (void)argc;
    (void)argv;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 1;
    *strrchr(self, '/') = 0;
    snprintf(build, sizeof build, "%s/../../..", self);
    if (toolchain_load(".", build, &toolchain, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    snprintf(build, sizeof build, "%.500s/lib/runner.a", toolchain.build);
    if (access(build, R_OK)) {
        printf("skipped: %s is not built\n", build);
        return 0;
    }
    /* Programs linked with its objects need its flags, which a submission's build does not have. */
    if (SANITIZED) {
        printf("skipped: a sanitized build has no libraries for submissions\n");
        return 0;
    }
    strcpy(directory, "/var/tmp/convlab-build-XXXXXX");
    if (!mkdtemp(directory)) return 1;
    own_cache();
    const struct CMUnitTest device[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_objects_are_shared),
        cmocka_unit_test(test_parallel_builds),
        cmocka_unit_test(test_ptx_only),
        cmocka_unit_test(test_digest_covers_the_source),
        cmocka_unit_test(test_parts_of_the_headers),
        cmocka_unit_test(test_hidden_mathematical_functions),
        cmocka_unit_test(test_other_headers_have_all_parts),
        cmocka_unit_test(test_each_step_reports_the_messages_of_nvcc),
        cmocka_unit_test(test_syntax_error),
        cmocka_unit_test(test_entry_point),
        cmocka_unit_test(test_missing_runtime_functions),
        cmocka_unit_test(test_newer_capabilities),
        cmocka_unit_test(test_names_reserved_by_the_grader),
        cmocka_unit_test(test_include_leaks_nothing),
    };
    const struct CMUnitTest host[] = {
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_flood_of_diagnostics),
        cmocka_unit_test(test_killed_grader),
        cmocka_unit_test(test_source_file),
        cmocka_unit_test(test_no_compiler),
        cmocka_unit_test(test_installation_faults_are_not_charged),
        cmocka_unit_test(test_full_disk),
    };
    int failed = cmocka_run_group_tests(host, NULL, NULL);
    if (access(toolchain.nvcc, X_OK))
        printf("skipped: no nvcc at %s\n", toolchain.nvcc);
    else
        failed += cmocka_run_group_tests(device, NULL, NULL);
    snprintf(build, sizeof build, "rm -rf %s", directory);
    failed += system(build) != 0;
    return failed;
}
