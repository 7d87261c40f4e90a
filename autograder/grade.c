/* grade - grades a submission: the trusted process.  `grade --help` says how. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "autograder/options/options.h"
#include "autograder/sandbox/sandbox.h"
#include "autograder/text/files.h"
#include "autograder/judging/grade_lab.h"
#include "autograder/judging/ordered_tasks.h"
#include "autograder/record/cause.h"
#include "autograder/record/history.h"
#include "autograder/record/best_record.h"
#include "autograder/record/report.h"
#include "autograder/record/score.h"
#include "autograder/text/screen.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "common/base/parallel.h"
#include "common/operations/operation/random.h"

enum { EXIT_WORKED = 0, EXIT_TROUBLE = 1, EXIT_USAGE = 2, EXIT_UNDER = 3 };

static const char USAGE[] =
    "usage: grade [options]\n"
    "  --root DIR         the workbook's directory (default .)\n"
    "  --build DIR        the build directory (default build)\n"
    "  --lab NN           one lab: 04, 4 or 04-tiled (default: all)\n"
    "  --submission DIR   holds NN-name/<source> (default labs); solutions grades the reference "
    "solutions\n"
    "  --engine ENGINE    auto, sim or gpu (default auto: gpu where there is one)\n"
    "  --gpu NAME         the simulated machine (default: the lab's, h200 mostly)\n"
    "  --case NAME        one public case, or hidden; keeps a record only where --results is\n"
    "  --seed N           repeats a grade: inputs and hidden shapes follow from it\n"
    "  --fail-under N     exit 3 when the mark is under N per cent\n"
    "  --results DIR      where the records go (default <build>/results, or results/<name> below "
    "it)\n"
    "  --call-seconds N   CPU time that one call's host code may use, and wait besides (default "
    "10)\n"
    "  --ptx-only         compiles no machine code, in less time; registers, and so cycles,\n"
    "                     are then estimated: for wrong submissions\n"
    "  --watch            runs the last wrong case first and stops at the first wrong case;\n"
    "                     saves only grades in which every case is correct\n"
    "  --for-marks        refuses to grade in a sandbox in which a submission can read files of "
    "others;\n"
    "                     simulates with one host thread, so that what a kernel with a race does\n"
    "                     is the same on every machine\n"
    "  --verbose          also shows the counters of every case, and the grader's own time\n"
    "Exit: 0 grading worked, whatever the mark; 1 it did not; 2 wrong usage; 3 see --fail-under.\n";

typedef struct Options {
    const char *root, *build, *lab, *submission, *gpu, *only_case, *results;
    DeviceEngine engine;
    Seed seed;
    double fail_under; /* negative: not set */
    double call_seconds;
    int verbose, watch, ptx_only, for_marks;
} Options;

/* Removes unfinished files; the children end with this process (device sees its socket close, the
 * sandbox dies with its parent). */
