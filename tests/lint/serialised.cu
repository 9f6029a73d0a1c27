// SPDX-License-Identifier: Apache-2.0
// serialised.cu  A wgmma whose accumulators are read before the wait: ptxas serialises it and says
// so in a note; the build must refuse it.
__global__ void __launch_bounds__(128)
    serialised(float* out, unsigned long long a, unsigned long long b, int n) {
  float r[4] = {0, 0, 0, 0};
  for (int k = 0; k < n; ++k) {
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
        "0;"
        : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
        : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;");
    r[0] += static_cast<float>(k);
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = r[i];
}
