/* run - one lab in one unsandboxed process: the submission, the drop-in runtime and an engine, so
 * that debuggers and profilers work as usual.  Linked with one submission; `lab run` builds and
 * starts it.  It is not trusted and gives no grade. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograder/lab/lab_shape.h"
#include "autograder/profile/baseline_cost.h"
#include "autograder/record/case_words.h"
#include "autograder/tensors/workload.h"
#include "autograder/text/table.h"
#include "autograder/text/screen.h"
#include "autograder/text/text.h"
#include "autograder/text/ticker.h"
#include "autograder/trial/trial_compare.h"
#include "autograder/trial/trial_call.h"
#include "autograder/trial/trial_files.h"
#include "autograder/trial/trial_page.h"
#include "autograder/trial/trial_limit.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/runtime/runtime.h"
#include "common/cuda/sim/sim_device.h"
#include "common/operations/operation/diagnose.h"
#include "datasets/map_input.h"
#include "datasets/tensor_file.h"

static int fill_inputs(const Trial *trial, Workload *workload, Error *error)
{
    Random random;
    random_seed(&random, trial->seed.value);
    workload_fill(workload, &random);
    if (trial->map)
        memcpy(workload->tensor[0], trial->map, tensor_count(&workload->shape[0]) * sizeof(float));
    if (*trial->input &&
        tensor_read(trial->input, "x", trial->operation, trial->problem, workload->tensor, error))
        return -1;
    if (!*trial->weights) return 0;
    return tensor_read(trial->weights, "w", trial->operation, trial->problem, workload->tensor,
                       error);
}

static int open_engine(Trial *trial, Error *error)
{
    char directory[1024];
    if (trial->found->ini.host) {
        trial_limit_open(trial);
        return 0;
    }
    if (trial->engine == ENGINE_GPU) {
        trial->device = device_open_gpu(0, error);
    } else {
        text_set(directory, sizeof directory, "%s/common/simulator/gpus", trial->root);
        /* Commands that only need numbers do not print findings, and checks do not change
         * numbers. */
        int read = !trial->cost_only && !trial->counters && !trial->runs;
        SimDeviceOptions options = {.machine = trial->gpu,
                                    .gpus_directory = directory,
                                    .checks = read,
                                    .warp_sync = trial->found->ini.warp_sync,
                                    .instruction_limit = (uint64_t)trial->instructions,
                                    .launches = trial->profile != NULL,
                                    .profile_kernel = trial->choice.kernel,
                                    .profile_launch = (uint32_t)trial->choice.launch.value,
                                    .profile = trial->profile || trial->runs || trial->see ||
                                               trial->phases || trial->stalls};
        trial->device = device_open_sim(&options, error);
    }
    if (!trial->device) return -1;
    trial_limit_open(trial);
    runtime_set_device(trial->device);
    return 0;
}

/* The verdict on one call, with further runs if it is wrong; they must not change its cost. -1: no
 * verdict. */
static int judge(Trial *trial, Workload *workload, RecordCase *item, Error *error)
{
    const LabIni *ini = &trial->found->ini;
    Observed observed = {0};
    Judgement judgement;
    Finding found;
    char checked[sizeof trial->finding];
    trial->stopped = CASE_BROKEN; /* not the submission's fault, unless the call reports
                                   * otherwise */
    if (trial_call(trial, workload, &observed, error)) {
        if (trial->stopped == CASE_BROKEN) return -1;
        case_stopped(trial->stopped, error->text, item);
        return 0;
    }
    if (*trial->output &&
        tensor_write(trial->output, trial->operation, trial->problem, observed.output, error))
        return -1;
    DeviceCost cost = trial->cost;
    uint32_t habits = trial->habits;
    memcpy(checked, trial->finding, sizeof checked);
    observed.checked = checked;
    observed.algorithm = ini->algorithm;
    observed.host = ini->host;
    if (verify_output(trial->operation, trial->problem, ini->precision,
                      (const float *const *)workload->tensor, &observed, &judgement, error))
        return -1;
    diagnose(&judgement, trial_probe, trial, &found);
    case_judged(&judgement, &found, item);
    judgement_free(&judgement);
    trial->cost = cost;
    trial->habits = habits;
    return 0;
}

