/* lab - commands of the front end: progress, hints, reset, solution, run, check.  Called by the
 * Makefile. */
#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autograder/build/build.h"
#include "autograder/lab/catalog.h"
#include "autograder/lab/check.h"
#include "autograder/lab/hidden.h"
#include "autograder/lab/lab_shape.h"
#include "autograder/lab/todo.h"
#include "autograder/judging/own_program.h"
#include "autograder/mutate/mutants.h"
#include "autograder/options/options.h"
#include "autograder/text/files.h"
#include "autograder/lab/handout.h"
#include "autograder/record/hint.h"
#include "autograder/record/ladder.h"
#include "autograder/record/progress.h"
#include "autograder/text/screen.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "common/base/intake.h"

static const char USAGE[] =
    "usage: lab COMMAND [--root DIR] [--build DIR] [--lab NN] [...]\n"
    "  list               every lab, its best grade and its last, what is next\n"
    "  ladder  [--lab NN]  how the grades went, and tables to draw it by in --out DIR\n"
    "  names   [--lab NN]  the labs' names, one a line; or that one's\n"
    "  plan               the labs, what comes before each and how long it takes (Markdown)\n"
    "  hint     --lab NN  [--todo N] hints that the last grade unlocked, and the next staged one;\n"
    "                     or the next of the three hints of TODO(N)\n"
    "  reset    --lab NN  restores the skeleton; your file is saved as <source>.bak1, .bak2 ...\n"
    "  solution --lab NN  the solution and how yours differs, once passed\n"
    "  run      --lab NN  [--case NAME | --shape \"N=64 ...\" | --maps FILE --shape \"K=64 ...\"]\n"
    "                     [--engine sim|gpu] [--gpu h200] [--seed N] [--submission DIR|FILE] "
    "[--alone]\n"
    "                     [--counters FILE] [--runs FILE] [--input NPY] [--weights NPY] [--output "
    "NPY]\n"
    "                     runs one case, and the baseline for comparison unless --alone; the first "
    "FILE\n"
    "                     gets every metric of docs/instructor/lab-ini.md, if the case is right, "
    "the second\n"
    "                     by how many warps each instruction of each kernel was executed; x and w\n"
    "                     come from files and y goes to one, right or wrong\n"
    "  profile  --lab NN  [as run] [--ptx] [--out DIR] [--against reference|baseline|DIR]\n"
    "                     [--kernel NAME] [--launch N] [--trace FILE]\n"
    "                     runs one case and shows where its cycles\n"
    "                     went; DIR gets tables and plots (else build/profile/NN-name)\n"
    "  see      --lab NN  [as run] [--line N] [--out FILE]  the memory accesses of warps, as an "
    "HTML\n"
    "                     page (else build/see/NN-name.html)\n"
    "  cases    --lab NN  [--shape \"N=64 ...\"]  its cases, or a shape, as numbers, one a line:\n"
    "                     name, then the fields of ConvProblem\n"
    "  served   --lab NN  [--case NAME | --shape \"N=1 ...\"] [--engine sim|gpu]  what `make "
    "serve`\n"
    "                     serves: lines with source, cc, precision, operation and shape\n"
    "  smallest --lab NN  the names of its cases, fewest MACs first\n"
    "  shapes   --lab NN  its cases as the table of its handout (Markdown)\n"
    "  questions --lab NN its predictions, likewise\n"
    "  hidden   --lab NN  [--seed N]  hidden shapes, as many as a grade draws, one a line\n"
    "  mutants  --lab NN  [--sample N] [--seed N] [--out DIR]  every small change of the "
    "solution's\n"
    "                     TODO regions, or N of them, as a table; DIR/<name>/ gets the sources\n"
    "  until    --lab NN --todo N [--submission FILE]  the solution, or FILE, without what comes\n"
    "                     after TODO(N): those regions are the skeleton's\n"
    "  ticker   --what TEXT --all N [--again FILE]  the progress of a script, which writes a line\n"
    "                     for each of N parts that is done (common/setup/ticker.sh)\n"
    "  check              proves that skeletons, solutions and handouts agree\n"
    "  keep     --lab NN  for authors: labs/NN's source becomes the skeleton that reset restores\n";

