/* run - one lab in one plain process: the submission, the drop-in runtime and an engine, so that
 * debuggers and profilers work as usual.  Linked with one submission; `lab run` builds and starts
 * it.  Nothing here is trusted, and nothing here is a grade. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "autograder/lab/catalog.h"
#include "autograder/lab/lab_shape.h"
#include "autograder/lab/metric.h"
#include "autograder/lab/slow.h"
#include "autograder/options/options.h"
#include "autograder/profile/baseline_cost.h"
#include "autograder/profile/profile.h"
#include "autograder/profile/profile_phases.h"
#include "autograder/record/case_words.h"
#include "autograder/record/report.h"
#include "autograder/record/report_cause.h"
#include "autograder/see/see.h"
#include "autograder/tensors/workload.h"
#include "autograder/text/files.h"
#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "common/operation/diagnose.h"
#include "common/operations/calls/operation_call.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/simt/machine/machine.h"
#include "datasets/map_input.h"
#include "datasets/tensor_file.h"

typedef struct Run {
    const char *root, *lab, *only_case, *shape, *gpu;
    DeviceEngine engine;
    const char *maps;             /* a file of feature maps, "" none: x is generated */
    const char *weights;          /* a file of numbers, "" none: w is generated */
    const char *input, *output;   /* the same for x, and where y goes; "" nowhere */
    const char *profile, *source; /* where the profile's files go, NULL: none; the student's file */
    const char *see;              /* where the page of `make see` goes; NULL: none is wanted */
    Seed line;                    /* of the source, where that page opens; 0: anywhere */
    int ptx;
    const char *baseline; /* its program, NULL: nothing stands beside the student's numbers */
    const char *against;  /* what that program is called, beside a profile; NULL: the baseline */
    int cost_only;        /* this is the baseline: print nothing but what it cost */
    const char *counters; /* the file that every metric is written into, NULL: none */
    const char *phases;   /* what a program that stands beside is to write, NULL: nothing */
    const char *other;    /* the source of that program, NULL: it is not here */
    const char *clock;    /* a file that keeps how long this takes; NULL: none, show no progress */
    const char *runs;     /* and how often each instruction was executed, NULL: none */
    char finding[1024];   /* of a check that stopped nothing, "" none */
    uint32_t habits;      /* DeviceHabit bits of the last call */
    double instructions;  /* of warps, that a call may execute on the simulator */
    CaseVerdict stopped;  /* how a call that did not return ended */
    Seed seed;
    const Lab *found;
    const LabCase *item; /* NULL: a shape of the user's own */
    const Operation *operation;
    Problem own;
    float *map; /* x out of `maps` */
    const Problem *problem;
    Device *device; /* NULL for host labs */
    DeviceCost cost;
} Run;

/* Of this process on its core: what else runs on the machine takes no part in it. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void entry_call(const Workload *workload, void *const *pointer)
{
    operation_call(workload->operation->name, workload->problem.data, pointer,
                   runtime_given_stream());
}

/* One device call for its value[0]; 0 when it failed. */
static uint64_t ask_device(Device *device, DeviceCall call)
{
    DeviceReply reply = {0};
    return device->execute(device, &call, &reply) || reply.status ? 0 : reply.value[0];
}

/* The best of ten more calls, by the device's own events: a GPU's one live call tells no time. */
static void time_on_device(Run *run, const Workload *workload, void *const *pointer)
{
    uint32_t start = (uint32_t)ask_device(run->device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    uint32_t end = (uint32_t)ask_device(run->device, (DeviceCall){.kind = CALL_EVENT_CREATE});
    for (int i = 0; start && end && i < 10; i++) {
        double milliseconds;
        ask_device(run->device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = start});
        entry_call(workload, pointer);
        ask_device(run->device, (DeviceCall){.kind = CALL_EVENT_RECORD, .event = end});
        ask_device(run->device, (DeviceCall){.kind = CALL_EVENT_SYNC, .event = end});
        uint64_t bits = ask_device(
            run->device, (DeviceCall){.kind = CALL_EVENT_ELAPSED, .event = start, .event2 = end});
        memcpy(&milliseconds, &bits, sizeof milliseconds);
        if (milliseconds > 0 && (!run->cost.seconds || milliseconds / 1e3 < run->cost.seconds))
            run->cost.seconds = milliseconds / 1e3;
    }
}

