/* simulate - linked by `make simulate` with any CUDA program: the drop-in runtime, the simulated
 * GPU, and a report on stderr at the end of the program.
 *
 * The program belongs to its user: it is neither judged nor sandboxed.  A Device between the
 * runtime and the simulated GPU inspects each call: it reports findings of the checks at once and
 * adds up the cost of each kernel.
 *
 * SIMULATE_PROFILE=file prints a profile by lines of this file, of the launch that SIMULATE_KERNEL
 * and SIMULATE_LAUNCH select.  SIMULATE_TRACE=file.json gets its timeline.  SIMULATE_PRICE_ALL, if
 * not empty, makes repeated launches be priced each time.  simcuda.h lists the other settings. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "autograder/findings/findings.h"
#include "autograder/profile/profile.h"
#include "autograder/record/report.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "common/base/call_site.h"
#include "common/base/demangle.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "simcuda.h"
#include "common/simulator/machine/machine.h"
#include "common/simulator/ptx/fatbin.h"

enum { KERNELS = 200, REPORTS = 100, FOUND_STATUS = 1 };

/* A reported finding, and those like it: with the same check, kernel and lines, or, if a call
 * failed, with the same words at the same line of the host program. */
typedef struct Reported {
    char key[512], title[400];
    Finding finding;
} Reported;

typedef struct Kernel {
    char name[256];
    uint32_t function; /* its handle */
    FunctionInfo info;
    uint32_t launches, resident_blocks;
    uint64_t cycles; /* sum of its launches' cycles, each measured alone */
} Kernel;

typedef struct Simulation {
    Device device; /* first member: the runtime's device */
    Device *gpu;
    SimtMachine machine;
    Kernel kernel[KERNELS];
    int kernels;
    DeviceCost all;
    uint64_t launches;        /* launches that the program has asked for */
    uint64_t chosen_launches; /* those that the report covers */
    int is_skipped;           /* Boolean: the last launch is not one of them */
    Reported reported[REPORTS];
    int reports, findings; /* number of kinds and of findings; a rejected call is of a kind but not
                             * a finding */
    int used, forked;      /* Booleans: CUDA was used by this process; by its parent */
    int faulted;           /* Boolean: a kernel failed, so all later calls fail */
    char early[512];       /* host access before synchronisation, to be reported outside of the
                             * signal handler; "": none */
    Suppressions suppressions;
    char lacking[1024]; /* the first feature that this simulator lacks and a real GPU has; "":
                             * none */
} Simulation;

static Simulation simulation;

static void report(void);

/* Defaults that a program may define (common/include/simcuda.h). */
extern const SimcudaSettings simcuda_settings __attribute__((weak));

static const char *own_setting(const char *name)
{
    const SimcudaSettings *own = &simcuda_settings;
    if (!own) return NULL;
    const struct {
        const char *name, *value;
    } all[] = {{"SIMULATE_GPU", own->gpu},
               {"SIMULATE_GPUS", own->gpus},
               {"SIMULATE_PROFILE", own->profile},
               {"SIMULATE_REPORT", own->report},
               {"SIMULATE_ROOT", own->root},
               {"SIMULATE_SUPPRESSIONS", own->suppressions},
               {"SIMULATE_ONLY_KERNEL", own->kernel},
               {"SIMULATE_ONLY_LAUNCH", own->launch},
               {"SIMULATE_ONLY_LAUNCHES", own->launches}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i].name, name)) return all[i].value;
    return NULL;
}

static const char *chosen(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    if (!value || !*value) value = own_setting(name);
    return value && *value ? value : otherwise;
}

/* ---- findings of the checks ---- */

/* Without numbers and addresses, so that repeats of one call have the same key. */
static void key_make(const char *text, const char *where, char *key, size_t bytes)
{
    size_t n = 0;
    for (const char *at = text; *at && *at != '\n' && n + 1 < bytes; at++) {
        int digit = isxdigit((unsigned char)*at) &&
                    (isdigit((unsigned char)*at) || n == 0 || key[n - 1] == '#');
        if (!digit)
            key[n++] = *at;
        else if (n == 0 || key[n - 1] != '#')
            key[n++] = '#';
    }
    key[n] = '\0';
    text_add(key, bytes, " %s", where);
}