typedef struct Options {
    const char *command, *root, *build, *lab, *submission, *only_case, *gpu, *seed;
    DeviceEngine engine;
    const char *shape;          /* the user's own shape; NULL: a case of the lab */
    const char *maps, *weights; /* the files that x and w are read from; NULL: generated */
    const char *input, *output; /* the same for x, and the file for y; NULL: none */
    const char *counters, *out; /* files of a run's metrics, of a profile; NULL: see USAGE */
    const char *runs;           /* file of a run's executed instructions; NULL: none */
    const char *sample;         /* number of mutants; NULL: all */
    const char *against;        /* a profile's comparison: reference, baseline, or the folder of an
                          * earlier profile; NULL: none */
    const char *kernel, *launch, *trace; /* selection and file of a profile; NULL: not given */
    const char *todo;               /* the number of a region, for its hints; NULL: staged hints */
    const char *line;               /* line of the source at which `see` opens; NULL: any */
    const char *what, *all, *again; /* the progress of what, in how many parts, as long as when */
    int ptx, alone;                 /* alone: without the baseline's run */
} Options;

static int parse_options(int argc, char **argv, Options *options, Error *error)
{
    *options =
        (Options){.root = ".", .build = "build", .submission = "labs", .engine = ENGINE_AUTO};
    const Option table[] = {
        {"root", OPTION_TEXT, &options->root},
        {"build", OPTION_TEXT, &options->build},
        {"lab", OPTION_TEXT, &options->lab},
        {"submission", OPTION_TEXT, &options->submission},
        {"engine", OPTION_ENGINE, &options->engine},
        {"gpu", OPTION_TEXT, &options->gpu},
        {"case", OPTION_TEXT, &options->only_case},
        {"shape", OPTION_TEXT, &options->shape},
        {"maps", OPTION_TEXT, &options->maps},
        {"weights", OPTION_TEXT, &options->weights},
        {"input", OPTION_TEXT, &options->input},
        {"output", OPTION_TEXT, &options->output},
        {"seed", OPTION_TEXT, &options->seed},
        {"counters", OPTION_TEXT, &options->counters},
        {"runs", OPTION_TEXT, &options->runs},
        {"out", OPTION_TEXT, &options->out},
        {"sample", OPTION_TEXT, &options->sample},
        {"line", OPTION_TEXT, &options->line},
        {"todo", OPTION_TEXT, &options->todo},
        {"against", OPTION_TEXT, &options->against},
        {"kernel", OPTION_TEXT, &options->kernel},
        {"launch", OPTION_TEXT, &options->launch},
        {"trace", OPTION_TEXT, &options->trace},
        {"what", OPTION_TEXT, &options->what},
        {"all", OPTION_TEXT, &options->all},
        {"again", OPTION_TEXT, &options->again},
        {"ptx", OPTION_FLAG, &options->ptx},
        {"alone", OPTION_FLAG, &options->alone},
        {"help", OPTION_HELP, (void *)USAGE},
        {0},
    };
    if (options_parse(argc, argv, table, 1, &options->command, error)) return -1;
    if (!options->command) options->command = "list";
    if (!strcmp(options->command, "ladder") && !options->out)
        return error_set(error, "ladder needs --out DIR, for the tables");
    return 0;
}

/* ---- the commands ------------------------------------------------------------------------- */

static int lab_hint(const Options *options, const Lab *lab, Error *error)
{
    char mine[1200], skeleton[1200];
    lab_source_path(options->root, lab, mine, sizeof mine);
    lab_skeleton_path(options->root, lab, skeleton, sizeof skeleton);
    char *text = file_text(mine, NULL), *pristine = file_text(skeleton, NULL);
    const HintSource source = {text, pristine};
    int status = options->todo ? hint_print_todo(stdout, lab, options->build, atoi(options->todo),
                                                 &source, error)
                               : hint_print(stdout, lab, options->build, &source, error);
    free(text);
    free(pristine);
    return status;
}

/* The student's source; NULL with errno ENOENT: there is none. */
static char *source_text(const Options *options, const Lab *lab, Error *error)
{
    char folder[1024], name[256];
    size_t bytes;
    text_set(folder, sizeof folder, "%s/labs", options->root);
    text_set(name, sizeof name, "%s/%s", lab->name, lab->ini.source);
    return intake_read(folder, name, FILE_BYTES_MAX, &bytes, error);
}