/* ---- code that does not end ------------------------------------------------------------------ */

/* CPU seconds of one call's host code, as make grade allows them; the device's work is not among
 * them, and has a limit of its own: on the simulator instructions, on a card the seconds that host
 * code waits for it, more of them than make grade allows, for a tool may look on.  They are counted
 * by ticks of this process, which has none while a debugger holds it.  (A timer of CPU time would
 * make the clock of it coarse.) */
enum { HOST_SECONDS = 20, CARD_SECONDS = 20, TICK_US = 500000 };

static struct {
    volatile sig_atomic_t in_device;
    double used, seen;       /* CPU seconds of host code; of the process, at the last tick */
    double waited, patience; /* seconds in the device, and how many of them are allowed */
    const char *name;
    int (*execute)(Device *device, const DeviceCall *call, DeviceReply *reply);
} watched = {.patience = INFINITY};

/* The process is the only one that can leave a kernel behind that does not end. */
static void stop_here(const char *text)
{
    ticker_abandon();
    ssize_t written = write(STDOUT_FILENO, text, strlen(text));
    _exit(written < 0 ? 2 : 1);
}

static void on_tick(int number)
{
    char text[300];
    (void)number;
    double now = cpu_seconds();
    if (watched.in_device)
        watched.waited += TICK_US / 1e6;
    else
        watched.used += now - watched.seen;
    watched.seen = now;
    if (watched.used >= HOST_SECONDS) {
        text_set(text, sizeof text,
                 "  LIMIT\n    %s used %d s of CPU time on the host and was stopped; %d s are "
                 "allowed:\n    does a loop in host code not end?\n",
                 watched.name, HOST_SECONDS, HOST_SECONDS);
        stop_here(text);
    }
    if (watched.waited >= watched.patience) {
        text_set(text, sizeof text,
                 "  LIMIT\n    %s: the card worked for %.0f s and was stopped;\n    solutions need "
                 "a hundredth: does a loop in a kernel not end?  ENGINE=sim says where\n",
                 watched.name, watched.waited);
        stop_here(text);
    }
}

static int watched_execute(Device *device, const DeviceCall *call, DeviceReply *reply)
{
    watched.in_device++;
    int status = watched.execute(device, call, reply);
    watched.in_device--;
    return status;
}

static void watch_open(const Run *run)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    if (run->device && run->engine == ENGINE_GPU)
        watched.patience = CARD_SECONDS + workload_card_seconds(run->operation, run->problem);
    if (!run->device) return;
    watched.execute = run->device->execute;
    run->device->execute = watched_execute;
}

static void watch_begin(const Workload *workload)
{
    static const struct itimerval on = {.it_interval.tv_usec = TICK_US,
                                        .it_value.tv_usec = TICK_US};
    watched.used = watched.waited = 0;
    watched.seen = cpu_seconds();
    watched.name = workload->operation->name;
    fflush(stdout);
    setitimer(ITIMER_REAL, &on, NULL);
}

static void watch_end(void)
{
    static const struct itimerval off;
    setitimer(ITIMER_REAL, &off, NULL);
}

/* One call of the entry point on the device, and what it cost. */
static int call_on_device(Run *run, const Workload *workload, void *const *pointer, Error *error)
{
    char message[1024] = "";
    DeviceReply reply = {0};
    DeviceCall sync = {.kind = CALL_SYNC};
    if (run->device->take_cost) run->device->take_cost(run->device, &run->cost);
    runtime_take_habits();
    watch_begin(workload);
    entry_call(workload, pointer);
    run->habits = runtime_take_habits();
    run->device->execute(run->device, &sync, &reply);
    watch_end();
    int failed = runtime_take_failure(message, sizeof message);
    if (run->device->take_cost) run->device->take_cost(run->device, &run->cost);
    if (failed || reply.status) {
        const char *why = *message ? message : reply.message;
        int number = failed ? failed : reply.status;
        char text[1400], more[300] = "";
        if (number == DEVICE_LAUNCH_TIMEOUT) workload_excess(run->instructions, more, sizeof more);
        run->stopped = number == DEVICE_LAUNCH_TIMEOUT ? CASE_LIMIT : CASE_ERROR;
        text_set(text, sizeof text, "%s: %s%s", device_status_name(number),
                 *why ? why : device_status_text(number), more);
        return error_set(error, "%s", text);
    }
    text_set(run->finding, sizeof run->finding, "%s", message);
    return 0;
}

