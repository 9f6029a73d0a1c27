// SPDX-License-Identifier: Apache-2.0
// spills.cu  A kernel that must spill (96 live values, 64 registers): the build must refuse it.
__global__ void __launch_bounds__(1024) spills(float* p, int n) {
  float r[96];
  for (int i = 0; i < 96; ++i) r[i] = p[i * n + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < 96; ++i) r[i] = r[i] * r[(i + 7) % 96] + p[k];
  }
  for (int i = 0; i < 96; ++i) p[i * n + threadIdx.x] = r[i];
}