static Reported *reported_find(const char *key)
{
    for (int i = 0; i < simulation.reports && i < REPORTS; i++)
        if (!strcmp(simulation.reported[i].key, key)) return &simulation.reported[i];
    return NULL;
}

/* In place of a status: a warning does not change the program's exit status. */
enum { WARNING = -1 };

/* Whether a suppression matches; its findings are then only counted. */
static int is_suppressed(const Finding *finding)
{
    Suppression *suppression = suppressions_find(&simulation.suppressions, finding);
    if (suppression) suppression->used += finding->count;
    return suppression != NULL;
}

static void finding_print(int32_t status, const Finding *finding)
{
    fflush(stdout);
    fprintf(stderr, "simulate: %s:\n",
            finding->is_warning ? "a warning"
            : status            ? device_status_name(status)
                                : "a check found");
    text_wrap(stderr, 4, finding->text);
    if (*finding->launch) text_wrap(stderr, 4, finding->launch);
}

/* Reports findings, of which the first has the text, or counts them if findings with this key were
 * reported before; NULL if they are not printed. */
static Reported *finding_report(int32_t status, const Finding *finding, const char *key)
{
    Reported *reported = reported_find(key);
    int is_warning = status == WARNING, is_hidden = is_suppressed(finding);
    if (is_warning) status = DEVICE_SUCCESS;
    simulation.findings += !is_warning && !is_hidden && (!status || device_status_sticky(status));
    simulation.faulted |= device_status_sticky(status);
    if (reported) {
        reported->finding.count += finding->count;
        return NULL;
    }
    if (simulation.reports >= REPORTS) {
        simulation.reports += !is_hidden;
        return NULL;
    }
    reported = &simulation.reported[simulation.reports++];
    text_set(reported->key, sizeof reported->key, "%s", key);
    text_set(reported->title, sizeof reported->title, "%.*s", (int)strcspn(finding->text, ":\n"),
             finding->text);
    reported->finding = *finding;
    reported->finding.is_warning = is_warning;
    reported->finding.is_suppressed = is_hidden;
    if (!is_hidden) finding_print(status, &reported->finding);
    return is_hidden ? NULL : reported;
}

