/* electrode.cu - training of lab 19's network on synthetic recordings, with lab 18's code:
 * electrode.sh.
 *
 * Lab 18's kernels are included from its source unchanged: fully connected layers in both passes,
 * loss, every layer's gradient, update.  They need a layer's input with its padding, and have no
 * backward pass for the maximum of 2 x 2, so these are here.  Convolutions use lab 19's entry point
 * in the forward and lab 17's in the backward pass. */
#include STEP_SOURCE /* lab 18's train.cu */

extern "C" {
#include "common/cuda/engine/engine.h"
#include "common/operations/operation/random.h"
#include "datasets/array.h"
#include "datasets/recordings.h"
}
#include <convlab/conv.h>
#include <convlab/electrode.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

/* The network's layers use the indices of LeNet-5's: CONV1, CONV2, CONV3, FULL, OUT. */
enum { CONVS = 3, FULL = TRAIN_F6, CLOSED = 255 };
static const int SIDE[CONVS] = {ELECTRODE_R1, ELECTRODE_R2, ELECTRODE_R3};
static const float MOMENTUM = 0.9f, DECAY = 1e-4f;

#define CHECK(call) check(call, #call)
static void check(cudaError_t status, const char *call)
{
    if (!status) return;
    fprintf(stderr, "train: %s: %s %s\n", call, cudaGetErrorString(status), engine_complaint());
    exit(1);
}

template <typename Value> static Value *device_room(size_t count)
{
    Value *room;
    CHECK(cudaMalloc(&room, count * sizeof *room));
    CHECK(cudaMemset(room, 0, count * sizeof *room));
    return room;
}

template <typename Value> static Value *device_copy(const std::vector<Value> &from)
{
    Value *to = device_room<Value>(from.size());
    CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(Value), cudaMemcpyHostToDevice));
    return to;
}

/* ---- kernels that lab 18 does not have ------------------------------------------------------- */

/* Copies a mini-batch's recordings to the middle of CONV1's input: one thread per value. */
__global__ void gather_kernel(TrainLayer layer, const int *__restrict__ order,
                              const float *__restrict__ recording,
                              const unsigned char *__restrict__ label, float *__restrict__ in,
                              float *__restrict__ target)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, w = i % layer.Q, h = i / layer.Q, n = blockIdx.y;
    int before = (layer.R - 1) / 2;
    if (h >= layer.P) return;
    in[(n * layer.H + h + before) * layer.W + w + before] =
        recording[(size_t)order[n] * layer.P * layer.Q + i];
    if (i == 0) target[n] = label[order[n]];
}

/* One value of the next layer's input: the maximum of pool x pool sums + bias, or 0.  which[] gets
 * the index of that sum, or CLOSED. */
__global__ void pool_kernel(TrainLayer layer, int H, int W, int before, const float *__restrict__ z,
                            const float *__restrict__ parameter, float *__restrict__ out,
                            unsigned char *__restrict__ which)
{
    int P = layer.P / layer.pool, Q = layer.Q / layer.pool;
    int i = blockIdx.x * BLOCK + threadIdx.x, q = i % Q, p = i / Q, k = blockIdx.y, n = blockIdx.z;
    if (p >= P) return;
    size_t map = (size_t)n * layer.K + k;
    z += (map * layer.P + p * layer.pool) * layer.Q + q * layer.pool;
    int best = 0;
    float largest = z[0];
    for (int j = 1; j < layer.pool * layer.pool; j++) {
        float value = z[j / layer.pool * layer.Q + j % layer.pool];
        if (value > largest) largest = value, best = j;
    }
    largest += parameter[TRAIN_BIASES(layer) + k];
    out[(map * H + p + before) * W + q + before] = fmaxf(largest, 0.0f);
    which[map * P * Q + i] = largest > 0.0f ? best : CLOSED;
}

