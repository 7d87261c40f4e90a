/* trial_page.c - output of `make run`: the case, the verdict, the cost of the call. */
#include "autograder/trial/trial_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "autograder/record/case_words.h"
#include "autograder/record/report.h"
#include "autograder/record/report_cause.h"
#include "autograder/text/screen.h"
#include "autograder/text/table.h"
#include "autograder/text/text.h"
#include "autograder/trial/trial_call.h"
#include "autograder/trial/trial_compare.h"
#include "common/cuda/sim/sim_device.h"
#include "common/simulator/machine/machine.h"

void trial_print_case(const Trial *trial, const char *shape)
{
    char text[400];
    text_set(text, sizeof text, "%s, a shape of your own", trial->found->name);
    if (trial->item)
        text_set(text, sizeof text, "%s, case %s: %s", trial->found->name, trial->item->name,
                 trial->item->about);
    text_wrap(stdout, 0, text);
    text_wrap(stdout, 2, shape);
}

/* Prints a page of text formatted for a terminal. */
static void show(char *text)
{
    screen_print(stdout, text);
    fflush(stdout);
    free(text);
}

/* "WRONG: race", the grader's message, its source lines and where its hint is. */
static void print_wrong(FILE *stream, const Trial *trial, const RecordCase *item)
{
    char offer[80] = "";
    if (lab_fault_hint(&trial->found->ini, item->fault))
        text_set(offer, sizeof offer, "After make grade LAB=%.2s, make hint LAB=%.2s explains it.",
                 trial->found->name, trial->found->name);
    const char *head = item->verdict == CASE_WRONG   ? "WRONG"
                       : item->verdict == CASE_LIMIT ? "LIMIT"
                                                     : "FAILED";
    fprintf(stream, "  %s%s%s\n", head, *item->fault ? ": " : "", item->fault);
    report_cause(stream, item, offer, trial->source, 0);
}

void trial_print_verdict(const Trial *trial, const RecordCase *item)
{
    char *text = NULL, advice[600] = "";
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream) return;
    if (item->verdict == CASE_CORRECT && item->total == 1)
        fprintf(stream, "  correct: the only output, its error %.2g of its bound\n", item->worst);
    else if (item->verdict == CASE_CORRECT)
        fprintf(stream, "  correct: all %.0f outputs, the largest error %.2g of its bound\n",
                item->total, item->worst);
    else
        print_wrong(stream, trial, item);
    case_habits(trial->habits, advice, sizeof advice);
    text_wrap(stream, 2, advice);
    fclose(stream);
    show(text);
}

/* With the share of the launches in the simulated cycles. */
static void print_time(const Trial *trial)
{
    SimtMachine machine;
    char gpus[1024], cycles[40], time[80], line[300];
    Error error;
    text_set(line, sizeof line, "%s", trial_time_text(&trial->cost, time));
    text_set(gpus, sizeof gpus, "%s/common/simulator/gpus", trial->root);
    if (trial->cost.cycles && !machine_load(gpus, trial->gpu, &machine, &error)) {
        text_add(line, sizeof line, " on the simulated %s, %s of them for ", trial->gpu,
                 text_thousands(machine.launch_cycles, cycles));
        if (trial->cost.launches == 1)
            text_add(line, sizeof line, "the launch");
        else
            text_add(line, sizeof line, "each of %" PRIu64 " launches", trial->cost.launches);
    }
    text_wrap(stdout, 2, line);
}

static void print_baseline(const Trial *trial, const DeviceCost *baseline)
{
    char time[80], line[300];
    double ratio = trial->cost.cycles ? (double)baseline->cycles / (double)trial->cost.cycles
                                      : baseline->seconds / trial->cost.seconds;
    text_set(line, sizeof line, "the baseline, %s: %s; yours is %.2f times as fast",
             trial->found->ini.baseline, trial_time_text(baseline, time), ratio);
    text_wrap(stdout, 2, line);
}

/* Counters that may explain a wrong output.  The others would only push the message off the
 * screen. */
static void print_launch(const DeviceCost *cost)
{
    char line[200];
    text_set(line, sizeof line, "%" PRIu64 " launch%s; grid %ux%ux%u, block %ux%ux%u",
             cost->launches, cost->launches == 1 ? "" : "es, the most expensive one", cost->grid[0],
             cost->grid[1], cost->grid[2], cost->block[0], cost->block[1], cost->block[2]);
    text_add(line, sizeof line, ", %u bytes of shared memory per block", cost->shared_bytes);
    text_wrap(stdout, 2, line);
}

void trial_print_cost(const Trial *trial, int correct)
{
    DeviceCost baseline;
    Error error = {""};
    int simulated = trial->device && trial->engine == ENGINE_SIM;
    if (sim_device_debugger) return; /* launches under the debugger are not counted */
    if (simulated && !trial->cost.launches) {
        printf("  no kernel was launched\n");
        return;
    }
    if (!correct) {
        if (simulated) print_launch(&trial->cost);
        return;
    }
    print_time(trial);
    fflush(stdout);
    int beside = trial->baseline && !trial_compare(trial, NULL, &baseline, &error);
    if (beside) print_baseline(trial, &baseline);
    if (*error.text) text_wrap(stdout, 2, error.text);
    if (simulated) report_counters(stdout, 4, &trial->cost, beside ? &baseline : NULL, "baseline");
}
