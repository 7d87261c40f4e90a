/* gemm_ladder.cuh - the GEMM ladder of tutorials: C = alpha * A * B + beta * C (part of
 * gemm-ladder-and-science.cu). */

/* The first rung: neighbours of a warp take different rows. */
__global__ void ladder_rows(int m, int n, int k, float alpha, const float *A, const float *B,
                            float beta, float *C)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += A[row * k + i] * B[i * n + column];
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}

/* The second: a line of threads, split by the tile's width. */
__global__ void ladder_lines(int m, int n, int k, float alpha, const float *A, const float *B,
                             float beta, float *C)
{
    int row = blockIdx.x * 32 + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += A[row * k + i] * B[i * n + column];
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}

/* The third: tiles of 32 in shared memory, pointers that move on. */
__global__ void ladder_shared(int m, int n, int k, float alpha, const float *A, const float *B,
                              float beta, float *C)
{
    __shared__ float as[1024], bs[1024];
    int column = threadIdx.x % 32, row = threadIdx.x / 32;
    A += blockIdx.x * 32 * k, B += blockIdx.y * 32, C += blockIdx.x * 32 * n + blockIdx.y * 32;
    float sum = 0;
    for (int at = 0; at < k; at += 32) {
        as[row * 32 + column] = A[row * k + column];
        bs[row * 32 + column] = B[row * n + column];
        __syncthreads();
        A += 32, B += 32 * n;
        for (int i = 0; i < 32; i++)
            sum += as[row * 32 + i] * bs[i * 32 + column];
        __syncthreads();
    }
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}

/* The fourth: a column of TM results for each thread. */
template <int BM, int BN, int BK, int TM>
__global__ void ladder_column(int m, int n, int k, float alpha, const float *A, const float *B,
                              float beta, float *C)
{
    __shared__ float as[BM * BK], bs[BK * BN];
    int column = threadIdx.x % BN, row = threadIdx.x / BN;
    A += blockIdx.y * BM * k, B += blockIdx.x * BN, C += blockIdx.y * BM * n + blockIdx.x * BN;
    float sum[TM] = {0};
    for (int at = 0; at < k; at += BK) {
        as[threadIdx.x] = A[threadIdx.x / BK * k + threadIdx.x % BK];
        bs[threadIdx.x] = B[row * n + column];
        __syncthreads();
        A += BK, B += BK * n;
        for (int i = 0; i < BK; i++) {
            float right = bs[i * BN + column];
            for (int r = 0; r < TM; r++)
                sum[r] += as[(row * TM + r) * BK + i] * right;
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++) {
        float *to = &C[(row * TM + r) * n + column];
        *to = alpha * sum[r] + beta * *to;
    }
}

/* The fifth: a tile of TM x TN results for each thread, words loaded one by one. */
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM *BN / (TM * TN))
    ladder_square(int m, int n, int k, float alpha, const float *A, const float *B, float beta,
                  float *C)
{
    constexpr int THREADS = BM * BN / (TM * TN);
    __shared__ float as[BM * BK], bs[BK * BN];
    int column = threadIdx.x % (BN / TN), row = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * k, B += blockIdx.x * BN, C += blockIdx.y * BM * n + blockIdx.x * BN;
    float sum[TM * TN] = {0}, left[TM], right[TN];
    for (int at = 0; at < k; at += BK) {
        for (int i = threadIdx.x / BK; i < BM; i += THREADS / BK)
            as[i * BK + threadIdx.x % BK] = A[i * k + threadIdx.x % BK];
        for (int i = threadIdx.x / BN; i < BK; i += THREADS / BN)
            bs[i * BN + threadIdx.x % BN] = B[i * n + threadIdx.x % BN];
        __syncthreads();
        A += BK, B += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++)
                left[r] = as[(row * TM + r) * BK + i];
            for (int s = 0; s < TN; s++)
                right[s] = bs[i * BN + column * TN + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++)
                    sum[r * TN + s] += left[r] * right[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s++) {
            float *to = &C[(row * TM + r) * n + column * TN + s];
            *to = alpha * sum[r * TN + s] + beta * *to;
        }
}