/* Backward pass: d goes to the sum that was the maximum, and to no other. */
__global__ void unpool_kernel(TrainLayer layer, const float *__restrict__ d,
                              const unsigned char *__restrict__ which, float *__restrict__ dz)
{
    int P = layer.P / layer.pool, Q = layer.Q / layer.pool;
    int i = blockIdx.x * BLOCK + threadIdx.x, q = i % Q, p = i / Q, k = blockIdx.y, n = blockIdx.z;
    if (p >= P) return;
    size_t map = (size_t)n * layer.K + k;
    dz += (map * layer.P + p * layer.pool) * layer.Q + q * layer.pool;
    for (int j = 0; j < layer.pool * layer.pool; j++)
        dz[j / layer.pool * layer.Q + j % layer.pool] =
            which[map * P * Q + i] == j ? d[map * P * Q + i] : 0.0f;
}

/* ---- the network ----------------------------------------------------------------------------- */

typedef struct Trainer {
    ElectrodeProblem network; /* problem of one mini-batch */
    TrainProblem step;
    Workspace workspace;
    ConvProblem conv[CONVS]; /* problems with inputs without padding */
    float *z, *dx;           /* a convolution's outputs; gradient of its input */
    unsigned char *which[CONVS];
    float *target, *losses, *setting; /* settings of each step */
    float *state, *next;              /* parameters, then velocities */
} Trainer;

static TrainLayer layer_of(int C, int H, int W, int K, int R, int S, int pool, int weights)
{
    TrainLayer layer = {C, H, W, K, R, S, H - R + 1, W - S + 1, pool, weights};
    return layer;
}

static void network_lay(Trainer *t, int N, int c, int f)
{
    int H = RECORDING_ELECTRODES, W = RECORDING_SAMPLES, at = 0;
    t->step.N = N;
    for (int i = 0; i < CONVS; i++) {
        int high = H >> i, wide = W >> i, C = i ? c : 1, R = SIDE[i], before = (R - 1) / 2;
        t->step.layer[i] =
            layer_of(C, high + R - 1, wide + R - 1, c, R, R, i < CONVS - 1 ? 2 : 1, at);
        at = TRAIN_BIASES(t->step.layer[i]) + c;
        ConvProblem conv = {};
        conv.N = N, conv.C = C, conv.K = c, conv.R = conv.S = R;
        conv.H = conv.P = high, conv.W = conv.Q = wide, conv.stride_h = conv.stride_w = 1;
        conv.pad_top = conv.pad_left = before;
        conv.pad_bottom = conv.pad_right = R - 1 - before;
        t->conv[i] = conv;
    }
    t->step.layer[FULL] = layer_of(c, H / 4, W / 4, f, H / 4, W / 4, 1, at);
    at = TRAIN_BIASES(t->step.layer[FULL]) + f;
    t->step.layer[TRAIN_OUT] = layer_of(f, 1, 1, RECORDING_CLASSES, 1, 1, 1, at);
    t->step.parameters = TRAIN_BIASES(t->step.layer[TRAIN_OUT]) + RECORDING_CLASSES;
    ElectrodeProblem network = {N, H, W, c, f, RECORDING_CLASSES, 0, {}, {}, t->step.parameters};
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        network.weights[i] = t->step.layer[i].weights;
        network.biases[i] = TRAIN_BIASES(t->step.layer[i]);
    }
    t->network = network;
}

static void trainer_open(Trainer *t, int N, int c, int f, int steps)
{
    size_t largest = 0;
    network_lay(t, N, c, f);
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer &layer = t->step.layer[i];
        size_t outputs = (size_t)N * layer.K * layer.P * layer.Q;
        int others = ceil_div(layer.K, UNITS) * ceil_div(taps_of(layer), TAPS), rows = N * layer.P;
        t->workspace.in[i] = device_room<float>((size_t)N * layer.C * layer.H * layer.W);
        t->workspace.dz[i] = device_room<float>(outputs);
        t->workspace.rows[i] =
            max(MIN_ROWS, ceil_div(rows, min(MAX_SLICES, ceil_div(ENOUGH_BLOCKS, others))));
        t->workspace.slices[i] = ceil_div(rows, t->workspace.rows[i]);
        t->workspace.partial[i] =
            device_room<float>((size_t)t->workspace.slices[i] * layer.K * taps_of(layer));
        if (i < CONVS) t->which[i] = device_room<unsigned char>(outputs);
        if (outputs > largest) largest = outputs;
    }
    t->workspace.in[TRAIN_LAYERS] = device_room<float>((size_t)N * RECORDING_CLASSES);
    t->z = device_room<float>(largest);
    t->dx = device_room<float>(largest);
    t->target = device_room<float>(N);
    t->losses = device_room<float>(steps);
    t->state = device_room<float>(2 * (size_t)t->step.parameters);
    t->next = device_room<float>(2 * (size_t)t->step.parameters);
}