/* The best of a few: good enough to work by, and never a grade. */
static int call_on_host(Run *run, const Workload *workload, const GuardedTensors *tensors,
                        void *const *pointer, Error *error)
{
    run->cost = (DeviceCost){0};
    for (int i = 0; i < 5; i++) {
        if (guarded_fill(tensors, (const float *const *)workload->tensor, error)) return -1;
        watch_begin(workload);
        double start = cpu_seconds();
        entry_call(workload, pointer);
        double seconds = cpu_seconds() - start;
        watch_end();
        if (!i || seconds < run->cost.seconds) run->cost.seconds = seconds;
    }
    return 0;
}

static int call_once(Run *run, Workload *workload, Observed *observed, Error *error)
{
    GuardedTensors tensors;
    void *pointer[OPERATION_TENSORS] = {0};
    int gpu = run->engine == ENGINE_GPU;
    uint32_t band = run->device && !gpu ? 0 : GUARD_BAND_FLOATS;
    if (workload_place(workload, run->device, band, &tensors, error)) return -1;
    for (int i = 0; i < workload->tensors; i++)
        pointer[i] = (void *)(uintptr_t)tensors.address[i];
    int status = run->device ? call_on_device(run, workload, pointer, error)
                             : call_on_host(run, workload, &tensors, pointer, error);
    if (!status) status = workload_observe(workload, &tensors, observed, error);
    if (!status && run->device && gpu) time_on_device(run, workload, pointer);
    guarded_close(&tensors);
    return status;
}

/* ProbeRun: once more, on inputs chosen by the diagnosis. */
static int probe(void *context, const Problem *problem, const float *const *tensor, float *output)
{
    Run again = *(Run *)context;
    Workload workload;
    Observed observed;
    Error error;
    if (workload_open(again.operation, problem, &workload, &error)) return -1;
    for (int i = 0; i < workload.tensors; i++)
        if (workload.tensor[i])
            memcpy(workload.tensor[i], tensor[i], tensor_count(&workload.shape[i]) * sizeof(float));
    int status = call_once(&again, &workload, &observed, &error);
    if (!status) memcpy(output, workload.output, workload.outputs * sizeof(float));
    workload_close(&workload);
    return status;
}

/* Prints a page of text as a terminal takes it. */
static void show(char *text)
{
    screen_print(stdout, text);
    fflush(stdout);
    free(text);
}

/* "WRONG: race", what is wrong in the grader's words, its lines of the source and its hint. */
static void print_wrong(FILE *stream, const Run *run, const RecordCase *item)
{
    const char *hint = lab_fault_hint(&run->found->ini, item->fault);
    const char *head = item->verdict == CASE_WRONG   ? "WRONG"
                       : item->verdict == CASE_LIMIT ? "LIMIT"
                                                     : "FAILED";
    fprintf(stream, "  %s%s%s\n", head, *item->fault ? ": " : "", item->fault);
    report_cause(stream, item, hint ? hint : "", run->source, 0);
}

static void print_verdict(const Run *run, const RecordCase *item)
{
    char *text = NULL, advice[600] = "";
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return;
    if (item->verdict == CASE_CORRECT)
        fprintf(stream, "  correct: all %.0f outputs, the largest error %.2g of its bound\n",
                item->total, item->worst);
    else
        print_wrong(stream, run, item);
    case_habits(run->habits, advice, sizeof advice);
    text_wrap(stream, 2, advice);
    fclose(stream);
    show(text);
}