static int lab_reset(const Options *options, const Lab *lab, Error *error)
{
    char from[1024], to[1024], backup[1100];
    lab_skeleton_path(options->root, lab, from, sizeof from);
    lab_source_path(options->root, lab, to, sizeof to);
    char *mine = source_text(options, lab, error);
    if (!mine && errno != ENOENT) return -1; /* a file that cannot be saved is not replaced */
    char *skeleton = file_text(from, error);
    int status = skeleton ? 0 : -1;
    if (skeleton && mine && !strcmp(skeleton, mine)) {
        printf("%s is already the skeleton.\n", to);
    } else if (skeleton) {
        int number = 1;
        do {
            text_set(backup, sizeof backup, "%s.bak%d", to, number++);
        } while (file_exists(backup));
        if (mine) status = file_write(backup, mine, error);
        if (!status) status = file_write(to, skeleton, error);
        if (!status && mine)
            printf("%s is the skeleton again; your file is saved as %s\n", to, backup);
        if (!status && !mine) printf("%s is the skeleton again.\n", to);
    }
    free(skeleton);
    free(mine);
    return status;
}

static int lab_keep(const Options *options, const Lab *lab, Error *error)
{
    char from[1024], to[1024];
    lab_source_path(options->root, lab, from, sizeof from);
    lab_skeleton_path(options->root, lab, to, sizeof to);
    char *text = source_text(options, lab, error);
    int status = text ? file_write(to, text, error) : -1;
    if (!status) printf("%s -> %s\n", from, to);
    free(text);
    return status;
}

/* The other solutions of the handout's section "After passing" (docs/data/after/README.md). */
static void print_other_solutions(const Options *options, const Lab *lab)
{
    enum { LAB, CASE, TITLE, SOURCE, CHANGE, COLUMNS };
    char path[1100], *cell[COLUMNS];
    text_set(path, sizeof path, "%s/docs/data/after/solutions.tsv", options->root);
    char *text = file_exists(path) ? file_text(path, NULL) : NULL, *rest = text;
    int found = 0;
    for (char *line; (line = strsep(&rest, "\n"));) {
        int cells = 0;
        while (cells < COLUMNS && (cell[cells] = strsep(&line, "\t")))
            cells++;
        if (cells < COLUMNS || strncmp(cell[LAB], lab->name, 2) != 0) continue;
        if (!found++) printf("Other right solutions (see After passing in the handout):\n");
        printf("  %s: %s%s%s\n", cell[TITLE], cell[SOURCE], *cell[CHANGE] ? " with " : "",
               cell[CHANGE]);
    }
    free(text);
}

static int lab_solution(const Options *options, const Lab *lab, Error *error)
{
    char mine[1024], solution[1024];
    lab_source_path(options->root, lab, mine, sizeof mine);
    lab_solution_path(options->root, lab, solution, sizeof solution);
    if (!file_exists(solution))
        return error_set(error, "this is a student's copy: your instructor has the solutions");
    if (!progress_passed(options->build, lab->name)) {
        return error_set(error,
                         "%s is not passed yet: this needs all cases correct and half of the "
                         "points (make grade LAB=%.2s). Until then use make hint LAB=%.2s",
                         lab->name, lab->name, lab->name);
    }
    char *text = source_text(options, lab, error);
    if (!text) return -1;
    free(text);
    print_other_solutions(options, lab);
    printf("The solution is %s; the changes from yours to it:\n", solution);
    fflush(stdout);
    /* diff's status 1 only means that they differ, which is not an error. */
    execlp("sh", "sh", "-c", "diff -u \"$1\" \"$2\"; [ $? -le 1 ]", "sh", mine, solution,
           (char *)NULL);
    return error_set(error, "sh: %m");
}

static int lab_ladder(const Options *options, const Lab *lab, Error *error)
{
    return ladder_print(stdout, lab, options->build, options->out, error);
}

static int lab_name(const Options *options, const Lab *lab, Error *error)
{
    (void)options, (void)error;
    return puts(lab->name) < 0 ? -1 : 0;
}