/* The sixth: vectors of four, the left tile transposed while it is stored. */
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__(BM *BN / (TM * TN))
    ladder_vectors(int m, int n, int k, float alpha, const float *A, const float *B, float beta,
                   float *C)
{
    constexpr int THREADS = BM * BN / (TM * TN);
    __shared__ float as[BK * BM], bs[BK * BN];
    int column = threadIdx.x % (BN / TN), row = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * k, B += blockIdx.x * BN, C += blockIdx.y * BM * n + blockIdx.x * BN;
    float sum[TM * TN] = {0}, left[TM], right[TN];
    for (int at = 0; at < k; at += BK) {
        for (int i = threadIdx.x; i < BM * BK / 4; i += THREADS) {
            int r = i / (BK / 4), s = i % (BK / 4) * 4;
            float4 v = *(const float4 *)&A[r * k + s];
            as[s * BM + r] = v.x, as[(s + 1) * BM + r] = v.y;
            as[(s + 2) * BM + r] = v.z, as[(s + 3) * BM + r] = v.w;
        }
        for (int i = threadIdx.x; i < BK * BN / 4; i += THREADS)
            *(float4 *)&bs[i * 4] = *(const float4 *)&B[i / (BN / 4) * n + i % (BN / 4) * 4];
        __syncthreads();
        A += BK, B += BK * n;
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++)
                left[r] = as[i * BM + row * TM + r];
            for (int s = 0; s < TN; s++)
                right[s] = bs[i * BN + column * TN + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < TN; s++)
                    sum[r * TN + s] += left[r] * right[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int s = 0; s < TN; s += 4) {
            float4 *to = (float4 *)&C[(row * TM + r) * n + column * TN + s], v = *to;
            const float *own = &sum[r * TN + s];
            *to = make_float4(alpha * own[0] + beta * v.x, alpha * own[1] + beta * v.y,
                              alpha * own[2] + beta * v.z, alpha * own[3] + beta * v.w);
        }
}

/* The last: a tile for each warp, walked through in WN / 32 x 2 parts. */
template <int BM, int BN, int BK, int WM, int WN>
__global__ void __launch_bounds__(BM *BN / (WM * WN) * 32)
    ladder_warps(int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    constexpr int THREADS = BM * BN / (WM * WN) * 32, PARTS = WN / 16, TM = WM / 8, TN = 4;
    __shared__ float as[BK * BM], bs[BK * BN];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int wrow = warp / (BN / WN) * WM, wcolumn = warp % (BN / WN) * WN;
    int row = lane / 4, column = lane % 4;
    A += blockIdx.y * BM * k, B += blockIdx.x * BN;
    C += (blockIdx.y * BM + wrow) * n + blockIdx.x * BN + wcolumn;
    float sum[TM][PARTS * TN] = {{0}}, left[TM], right[PARTS * TN];
    for (int at = 0; at < k; at += BK) {
        for (int i = threadIdx.x; i < BM * BK / 4; i += THREADS) {
            int r = i / (BK / 4), s = i % (BK / 4) * 4;
            float4 v = *(const float4 *)&A[r * k + s];
            as[s * BM + r] = v.x, as[(s + 1) * BM + r] = v.y;
            as[(s + 2) * BM + r] = v.z, as[(s + 3) * BM + r] = v.w;
        }
        for (int i = threadIdx.x; i < BK * BN / 4; i += THREADS)
            *(float4 *)&bs[i * 4] = *(const float4 *)&B[i / (BN / 4) * n + i % (BN / 4) * 4];
        __syncthreads();
        for (int i = 0; i < BK; i++) {
            for (int r = 0; r < TM; r++)
                left[r] = as[i * BM + wrow + row * TM + r];
            for (int p = 0; p < PARTS; p++)
                for (int s = 0; s < TN; s++)
                    right[p * TN + s] = bs[i * BN + wcolumn + p * 16 + column * TN + s];
            for (int r = 0; r < TM; r++)
                for (int s = 0; s < PARTS * TN; s++)
                    sum[r][s] += left[r] * right[s];
        }
        A += BK, B += BK * n;
        __syncthreads();
    }
    for (int r = 0; r < TM; r++)
        for (int p = 0; p < PARTS; p++) {
            float4 *to = (float4 *)&C[(row * TM + r) * n + p * 16 + column * TN], v = *to;
            const float *own = &sum[r][p * TN];
            *to = make_float4(alpha * own[0] + beta * v.x, alpha * own[1] + beta * v.y,
                              alpha * own[2] + beta * v.z, alpha * own[3] + beta * v.w);
        }
}

static void ladder()
{
    E("gemm-ladder", "ladder-rows",
      ladder_rows<<<dim3(8, 8), dim3(32, 32)>>>(256, 256, 256, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-lines",
      ladder_lines<<<dim3(12, 12), 1024>>>(384, 384, 384, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-shared",
      ladder_shared<<<dim3(20, 20), 1024>>>(640, 640, 640, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-column",
      ladder_column<64, 64, 8, 8><<<dim3(12, 12), 512>>>(768, 768, 768, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-square-64",
      ladder_square<64, 64, 8, 8, 8><<<dim3(12, 12), 64>>>(768, 768, 768, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-square-128",
      ladder_square<128, 128, 8, 8, 8>
      <<<dim3(8, 8), 256>>>(1024, 1024, 1024, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-vectors-128",
      ladder_vectors<128, 128, 8, 8, 8>
      <<<dim3(12, 11), 256>>>(1408, 1536, 512, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-vectors-4x4",
      ladder_vectors<64, 64, 16, 4, 4><<<dim3(14, 14), 256>>>(896, 896, 640, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-warps-128",
      ladder_warps<128, 128, 16, 64, 64><<<dim3(12, 11), 128>>>(1536, 512, 0.5f, a, b, 0.25f, c));
    E("gemm-ladder", "ladder-warps-64",
      ladder_warps<64, 128, 16, 32, 64><<<dim3(6, 12), 128>>>(768, 768, 0.5f, a, b, 0.25f, c));
}