/* 0 if the case is correct, 1 if it is wrong, -1 with error if there is no verdict. */
static int run_case(Trial *trial, Error *error)
{
    Workload workload;
    RecordCase item = {0};
    char shape[LAB_SHAPE_TEXT];
    if (workload_open(trial->operation, trial->problem, &workload, error)) return -1;
    trial->instructions =
        workload_instructions(trial->operation, trial->problem, (double)workload.outputs);
    lab_shape_print(&trial->found->ini, trial->operation, trial->problem, shape, sizeof shape);
    int status = fill_inputs(trial, &workload, error);
    if (!status) status = open_engine(trial, error);
    if (!status) {
        trial_print_case(trial, shape);
        fflush(stdout);
        trial_progress_begin(
            trial, "", trial->device && trial->engine == ENGINE_SIM ? "simulating" : "running");
        status = judge(trial, &workload, &item, error);
        ticker_end();
    }
    workload_close(&workload);
    if (status) return -1;
    int correct = item.verdict == CASE_CORRECT, ended = correct || item.verdict == CASE_WRONG;
    trial_print_verdict(trial, &item);
    if (ended && trial->profile) status = trial_profile(trial, error);
    if (!status && ended && trial->choice.before) status = trial_print_before(trial, error);
    if (!status && correct && trial->profile && trial->baseline) trial_print_against(trial);
    if (ended && trial->see) status = trial_see(trial, shape, error);
    if (ended && !trial->profile && !trial->see) trial_print_cost(trial, correct);
    if (!status && trial->counters && correct) status = trial_write_counters(trial, error);
    if (!status && trial->runs && correct) status = trial_write_runs(trial, error);
    return status ? status : !correct;
}

/* The baseline's process: no verdict and no page, only the cost of the call. */
static int run_for_cost(Trial *trial, Error *error)
{
    Workload workload;
    Observed observed;
    if (workload_open(trial->operation, trial->problem, &workload, error)) return -1;
    int status = fill_inputs(trial, &workload, error);
    if (!status) status = open_engine(trial, error);
    if (!status) status = trial_call(trial, &workload, &observed, error);
    if (!status && trial->phases) status = trial_write_phases(trial, error);
    if (!status && trial->stalls) status = trial_write_stalls(trial, error);
    workload_close(&workload);
    if (status) return -1;
    return baseline_write_cost(&trial->cost) ? error_set(error, "nobody reads the cost") : 0;
}

static int choose(Trial *trial, const Catalog *catalog, Error *error)
{
    char names[700] = "";
    trial->found = catalog_find(catalog, trial->lab, error);
    if (!trial->found) return -1;
    const LabIni *ini = &trial->found->ini;
    if (*trial->shape && *trial->only_case)
        return error_set(error, "CASE selects one of the lab's cases, SHAPE defines one of your "
                                "own: give only one of them");
    if (*trial->maps && *trial->only_case)
        return error_set(error, "MAPS is an input of your own: use it with SHAPE, not with CASE");
    if (*trial->maps) {
        trial->problem = &trial->own;
        const char *shape = lab_shape_operation(ini, trial->shape, &trial->operation, error);
        if (shape)
            trial->map = map_input_open(trial->maps, shape, trial->operation, &trial->own, error);
        return trial->map ? 0 : -1;
    }
    if (*trial->shape) {
        trial->problem = &trial->own;
        trial->operation = lab_shape_parse(ini, trial->shape, &trial->own, error);
        return trial->operation ? 0 : -1;
    }
    int index = *trial->only_case ? lab_case_find(ini, trial->only_case) : 0;
    for (int i = 0; i < ini->cases; i++)
        text_add(names, sizeof names, "%s%s", i ? ", " : "", ini->item[i].name);
    if (index < 0) {
        return error_set(error, "%s has no case '%.40s'; it has: %s", trial->found->name,
                         trial->only_case, names);
    }
    trial->item = &ini->item[index];
    trial->operation = trial->item->operation;
    trial->problem =
        trial->engine == ENGINE_SIM ? &trial->item->problem : &trial->item->problem_gpu;
    return 0;
}