/* "18,004 cycles (9.1 us)", or "92.1 us" where no cycles are simulated. */
static const char *time_text(const DeviceCost *cost, char text[80])
{
    char cycles[40];
    if (cost->cycles)
        text_set(text, 80, "%s cycles (%.1f us)", text_thousands((double)cost->cycles, cycles),
                 cost->seconds * 1e6);
    else
        text_set(text, 80, "%.1f us", cost->seconds * 1e6);
    return text;
}

/* With how much of the simulated cycles the launches take. */
static void print_time(const Run *run)
{
    SimtMachine machine;
    char gpus[1024], cycles[40], time[80], line[300];
    Error error;
    text_set(line, sizeof line, "%s", time_text(&run->cost, time));
    text_set(gpus, sizeof gpus, "%s/common/simt/gpus", run->root);
    if (run->cost.cycles && !machine_load(gpus, run->gpu, &machine, &error)) {
        text_add(line, sizeof line, " on the simulated %s, %s of them for ", run->gpu,
                 text_thousands(machine.launch_cycles, cycles));
        if (run->cost.launches == 1)
            text_add(line, sizeof line, "the launch");
        else
            text_add(line, sizeof line, "each of %" PRIu64 " launches", run->cost.launches);
    }
    text_wrap(stdout, 2, line);
}

static int fill_inputs(const Run *run, Workload *workload, Error *error)
{
    Random random;
    random_seed(&random, run->seed.value);
    workload_fill(workload, &random);
    if (run->map)
        memcpy(workload->tensor[0], run->map, tensor_count(&workload->shape[0]) * sizeof(float));
    if (*run->input &&
        tensor_read(run->input, "x", run->operation, run->problem, workload->tensor, error))
        return -1;
    if (!*run->weights) return 0;
    return tensor_read(run->weights, "w", run->operation, run->problem, workload->tensor, error);
}

/* Until ticker_end, on a terminal: what is at work.  `part` is the clock's part that it is. */
static void progress_begin(const Run *run, const char *part, const char *doing)
{
    char file[1100];
    if (!run->clock) return;
    text_set(file, sizeof file, "%s%s", run->clock, part);
    ticker_begin_again(file);
    ticker_say(-1, "%s%s%s: %s", run->found->name, run->item ? ", case " : "",
               run->item ? run->item->name : "", doing);
}

/* The baseline on the same case, with the same inputs; its phases go into the file `phases`, unless
 * that is NULL.  0 when it ran. */
static int measure_baseline(const Run *run, const char *phases, DeviceCost *cost, Error *error)
{
    char seed[40];
    text_set(seed, sizeof seed, "%" PRIu64, run->seed.value);
    const char *argv[32] = {run->baseline,
                            "--root",
                            run->root,
                            "--lab",
                            run->found->name,
                            "--engine",
                            engine_name(run->engine),
                            "--gpu",
                            run->gpu,
                            "--seed",
                            seed,
                            "--cost-only"};
    int count = 12;
    if (run->item) argv[count++] = "--case", argv[count++] = run->item->name;
    if (!run->item) argv[count++] = "--shape", argv[count++] = run->shape;
    if (run->map) argv[count++] = "--maps", argv[count++] = run->maps;
    if (*run->weights) argv[count++] = "--weights", argv[count++] = run->weights;
    if (*run->input) argv[count++] = "--input", argv[count++] = run->input;
    if (phases) {
        argv[count++] = "--phases", argv[count++] = phases;
        argv[count++] = "--source", argv[count++] = run->other;
    }
    progress_begin(run, "-beside", "what stands beside it");
    int status = baseline_run(argv, cost, error);
    ticker_end();
    return status;
}

static void print_baseline(const Run *run, const DeviceCost *baseline)
{
    char time[80], line[300];
    double ratio = run->cost.cycles ? (double)baseline->cycles / (double)run->cost.cycles
                                    : baseline->seconds / run->cost.seconds;
    text_set(line, sizeof line, "the baseline, %s: %s; yours is %.2f times as fast",
             run->found->ini.baseline, time_text(baseline, time), ratio);
    text_wrap(stdout, 2, line);
}

