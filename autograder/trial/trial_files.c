/* trial_files.c - files written after a call: a profile, an HTML page, numbers for scripts. */
#include "autograder/trial/trial_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/metric.h"
#include "autograder/profile/profile.h"
#include "autograder/profile/profile_phases.h"
#include "autograder/profile/profile_stalls.h"
#include "autograder/see/see.h"
#include "autograder/text/files.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "common/cuda/sim/sim_device.h"
#include "common/simulator/machine/machine.h"

/* The distribution of the cycles, on the terminal and as files with their plots. */
/* Why there is no profile. */
static void profile_print_none(const Trial *trial, const ProfileLaunches *launches)
{
    char line[600];
    text_set(line, sizeof line, "no kernel was launched");
    if (launches->launches)
        text_set(line, sizeof line, "no launch%s%s%s: the kernels are in this table",
                 trial->choice.launch.value ? " with this number" : "",
                 trial->choice.kernel ? " of kernel " : "",
                 trial->choice.kernel ? trial->choice.kernel : "");
    text_wrap(stdout, 2, line);
    profile_launches_print(stdout, launches);
}

int trial_profile(const Trial *trial, Error *error)
{
    SimtMachine machine;
    char gpus[1024], command[1400];
    text_set(gpus, sizeof gpus, "%s/common/simulator/gpus", trial->root);
    if (machine_load(gpus, trial->gpu, &machine, error)) return -1;
    ProfilePage page = {.profile = sim_device_profile(trial->device),
                        .cost = &trial->cost,
                        .machine = &machine,
                        .source = trial->source,
                        .flops = trial->operation->flops(trial->problem),
                        .ptx = trial->ptx,
                        .is_selected = trial->choice.kernel || trial->choice.launch.value};
    page.launches.launch = sim_device_launches(trial->device, &page.launches.launches);
    page.launches.clock_mhz = machine.clock_mhz;
    if (!page.profile) {
        profile_print_none(trial, &page.launches);
        return 0;
    }
    profile_print(stdout, &page);
    fflush(stdout);
    if (directory_make(trial->profile)) return error_set(error, "%s: %m", trial->profile);
    if (profile_write(trial->profile, &page, error)) return -1;
    if (trial->choice.trace && profile_write_trace(trial->choice.trace, &page, error)) return -1;
    text_set(command, sizeof command,
             "cd '%s' && gnuplot timeline.gp roofline.gp >/dev/null 2>gnuplot.log", trial->profile);
    int plotted = !strchr(trial->profile, '\'') && system("command -v gnuplot >/dev/null") == 0 &&
                  system(command) == 0;
    char files[1400];
    text_set(files, sizeof files,
             "%s: timeline.html, trace.json, profile.tsv, lines.tsv, phases.tsv, stalls.tsv, "
             "pipes.tsv, launches.tsv, timeline.tsv, roofline.tsv%s",
             trial->profile,
             plotted ? ", timeline.svg, roofline.svg" : "; for the plots install gnuplot");
    putchar('\n');
    text_wrap(stdout, 2, files);
    return 0;
}

/* The warps' memory accesses as an HTML page. */
int trial_see(const Trial *trial, const char *shape, Error *error)
{
    char about[600], frame[1100];
    SeePage page = {.profile = sim_device_profile(trial->device),
                    .lab = trial->found->name,
                    .about = about,
                    .gpu = trial->gpu,
                    .source = trial->source,
                    .line = trial->line.value < INT32_MAX ? (int)trial->line.value : 0,
                    .frame = frame};
    if (!page.profile || !page.profile->watches) {
        printf("  no kernel was launched\n");
        return 0;
    }
    text_set(about, sizeof about, "%s%s%s", trial->item ? "Case " : "",
             trial->item ? trial->item->name : "", trial->item ? ": " : "");
    text_add(about, sizeof about, "%s", shape);
    text_set(frame, sizeof frame, "%s/autograder/see/page.html", trial->root);
    if (see_write(trial->see, &page, error)) return -1;
    printf("  %s: open it in a browser\n", trial->see);
    if (trial->line.given && !see_has_line(&page, page.line)) {
        char said[200];
        text_set(said, sizeof said,
                 "nothing that is shown accesses memory at line %" PRIu64
                 ": the page opens at another",
                 trial->line.value);
        text_wrap(stdout, 2, said);
    }
    return 0;
}

/* Numbers for scripts (docs/numbers): microseconds, and every metric of the run. */
int trial_write_counters(const Trial *trial, Error *error)
{
    SimtMachine machine;
    char gpus[1024];
    text_set(gpus, sizeof gpus, "%s/common/simulator/gpus", trial->root);
    if (machine_load(gpus, trial->gpu, &machine, error)) return -1;
    MetricRun measured = {trial->operation, trial->problem, &machine, &trial->cost};
    FILE *stream = fopen(trial->counters, "w");
    if (!stream) return error_set(error, "%s: %m", trial->counters);
    fprintf(stream, "microseconds\t%.15g\n", trial->cost.seconds * 1e6);
    metrics_write(stream, &measured);
    return fclose(stream) ? error_set(error, "%s: %m", trial->counters) : 0;
}

/* Execution counts for autograder/tests/coverage: simt_write_runs. */
int trial_write_runs(const Trial *trial, Error *error)
{
    FILE *stream = fopen(trial->runs, "w");
    if (!stream) return error_set(error, "%s: %m", trial->runs);
    sim_device_write_runs(trial->device, stream);
    return fclose(stream) ? error_set(error, "%s: %m", trial->runs) : 0;
}

/* Phases for a program that compares its own with these. */
int trial_write_phases(const Trial *trial, Error *error)
{
    ProfilePhases phases = {0};
    const SimtProfile *profile = sim_device_profile(trial->device);
    if (profile && profile_phases_of(profile, trial->source, &phases))
        return error_set(error, "out of memory");
    return profile_phases_write(trial->phases, &phases, error);
}

int trial_write_stalls(const Trial *trial, Error *error)
{
    ProfileStalls stalls = {.cycles = 0};
    const SimtProfile *profile = sim_device_profile(trial->device);
    if (profile) profile_stalls_find(profile, &stalls);
    return profile_stalls_write(trial->stalls, &stalls, error);
}
