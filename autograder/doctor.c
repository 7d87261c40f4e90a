/* doctor.c - report of this machine's capabilities: running, timing, profiling, sandbox.  Each is
 * tested directly.
 *
 * Prints an aligned paragraph per question; a "no" is followed by the remedy.  The exit status is
 * always 0. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograder/build/build.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/files.h"
#include "autograder/text/table.h"
#include "common/base/parallel.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/simulator/machine/machine.h"

static void row(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void row(const char *what, const char *format, ...)
{
    enum { LABEL = 2, TEXT = 14 };
    char *text = NULL, *lines = NULL;
    size_t bytes;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    FILE *memory = length < 0 ? NULL : open_memstream(&lines, &bytes);
    if (!memory) return;
    text_wrap(memory, TEXT, text);
    fclose(memory);
    memcpy(lines + LABEL, what, strlen(what));
    fputs(lines, stdout);
    free(lines);
    free(text);
}

/* First line of a command's output, without its newline; 0 if there is one. */
static int first_line(const char *command, char *line, size_t bytes)
{
    FILE *pipe = popen(command, "r");
    if (!pipe) return -1;
    int found = fgets(line, (int)bytes, pipe) != NULL;
    pclose(pipe);
    if (!found) return -1;
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

static void report_compiler(const char *root, const char *build)
{
    Toolchain toolchain;
    Error error;
    if (toolchain_load(root, build, &toolchain, &error)) {
        row("nvcc", "no: %s", error.text);
        return;
    }
    char command[600], version[256];
    snprintf(command, sizeof command, "'%s' --version 2>/dev/null | grep release", toolchain.nvcc);
    if (first_line(command, version, sizeof version))
        row("nvcc", "no: %s does not run; run  make setup", toolchain.nvcc);
    else
        row("nvcc", "%s (%s)", strstr(version, "release") ? strstr(version, "release") : version,
            toolchain.nvcc);
}

/* Copies the second cell of the row "| name |" of the page with the tested configurations. */
static void find_scope(const char *page, const char *name, char *scope, size_t bytes)
{
    char start[100];
    snprintf(start, sizeof start, "\n| %s | ", name);
    const char *row = page ? strcasestr(page, start) : NULL;
    const char *cell = row ? row + strlen(start) : "not tested |";
    snprintf(scope, bytes, "%.*s", (int)strcspn(cell, "|\n"), cell);
    while (*scope && scope[strlen(scope) - 1] == ' ')
        scope[strlen(scope) - 1] = '\0';
}

/* The parts of this machine's configuration, and the extent to which each was tested. */
static void report_tested(const char *root, const char *build)
{
    Toolchain toolchain;
    Error error;
    if (toolchain_load(root, build, &toolchain, &error)) return; /* report_compiler says so */
    char commands[4][700] = {". /etc/os-release && echo \"$ID $VERSION_ID\"", "uname -m"};
    snprintf(commands[2], sizeof commands[2],
             "'%s' -dM -E -x c /dev/null | awk '$2 == \"__clang_major__\" { c = $3 } "
             "$2 == \"__GNUC__\" { g = $3 } END { print c ? \"clang \" c : \"gcc \" g }'",
             toolchain.cc);
    snprintf(commands[3], sizeof commands[3],
             "'%s' --version | sed -n 's/.*release \\([0-9.]*\\).*/nvcc \\1/p'", toolchain.nvcc);
    char path[600], *page;
    snprintf(path, sizeof path, "%s/docs/student/platforms.md", root);
    page = file_text(path, &error);
    for (int i = 0; i < 4; i++) {
        char name[80], scope[200];
        if (first_line(commands[i], name, sizeof name)) continue;
        find_scope(page, name, scope, sizeof scope);
        row(i ? "" : "tested", "%s: %s", name, scope);
    }
    free(page);
}

static void report_gpu(void)
{
    Error error;
    Device *device = device_open_gpu(0, &error);
    if (!device) {
        row("gpu engine", "no: %s", error.text);
        row("", "labs run, and are graded in full, on the simulator");
        return;
    }
    DeviceCall call = {.kind = CALL_PROPERTIES};
    DeviceReply reply;
    if (device->execute(device, &call, &reply) == 0 && reply.status == 0 && reply.data) {
        const DeviceProperties *gpu = reply.data;
        row("gpu engine", "%s, compute capability %u.%u, %u SMs at %.2f GHz, %.0f GiB, L2 %.0f MiB",
            gpu->name, gpu->cc_major, gpu->cc_minor, gpu->sms, gpu->clock_khz / 1e6,
            gpu->memory_bytes / 1073741824.0, gpu->l2_bytes / 1048576.0);
    } else {
        row("gpu engine", "no: the driver does not answer: %s", reply.message);
    }
    device->close(device);
}

static void report_simulator(const char *root)
{
    char directory[600], names[512];
    snprintf(directory, sizeof directory, "%s/common/simulator/gpus", root);
    if (machine_names(directory, names, sizeof names))
        row("sim engine", "no: no machine files in %s", directory);
    else
        row("sim engine", "yes: GPU=%s; %d host cores", names, parallel_cores());
}

/* The simulated machines with costs that were never measured on their generation. */
static void report_costs(const char *root)
{
    char directory[600], names[512], text[1200] = "";
    size_t used = 0;
    snprintf(directory, sizeof directory, "%s/common/simulator/gpus", root);
    if (machine_names(directory, names, sizeof names)) return;
    for (char *next = names, *name; (name = strsep(&next, ", ")) && used < sizeof text;) {
        SimtMachine machine;
        Error error = {""};
        if (!*name) continue;
        if (machine_load(directory, name, &machine, &error))
            row("sim machine", "no: %s", error.text);
        else if (machine.unmeasured_costs)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s %u of %u", used ? ", " : "",
                                 name, machine.unmeasured_costs, machine.all_costs);
    }
    row("sim costs", "never measured on their generation: %s", used ? text : "none");
}

