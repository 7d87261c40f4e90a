/* sweep.c - `sweep TASKS SIDE ...`: times and launches of each side while one parameter of a layer
 * grows, on this machine's GPU.
 *
 * TASKS has one line per task: sweep, value, shape, tab-separated.  A SIDE is NAME:OBJECT:LAYOUT, a
 * solution; cudnn:fp32 or cudnn:tf32, cuDNN by its heuristics; or cudnn:fp32:WORD, the `fastest`
 * algorithm, or one that WORD names (cudnn_choice).  A side's launches are read from a captured
 * graph that never ran: name, blocks, threads, registers, shared memory, and the resident blocks
 * per SM according to the driver.  They are printed before the first measurement, so that
 * predictions from them are forecasts.  Then all tasks are timed, up and down, each as a graph of
 * about a millisecond, with the L2 as warm as in a network.
 *
 * stdout gets two tables of tab-separated values: the launches, an empty line, the times.  Outputs
 * are not checked here: make compare and make grade do that. */
#define PROGRAM "sweep"

#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/apps/compare/clock.h"
#include "common/apps/compare/compare.h"
#include "common/apps/compare/kernels.h"
#include "common/operations/operation/verdict.h"
#include "common/operations/catalog/operations.h"
#include "common/cuda/paired_timing/paired.h"

enum { SIDES = 8, TASKS = 1024, PASSES = 2, TIMES = 9, NODES = 64, MOST_REPEATS = 100 };
static const double GRAPH_MS = 1.0;

typedef struct Sweep {
    char name[64], value[32];
    ConvProblem conv;
    double us[PASSES * TIMES];
    int timed; /* number of measured passes */
} Sweep;

static float *x, *w, *y; /* with the size of the largest task */

/* ---- tasks ---- */

static int tasks_read(const char *path, Sweep *task, Error *error)
{
    const Operation *operation = operation_find("conv_forward");
    FILE *file = fopen(path, "r");
    char line[512];
    int tasks = 0;
    if (!file) return error_set(error, "%s: %m", path);
    while (tasks < TASKS && fgets(line, sizeof line, file)) {
        Problem problem;
        char *rest = NULL, *name = strtok_r(line, "\t", &rest),
             *value = strtok_r(NULL, "\t", &rest), *shape = strtok_r(NULL, "\t\n", &rest);
        if (!shape) return fclose(file), error_set(error, "%s: a line is SWEEP VALUE SHAPE", path);
        if (operation->parse(shape, &problem, error)) return fclose(file), -1;
        snprintf(task[tasks].name, sizeof task->name, "%s", name);
        snprintf(task[tasks].value, sizeof task->value, "%s", value);
        task[tasks++].conv = conv_unpack(&problem);
    }
    fclose(file);
    return tasks;
}

static float *device_numbers(size_t count)
{
    Random random;
    float *host = malloc(count * sizeof *host), *device = NULL;
    if (!host) fprintf(stderr, "sweep: out of memory\n"), exit(1);
    random_seed(&random, 20261122);
    random_wide_fill(&random, host, count);
    CHECK(cudaMalloc((void **)&device, count * sizeof *device));
    CHECK(cudaMemcpy(device, host, count * sizeof *device, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static void tensors_open(const Sweep *task, int tasks)
{
    size_t inputs = 1, weights = 1, outputs = 1;
    for (int i = 0; i < tasks; i++) {
        const ConvProblem *p = &task[i].conv;
        size_t in = (size_t)p->N * p->C * p->H * p->W, filters = (size_t)p->K * p->C * p->R * p->S,
               out = (size_t)p->N * p->K * p->P * p->Q;
        inputs = in > inputs ? in : inputs;
        weights = filters > weights ? filters : weights;
        outputs = out > outputs ? out : outputs;
    }
    x = device_numbers(inputs);
    w = device_numbers(weights);
    y = device_numbers(outputs);
}

static Task task_of(const Sweep *sweep, const Side *side)
{
    Task task = {.conv = sweep->conv, .x = x, .w = w, .y = y, .stream = stream};
    task.conv.layout = side->layout;
    return task;
}

/* ---- launches ---- */

static void launch_print(const Sweep *sweep, const Side *side, int number, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    const char *name = "";
    int registers, fixed, resident, sms;
    CHECK(cuGraphKernelNodeGetParams(node, &kernel));
    CUfunction function = kernel.func;
    if (!function) CHECK(cuKernelGetFunction(&function, kernel.kern));
    CHECK(cuFuncGetName(&name, function));
    CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    CHECK(cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    int threads = (int)(kernel.blockDimX * kernel.blockDimY * kernel.blockDimZ);
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, threads,
                                                      kernel.sharedMemBytes));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    printf("%s\t%s\t%s\t%s\t%d\t%.160s\t%u\t%u\t%u\t%d\t%d\t%d\t%d\t%d\n", sweep->name,
           sweep->value, side->name, *side->method ? side->method : "-", number, name,
           kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ, threads, registers,
           fixed + (int)kernel.sharedMemBytes, resident, sms);
}

static int launches_print(const Sweep *sweep, Side *side, Error *error)
{
    cudaGraph_t graph = NULL;
    CUgraphNode node[NODES];
    size_t nodes = NODES;
    Task task = task_of(sweep, side);
    if (side->prepare(side, &task, error) || side->enqueue(side, &task, error)) return -1;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    int failed = side->enqueue(side, &task, error);
    CHECK(cudaStreamEndCapture(stream, &graph));
    if (!failed) CHECK(cuGraphGetNodes(graph, node, &nodes));
    for (size_t i = 0; !failed && i < nodes; i++) {
        CUgraphNodeType type;
        CHECK(cuGraphNodeGetType(node[i], &type));
        if (type == CU_GRAPH_NODE_TYPE_KERNEL) launch_print(sweep, side, (int)i, node[i]);
    }
    CHECK(cudaGraphDestroy(graph));
    return failed;
}

/* ---- times ---- */

static int sweep_time(Sweep *sweep, Side *side, int pass, Error *error)
{
    cudaGraphExec_t calls;
    Task task = task_of(sweep, side);
    if (side->prepare(side, &task, error) || side->enqueue(side, &task, error)) return -1;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventRecord(begin, stream));
    if (side->enqueue(side, &task, error)) return -1;
    const double ms = milliseconds();
    int repeats = (int)fmin(ceil(GRAPH_MS / ms), MOST_REPEATS);
    if (side_graph(side, &task, repeats, &calls, error)) return -1;
    CHECK(cudaGraphLaunch(calls, stream)); /* warm-up */
    for (int i = 0; i < TIMES; i++) {
        CHECK(cudaEventRecord(begin, stream));
        CHECK(cudaGraphLaunch(calls, stream));
        sweep->us[pass * TIMES + i] = milliseconds() * 1e3 / repeats;
    }
    CHECK(cudaGraphExecDestroy(calls));
    sweep->timed++;
    return 0;
}

/* The median, and its 95 % confidence interval. */
static void times_print(Sweep *sweep, const Side *side)
{
    double achieved, median = paired_median(sweep->us, PASSES * TIMES); /* also sorts them */
    int rank = paired_rank(PASSES * TIMES, 0.95, &achieved);
    printf("%s\t%s\t%s\t%.3f\t%.3f\t%.3f\n", sweep->name, sweep->value, side->name, median,
           sweep->us[rank - 1], sweep->us[PASSES * TIMES - rank]);
}

/* Time of an empty launch inside a graph. */
static double nothing_us(void)
{
    enum { LAUNCHES = 1000 };
    cudaGraph_t graph;
    cudaGraphExec_t calls;
    double us[TIMES];
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < LAUNCHES; i++)
        kernels_nothing(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&calls, graph, 0));
    for (int i = 0; i < TIMES; i++) {
        CHECK(cudaEventRecord(begin, stream));
        CHECK(cudaGraphLaunch(calls, stream));
        us[i] = milliseconds() * 1e3 / LAUNCHES;
    }
    CHECK(cudaGraphExecDestroy(calls));
    CHECK(cudaGraphDestroy(graph));
    return paired_median(us, TIMES);
}