/* ---- one step -------------------------------------------------------------------------------- */

static dim3 pooled_grid(const Trainer *t, const TrainLayer &layer)
{
    return dim3(ceil_div(layer.P / layer.pool * (layer.Q / layer.pool), BLOCK), layer.K, t->step.N);
}

static void forward(Trainer *t)
{
    for (int i = 0; i < CONVS; i++) {
        const TrainLayer &layer = t->step.layer[i], &next = t->step.layer[i + 1];
        int before = i + 1 < CONVS ? (next.R - 1) / 2 : 0;
        ConvProblem within = t->conv[i]; /* its padding is already present */
        within.H = layer.H, within.W = layer.W;
        within.pad_top = within.pad_left = within.pad_bottom = within.pad_right = 0;
        conv_forward(&within, t->workspace.in[i], t->state + layer.weights, t->z, 0);
        pool_kernel<<<pooled_grid(t, layer), BLOCK>>>(layer, next.H, next.W, before, t->z, t->state,
                                                      t->workspace.in[i + 1], t->which[i]);
    }
    launch_fc(&t->step, &t->workspace, FULL, t->state, 0);
    launch_fc(&t->step, &t->workspace, TRAIN_OUT, t->state, 0);
}

static void backward(Trainer *t)
{
    launch_fc_backward(&t->step, &t->workspace, TRAIN_OUT, t->state, 0);
    launch_fc_backward(&t->step, &t->workspace, FULL, t->state, 0);
    for (int i = CONVS - 1; i > 0; i--) {
        const TrainLayer &layer = t->step.layer[i], &before = t->step.layer[i - 1];
        conv_backward_data(&t->conv[i], t->workspace.dz[i], t->state + layer.weights, t->dx, 0);
        unpool_kernel<<<pooled_grid(t, before), BLOCK>>>(before, t->dx, t->which[i - 1],
                                                         t->workspace.dz[i - 1]);
    }
}

/* As launch_gradient of lab 18, but no layer's d has a border. */
static void gradient(Trainer *t, int which)
{
    const TrainLayer &layer = t->step.layer[which];
    int taps = taps_of(layer), blocks = ceil_div(taps, TAPS);
    int wide = ceil_div(ceil_div(taps, blocks), 16 * TAPS_PER_THREAD) * 16;
    dim3 block(wide, MAX_THREADS / wide);
    dim3 grid(t->workspace.slices[which], ceil_div(layer.K, UNITS), blocks);
    weight_gradient_kernel<<<grid, block,
                             sizeof(float) * UNITS * TAPS_PER_THREAD * block.x * block.y>>>(
        layer, t->step.N, 0, t->workspace.rows[which], t->workspace.in[which],
        t->workspace.dz[which], t->workspace.partial[which]);
}

static void step(Trainer *t, int number, const int *order, const float *recording,
                 const unsigned char *label)
{
    const TrainLayer &first = t->step.layer[0];
    int parameters = t->step.parameters;
    gather_kernel<<<dim3(ceil_div(first.P * first.Q, BLOCK), t->step.N), BLOCK>>>(
        first, order, recording, label, t->workspace.in[0], t->target);
    forward(t);
    loss_kernel<<<1, LOSS>>>(t->step.N, RECORDING_CLASSES, t->workspace.in[TRAIN_LAYERS], t->target,
                             t->workspace.dz[TRAIN_OUT], t->losses + number);
    backward(t);
    for (int which = 0; which < TRAIN_LAYERS; which++)
        gradient(t, which);
    update_kernel<<<ceil_div(parameters, BLOCK), BLOCK>>>(
        t->step, t->workspace, t->state, t->state + parameters,
        t->setting + number * TRAIN_SETTINGS, t->next);
    std::swap(t->state, t->next);
}