static void print_cost(const Run *run, int correct)
{
    DeviceCost baseline;
    Error error = {""};
    int simulated = run->device && run->engine == ENGINE_SIM;
    if (simulated && !run->cost.launches) {
        printf("  no kernel was launched\n");
        return;
    }
    print_time(run);
    fflush(stdout);
    int beside = run->baseline && correct && !measure_baseline(run, NULL, &baseline, &error);
    if (beside) print_baseline(run, &baseline);
    if (*error.text) text_wrap(stdout, 2, error.text);
    if (simulated) report_counters(stdout, 4, &run->cost, beside ? &baseline : NULL, "baseline");
}

/* Where the cycles went, on the terminal and as files with their plots. */
static int print_profile(Run *run, Error *error)
{
    SimtMachine machine;
    char gpus[1024], command[1400];
    text_set(gpus, sizeof gpus, "%s/common/simt/gpus", run->root);
    if (machine_load(gpus, run->gpu, &machine, error)) return -1;
    ProfilePage page = {.profile = sim_device_profile(run->device),
                        .cost = &run->cost,
                        .machine = &machine,
                        .source = run->source,
                        .flops = run->operation->flops(run->problem),
                        .ptx = run->ptx};
    if (!page.profile) {
        printf("  no kernel was launched\n");
        return 0;
    }
    profile_print(stdout, &page);
    fflush(stdout);
    if (directory_make(run->profile)) return error_set(error, "%s: %m", run->profile);
    if (profile_write(run->profile, &page, error)) return -1;
    text_set(command, sizeof command,
             "cd '%s' && gnuplot timeline.gp roofline.gp >/dev/null 2>gnuplot.log", run->profile);
    int plotted = !strchr(run->profile, '\'') && system("command -v gnuplot >/dev/null") == 0 &&
                  system(command) == 0;
    char files[1400];
    text_set(files, sizeof files,
             "%s: profile.tsv, lines.tsv, phases.tsv, timeline.tsv, roofline.tsv%s", run->profile,
             plotted ? ", timeline.svg, roofline.svg" : "; for the plots install gnuplot");
    putchar('\n');
    text_wrap(stdout, 2, files);
    return 0;
}

/* What warps did to memory, as a page for a browser. */
static int write_page(const Run *run, const char *shape, Error *error)
{
    char about[600], frame[1100];
    SeePage page = {.profile = sim_device_profile(run->device),
                    .lab = run->found->name,
                    .about = about,
                    .gpu = run->gpu,
                    .source = run->source,
                    .line = run->line.value < INT32_MAX ? (int)run->line.value : 0,
                    .frame = frame};
    if (!page.profile || !page.profile->watches) {
        printf("  no kernel was launched\n");
        return 0;
    }
    text_set(about, sizeof about, "%s%s%s", run->item ? "Case " : "",
             run->item ? run->item->name : "", run->item ? ": " : "");
    text_add(about, sizeof about, "%s", shape);
    text_set(frame, sizeof frame, "%s/autograder/see/page.html", run->root);
    if (see_write(run->see, &page, error)) return -1;
    printf("  %s: open it in a browser\n", run->see);
    return 0;
}

/* Of the costliest launch of each. */
static void print_phases(const Run *run, const char *path)
{
    ProfilePhases mine, other;
    Error error;
    const SimtProfile *profile = sim_device_profile(run->device);
    if (!profile || profile_phases_of(profile, run->source, &mine)) return;
    if (!profile_phases_read(path, &other, &error))
        profile_phases_print(stdout, &mine, &other, run->against);
}

/* Another of the workbook's programs on the same case: how much more of what this one does, and the
 * counters side by side.  Its lines stay its own. */