static void say_line(void *context, const char *line)
{
    (void)context;
    printf("%s\n", line);
}

static int lab_check(const Options *options, const Catalog *catalog)
{
    int wrong = 0;
    for (int i = 0; i < catalog->labs; i++) {
        int here = check_lab(options->root, &catalog->lab[i], say_line, NULL);
        if (!here) printf("%s: ok\n", catalog->lab[i].name);
        wrong += here;
    }
    return wrong ? 1 : 0;
}

/* ---- run ---------------------------------------------------------------------------------- */

static int run_toolchain(const Options *options, Toolchain *toolchain, Error *error)
{
    char root[512], directory[512];
    char *full_root = realpath(options->root, NULL), *full_build = realpath(options->build, NULL);
    text_set(root, sizeof root, "%s", full_root ? full_root : options->root);
    text_set(directory, sizeof directory, "%s", full_build ? full_build : options->build);
    free(full_root);
    free(full_build);
    return toolchain_load(root, directory, toolchain, error);
}

/* Path of the file with the duration of the last time (ticker.h). */
static void clock_path(const Options *options, const Lab *lab, const char *what, char *path,
                       size_t bytes)
{
    text_set(path, bytes, "%s/progress/clock/%s-%s", options->build, lab->name, what);
}

static int built(const Build *build, Error *error)
{
    if (build->log && *build->log) fprintf(stderr, "%s\n", build->log);
    return build->status == BUILD_OK ? 0 : error_set(error, "%s", build->message);
}

/* Builds the submission, and if needed one of the course's own programs.  A script that needs
 * numbers does not use a debugger, so it uses the build of `make grade`. */
static int build_run(const Options *options, const Lab *lab, const char *folder, const char *source,
                     Build *build, Build *beside, OwnProgram which, Error *error)
{
    Toolchain toolchain;
    BuildKind kind = options->counters || options->runs ? BUILD_RUN : BUILD_RUN_DEBUG;
    if (folder ? !intake_exists(folder, source) : !file_exists(source))
        return error_set(error, "there is no %s%s%s", folder ? folder : "", folder ? "/" : "",
                         source);
    if (run_toolchain(options, &toolchain, error)) return -1;
    char clock[1024];
    clock_path(options, lab, "build", clock, sizeof clock);
    ticker_begin_again(clock);
    ticker_say(-1, "compiling %s", lab->name);
    build_submission(&toolchain, folder, source, lab->ini.entries, lab_ini_cc(&lab->ini), kind,
                     build);
    if (beside && build->status == BUILD_OK)
        own_program_build(&toolchain, lab, which, BUILD_RUN, beside);
    ticker_end();
    if (built(build, error)) return -1;
    return beside ? built(beside, error) : 0;
}

/* On a GPU the profiler is Nsight Compute, with the same program. */
static int profile_on_gpu(const char *const *argv, int count, Error *error)
{
    const char *ncu[32] = {"ncu",       "--section",          "SpeedOfLight",
                           "--section", "WarpStateStats",     "--section",
                           "Occupancy", "--kernel-name-base", "function"};
    int used = 9;
    for (int i = 0; i < count && used < 31; i++)
        ncu[used++] = argv[i];
    execvp(ncu[0], (char *const *)ncu);
    return error_set(error, "ncu: %m; it comes with the CUDA Toolkit (nsight-compute). Without it: "
                            "make profile ENGINE=sim");
}

/* A submission is a folder of labs, or one source, as for a step of a handout.  Returns the folder,
 * and the path below it, for intake_read. */
static const char *submission_path(const Options *options, const Lab *lab, char *path, size_t bytes)
{
    struct stat status;
    int one = !stat(options->submission, &status) && S_ISREG(status.st_mode);
    if (one)
        text_set(path, bytes, "%s", options->submission);
    else
        text_set(path, bytes, "%s/%s", lab->name, lab->ini.source);
    return one ? NULL : options->submission;
}

typedef enum Purpose { TO_RUN, TO_PROFILE, TO_SEE } Purpose;

static const char *const PURPOSE_NAMES[] = {"run", "profile", "see"};

