/* tool_conformance.c - records golden vectors on a GPU, runs the forms on the simulator, reports.
 *
 * Usage:
 *
 * - `tool_conformance record DIRECTORY [GROUP...]`: runs the forms on GPU 0; one file per group
 * - `tool_conformance check [GROUP...]`: runs every form on the simulator; names those that fail
 * - `tool_conformance report`: prints the table of docs/simulator/conformance.md
 * - `tool_conformance show PTX`: prints every lane of one form in which the two differ
 * - `tool_conformance ptx DIRECTORY`: writes the modules as text, for ptxas
 *
 * Run it from the repository's root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/simulator/conformance/form_run.h"
#include "common/simulator/conformance/judge.h"
#include "common/simulator/conformance/vectors.h"
#include "common/cuda/gpu/gpu_device.h"
#include "common/cuda/sim/sim_device.h"

#define ROOM "common/simulator/conformance/"
enum { BATCH = 64 };

static int wanted(const char *group, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], group) == 0) return 1;
    return count == 0;
}

/* Runs the forms of the selected groups, which are adjacent. */
static int run_all(Device *device, const FormTable *table, FormRun *run, int names, char **name,
                   Error *error)
{
    for (uint32_t i = 0, count; i < table->count; i += count) {
        const char *group = table->form[i].group;
        for (count = 1; count < BATCH && i + count < table->count; count++)
            if (table->form[i + count].group != group) break;
        if (wanted(group, names, name) && forms_run(device, table, i, count, run + i, error) != 0)
            return -1;
    }
    return 0;
}

/* ---- record ---------------------------------------------------------------------------------- */
static void header_write(Device *device, char *header, size_t bytes)
{
    DeviceCall call = {.kind = CALL_PROPERTIES};
    DeviceReply reply;
    DeviceProperties properties = {.name = "?"};
    char date[32];
    time_t now = time(NULL);
    if (device->execute(device, &call, &reply) == 0 && reply.data_bytes == sizeof properties)
        memcpy(&properties, reply.data, sizeof properties);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    snprintf(header, bytes,
             "%s, compute capability %u.%u, CUDA driver %u, %s, tool_conformance record; format: "
             "vectors.h",
             properties.name, properties.cc_major, properties.cc_minor, properties.driver_version,
             date);
}

static int record(const FormTable *table, FormRun *run, int count, char **names, Error *error)
{
    char header[512];
    int failed = 0;
    Device *device = device_open_gpu(0, error);
    if (!device) return -1;
    header_write(device, header, sizeof header);
    int result = run_all(device, table, run, count - 1, names + 1, error);
    device->close(device);
    for (uint32_t i = 0; i < table->count; i++)
        if (!run[i].value && wanted(table->form[i].group, count - 1, names + 1))
            printf("%s: %s\n", table->form[i].text, run[i].why), failed++;
    for (uint32_t g = 0; g < table->groups && result == 0; g++) {
        char path[1024];
        if (!wanted(table->group[g], count - 1, names + 1)) continue;
        snprintf(path, sizeof path, "%s/%s.txt", names[0], table->group[g]);
        result = vectors_write(path, table, table->group[g], run, header, error);
    }
    printf("%u forms on %s; %d not recorded\n", table->count, header, failed);
    return result;
}

/* ---- check and report ------------------------------------------------------------------------ */
typedef struct Tally {
    uint32_t forms, exact, failed, lanes;
} Tally;

/* Returns -1 with the reason if form `i` has another result than the GPU. */
static int form_check(const FormTable *table, uint32_t i, const FormRun *run,
                      const Vectors *vectors, Judgement *judgement, Error *error)
{
    const Form *form = &table->form[i];
    if (!run[i].value)
        return error_set(error, "%s.forms line %u: '%.300s' did not run: %s", form->group,
                         form->line, form->text, run[i].why);
    if (!vectors->value[i])
        return error_set(error, "%s.forms line %u: '%.300s' has no golden vector", form->group,
                         form->line, form->text);
    return form_judge(form, vectors->value[i], run[i].value, judgement, error);
}

static Tally group_check(const FormTable *table, const char *group, const FormRun *run,
                         const Vectors *vectors)
{
    Tally tally = {0};
    for (uint32_t i = 0; i < table->count; i++) {
        const Form *form = &table->form[i];
        Judgement judgement;
        Error why = {""};
        if (strcmp(form->group, group) != 0) continue;
        tally.forms++, tally.lanes += form->lanes;
        tally.exact += form->tolerance == TOLERANCE_EXACT;
        if (form_check(table, i, run, vectors, &judgement, &why) == 0) continue;
        tally.failed++;
        fprintf(stderr, "%s\n", why.text);
    }
    return tally;
}

static void tally_print(const char *name, const Tally *t)
{
    printf(strcmp(name, "all") ? "| `%s` | %u | %u | %u | %u |\n" : "| %s | %u | %u | %u | %u |\n",
           name, t->forms, t->exact, t->forms - t->exact, t->lanes);
}