static void print_against(const Run *run)
{
    enum { REASONS = 5 };
    DeviceCost other;
    Error error = {""};
    SlowReason reason[REASONS];
    char called[40], line[400], mine[80], theirs[80], phases[1100];
    text_set(phases, sizeof phases, "%s/phases-%s.tsv", run->profile, run->against);
    text_set(called, sizeof called, "the %s", run->against);
    putchar('\n');
    if (measure_baseline(run, run->other ? phases : NULL, &other, &error)) {
        text_wrap(stdout, 2, error.text);
        return;
    }
    text_set(line, sizeof line, "Beside %s: %s, where it takes %s: %.2f times as long.", called,
             time_text(&run->cost, mine), time_text(&other, theirs),
             (double)run->cost.cycles / (double)other.cycles);
    text_wrap(stdout, 2, line);
    const char *slash = strrchr(run->source, '/');
    int found =
        slow_find(&run->cost, &other, called, slash ? slash + 1 : run->source, reason, REASONS);
    for (int i = 0; i < found; i++) {
        text_set(line, sizeof line, "- %s", reason[i].text);
        text_wrap(stdout, 4, line);
    }
    if (run->other) print_phases(run, phases);
    putchar('\n');
    report_counters(stdout, 4, &run->cost, &other, run->against);
}

/* For scripts (docs/numbers): microseconds, and every metric that the run has. */
static int write_counters(const Run *run, Error *error)
{
    SimtMachine machine;
    char gpus[1024];
    text_set(gpus, sizeof gpus, "%s/common/simt/gpus", run->root);
    if (machine_load(gpus, run->gpu, &machine, error)) return -1;
    MetricRun measured = {run->operation, run->problem, &machine, &run->cost};
    FILE *stream = fopen(run->counters, "w");
    if (!stream) return error_set(error, "%s: %m", run->counters);
    fprintf(stream, "microseconds\t%.15g\n", run->cost.seconds * 1e6);
    metrics_write(stream, &measured);
    return fclose(stream) ? error_set(error, "%s: %m", run->counters) : 0;
}

/* For autograder/tests/coverage: simt_write_runs. */
static int write_runs(const Run *run, Error *error)
{
    FILE *stream = fopen(run->runs, "w");
    if (!stream) return error_set(error, "%s: %m", run->runs);
    sim_device_write_runs(run->device, stream);
    return fclose(stream) ? error_set(error, "%s: %m", run->runs) : 0;
}

static void print_case(const Run *run, const char *shape)
{
    char text[400];
    text_set(text, sizeof text, "%s, a shape of your own", run->found->name);
    if (run->item)
        text_set(text, sizeof text, "%s, case %s: %s", run->found->name, run->item->name,
                 run->item->about);
    text_wrap(stdout, 0, text);
    text_wrap(stdout, 2, shape);
}

static int open_engine(Run *run, Error *error)
{
    char directory[1024];
    if (run->found->ini.host) {
        watch_open(run);
        return 0;
    }
    if (run->engine == ENGINE_GPU) {
        run->device = device_open_gpu(0, error);
    } else {
        text_set(directory, sizeof directory, "%s/common/simt/gpus", run->root);
        /* Who asks for numbers reads no findings, and checks move no number. */
        int read = !run->cost_only && !run->counters && !run->runs;
        SimDeviceOptions options = {.machine = run->gpu,
                                    .gpus_directory = directory,
                                    .checks = read,
                                    .instruction_limit = (uint64_t)run->instructions,
                                    .profile =
                                        run->profile || run->runs || run->see || run->phases};
        run->device = device_open_sim(&options, error);
    }
    if (!run->device) return -1;
    watch_open(run);
    runtime_set_device(run->device);
    return 0;
}

/* The verdict on one call, with further runs where it is wrong; they must not change what it cost.
 * -1: there is none. */
static int judge(Run *run, Workload *workload, RecordCase *item, Error *error)
{
    const LabIni *ini = &run->found->ini;
    Observed observed = {0};
    Judgement judgement;
    Finding found;
    char checked[sizeof run->finding];
    run->stopped = CASE_BROKEN; /* not the submission's doing, unless the call says so */
    if (call_once(run, workload, &observed, error)) {
        if (run->stopped == CASE_BROKEN) return -1;
        case_stopped(run->stopped, error->text, item);
        return 0;
    }
    if (*run->output &&
        tensor_write(run->output, run->operation, run->problem, observed.output, error))
        return -1;
    DeviceCost cost = run->cost;
    uint32_t habits = run->habits;
    memcpy(checked, run->finding, sizeof checked);
    observed.checked = checked;
    observed.algorithm = ini->algorithm;
    observed.host = ini->host;
    if (verify_output(run->operation, run->problem, ini->precision,
                      (const float *const *)workload->tensor, &observed, &judgement, error))
        return -1;
    diagnose(&judgement, probe, run, &found);
    case_judged(&judgement, &found, item);
    judgement_free(&judgement);
    run->cost = cost;
    run->habits = habits;
    return 0;
}

