#include "autograder/lab/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "autograder/text/ini_file.h"
#include "autograder/text/text.h"

static const char *const METRIC_NAME[METRICS] = {
    [METRIC_BLOCKS] = "blocks",
    [METRIC_THREADS_PER_BLOCK] = "threads_per_block",
    [METRIC_WARPS] = "warps",
    [METRIC_WAVES] = "waves",
    [METRIC_RESIDENT_BLOCKS] = "resident_blocks",
    [METRIC_REGISTERS] = "registers",
    [METRIC_BLOCKS_BY_REGISTERS] = "blocks_by_registers",
    [METRIC_BLOCKS_BY_SHARED] = "blocks_by_shared",
    [METRIC_FULL_WAVE] = "full_wave",
    [METRIC_SHARED_BYTES_PER_BLOCK] = "shared_bytes_per_block",
    [METRIC_GLOBAL_LOAD_BYTES] = "global_load_bytes",
    [METRIC_GLOBAL_LOAD_SECTORS] = "global_load_sectors",
    [METRIC_SECTORS_PER_LOAD] = "sectors_per_load",
    [METRIC_SECTORS_PER_STORE] = "sectors_per_store",
    [METRIC_BYTES_PER_FLOP] = "bytes_per_flop",
    [METRIC_SHARED_WAVEFRONTS_PER_LOAD] = "shared_wavefronts_per_load",
    [METRIC_LOCAL_SECTORS] = "local_sectors",
    [METRIC_THREAD_INSTRUCTIONS] = "thread_instructions",
    [METRIC_INPUT_LOAD_REDUCTION] = "input_load_reduction",
    [METRIC_LEAST_BYTES] = "least_bytes",
    [METRIC_FLOPS] = "flops",
};

const char *metric_name(Metric metric)
{
    return METRIC_NAME[metric];
}

int metric_find(const char *name)
{
    for (int i = 0; i < METRICS; i++)
        if (!strcmp(METRIC_NAME[i], name)) return i;
    return -1;
}

const char *metric_names(void)
{
    static char names[512];
    if (names[0]) return names;
    size_t used = 0;
    for (int i = 0; i < METRICS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 METRIC_NAME[i]);
    return names;
}

int metric_needs_launch(Metric metric)
{
    return metric != METRIC_LEAST_BYTES && metric != METRIC_FLOPS;
}

static int ratio(double top, double bottom, const char *what, double *value, Error *error)
{
    if (bottom <= 0) return error_set(error, "your kernel made no %s", what);
    *value = top / bottom;
    return 0;
}