/* A finding of the host program at "file.cu:12", or "". */
static void finding_start(Finding *finding, const char *check, const char *text, const char *where)
{
    const char *colon = strrchr(where, ':');
    *finding = (Finding){.count = 1};
    text_set(finding->check, sizeof finding->check, "%s", check);
    text_set(finding->text, sizeof finding->text, "%s", text);
    if (!colon) return;
    text_set(finding->source, sizeof finding->source, "%.*s", (int)(colon - where), where);
    finding->line = (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* A message about a call of the host program. */
static void call_report(int32_t status, const char *text)
{
    char where[300], key[512];
    Finding finding;
    call_site_find(NULL, where, sizeof where);
    key_make(text, where, key, sizeof key);
    finding_start(&finding, "api", text, where);
    if (*where) text_set(finding.launch, sizeof finding.launch, "called at %s", where);
    finding_report(status, &finding, key);
}

/* A real GPU would have continued, so the program's output from here on is not comparable. */
static void lack(const char *text)
{
    if (!*simulation.lacking) text_set(simulation.lacking, sizeof simulation.lacking, "%s", text);
}

/* Reports a call that the runtime rejects without the device. */
static void report_refusal(int32_t status, const char *text)
{
    call_report(status, text);
    if (status == DEVICE_NOT_SUPPORTED || status == DEVICE_INVALID_IMAGE) lack(text);
}

static void report_early(void)
{
    char key[512];
    Finding finding;
    key_make(simulation.early, "", key, sizeof key);
    finding_start(&finding, "hostcheck", simulation.early, "");
    if (*simulation.early) finding_report(DEVICE_SUCCESS, &finding, key);
    *simulation.early = '\0';
}

/* ---- between runtime and simulated GPU ---- */

static Kernel *kernel_of(uint32_t function)
{
    for (int i = 0; i < simulation.kernels; i++)
        if (simulation.kernel[i].function == function) return &simulation.kernel[i];
    return NULL;
}

static void kernel_add(const DeviceCall *call, const DeviceReply *reply)
{
    uint32_t function = (uint32_t)reply->value[0];
    if (simulation.kernels == KERNELS || kernel_of(function)) return;
    Kernel *kernel = &simulation.kernel[simulation.kernels++];
    char name[1024];
    text_set(name, sizeof name, "%.*s", (int)call->data_bytes, (const char *)call->data);
    demangle(name, kernel->name, sizeof kernel->name);
    kernel->function = function;
    if (reply->data) memcpy(&kernel->info, reply->data, sizeof kernel->info);
}

static int loads_code(const DeviceCall *call)
{
    return call->kind == CALL_MODULE_LOAD || call->kind == CALL_MODULE_FUNCTION;
}

/* The signal that arrived during a launch, or 0. */
static volatile int interrupted;
static volatile sig_atomic_t launching;

static void end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* An interrupted launch reports its present line; a second signal ends the program at once. */
static void interrupt(int number)
{
    if (launching && !interrupted)
        interrupted = number;
    else
        end_by(number);
}

/* Whether the address was to be executed.  Memory that is made accessible again can only be read
 * and written. */
static int is_jump(uint64_t address, const ucontext_t *context)
{
#if defined __x86_64__
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP] == address;
#elif defined __aarch64__
    return context->uc_mcontext.pc == address;
#else
#error "where does a context of this machine keep the program counter?"
#endif
}

/* Handles an access of host code to memory that a kernel still uses: makes the memory accessible
 * and reports the access with the next call.  If it was a device pointer, or a jump into such
 * memory, the signal comes again afterwards and ends the program as usual. */
static void host_fault(int number, siginfo_t *info, void *context)
{
    char near[256], text[512];
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    int jumps = is_jump(address, context);
    if (!jumps && sim_device_guards(simulation.gpu, address, text, sizeof text)) {
        if (*text && !*simulation.early)
            text_set(simulation.early, sizeof simulation.early, "%s", text);
        return;
    }
    signal(number, SIG_DFL);
    if (!sim_device_describe(simulation.gpu, address, near, sizeof near)) return;
    int length = snprintf(text, sizeof text,
                          jumps ? "simulate: host code jumped to device or managed memory, %s:\n"
                                  "    no code is there; was it called as a function?\n"
                                : "simulate: host code accessed device memory, %s:\n"
                                  "    only kernels can; copy the data with cudaMemcpy\n",
                          near);
    ssize_t written = write(STDERR_FILENO, text, (size_t)length);
    (void)written;
}

/* A program may have its own handler, or a sanitizer's. */
static int host_fault_is_heard(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
           now.sa_sigaction == host_fault;
}

/* After an asynchronous copy from or to pinned memory. */
static void async_note(const void *host, size_t bytes, int writes)
{
    if (host_fault_is_heard())
        sim_device_guard_copy(simulation.gpu, (uint64_t)(uintptr_t)host, bytes, writes);
}

/* As on a real GPU, whose driver does not work in a child of a process that has used it. */
static void forked(void)
{
    simulation.forked |= simulation.used;
}

static int refuse_child(DeviceReply *reply)
{
    *reply = (DeviceReply){.status = DEVICE_NOT_INITIALISED};
    text_set(reply->message, sizeof reply->message,
             "a child of fork() cannot use CUDA where its parent has used it before");
    call_report(reply->status, reply->message);
    return 0;
}

/* The number of a launch, its kernel, and its line in the host program. */
static void launch_describe(const Kernel *kernel, char *text, size_t bytes)
{
    char where[300];
    call_site_find(kernel ? kernel->name : NULL, where, sizeof where);
    text_set(text, bytes, "launch %" PRIu64 " of the program", simulation.launches);
    if (kernel) text_add(text, bytes, " (kernel %s)", kernel->name);
    if (*where) text_add(text, bytes, " at %s", where);
}

static const char *check_name(SimtCheck check)
{
    static const char *const names[SIMT_BAD_COOPERATIVE + 1] = {
        [SIMT_MEMCHECK] = "memcheck",   [SIMT_INITCHECK] = "initcheck",
        [SIMT_SYNCCHECK] = "synccheck", [SIMT_RACECHECK] = "racecheck",
        [SIMT_TIMEOUT] = "timeout",     [SIMT_TRAP] = "trap"};
    return names[check] ? names[check] : "launch";
}

/* SIMULATE_ONLY_KERNEL, _LAUNCH and _LAUNCHES limit the report to some launches. */
static int is_chosen(const Kernel *kernel)
{
    const char *name = chosen("SIMULATE_ONLY_KERNEL", "*"),
               *only = chosen("SIMULATE_ONLY_LAUNCH", "");
    const char *most = chosen("SIMULATE_ONLY_LAUNCHES", "");
    char plain[256] = "";
    if (kernel)
        text_set(plain, sizeof plain, "%.*s", (int)strcspn(kernel->name, "<("), kernel->name);
    if (fnmatch(name, plain, 0) && (!kernel || fnmatch(name, kernel->name, 0))) return 0;
    if (*only && strtoull(only, NULL, 10) != simulation.launches) return 0;
    return !*most || simulation.chosen_launches < strtoull(most, NULL, 10);
}

/* Reports the findings of a call; 1 if the reply's message is one of them. */
static int launch_report(const DeviceReply *reply, const char *launch)
{
    uint32_t count;
    const SimtFinding *found = sim_device_findings(simulation.gpu, &count);
    for (uint32_t i = 0; i < count; i++) {
        const SimtReport *r = &found[i].report;
        char key[1100];
        int32_t status = r->is_warning ? WARNING : i ? DEVICE_SUCCESS : reply->status;
        text_set(key, sizeof key, "%d %.200s %.120s:%u %.120s:%u", (int)r->check, r->kernel,
                 r->source, r->line, r->other_source, r->other_line);
        if (r->is_warning) text_add(key, sizeof key, " warning");
        if (!r->line) key_make(r->text, *r->kernel ? r->kernel : launch, key, sizeof key);
        Finding finding = {.line = r->line, .count = found[i].count};
        text_set(finding.check, sizeof finding.check, "%s", check_name(r->check));
        text_set(finding.kernel, sizeof finding.kernel, "%s", r->kernel);
        text_set(finding.source, sizeof finding.source, "%s", r->source);
        text_set(finding.text, sizeof finding.text, "%s", r->text);
        text_set(finding.launch, sizeof finding.launch, "%s", launch);
        Reported *reported = finding_report(status, &finding, key);
        if (reported && r->line)
            text_add(reported->title, sizeof reported->title, ", in kernel %s, at %s:%u", r->kernel,
                     r->source, r->line);
    }
    return count && !found->report.is_warning &&
           !strncmp(reply->message, found->report.text, strlen(found->report.text));
}

/* Reports what the checks found in a call, or why it failed. */
static void reply_report(const DeviceCall *call, const DeviceReply *reply)
{
    char launch[700] = "", where[300], key[512];
    uint32_t count;
    sim_device_findings(simulation.gpu, &count);
    int has_message = *reply->message && reply->status != DEVICE_NOT_READY;
    if (!count && !has_message) return;
    if (simulation.is_skipped && !device_status_sticky(reply->status)) return;
    call_site_find(NULL, where, sizeof where);
    if (call->kind == CALL_LAUNCH)
        launch_describe(kernel_of(call->function), launch, sizeof launch);
    else if (*where)
        text_set(launch, sizeof launch, "called at %s", where);
    if (launch_report(reply, launch) || !has_message) return;
    Finding finding;
    key_make(reply->message, call->kind == CALL_LAUNCH ? "" : where, key, sizeof key);
    finding_start(&finding, "api", reply->message, where);
    text_set(finding.launch, sizeof finding.launch, "%s", launch);
    finding_report(reply->status, &finding, key);
}

/* The report is printed while the program's modules are still loaded: their unloading was
 * registered with atexit before main, and atexit's functions run in the reverse order. */
static void report_at_end(void)
{
    static int registered;
    if (!registered++) atexit(report);
}

static int call_inspect(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    Kernel *kernel;
    (void)device;
    if (simulation.forked) return refuse_child(reply);
    simulation.used |= !loads_code(call);
    if (!loads_code(call)) report_at_end();
    report_early();
    launching = call->kind == CALL_LAUNCH;
    simulation.launches += (uint64_t)launching;
    if (launching) sim_device_set_guards(simulation.gpu, host_fault_is_heard());
    int rc = simulation.gpu->execute(simulation.gpu, call, reply);
    launching = 0;
    if (rc) return rc;
    simulation.is_skipped = call->kind == CALL_LAUNCH && !is_chosen(kernel_of(call->function));
    simulation.chosen_launches += call->kind == CALL_LAUNCH && !simulation.is_skipped;
    if (call->kind == CALL_MODULE_FUNCTION && !reply->status) kernel_add(call, reply);
    if (call->kind == CALL_LAUNCH && !reply->status && (kernel = kernel_of(call->function))) {
        uint64_t cycles = sim_device_last_launch(simulation.gpu, &kernel->resident_blocks, reply);
        if (!reply->status && !simulation.is_skipped) kernel->launches++, kernel->cycles += cycles;
    }
    reply_report(call, reply);
    if (interrupted) end_by(interrupted);
    int may_lack = call->kind == CALL_MODULE_FUNCTION && call->value == FUNCTION_MAY_LACK;
    if (reply->status == DEVICE_NOT_SUPPORTED || (reply->status && loads_code(call) && !may_lack))
        lack(reply->message);
    return rc;
}

/* ---- the report ---- */

static void report_spills(const Kernel *kernel)
{
    char where[40] = "";
    const FunctionInfo *info = &kernel->info;
    if (!info->spilled_bytes) return;
    if (info->spill_line) text_set(where, sizeof where, ", most at line %u", info->spill_line);
    fprintf(stderr, "    %s spills %u bytes per thread%s: there are not enough registers%s\n",
            kernel->name, info->spilled_bytes, where,
            info->spills ? "" : ", a GPU takes longer than these cycles");
}

static void report_repeated(const Kernel *kernel)
{
    char repeats[40], launches[40];
    const uint64_t count = sim_device_repeats(simulation.gpu, kernel->function);
    if (count)
        fprintf(stderr,
                "    %s: %s of %s launches repeat an earlier one: executed, not priced again\n",
                kernel->name, text_thousands((double)count, repeats),
                text_thousands((double)kernel->launches, launches));
}

static void report_sass(const Kernel *kernel)
{
    char line[600];
    const char *why = sim_device_sass(simulation.gpu, kernel->function);
    if (!why) return;
    text_set(line, sizeof line, "%s: cycles predicted from PTX, because %s", kernel->name, why);
    text_wrap(stderr, 4, line);
}

static void report_kernels(void)
{
    Table table = table_start("lrrrr");
    char launches[40], cycles[40];
    table_row(&table, "kernel\tlaunches\tcycles\tmicroseconds\tblocks an SM");
    for (int i = 0; i < simulation.kernels; i++) {
        const Kernel *kernel = &simulation.kernel[i];
        if (kernel->launches)
            table_row(&table, "%s\t%s\t%s\t%.1f\t%u", kernel->name,
                      text_thousands((double)kernel->launches, launches),
                      text_thousands((double)kernel->cycles, cycles),
                      (double)kernel->cycles / simulation.machine.clock_mhz,
                      kernel->resident_blocks);
    }
    table_end(&table, stderr, 4);
    for (int i = 0; i < simulation.kernels; i++)
        if (simulation.kernel[i].launches) report_spills(&simulation.kernel[i]);
    for (int i = 0; i < simulation.kernels; i++)
        if (simulation.kernel[i].launches) report_repeated(&simulation.kernel[i]);
    for (int i = 0; i < simulation.kernels; i++)
        if (simulation.kernel[i].launches) report_sass(&simulation.kernel[i]);
}

/* Writes FILE.json and, next to it, FILE.html. */
static void report_trace(const ProfilePage *page)
{
    const char *path = chosen("SIMULATE_TRACE", "");
    char html[1200];
    Error error = {""};
    if (!*path) return;
    const char *dot = strrchr(path, '.');
    const size_t stem = dot && !strchr(dot, '/') ? (size_t)(dot - path) : strlen(path);
    text_set(html, sizeof html, "%.*s.html", (int)stem, path);
    if (profile_write_trace(path, page, &error) || profile_write_html(html, page, &error))
        fprintf(stderr, "simulate: %s\n", error.text);
    else
        fprintf(stderr, "\n    %s, %s\n", path, html);
}

static void report_profile(const char *source)
{
    ProfilePage page = {.profile = sim_device_profile(simulation.gpu),
                        .cost = &simulation.all,
                        .machine = &simulation.machine,
                        .source = source};
    page.launches.launch = sim_device_launches(simulation.gpu, &page.launches.launches);
    page.launches.clock_mhz = simulation.machine.clock_mhz;
    page.is_selected = *chosen("SIMULATE_KERNEL", "") || *chosen("SIMULATE_LAUNCH", "");
    if (!page.profile) {
        fprintf(stderr, "    no launch is selected by KERNEL and LAUNCH\n");
        profile_launches_print(stderr, &page.launches);
        return;
    }
    profile_print(stderr, &page);
    report_trace(&page);
}

/* A GPU shows the output of kernels when the host waits for it. */
static void report_printed(void)
{
    char text[400];
    const char *kernel = sim_device_printed(simulation.gpu);
    if (!*kernel || simulation.faulted) return;
    text_set(text, sizeof text,
             "kernel %s calls printf, and the program ends without waiting for it: on a GPU its "
             "output may not appear. cudaDeviceSynchronize() waits for it",
             kernel);
    Finding finding;
    finding_start(&finding, "api", text, "");
    finding_report(WARNING, &finding, text);
}

/* Prints the number of repetitions of each finding after its report. */
static void report_repeats(void)
{
    char count[40];
    for (int i = 0; i < simulation.reports && i < REPORTS; i++) {
        const Reported *reported = &simulation.reported[i];
        if (reported->finding.count < 2 || reported->finding.is_suppressed) continue;
        fprintf(stderr, "simulate: and %s more like this: %s\n",
                text_thousands((double)(reported->finding.count - 1), count), reported->title);
    }
    if (simulation.reports > REPORTS)
        fprintf(stderr, "simulate: and %d findings of other kinds\n", simulation.reports - REPORTS);
}

static void library_print(void *context, const char *api, uint64_t count)
{
    char number[40];
    fprintf(stderr, "%s%s %s", *(int *)context ? ", " : "", api,
            text_thousands((double)count, number));
    *(int *)context = 1;
}

/* CUDA's libraries compute on the host (docs/simulator/libraries.md). */
static void library_count(void *context, const char *api, uint64_t count)
{
    (void)api;
    *(uint64_t *)context += count;
}

static void report_libraries(void)
{
    uint64_t calls = 0;
    int is_next = 0;
    runtime_library_calls(library_count, &calls);
    if (!calls) return;
    fputs("simulate: calls of CUDA's libraries, not priced (0 cycles): ", stderr);
    runtime_library_calls(library_print, &is_next);
    fputc('\n', stderr);
}

static void report_suppressed(void)
{
    for (size_t i = 0; i < simulation.suppressions.items; i++) {
        const Suppression *suppression = &simulation.suppressions.item[i];
        fprintf(stderr, "simulate: suppressed %" PRIu64 " finding%s by [%s]\n", suppression->used,
                suppression->used == 1 ? "" : "s", suppression->name);
    }
}

/* Path of a source file, from the lists of files in the program's code. */
typedef struct PathSearch {
    const char *name;
    char path[1024];
} PathSearch;

static void image_search(void *context, const void *image, size_t bytes)
{
    PathSearch *search = context;
    Fatbin fatbin;
    if (*search->path || fatbin_open(image, bytes, &fatbin, NULL)) return;
    for (char *at = fatbin.ptx; (at = strstr(at, "\t.file\t")) && !*search->path; at++) {
        char path[sizeof search->path];
        if (sscanf(at, "\t.file\t%*u \"%1023[^\"]", path) != 1) continue;
        const char *slash = strrchr(path, '/');
        if (!strcmp(slash ? slash + 1 : path, search->name))
            text_set(search->path, sizeof search->path, "%s", path);
    }
    fatbin_close(&fatbin);
}

/* FindingPath: relative to SIMULATE_ROOT if it is below. */
static const char *path_find(const void *context, const char *name)
{
    static PathSearch search;
    char root[1024];
    (void)context;
    search = (PathSearch){.name = name};
    runtime_images(image_search, &search);
    if (!*search.path || !realpath(chosen("SIMULATE_ROOT", "."), root)) return name;
    size_t bytes = strlen(root);
    int is_below = !strncmp(search.path, root, bytes) && search.path[bytes] == '/';
    return search.path + (is_below ? bytes + 1 : 0);
}

/* Each process of a program may have a report: "%p" in the name is its number. */
static void report_write(void)
{
    Finding finding[REPORTS];
    Error error;
    char path[1100];
    const char *wanted = chosen("SIMULATE_REPORT", ""), *number = strstr(wanted, "%p");
    FindingReport report = {.finding = finding,
                            .machine = chosen("SIMULATE_GPU", "h200"),
                            .cycles = simulation.all.cycles,
                            .path = path_find};
    if (!*wanted) return;
    for (int i = 0; i < simulation.reports && i < REPORTS; i++)
        finding[report.findings++] = simulation.reported[i].finding;
    if (number)
        text_set(path, sizeof path, "%.*s%d%s", (int)(number - wanted), wanted, (int)getpid(),
                 number + 2);
    else
        text_set(path, sizeof path, "%s", wanted);
    if (findings_write(&report, path, &error)) fprintf(stderr, "simulate: %s\n", error.text);
}

static void report(void)
{
    char leaks[400], cycles[40];
    const DeviceCost *all = &simulation.all;
    if (simulation.forked) return;
    report_early();
    report_printed();
    simulation.gpu->take_cost(simulation.gpu, &simulation.all);
    fflush(stdout);
    report_repeats();
    report_suppressed();
    report_write();
    fprintf(stderr, "\nsimulate: %s cycles on the simulated %s (%.1f us), copies included\n",
            text_thousands((double)all->cycles, cycles), chosen("SIMULATE_GPU", "h200"),
            all->seconds * 1e6);
    report_libraries();
    const SimtMachine *machine = &simulation.machine;
    if (machine->unmeasured_costs)
        fprintf(stderr,
                "simulate: %u of %u costs of the time model were never measured on %s; they are "
                "those of %s (docs/simulator/machines.md)\n",
                machine->unmeasured_costs, machine->all_costs, machine->architecture,
                machine->costs_of);
    if (all->launches) {
        report_kernels();
        fputc('\n', stderr);
        report_counters(stderr, 4, all, NULL, NULL);
        if (*chosen("SIMULATE_PROFILE", "")) report_profile(chosen("SIMULATE_PROFILE", ""));
    } else {
        fprintf(stderr, "    no kernel ran to its end\n");
    }
    /* After a fault in a kernel, cudaFree fails too. */
    uint64_t left = simulation.faulted ? 0 : sim_device_leaks(simulation.gpu, leaks, sizeof leaks);
    if (left)
        fprintf(stderr, "    leak check: %" PRIu64 " allocation%s never freed: %s\n", left,
                left > 1 ? "s were" : " was", leaks);
    if (!*simulation.lacking) return;
    fprintf(stderr, "\n"
                    "simulate: the simulated GPU did not execute all of the program, so a real GPU "
                    "may end with another result:\n");
    text_wrap(stderr, 4, simulation.lacking);
}

/* Exit status: a program with a finding or an unsupported feature does not end with 0. */
static void judge_end(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    if (!status && (simulation.findings || *simulation.lacking)) _exit(FOUND_STATUS);
}

/* Installs the handler if the program has none. */
static void signal_watch(int number, const struct sigaction *action)
{
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, action, NULL);
}