/* Prints the largest errors of the approximate forms. */
static void approximate_report(const FormTable *table, const FormRun *run, const Vectors *vectors)
{
    static const char *const UNITS[] = {"", "ulp", "relative", "absolute"};
    printf("\n| approximate form | bound | GPU error | simulator error | special lanes |\n"
           "| --- | ---: | ---: | ---: | ---: |\n");
    for (uint32_t i = 0; i < table->count; i++) {
        const Form *form = &table->form[i];
        Judgement j;
        int ulp = form->tolerance == TOLERANCE_ULP;
        if (form->tolerance == TOLERANCE_EXACT || !run[i].value || !vectors->value[i]) continue;
        form_judge(form, vectors->value[i], run[i].value, &j, NULL);
        printf("| `%.*s` of %s | ", (int)strcspn(form->text, " "), form->text,
               form->operand[0]->name);
        printf(ulp ? "%g %s" : "2^%g %s", form->bound, UNITS[form->tolerance]);
        printf(ulp ? " | %.2f | %.2f | %u |\n" : " | %.2e | %.2e | %u |\n", j.card, j.simulator,
               j.beyond);
    }
}

static int check(const FormTable *table, FormRun *run, int count, char **names, int report,
                 Error *error)
{
    SimDeviceOptions options = {.machine = "h200", .gpus_directory = "common/simulator/gpus"};
    Vectors vectors;
    Tally all = {0};
    Device *device = device_open_sim(&options, error);
    if (!device) return -1;
    int result = run_all(device, table, run, count, names, error);
    device->close(device);
    if (vectors_read(ROOM "vectors", table, &vectors, error) != 0) result = -1;
    if (report)
        printf("| group | forms | exact | approximate | lanes |\n"
               "| --- | ---: | ---: | ---: | ---: |\n");
    for (uint32_t g = 0; g < table->groups && result == 0; g++) {
        if (!wanted(table->group[g], count, names)) continue;
        Tally t = group_check(table, table->group[g], run, &vectors);
        if (report) tally_print(table->group[g], &t);
        all.forms += t.forms, all.exact += t.exact, all.lanes += t.lanes, all.failed += t.failed;
    }
    if (report) tally_print("all", &all);
    if (report && result == 0) approximate_report(table, run, &vectors);
    if (!report) printf("%u forms, %u failed\n", all.forms, all.failed);
    vectors_free(&vectors);
    return result != 0 || all.failed ? -1 : 0;
}

/* ---- show ------------------------------------------------------------------------------------ */
static void lanes_show(const Form *form, const uint64_t *golden, const uint64_t *got)
{
    uint64_t *operand = malloc(((size_t)form->operands * form->lanes + 1) * sizeof *operand);
    if (!operand) return;
    form_operands(form, operand);
    for (uint32_t i = 0; i < form->lanes; i++)
        for (uint32_t k = 0; k < form->results; k++) {
            size_t at = (size_t)k * form->lanes + i;
            if (golden[at] == got[at]) continue;
            printf("lane %u:", i);
            for (uint32_t n = 0; n < form->operands; n++)
                printf(" 0x%llx", (unsigned long long)operand[(size_t)n * form->lanes + i]);
            printf(" -> result %u: GPU 0x%llx, simulator 0x%llx\n", k,
                   (unsigned long long)golden[at], (unsigned long long)got[at]);
        }
    free(operand);
}

static int show(const FormTable *table, FormRun *run, const char *text, Error *error)
{
    SimDeviceOptions options = {.machine = "h200", .gpus_directory = "common/simulator/gpus"};
    Vectors vectors;
    Device *device = device_open_sim(&options, error);
    int result = device ? vectors_read(ROOM "vectors", table, &vectors, error) : -1;
    for (uint32_t i = 0; result == 0 && i < table->count; i++) {
        if (strcmp(table->form[i].text, text) != 0) continue;
        result = forms_run(device, table, i, 1, run + i, error);
        if (run[i].value && vectors.value[i])
            lanes_show(&table->form[i], vectors.value[i], run[i].value);
        else
            printf("%s\n", run[i].value ? "no golden vector" : run[i].why);
    }
    if (device) vectors_free(&vectors), device->close(device);
    return result;
}

static int ptx(const FormTable *table, const char *directory, Error *error)
{
    for (uint32_t i = 0; i < table->count; i += BATCH) {
        char path[1024], *text = forms_ptx(table, i, BATCH);
        snprintf(path, sizeof path, "%s/forms%03u.ptx", directory, i / BATCH);
        FILE *file = text ? fopen(path, "w") : NULL;
        if (!file) return error_set(error, "cannot write %s", path);
        fputs(text, file);
        fclose(file);
        free(text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    Error error = {""};
    FormTable table;
    int result = -1;
    if (forms_read(ROOM "forms", &table, &error) == 0) {
        FormRun *run = calloc(table.count + 1, sizeof *run);
        if (run && argc > 2 && strcmp(argv[1], "record") == 0)
            result = record(&table, run, argc - 2, argv + 2, &error);
        else if (run && argc > 1 && strcmp(argv[1], "check") == 0)
            result = check(&table, run, argc - 2, argv + 2, 0, &error);
        else if (run && argc > 1 && strcmp(argv[1], "report") == 0)
            result = check(&table, run, argc - 2, argv + 2, 1, &error);
        else if (run && argc > 2 && strcmp(argv[1], "show") == 0)
            result = show(&table, run, argv[2], &error);
        else if (argc > 2 && strcmp(argv[1], "ptx") == 0)
            result = ptx(&table, argv[2], &error);
        else
            error_set(
                &error,
                "usage: %s record DIR [GROUP...] | check [GROUP...] | report | show PTX | ptx DIR",
                argv[0]);
        for (uint32_t i = 0; run && i < table.count; i++)
            form_run_free(&run[i]);
        free(run);
    }
    forms_free(&table);
    if (result != 0 && error.text[0]) fprintf(stderr, "%s\n", error.text);
    return result == 0 ? 0 : 1;
}