/* ---- main ---- */

/* A side that does not support a width has no row there. */
static void skipped(const Sweep *sweep, const Error *error)
{
    fprintf(stderr, "  %s %s: left out: %s\n", sweep->name, sweep->value, error->text);
}

static int side_open(char *text, Side *side, Error *error)
{
    char *rest = NULL, *name = strtok_r(text, ":", &rest), *object = strtok_r(NULL, ":", &rest),
         *layout = strtok_r(NULL, ":", &rest);
    Precision precision;
    if (name && object && !strcmp(name, "cudnn")) {
        if (precision_find(object, &precision)) return error_set(error, "cudnn:fp32 or cudnn:tf32");
        const int choice = layout ? cudnn_choice(layout) : CUDNN_RULES;
        if (choice < 0)
            return error_set(error, "cudnn-%s: cuDNN has no algorithm of that name", layout);
        return side_cudnn(side, precision, CONV_NCHW, choice, error);
    }
    if (!layout) return error_set(error, "a side is NAME:OBJECT:LAYOUT or cudnn:PRECISION");
    if (conv_layout_parse(layout, &side->layout, error)) return -1;
    return side_lab(side, name, object, error);
}

int main(int argc, char **argv)
{
    static Side side[SIDES];
    static Sweep task[TASKS];
    char versions[96];
    Error error;
    const int sides = argc - 2 < SIDES ? argc - 2 : SIDES;
    if (sides < 1) return fprintf(stderr, "usage: sweep TASKS SIDE ...\n"), 2;
    const int tasks = tasks_read(argv[1], task, &error);
    if (tasks < 0) return fprintf(stderr, "sweep: %s\n", error.text), 1;
    clock_open();
    tensors_open(task, tasks);
    for (int s = 0; s < sides; s++)
        if (side_open(argv[2 + s], &side[s], &error))
            return fprintf(stderr, "sweep: %s\n", error.text), 1;
    side_versions(versions, sizeof versions);
    printf("; %s; a launch of nothing takes %.3f us\n", versions, nothing_us());
    printf(
        "sweep\tvalue\tside\tmethod\tlaunch\tkernel\tgrid_x\tgrid_y\tgrid_z\tthreads\tregisters\t"
        "shared\tresident\tsms\n");
    for (int s = 0; s < sides; s++)
        for (int i = 0; i < tasks; i++)
            if (launches_print(&task[i], &side[s], &error)) skipped(&task[i], &error);
    printf("\nsweep\tvalue\tside\tus\tus_low\tus_high\n");
    for (int s = 0; s < sides; s++) {
        for (int i = 0; i < tasks; i++)
            task[i].timed = 0;
        for (int pass = 0; pass < PASSES; pass++)
            for (int i = 0; i < tasks; i++) {
                Sweep *now = &task[pass ? tasks - 1 - i : i];
                if (sweep_time(now, &side[s], pass, &error)) skipped(now, &error);
            }
        for (int i = 0; i < tasks; i++)
            if (task[i].timed == PASSES) times_print(&task[i], &side[s]);
        fflush(stdout);
    }
    return 0;
}