/* 0 where the case is right, 1 where it is wrong, -1 with error where that cannot be told. */
static int run_case(Run *run, Error *error)
{
    Workload workload;
    RecordCase item = {0};
    char shape[LAB_SHAPE_TEXT];
    if (workload_open(run->operation, run->problem, &workload, error)) return -1;
    run->instructions =
        workload_instructions(run->operation, run->problem, (double)workload.outputs);
    lab_shape_print(&run->found->ini, run->operation, run->problem, shape, sizeof shape);
    int status = fill_inputs(run, &workload, error);
    if (!status) status = open_engine(run, error);
    if (!status) {
        print_case(run, shape);
        fflush(stdout);
        progress_begin(run, "",
                       run->device && run->engine == ENGINE_SIM ? "simulating" : "running");
        status = judge(run, &workload, &item, error);
        ticker_end();
    }
    workload_close(&workload);
    if (status) return -1;
    int correct = item.verdict == CASE_CORRECT, ended = correct || item.verdict == CASE_WRONG;
    print_verdict(run, &item);
    if (ended && run->profile) status = print_profile(run, error);
    if (!status && correct && run->profile && run->baseline) print_against(run);
    if (ended && run->see) status = write_page(run, shape, error);
    if (ended && !run->profile && !run->see) print_cost(run, correct);
    if (!status && run->counters && correct) status = write_counters(run, error);
    if (!status && run->runs && correct) status = write_runs(run, error);
    return status ? status : !correct;
}

/* For who reads them beside its own. */
static int write_phases(const Run *run, Error *error)
{
    ProfilePhases phases = {0};
    const SimtProfile *profile = sim_device_profile(run->device);
    if (profile && profile_phases_of(profile, run->source, &phases))
        return error_set(error, "out of memory");
    return profile_phases_write(run->phases, &phases, error);
}

/* The baseline's side: no verdict, no page, only what the call cost. */
static int run_for_cost(Run *run, Error *error)
{
    Workload workload;
    Observed observed;
    if (workload_open(run->operation, run->problem, &workload, error)) return -1;
    int status = fill_inputs(run, &workload, error);
    if (!status) status = open_engine(run, error);
    if (!status) status = call_once(run, &workload, &observed, error);
    if (!status && run->phases) status = write_phases(run, error);
    workload_close(&workload);
    if (status) return -1;
    return baseline_write_cost(&run->cost) ? error_set(error, "nobody reads the cost") : 0;
}

static int choose(Run *run, const Catalog *catalog, Error *error)
{
    char names[700] = "";
    run->found = catalog_find(catalog, run->lab, error);
    if (!run->found) return -1;
    const LabIni *ini = &run->found->ini;
    if (*run->shape && *run->only_case)
        return error_set(error,
                         "CASE is one of the lab's cases, SHAPE one of your own: give one of them");
    if (*run->maps && *run->only_case)
        return error_set(error, "MAPS is an input of your own: it goes with SHAPE, not with CASE");
    if (*run->maps) {
        run->problem = &run->own;
        const char *shape = lab_shape_operation(ini, run->shape, &run->operation, error);
        if (shape) run->map = map_input_open(run->maps, shape, run->operation, &run->own, error);
        return run->map ? 0 : -1;
    }
    if (*run->shape) {
        run->problem = &run->own;
        run->operation = lab_shape_parse(ini, run->shape, &run->own, error);
        return run->operation ? 0 : -1;
    }
    int index = *run->only_case ? lab_case_find(ini, run->only_case) : 0;
    for (int i = 0; i < ini->cases; i++)
        text_add(names, sizeof names, "%s%s", i ? ", " : "", ini->item[i].name);
    if (index < 0) {
        return error_set(error, "%s has no case '%.40s'; it has: %s", run->found->name,
                         run->only_case, names);
    }
    run->item = &ini->item[index];
    run->operation = run->item->operation;
    run->problem = run->engine == ENGINE_SIM ? &run->item->problem : &run->item->problem_gpu;
    return 0;
}

