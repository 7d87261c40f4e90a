extern "C" {
#include "common/apps/train/learner.h"
}

#include <stdlib.h>

enum { THREADS = 128 };

struct Learner {
    const Plan *plan;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    unsigned char *image, *label, *test; /* the set's bytes */
    int *order, *step;                   /* step: index in the epoch, counted on the device */
    float *augmentation, *rate, *losses;
    float *x, *target, *setting; /* a mini-batch */
    float *state, *y;
    float *maps; /* for classification: two layers' values of each test image */
    unsigned char *digit;
};

/* ---- kernels ----------------------------------------------------------------------------- */

__device__ static float pixel(const unsigned char *image, int rows, int columns, int h, int w)
{
    return h >= 0 && h < rows && w >= 0 && w < columns ? image[h * columns + w] : 0.0f;
}

/* Bilinear interpolation of the four pixels around (h, w); zero outside of the image. */
__device__ static float sample(const unsigned char *image, int rows, int columns, float h, float w)
{
    int y = (int)floorf(h), x = (int)floorf(w);
    float down = h - y, right = w - x;
    float upper = (1 - right) * pixel(image, rows, columns, y, x) +
                  right * pixel(image, rows, columns, y, x + 1);
    float lower = (1 - right) * pixel(image, rows, columns, y + 1, x) +
                  right * pixel(image, rows, columns, y + 1, x + 1);
    return (1 - down) * upper + down * lower;
}

/* Gathers the mini-batch of the epoch's next step, one thread per pixel, and its learning rate. */
__global__ void batch_kernel(Plan plan, Learner learner)
{
    const TrainLayer &frame = plan.step.layer[TRAIN_C1];
    int at = blockIdx.x * THREADS + threadIdx.x, step = *learner.step;
    int w = at % frame.W, h = at / frame.W % frame.H, n = at / frame.W / frame.H;
    if (at == 0) learner.setting[TRAIN_RATE] = learner.rate[step];
    if (n >= plan.step.N) return;
    int which = step * plan.step.N + n, image = learner.order[which];
    const float *a = learner.augmentation + 6 * (size_t)which;
    learner.x[at] =
        plan.scale * sample(learner.image + (size_t)image * plan.rows * plan.columns, plan.rows,
                            plan.columns, a[0] * h + a[1] * w + a[2], a[3] * h + a[4] * w + a[5]);
    if (h == 0 && w == 0) learner.target[n] = learner.label[image];
}

/* Makes the step's output the next step's state. */
__global__ void keep_kernel(int parameters, Learner learner)
{
    int at = blockIdx.x * THREADS + threadIdx.x;
    if (at < 2 * parameters) learner.state[at] = learner.y[at];
    if (at == 2 * parameters) {
        learner.losses[*learner.step] = learner.y[at];
        *learner.step += 1;
    }
}

/* One output of a layer, of one image. */
__device__ static float layer_value(const TrainLayer &layer, const float *in,
                                    const float *parameter, int k, int p, int q)
{
    const float *w = parameter + layer.weights + k * layer.C * layer.R * layer.S;
    float sum = parameter[TRAIN_BIASES(layer) + k];
    for (int c = 0; c < layer.C; c++)
        for (int r = 0; r < layer.R; r++)
            for (int s = 0; s < layer.S; s++)
                sum += in[(c * layer.H + p + r) * layer.W + q + s] * *w++;
    return sum;
}

/* A block classifies one image; the values of successive layers alternate between two buffers. */
__global__ void read_kernel(Plan plan, Learner learner, int room)
{
    const TrainLayer &frame = plan.step.layer[TRAIN_C1];
    float *in = learner.maps + 2 * (size_t)room * blockIdx.x, *out = in + room;
    const unsigned char *image = learner.test + (size_t)blockIdx.x * plan.rows * plan.columns;
    int top = (frame.H - plan.rows) / 2, left = (frame.W - plan.columns) / 2;
    for (int i = threadIdx.x; i < frame.H * frame.W; i += THREADS)
        in[i] = plan.scale *
                pixel(image, plan.rows, plan.columns, i / frame.W - top, i % frame.W - left);
    for (int which = 0; which < TRAIN_LAYERS; which++) {
        const TrainLayer &layer = plan.step.layer[which];
        int pool = layer.pool, P = layer.P / pool, Q = layer.Q / pool;
        __syncthreads();
        for (int i = threadIdx.x; i < layer.K * P * Q; i += THREADS) {
            float sum = 0.0f;
            for (int j = 0; j < pool * pool; j++) {
                float z = layer_value(layer, in, learner.state, i / Q / P,
                                      i / Q % P * pool + j / pool, i % Q * pool + j % pool);
                sum += which == TRAIN_OUT ? z : fmaxf(z, 0.0f);
            }
            out[i] = sum / (pool * pool);
        }
        float *other = in;
        in = out;
        out = other;
    }
    __syncthreads();
    if (threadIdx.x) return;
    int best = 0;
    for (int k = 1; k < plan.step.layer[TRAIN_OUT].K; k++)
        if (in[k] > in[best]) best = k;
    learner.digit[blockIdx.x] = best;
}