int metric_value(Metric metric, const Operation *operation, const Problem *problem,
                 const DeviceCost *cost, const SimtMachine *machine, double *value, Error *error)
{
    double flops = operation->flops(problem);
    if (metric_needs_launch(metric) && !cost->launches) {
        return error_set(error, "no kernel was launched");
    }
    double blocks = (double)cost->grid[0] * cost->grid[1] * cost->grid[2];
    double threads = (double)cost->block[0] * cost->block[1] * cost->block[2];
    double loads = (double)cost->global_load_requests, stores = (double)cost->global_store_requests;
    switch (metric) {
    case METRIC_BLOCKS:
        *value = blocks;
        return 0;
    case METRIC_THREADS_PER_BLOCK:
        *value = threads;
        return 0;
    case METRIC_WARPS:
        *value = blocks * ceil(threads / 32);
        return 0;
    case METRIC_WAVES:
        if (ratio(blocks, (double)machine->sms * cost->resident_blocks, "resident block", value,
                  error))
            return -1;
        *value = ceil(*value);
        return 0;
    case METRIC_RESIDENT_BLOCKS:
        *value = cost->resident_blocks;
        return 0;
    case METRIC_REGISTERS:
        *value = cost->registers;
        return 0;
    case METRIC_BLOCKS_BY_REGISTERS:
        *value = machine_blocks_by_registers(machine, cost->registers, (uint32_t)threads);
        return 0;
    case METRIC_BLOCKS_BY_SHARED:
        *value = machine_blocks_by_shared(machine, cost->shared_bytes);
        return 0;
    case METRIC_FULL_WAVE:
        *value = (double)machine->sms * cost->resident_blocks;
        return 0;
    case METRIC_SHARED_BYTES_PER_BLOCK:
        *value = cost->shared_bytes;
        return 0;
    case METRIC_GLOBAL_LOAD_BYTES:
        *value = (double)cost->global_load_bytes;
        return 0;
    case METRIC_GLOBAL_LOAD_SECTORS:
        *value = (double)cost->global_load_sectors;
        return 0;
    case METRIC_SECTORS_PER_LOAD:
        return ratio((double)cost->global_load_sectors, loads, "global load", value, error);
    case METRIC_SECTORS_PER_STORE:
        return ratio((double)cost->global_store_sectors, stores, "global store", value, error);
    case METRIC_BYTES_PER_FLOP:
        *value = (double)(cost->global_load_bytes + cost->global_store_bytes) / flops;
        return 0;
    case METRIC_SHARED_WAVEFRONTS_PER_LOAD:
        return ratio((double)cost->shared_wavefronts,
                     (double)(cost->shared_load_requests + cost->shared_store_requests),
                     "shared-memory access", value, error);
    case METRIC_LOCAL_SECTORS:
        *value = (double)cost->local_sectors;
        return 0;
    case METRIC_THREAD_INSTRUCTIONS:
        *value = (double)cost->instructions;
        return 0;
    case METRIC_INPUT_LOAD_REDUCTION:
        /* One thread per output loads an input and a weight, 8 bytes, for every multiply-add. */
        return ratio(flops / 2 * 8, (double)cost->global_load_bytes, "global load", value, error);
    case METRIC_LEAST_BYTES:
        *value = operation->least_bytes(problem);
        return 0;
    case METRIC_FLOPS:
        *value = flops;
        return 0;
    case METRICS:
        break;
    }
    return error_set(error, "metric %d has no formula", (int)metric);
}

double predict_part(double answer, double truth, double tolerance)
{
    double gap = fabs(answer - truth);
    /* The numbers went through decimal text: exact means to nine digits. */
    double exact = 1e-9 * fabs(truth);
    if (gap <= exact) return 1;
    if (tolerance <= 0 || truth == 0) return 0;
    double relative = gap / fabs(truth);
    if (relative <= tolerance) return 1;
    double part = (10 * tolerance - relative) / (9 * tolerance);
    return part > 0 ? part : 0;
}

static int answer_take(const IniFile *ini, const IniEntry *entry, const char *const *name,
                       PredictFile *file, Error *error)
{
    size_t i = 0;
    while (name[i] && strcmp(name[i], entry->key))
        i++;
    if (!name[i]) {
        char known[512] = "";
        for (size_t j = 0, used = 0; name[j] && used < sizeof known; j++)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", j ? ", " : "", name[j]);
        return ini_error(error, ini, entry->line, "this lab asks for no '%s'; it asks for: %s",
                         entry->key, known);
    }
    if (!*entry->value) return 0;
    PredictAnswer *answer = &file->answer[file->answers];
    if (file->answers == PREDICT_ANSWERS || ini_number(entry->value, &answer->value)) {
        return ini_error(error, ini, entry->line, "'%s' is not a number", entry->value);
    }
    text_set(answer->name, sizeof answer->name, "%s", entry->key);
    file->answers++;
    return 0;
}

int predict_read(const char *path, const char *shown, const char *const *name, PredictFile *file,
                 Error *error)
{
    *file = (PredictFile){0};
    if (access(path, F_OK)) return 0;
    IniFile ini;
    if (ini_file_read(path, shown, &ini, error)) return -1;
    int status = 0;
    for (size_t i = 0; i < ini.sections && !status; i++) {
        const IniSection *section = &ini.section[i];
        if (strcmp(section->name, "predict")) {
            status = ini_error(error, &ini, section->line, "the only section here is [predict]");
        }
        for (size_t j = 0; j < section->entries && !status; j++)
            status = answer_take(&ini, &section->entry[j], name, file, error);
    }
    ini_file_clear(&ini);
    if (status) file->answers = 0;
    return status;
}

const double *predict_find(const PredictFile *file, const char *name)
{
    for (int i = 0; i < file->answers; i++)
        if (!strcmp(file->answer[i].name, name)) return &file->answer[i].value;
    return NULL;
}
