/* trial_compare.c - run of another of the course's programs on the same case, for comparison. */
#include "autograder/trial/trial_compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "autograder/lab/slow.h"
#include "autograder/profile/baseline_cost.h"
#include "autograder/profile/profile_phases.h"
#include "autograder/profile/profile_stalls.h"
#include "autograder/record/report.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "autograder/trial/trial_call.h"
#include "common/cuda/sim/sim_device.h"

/* Shows the current work on a terminal, until ticker_end.  `part` names the part for the stored
 * duration. */
void trial_progress_begin(const Trial *trial, const char *part, const char *doing)
{
    char file[1100];
    if (!trial->clock) return;
    text_set(file, sizeof file, "%s%s", trial->clock, part);
    ticker_begin_again(file);
    ticker_say(-1, "%s%s%s: %s", trial->found->name, trial->item ? ", case " : "",
               trial->item ? trial->item->name : "", doing);
}

/* Runs the baseline on the same case, with the same inputs.  Its phases are written to the file
 * `phases`, its stalls to `stalls`; NULL: no file.  0 if it ran. */
static int other_run(const Trial *trial, const char *phases, const char *stalls, DeviceCost *cost,
                     Error *error)
{
    char seed[40];
    text_set(seed, sizeof seed, "%" PRIu64, trial->seed.value);
    const char *argv[32] = {trial->baseline,
                            "--root",
                            trial->root,
                            "--lab",
                            trial->found->name,
                            "--engine",
                            engine_name(trial->engine),
                            "--gpu",
                            trial->gpu,
                            "--seed",
                            seed,
                            "--cost-only"};
    int count = 12;
    if (trial->item) argv[count++] = "--case", argv[count++] = trial->item->name;
    if (!trial->item) argv[count++] = "--shape", argv[count++] = trial->shape;
    if (trial->map) argv[count++] = "--maps", argv[count++] = trial->maps;
    if (*trial->weights) argv[count++] = "--weights", argv[count++] = trial->weights;
    if (*trial->input) argv[count++] = "--input", argv[count++] = trial->input;
    if (phases) {
        argv[count++] = "--phases", argv[count++] = phases;
        argv[count++] = "--source", argv[count++] = trial->other;
    }
    if (stalls) argv[count++] = "--stalls", argv[count++] = stalls;
    trial_progress_begin(trial, "-beside", "the baseline");
    int status = baseline_run(argv, cost, error);
    ticker_end();
    return status;
}

int trial_compare(const Trial *trial, const char *phases, DeviceCost *cost, Error *error)
{
    return other_run(trial, phases, NULL, cost, error);
}

static int stalls_compare(const Trial *trial, const char *path, const char *called, Error *error)
{
    ProfileStalls mine, other;
    const SimtProfile *profile = sim_device_profile(trial->device);
    if (!profile) return 0;
    if (profile_stalls_read(path, &other, error)) return -1;
    profile_stalls_find(profile, &mine);
    profile_stalls_print(stdout, &mine, &other, called);
    return 0;
}

int trial_print_before(const Trial *trial, Error *error)
{
    ProfileStalls other;
    char path[1200], line[400], mine[40], theirs[40];
    const SimtProfile *profile = sim_device_profile(trial->device);
    text_set(path, sizeof path, "%s/stalls.tsv", trial->choice.before);
    if (!profile) return 0;
    if (profile_stalls_read(path, &other, error)) return -1;
    text_set(line, sizeof line, "Compared with %s: %s cycles instead of %s, %.2f times as long.",
             trial->choice.before, text_thousands((double)profile->cycles, mine),
             text_thousands((double)other.cycles, theirs),
             (double)profile->cycles / (double)other.cycles);
    putchar('\n');
    text_wrap(stdout, 2, line);
    return stalls_compare(trial, path, "before", error);
}

/* Compares the most expensive launch of each. */
static void print_phases(const Trial *trial, const char *path)
{
    ProfilePhases mine, other;
    Error error;
    const SimtProfile *profile = sim_device_profile(trial->device);
    if (!profile || profile_phases_of(profile, trial->source, &mine)) return;
    if (!profile_phases_read(path, &other, &error))
        profile_phases_print(stdout, &mine, &other, trial->against);
}

/* Runs another of the course's programs on the same case, and prints the factors by which this one
 * exceeds it and both programs' counters.  The other program's source lines are not shown. */
void trial_print_against(const Trial *trial)
{
    enum { REASONS = 5 };
    DeviceCost other;
    Error error = {""};
    SlowReason reason[REASONS];
    char called[40], line[400], mine[80], theirs[80], phases[1100], stalls[1100];
    text_set(phases, sizeof phases, "%s/phases-%s.tsv", trial->profile, trial->against);
    text_set(stalls, sizeof stalls, "%s/stalls-%s.tsv", trial->profile, trial->against);
    text_set(called, sizeof called, "the %s", trial->against);
    putchar('\n');
    if (other_run(trial, trial->other ? phases : NULL, stalls, &other, &error)) {
        text_wrap(stdout, 2, error.text);
        return;
    }
    text_set(line, sizeof line, "Compared with %s: %s instead of %s, %.2f times as long.", called,
             trial_time_text(&trial->cost, mine), trial_time_text(&other, theirs),
             (double)trial->cost.cycles / (double)other.cycles);
    text_wrap(stdout, 2, line);
    const char *slash = strrchr(trial->source, '/');
    int found =
        slow_find(&trial->cost, &other, called, slash ? slash + 1 : trial->source, reason, REASONS);
    for (int i = 0; i < found; i++) {
        text_set(line, sizeof line, "- %s", reason[i].text);
        text_wrap(stdout, 4, line);
    }
    if (trial->other) print_phases(trial, phases);
    if (stalls_compare(trial, stalls, trial->against, &error)) text_wrap(stdout, 2, error.text);
    putchar('\n');
    report_counters(stdout, 4, &trial->cost, &other, trial->against);
}
