// SPDX-License-Identifier: Apache-2.0
// convert.cu  base/convert.hpp run on the device, against the hardware's own conversions.
// All 2^32 floats: cvt.rn.bf16.f32, cvt.rn.f16.f32, cvt.rna.tf32.f32, and fp8 through cuda_fp8.h.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdio>

#include "tilewright/base/convert.hpp"

namespace {

using namespace tw;

constexpr char const* kinds[] = {"bf16",           "f16",  "tf32",          "e4m3",
                                 "e4m3 saturated", "e5m2", "e5m2 saturated"};
constexpr int kind_count = 7;

struct tally {
  unsigned long long different;
  unsigned first;  // the smallest pattern that differs
};

__device__ void compare(tally& t, unsigned pattern, unsigned ours, unsigned theirs) {
  if (ours == theirs) return;
  atomicAdd(&t.different, 1ULL);
  atomicMin(&t.first, pattern);
}

__global__ void compare_all(tally* t) {
  unsigned long long const step = gridDim.x * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ULL << 32; i += step) {
    auto const pattern = static_cast<unsigned>(i);
    float const x = __uint_as_float(pattern);
    unsigned tf32_bits = 0;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(tf32_bits) : "f"(x));
    auto const sat = saturation::finite, none = saturation::none;
    compare(t[0], pattern, to_bf16(x).bits, __bfloat16_as_ushort(__float2bfloat16_rn(x)));
    compare(t[1], pattern, to_f16(x).bits, __half_as_ushort(__float2half_rn(x)));
    compare(t[2], pattern, to_tf32(x).bits, tf32_bits);
    compare(t[3], pattern, to_e4m3(x, none).bits, __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3));
    compare(t[4], pattern, to_e4m3(x, sat).bits,
            __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3));
    compare(t[5], pattern, to_e5m2(x, none).bits, __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E5M2));
    compare(t[6], pattern, to_e5m2(x, sat).bits,
            __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2));
  }
}

}  // namespace

int main() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  tally host[kind_count], *device = nullptr;
  for (tally& t : host) t = {0, ~0U};
  cudaMalloc(&device, sizeof host);
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  compare_all<<<1056, 256>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) {
    std::printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  cudaFree(device);
  int status = 0;
  for (int i = 0; i < kind_count; ++i) {
    std::printf("%-15s %llu of 2^32 differ", kinds[i], host[i].different);
    if (host[i].different != 0) {
      std::printf(", first 0x%08x", host[i].first);
      status = 1;
    }
    std::puts("");
  }
  return status;
}