/* ---- calls ------------------------------------------------------------------------------- */

static int failed(const char *what, cudaError_t status, Error *error)
{
    if (status == cudaSuccess) return 0;
    const char *more = engine_complaint();
    return error_set(error, "%s: %s%s%s", what, cudaGetErrorString(status), *more ? ": " : "",
                     more);
}

/* `count` values on the device; `from` NULL: uninitialised. */
template <typename Value> static int put(Value **to, const Value *from, size_t count, Error *error)
{
    if (failed("no memory on the device", cudaMalloc(to, count * sizeof(Value)), error)) return -1;
    if (!from) return 0;
    return failed("copy", cudaMemcpy(*to, from, count * sizeof(Value), cudaMemcpyHostToDevice),
                  error);
}

static size_t maps_floats(const Plan *plan)
{
    size_t room = 0;
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        size_t values =
            (size_t)plan->step.layer[i].C * plan->step.layer[i].H * plan->step.layer[i].W;
        if (values > room) room = values;
    }
    return room;
}

static int allocate(Learner *to, Error *error)
{
    const Plan *plan = to->plan;
    size_t pixels = (size_t)plan->rows * plan->columns, N = plan->step.N, steps = plan->steps;
    size_t of_frame = (size_t)plan->step.layer[0].H * plan->step.layer[0].W;
    size_t parameters = plan->step.parameters, tests = plan->test.count;
    const float setting[TRAIN_SETTINGS] = {plan->rate, plan->momentum, plan->decay};
    return put(&to->image, plan->train.image, plan->train.count * pixels, error) ||
           put(&to->label, plan->train.label, plan->train.count, error) ||
           put(&to->test, plan->test.image, tests * pixels, error) ||
           put(&to->digit, (unsigned char *)NULL, tests, error) ||
           put(&to->maps, (float *)NULL, 2 * maps_floats(plan) * tests, error) ||
           put(&to->order, (int *)NULL, steps * N, error) ||
           put(&to->step, (int *)NULL, 1, error) ||
           put(&to->augmentation, (float *)NULL, 6 * steps * N, error) ||
           put(&to->rate, (float *)NULL, steps, error) ||
           put(&to->losses, (float *)NULL, steps, error) ||
           put(&to->x, (float *)NULL, N * of_frame, error) ||
           put(&to->target, (float *)NULL, N, error) || put(&to->setting, setting, 3, error) ||
           put(&to->state, (float *)NULL, 2 * parameters, error) ||
           put(&to->y, (float *)NULL, 2 * parameters + 1, error);
}

static void enqueue(const Learner *learner)
{
    const Plan *plan = learner->plan;
    const TrainProblem *p = &plan->step;
    int pixels = p->N * p->layer[0].H * p->layer[0].W, values = 2 * p->parameters + 1;
    batch_kernel<<<(pixels + THREADS - 1) / THREADS, THREADS, 0, learner->stream>>>(*plan,
                                                                                    *learner);
    train_step(p, learner->x, learner->target, learner->state, learner->state + p->parameters,
               learner->setting, learner->y, learner->stream);
    keep_kernel<<<(values + THREADS - 1) / THREADS, THREADS, 0, learner->stream>>>(p->parameters,
                                                                                   *learner);
}

/* One step with zeros outside of any graph, so that the step's own allocations exist. */
static int warm_up(Learner *learner, Error *error)
{
    const TrainProblem *p = &learner->plan->step;
    size_t pixels = (size_t)p->N * p->layer[0].H * p->layer[0].W;
    cudaMemsetAsync(learner->x, 0, pixels * sizeof(float), learner->stream);
    cudaMemsetAsync(learner->target, 0, p->N * sizeof(float), learner->stream);
    cudaMemsetAsync(learner->state, 0, 2 * p->parameters * sizeof(float), learner->stream);
    train_step(p, learner->x, learner->target, learner->state, learner->state + p->parameters,
               learner->setting, learner->y, learner->stream);
    return failed("the first step failed", cudaGetLastError(), error) ||
           failed("the first step failed", cudaStreamSynchronize(learner->stream), error);
}