static int parse_options(int argc, char **argv, Run *run, Error *error)
{
    *run = (Run){.root = ".",
                 .lab = "",
                 .only_case = "",
                 .shape = "",
                 .maps = "",
                 .weights = "",
                 .input = "",
                 .output = "",
                 .gpu = "h200",
                 .source = ""};
    const Option table[] = {
        {"root", OPTION_TEXT, &run->root},
        {"lab", OPTION_TEXT, &run->lab},
        {"case", OPTION_TEXT, &run->only_case},
        {"shape", OPTION_TEXT, &run->shape},
        {"maps", OPTION_TEXT, &run->maps},
        {"weights", OPTION_TEXT, &run->weights},
        {"input", OPTION_TEXT, &run->input},
        {"output", OPTION_TEXT, &run->output},
        {"engine", OPTION_ENGINE, &run->engine},
        {"gpu", OPTION_TEXT, &run->gpu},
        {"seed", OPTION_SEED, &run->seed},
        {"profile", OPTION_TEXT, &run->profile},
        {"source", OPTION_TEXT, &run->source},
        {"see", OPTION_TEXT, &run->see},
        {"line", OPTION_SEED, &run->line},
        {"ptx", OPTION_FLAG, &run->ptx},
        {"baseline", OPTION_TEXT, &run->baseline},
        {"against", OPTION_TEXT, &run->against},
        {"cost-only", OPTION_FLAG, &run->cost_only},
        {"counters", OPTION_TEXT, &run->counters},
        {"runs", OPTION_TEXT, &run->runs},
        {"clock", OPTION_TEXT, &run->clock},
        {"phases", OPTION_TEXT, &run->phases},
        {"other", OPTION_TEXT, &run->other},
        {"help", OPTION_HELP, (void *)"this program is started by: make run LAB=NN\n"},
        {0},
    };
    if (options_parse(argc, argv, table, 0, NULL, error)) return -1;
    if (!run->seed.given) run->seed.value = random_os_seed();
    run->engine = engine_resolve(run->engine);
    return 0;
}

/* The case with its verdict and its cost, as a page for the student. */
static int run_page(Run *run, Error *error)
{
    int status = run_case(run, error);
    if (status < 0) {
        fprintf(stderr, "run: %s\n", error->text);
        return status;
    }
    char leaks[400];
    uint64_t left = run->device && run->engine == ENGINE_SIM
                        ? sim_device_leaks(run->device, leaks, sizeof leaks)
                        : 0;
    if (left)
        printf("  leak check: %" PRIu64 " allocation%s never freed: %s\n", left,
               left > 1 ? "s were" : " was", leaks);
    const LabIni *ini = &run->found->ini;
    printf("  engine %s, seed %" PRIu64 "\n", ini->host ? "cpu" : engine_name(run->engine),
           run->seed.value);
    if (run->item && !*run->only_case && ini->cases > 1) {
        char names[1200] = "other cases (CASE=name):";
        for (int i = 1; i < ini->cases; i++)
            text_add(names, sizeof names, " %s", ini->item[i].name);
        text_wrap(stdout, 2, names);
    }
    return status;
}

int main(int argc, char **argv)
{
    Run run;
    Catalog catalog = {0};
    Error error = {""};
    if (parse_options(argc, argv, &run, &error) || catalog_open(run.root, &catalog, &error) ||
        choose(&run, &catalog, &error)) {
        fprintf(stderr, "run: %s\n", error.text);
        return 2;
    }
    int status = run.cost_only ? run_for_cost(&run, &error) : run_page(&run, &error);
    if (status < 0 && run.cost_only) fprintf(stderr, "run: the baseline: %s\n", error.text);
    free(run.map);
    if (run.device) run.device->close(run.device);
    catalog_close(&catalog);
    return status < 0 ? 2 : status > 0;
}
