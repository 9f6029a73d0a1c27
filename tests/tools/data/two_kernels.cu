// SPDX-License-Identifier: Apache-2.0
// two_kernels.cu  Two small kernels; nvcc -arch=sm_90a -cubin makes two_kernels.cubin of them.
extern "C" __global__ void __launch_bounds__(256) copy(float* p) {
  __shared__ float s[1024];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void __launch_bounds__(64) fill(float* p) { p[threadIdx.x] = 1; }