static int capture(Learner *learner, Error *error)
{
    cudaGraph_t graph;
    if (failed("stream", cudaStreamCreate(&learner->stream), error)) return -1;
    if (warm_up(learner, error) ||
        failed("capture", cudaStreamBeginCapture(learner->stream, cudaStreamCaptureModeThreadLocal),
               error))
        return -1;
    enqueue(learner);
    return failed("the step cannot be captured as a graph",
                  cudaStreamEndCapture(learner->stream, &graph), error) ||
           failed("graph", cudaGraphInstantiate(&learner->graph, graph, 0), error) ||
           failed("graph", cudaGraphDestroy(graph), error);
}

Learner *learner_open(const Plan *plan, Error *error)
{
    Learner *learner = (Learner *)calloc(1, sizeof *learner);
    if (!learner) {
        error_set(error, "out of memory");
        return NULL;
    }
    learner->plan = plan;
    if (!allocate(learner, error) && !capture(learner, error)) return learner;
    learner_close(learner);
    return NULL;
}

void learner_close(Learner *learner)
{
    void *const owned[] = {learner->image, learner->label,  learner->test,   learner->digit,
                           learner->maps,  learner->order,  learner->step,   learner->augmentation,
                           learner->rate,  learner->losses, learner->x,      learner->target,
                           learner->state, learner->y,      learner->setting};
    if (learner->graph) cudaGraphExecDestroy(learner->graph);
    if (learner->stream) cudaStreamDestroy(learner->stream);
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        cudaFree(owned[i]);
    free(learner);
}

static int down(Learner *learner, void *to, const void *from, size_t bytes, Error *error)
{
    return failed("a step failed", cudaStreamSynchronize(learner->stream), error) ||
           failed("copy", cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), error);
}

static int up(Learner *learner, void *to, const void *from, size_t bytes, Error *error)
{
    return failed("a step failed", cudaStreamSynchronize(learner->stream), error) ||
           failed("copy", cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), error);
}

int learner_set_state(Learner *learner, const float *state, Error *error)
{
    return up(learner, learner->state, state, sizeof(float) * 2 * learner->plan->step.parameters,
              error);
}

int learner_get_state(Learner *learner, float *state, Error *error)
{
    return down(learner, state, learner->state, sizeof(float) * 2 * learner->plan->step.parameters,
                error);
}

int learner_begin(Learner *learner, const int *order, const float *augmentation, const float *rate,
                  Error *error)
{
    size_t steps = learner->plan->steps, images = steps * learner->plan->step.N;
    const int none = 0;
    return up(learner, learner->order, order, images * sizeof *order, error) ||
           up(learner, learner->augmentation, augmentation, 6 * images * sizeof *augmentation,
              error) ||
           up(learner, learner->rate, rate, steps * sizeof *rate, error) ||
           up(learner, learner->step, &none, sizeof none, error);
}

int learner_steps(Learner *learner, int count, Error *error)
{
    for (int i = 0; i < count; i++)
        if (failed("a step failed", cudaGraphLaunch(learner->graph, learner->stream), error))
            return -1;
    return 0;
}

int learner_losses(Learner *learner, int first, int count, float *loss, Error *error)
{
    return down(learner, loss, learner->losses + first, count * sizeof *loss, error);
}

int learner_batch(Learner *learner, float *x, float *label, float *setting, Error *error)
{
    const TrainProblem *p = &learner->plan->step;
    size_t pixels = (size_t)p->N * p->layer[0].H * p->layer[0].W;
    return down(learner, x, learner->x, pixels * sizeof *x, error) ||
           down(learner, label, learner->target, p->N * sizeof *label, error) ||
           down(learner, setting, learner->setting, TRAIN_SETTINGS * sizeof *setting, error);
}

int learner_read(Learner *learner, uint8_t *digit, Error *error)
{
    int tests = learner->plan->test.count;
    read_kernel<<<tests, THREADS, 0, learner->stream>>>(*learner->plan, *learner,
                                                        (int)maps_floats(learner->plan));
    return failed("reading failed", cudaGetLastError(), error) ||
           down(learner, digit, learner->digit, tests, error);
}