static void on_signal(int number)
{
    file_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static int parse_options(int argc, char **argv, Options *options, Error *error)
{
    *options = (Options){.root = ".",
                         .build = "build",
                         .submission = "labs",
                         .engine = ENGINE_AUTO,
                         .fail_under = -1};
    const Option table[] = {
        {"root", OPTION_TEXT, &options->root},
        {"build", OPTION_TEXT, &options->build},
        {"lab", OPTION_TEXT, &options->lab},
        {"submission", OPTION_TEXT, &options->submission},
        {"engine", OPTION_ENGINE, &options->engine},
        {"gpu", OPTION_TEXT, &options->gpu},
        {"case", OPTION_TEXT, &options->only_case},
        {"seed", OPTION_SEED, &options->seed},
        {"fail-under", OPTION_PERCENT, &options->fail_under},
        {"results", OPTION_TEXT, &options->results},
        {"call-seconds", OPTION_SECONDS, &options->call_seconds},
        {"ptx-only", OPTION_FLAG, &options->ptx_only},
        {"for-marks", OPTION_FLAG, &options->for_marks},
        {"verbose", OPTION_FLAG, &options->verbose},
        {"watch", OPTION_FLAG, &options->watch},
        {"help", OPTION_HELP, (void *)USAGE},
        {0},
    };
    return options_parse(argc, argv, table, 0, NULL, error);
}

static int gpu_works(void)
{
    SessionOptions options = {.engine = ENGINE_GPU, .machine = ""};
    Session *session;
    Error error;
    if (session_open(&options, &session, &error)) return 0;
    session_close(session);
    return 1;
}

/* Selects the GPU by default only if it works. */
static DeviceEngine engine_choose(DeviceEngine wanted)
{
    DeviceEngine engine = engine_resolve(wanted);
    return wanted == ENGINE_AUTO && engine == ENGINE_GPU && !gpu_works() ? ENGINE_SIM : engine;
}

static int absolute(const char *path, char *full, Error *error)
{
    char resolved[4096];
    struct stat status;
    if (!realpath(path, resolved)) return error_set(error, "%.300s: %m", path);
    if (stat(resolved, &status) || !S_ISDIR(status.st_mode)) {
        return error_set(error, "%.300s is not a directory", path);
    }
    if (strlen(resolved) >= 512) return error_set(error, "%.300s: the path is too long", path);
    text_set(full, 512, "%s", resolved);
    return 0;
}

/* A name from the command line must not lead out of the directory of machine files. */
static int load_machine(const char *name, Grader *grader, Error *error)
{
    const char *directory = grader->gpus;
    text_set(grader->gpus, sizeof grader->gpus, "%s/common/simulator/gpus", grader->root);
    if (machine_load(directory, name, &grader->machine, error)) return -1;
    text_set(grader->machine_name, sizeof grader->machine_name, "%s", name);
    static const char *const SIMULATES[] = {"bin/grade", "bin/device"};
    char path[1100];
    grader->simulator = DIGEST_START;
    for (size_t i = 0; i < sizeof SIMULATES / sizeof *SIMULATES; i++) {
        text_set(path, sizeof path, "%s/%s", grader->build, SIMULATES[i]);
        grader->simulator = digest_file(grader->simulator, path);
    }
    text_set(path, sizeof path, "%s/%s.ini", directory, name);
    grader->simulator = digest_file(grader->simulator, path);
    return 0;
}

static int check_case(const Options *options, const Catalog *catalog, const Lab *only, Error *error)
{
    const char *name = options->only_case;
    char known[600] = "hidden";
    if (!name || !strcmp(name, "hidden")) return 0;
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        if (only && lab != only) continue;
        if (lab_case_find(&lab->ini, name) >= 0) return 0;
        for (int j = 0; j < lab->ini.cases; j++)
            text_add(known, sizeof known, ", %s", lab->ini.item[j].name);
    }
    return error_set(error, "there is no case '%.40s'; there are: %s", name, known);
}

static int grader_open(const Options *options, Grader *grader, Error *error)
{
    if (absolute(options->root, grader->root, error) ||
        absolute(options->build, grader->build, error))
        return -1;
    grader->engine = engine_choose(options->engine);
    if (load_machine(options->gpu ? options->gpu : "h200", grader, error)) return -1;
    if (absolute(options->submission, grader->submission, error))
        return error_set(error, "%.300s: %m; SUBMISSION= names a folder that holds NN-name/",
                         options->submission);
    grader->seed = options->seed.given ? options->seed.value : random_os_seed();
    grader->kind = options->ptx_only ? BUILD_RUNNER_PTX : BUILD_RUNNER;
    grader->only_case = options->only_case;
    grader->counters = options->verbose;
    grader->call_seconds = options->call_seconds;
    grader->sim_threads = options->for_marks ? 1 : 0;
    if (grader->engine == ENGINE_GPU) grader->ceilings = measured_ceilings_begin();
    return 0;
}

/* Whether the submission is the learner's own work in labs/. */
static int is_own(const Options *options)
{
    return !options->results && !strcmp(options->submission, "labs");
}

/* The learner's own results, which the progress list reads, are in <build>/results; those of any
 * other submission, including the reference solutions, are in a folder of its name below. */
static void results_directory(const Grader *grader, const Options *options, char *path,
                              size_t bytes)
{
    const char *name = strrchr(grader->submission, '/');
    if (options->results)
        text_set(path, bytes, "%s", options->results);
    else if (is_own(options))
        text_set(path, bytes, "%s/results", grader->build);
    else
        text_set(path, bytes, "%s/results/%s", grader->build, name ? name + 1 : "other");
}