/* Checks that the chosen items exist and that no option hides another. */
/* AGAINST is neither of the course's programs: then it is the folder of an earlier profile. */
static int is_earlier(const Options *options)
{
    return options->against && strcmp(options->against, "reference") &&
           strcmp(options->against, "baseline");
}

static int earlier_check(const Options *options, Error *error)
{
    char path[1200];
    text_set(path, sizeof path, "%s/stalls.tsv", options->against);
    if (file_exists(path)) return 0;
    return error_set(error,
                     "AGAINST is reference, baseline, or the folder of an earlier profile, which "
                     "has a stalls.tsv; '%.200s' has none",
                     options->against);
}

static int choices_check(const Options *options, const Lab *lab, Error *error)
{
    char names[700] = "";
    for (int i = 0; i < lab->ini.cases; i++)
        text_add(names, sizeof names, "%s%s", i ? ", " : "", lab->ini.item[i].name);
    if (options->only_case && lab_case_find(&lab->ini, options->only_case) < 0)
        return error_set(error, "%s has no case '%.40s'; it has: %s", lab->name, options->only_case,
                         names);
    if (options->only_case && options->shape)
        return error_set(error, "CASE selects one of the lab's cases, SHAPE defines one of your "
                                "own: give only one of them");
    if (options->launch && strspn(options->launch, "0123456789") != strlen(options->launch))
        return error_set(error, "LAUNCH is the number of a launch, from 1, not '%.40s'",
                         options->launch);
    if (!options->against) return 0;
    if (is_earlier(options)) return earlier_check(options, error);
    if (engine_resolve(options->engine) == ENGINE_GPU)
        return error_set(error, "AGAINST compares the simulator's counters: use ENGINE=sim");
    return 0;
}

/* The command line of a student's program (autograder/run.c). */
typedef struct Command {
    const char *argv[48];
    int count;
} Command;

/* A flag without a value is added if it is set. */
static void pass_flag(Command *command, const char *flag)
{
    command->argv[command->count++] = flag;
}

/* Adds a flag and its value, if there is one. */
static void pass(Command *command, const char *flag, const char *value)
{
    if (!value) return;
    pass_flag(command, flag);
    pass_flag(command, value);
}

/* Passes options of lab's command line on to the program. */
static void pass_options(Command *command, const Options *options, const Lab *lab)
{
    pass(command, "--root", options->root);
    pass(command, "--lab", lab->name);
    pass(command, "--engine", engine_name(engine_resolve(options->engine)));
    pass(command, "--gpu", options->gpu ? options->gpu : lab->ini.gpu);
    pass(command, "--case", options->only_case);
    pass(command, "--shape", options->shape);
    pass(command, "--maps", options->maps);
    pass(command, "--weights", options->weights);
    pass(command, "--input", options->input);
    pass(command, "--output", options->output);
    pass(command, "--seed", options->seed);
    pass(command, "--counters", options->counters);
    pass(command, "--runs", options->runs);
}

/* Adds the path for a page (see), or for tables and plots (profile). */
static void pass_purpose(Command *command, const Options *options, Purpose purpose, const char *out)
{
    if (purpose == TO_RUN) return;
    pass(command, purpose == TO_SEE ? "--see" : "--profile", out);
    pass(command, "--kernel", options->kernel);
    pass(command, "--launch", options->launch);
    pass(command, "--trace", options->trace);
    if (is_earlier(options)) pass(command, "--before", options->against);
    if (options->ptx) pass_flag(command, "--ptx");
    if (purpose == TO_SEE) pass(command, "--line", options->line);
}

/* Replaces this process by the submission's program, which compares itself with the baseline or the
 * reference. */