static void report_program(const char *what, const char *program, const char *use,
                           const char *package)
{
    char command[300], path[256];
    snprintf(command, sizeof command, "command -v %s", program);
    if (first_line(command, path, sizeof path))
        row(what, "no %s here (%s): %s", program, use, package);
    else
        row(what, "%s (%s)", path, use);
}

int main(int argc, char **argv)
{
    const char *root = ".", *build = "build";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--root") == 0) root = argv[i + 1];
        if (strcmp(argv[i], "--build") == 0) build = argv[i + 1];
    }
    printf("Capabilities of this machine\n");
    report_compiler(root, build);
    report_tested(root, build);
    report_simulator(root);
    report_costs(root);
    report_gpu();
    char cause[400];
    sandbox_explain(cause, sizeof cause);
    row("sandbox", "%s%s%s%s", sandbox_level_name(sandbox_probe()), *cause ? ": " : "", cause,
        sandbox_counts() ? "" : ". Marks of a class need Landlock or namespaces");
    report_program("profiler", "ncu", "counters of a real GPU", "comes with the CUDA Toolkit");
    report_program("checker", "compute-sanitizer", "memory and race checks on a real GPU",
                   "comes with the CUDA Toolkit");
    report_program("counter", "valgrind", "lab 01's instructions and cache misses",
                   "sudo apt-get install valgrind");
    report_program("plots", "gnuplot", "figures", "sudo apt-get install gnuplot-nox");
    report_program("book", "weasyprint", "the PDF of make book",
                   "sudo apt-get install python3-sphinx python3-myst-parser furo weasyprint");
    report_program("similarity", "sim_c++", "similar submissions in a class",
                   "sudo apt-get install similarity-tester");
    report_program("cluster", "sbatch", "a class on Slurm's nodes",
                   "run make class on a machine that submits to Slurm");
    return 0;
}
