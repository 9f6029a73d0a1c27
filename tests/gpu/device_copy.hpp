// SPDX-License-Identifier: Apache-2.0
// device_copy.hpp  Matrices of tests/kernel/gemm_cases.hpp on the card.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {

inline void must(cudaError_t e, int line = __builtin_LINE(), char const* file = __builtin_FILE()) {
  if (e == cudaSuccess) return;
  std::printf("%s:%d: %s\n", file, line, cudaGetErrorString(e));
  std::exit(1);
}

/// A matrix of the host on the device; at its end D comes back.
class device_copy {
 public:
  explicit device_copy(matrix& m) : host_(m), bytes_(m.bytes.size() - m.offset_bytes) {
    if (m.bytes.empty()) return;
    must(cudaMalloc(&data, bytes_));
    must(cudaMemcpy(data, m.data(), bytes_, cudaMemcpyHostToDevice));
  }
  ~device_copy() { static_cast<void>(cudaFree(data)); }
  device_copy(device_copy const&) = delete;
  device_copy& operator=(device_copy const&) = delete;
  void fetch() const { must(cudaMemcpy(host_.data(), data, bytes_, cudaMemcpyDeviceToHost)); }

  void* data = nullptr;

 private:
  matrix& host_;
  std::size_t bytes_;
};

}  // namespace tw::test