static int program_start(const Options *options, const Lab *lab, Purpose purpose,
                         const char *source, const Build *build, const Build *beside, int reference,
                         Error *error)
{
    Command command = {.argv = {build->program}, .count = 1};
    char clock[1024], what[200], out[1100], other[1024];
    const char *item = options->only_case ? options->only_case : options->shape ? "shape" : "first";
    text_set(what, sizeof what, "%s-%s-%s", item, engine_name(engine_resolve(options->engine)),
             PURPOSE_NAMES[purpose]);
    clock_path(options, lab, what, clock, sizeof clock);
    text_set(out, sizeof out, purpose == TO_SEE ? "%s/see/%s.html" : "%s/profile/%s",
             options->build, lab->name);
    pass_options(&command, options, lab);
    pass(&command, "--clock", clock);
    pass(&command, "--source", source);
    if (beside) {
        pass(&command, "--baseline", beside->program);
        pass(&command, "--against", reference ? "reference" : "baseline");
        if (!own_program_source(options->root, lab, reference ? OWN_REFERENCE : OWN_BASELINE, other,
                                sizeof other, error) &&
            file_exists(other))
            pass(&command, "--other", other);
    }
    if (purpose == TO_PROFILE && engine_resolve(options->engine) == ENGINE_GPU)
        return profile_on_gpu(command.argv, command.count, error);
    pass_purpose(&command, options, purpose, options->out ? options->out : out);
    execv(build->program, (char *const *)command.argv);
    return error_set(error, "%s: %m", build->program);
}

static int run_program(const Options *options, const Lab *lab, Purpose purpose, Error *error)
{
    if (choices_check(options, lab, error)) return -1;
    Build build = {0}, other = {0};
    char beneath[1100], source[2200];
    const char *folder = submission_path(options, lab, beneath, sizeof beneath);
    text_set(source, sizeof source, "%s%s%s", folder ? folder : "", folder ? "/" : "", beneath);
    int reference = options->against && !strcmp(options->against, "reference");
    Build *beside = (purpose == TO_RUN ? !options->alone : options->against && !is_earlier(options))
                        ? &other
                        : NULL;
    int status = build_run(options, lab, folder, beneath, &build, beside,
                           reference ? OWN_REFERENCE : OWN_BASELINE, error);
    if (!status)
        status = program_start(options, lab, purpose, source, &build, beside, reference, error);
    build_clear(&build);
    build_clear(&other);
    return status;
}

static int lab_run(const Options *options, const Lab *lab, Error *error)
{
    return run_program(options, lab, TO_RUN, error);
}

static int lab_profile(const Options *options, const Lab *lab, Error *error)
{
    if (!lab->ini.host) return run_program(options, lab, TO_PROFILE, error);
    return error_set(error,
                     "%s runs on the CPU, where the profiler is perf: perf record -o "
                     "build/perf.data make run LAB=%.2s, then perf annotate -i build/perf.data",
                     lab->name, lab->name);
}

static int lab_see(const Options *options, const Lab *lab, Error *error)
{
    Options simulated = *options;
    if (options->engine == ENGINE_GPU)
        return error_set(error, "a GPU does not report what each lane does: omit ENGINE=gpu");
    simulated.engine = ENGINE_SIM;
    if (!lab->ini.host) return run_program(&simulated, lab, TO_SEE, error);
    return error_set(error, "%s runs on the CPU, which has no warps to show: start with lab 02",
                     lab->name);
}

static void print_fields(const Lab *lab, const char *name, const Problem *problem)
{
    const int *field = (const int *)(const void *)problem->data;
    printf("%s/%s", lab->name, name);
    for (uint32_t k = 0; k < problem->bytes / sizeof *field; k++)
        printf(" %d", field[k]);
    putchar('\n');
}

/* Used by programs that measure solutions without the grader:
 * common/simulator/validation/lab_launches.cu. */
static int lab_cases(const Options *options, const Lab *lab, Error *error)
{
    Problem own;
    if (options->shape) {
        if (!lab_shape_parse(&lab->ini, options->shape, &own, error)) return -1;
        print_fields(lab, "shape", &own);
        return 0;
    }
    for (int i = 0; i < lab->ini.cases; i++)
        print_fields(lab, lab->ini.item[i].name, &lab->ini.item[i].problem);
    return 0;
}

/* The problem that a case, or a shape, is served as.  On a GPU it has the GPU's shape. */
static int served_problem(const Options *options, const LabIni *ini, const Operation **operation,
                          Problem *problem, Error *error)
{
    if (options->shape) {
        *operation = lab_shape_parse(ini, options->shape, problem, error);
        return *operation ? 0 : -1;
    }
    int index = options->only_case ? lab_case_find(ini, options->only_case) : 0;
    if (index < 0) return error_set(error, "there is no case '%.40s'", options->only_case);
    const LabCase *item = &ini->item[index];
    *operation = item->operation;
    *problem = engine_resolve(options->engine) == ENGINE_SIM ? item->problem : item->problem_gpu;
    return 0;
}