/* ---- training -------------------------------------------------------------------------------- */

typedef struct TrainingOptions {
    int batch, epochs, train, test, filters, units;
    float rate;
    uint64_t seed;
    const char *out;
} TrainingOptions;

/* Normally distributed with He's deviation, sqrt(2 / inputs): the sum of twelve uniform numbers.
 * OUT starts with zeros, so that all classes are equally likely. */
static std::vector<float> first_parameters(const TrainProblem &step, Random *random)
{
    std::vector<float> parameter(2 * (size_t)step.parameters, 0.0f);
    for (int which = 0; which < TRAIN_OUT; which++) {
        const TrainLayer &layer = step.layer[which];
        double deviation = sqrt(2.0 / (taps_of(layer) - 1));
        for (int i = layer.weights; i < TRAIN_BIASES(layer); i++) {
            double sum = -6;
            for (int j = 0; j < 12; j++)
                sum += random_unit(random);
            parameter[i] = (float)(deviation * sum);
        }
    }
    return parameter;
}

/* The rate rises during the first twentieth of the steps, then falls linearly. */
static std::vector<float> settings(const TrainingOptions &options, int steps)
{
    std::vector<float> setting;
    for (int i = 0; i < steps; i++) {
        float risen = fminf(1, 20.0f * (float)(i + 1) / (float)steps);
        setting.push_back(options.rate * risen * (float)(steps - i) / (float)steps);
        setting.push_back(MOMENTUM);
        setting.push_back(DECAY);
    }
    return setting;
}

static std::vector<int> shuffled(int count, Random *random)
{
    std::vector<int> order(count);
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--)
        std::swap(order[i], order[random_range(random, 0, i)]);
    return order;
}

/* Number of test recordings that lab 19's network classifies correctly. */
static int read_right(const Trainer *t, const TrainingOptions &options, const float *recording,
                      const unsigned char *label)
{
    int right = 0;
    float *y = device_room<float>((size_t)t->step.N * RECORDING_CLASSES);
    std::vector<float> part((size_t)t->step.N * RECORDING_CLASSES);
    ElectrodeProblem p = t->network;
    for (int first = 0; first < options.test; first += p.N) {
        p.N = min(t->step.N, options.test - first);
        electrode_forward(&p, recording + (size_t)first * RECORDING_VALUES, t->state, y, 0);
        CHECK(cudaMemcpy(part.data(), y, sizeof(float) * p.N * RECORDING_CLASSES,
                         cudaMemcpyDeviceToHost));
        for (int n = 0; n < p.N; n++) {
            const float *of = &part[(size_t)n * RECORDING_CLASSES];
            int best = 0;
            for (int k = 1; k < RECORDING_CLASSES; k++)
                if (of[k] > of[best]) best = k;
            right += best == label[first + n];
        }
    }
    CHECK(cudaFree(y));
    return right;
}