static void signals_watch(void)
{
    static char stack[64 << 10];
    const struct sigaction fault = {.sa_sigaction = host_fault,
                                    .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const struct sigaction end = {.sa_handler = interrupt, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    signal_watch(SIGSEGV, &fault);
    signal_watch(SIGINT, &end);
    signal_watch(SIGTERM, &end);
}

/* ---- start ---- */

/* The folder of the machine descriptions, which simnvcc links into a program. */
extern const char simulate_gpus_folder[] __attribute__((weak));

/* Before the program's own constructors, which may call CUDA. */
__attribute__((constructor(101))) static void simulation_open(void)
{
    Error error;
    SimDeviceOptions options = {
        .machine = chosen("SIMULATE_GPU", "h200"),
        .gpus_directory = chosen("SIMULATE_GPUS", simulate_gpus_folder ? simulate_gpus_folder
                                                                       : "common/simulator/gpus"),
        .checks = 1,
        .machine_code = 1,
        .repeats = !*chosen("SIMULATE_PRICE_ALL", ""),
        .gaps = 1,
        .warns = 1,
        .interrupted = &interrupted,
        .profile = *chosen("SIMULATE_PROFILE", "") != 0,
        .profile_kernel = *chosen("SIMULATE_KERNEL", "") ? getenv("SIMULATE_KERNEL") : NULL,
        .profile_launch = (uint32_t)strtoul(chosen("SIMULATE_LAUNCH", "0"), NULL, 10),
        .launches = *chosen("SIMULATE_PROFILE", "") != 0};
    simulation.gpu = device_open_sim(&options, &error);
    if (!simulation.gpu ||
        machine_load(options.gpus_directory, options.machine, &simulation.machine, &error)) {
        fprintf(stderr, "simulate: %s\n", error.text);
        if (access(options.gpus_directory, R_OK) != 0)
            fputs("    SIMULATE_GPUS has to name it: it is common/simulator/gpus of the workbook\n",
                  stderr);
        _exit(2);
    }
    if (*chosen("SIMULATE_SUPPRESSIONS", "") &&
        suppressions_read(&simulation.suppressions, chosen("SIMULATE_SUPPRESSIONS", ""), &error)) {
        fprintf(stderr, "simulate: %s\n", error.text);
        _exit(2);
    }
    simulation.device.execute = call_inspect;
    runtime_set_device(&simulation.device);
    runtime_report_refusals(report_refusal);
    runtime_map_pinned();
    runtime_report_async(async_note);
    signals_watch();
    pthread_atfork(NULL, NULL, forked);
    on_exit(judge_end, NULL);
}

/* With --wrap=main, a program without any CUDA call gets a report, too. */
int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);

int __wrap_main(int argc, char **argv, char **environment)
{
    report_at_end();
    return __real_main(argc, argv, environment);
}