/* Used by common/apps/serve/serve.sh. */
static int lab_served(const Options *options, const Lab *lab, Error *error)
{
    const LabIni *ini = &lab->ini;
    const Operation *operation = NULL;
    Problem problem;
    char shape[LAB_SHAPE_TEXT];
    if (ini->host)
        return error_set(error, "%s runs on the CPU: its kernels cannot be served", lab->name);
    if (served_problem(options, ini, &operation, &problem, error)) return -1;
    operation->print(&problem, shape, sizeof shape);
    printf("lab %s\nsource %s\nentries %s\ncc %d\nprecision %s\ngpu %s\noperation %s\nshape %s\n",
           lab->name, ini->source, ini->entries, lab_ini_cc(ini), precision_name(ini->precision),
           ini->gpu, operation->name, shape);
    return 0;
}

static int by_flops(const void *left, const void *right)
{
    const LabCase *const *a = left, *const *b = right;
    double first = (*a)->operation->flops(&(*a)->problem);
    double second = (*b)->operation->flops(&(*b)->problem);
    return first != second ? (first > second) - (first < second) : (*a > *b) - (*a < *b);
}

/* Used by tests that stop at the first case with a finding. */
static int lab_smallest(const Options *options, const Lab *lab, Error *error)
{
    const LabIni *ini = &lab->ini;
    const LabCase *item[LAB_CASES];
    (void)options, (void)error;
    for (int i = 0; i < ini->cases; i++)
        item[i] = &ini->item[i];
    qsort(item, (size_t)ini->cases, sizeof *item, by_flops);
    for (int i = 0; i < ini->cases; i++)
        puts(item[i]->name);
    return 0;
}

static int lab_shapes(const Options *options, const Lab *lab, Error *error)
{
    (void)options, (void)error;
    handout_print_shapes(stdout, &lab->ini);
    return 0;
}

static int lab_questions(const Options *options, const Lab *lab, Error *error)
{
    (void)options, (void)error;
    handout_print_questions(stdout, &lab->ini);
    return 0;
}

/* Prints hidden shapes as a grade draws them: an example for each seed. */
static int lab_hidden(const Options *options, const Lab *lab, Error *error)
{
    uint64_t seed = options->seed ? strtoull(options->seed, NULL, 0) : 0;
    for (int i = 0; i < lab->ini.hidden_count; i++) {
        Random random;
        Problem problem = {0};
        char shape[LAB_SHAPE_TEXT];
        random_seed(&random, digest_bytes(seed ^ DIGEST_START, &i, sizeof i));
        const Operation *operation = hidden_draw(&lab->ini, &random, i, &problem);
        lab_shape_print(&lab->ini, operation, &problem, shape, sizeof shape);
        printf("%s\n", shape);
    }
    (void)error;
    return 0;
}

/* Prints a table with a header: name, line, kind, TODO region (with #2 for the second of equal
 * lines), the lines before and after. */
static int mutant_show(const Options *options, const Lab *lab, const char *source,
                       const Mutant *mutant, Error *error)
{
    char path[1200], which[16] = "";
    if (mutant->which > 1) text_set(which, sizeof which, "#%d", mutant->which);
    printf("%016" PRIx64 "\t%d\t%s\t%d%s\t%s\t%s\n", mutant->digest, mutant->line, mutant->kind,
           mutant->region, which, mutant->before, mutant->after);
    if (!options->out) return 0;
    text_set(path, sizeof path, "%s/%016" PRIx64 "/%s", options->out, mutant->digest,
             lab->ini.source);
    char *planted = mutant_plant(source, mutant);
    int status = planted ? file_write(path, planted, error) : error_set(error, "out of memory");
    free(planted);
    return status;
}