static float mean_loss(const Trainer *t, int first, int count)
{
    std::vector<float> loss(count);
    float sum = 0;
    CHECK(
        cudaMemcpy(loss.data(), t->losses + first, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (float of : loss)
        sum += of;
    return sum / (float)count;
}

static void write_npy(const char *directory, const char *name, ArrayType type, const void *value,
                      std::vector<uint64_t> size)
{
    char path[1200];
    Error error;
    Array array = {type, (int)size.size(), {}, 1, (void *)value};
    for (size_t i = 0; i < size.size(); i++) {
        array.size[i] = size[i];
        array.count *= size[i];
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!array_write_npy(path, &array, &error)) return;
    fprintf(stderr, "train: %s\n", error.text);
    exit(1);
}

/* The test recordings are those of `make datasets SET=recordings`: the generator's draws after the
 * first 600.  The training recordings have the next seed. */
static void draw(const TrainingOptions &options, std::vector<float> *value,
                 std::vector<uint8_t> *label)
{
    enum { LEARNT = 600 };
    Random random;
    int drawn = LEARNT + options.test;
    value->resize((size_t)(drawn + options.train) * RECORDING_VALUES);
    label->resize(drawn + options.train);
    random_seed(&random, options.seed);
    recordings_generate(drawn, &random, value->data(), label->data());
    value->erase(value->begin(), value->begin() + (size_t)LEARNT * RECORDING_VALUES);
    label->erase(label->begin(), label->begin() + LEARNT);
    random_seed(&random, options.seed + 1);
    recordings_generate(options.train, &random, &(*value)[(size_t)options.test * RECORDING_VALUES],
                        &(*label)[options.test]);
}

static FILE *open_curves(const char *directory)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/curves.tsv", directory);
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "train: %s: %m\n", path);
        exit(1);
    }
    fputs("epoch\tloss\tright\tof\n", file);
    return file;
}

static void train(const TrainingOptions &options)
{
    Trainer t = {};
    Random random;
    std::vector<float> value;
    std::vector<uint8_t> label;
    int epoch_steps = options.train / options.batch, steps = epoch_steps * options.epochs, done = 0;
    draw(options, &value, &label);
    trainer_open(&t, options.batch, options.filters, options.units, steps);
    random_seed(&random, options.seed + 2);
    const float *recording = device_copy(value);
    const unsigned char *what = device_copy(label);
    std::vector<float> state = first_parameters(t.step, &random);
    CHECK(cudaMemcpy(t.state, state.data(), state.size() * sizeof(float), cudaMemcpyHostToDevice));
    t.setting = device_copy(settings(options, steps));
    printf("train: %d recordings in batches of %d, %d parameters, on %s\n", options.train,
           options.batch, t.step.parameters, engine_words());
    FILE *curves = open_curves(options.out);
    for (int epoch = 1; epoch <= options.epochs; epoch++) {
        int *order = device_copy(shuffled(options.train, &random));
        for (int i = 0; i < epoch_steps; i++, done++)
            step(&t, done, order + i * options.batch,
                 recording + (size_t)options.test * RECORDING_VALUES, what + options.test);
        CHECK(cudaGetLastError()); /* error of a launch */
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(order));
        int right = read_right(&t, options, recording, label.data());
        float loss = mean_loss(&t, done - epoch_steps, epoch_steps);
        printf("  epoch %2d: loss %.4f, %d of %d unseen ones classified correctly (%.1f %%)\n",
               epoch, loss, right, options.test, 100.0 * right / options.test);
        fflush(stdout);
        fprintf(curves, "%d\t%.4f\t%d\t%d\n", epoch, loss, right, options.test);
    }
    fclose(curves);
    CHECK(cudaMemcpy(state.data(), t.state, t.step.parameters * sizeof(float),
                     cudaMemcpyDeviceToHost));
    write_npy(options.out, "weights.npy", ARRAY_F32, state.data(), {(uint64_t)t.step.parameters});
    write_npy(options.out, "test-recordings.npy", ARRAY_F32, value.data(),
              {(uint64_t)options.test, RECORDING_ELECTRODES, RECORDING_SAMPLES});
    write_npy(options.out, "test-labels.npy", ARRAY_U8, label.data(), {(uint64_t)options.test});
}

int main(int argc, char **argv)
{
    if (argc != 10) {
        fputs("usage: electrode OUT SEED TRAIN TEST BATCH EPOCHS RATE FILTERS UNITS\n", stderr);
        return 2;
    }
    TrainingOptions options = {};
    options.out = argv[1];
    options.seed = strtoull(argv[2], NULL, 10);
    options.train = atoi(argv[3]), options.test = atoi(argv[4]), options.batch = atoi(argv[5]);
    options.epochs = atoi(argv[6]), options.rate = (float)atof(argv[7]);
    options.filters = atoi(argv[8]), options.units = atoi(argv[9]);
    train(options);
    return 0;
}
