/* The baseline of lab 18: one thread per value and one thread per parameter, each with its whole
 * sum. */
#include <convlab/train.h>

enum { BLOCK = 128 };

static int blocks(int count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* z[n][k][p][q] of one layer. */
__global__ void layer_kernel(TrainLayer layer, int N, const float *__restrict__ in,
                             const float *__restrict__ parameter, float *__restrict__ z)
{
    int at = blockIdx.x * BLOCK + threadIdx.x, q = at % layer.Q, p = at / layer.Q % layer.P;
    int k = at / layer.Q / layer.P % layer.K, n = at / layer.Q / layer.P / layer.K;
    if (n >= N) return;
    const float *w = parameter + layer.weights + k * layer.C * layer.R * layer.S;
    float sum = parameter[TRAIN_BIASES(layer) + k];
    for (int c = 0; c < layer.C; c++)
        for (int r = 0; r < layer.R; r++)
            for (int s = 0; s < layer.S; s++)
                sum += in[((n * layer.C + c) * layer.H + p + r) * layer.W + q + s] * *w++;
    z[at] = sum;
}

/* The mean of the ReLUs of pool x pool values of z. */
__global__ void mean_kernel(TrainLayer layer, int N, const float *__restrict__ z,
                            float *__restrict__ out)
{
    int pool = layer.pool, P = layer.P / pool, Q = layer.Q / pool;
    int at = blockIdx.x * BLOCK + threadIdx.x, q = at % Q, p = at / Q % P, map = at / Q / P;
    if (map >= N * layer.K) return;
    float sum = 0.0f;
    for (int i = 0; i < pool * pool; i++)
        sum +=
            fmaxf(z[(map * layer.P + p * pool + i / pool) * layer.Q + q * pool + i % pool], 0.0f);
    out[at] = sum / (pool * pool);
}

/* Replaces z by its gradient; one thread per image.  One thread adds up the losses. */
__global__ void loss_kernel(int N, int classes, const float *__restrict__ label,
                            float *__restrict__ z, float *__restrict__ loss)
{
    int n = blockIdx.x * BLOCK + threadIdx.x;
    if (n >= N) return;
    float *of = z + n * classes, maximum = of[0], sum = 0.0f;
    int target = (int)label[n];
    for (int k = 1; k < classes; k++)
        maximum = fmaxf(maximum, of[k]);
    for (int k = 0; k < classes; k++)
        sum += expf(of[k] - maximum);
    loss[n] = logf(sum) + maximum - of[target];
    for (int k = 0; k < classes; k++)
        of[k] = (expf(of[k] - maximum) / sum - (k == target)) / N;
}

__global__ void mean_loss_kernel(int N, const float *__restrict__ loss, float *__restrict__ y)
{
    float sum = 0.0f;
    for (int n = 0; n < N; n++)
        sum += loss[n];
    *y = sum / N;
}

/* Replaces z of the previous layer by its gradient, computed from this layer's. */
__global__ void back_kernel(TrainLayer layer, TrainLayer before, int N, const float *__restrict__ d,
                            const float *__restrict__ parameter, float *__restrict__ z)
{
    int at = blockIdx.x * BLOCK + threadIdx.x, pool = before.pool;
    int w = at % before.Q / pool, h = at / before.Q % before.P / pool;
    int c = at / before.Q / before.P % before.K, n = at / before.Q / before.P / before.K;
    if (n >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < layer.K; k++)
        for (int r = 0; r < layer.R; r++)
            for (int s = 0; s < layer.S; s++)
                if (h >= r && h - r < layer.P && w >= s && w - s < layer.Q)
                    sum +=
                        d[((n * layer.K + k) * layer.P + h - r) * layer.Q + w - s] *
                        parameter[layer.weights + ((k * layer.C + c) * layer.R + r) * layer.S + s];
    z[at] = z[at] > 0.0f ? sum / (pool * pool) : 0.0f;
}

/* One thread per parameter of the layer: its gradient over the mini-batch, and its update. */
__global__ void update_kernel(TrainLayer layer, int N, int parameters, const float *__restrict__ in,
                              const float *__restrict__ d, const float *__restrict__ parameter,
                              const float *__restrict__ velocity, const float *__restrict__ setting,
                              float *__restrict__ y)
{
    int at = blockIdx.x * BLOCK + threadIdx.x, taps = layer.C * layer.R * layer.S;
    if (at >= layer.K * (taps + 1)) return;
    int bias = at >= layer.K * taps, k = bias ? at - layer.K * taps : at / taps, tap = at % taps;
    int s = tap % layer.S, r = tap / layer.S % layer.R, c = tap / layer.S / layer.R;
    float sum = 0.0f;
    for (int n = 0; n < N; n++)
        for (int p = 0; p < layer.P; p++)
            for (int q = 0; q < layer.Q; q++)
                sum += d[((n * layer.K + k) * layer.P + p) * layer.Q + q] *
                       (bias ? 1.0f : in[((n * layer.C + c) * layer.H + p + r) * layer.W + q + s]);
    int i = layer.weights + at;
    float moved = setting[TRAIN_MOMENTUM] * velocity[i] + sum + setting[TRAIN_DECAY] * parameter[i];
    y[parameters + i] = moved;
    y[i] = parameter[i] - setting[TRAIN_RATE] * moved;
}

extern "C" void train_step(const TrainProblem *p, const float *x, const float *label,
                           const float *parameter, const float *velocity, const float *setting,
                           float *y, cudaStream_t stream)
{
    const float *in[TRAIN_LAYERS] = {x};
    float *z[TRAIN_LAYERS], *loss;
    for (int i = 0; i < TRAIN_LAYERS; i++) {
        const TrainLayer &layer = p->layer[i];
        int values = p->N * layer.K * layer.P * layer.Q;
        cudaMalloc(&z[i], sizeof(float) * values);
        layer_kernel<<<blocks(values), BLOCK, 0, stream>>>(layer, p->N, in[i], parameter, z[i]);
        if (i == TRAIN_OUT) break;
        int means = values / layer.pool / layer.pool;
        float *out;
        cudaMalloc(&out, sizeof(float) * means);
        mean_kernel<<<blocks(means), BLOCK, 0, stream>>>(layer, p->N, z[i], out);
        in[i + 1] = out;
    }
    cudaMalloc(&loss, sizeof(float) * p->N);
    loss_kernel<<<blocks(p->N), BLOCK, 0, stream>>>(p->N, p->layer[TRAIN_OUT].K, label,
                                                    z[TRAIN_OUT], loss);
    mean_loss_kernel<<<1, 1, 0, stream>>>(p->N, loss, y + 2 * p->parameters);
    for (int i = TRAIN_OUT; i >= 0; i--) {
        const TrainLayer &layer = p->layer[i];
        int taps = layer.C * layer.R * layer.S + 1;
        if (i) {
            const TrainLayer &before = p->layer[i - 1];
            back_kernel<<<blocks(p->N * before.K * before.P * before.Q), BLOCK, 0, stream>>>(
                layer, before, p->N, z[i], parameter, z[i - 1]);
        }
        update_kernel<<<blocks(layer.K * taps), BLOCK, 0, stream>>>(
            layer, p->N, p->parameters, in[i], z[i], parameter, velocity, setting, y);
    }
    cudaFree(loss); /* waits until nobody needs it */
    for (int i = 0; i < TRAIN_LAYERS; i++)
        cudaFree(z[i]);
    for (int i = 1; i < TRAIN_LAYERS; i++)
        cudaFree((void *)in[i]);
}