static int lab_mutants(const Options *options, const Lab *lab, Error *error)
{
    char path[1100];
    TodoList todo;
    MutantList list = {0};
    lab_solution_path(options->root, lab, path, sizeof path);
    char *source = file_text(path, error);
    int status = source ? 0 : -1;
    if (!status) status = todo_scan(path, source, &todo, error);
    if (!status) status = mutants_find(source, &todo, &list, error);
    if (!status && options->sample)
        mutants_sample(&list, strtoul(options->sample, NULL, 10),
                       options->seed ? strtoull(options->seed, NULL, 0) : 0);
    if (!status) printf("name\tline\tkind\ttodo\tbefore\tafter\n");
    for (size_t i = 0; i < list.mutants && !status; i++)
        status = mutant_show(options, lab, source, &list.mutant[i], error);
    mutants_free(&list);
    free(source);
    return status;
}

/* Used by mutate.sh. */
static int lab_until(const Options *options, const Lab *lab, Error *error)
{
    char path[1100], skeleton[1100];
    if (!options->todo) return error_set(error, "until needs --todo N, the last written region");
    lab_solution_path(options->root, lab, path, sizeof path);
    lab_skeleton_path(options->root, lab, skeleton, sizeof skeleton);
    char *text = file_text(strcmp(options->submission, "labs") ? options->submission : path, error);
    char *pristine = text ? file_text(skeleton, error) : NULL;
    char *until = pristine ? todo_until(text, pristine, atoi(options->todo), error) : NULL;
    if (until) fputs(until, stdout);
    free(text);
    free(pristine);
    free(until);
    return until ? 0 : -1;
}

static int lab_ticker(const Options *options)
{
    ticker_follow(stdin, options->what ? options->what : "at work",
                  options->all ? atoi(options->all) : 0, options->again);
    return 0;
}

/* ---- main --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int (*run)(const Options *, const Lab *, Error *);
} LAB_COMMANDS[] = {
    {"hint", lab_hint},         {"reset", lab_reset},     {"solution", lab_solution},
    {"run", lab_run},           {"profile", lab_profile}, {"cases", lab_cases},
    {"smallest", lab_smallest}, {"shapes", lab_shapes},   {"questions", lab_questions},
    {"keep", lab_keep},         {"hidden", lab_hidden},   {"mutants", lab_mutants},
    {"until", lab_until},       {"served", lab_served},   {"see", lab_see},
    {"ladder", lab_ladder},     {"names", lab_name}};

static int dispatch(const Options *options, const Catalog *catalog, Error *error)
{
    const char *command = options->command;
    if (!strcmp(command, "list")) {
        progress_print(stdout, catalog, options->build);
        return 0;
    }
    if (!strcmp(command, "plan")) {
        handout_print_plan(stdout, catalog);
        return 0;
    }
    if (!strcmp(command, "ladder") && !options->lab)
        return ladder_print_all(stdout, catalog, options->build, options->out, error);
    if (!strcmp(command, "check")) return lab_check(options, catalog);
    if (!strcmp(command, "names") && !options->lab) {
        for (int i = 0; i < catalog->labs; i++)
            printf("%s\n", catalog->lab[i].name);
        return 0;
    }
    for (size_t i = 0; i < sizeof LAB_COMMANDS / sizeof *LAB_COMMANDS; i++) {
        if (strcmp(LAB_COMMANDS[i].name, command)) continue;
        if (!options->lab) return error_set(error, "which lab?  lab %s --lab NN", command);
        const Lab *lab = catalog_find(catalog, options->lab, error);
        return lab ? LAB_COMMANDS[i].run(options, lab, error) : -1;
    }
    return error_set(error, "there is no command '%.40s'; see lab --help", command);
}

int main(int argc, char **argv)
{
    Options options;
    Catalog catalog = {0};
    Error error;
    char shape[LAB_SHAPE_TEXT];
    int status = parse_options(argc, argv, &options, &error);
    if (!status && options.shape && strchr(options.shape, '/')) {
        status = lab_shape_layer(options.root, options.shape, shape, &error);
        options.shape = shape;
    }
    if (!status && !strcmp(options.command, "ticker")) return lab_ticker(&options);
    if (!status) status = catalog_open(options.root, &catalog, &error);
    if (!status) status = dispatch(&options, &catalog, &error);
    if (status < 0) screen_error("lab", error.text);
    catalog_close(&catalog);
    return status < 0 ? 2 : status;
}