/* Stores the best grade and the history of the learner before later steps can fail. */
static int keep_progress(const Grader *grader, const Options *options, const Record *record,
                         Error *error)
{
    if (!is_own(options)) return 0;
    return best_record_update(grader->build, record, error) ||
                   history_add(grader->build, record, error)
               ? -1
               : 0;
}

/* Watch mode: path of the file that stores the last wrong case of a lab, next to the number of
 * hints shown. */
static void watch_path(const Options *options, const Lab *lab, char *path, size_t bytes)
{
    text_set(path, bytes, "%s/progress/%s.wrong", options->build, lab->name);
}

static void watch_begin(const Options *options, const Lab *lab, Grader *grader)
{
    char path[700];
    watch_path(options, lab, path, sizeof path);
    char *name = file_text(path, NULL);
    grader->stop = 1;
    text_set(grader->first_case, sizeof grader->first_case, "%s", name ? name : "");
    free(name);
}

/* Whether all was correct; stores the wrong case otherwise. */
static int watch_end(const Options *options, const Lab *lab, const Record *record)
{
    char path[700];
    Error error;
    const RecordCase *cause = cause_first(record);
    watch_path(options, lab, path, sizeof path);
    if (!cause || file_write(path, cause->name, &error)) unlink(path);
    return !cause && record->status == RECORD_GRADED;
}

static void show(const Record *record, ReportDepth depth)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return;
    report_print(stream, record, depth);
    fclose(stream);
    screen_print(stdout, text);
    fflush(stdout);
    free(text);
}

/* Grades, prints and stores; -1 if the result could not be stored or the grader itself failed. */
static int grade_one(Grader *grader, const Options *options, const Lab *lab,
                     double total[TURN_RESULTS])
{
    Record *record = malloc(sizeof *record);
    Error error;
    char results[600], line[1200];
    int status = 0;
    if (!record) {
        fprintf(stderr, "grade: out of memory\n");
        return -1;
    }
    if (!options->gpu && strcmp(grader->machine_name, lab->ini.gpu) &&
        load_machine(lab->ini.gpu, grader, &error)) {
        text_set(line, sizeof line, "%s: %s", lab->name, error.text);
        screen_error("grade", line);
        free(record);
        return -1;
    }
    if (options->watch) watch_begin(options, lab, grader);
    grade_lab(grader, lab, record);
    ticker_end();
    show(record, options->verbose ? REPORT_VERBOSE : REPORT_SCREEN);
    total[0] += record->points;
    total[1] += record->possible;
    results_directory(grader, options, results, sizeof results);
    int keep =
        options->watch ? watch_end(options, lab, record) : !options->only_case || options->results;
    if (keep &&
        (keep_progress(grader, options, record, &error) || record_write(results, record, &error))) {
        screen_error("grade", error.text);
        status = -1;
    }
    if (record->status == RECORD_BROKEN) status = -1;
    record_clear(record);
    free(record);
    return status;
}

typedef struct Chosen {
    Grader *grader;
    const Options *options;
    const Lab **lab;
    int labs;
} Chosen;

static void choose_labs(const Options *options, const Catalog *catalog, const Lab *only,
                        Chosen *chosen)
{
    for (int i = 0; i < catalog->labs; i++) {
        const Lab *lab = &catalog->lab[i];
        if (only && lab != only) continue;
        if (options->only_case && strcmp(options->only_case, "hidden") &&
            lab_case_find(&lab->ini, options->only_case) < 0)
            continue;
        chosen->lab[chosen->labs++] = lab;
    }
}

static int grade_task(void *context, int number, double total[TURN_RESULTS])
{
    const Chosen *chosen = context;
    return grade_one(chosen->grader, chosen->options, chosen->lab[number], total);
}

typedef struct EarlyBuilds {
    const Chosen *chosen;
    int shares;
} EarlyBuilds;

static void build_share(void *context, int share)
{
    const EarlyBuilds *ahead = context;
    for (int i = share; i < ahead->chosen->labs; i += ahead->shares)
        grade_lab_build(ahead->chosen->grader, ahead->chosen->lab[i]);
}

/* A GPU is timed while no other work runs.  So all labs are compiled first, in parallel: later,
 * compilers would delay or disturb the timing. */
