/* linear_algebra.cuh - suites of linear algebra: one thread per result, nothing in shared
 * memory (part of gemm-ladder-and-science.cu). */

__global__ void product_plain(const float *A, const float *B, float *C, int n, int m, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= m) return;
    float *to = &C[row * m + column];
    *to = 0;
    for (int i = 0; i < k; i++)
        *to += A[row * k + i] * B[i * m + column];
}

/* A matrix from its other side, times a vector; the sum lies in memory. */
__global__ void columns_times(const float *A, const float *x, float *y, int n, int m)
{
    GLOBAL_I;
    if (i >= m) return;
    y[i] = 0;
    for (int k = 0; k < n; k++)
        y[i] += A[(size_t)k * m + i] * x[k];
}

__global__ void rows_times(const float *A, const float *x, float *y, int n, int m)
{
    GLOBAL_I;
    if (i >= n) return;
    for (int k = 0; k < m; k++)
        y[i] += A[(size_t)i * m + k] * x[k];
}

__global__ void deviations(const float *mean, const float *data, float *y, int n, int m)
{
    GLOBAL_I;
    if (i >= m) return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += (data[k * m + i] - mean[i]) * (data[k * m + i] - mean[i]);
    sum = sqrtf(sum / n);
    y[i] = sum <= 0.005f ? 1.0f : sum;
}

__global__ void ranks_added(float *A, const float *u, const float *v, const float *p,
                            const float *q, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) A[row * n + column] += u[row] * v[column] + p[row] * q[column];
}

/* One column's part is taken off all later ones. */
__global__ void column_taken_off(const float *A, float *R, float *Q, int n, int m, int k)
{
    GLOBAL_I;
    if (i <= k || i >= m) return;
    float sum = 0;
    for (int row = 0; row < n; row++)
        sum += Q[row * m + k] * A[row * m + i];
    R[k * m + i] = sum;
    for (int row = 0; row < n; row++)
        Q[row * m + i] = A[row * m + i] - Q[row * m + k] * sum;
}

__global__ void syr2k(const float *A, const float *B, float *C, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float sum = C[i * n + j] * 0.5f;
    for (int k = 0; k < m; k++)
        sum += A[i * m + k] * B[j * m + k] + B[i * m + k] * A[j * m + k];
    C[i * n + j] = sum;
}

/* A matrix product over the last of three axes, plane by plane. */
__global__ void last_axis(const float *A, const float *w, float *y, int planes, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (p >= n || q >= n) return;
    for (int r = 0; r < planes; r++) {
        float sum = 0;
        for (int s = 0; s < n; s++)
            sum += A[(r * n + q) * n + s] * w[s * n + p];
        y[(r * n + q) * n + p] = sum;
    }
}

/* Alternating directions: a thread solves along its row, or its column. */
template <bool ROWS> __global__ void direction(float *x, const float *A, float *B, int n)
{
    GLOBAL_I;
    if (i >= n) return;
    int step = ROWS ? 1 : n, at = ROWS ? i * n : i;
    for (int k = 1; k < n; k++) {
        float f = A[at + k * step] * 0.1f / (4.0f + B[at + (k - 1) * step]);
        x[at + k * step] -= x[at + (k - 1) * step] * f;
        B[at + k * step] = 0.5f * B[at + k * step] - A[at + k * step] * f;
    }
    for (int k = n - 2; k >= 0; k--)
        x[at + k * step] = 0.7f * x[at + k * step] - 0.1f * x[at + (k + 1) * step];
}

/* Eleven weights of 27 neighbours: a thread iterates along the first axis. */
__global__ void corners(const float *x, float *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (k < 1 || j < 1 || k >= n - 1 || j >= n - 1) return;
#define X(p, q, r) x[((i + p) * n + j + q) * n + k + r]
    for (int i = 1; i < n / 4 - 1; i++)
        y[(i * n + j) * n + k] = 2 * X(-1, -1, -1) + 4 * X(1, -1, -1) + 5 * X(-1, -1, 0) +
                                 7 * X(1, -1, 0) - 8 * X(-1, 0, -1) + 10 * X(1, 0, -1) -
                                 3 * X(0, -1, 0) + 6 * X(0, 0, 0) - 9 * X(0, 1, 0) +
                                 2 * X(-1, -1, 1) + 4 * X(1, 1, 1);
#undef X
}

static void algebra()
{
    E("linear-algebra", "product-plain",
      product_plain<<<dim3(12, 48), dim3(32, 8)>>>(a, b, c, 384, 384, 320));
    E("linear-algebra", "columns-times", columns_times<<<10, 256>>>(a, b, c, 400, 2560));
    E("linear-algebra", "rows-times", rows_times<<<8, 256>>>(a, b, c, 2048, 300));
    E("linear-algebra", "deviations", deviations<<<4, 256>>>(b, a, c, 600, 1024));
    E("linear-algebra", "ranks-added",
      ranks_added<<<dim3(40, 160), dim3(32, 8)>>>(c, a, a + 2000, b, b + 2000, 1280));
    E("linear-algebra", "column-taken-off",
      column_taken_off<<<2, 256>>>(a, c, e + 2 * MB, 512, 512, 7));
    E("linear-algebra", "syr2k", syr2k<<<dim3(6, 24), dim3(32, 8)>>>(a, b, c, 192, 192));
    E("linear-algebra", "last-axis", last_axis<<<dim3(4, 16), dim3(32, 8)>>>(a, b, c, 24, 128));
    E("linear-algebra", "direction-rows", direction<true><<<3, 128>>>(e, a, e + MB, 384));
    E("linear-algebra", "direction-columns", direction<false><<<4, 128>>>(e, a, e + MB, 512));
    E("linear-algebra", "corners", corners<<<dim3(6, 24), dim3(32, 8)>>>(a, c, 192));
}
