#include <cstdio>
struct P { int n, c; float w[2]; };
__device__ float mul(float a, float b) { float t = a * b; return t + 1; }
__device__ __forceinline__ float inl(float a) { float u = a * 2; return mul(u, a); }
__shared__ float gsh[4];
__device__ int counter;
template<int K> __global__ void k(float *y, const float *x, P p) {
  __shared__ float tile[8][33];
  extern __shared__ float dyn[];
  float sum[3] = {0,0,0};
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < K; j++) {
    float v = x[i * K + j];
    sum[j] += inl(v);
  }
  tile[threadIdx.x / 32][threadIdx.x % 32] = sum[0];
  __syncthreads();
  if (threadIdx.x < 7) y[i] = sum[0] + sum[1] + tile[0][threadIdx.x + 1];
  else y[i] = p.w[0];
}
int main(){ float *x,*y; cudaMalloc(&x, 4096); cudaMalloc(&y, 4096); cudaMemset(x,0,4096); P p={1,2,{3,4}}; k<3><<<2,64>>>(y,x,p); cudaDeviceSynchronize(); float h; cudaMemcpy(&h,y,4,cudaMemcpyDeviceToHost); printf("%g\n",h); }