static void build_early(const Chosen *chosen)
{
    EarlyBuilds ahead = {chosen, parallel_shares(chosen->labs, 1)};
    parallel_run(ahead.shares, build_share, &ahead);
}

/* Builds, inputs, judgements and a small case's blocks use one core, so on the simulator two labs
 * run in parallel. */
static int grade_each(Chosen *chosen, double (*result)[TURN_RESULTS])
{
    int card = chosen->grader->engine == ENGINE_GPU, wrong = 0;
    chosen->grader->crowded = !card && parallel_cores() > 1 && chosen->labs > 1;
    if (chosen->grader->crowded)
        return ordered_tasks_run(chosen->labs, 2, grade_task, chosen, result);
    if (card && chosen->labs > 1) build_early(chosen);
    ticker_begin();
    for (int i = 0; i < chosen->labs; i++)
        wrong += grade_task(chosen, i, result[i]) != 0;
    return wrong;
}

/* Prints the last line and returns the exit status. */
static int conclude(const Options *options, const double total[TURN_RESULTS], int wrong)
{
    char earned[32], possible[32];
    int status = wrong ? EXIT_TROUBLE : EXIT_WORKED;
    printf("total  %s/%s points\n", score_text(total[0], earned), score_text(total[1], possible));
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "grade: writing the table: %m\n");
        status = EXIT_TROUBLE;
    }
    double percent = total[1] > 0 ? 100 * total[0] / total[1] : 0;
    if (status == EXIT_WORKED && options->fail_under >= 0 && percent + 1e-9 < options->fail_under) {
        fprintf(stderr, "grade: %.1f %% is under %g %%\n", percent, options->fail_under);
        status = EXIT_UNDER;
    }
    return status;
}

static int grade_all(Grader *grader, const Options *options, const Catalog *catalog,
                     const Lab *only)
{
    size_t most = (size_t)catalog->labs + 1;
    double(*result)[TURN_RESULTS] = calloc(most, sizeof *result), total[TURN_RESULTS] = {0};
    Chosen chosen = {grader, options, calloc(most, sizeof *chosen.lab), 0};
    int status = EXIT_TROUBLE;
    if (result && chosen.lab) {
        choose_labs(options, catalog, only, &chosen);
        int wrong = grade_each(&chosen, result);
        for (int i = 0; i < chosen.labs; i++)
            total[0] += result[i][0], total[1] += result[i][1];
        status = conclude(options, total, wrong);
    } else {
        fprintf(stderr, "grade: out of memory\n");
    }
    free(result);
    free(chosen.lab);
    return status;
}

/* A submission that can read files of others can also read the answers. */
static int check_sandbox(const Options *options, Error *error)
{
    char cause[400];
    if (!options->for_marks || sandbox_counts()) return 0;
    sandbox_explain(cause, sizeof cause);
    return error_set(error,
                     "no marks in this sandbox (%s): a submission could read all files here, "
                     "because the kernel has no Landlock and %s",
                     sandbox_level_name(sandbox_probe()), cause);
}

/* Judging a large output takes a gigabyte, again and again.  A new page costs ten times as much as
 * writing to it, so freed memory is kept for the next output. */
static void memory_keep(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
}

int main(int argc, char **argv)
{
    static Grader grader;
    Options options;
    Catalog catalog = {0};
    Error error;
    const Lab *only = NULL;
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
    signal(SIGPIPE, SIG_IGN);
    memory_keep();
    if (parse_options(argc, argv, &options, &error) ||
        catalog_open(options.root, &catalog, &error) ||
        (options.lab && !(only = catalog_find(&catalog, options.lab, &error))) ||
        check_case(&options, &catalog, only, &error) || grader_open(&options, &grader, &error)) {
        screen_error("grade", error.text);
        catalog_close(&catalog);
        return EXIT_USAGE;
    }
    int status = EXIT_TROUBLE;
    if (check_sandbox(&options, &error) ||
        toolchain_load(grader.root, grader.build, &grader.toolchain, &error)) {
        screen_error("grade", error.text);
    } else {
        status = grade_all(&grader, &options, &catalog, only);
    }
    measured_ceilings_end(grader.ceilings);
    catalog_close(&catalog);
    return status;
}