static int parse_options(int argc, char **argv, Trial *trial, Error *error)
{
    *trial = (Trial){.root = ".",
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
        {"root", OPTION_TEXT, &trial->root},
        {"lab", OPTION_TEXT, &trial->lab},
        {"case", OPTION_TEXT, &trial->only_case},
        {"shape", OPTION_TEXT, &trial->shape},
        {"maps", OPTION_TEXT, &trial->maps},
        {"weights", OPTION_TEXT, &trial->weights},
        {"input", OPTION_TEXT, &trial->input},
        {"output", OPTION_TEXT, &trial->output},
        {"engine", OPTION_ENGINE, &trial->engine},
        {"gpu", OPTION_TEXT, &trial->gpu},
        {"seed", OPTION_SEED, &trial->seed},
        {"profile", OPTION_TEXT, &trial->profile},
        {"source", OPTION_TEXT, &trial->source},
        {"see", OPTION_TEXT, &trial->see},
        {"line", OPTION_SEED, &trial->line},
        {"ptx", OPTION_FLAG, &trial->ptx},
        {"kernel", OPTION_TEXT, &trial->choice.kernel},
        {"launch", OPTION_SEED, &trial->choice.launch},
        {"trace", OPTION_TEXT, &trial->choice.trace},
        {"before", OPTION_TEXT, &trial->choice.before},
        {"stalls", OPTION_TEXT, &trial->stalls},
        {"baseline", OPTION_TEXT, &trial->baseline},
        {"against", OPTION_TEXT, &trial->against},
        {"cost-only", OPTION_FLAG, &trial->cost_only},
        {"counters", OPTION_TEXT, &trial->counters},
        {"runs", OPTION_TEXT, &trial->runs},
        {"clock", OPTION_TEXT, &trial->clock},
        {"phases", OPTION_TEXT, &trial->phases},
        {"other", OPTION_TEXT, &trial->other},
        {"help", OPTION_HELP, (void *)"this program is started by: make run LAB=NN\n"},
        {0},
    };
    if (options_parse(argc, argv, table, 0, NULL, error)) return -1;
    if (!trial->seed.given) trial->seed.value = random_os_seed();
    trial->engine = engine_resolve(trial->engine);
    return 0;
}

/* Prints the case with its verdict and its cost. */
static int run_page(Trial *trial, Error *error)
{
    int status = run_case(trial, error);
    if (status < 0) {
        screen_error("run", error->text);
        return status;
    }
    char leaks[400], line[500];
    /* After a fault in a kernel, cudaFree fails too. */
    uint64_t left = !status && trial->device && trial->engine == ENGINE_SIM
                        ? sim_device_leaks(trial->device, leaks, sizeof leaks)
                        : 0;
    if (left) {
        text_set(line, sizeof line, "leak check: %" PRIu64 " allocation%s never freed: %s", left,
                 left > 1 ? "s were" : " was", leaks);
        text_wrap(stdout, 2, line);
    }
    const LabIni *ini = &trial->found->ini;
    printf("  engine %s, seed %" PRIu64 "\n", ini->host ? "cpu" : engine_name(trial->engine),
           trial->seed.value);
    if (trial->item && !*trial->only_case && ini->cases > 1) {
        char names[1200] = "other cases (CASE=name):";
        for (int i = 1; i < ini->cases; i++)
            text_add(names, sizeof names, " %s", ini->item[i].name);
        text_wrap(stdout, 2, names);
    }
    return status;
}

int main(int argc, char **argv)
{
    Trial trial;
    Catalog catalog = {0};
    Error error = {""};
    if (parse_options(argc, argv, &trial, &error) || catalog_open(trial.root, &catalog, &error) ||
        choose(&trial, &catalog, &error)) {
        screen_error("run", error.text);
        return 2;
    }
    int status = trial.cost_only ? run_for_cost(&trial, &error) : run_page(&trial, &error);
    if (status < 0 && trial.cost_only) screen_error("run: the baseline", error.text);
    free(trial.map);
    if (trial.device) trial.device->close(trial.device);
    catalog_close(&catalog);
    return status < 0 ? 2 : status > 0;
}
